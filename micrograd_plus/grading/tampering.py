"""List of suspicious code for the teacher: code that does more than an exercise needs.

It costs no marks, and students do not see it. It is found in the source, so running code cannot hide it. Much of it
is harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from .cells import Cell


def by_name(table: dict[str, str]) -> dict[str, str]:
    """Return the description of each name in a table that lists the names for each description."""
    return {name: what for what, names in table.items() for name in names.split()}


MODULES = by_name({
    "imports another engine": "torch jax autograd tensorflow",
    "uses the network": "urllib requests http",
    "opens sockets": "socket",
    "starts programs": "subprocess",
    "starts processes": "multiprocessing",
    "starts threads": "threading",
    "changes signal handlers": "signal",
    "registers an exit handler": "atexit",
    "changes limits": "resource",
    "maps memory": "mmap",
    "uses ctypes": "ctypes",
    "uses pickle": "pickle dill",
    "uses marshal": "marshal",
    "reads source code with linecache": "linecache",
    "imports gc, which lists every object": "gc",
} | {
    f"imports {name}": name
    for name in ("inspect", "unittest", "pytest", "codecs", "importlib", "builtins", "IPython", "fcntl")
})  # fmt: skip
"""What importing a module does."""
NAMES = by_name({
    "walks stack frames": "_getframe currentframe stack f_back _current_frames",
    "reads the variables of another function": "f_globals f_locals",
    "reads the globals of a function": "__globals__",
    "reads a closure": "__closure__ cell_contents",
    "unwraps a function": "__wrapped__",
    "lists every object": "get_objects get_referrers",
    "lists classes": "__subclasses__",
    "sets a trace function": "settrace setprofile monitoring",
    "adds an audit hook": "addaudithook",
    "changes how modules are imported": "meta_path path_hooks",
    "uses sys.modules": "modules",
    "replaces builtins": "__builtins__",
    "reads source code": "getsource",
    "reads its own path": "__file__",
    "reads the environment": "environ",
    "reads the ID of its parent process": "getppid",
    "forks": "fork forkpty",
    "leaves its session": "setsid",
    "ends the process": "_exit",
    "sends signals": "kill killpg",
    "starts programs": "system popen execv execve",
    "changes how errors are shown": "showtraceback",
    "changes the recursion limit": "setrecursionlimit",
})  # fmt: skip
"""What using a name or an attribute does."""
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
    base, names = node.value, [node.attr]
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    name = base.id if isinstance(base, ast.Name) else None
    if isinstance(node.ctx, ast.Store | ast.Del) and name in modules:
        yield f"replaces {'.'.join([name, *reversed(names)])[:120]}"
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
