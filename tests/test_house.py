"""The order of the house: which package may import which, what is shipped, and what no file may hold."""

import ast
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from micrograd_plus.core.define import operations
from staged import staged_notebooks

HOUSE = Path(__file__).resolve().parent.parent
ENGINE, VIZ = HOUSE / "micrograd_plus", HOUSE / "viz" / "micrograd_plus_viz"

# A package, or a module that lies directly under micrograd_plus; beside it, those that it may import. Floor by floor:
# what stands further down may import what stands further up.
BELOW = {"backends", "core", "ops"}
USERS = BELOW | {"tensor"}
PACKAGES = {
    "files": set(),
    "hidden_states": set(),
    "pytrees": set(),
    "backends": set(),
    "formulas": set(),
    "core": {"backends"},
    "ops": {"backends", "core"},
    "linalg": {"core", "ops"},
    "fft": {"core", "ops"},
    "tensor": BELOW | {"pytrees"},
    "engine": BELOW,
    "tracing": {"backends", "core", "files", "formulas"},
    "random": USERS | {"hidden_states"},
    "optim": USERS,
    "transforms": USERS | {"formulas", "hidden_states", "pytrees"},
    "extras": USERS,
    "nn": USERS | {"engine", "files", "random", "transforms"},
    "numpy": USERS | {"extras", "fft", "linalg", "pytrees", "transforms"},
    "checks": USERS | {"extras", "formulas", "random", "tracing", "transforms"},
    "exercises": USERS | {"checks", "engine", "tracing", "transforms"},
    "grading": {"exercises", "tracing"},
    "examples": {"__init__", "engine", "nn"},           # programs as a reader would write them
}
OPEN = {"__init__", "__main__"}                         # they publish, or command, what the others do
MOST_AT_THE_ROOT, MOST_FLOORS = 26, 8
OF_THE_CORE_FOR_OPS = {"define", "composite", "messages"}
"""What a file of operations may import of the core: how one is defined, and what is said where one goes wrong."""

# What is read first has limits: the engine itself, and each function and class of its package.
ENGINE_ITSELF = ("rule", "operation", "variable", "apply", "backward", "modes", "define")
MOST_LINES, MOST_LINES_OF_A_FUNCTION, MOST_LINES_OF_A_CLASS, MOST_EXITS = 1250, 40, 200, 3

# Beyond Python's own modules. What is in LAZY may only be imported inside a function.
THIRD_PARTY = {"numpy"}
LAZY = {
    "backends": {"cupy", "cupyx"}, "__main__": {"micrograd_plus_viz"},
    "grading": {"distributed", "micrograd_plus_viz", "nbgrader"},
}  # fmt: skip
VIZ_MAY_IMPORT = {None, "__init__", "tracing"}

NOT_OURS = {"__pycache__", ".git", "node_modules"}
PLACES = (".ci", ".github", "docs", "micrograd_plus", "tests", "viz")
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
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", None)) in ("import_module", "__import__")


def imported(tree: ast.AST, package: str, lazy: bool = False, types: bool = False) -> Iterator[tuple[str, bool]]:
    """Each dotted name that a module imports, and whether it does so inside a function.

    `package` is the dotted name relative imports start from. `from a import b` counts as `a.b`, since `b` may
    be a module; so does `importlib.import_module("a.b")`. With `types`, so does what is imported for types alone.
    """
    for node in ast.iter_child_nodes(tree):
        if is_type_checking(node) and not types:
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
        yield from imported(node, package, lazy or inside, types)


