"""The pages of docs match the code, and their examples run."""

import ast
import doctest
import functools
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus.nn
import micrograd_plus.optim
from micrograd_plus.__main__ import arguments_parser
from micrograd_plus.checks import docstrings, promises as check, reference
from micrograd_plus.checks.samples import samples
from micrograd_plus.core.composite import Composite
from micrograd_plus.core.define import operations
from test_architecture import levels as levels_of_imports
from test_docstrings import PUBLIC

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
OURS = [op for op in operations.values() if op.forward.__module__.startswith("micrograd_plus.")]

PROGRAMS = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
)
CONVENTIONS = re.findall(
    r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|",
    (DOCS / "conventions.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
RUN = [
    pytest.param(program, id=f"{name}-{number}", marks=[pytest.mark.cuda] if "cuda" in program else [])
    for name in ("trace.md", "player.md", "devices.md")
    for number, program in enumerate(PYTHON.findall((DOCS / name).read_text(encoding="utf-8")))
]
HOUSE_WORDS = [page for page in PAGES if page.parent != DOCS / "reference"]
NEW_OPERATION = """
import runpy
import micrograd_plus as mg

assert len(mg.check_op(mg.bell)) == 14
page = runpy.run_path("docs/make_reference.py")["pages"]()["exponentials-and-logarithms.md"]
print(page[page.index("## bell"):])
"""
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#([^)\s]+))?\)")


def written_by_make_reference():
    """Return the pages of the reference that docs/make_reference.py would write now."""
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def test_the_reference_is_up_to_date():
    wanted = written_by_make_reference()
    there = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")}
    outdated = [name for name in sorted(wanted.keys() | there.keys()) if wanted.get(name) != there.get(name)]
    assert not outdated, "run `make reference`"


def test_the_reference_is_written_the_same_in_every_process():
    code = f"import runpy; print(runpy.run_path({str(DOCS / 'make_reference.py')!r})['pages']())"
    written = {run_program(code, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(written) == 1
    assert "## softmax" in written.pop()


def run_program(code, folder=None, packages=ROOT, **variables):
    """Run a program from a file in a new process, with only this package importable."""
    path = os.pathsep.join([str(packages), str(ROOT / "viz"), str(folder or Path.cwd())])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    with tempfile.TemporaryDirectory() as place:
        program = Path(place, "program.py")
        program.write_text(code, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-X", "utf8", str(program)],
            cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip


def documented_names():
    """A thing with every part that a docstring can have.

    A paragraph in
    two lines, and a table:
        "one":  1
        "two":  1 + 1

    Shapes: (n) ->
        (n).
    Args:
        a, b: two that
            go together.
        *others: the rest.
    Returns: nothing.
    Raises: ValueError: never.
    Example:
        >>> for i in range(2):
        ...     print(i)
        0
        1

    See: elsewhere.
    """


def test_a_docstring_is_split_into_its_parts():
    parts = docstrings.parts_of(documented_names)
    assert parts.summary == "A thing with every part that a docstring can have."
    assert parts.body == [("A paragraph in two lines, and a table:", False), ('"one":  1\n"two":  1 + 1', True)]
    assert (parts.shapes, parts.returns, parts.raises) == ("(n) -> (n).", "nothing.", "ValueError: never.")
    assert parts.arguments == [("a, b", "two that go together."), ("*others", "the rest.")]
    assert parts.example == ">>> for i in range(2):\n...     print(i)\n0\n1"
    assert parts.see == "elsewhere."


def test_a_docstring_without_sections_is_split_too():
    def plain():
        """A sentence, and

        >>> 1 + 1
        2
        """

    assert docstrings.parts_of(plain).summary == "A sentence, and"
    assert docstrings.parts_of(plain).body == [(">>> 1 + 1\n2", True)]
    assert docstrings.parts_of(lambda: None) == docstrings.Docstring()


def test_a_docstring_is_wrapped_to_the_terminal_except_formulas():
    said = docstrings.wrap_docstring(docstrings.parts_of(documented_names), 30)
    assert max(map(len, said.splitlines())) <= 30
    assert said.splitlines()[6:8] == ['    "one":  1', '    "two":  1 + 1']
    wide = docstrings.wrap_docstring(docstrings.parts_of(documented_names), 120).splitlines()
    assert wide[wide.index("Shapes: (n) -> (n)."):] == [
        "Shapes: (n) -> (n).", "Args:", "    a, b: two that go together.", "    *others: the rest.",
        "Returns: nothing.", "Raises: ValueError: never.", "Example:", "    >>> for i in range(2):",
        "    ...     print(i)", "    0", "    1", "", "See: elsewhere.",
    ]  # fmt: skip


def test_a_page_of_the_reference_has_the_parts_of_a_docstring():
    page = (DOCS / "reference" / "shape-and-layout.md").read_text(encoding="utf-8")
    pad = page[page.index("## pad\n"):].partition("\n## ")[0]
    assert '```text\n"constant":  0 0 [1 2 3] 0 0\n' in pad
    assert "\n**Arguments**\n\n- `x`: real or complex numbers.\n- `pad_width`: " in pad
    assert '\n```pycon\n>>> mg.pad([1.0, 2.0, 3.0], (1, 2), mode="reflect").tolist()\n' in pad


def test_every_operation_says_what_it_is():
    assert [op.name for op in OURS if not reference.headline(op.forward).strip(". ")] == []


def test_samples_show_all_rules_of_every_operation():
    for op in [op for op in OURS if op.kind != "non-differentiable"]:
        assert op.name in samples, f"give {op.name} a line in samples.py"
        shown = {rule.input for rule in reference.rules(op)}
        served = {name for rule in op.rules for name in rule.inputs}
        if isinstance(op, Composite):  # the chain rule serves whatever can move: indices and conditions cannot
            served &= {op.inputs[place] for each in samples[op.name] for place in check.differentiable_inputs(each)}
        assert shown == served, op.name


def test_every_operation_has_its_row_in_the_reference():
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| \[(\w+)\]", index, re.MULTILINE))
    assert {op.name for op in OURS if mg.ops.is_public(op.call)} <= rows
    assert not {op.name for op in OURS if not mg.ops.is_public(op.call)} & rows


def test_everything_public_has_its_entry_in_the_reference():
    pages = {}
    for called, page in re.findall(r"^\| \[([\w.]+)\]\(([\w-]+\.md)#", page_of_reference("index.md"), re.MULTILINE):
        pages.setdefault(called.rpartition(".")[2], set()).add(page)
    for name, value in PUBLIC.items():
        short = name.rpartition(".")[2]
        entry = rf"^## ([\w.]+\.)?{short}$|^The same as .*`mg\.([\w.]+\.)?{short}`"  # mg.abs is mg.absolute
        listed = pages.get(short, set()) | pages.get(value.__name__, set())
        assert any(re.search(entry, page_of_reference(page), re.MULTILINE) for page in listed), name


@functools.cache
def page_of_reference(name):
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def test_a_class_of_tensors_layers_or_optimisers_shows_its_methods():
    tensors, layers = page_of_reference("tensors-and-modes.md"), page_of_reference("layers.md")
    assert "### backward\n\n```python\ntensor.backward(gradient=None, *, retain_graph=True, " in tensors
    assert "`sum`, `mean`, `prod`" in tensors
    assert "### state_dict\n\n```python\nmodule.state_dict(" in layers


def test_the_guide_names_every_package_and_core_module():
    guide = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    packages = {path.stem for path in (ROOT / "micrograd_plus").glob("*") if path.suffix in ("", ".py")}
    core = {path.stem for path in (ROOT / "micrograd_plus" / "core").glob("*.py")}
    names = sorted((packages | core) - {"__init__", "__main__", "__pycache__", "py"})
    assert not [name for name in names if not re.search(rf"\b{name}\b", guide)]


def lines_of(path, names):
    """Return the number of lines of a file, or of a name in it with its decorators."""
    text = path.read_text(encoding="utf-8")
    defined = {each.name: each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)}
    lines = 0 if names else len(text.splitlines())
    for each in map(defined.get, names):
        lines += each.end_lineno - min([each.lineno, *(above.lineno for above in each.decorator_list)]) + 1
    return lines


def test_the_guide_gives_the_length_of_the_readers_path():
    guide = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/]+\.py)`((?:, `\w+`)*) \| (\d+) \|", guide, re.MULTILINE)
    there = [lines_of(ROOT / "micrograd_plus" / path, re.findall(r"\w+", names)) for path, names, _ in rows]
    core = [lines for (path, _, _), lines in zip(rows, there, strict=True) if path.startswith("core/")]
    assert [row[0] for row in rows][:: len(rows) - 1] == ["ops/trigonometry.py", "tensor/gradients.py"]
    assert sum(core) <= 1100
    for (path, _, said), lines in zip(rows, there, strict=True):
        assert abs(int(said) - lines) <= 0.1 * lines + 2, f"{path} has {lines} lines"


def test_the_guide_shows_the_compiled_code_of_tanh():
    guide = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    assert repr(mg.tanh.source).partition("\n\ndef vjp_tanh_on_tensors")[0] in guide


def test_the_levels_in_the_guide_match_the_imports():
    guide = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^   (\d)  (.{39})", guide, re.MULTILINE)
    levels = {name: int(level) for level, names in drawn for name in names.split()}
    assert levels == levels_of_imports()


def test_no_rule_is_longer_than_eighteen_lines():
    for rule in [rule for op in OURS for rule in op.rules]:
        source = inspect.getsource(rule.function)
        without_docstring = re.sub(r'""".*?"""', "", source, flags=re.DOTALL)
        assert len(without_docstring.splitlines()) <= 18, f"{rule.name} with its decorator and first line"


def test_every_rule_has_a_formula():
    without = [f"{op.name}.{rule.input}" for op in OURS for rule in reference.rules(op) if rule.text is None]
    assert not without


@pytest.mark.parametrize("op", [op for op in OURS if op.name in samples], ids=lambda op: op.name)
def test_the_example_of_an_operation_prints_what_it_shows(op):
    session = re.sub(r"^$", "<BLANKLINE>", reference.example(op), flags=re.MULTILINE) + "\n"
    example = doctest.DocTestParser().get_doctest(session, {"mg": mg, "np": np}, op.name, None, 0)
    with np.printoptions(precision=4, suppress=True, linewidth=100):
        outcome = doctest.DocTestRunner().run(example)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(("name", "least"), [("writing.md", 30), ("differences.md", 6)])
def test_the_session_of_a_page_prints_as_shown(name, least):
    blocks = re.findall(r"```pycon\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {"mg": mg, "np": np}, name, None, 0)
    with np.printoptions(precision=8, suppress=False, linewidth=75, threshold=1000):
        outcome = doctest.DocTestRunner().run(session)
    assert outcome.attempted > least
    assert outcome.failed == 0


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_programs_in_the_readme_print_the_shown_output(program, output):
    ran = run_program(program)
    assert ran.stdout == output, ran.stderr


@pytest.mark.parametrize("program", RUN)
def test_programs_on_pages_run_unchanged(program, tmp_path):
    ran = run_program(program, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_the_new_operation_in_contributing_passes_all_checks(tmp_path):
    for part in ("micrograd_plus", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    blocks = PYTHON.findall((DOCS / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        with (tmp_path / re.match(r"# in ([\w/.]+)", block)[1]).open("a", encoding="utf-8") as file:
            file.write(block)
    ran = run_program(NEW_OPERATION, folder=tmp_path, packages=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "upstream · (−2 · x · e^(−x · x))" in ran.stdout


@pytest.mark.parametrize("page", HOUSE_WORDS, ids=lambda page: page.name)
def test_commands_on_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    made = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert made <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"pip install .*\[(\w+)\]", text)) <= project["optional-dependencies"].keys()
    for line in re.findall(r"(?:^|`)micrograd-plus ((?!--help)[^`#\n]+)", text, re.MULTILINE):
        assert arguments_parser().parse_args(line.split()).run


@pytest.mark.parametrize(("call", "x", "gradient"), CONVENTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_gradient_equals_the_table_of_conventions(call, x, gradient):
    names = {"mg": mg, "np": np, "nan": np.nan, "inf": np.inf}
    leaf = mg.tensor(eval(x, names), requires_grad=True)  # noqa: S307 - a cell of our own table
    eval(call, {**names, "x": leaf}).sum().backward()  # noqa: S307 - the same
    expected = np.array(eval(gradient, names))  # noqa: S307 - the same
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)


def test_readme_programs_and_convention_tables_exist():
    assert len(PROGRAMS) >= 3
    assert len(CONVENTIONS) >= 40


def headings(path):
    """Return the anchors of a page's headings, as GitHub and mkdocs make them."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    folder = ROOT / "notebooks" if page.parent == DOCS / "lessons" else page.parent     # a lesson is read as a notebook
    for target, anchor in LINK.findall(prose):
        path = (folder / target).resolve()
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in headings(path), f"{page.name} links to {target}#{anchor}"
