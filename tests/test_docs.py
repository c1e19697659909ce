"""The pages say what is so: they are written from the code, and their examples are run."""

import doctest
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus as mg
import micrograd_plus.nn
import micrograd_plus.optim
from micrograd_plus import check, reference
from micrograd_plus.__main__ import arguments_parser
from micrograd_plus.composites import Composite
from micrograd_plus.op import operations
from micrograd_plus.samples import samples

HOUSE = Path(__file__).resolve().parent.parent
DOCS = HOUSE / "docs"
PAGES = sorted([HOUSE / "README.md", *DOCS.rglob("*.md")])
OURS = [op for op in operations.values() if op.forward.__module__.startswith("micrograd_plus.")]

PROGRAMS = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", (HOUSE / "README.md").read_text(encoding="utf-8"), re.DOTALL
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

assert len(mg.check_op(mg.bell)) == 11
page = runpy.run_path("docs/make_reference.py")["pages"]()["entry-by-entry.md"]
print(page[page.index("## bell"):])
"""
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#([^)\s]+))?\)")


def written_by_make_reference():
    """The pages of the reference, as docs/make_reference.py would write them now."""
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def test_the_reference_is_what_the_code_says():
    wanted = written_by_make_reference()
    there = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")}
    outdated = [name for name in sorted(wanted.keys() | there.keys()) if wanted.get(name) != there.get(name)]
    assert not outdated, "run `make reference`"


def test_the_reference_is_written_the_same_in_every_process():
    code = f"import runpy; print(runpy.run_path({str(DOCS / 'make_reference.py')!r})['pages']())"
    written = {run_program(code, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(written) == 1
    assert "## softmax" in written.pop()


def run_program(code, folder=None, packages=HOUSE, **variables):
    """A program in a Python of its own, with the packages of a house, of this one, importable."""
    path = os.pathsep.join([str(packages), str(HOUSE / "viz")])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    command = [sys.executable, "-X", "utf8", "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.mark.parametrize("op", OURS, ids=lambda op: op.name)
def test_every_operation_says_what_it_is(op):
    assert reference.headline(op.forward).strip(". "), f"{op.name} has no docstring"


@pytest.mark.parametrize("op", [op for op in OURS if op.kind != "constant"], ids=lambda op: op.name)
def test_every_operation_with_a_gradient_has_a_sample_that_shows_all_its_rules(op):
    assert op.name in samples, f"give {op.name} a line in samples.py"
    shown = {rule.input for rule in reference.rules(op)}
    served = {name for rule in op.rules for name in rule.inputs}
    if isinstance(op, Composite):  # the chain rule serves whatever can move: indices and conditions cannot
        served &= {op.inputs[place] for sample in samples[op.name] for place in check.moving(sample)}
    assert shown == served


def test_every_operation_has_its_row_in_the_reference():
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| \[(\w+)\]", index, re.MULTILINE))
    assert not {op.name for op in OURS} - rows


def test_the_guide_to_the_house_names_every_room():
    guide = (DOCS / "how-it-works.md").read_text(encoding="utf-8")
    drawing, table = guide[: guide.index("| room |")], guide[guide.index("| room |") :]
    rooms = {path.stem for path in (HOUSE / "micrograd_plus").glob("*") if path.suffix in ("", ".py")}
    rooms -= {"__init__", "__pycache__"}
    assert not [room for room in sorted(rooms) if f"`{room}" not in table and not re.search(rf"\b{room}\b", drawing)]


@pytest.mark.parametrize("op", OURS, ids=lambda op: op.name)
def test_no_rule_is_longer_than_what_is_read_at_one_look(op):
    for rule in op.rules:
        lines = inspect.getsource(rule.function).splitlines()
        said = len((inspect.getdoc(rule.function) or "").splitlines())
        assert len(lines) - said <= 17, f"{rule.name} with its decorator and first line"


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


@pytest.mark.parametrize(("program", "output"), PROGRAMS)
def test_a_program_in_the_readme_prints_what_is_shown_under_it(program, output):
    ran = run_program(program)
    assert ran.stdout == output, ran.stderr


@pytest.mark.parametrize("program", RUN)
def test_a_program_on_a_page_runs_as_it_stands(program, tmp_path):
    ran = run_program(program, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_the_operation_that_contributing_shows_needs_nothing_but_its_function_its_rule_and_its_sample(tmp_path):
    for room in ("micrograd_plus", "docs"):
        shutil.copytree(HOUSE / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    blocks = PYTHON.findall((DOCS / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        with (tmp_path / re.match(r"# in ([\w/.]+)", block)[1]).open("a", encoding="utf-8") as file:
            file.write(block)
    ran = run_program(NEW_OPERATION, folder=tmp_path, packages=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "upstream · (−2 · x · e^(−x · x))" in ran.stdout


@pytest.mark.parametrize("page", HOUSE_WORDS, ids=lambda page: page.name)
def test_what_a_page_tells_to_type_is_there(page):
    text = page.read_text(encoding="utf-8")
    made = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert made <= set(re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"pip install .*\[(\w+)\]", text)) <= project["optional-dependencies"].keys()
    for line in re.findall(r"(?:^|`)micrograd-plus ((?!--help)[^`#\n]+)", text, re.MULTILINE):
        assert arguments_parser().parse_args(line.split()).run


@pytest.mark.parametrize(("call", "x", "gradient"), CONVENTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_convention_is_what_the_table_says(call, x, gradient):
    names = {"mg": mg, "np": np, "nan": np.nan, "inf": np.inf}
    leaf = mg.tensor(eval(x, names), requires_grad=True)  # noqa: S307 - a cell of our own table
    eval(call, {**names, "x": leaf}).sum().backward()  # noqa: S307 - the same
    expected = np.array(eval(gradient, names))  # noqa: S307 - the same
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)


def test_the_programs_of_the_readme_and_the_table_of_conventions_are_found():
    assert len(PROGRAMS) >= 3
    assert len(CONVENTIONS) >= 40


def headings(path):
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(HOUSE).as_posix())
def test_the_links_of_a_page_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target, anchor in LINK.findall(prose):
        path = (page.parent / target).resolve()
        assert path.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in headings(path), f"{page.name} links to {target}#{anchor}"