@cache
def tree_of(path: Path) -> ast.Module:
    """What a file says, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path, types: bool = False) -> list[tuple[str, bool]]:
    """The same, of a file of the engine or of viz."""
    start = ENGINE.parent if path.is_relative_to(ENGINE) else VIZ.parent
    package = ".".join(path.relative_to(start).with_suffix("").parts[:-1])
    return list(imported(tree_of(path), package, types=types))


def package_of(path: Path) -> str:
    """The package, or the module at the root, that a file of the engine belongs to."""
    return Path(path.relative_to(ENGINE).parts[0]).stem


def package_named(name: str, packages: set[str]) -> str | None:
    """The package a dotted name leads to; `__init__` for the public face; None for what is not the engine's."""
    first, *rest = name.split(".")
    if first != "micrograd_plus":
        return None
    return rest[0] if rest and rest[0] in packages else "__init__"


def faults(package: str, imports: Iterator[tuple[str, bool]], packages: set[str]) -> list[str]:
    """What a package imports and may not, as sentences."""
    found = []
    for name, lazy in imports:
        other, first = package_named(name, packages), name.split(".", maxsplit=1)[0]
        if other is not None:
            if package not in OPEN and other != package and other not in PACKAGES[package]:
                found.append(f"{package} imports {other}")
        elif first in LAZY.get(package, ()):
            if not lazy:
                found.append(f"{package} imports {first} outside a function")
        elif first not in sys.stdlib_module_names | THIRD_PARTY:
            found.append(f"{package} imports {first}")
    return found


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Those that import each other, directly or by way of others; none where everything has its floor."""
    left = {name: set(others) for name, others in imports.items()}
    while left:
        free = {name for name, others in left.items() if not others & left.keys() - {name}}
        if not free:
            break
        left = {name: others for name, others in left.items() if name not in free}
    named = {other for others in left.values() for other in others}
    return sorted(named & left.keys())


def modules() -> dict[str, Path]:
    """Every module of the engine by its dotted name."""
    dotted = {path: path.relative_to(HOUSE).with_suffix("").parts for path in python_files(ENGINE)}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in dotted.items()}


def imports_between_modules() -> dict[str, set[str]]:
    """The modules of the engine that each of them imports, inside functions and for types alone as well."""
    ours = modules()
    found = {}
    for module, path in ours.items():
        names = {name for name, _ in imports_of(path, types=True)}
        found[module] = {name if name in ours else name.rpartition(".")[0] for name in names} & ours.keys()
    return found


def floors() -> dict[str, int]:
    """How many packages stand on each other below each package, with itself, by what it does import."""
    ours = {package_of(path) for path in python_files(ENGINE)}
    below: dict[str, set[str]] = {package: set() for package in ours - OPEN}
    for path in python_files(ENGINE):
        others = {package_named(name, ours) for name, _ in imports_of(path)} - OPEN - {None, package_of(path)}
        below.get(package_of(path), set()).update(others)
    heights: dict[str, int] = {}
    for _ in below:
        heights.update({
            package: 1 + max((heights[other] for other in others), default=0)
            for package, others in below.items()
            if others <= heights.keys()
        })  # fmt: skip
    return heights


def test_every_package_of_the_engine_has_its_line_in_the_table():
    packages = {package_of(path) for path in python_files(ENGINE)}
    assert packages, "the engine has no modules"
    assert packages <= PACKAGES.keys() | OPEN, "give the new package its line in PACKAGES: what may it import?"


def test_every_package_imports_only_those_below_it_and_numpy():
    files = python_files(ENGINE)
    packages = {package_of(path) for path in files}
    found = {
        path.relative_to(HOUSE).as_posix(): faults(package_of(path), imports_of(path), packages) for path in files
    }
    assert not {file: wrong for file, wrong in found.items() if wrong}


def test_the_table_of_packages_has_no_circle():
    assert not circle(PACKAGES)


def test_no_modules_import_each_other():
    assert not circle(imports_between_modules())


def test_the_root_can_be_taken_in_at_a_glance_and_the_house_has_few_floors():
    at_the_root = [path.name for path in ENGINE.iterdir() if path.name not in NOT_OURS]
    assert len(at_the_root) <= MOST_AT_THE_ROOT
    assert floors().keys() == {package_of(path) for path in python_files(ENGINE)} - OPEN
    assert max(floors().values()) <= MOST_FLOORS


@pytest.mark.parametrize(("imports", "found"), [
    ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
    ({"a": {"b"}, "b": {"a"}}, ["a", "b"]),
    ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}, ["a", "b", "c"]),
    ({"a": {"a"}}, []),
])
def test_a_circle_is_found_however_long_it_is(imports, found):
    assert circle(imports) == found


def test_floats_are_read_without_numpy():
    floats = ENGINE / "backends" / "floats.py"
    assert {name.split(".")[0] for name, _ in imports_of(floats)} <= sys.stdlib_module_names


def test_viz_imports_no_internals_of_the_engine():
    for path in python_files(VIZ):
        for name, _ in imports_of(path):
            assert package_named(name, set(PACKAGES)) in VIZ_MAY_IMPORT, f"{path.relative_to(HOUSE)} imports {name}"


# The engine names no operation, an operation no engine, neither `Tensor` ----------------------------------------------


def named_in(path: Path) -> set[str]:
    """Every name that a file says: of variables, attributes and what it imports, and every string that could be one."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    return found


