"""The seven tests of lesson 12: the right engine passes them, also with another library, and known mistakes do not."""

from __future__ import annotations

import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import stand_in

DOCS = Path(__file__).resolve().parents[1] / "docs"
LESSON = DOCS / "lessons" / "12_your_engine_grown_up.md"
pytest.importorskip("jupytext", reason="it reads the lessons' texts")
read_lesson = runpy.run_path(str(DOCS / "make_lessons.py"))["read_lesson"]
SEVEN = ["chain of 1100", "arrays", "sums", "products", "in place", "another machine", "reader of digits"]
STARTS_RIGHT = "test of micrograd"
NOT_RUN = ("viz.", "@exercises.answer", "def train", "train()")
"""Parts of cells that ask, mark, or train."""
MISTAKES = {
    "M1": ("parent.grad = parent.grad + engine_unbroadcast", "parent.grad = 0 + engine_unbroadcast"),
    "M2": ("zip(node.parents, node.slopes)", "dict(zip(node.parents, node.slopes)).items()"),
    "M3": ("return sorted(todo, key=lambda node: node.born, reverse=True)", "return todo"),
    "M4": ("key=lambda node: node.born, reverse=True", "key=lambda node: node.born"),
    "M5": ("node.grad = 0.0 if node.parents else node.grad", "pass"),
    "M6": ("slope(node.grad) if callable(slope) else node.grad * slope", "slope(1.0) if callable(slope) else slope"),
    "M7": ("(+other.data, +self.data)", "(other.data, self.data)"),
    "M8": ("return Value(out, (self,), (1 - out * out,))", "return Value(out)"),
    "M27": ("engine_unbroadcast(sent, np.shape(parent.data))", "sent"),
    "M28": ("engine_unbroadcast(sent, np.shape(parent.data))", "engine_unbroadcast(sent, np.shape(parent.data)) / 4"),
    "M41": ("arrived @ xp.swapaxes(b, -1, -2)", "arrived @ b"),
    "M42": ("xp.swapaxes(a, -1, -2) @ arrived", "xp.swapaxes(arrived, -1, -2) @ a"),
    "M43": ("xp.swapaxes(a, -1, -2) @ arrived", "a.T @ arrived"),
    "M44": ("xp.swapaxes(a, -1, -2) @ arrived", "(xp.swapaxes(a, -1, -2) @ arrived)[0]"),
    "a higher limit": ("found, todo = {self}, [self]", """found, todo = {self}, []
        sys.setrecursionlimit(10**5)
        def visit(node):
            todo.append(node)
            for parent in node.parents:
                if parent not in found:
                    found.add(parent)
                    visit(parent)
        visit(self)"""),
    "a library by name": ("getattr(library_of(first), name)", "getattr(np, name)"),
}
"""The mistakes of the catalogue that fit, as edits of the right cells."""


def right_cells() -> list[str]:
    """Return the code of the lesson with the solutions in it, without questions, marks and training."""
    book = read_lesson(LESSON.read_text("utf-8"), completed=True)
    cells = [cell.source for cell in book.cells if cell.cell_type == "code"]
    kept = [cell for cell in cells if not any(part in cell for part in NOT_RUN)]
    unbroadcast = next(cell for cell in cells if '"engine.unbroadcast"' in cell).partition("\n")[2]
    return [cells[0], unbroadcast, *kept]


def run(cells: list[str], space: dict[str, Any]) -> None:
    """Run cells in a namespace, and keep to ourselves what they print."""
    with redirect_stdout(StringIO()):
        for cell in cells:
            exec(cell, space)  # noqa: S102 - the lesson's own code


def results(space: dict[str, Any]) -> dict[str, str]:
    """Run all tests of the lesson again, and return what each says."""
    with redirect_stdout(StringIO()) as said:
        for check in space["tests"].values():
            check()
    return dict(line.split(": ", 1) for line in said.getvalue().splitlines())


@pytest.fixture(scope="module")
def engine() -> dict[str, Any]:
    """Return the namespace of the lesson after all its cells were completed."""
    space: dict[str, Any] = {}
    run(right_cells(), space)
    return space


def test_the_engine_of_lesson_02_fails_each_of_the_seven_tests(engine):
    small: dict[str, Any] = {}
    run([cell for cell in right_cells() if not cell.startswith("# Test")], small)
    engine["Value"], grown = small["Value"], engine["Value"]
    said = results(engine)
    engine["Value"] = grown
    assert {name for name, each in said.items() if each == "passed"} == {STARTS_RIGHT}
    assert set(said) == {*SEVEN, STARTS_RIGHT}


def test_the_completed_engine_passes_all_tests(engine):
    assert results(engine) == dict.fromkeys([*SEVEN, STARTS_RIGHT], "passed")


def test_the_completed_engine_needs_only_what_cupy_has():
    space: dict[str, Any] = {"stand_in": stand_in}
    cells = [cell + "\ndevice = stand_in.library" if cell.startswith("for name in") else cell for cell in right_cells()]
    assert len([cell for cell in cells if "stand_in" in cell]) == 1
    run(cells, space)
    assert set(results(space).values()) == {"passed"}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_known_mistake_does_not_pass(engine, mistake):
    old, new = MISTAKES[mistake]
    cells = [cell for cell in right_cells() if old in cell]
    assert cells, f"no right cell has {old!r}"
    run([cell.replace(old, new) for cell in cells], engine)
    said = results(engine)
    run(cells, engine)
    assert [name for name, each in said.items() if each != "passed"], mistake
