"""Error messages of ordinary functions: the function's name, its arguments, and the keyword that was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from .arguments import expected_tensor_error
from .values import describe, explained_error

KEYWORD_ALIASES = {
    "dim": ("axis", "axes"), "dims": ("axis", "axes", "reps"), "keepdim": ("keepdims",), "unbiased": ("ddof",),
    "correction": ("ddof",), "axis": ("dim",), "keepdims": ("keepdim",), "other": ("b", "y"), "input": ("x", "a"),
    "a_min": ("min",), "a_max": ("max",), "min": ("low",), "max": ("high",), "argnum": ("argnums",),
    "diagonal": ("k",), "shifts": ("shift",), "tensors": ("parts",), "arrays": ("parts",), "steps": ("num",),
    "end": ("stop",), "size": ("shape",), "newshape": ("shape",), "exponent": ("b",), "interpolation": ("method",),
    "mean": ("loc",), "std": ("scale",), "n": ("N",), "m": ("M",), "vec2": ("b",), "tensor": ("b",), "x1": ("a", "x"),
    "x2": ("b", "y"), "generator": ("rng",), "num_samples": ("size",),
}  # fmt: skip
"""Keywords of other libraries (PyTorch says `dim` where NumPy says `axis`), and what they may be called here."""


def prefixes_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function so that its errors begin with its name and its arguments.

    This adds 0.1 microseconds to a call. A function that is hardly more than one operation needs no decorator, since
    operations name themselves.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            check_keywords(function, options)
            if function.__name__ in re.findall(r"\w+", str(error)):
                raise
            raise explain_call(function, error, args, options) from error

    return call


def suggests_keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function so that an unknown keyword raises a TypeError with a suggestion, such as `axis=` for `dim=`.

    The keywords are checked only after a call has failed with a TypeError.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            check_keywords(function, options)
            raise

    return call


def check_keywords(function: Any, options: dict[str, Any]) -> None:
    """Raise TypeError for a keyword that the function does not have."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    for name in options if not code.co_flags & CO_VARKEYWORDS else ():
        if name not in names:
            starred = (f"*{code.co_varnames[count]}",) if code.co_flags & CO_VARARGS else ()
            raise TypeError(unknown_keyword(function.__name__, name, starred + names)) from None


def unknown_keyword(function: str, name: str, names: Sequence[str]) -> str:
    """Return the message for a keyword that a function does not have."""
    for alias in KEYWORD_ALIASES.get(name, ()):
        if alias in names:
            return f"{function} has no argument {name!r}: write {alias}="
    return f"{function} has no argument {name!r}; it has {', '.join(names)}"


def explain_call(function: Callable[..., Any], error: Exception, args: Any, options: dict[str, Any]) -> Exception:
    """Return an error raised inside a function again, with the function's name and its arguments in front."""
    import inspect  # most programs never need it

    parameters = inspect.signature(function).parameters
    values = dict(zip(parameters, args, strict=False)) | options
    first = next(iter(parameters.values()), None)
    if first is not None and first.default is first.empty and values.get(first.name, 0) is None:
        return expected_tensor_error(f"{function.__name__}: {first.name}", None)
    arguments = ", ".join(f"{name}={describe(value)}" for name, value in values.items())
    message = str(error).rstrip(".") or type(error).__name__
    if isinstance(error, AttributeError):
        message += "; where numbers are expected, pass a tensor: mg.tensor(...)"
    return explained_error(error, f"{function.__name__}({arguments}): {message}")
