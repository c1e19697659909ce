"""What functions of functions ask of their arguments, each with the sentence for who gives something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import described


def wants_function(name: str, f: Any) -> None:
    """Refuse what cannot be called."""
    if not callable(f):
        raise TypeError(f"{name} wants a function, got {described(f)}; give it f itself, not f(x)")


def wants_count(name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number, or less than `least`."""
    asked = f"{name} is a whole number of at least {least}, got {described(value)}"
    if not hasattr(value, "__index__"):
        raise TypeError(asked)
    if value < least:
        raise ValueError(asked)


def wants_dict(name: str, value: Any, example: str) -> None:
    """Refuse what does not hold values by name."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} wants a dict of values by name, such as {example}; got {described(value)}")


def wants_tuple(name: str, values: Any) -> None:
    """Refuse one value where there is one for each argument: a tensor would be taken apart into its rows."""
    if not isinstance(values, (tuple, list)):
        got = type(values).__name__
        raise TypeError(f"{name} is a tuple with an entry for each argument of f, such as (x,); got {got}")


def argument_numbers(argnums: Any) -> tuple[int, ...]:
    """The arguments that gradients are wanted for, by their numbers."""
    chosen = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    if not chosen or not all(hasattr(i, "__index__") for i in chosen) or len({*chosen}) < len(chosen):
        raise TypeError(f"argnums is the number of an argument, or a tuple of different ones; got {argnums!r}")
    return tuple(chosen)


def wants_arguments(f: Any, numbers: Sequence[int], args: Sequence[Any]) -> None:
    """Refuse a number that no argument has."""
    for i in numbers:
        if not -len(args) <= i < len(args):
            given = f"{len(args)} were given by position"
            raise TypeError(f"the gradient of {name_of(f)} is wanted for argument {i}; {given}")


def value_and_aux(f: Any, result: Any) -> tuple[Any, Any]:
    """What a function returned, as its value and anything else."""
    if not isinstance(result, tuple) or len(result) != 2:
        got = type(result).__name__
        raise TypeError(f"with has_aux, {name_of(f)} returns a tuple (value, anything else), got {got}")
    return result


def name_of(f: Any) -> str:
    """A function, as errors call it."""
    return getattr(f, "__name__", type(f).__name__)