def engine_itself() -> list[Path]:
    """The files in which the engine is read, in that order."""
    return [path for name in ENGINE_ITSELF if (path := ENGINE / "core" / f"{name}.py").exists()]


@pytest.mark.parametrize("path", engine_itself(), ids=lambda path: path.stem)
def test_the_engine_knows_no_operation_by_its_name(path):
    nodes = ast.walk(tree_of(path))
    said = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not said & operations.keys()


def test_neither_the_core_nor_an_operation_names_the_tensor_of_users():
    files = [*python_files(ENGINE / "core"), *python_files(ENGINE / "ops")]
    assert not [path.relative_to(HOUSE).as_posix() for path in files if "Tensor" in named_in(path)]


def test_an_operation_names_nothing_of_the_core_but_what_defines_it():
    for path in python_files(ENGINE / "ops"):
        of_the_core = {name.split(".")[2] for name, _ in imports_of(path) if name.startswith("micrograd_plus.core.")}
        assert of_the_core <= OF_THE_CORE_FOR_OPS, path.relative_to(HOUSE).as_posix()


# What is read first is short ------------------------------------------------------------------------------------------


def lines_of(node: ast.AST) -> int:
    """How many lines a function or a class takes, from its first to its last."""
    return node.end_lineno - node.lineno + 1


