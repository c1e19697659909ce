"""Architecture: imports between packages, the size of the core, the contents of the wheel, and forbidden text."""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from micrograd_plus.core.define import operations
from micrograd_plus_viz import notebook, page, player
from micrograd_plus_viz.packing import unpack
from micrograd_plus_viz.quizzes import output
from staged import staged_notebooks

ROOT = Path(__file__).resolve().parent.parent
ENGINE, VIZ = ROOT / "micrograd_plus", ROOT / "viz" / "micrograd_plus_viz"

# For each package, or module directly under micrograd_plus, the packages that it may import, level by level.
BELOW = {"backends", "core", "ops"}
USERS = BELOW | {"tensor"}
PACKAGES = {
    "files": set(),
    "datasets": USERS | {"optim"},
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
    "autograd": USERS,
    "cuda": {"backends", "core"},
    "random": USERS | {"hidden_states"},
    "optim": USERS,
    "transforms": USERS | {"formulas", "hidden_states", "pytrees"},
    "extras": USERS,
    "nn": USERS | {"engine", "files", "random", "transforms"},
    "numpy": USERS | {"extras", "fft", "linalg", "pytrees", "transforms"},
    "checks": USERS | {"extras", "formulas", "random", "tracing", "transforms"},
    "written": USERS | {"engine", "extras", "files", "nn", "optim", "pytrees", "random", "tracing"},
    "exercises": USERS | {"checks", "datasets", "engine", "files", "formulas", "tracing", "transforms"},
    "grading": {"exercises", "files", "tracing"},
    "examples": {"__init__", "engine", "nn"},           # programs as a reader would write them
}
UNRESTRICTED = {"__init__", "__main__"}                         # they may import everything
MOST_AT_THE_ROOT, MOST_LEVELS = 30, 8
CORE_MODULES_FOR_OPS = {"define", "composite", "messages"}
"""The modules of the core that a file of operations may import."""

# Limits on the core. A gradient depends on the modules of `MEANING` and on nothing else in the core; beside them are
# packages that they use through the names of `SEAMS`: an error is explained, an array is owned, a hook runs, a recorder
# is notified, a compiled caller is installed.
MEANING = ("rule", "operation", "variable", "apply", "backward", "modes", "define")
BESIDE_THE_CORE = {"fast", "messages", "runtime"}
SEAMS = {
    "explain_error", "explain_walk_error", "freed_graph_error", "missing_rule_error",
    "suggests_keywords", "own_keyword",
    "snapshot", "guard", "keep_parameter",
    "nodes_with_hooks", "run_hooks",
    "OnStep", "mute_for_walk", "notify", "notify_failure", "notify_free", "observe_walk", "notify_walk_failure",
    "public_function",
}  # fmt: skip
MOST_LINES, MOST_CODE_LINES, MOST_LINES_OF_FAST = 1100, 620, 500
MOST_LINES_OF_A_FUNCTION, MOST_LINES_OF_A_CLASS, MOST_RETURNS = 40, 200, 3

# Beyond Python's own modules. Modules in LAZY may only be imported inside a function.
THIRD_PARTY = {"numpy"}
LAZY = {
    "backends": {"cupy", "cupyx"}, "written": {"numba"}, "__main__": {"micrograd_plus_viz"},
    "grading": {"distributed", "micrograd_plus_viz", "nbgrader"},
}  # fmt: skip
VIZ_MAY_IMPORT = {None, "__init__", "files", "tracing"}

NOT_OURS = {"__pycache__", ".git", "node_modules"}
TEXT_FOLDERS = (".ci", ".github", "docs", "micrograd_plus", "tests", "viz")
TEXT = {"", ".css", ".html", ".ipynb", ".js", ".json", ".md", ".mjs", ".py", ".svg", ".toml", ".ts", ".txt",
        ".yaml", ".yml"}
REGISTRY = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.(org|com)|debian\.org/debian|conda\.anaconda\.org"
                      r"|--(extra-)?index-url|[/.@](artifactory|nexus)[./]")
MACHINE_PATH = re.compile(r"(?<![\w.~$})-])/(work|tmp|root|opt|home|Users)/|[A-Z]:\\+Users\\")


def python_files(place: Path) -> list[Path]:
    """Return the Python files under a folder, sorted."""
    return sorted(path for path in place.rglob("*.py") if not NOT_OURS & set(path.parts))


