"""What goes to a student's code and comes back from it: arguments by name, and answers as plain arrays."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import numpy as np

MOST_ENTRIES = 1_000_000


class Refused(Exception):  # noqa: N818 - it says what happened to an answer
    """What was handed in cannot be taken; the message says why, in words for the student."""


# Plain data -----------------


def copied(value: Any) -> Any:
    """Plain data with arrays of its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {name: copied(each) for name, each in value.items()}
    return type(value)(map(copied, value)) if isinstance(value, (list, tuple)) else value


def same(a: Any, b: Any) -> bool:
    """Whether plain data is still what it was, to the last bit."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return type(b) is type(a) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return True


# Calling --------------------


def asked_for(function: Any) -> list[str]:
    """The names of a function's parameters that have no default; what it reads."""
    if isinstance(function, FunctionType) and not function.__kwdefaults__:
        code, defaults = function.__code__, len(function.__defaults__ or ())
        return list(code.co_varnames[: code.co_argcount - defaults])
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    given = inspect.signature(function).parameters.values()
    return [each.name for each in given if each.kind not in kinds and each.default is inspect.Parameter.empty]


def called(function: Any, arguments: dict[str, Any], xp: Any) -> Any:
    """A function, called with what it asks for by name."""
    if not callable(function):
        raise Refused(f"a function is asked for, got an object of type {type(function).__name__}")
    if getattr(function, "takes_everything", False):
        return function(arguments, xp)
    at_hand = {"xp": xp, **arguments}
    names = asked_for(function)
    for name in names:
        if name not in at_hand:
            raise Refused(f"your function asks for {name!r}; it may ask for {', '.join(sorted(at_hand))}")
    return function(*[at_hand[name] for name in names])


# What was returned ----------


def values_of(returned: Any, answers: list[str]) -> dict[str, Any]:
    """What was returned, as arrays by the names of the answers."""
    if isinstance(returned, dict):
        there = [name for name in answers if returned.get(name) is not None]
        if not there:
            raise Refused(f"your answer has nothing yet under {answers[0]!r}; it needs {', '.join(answers)}")
        return {name: array_of(returned[name], name) for name in there}
    if len(answers) == 1 and not (isinstance(returned, (list, tuple)) and answers[0].endswith("[0]")):
        return {answers[0]: array_of(returned, answers[0])}
    if not isinstance(returned, (list, tuple)) or len(returned) != len(answers):
        count = len(returned) if isinstance(returned, (list, tuple)) else 1
        raise Refused(f"{len(answers)} answers are due ({', '.join(answers)}), and {count} came")
    return {name: array_of(value, name) for name, value in zip(answers, returned, strict=True)}


def array_of(value: Any, name: str) -> Any:
    """One value as an array of plain numbers that nobody else holds."""
    if value is None:
        raise Refused(f"nothing was returned for {name}: is there a `return`?")
    if not (type(value) in (bool, int, float, np.ndarray, list, tuple) or isinstance(value, np.generic)):
        raise Refused(f"an object of type {type(value).__name__} was returned for {name}; an array is asked for")
    try:
        if getattr(value, "size", 0) > MOST_ENTRIES:
            raise Refused(f"an array of shape {value.shape} was returned for {name}")
        found = np.array(value)
    except (ValueError, OverflowError) as error:
        raise Refused(f"what was returned for {name} is no array of numbers") from error
    if type(found) is not np.ndarray or found.dtype.kind not in "biufc" or found.size > MOST_ENTRIES:
        raise Refused(f"what was returned for {name} is no array of numbers")
    keep = {"f4": "f4", "f2": "f4", "c8": "c8", "c16": "c16", "c32": "c16"}
    return found.astype(keep.get(found.dtype.str[1:], "f8"))
