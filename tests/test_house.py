"""The order of the house: which room may import which, what is shipped, and what no file may hold."""

import ast
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from staged import staged

HOUSE = Path(__file__).resolve().parent.parent
ENGINE, VIZ = HOUSE / "micrograd_plus", HOUSE / "viz" / "micrograd_plus_viz"

# A room is a module or a package directly under micrograd_plus; beside it, the rooms it may import.
CORE = {"readings", "variable", "hints", "rule", "application"}
WALK = CORE | {"backward", "arguments"}
USERS = WALK | {"op", "ops", "tensor"}
ROOMS = {
    "readings": set(),
    "variable": {"readings"},
    "hints": set(),
    "rule": set(),
    "arguments": {"hints"},
    "application": {"readings", "variable", "hints", "rule"},
    "op": {"readings", "application", "rule"},
    "compiled": CORE,
    "backward": CORE,
    "apart": WALK,
    "composites": WALK | {"op", "apart"},
    "parallel": WALK | {"apart"},
    "structures": set(),
    "outside": {"variable"},
    "results": {"readings"},
    "values": {"readings", "variable"},
    "ordering": WALK,
    "ops": {"readings", "composites", "hints", "op"},
    "tensor": WALK | {"ops", "parallel", "results", "structures", "values"},
    "engine": WALK | {"ops"},
    "linalg": {"ops"},
    "fft": {"ops"},
    "signal": {"ops"},
    "counting": set(),
    "random": USERS | {"counting"},
    "transforms": USERS | {"structures"},
    "tangents": USERS | {"structures", "transforms"},
    "differences": USERS | {"transforms"},
    "checkpointing": USERS | {"apart", "outside", "random", "structures"},
    "control": USERS | {"structures", "checkpointing"},
    "custom": USERS | {"apart", "outside"},
    "splat": USERS,
    "trace": WALK,
    "samples": {"readings", "application", "ops"},
    "check": USERS | {"composites", "transforms", "tangents", "differences", "samples", "trace"},
    "museum": USERS | {"transforms", "samples", "trace", "check", "rule", "checkpointing"},
    "reference": USERS | {"compiled", "samples", "check", "trace"},
    "examples": {"__init__", "engine", "nn"},             # programs as a reader would write them
    "nn": USERS | {"engine", "random", "transforms", "checkpointing"},
    "optim": USERS | {"transforms"},
    "exercises": USERS | {"random", "transforms", "check", "samples", "trace"},
}
OPEN_ROOMS = {"__init__", "__main__"}           # they publish, or command, what the others do

# Beyond Python's own modules. What is in LAZY may only be imported inside a function.
THIRD_PARTY = {"numpy"}
LAZY = {"readings": {"cupy"}, "__main__": {"micrograd_plus_viz"}}
VIZ_MAY_IMPORT = {None, "__init__", "trace"}

NOT_OURS = {"__pycache__", ".git", "node_modules"}
PLACES = (".ci", "docs", "micrograd_plus", "tests", "viz")
TEXT = {"", ".css", ".html", ".ipynb", ".js", ".json", ".md", ".mjs", ".py", ".svg", ".toml", ".ts", ".txt",
        ".yaml", ".yml"}
REGISTRY = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.(org|com)|debian\.org/debian|conda\.anaconda\.org"
                      r"|--(extra-)?index-url|[/.@](artifactory|nexus)[./]")
MACHINE_PATH = re.compile(r"(?<![\w.~$})-])/(work|tmp|root|opt|home|Users)/|[A-Z]:\\+Users\\")


def python_files(place: Path) -> list[Path]:
    """Every module under a folder, in a fixed order."""
    return sorted(path for path in place.rglob("*.py") if not NOT_OURS & set(path.parts))