def is_type_checking(node: ast.AST) -> bool:
    """Return True for `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def is_import_call(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return True for `importlib.import_module("...")` and `__import__("...")`."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", None)) in ("import_module", "__import__")


def iter_imports(tree: ast.AST, package: str, lazy: bool = False, types: bool = False) -> Iterator[tuple[str, bool]]:
    """Each dotted name that a module imports, and whether it does so inside a function.

    `package` is the dotted name relative imports start from. `from a import b` counts as `a.b`, since `b` may
    be a module; so does `importlib.import_module("a.b")`. With `types`, imports for types count as well.
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
        elif is_import_call(node):
            yield ast.literal_eval(node.args[0]), lazy
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from iter_imports(node, package, lazy or inside, types)


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path, types: bool = False) -> list[tuple[str, bool]]:
    """Return the imports of a file of the engine or of viz."""
    start = ENGINE.parent if path.is_relative_to(ENGINE) else VIZ.parent
    package = ".".join(path.relative_to(start).with_suffix("").parts[:-1])
    return list(iter_imports(tree_of(path), package, types=types))


def package_of(path: Path) -> str:
    """Return the package, or the module at the root, that a file of the engine belongs to."""
    return Path(path.relative_to(ENGINE).parts[0]).stem


def package_in(name: str, packages: set[str]) -> str | None:
    """Return the package that a dotted name leads to; `__init__` for the top level; None for other packages."""
    first, *rest = name.split(".")
    if first != "micrograd_plus":
        return None
    return rest[0] if rest and rest[0] in packages else "__init__"


def forbidden_imports(package: str, imports: Iterator[tuple[str, bool]], packages: set[str]) -> list[str]:
    """Return a sentence for each import that a package may not have."""
    found = []
    for name, lazy in imports:
        other, first = package_in(name, packages), name.split(".", maxsplit=1)[0]
        if other is not None:
            if package not in UNRESTRICTED and other != package and other not in PACKAGES[package]:
                found.append(f"{package} imports {other}")
        elif first in LAZY.get(package, ()):
            if not lazy:
                found.append(f"{package} imports {first} outside a function")
        elif first not in sys.stdlib_module_names | THIRD_PARTY:
            found.append(f"{package} imports {first}")
    return found


def find_cycle(imports: dict[str, set[str]]) -> list[str]:
    """Return the names that import each other, directly or indirectly."""
    left = {name: set(others) for name, others in imports.items()}
    while left:
        free = {name for name, others in left.items() if not others & left.keys() - {name}}
        if not free:
            break
        left = {name: others for name, others in left.items() if name not in free}
    named = {other for others in left.values() for other in others}
    return sorted(named & left.keys())


def modules() -> dict[str, Path]:
    """Return every module of the engine by its dotted name."""
    dotted = {path: path.relative_to(ROOT).with_suffix("").parts for path in python_files(ENGINE)}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in dotted.items()}


def imports_between_modules() -> dict[str, set[str]]:
    """Return the modules that each module imports, including imports in functions and for types."""
    ours = modules()
    found = {}
    for module, path in ours.items():
        names = {name for name, _ in imports_of(path, types=True)}
        found[module] = {name if name in ours else name.rpartition(".")[0] for name in names} & ours.keys()
    return found


def levels() -> dict[str, int]:
    """Return the level of each package: 1 more than the highest level that it imports."""
    ours = {package_of(path) for path in python_files(ENGINE)}
    below: dict[str, set[str]] = {package: set() for package in ours - UNRESTRICTED}
    for path in python_files(ENGINE):
        others = {package_in(name, ours) for name, _ in imports_of(path)} - UNRESTRICTED - {None, package_of(path)}
        below.get(package_of(path), set()).update(others)
    heights: dict[str, int] = {}
    for _ in below:
        heights.update({
            package: 1 + max((heights[other] for other in others), default=0)
            for package, others in below.items()
            if others <= heights.keys()
        })  # fmt: skip
    return heights


def test_every_package_is_in_the_import_table():
    packages = {package_of(path) for path in python_files(ENGINE)}
    assert packages, "the engine has no modules"
    assert packages <= PACKAGES.keys() | UNRESTRICTED, "give the new package its line in PACKAGES: what may it import?"


