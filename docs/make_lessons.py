"""Write the notebooks of the lessons: docs/lessons/NN_name.md becomes notebooks/NN_name.ipynb, without outputs.

The cells for the lecturer of all lessons become one page, docs/lecturers-notes.md: notes, and the solution of each cell
that a reader completes. docs/exercises.md says how many exercises of each kind there are.

A lesson is one MyST text: Markdown, with `+++` between two text cells and ```{code-cell} around code. A cell may carry
tags of `TAGS`, in its `:tags:` or, for a text cell, after `+++`. A question has a name, in `:name:`, that stays when it
is reworded. Run as `make lessons`; the same text always gives the same bytes, because the id of a cell follows from its
text.

Answers, hints and reasons of questions are folded in the notebook: a reader sees the code of a cell before its card.
JupyterLab hides the code of a cell that only asks.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import numpy as np

from micrograd_plus import exercises
from micrograd_plus.files import write_file
from micrograd_plus.grading.course import lesson_notes
from micrograd_plus_viz.quizzes.folded_texts import fold

LESSONS = Path(__file__).parent / "lessons"
NOTES = Path(__file__).with_name("lecturers-notes.md")
EXERCISES = Path(__file__).with_name("exercises.md")
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
KINDS = {
    "write a rule": "rule", "a piece of an engine": "engine", "every gradient by hand": "gradients",
    "find the wrong rule": "wrong rule", "gaps": "gaps", "lines": "lines", "patient": "patient",
    "predict a step": "predict",
}  # fmt: skip
"""Kinds of exercises, as their page and as the catalogue names them."""
TAGS = ("setup", "ask", "write", "exercise", "worked", "plants", "slide", "notes")
"""What a cell is for: it prepares, asks, has code to complete, belongs to an exercise, works out a rule or a cure,
plants a mistake on purpose, is shown on a slide, is for the lecturer alone."""
COMPLETED = {"write", "exercise"}
"""Tags of cells that a reader completes. The code cell tagged `notes` after such a cell is its solution."""
ASKING = ("ask", "quiz")
"""Functions that show a question: `viz.ask`, `viz.quiz` and those of `exercises`."""
FOLDED = ("right", "wrong", "why", "candidates", "rule")
"""Their arguments that a reader must not see before answering."""
CLOSED = ("dict", "float", "int", "len", "list", "range", "round", "set", "str", "sum", "tuple")
"""Functions of Python that such an argument can use and still need nothing from the notebook."""
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def read_lesson(text: str, *, completed: bool = False) -> Any:
    """Return the notebook of a lesson's text: as a reader gets it or, if `completed`, with the solutions in it.

    Cells with the tag `notes` are left out: they are for the lecturer.
    """
    cells = jupytext.reads(text, fmt="md:myst").cells
    for cell in cells:
        check_tags(tags_of(cell), cell.source)
    solutions = find_solutions(cells)
    book = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    seen: Counter[str] = Counter()
    for index, cell in enumerate(cells):
        if "notes" in tags_of(cell):
            continue
        metadata: dict[str, Any] = {key: cell.metadata[key] for key in ("name", "tags") if key in cell.metadata}
        name = cell_id(cell.source, seen)
        if cell.cell_type == "markdown":
            book.cells.append(nbformat.v4.new_markdown_cell(cell.source, metadata=metadata, id=name))
            continue
        if only_asks(cell.source):
            metadata["jupyter"] = {"source_hidden": True}
        source = solutions.get(index, cell.source) if completed else cell.source
        book.cells.append(nbformat.v4.new_code_cell(fold_answers(source), metadata=metadata, id=name))
    return book


def tags_of(cell: Any) -> list[str]:
    """Return the tags of a cell."""
    return cell.metadata.get("tags", [])


def find_solutions(cells: list[Any]) -> dict[int, str]:
    """Return the solution of each cell that a reader completes, by the cell's index.

    Raises: ValueError: a solution is missing, or follows another cell.
    """
    found = {}
    for index, cell in enumerate(cells):
        is_open = bool(COMPLETED & {*tags_of(cell)})
        following = cells[index + 1] if index + 1 < len(cells) else None
        has_solution = following is not None and following.cell_type == "code" and "notes" in tags_of(following)
        if is_open and not has_solution:
            raise ValueError(f"a cell to complete needs its solution in the next cell, a code cell tagged `notes`. "
                             f"The cell begins: {cell.source[:60]!r}")  # fmt: skip
        if has_solution and not is_open:
            raise ValueError(f"a code cell tagged `notes` is the solution of the cell before it, which must be tagged "
                             f"`write` or `exercise`. The solution begins: {following.source[:60]!r}")  # fmt: skip
        if is_open:
            found[index] = following.source
    return found


def check_tags(tags: list[str], source: str) -> None:
    """Raise ValueError if a tag is unknown."""
    for tag in tags:
        if tag not in TAGS:
            raise ValueError(f"unknown tag {tag!r}, known are {', '.join(TAGS)}. The cell begins: {source[:60]!r}")


def cell_id(source: str, seen: Counter[str]) -> str:
    """Return the id of a cell: a hash of its text, and its count if an earlier cell has the same text."""
    name = hashlib.sha256(source.encode()).hexdigest()[:8]
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name]}"


def lecturers_notes() -> str:
    """Return the page of notes for lecturers, from the cells of the lessons that have the tag `notes`."""
    parts = ["# Lecturer's notes", """\