def is_type_checking(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports_by_call(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether an expression is `importlib.import_module("...")` or `__import__("...")`."""
    return (isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__"))
            and bool(node.args) and isinstance(node.args[0], ast.Constant))


def imported(tree: ast.AST, package: str, lazy: bool = False) -> Iterator[tuple[str, bool]]:
    """Each dotted name that a module imports, and whether it does so inside a function.

    `package` is the dotted name relative imports start from. `from a import b` counts as `a.b`, since `b` may
    be a module; so does `importlib.import_module("a.b")`.
    """
    for node in ast.iter_child_nodes(tree):
        if is_type_checking(node):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", lazy) for alias in node.names)
        elif imports_by_call(node):
            yield ast.literal_eval(node.args[0]), lazy
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imported(node, package, lazy or inside)


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """The same, of a file of the engine or of viz."""
    start = ENGINE.parent if path.is_relative_to(ENGINE) else VIZ.parent
    package = ".".join(path.relative_to(start).with_suffix("").parts[:-1])
    return imported(ast.parse(path.read_text(encoding="utf-8")), package)


def room_of(path: Path) -> str:
    """The room that a file of the engine lies in."""
    return Path(path.relative_to(ENGINE).parts[0]).stem


def room_named(name: str, rooms: set[str]) -> str | None:
    """The room a dotted name leads to; `__init__` for the public face; None for what is not the engine's."""
    first, *rest = name.split(".")
    if first != "micrograd_plus":
        return None
    return rest[0] if rest and rest[0] in rooms else "__init__"


def faults(room: str, imports: Iterator[tuple[str, bool]], rooms: set[str]) -> list[str]:
    """What a room imports and may not, as sentences."""
    found = []
    for name, lazy in imports:
        other, first = room_named(name, rooms), name.split(".", maxsplit=1)[0]
        if other is not None:
            if room not in OPEN_ROOMS and other != room and other not in ROOMS[room]:
                found.append(f"{room} imports {other}")
        elif first in LAZY.get(room, ()):
            if not lazy:
                found.append(f"{room} imports {first} outside a function")
        elif first not in sys.stdlib_module_names | THIRD_PARTY:
            found.append(f"{room} imports {first}")
    return found


def test_every_room_of_the_engine_has_its_line_in_the_table():
    rooms = {room_of(path) for path in python_files(ENGINE)}
    assert rooms, "the engine has no modules"
    assert rooms <= ROOMS.keys() | OPEN_ROOMS, "give the new room its line in ROOMS: what may it import?"


def test_every_room_imports_only_the_rooms_below_it_and_numpy():
    files = python_files(ENGINE)
    rooms = {room_of(path) for path in files}
    found = {str(path.relative_to(HOUSE)): faults(room_of(path), imports_of(path), rooms) for path in files}
    assert not {file: wrong for file, wrong in found.items() if wrong}


def test_the_order_of_the_rooms_has_no_circle():
    left = {room: set(below) for room, below in ROOMS.items()}
    while left:
        free = {room for room, below in left.items() if not below & left.keys()}
        assert free, f"these rooms import each other: {sorted(left)}"
        left = {room: below for room, below in left.items() if room not in free}


def test_floats_are_read_without_numpy():
    floats = ENGINE / "readings" / "floats.py"
    assert {name.split(".")[0] for name, _ in imports_of(floats)} <= sys.stdlib_module_names


def test_viz_imports_no_internals_of_the_engine():
    for path in python_files(VIZ):
        for name, _ in imports_of(path):
            assert room_named(name, set(ROOMS)) in VIZ_MAY_IMPORT, f"{path.relative_to(HOUSE)} imports {name}"


@pytest.mark.parametrize(("room", "source", "sentence"), [
    ("readings", "from ..op import Op", "readings imports op"),
    ("ops", "from micrograd_plus.tensor import Tensor", "ops imports tensor"),
    ("ops", "from .. import tensor", "ops imports tensor"),
    ("ops", "def f():\n    from .. import tensor", "ops imports tensor"),
    ("ops", "import importlib\nimportlib.import_module('micrograd_plus.tensor')", "ops imports tensor"),
    ("nn", "import micrograd_plus as mg", "nn imports __init__"),
    ("optim", "import torch", "optim imports torch"),
    ("readings", "import cupy", "readings imports cupy outside a function"),
    ("nn", "def f():\n    import cupy", "nn imports cupy"),
])
def test_a_forbidden_import_is_seen_however_it_is_spelled(room, source, sentence):
    found = faults(room, imported(ast.parse(source), f"micrograd_plus.{room}"), set(ROOMS))
    assert found == [sentence]


@pytest.mark.parametrize(("room", "source"), [
    ("readings", "def f():\n    import cupy"),
    ("ops", "from ..op import elementwise\nfrom . import products\nimport numpy as np, math"),
    ("ops", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tensor import Tensor"),
    ("__init__", "from .tensor import Tensor\nfrom . import nn"),
])
def test_a_permitted_import_is_left_alone(room, source):
    package = "micrograd_plus" if room in OPEN_ROOMS else f"micrograd_plus.{room}"
    assert faults(room, imported(ast.parse(source), package), set(ROOMS)) == []


def test_nothing_lies_directly_under_viz_but_its_package_and_the_sources_of_the_front_end():
    strays = [path for path in python_files(HOUSE / "viz") if not path.is_relative_to(VIZ)]
    assert not strays


def test_the_wheel_holds_both_packages_the_notebooks_and_nothing_else(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = {name for name in names if ".dist-info/" not in name}
    modules = {path.relative_to(HOUSE).as_posix() for path in python_files(ENGINE)}
    modules |= {path.relative_to(HOUSE / "viz").as_posix() for path in python_files(VIZ)}
    assert {name for name in shipped if name.endswith(".py")} == modules
    books = {name for name in shipped if name.startswith("micrograd_plus_notebooks/")}
    assert books == {f"micrograd_plus_notebooks/{name}" for name in staged()}
    assert {name.split("/", maxsplit=1)[0] for name in shipped - books} == {"micrograd_plus", "micrograd_plus_viz"}
    assert "micrograd_plus/py.typed" in shipped, "the metadata says Typing :: Typed"


def test_the_base_install_needs_numpy_alone():
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[<>=~! ]", need)[0] for need in project["dependencies"]] == ["numpy"]


def test_notebooks_hold_no_outputs():
    for name, text in staged().items():
        for number, cell in enumerate(json.loads(text)["cells"]):
            kept = cell.get("outputs") or cell.get("execution_count")
            assert not kept, f"{name}, cell {number}: clear all outputs before it is committed"


def texts() -> dict[str, str]:
    """Every file of ours that a person may read, by its path, in a fixed order."""
    files = [path for path in HOUSE.iterdir() if path.is_file()]
    files += [path for place in PLACES for path in (HOUSE / place).rglob("*") if path.is_file()]
    ours = sorted(path for path in files if path.suffix in TEXT and not NOT_OURS & set(path.parts))
    found = {str(path.relative_to(HOUSE)): path.read_text(encoding="utf-8") for path in ours}
    return found | {f"notebooks/{name}": text for name, text in staged().items()}


@pytest.mark.parametrize("pattern", [REGISTRY, MACHINE_PATH], ids=["a registry", "a path of one machine"])
def test_no_file_names_where_somebody_downloaded_or_worked(pattern):
    found = []
    for path, text in texts().items():
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path}:{number}: {line.strip()[:100]}")
    assert not found


@pytest.mark.parametrize(("pattern", "line", "matches"), [
    (MACHINE_PATH, "open('/" + "tmp/x')", True),
    (MACHINE_PATH, "file:///" + "home/ada/walk.html", True),
    (MACHINE_PATH, "docs/home/index.md", False),
    (REGISTRY, "https://" + "pypi." + "org/simple", True),
    (REGISTRY, "pip install micrograd_plus", False),
])
def test_what_is_looked_for_is_found(pattern, line, matches):
    assert bool(pattern.search(line)) is matches


def test_every_rule_that_ruff_is_told_to_ignore_has_its_reason_beside_it():
    text = (HOUSE / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    ignored = [*lint["ignore"], *(rule for rules in lint["per-file-ignores"].values() for rule in rules)]
    part = text[text.index("\nignore = [", text.index("[tool.ruff.lint]")):]
    reasons = re.findall(r'^    "([A-Z]+\d*)", *# +\S+ \S+', part, flags=re.MULTILINE)
    assert sorted(ignored) == sorted(reasons)


def test_every_rule_suppressed_on_a_line_has_its_reason_beside_it():
    marker = re.compile(r"# (noqa|type: ignore|pyright: ignore)(\[\w[\w, -]*\])?:? *([A-Z]+\d+[, ]*)*(?P<reason>.*)$")
    unexplained = []
    for path in [*python_files(ENGINE), *python_files(HOUSE / "viz"), *python_files(HOUSE / "tests")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found = marker.search(line)
            if found and not found["reason"].strip(" -:"):
                unexplained.append(f"{path.relative_to(HOUSE)}:{number}")
    assert not unexplained