def test_packages_import_only_lower_levels_and_numpy():
    files = python_files(ENGINE)
    packages = {package_of(path) for path in files}
    wrong = [fault for path in files for fault in forbidden_imports(package_of(path), imports_of(path), packages)]
    assert not wrong


def test_the_import_table_has_no_cycle():
    assert not find_cycle(PACKAGES)


def test_modules_have_no_import_cycle():
    assert not find_cycle(imports_between_modules())


def test_the_root_folder_and_the_levels_stay_few():
    at_the_root = [path.name for path in ENGINE.iterdir() if path.name not in NOT_OURS]
    assert len(at_the_root) <= MOST_AT_THE_ROOT
    assert levels().keys() == {package_of(path) for path in python_files(ENGINE)} - UNRESTRICTED
    assert max(levels().values()) <= MOST_LEVELS


@pytest.mark.parametrize(("imports", "found"), [
    ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
    ({"a": {"b"}, "b": {"a"}}, ["a", "b"]),
    ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}, ["a", "b", "c"]),
    ({"a": {"a"}}, []),
])
def test_cycles_of_any_length_are_found(imports, found):
    assert find_cycle(imports) == found


def test_the_namespace_of_floats_imports_only_python():
    floats = ENGINE / "backends" / "floats.py"
    assert {name.split(".")[0] for name, _ in imports_of(floats)} <= sys.stdlib_module_names


def test_viz_imports_no_internals_of_the_engine():
    for path in python_files(VIZ):
        for name, _ in imports_of(path):
            assert package_in(name, set(PACKAGES)) in VIZ_MAY_IMPORT, f"{path.relative_to(ROOT)} imports {name}"


# The engine names no operation, an operation no engine, neither `Tensor` ----------------------------------------------


def names_in(path: Path) -> set[str]:
    """Return the names in a file: variables, attributes, imports, and strings that are identifiers."""
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


FOREIGN_KEYWORDS = {"diagonal", "max", "mean", "min", "std"}
"""Names of operations that are arguments in other libraries, too."""


def test_the_core_names_no_operation():
    for path in python_files(ENGINE / "core"):
        if path.stem != "foreign_names":  # names of other libraries
            constants = (node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant))
            strings = {text for text in constants if isinstance(text, str)}
            assert not (strings & operations.keys()) - FOREIGN_KEYWORDS, path.name


def test_core_and_operations_do_not_name_tensor():
    files = [*python_files(ENGINE / "core"), *python_files(ENGINE / "ops")]
    assert not [path.relative_to(ROOT).as_posix() for path in files if "Tensor" in names_in(path)]


def test_operations_import_only_what_defines_them():
    for path in python_files(ENGINE / "ops"):
        names = [name.split(".") for name, _ in imports_of(path) if name.startswith("micrograd_plus.core.")]
        assert {parts[2] for parts in names} <= CORE_MODULES_FOR_OPS, path.name


# The core is small --------------------------------------------------------------------------------------------


def line_count(node: ast.AST) -> int:
    """Return how many lines a function or a class has."""
    return node.end_lineno - node.lineno + 1


