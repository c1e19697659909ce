"""List of suspicious code for the teacher: code that does more than an exercise needs.

It costs no marks, and students do not see it. It is found in the source, so running code cannot hide it. Much of it
is harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from .cells import Cell

MODULES = {
    "ctypes": "uses ctypes", "gc": "imports gc, which lists every object", "inspect": "imports inspect",
    "atexit": "registers an exit handler", "socket": "opens sockets", "subprocess": "starts programs",
    "multiprocessing": "starts processes", "threading": "starts threads", "signal": "changes signal handlers",
    "pickle": "uses pickle", "dill": "uses pickle", "marshal": "uses marshal",
    "linecache": "reads source code with linecache",
    "urllib": "uses the network", "requests": "uses the network", "http": "uses the network",
    "unittest": "imports unittest", "pytest": "imports pytest", "codecs": "imports codecs", "mmap": "maps memory",
    "importlib": "imports importlib", "builtins": "imports builtins", "resource": "changes limits",
    "torch": "imports another engine", "jax": "imports another engine", "autograd": "imports another engine",
    "tensorflow": "imports another engine", "IPython": "imports IPython", "fcntl": "imports fcntl",
}  # fmt: skip
NAMES = {
    "_getframe": "walks stack frames", "currentframe": "walks stack frames", "stack": "walks stack frames",
    "f_back": "walks stack frames",
    "f_globals": "reads the variables of another function", "f_locals": "reads the variables of another function",
    "_current_frames": "walks stack frames", "get_objects": "lists every object", "get_referrers": "lists every object",
    "settrace": "sets a trace function", "setprofile": "sets a trace function", "monitoring": "sets a trace function",
    "meta_path": "changes how modules are imported", "path_hooks": "changes how modules are imported",
    "addaudithook": "adds an audit hook", "modules": "uses sys.modules", "__closure__": "reads a closure",
    "cell_contents": "reads a closure", "__wrapped__": "unwraps a function",
    "__globals__": "reads the globals of a function",
    "__builtins__": "replaces builtins", "getsource": "reads source code", "__file__": "reads its own path",
    "fork": "forks", "forkpty": "forks", "setsid": "leaves its session", "_exit": "ends the process",
    "kill": "sends signals", "killpg": "sends signals",
    "system": "starts programs", "popen": "starts programs", "execv": "starts programs", "execve": "starts programs",
    "__subclasses__": "lists classes", "showtraceback": "changes how errors are shown",
    "environ": "reads the environment",
    "setrecursionlimit": "changes the recursion limit", "getppid": "reads the ID of its parent process",
}  # fmt: skip
METHODS = {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__array_function__", "__array_ufunc__", "__array__",
    "__array_priority__", "__array_interface__", "__array_struct__", "__buffer__", "__float__", "__abs__",
    "__reduce__", "__reduce_ex__", "__del__", "__instancecheck__",
}  # fmt: skip
SYSTEM_PATHS = ("/proc", "/etc", "/dev", "/autograder", "/grade", "/sys/")
RESULT_FILES = ("results.json", "result.json", "marks.json")


def find_tampering(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """Return up to 100 findings with their cell and line, in the order of the submission, each once per line."""
    trees = [(cell, cell.analysis.tree) for cell in cells if cell.analysis.tree is not None]
    modules = {name for _, tree in trees for node in ast.walk(tree) for name in module_names(node)}
    findings: dict[tuple[int, int, str], str] = {}
    places: dict[str, int] = {}
    for cell, tree in trees:
        place = places.setdefault(cell.where, len(places))
        for node in ast.walk(tree):
            for what in describe(node, modules):
                findings[place, cell.line + getattr(node, "lineno", 1), what] = cell.where
    return [{"where": where, "line": line, "what": what}
            for (_, line, what), where in sorted(findings.items())][:100]  # fmt: skip


def module_names(node: ast.AST) -> set[str]:
    """Return the names that an import statement binds to modules."""
    if isinstance(node, ast.Import):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return set()


def describe(node: ast.AST, modules: set[str]) -> Iterator[str]:
    """Yield a description of each suspicious thing that one node of the syntax tree does."""
    if isinstance(node, ast.Import):
        yield from (MODULES[first] for alias in node.names if (first := alias.name.partition(".")[0]) in MODULES)
    elif isinstance(node, ast.ImportFrom):
        yield from (MODULES[first] for first in [(node.module or "").partition(".")[0]] if first in MODULES)
        yield from (NAMES[alias.name] for alias in node.names if alias.name in NAMES)
    elif isinstance(node, ast.Attribute):
        yield from describe_attribute(node, modules)
    elif isinstance(node, ast.Name):
        yield from (NAMES[node.id] for _ in [0] if node.id in NAMES and node.id.startswith("_"))
        if isinstance(node.ctx, ast.Store) and node.id in ("exercises", "grader", "check", "__builtins__"):
            yield f"redefines {node.id}"
    elif isinstance(node, ast.Constant):
        yield from describe_text(node.value)
    elif isinstance(node, ast.ClassDef):
        yield from describe_class(node)
    elif isinstance(node, ast.Call):
        yield from describe_call(node, modules)


def describe_attribute(node: ast.Attribute, modules: set[str]) -> Iterator[str]:
    """Yield what reading or setting an attribute does."""
    base = node.value
    while isinstance(base, ast.Attribute):
        base = base.value
    name = base.id if isinstance(base, ast.Name) else None
    if isinstance(node.ctx, ast.Store | ast.Del) and name in modules:
        yield f"replaces {ast.unparse(node)}"
    elif node.attr in NAMES:
        yield NAMES[node.attr]


def describe_text(value: Any) -> Iterator[str]:
    """Yield the system path or result file that a string names."""
    if isinstance(value, str) and len(value) < 200:
        if value.startswith(SYSTEM_PATHS):
            yield f"names the path {value[:40]!r}"
        if value.endswith(RESULT_FILES):
            yield f"names the file {value[:40]!r}"


def describe_class(node: ast.ClassDef) -> Iterator[str]:
    """Yield the methods of a class that control comparison or conversion to an array."""
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    assigned = {target.id for each in node.body if isinstance(each, ast.Assign) for target in each.targets
                if isinstance(target, ast.Name)}  # fmt: skip
    names = sorted(METHODS & (methods | assigned))
    if names:
        yield f"the class {node.name} defines {', '.join(names)}"


def describe_call(node: ast.Call, modules: set[str]) -> Iterator[str]:
    """Yield the effect of a call that runs text, replaces an attribute of a module, or writes a file."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("exec", "eval", "compile", "__import__", "globals", "vars"):
        yield f"calls {name}"
    if (
        name in ("setattr", "delattr")
        and node.args
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in modules
    ):
        yield f"replaces an attribute of {node.args[0].id}"
    if name == "open" and any(isinstance(each, ast.Constant) and each.value in ("w", "a", "wb", "r+", "x")
                              for each in [*node.args[1:], *(keyword.value for keyword in node.keywords)]):  # fmt: skip
        yield "writes a file"