One section for each lesson: minutes, usual wrong answers and what they mean, what to cut, and the solutions of cells
that students complete. `make lessons` writes this page from the lessons' own texts. See also
[how to teach with the lessons](teaching.md)."""]
    for text in lesson_files():
        title, *notes = lesson_notes(text.read_text("utf-8"))
        parts += [f"## {text.stem[:2]} {title}", *notes]
    return "\n\n".join(parts) + "\n"


def page_of_exercises() -> str:
    """Return the page on exercises, with the number of exercises of each kind in the table of kinds."""
    text, counts = EXERCISES.read_text("utf-8"), Counter(each.kind for each in exercises.list_exercises())
    for name, kind in KINDS.items():
        text, found = re.subn(rf"^\| {name} \| \d+ \|", f"| {name} | {counts.pop(kind)} |", text, flags=re.MULTILINE)
        if found != 1:
            raise ValueError(f"{EXERCISES.name} needs one row for {name!r}, with a number as its second cell")
    if counts:
        raise ValueError(f"{EXERCISES.name} and KINDS need a row for {', '.join(counts)}")
    return text


# Answers that a reader must not see -----------------------------------------------------------------------------------


def is_question(node: ast.AST) -> bool:
    """Return whether code shows a question."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING


def only_asks(source: str) -> bool:
    """Return whether a cell has nothing but questions."""
    lines = ast.parse(source).body
    return bool(lines) and all(isinstance(line, ast.Expr) and is_question(line.value) for line in lines)


def fold_answers(source: str) -> str:
    """Return the code of a cell with the answers, hints and reasons of its questions folded."""
    calls = [node for node in ast.walk(ast.parse(source)) if is_question(node)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        start = place_in(source, call.lineno, call.col_offset)
        end = place_in(source, call.end_lineno, call.end_col_offset)
        source = source[:start] + folded_call(call, source) + source[end:]
    return source


def place_in(source: str, line: int, column: int) -> int:
    """Return where a place of `ast`, a line and a column in bytes, is in a text."""
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def folded_call(call: ast.Call, source: str) -> str:
    """Return a question with the answers that need nothing else folded into one text; texts in others each in one."""
    shown, literals = [code_of(each, source) for each in call.args], {}
    is_card = ast.unparse(call.func) == "viz.ask"
    if is_card and len(call.args) > 1 and (right := literal(call.args[1])) is not None:
        literals["right"] = right[0]
        shown.pop(1)
    for keyword in call.keywords:
        if keyword.arg not in FOLDED:
            shown.append(f"{keyword.arg}={code_of(keyword.value, source)}")
        elif (value := literal(keyword.value)) is not None:
            literals[keyword.arg] = value[0]
        else:
            shown.append(f"{keyword.arg}={ast.unparse(FoldTexts().visit(keyword.value))}")
    folded = [f'**viz.unfold("{fold(literals)}")'] if literals else []
    return f"{ast.unparse(call.func)}({', '.join([*shown, *folded])})"


def code_of(node: ast.expr, source: str) -> str:
    """Return the code of an expression as its author wrote it."""
    return ast.get_source_segment(source, node) or ast.unparse(node)


def literal(node: ast.expr) -> tuple[Any] | None:
    """Return the value of an expression in a tuple, or None if it needs something from the notebook.

    An answer such as `2**0.5` needs nothing, so whoever reads it can work it out: it is folded like a literal.
    """
    known = {name: getattr(builtins, name) for name in CLOSED} | {"math": math, "np": np}
    try:
        value = eval(compile(ast.Expression(node), "<an answer>", "eval"), {"__builtins__": known})  # noqa: S307 - ours
    except NameError:
        return None
    return (round_floats(value),)


def round_floats(value: Any) -> Any:
    """Return literals with floats of 12 digits, so that each machine folds the same text."""
    if isinstance(value, dict):
        return {round_floats(key): round_floats(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(map(round_floats, value))
    return float(f"{value:.12g}") if isinstance(value, float) else value


class FoldTexts(ast.NodeTransformer):
    """Folds each text in an expression; an f-string becomes a folded text that is formatted."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return a call that unfolds a text."""
        return unfold_call(node.value) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Return a call that formats a folded text."""
        template, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                template += part.value.replace("{", "{{").replace("}", "}}")
                continue
            style = "" if part.format_spec is None else ":" + "".join(each.value for each in part.format_spec.values)
            template += f"{{{len(values)}{'' if part.conversion < 0 else '!' + chr(part.conversion)}{style}}}"
            values.append(part.value)
        return ast.Call(ast.Attribute(unfold_call(template), "format", ast.Load()), values, [])


def unfold_call(value: Any) -> ast.expr:
    """Return the code that unfolds a value."""
    return ast.parse(f'viz.unfold("{fold(value)}")', mode="eval").body


def lesson_files() -> list[Path]:
    """Return the texts of all lessons, in order."""
    return sorted(LESSONS.glob("[0-9][0-9]_*.md"))


def main() -> None:
    """Write all notebooks, or those of the texts that are named on the command line."""
    write_file(NOTES, lecturers_notes())
    write_file(EXERCISES, page_of_exercises())
    for text in [Path(name) for name in sys.argv[1:]] or lesson_files():
        notebook = NOTEBOOKS / f"{text.stem}.ipynb"
        write_file(notebook, nbformat.writes(read_lesson(text.read_text("utf-8")), indent=1) + "\n")
        sys.stdout.write(f"{notebook.relative_to(NOTEBOOKS.parent)}\n")


if __name__ == "__main__":
    main()
