"""Conversion between plain data and a student's code: arguments by name, and returned values as arrays."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import numpy as np

MOST_ENTRIES = 1_000_000


class InvalidAnswer(Exception):  # noqa: N818 - students read the name in a traceback
    """An answer of the wrong type or form. The message tells the student why."""


# Plain data -----------------


def copy_data(value: Any) -> Any:
    """Copy nested plain data, with a copy of every array."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {name: copy_data(each) for name, each in value.items()}
    return type(value)(map(copy_data, value)) if isinstance(value, (list, tuple)) else value


def is_same_data(a: Any, b: Any) -> bool:
    """Return whether two nested plain values are equal to the last bit."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return type(b) is type(a) and len(a) == len(b) and all(map(is_same_data, a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(is_same_data(a[name], b[name]) for name in a)
    return True


# Calling --------------------


def parameter_names(function: Any) -> list[str]:
    """Return the names of a function's parameters without default values."""
    if isinstance(function, FunctionType) and not function.__kwdefaults__:
        code, defaults = function.__code__, len(function.__defaults__ or ())
        return list(code.co_varnames[: code.co_argcount - defaults])
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind not in variadic and each.default is inspect.Parameter.empty]


def call_by_name(function: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """Call a function with the arguments that its parameters name.

    A function with the attribute `takes_all_values` (one of ours) receives all arguments as a dictionary instead.
    """
    if not callable(function):
        raise InvalidAnswer(f"the answer must be a function, got an object of type {type(function).__name__}")
    if getattr(function, "takes_all_values", False):
        return function(arguments, xp)
    available = {"xp": xp, **arguments}
    names = parameter_names(function)
    for name in names:
        if name not in available:
            raise InvalidAnswer(f"your function has a parameter {name!r}; it can have {', '.join(sorted(available))}")
    return function(*[available[name] for name in names])


# What was returned ----------


def collect_answers(returned: Any, answers: list[str]) -> dict[str, Any]:
    """Return a function's result as a dictionary with one array for each answer."""
    if isinstance(returned, dict):
        present = [name for name in answers if returned.get(name) is not None]
        if not present:
            raise InvalidAnswer(f"your answer has nothing yet under {answers[0]!r}; it needs {', '.join(answers)}")
        return {name: as_array(returned[name], name) for name in present}
    if len(answers) == 1 and not (isinstance(returned, (list, tuple)) and answers[0].endswith("[0]")):
        return {answers[0]: as_array(returned, answers[0])}
    if isinstance(returned, (list, tuple)) and len(returned) > len(answers):  # None is right for an absent input
        present = [each for each in returned if each is not None]
        returned = present if len(present) == len(answers) else returned
    if not isinstance(returned, (list, tuple)) or len(returned) != len(answers):
        count = len(returned) if isinstance(returned, (list, tuple)) else 1
        raise InvalidAnswer(f"your function must return {len(answers)} values ({', '.join(answers)}), got {count}")
    return {name: as_array(value, name) for name, value in zip(answers, returned, strict=True)}


def as_array(value: Any, name: str) -> Any:
    """Return one value as a new array of numbers."""
    if value is None:
        raise InvalidAnswer(f"your function returned None for {name}: is there a `return`?")
    if not (type(value) in (bool, int, float, np.ndarray, list, tuple) or isinstance(value, np.generic)):
        raise InvalidAnswer(f"{name} must be an array, got an object of type {type(value).__name__}")
    try:
        if getattr(value, "size", 0) > MOST_ENTRIES:
            raise InvalidAnswer(f"the array for {name} is too large: its shape is {value.shape}")
        array = np.array(value)
    except (ValueError, OverflowError) as error:
        raise InvalidAnswer(f"{name} must be an array of numbers") from error
    if type(array) is not np.ndarray or array.dtype.kind not in "biufc" or array.size > MOST_ENTRIES:
        raise InvalidAnswer(f"{name} must be an array of numbers")
    precisions = {"f4": "f4", "f2": "f4", "c8": "c8", "c16": "c16", "c32": "c16"}
    return array.astype(precisions.get(array.dtype.str[1:], "f8"))