def exits_of(function: ast.AST) -> int:
    """How often a function says `return`; what functions inside it return is theirs."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return sum(
        isinstance(node, ast.Return) + (0 if isinstance(node, inner) else exits_of(node))
        for node in ast.iter_child_nodes(function)
    )


def of_the_core(kinds: type | tuple[type, ...]) -> dict[str, ast.AST]:
    """The functions, or the classes, of the core, by file and name."""
    found = {}
    for path in python_files(ENGINE / "core"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, kinds):
                found[f"{path.name}:{node.lineno} {node.name}"] = node
    return found


def test_the_engine_itself_is_read_in_an_hour():
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in engine_itself()}
    assert sum(lines.values()) <= MOST_LINES, lines


def test_no_function_of_the_core_is_long():
    sizes = {name: lines_of(node) for name, node in of_the_core((ast.FunctionDef, ast.AsyncFunctionDef)).items()}
    assert not {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_FUNCTION}


def test_no_function_of_the_core_has_many_exits():
    exits = {name: exits_of(node) for name, node in of_the_core((ast.FunctionDef, ast.AsyncFunctionDef)).items()}
    assert not {name: count for name, count in exits.items() if count > MOST_EXITS}


def test_no_class_of_the_core_is_long():
    sizes = {name: lines_of(node) for name, node in of_the_core(ast.ClassDef).items()}
    assert not {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_CLASS}


def test_exits_are_those_of_a_function_itself():
    source = "def f(x):\n    def g():\n        return 1\n    if x:\n        return g\n    return lambda: x\n"
    assert exits_of(ast.parse(source).body[0]) == 2


# What a forbidden import looks like -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("package", "source", "sentence"), [
    ("backends", "from ..core import rule", "backends imports core"),
    ("core", "from ..ops import exp", "core imports ops"),
    ("ops", "from micrograd_plus.tensor import Tensor", "ops imports tensor"),
    ("ops", "from .. import tensor", "ops imports tensor"),
    ("ops", "def f():\n    from .. import tensor", "ops imports tensor"),
    ("ops", "import importlib\nimportlib.import_module('micrograd_plus.tensor')", "ops imports tensor"),
    ("nn", "import micrograd_plus as mg", "nn imports __init__"),
    ("optim", "import torch", "optim imports torch"),
    ("backends", "import cupy", "backends imports cupy outside a function"),
    ("nn", "def f():\n    import cupy", "nn imports cupy"),
])
def test_a_forbidden_import_is_seen_however_it_is_spelled(package, source, sentence):
    found = faults(package, imported(ast.parse(source), f"micrograd_plus.{package}"), set(PACKAGES))
    assert found == [sentence]


@pytest.mark.parametrize(("package", "source"), [
    ("backends", "def f():\n    import cupy"),
    ("ops", "from ..core.define import elementwise\nfrom . import products\nimport numpy as np, math"),
    ("ops", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tensor import Tensor"),
    ("__init__", "from .tensor import Tensor\nfrom . import nn"),
])
def test_a_permitted_import_is_left_alone(package, source):
    name = "micrograd_plus" if package in OPEN else f"micrograd_plus.{package}"
    assert faults(package, imported(ast.parse(source), name), set(PACKAGES)) == []


def test_nothing_lies_directly_under_viz_but_its_package_and_the_sources_of_the_front_end():
    strays = [path for path in python_files(HOUSE / "viz") if not path.is_relative_to(VIZ)]
    assert not strays


@pytest.mark.needs("hatchling")
def test_the_wheel_holds_both_packages_the_notebooks_and_nothing_else(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=HOUSE, capture_output=True, encoding="utf-8", check=False)
    assert built.returncode == 0, built.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = {name for name in names if ".dist-info/" not in name}
    modules = {path.relative_to(HOUSE).as_posix() for path in python_files(ENGINE)}
    modules |= {path.relative_to(HOUSE / "viz").as_posix() for path in python_files(VIZ)}
    assert {name for name in shipped if name.endswith(".py")} == modules
    books = {name for name in shipped if name.startswith("micrograd_plus_notebooks/")}
    assert books == {f"micrograd_plus_notebooks/{name}" for name in staged_notebooks()}
    assert {name.split("/", maxsplit=1)[0] for name in shipped - books} == {"micrograd_plus", "micrograd_plus_viz"}
    assert "micrograd_plus/py.typed" in shipped, "the metadata says Typing :: Typed"


def test_the_base_install_needs_numpy_alone():
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[<>=~! ]", need)[0] for need in project["dependencies"]] == ["numpy"]


def test_notebooks_hold_no_outputs():
    for name, text in staged_notebooks().items():
        for number, cell in enumerate(json.loads(text)["cells"]):
            kept = cell.get("outputs") or cell.get("execution_count")
            assert not kept, f"{name}, cell {number}: clear all outputs before it is committed"


def texts() -> dict[str, str]:
    """Every file of ours that a person may read, by its path, in a fixed order."""
    files = [path for path in HOUSE.iterdir() if path.is_file()]
    files += [path for place in PLACES for path in (HOUSE / place).rglob("*") if path.is_file()]
    ours = sorted(path for path in files if path.suffix in TEXT and not NOT_OURS & set(path.parts))
    found = {str(path.relative_to(HOUSE)): path.read_text(encoding="utf-8") for path in ours}
    return found | {f"notebooks/{name}": text for name, text in staged_notebooks().items()}


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
