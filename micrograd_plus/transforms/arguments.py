"""Checks of the arguments of transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def check_tuple(name: str, values: Any) -> None:
    """Raise TypeError unless `values` is a tuple or list, since iterating over a tensor gives its rows."""
    if not isinstance(values, (tuple, list)):
        got = type(values).__name__
        raise TypeError(f"{name} must be a tuple with an entry for each argument of f, such as (x,); got {got}")


def as_argument_numbers(argnums: Any) -> tuple[int, ...]:
    """Return `argnums` as a tuple of different whole numbers, or raise TypeError."""
    numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    if not numbers or not all(hasattr(i, "__index__") for i in numbers) or len({*numbers}) < len(numbers):
        raise TypeError(f"argnums must be the number of an argument, or a tuple of different ones; got {argnums!r}")
    return tuple(numbers)


def check_argument_numbers(f: Any, numbers: Sequence[int], args: Sequence[Any]) -> None:
    """Raise TypeError for a number that belongs to no positional argument."""
    for i in numbers:
        if not -len(args) <= i < len(args):
            count = f"{len(args)} positional argument{'' if len(args) == 1 else 's'}"
            raise TypeError(f"cannot differentiate {name_of(f)} by argument {i}: it was called with {count}")


def split_aux(f: Any, result: Any) -> tuple[Any, Any]:
    """Return the pair (value, anything else) that a function returned under `has_aux`, or raise TypeError."""
    if not isinstance(result, tuple) or len(result) != 2:
        got = type(result).__name__
        raise TypeError(f"with has_aux, {name_of(f)} must return a tuple (value, anything else), got {got}")
    return result


def name_of(f: Any) -> str:
    """Return the name of a function for an error message."""
    return getattr(f, "__name__", type(f).__name__)