def return_count(function: ast.AST) -> int:
    """Return how many return statements a function has, without those of inner functions."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return sum(
        isinstance(node, ast.Return) + (0 if isinstance(node, inner) else return_count(node))
        for node in ast.iter_child_nodes(function)
    )


def core_definitions(kinds: type | tuple[type, ...]) -> dict[str, ast.AST]:
    """Return the functions, or the classes, of the core by file and name."""
    found = {}
    for path in python_files(ENGINE / "core"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, kinds):
                found[f"{path.name}:{node.lineno} {node.name}"] = node
    return found


def core_imports(module: str) -> Iterator[tuple[str, str]]:
    """Yield what a module of the core imports from the core, as pairs of module and name."""
    package = f"micrograd_plus.core.{module}".rpartition(".")[0]
    for name, _ in iter_imports(tree_of(ENGINE / "core" / f"{module.replace('.', '/')}.py"), package):
        if name.startswith("micrograd_plus.core."):
            inside, _, imported = name.removeprefix("micrograd_plus.core.").rpartition(".")
            yield inside, imported


def modules_of_the_meaning() -> list[str]:
    """Return the modules of the core that a gradient depends on: all that `define` reaches except through a seam."""
    reached = ["define"]
    for module in reached:
        for inside, _ in core_imports(module):
            if inside.partition(".")[0] not in BESIDE_THE_CORE and inside not in reached:
                reached.append(inside)
    return reached


def code_lines(path: Path) -> int:
    """Return how many lines of a file are code: no docstrings, comments, blank lines or imports."""
    text, tree = path.read_text(encoding="utf-8"), tree_of(path)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        is_docstring = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, node.end_lineno + 1))
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in layout]
    return len({line for each in tokens for line in range(each.start[0], each.end[0] + 1)} - left_out)


def test_the_meaning_of_the_engine_is_seven_small_modules():
    modules = modules_of_the_meaning()
    assert sorted(modules) == sorted(MEANING)
    paths = [ENGINE / "core" / f"{module}.py" for module in modules]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= MOST_LINES
    assert sum(map(code_lines, paths)) <= MOST_CODE_LINES


def test_the_writers_of_compiled_code_are_small():
    paths = python_files(ENGINE / "core" / "fast")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= MOST_LINES_OF_FAST


def test_the_seams_of_the_core_are_the_listed_ones():
    imports = {pair for module in MEANING for pair in core_imports(module)}
    assert {name for inside, name in imports if inside.partition(".")[0] in BESIDE_THE_CORE} == SEAMS


@pytest.mark.parametrize("module", MEANING)
def test_a_seam_is_used_in_one_line(module):
    tree = tree_of(ENGINE / "core" / f"{module}.py")
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SEAMS]
    assert not [node.lineno for node in uses if node.lineno != node.end_lineno]


def test_functions_of_the_core_are_short():
    sizes = {name: line_count(node) for name, node in core_definitions((ast.FunctionDef, ast.AsyncFunctionDef)).items()}
    assert not {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_FUNCTION}


def test_functions_of_the_core_have_few_returns():
    functions = core_definitions((ast.FunctionDef, ast.AsyncFunctionDef))
    assert not [name for name, node in functions.items() if return_count(node) > MOST_RETURNS]


def test_classes_of_the_core_are_short():
    sizes = {name: line_count(node) for name, node in core_definitions(ast.ClassDef).items()}
    assert not {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_CLASS}


def test_returns_of_inner_functions_are_not_counted():
    source = "def f(x):\n    def g():\n        return 1\n    if x:\n        return g\n    return lambda: x\n"
    assert return_count(ast.parse(source).body[0]) == 2


# Forbidden imports ---------------------------------------------------------------------------------------------------


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
def test_a_forbidden_import_is_found_in_any_spelling(package, source, sentence):
    found = forbidden_imports(package, iter_imports(ast.parse(source), f"micrograd_plus.{package}"), set(PACKAGES))
    assert found == [sentence]


@pytest.mark.parametrize(("package", "source"), [
    ("backends", "def f():\n    import cupy"),
    ("ops", "from ..core.define import elementwise\nfrom . import products\nimport numpy as np, math"),
    ("ops", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tensor import Tensor"),
    ("__init__", "from .tensor import Tensor\nfrom . import nn"),
])
def test_a_permitted_import_is_accepted(package, source):
    name = "micrograd_plus" if package in UNRESTRICTED else f"micrograd_plus.{package}"
    assert forbidden_imports(package, iter_imports(ast.parse(source), name), set(PACKAGES)) == []


def test_the_viz_folder_has_no_stray_modules():
    strays = [path for path in python_files(ROOT / "viz") if not path.is_relative_to(VIZ)]
    assert not strays


def packed_sources() -> dict[str, str]:
    """Return the code of each output and page as a function body, by name."""
    whole = "\n".join([player.player_source(), player.text("parts.js")])
    return {
        "a player in a notebook": unpack(player.compressed_player(with_film=False)),
        "a film in a notebook": unpack(player.compressed_player()),
        "a quiz in a notebook": unpack(player.compressed_player(with_quiz=True)),
        "a recorded slider": unpack(player.compressed_slider()),
        "a question card": unpack(player.compressed_cards()),
        "what starts a player": notebook.BOOT,
        "what starts two players": notebook.BOOT_PAIR,
        "a page with a player": player.one_line(f"{whole}\n{page.BOOT}"),
        "a page with two players": player.one_line(player.player_source() + page.BOOT_PAIR),
        "a page with a quiz": player.one_line(player.player_source(with_quiz=True)) + output.BOOT,
        "a page with a question card": player.one_line_of_cards() + output.BOOT,
        "a widget": player.player_source(),
        "a page of slides": player.text("slides.js"),
    }


@pytest.mark.needs("py_mini_racer")
def test_v8_parses_the_packed_code_of_every_output():
    from py_mini_racer import MiniRacer

    context, found = MiniRacer(), {}
    for name, source in packed_sources().items():
        body = source.replace("export default", "void").replace("export ", "")
        parse = f"try {{ new (async () => {{}}).constructor({json.dumps(body)}); '' }} catch (error) {{ `${{error}}` }}"
        if error := context.eval(parse):
            found[name] = error
    assert not found


@pytest.mark.parametrize("line", ["let a = 'x'; // an x", "f(a, /* an x */ b);", "}  // of `f`"])
def test_the_packer_refuses_a_comment_behind_code(line):
    with pytest.raises(ValueError, match="a comment behind code would hide the rest of the line: write it above, got"):
        player.one_line(f"// its own line\nconst url = 'https://a.b/*';\n{line}\nf();")


@pytest.mark.needs("hatchling")
def test_the_wheel_contains_both_packages_and_the_notebooks(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert built.returncode == 0, built.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = {name for name in names if ".dist-info/" not in name}
    modules = {path.relative_to(ROOT).as_posix() for path in python_files(ENGINE)}
    modules |= {path.relative_to(ROOT / "viz").as_posix() for path in python_files(VIZ)}
    assert {name for name in shipped if name.endswith(".py")} == modules
    books = {name for name in shipped if name.startswith("micrograd_plus_notebooks/")}
    texts = {f"lessons/{path.name}" for path in (ROOT / "docs" / "lessons").glob("[0-9][0-9]_*.md")}
    assert books == {f"micrograd_plus_notebooks/{name}" for name in {*staged_notebooks(), *texts}}
    assert {name.split("/", maxsplit=1)[0] for name in shipped - books} == {"micrograd_plus", "micrograd_plus_viz"}
    assert "micrograd_plus/py.typed" in shipped, "the metadata says Typing :: Typed"


def test_the_base_install_needs_only_numpy():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[<>=~! ]", need)[0] for need in project["dependencies"]] == ["numpy"]


def test_notebooks_are_committed_without_outputs():
    for name, text in staged_notebooks().items():
        for number, cell in enumerate(json.loads(text)["cells"]):
            kept = cell.get("outputs") or cell.get("execution_count")
            assert not kept, f"{name}, cell {number}: clear all outputs before it is committed"


def text_files() -> dict[str, str]:
    """Return the text of every file of the project by its path."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [path for place in TEXT_FOLDERS for path in (ROOT / place).rglob("*") if path.is_file()]
    ours = sorted(path for path in files if path.suffix in TEXT and not NOT_OURS & set(path.parts))
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in ours}
    return found | {f"notebooks/{name}": text for name, text in staged_notebooks().items()}


