"""Error messages of ordinary functions: the function's name, its arguments, and the keyword that was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from .arguments import expected_tensor_error
from .foreign_names import OF_TWO_TENSORS, OTHER_RESULTS, TWO_AXES
from .values import describe, explained_error

KEYWORDS_OF_BOTH = {
    "dim": ("axis", "axes"), "dims": ("axis", "axes", "reps"), "keepdim": ("keepdims",), "axis": ("dim",),
    "keepdims": ("keepdim",), "generator": ("rng",),
}  # fmt: skip
"""Words of PyTorch and NumPy for one thing. Every function takes both."""

KEYWORD_ALIASES = {
    "unbiased": ("ddof",), "correction": ("ddof",), "other": ("b", "y"), "input": ("x", "a"),
    "a_min": ("min",), "a_max": ("max",), "min": ("low",), "max": ("high",), "argnum": ("argnums",),
    "diagonal": ("k",), "shifts": ("shift",), "tensors": ("parts",), "arrays": ("parts",), "steps": ("num",),
    "end": ("stop",), "size": ("shape",), "newshape": ("shape",), "exponent": ("b",), "interpolation": ("method",),
    "mean": ("loc",), "std": ("scale",), "n": ("N",), "m": ("M",), "vec2": ("b",), "tensor": ("b",), "x1": ("a", "x"),
    "x2": ("b", "y"), "num_samples": ("size",),
}  # fmt: skip
"""Other keywords of other libraries, and what they may be called here: the error for one suggests the other."""


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
            if (own := own_keywords(function, options)) != options:
                return call(*args, **own)
            check_positions(function, args)
            if function.__name__ in re.findall(r"\w+", str(error)):
                raise
            raise explain_call(function, error, args, options) from error

    return call


def suggests_keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function so that it takes `dim=` for `axis=`, and an unknown keyword raises a TypeError that suggests
    another one.

    The keywords are checked only after a call has failed with a TypeError.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            if (own := own_keywords(function, options)) != options:
                return call(*args, **own)
            check_positions(function, args)
            raise

    return call


def own_keywords(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return options under the names that the function has. Raise TypeError for one that it does not have."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    if code.co_flags & CO_VARKEYWORDS or all(name in names for name in options):
        return options
    starred = (f"*{code.co_varnames[count]}",) if code.co_flags & CO_VARARGS else ()
    own = {own_keyword(function.__name__, name, starred + names): value for name, value in options.items()}
    if len(own) < len(options):
        raise TypeError(f"{function.__name__} got one argument under two names: {', '.join(options)}") from None
    return own


def own_keyword(function: str, name: str, names: Sequence[str]) -> str:
    """Return the name that a function has for a keyword: `axis` for `dim`. Raise TypeError if it has none."""
    if name in names:
        return name
    own = next((each for each in KEYWORDS_OF_BOTH.get(name, ()) if each in names), None)
    if own is None:
        raise TypeError(unknown_keyword(function, name, names)) from None
    if function in OTHER_RESULTS and own in ("axis", "keepdims"):
        raise TypeError(f"{function} has no argument {name!r}: write {own}=. {OTHER_RESULTS[function]}") from None
    return own


def check_positions(function: Any, args: tuple[Any, ...]) -> None:
    """Raise TypeError for more arguments by position than a function takes, if they mean something else in PyTorch: an
    axis where PyTorch's function returns a pair, so that a program that reads `[0]` of it would get another number."""
    name, code = function.__name__, function.__code__
    further = args[code.co_argcount :]
    if not further or code.co_flags & CO_VARARGS:
        return
    if name in TWO_AXES:
        raise TypeError(f"{name}: {TWO_AXES[name].format(*args[1:], *further)}")
    if name in OF_TWO_TENSORS and hasattr(further[0], "shape"):
        raise TypeError(f"{name}: axis must be a whole number; for two tensors write {OF_TWO_TENSORS[name]}")
    if name in OTHER_RESULTS:
        raise TypeError(f"{name} takes its axis by name: write axis={further[0]!r}. {OTHER_RESULTS[name]}") from None


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
