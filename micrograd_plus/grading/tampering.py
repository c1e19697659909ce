"""What a teacher may want to look at: code that reaches for more than an exercise needs. It costs no marks and is not
told to the student; it is read off the source, so nothing that runs can hide it, and much that is harmless may be on
it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

MODULES = {
    "ctypes": "uses ctypes", "gc": "imports gc, which lists every object", "inspect": "imports inspect",
    "atexit": "registers what runs at exit", "socket": "opens sockets", "subprocess": "starts programs",
    "multiprocessing": "starts processes", "threading": "starts threads", "signal": "changes what signals do",
    "pickle": "uses pickle", "dill": "uses pickle", "marshal": "uses marshal",
    "linecache": "reads sources by linecache",
    "urllib": "reaches for the network", "requests": "reaches for the network", "http": "reaches for the network",
    "unittest": "imports unittest", "pytest": "imports pytest", "codecs": "imports codecs", "mmap": "maps memory",
    "importlib": "imports importlib", "builtins": "imports builtins", "resource": "changes limits",
    "torch": "imports another engine", "jax": "imports another engine", "autograd": "imports another engine",
    "tensorflow": "imports another engine", "IPython": "imports IPython", "fcntl": "imports fcntl",
}  # fmt: skip
NAMES = {
    "_getframe": "walks frames", "currentframe": "walks frames", "stack": "walks frames", "f_back": "walks frames",
    "f_globals": "reads another function's names", "f_locals": "reads another function's names",
    "_current_frames": "walks frames", "get_objects": "lists every object", "get_referrers": "lists every object",
    "settrace": "traces what runs", "setprofile": "traces what runs", "monitoring": "traces what runs",
    "meta_path": "changes how modules are imported", "path_hooks": "changes how modules are imported",
    "addaudithook": "adds an audit hook", "modules": "reaches into sys.modules", "__closure__": "reads a closure",
    "cell_contents": "reads a closure", "__wrapped__": "unwraps a function", "__globals__": "reads a function's module",
    "__builtins__": "replaces builtins", "getsource": "reads sources", "__file__": "asks where it lies",
    "fork": "forks", "forkpty": "forks", "setsid": "leaves its session", "_exit": "ends the process",
    "kill": "sends signals", "killpg": "sends signals",
    "system": "starts programs", "popen": "starts programs", "execv": "starts programs", "execve": "starts programs",
    "__subclasses__": "lists classes", "showtraceback": "changes how errors are shown",
    "environ": "reads the environment",
    "setrecursionlimit": "changes the recursion limit", "getppid": "asks for its parent",
}  # fmt: skip
METHODS = {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__array_function__", "__array_ufunc__", "__array__",
    "__array_priority__", "__array_interface__", "__array_struct__", "__buffer__", "__float__", "__abs__",
    "__reduce__", "__reduce_ex__", "__del__", "__instancecheck__",
}  # fmt: skip
ALLOWED_PATHS = ("/proc", "/etc", "/dev", "/autograder", "/grade", "/sys/")
NAMES_OF_RESULTS = ("results.json", "result.json", "marks.json")


def scanned(trees: list[tuple[str, int, ast.Module]]) -> list[dict[str, Any]]:
    """Each thing found once for each line, in the order of the submission. `trees`: where, lines before, the tree."""
    found: list[dict[str, Any]] = []
    imported = {name for _, _, tree in trees for node in ast.walk(tree) for name in names_of_modules(node)}
    for where, before, tree in trees:
        for node in ast.walk(tree):
            for what in told(node, imported):
                entry = {"where": where, "line": before + getattr(node, "lineno", 1), "what": what}
                if entry not in found:
                    found.append(entry)
    return sorted(found, key=lambda entry: (trees_order(trees, entry["where"]), entry["line"], entry["what"]))[:100]


def trees_order(trees: list[tuple[str, int, ast.Module]], where: str) -> int:
    """The place of a cell in its submission."""
    return next(place for place, each in enumerate(trees) if each[0] == where)


def names_of_modules(node: ast.AST) -> set[str]:
    """The names under which an import makes modules known."""
    if isinstance(node, ast.Import):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return set()


def told(node: ast.AST, modules: set[str]) -> Iterator[str]:
    """What one node of the tree does that a teacher may want to know."""
    if isinstance(node, ast.Import):
        yield from (MODULES[first] for alias in node.names if (first := alias.name.partition(".")[0]) in MODULES)
    elif isinstance(node, ast.ImportFrom):
        yield from (MODULES[first] for first in [(node.module or "").partition(".")[0]] if first in MODULES)
        yield from (NAMES[alias.name] for alias in node.names if alias.name in NAMES)
    elif isinstance(node, ast.Attribute):
        yield from of_attribute(node, modules)
    elif isinstance(node, ast.Name):
        yield from (NAMES[node.id] for _ in [0] if node.id in NAMES and node.id.startswith("_"))
        if isinstance(node.ctx, ast.Store) and node.id in ("exercises", "grader", "check", "__builtins__"):
            yield f"gives {node.id} another meaning"
    elif isinstance(node, ast.Constant):
        yield from of_text(node.value)
    elif isinstance(node, ast.ClassDef):
        yield from of_class(node)
    elif isinstance(node, ast.Call):
        yield from of_call(node, modules)


def of_attribute(node: ast.Attribute, modules: set[str]) -> Iterator[str]:
    """A name looked up on something, or put there."""
    base = node.value
    while isinstance(base, ast.Attribute):
        base = base.value
    name = base.id if isinstance(base, ast.Name) else None
    if isinstance(node.ctx, ast.Store | ast.Del) and name in modules:
        yield f"replaces {ast.unparse(node)}"
    elif node.attr in NAMES:
        yield NAMES[node.attr]


def of_text(value: Any) -> Iterator[str]:
    """A text that names a place."""
    if isinstance(value, str) and len(value) < 200:
        if value.startswith(ALLOWED_PATHS):
            yield f"names the path {value[:40]!r}"
        if value.endswith(NAMES_OF_RESULTS):
            yield f"names the file {value[:40]!r}"


def of_class(node: ast.ClassDef) -> Iterator[str]:
    """A class that answers for itself when it is compared or turned into an array."""
    own = sorted(each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name in METHODS)
    assigned = {target.id for each in node.body if isinstance(each, ast.Assign) for target in each.targets
                if isinstance(target, ast.Name) and target.id in METHODS}  # fmt: skip
    names = sorted({*own, *assigned})
    if names:
        yield f"the class {node.name} defines {', '.join(names)}"


def of_call(node: ast.Call, modules: set[str]) -> Iterator[str]:
    """A call by name that hides what it does, or that puts something where another name finds it."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("exec", "eval", "compile", "__import__", "globals", "vars"):
        yield f"calls {name}"
    if (
        name in ("setattr", "delattr")
        and node.args
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in modules
    ):
        yield f"replaces a name of {node.args[0].id}"
    if name == "open" and any(isinstance(each, ast.Constant) and each.value in ("w", "a", "wb", "r+", "x")
                              for each in [*node.args[1:], *(keyword.value for keyword in node.keywords)]):  # fmt: skip
        yield "writes a file"