@pytest.mark.parametrize("pattern", [REGISTRY, MACHINE_PATH], ids=["a registry", "a path of one machine"])
def test_no_file_contains_a_registry_or_a_local_path(pattern):
    found = []
    for path, text in text_files().items():
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
def test_the_patterns_match_registries_and_local_paths(pattern, line, matches):
    assert bool(pattern.search(line)) is matches


def test_every_ignored_ruff_rule_has_a_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    ignored = [*lint["ignore"], *(rule for rules in lint["per-file-ignores"].values() for rule in rules)]
    part = text[text.index("\nignore = [", text.index("[tool.ruff.lint]")):]
    reasons = re.findall(r'^    "([A-Z]+\d*)", *# +\S+ \S+', part, flags=re.MULTILINE)
    assert sorted(ignored) == sorted(reasons)


def test_every_rule_ignored_on_a_line_has_a_reason():
    marker = re.compile(r"# (noqa|type: ignore|pyright: ignore)(\[\w[\w, -]*\])?:? *([A-Z]+\d+[, ]*)*(?P<reason>.*)$")
    unexplained = []
    for path in [*python_files(ENGINE), *python_files(ROOT / "viz"), *python_files(ROOT / "tests")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found = marker.search(line)
            if found and not found["reason"].strip(" -:"):
                unexplained.append(f"{path.relative_to(ROOT)}:{number}")
    assert not unexplained
