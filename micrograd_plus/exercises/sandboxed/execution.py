"""Running a student's answer (a function, a class or a value) on one case.

request   {"driver": name, "arguments": {name: data}, "functions": [name], "answers": [name]}
outcome   {"values": {answer: array} or None, "error": None or {"kind", "message", "line"}, "wrote": [argument]}
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import traceback
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .drivers import drivers
from .namespace import Namespace
from .values import collect_answers, copy_data, is_same_data

LONGEST_MESSAGE = 300


def carry_out(answer: Any, request: dict[str, Any], xp: Any = None, check_writes: bool = True) -> dict[str, Any]:
    """Run an answer on a request and return the outcome, which includes any exception that the answer raises.

    With `check_writes=False` the arguments are not copied, and the outcome lists no overwritten arguments.
    """
    arguments = copy_data(request["arguments"]) if check_writes else request["arguments"]
    values, error = None, None
    try:
        with np.errstate(all="ignore"):
            namespace = Namespace(request["functions"]) if xp is None else xp
            returned = drivers[request["driver"]](answer, arguments, namespace)
            values = collect_answers(returned, request["answers"])
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001 - a student's code may raise anything
        error = describe_error(raised, answer)
    originals = request["arguments"] if check_writes else {}
    wrote = [name for name, value in originals.items() if not is_same_data(value, arguments.get(name))]
    return {"values": values, "error": error, "wrote": wrote}


def describe_error(raised: BaseException, answer: Any = None) -> dict[str, Any]:
    """Return an exception as plain data: its type, the start of its message, and the line of the student's function.

    Lines are counted from the line with `def`, which is 1. An error that no line of the function has led to has none.
    If the student's code still has dots where something is missing, the message says so instead.
    """
    place = place_of_dots(answer) if not isinstance(raised, NotImplementedError) else None
    if place is not None:
        return {"kind": "InvalidAnswer", "message": f"there are still dots in {place}", "line": None}
    here = __file__.rpartition("execution")[0]
    frames = [(frame.f_code, number) for frame, number in traceback.walk_tb(raised.__traceback__)
              if not frame.f_code.co_filename.startswith(here)]  # fmt: skip
    first_lines = {function.__code__: first_line(function) for function in functions_of(answer)}
    lines = [number - first_lines[code] + 1 for code, number in frames if code in first_lines]
    try:
        message = str(raised)[:LONGEST_MESSAGE]
    except BaseException:  # noqa: BLE001 - an exception class that the student wrote
        message = ""
    return {"kind": type(raised).__name__, "message": message, "line": lines[0] if lines else None}


def functions_of(answer: Any) -> list[FunctionType]:
    """Return a function itself, or the methods of a class, inherited ones included."""
    try:
        inherited = reversed(answer.__mro__) if isinstance(answer, type) else ()
        methods = {name: each for parent in inherited for name, each in vars(parent).items()}
        functions = methods.values() if isinstance(answer, type) else [inspect.unwrap(answer)] * callable(answer)
        return [each for each in functions if isinstance(each, FunctionType)]
    except Exception:  # noqa: BLE001 - attributes of a student's object may raise anything
        return []


def first_line(function: FunctionType) -> int:
    """Return the number of the line with `def` in its file. Without the source, a decorator may come before it."""
    first = function.__code__.co_firstlineno
    try:
        return first + lines_of_decorators(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return first


def lines_of_decorators(tree: ast.Module) -> int:
    """Return how many lines the decorators of a source's first definition take."""
    decorators = [each for node in tree.body for each in getattr(node, "decorator_list", ())]
    return max((each.end_lineno or 0 for each in decorators), default=0)


def has_dots(code: CodeType) -> bool:
    """Return whether compiled code, or a function inside it, contains `...`, also as an entry of a constant tuple."""
    return any(each is ... or (isinstance(each, tuple) and ... in each)
               or (isinstance(each, CodeType) and has_dots(each)) for each in code.co_consts)  # fmt: skip


def place_of_dots(answer: Any) -> str | None:
    """Return the first line of a function, or of a method of a class, that has `...` for something missing."""
    for function in functions_of(answer):
        line = line_of_dots(function) if has_dots(function.__code__) else None
        if line is not None:
            return f"line {line} of {function.__name__}" if isinstance(answer, type) else f"line {line}"
    return None


def line_of_dots(function: FunctionType) -> int | None:
    """Return the first line of a function that has `...` for something missing; None if there is none.

    Dots in an index, as in `x[..., None]`, do not count.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    slices = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    indices = {id(inner) for each in slices for inner in ast.walk(each)}
    dots = [node.lineno for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and node.value is ... and id(node) not in indices]  # fmt: skip
    return min(dots) - lines_of_decorators(tree) if dots else None
