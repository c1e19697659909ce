"""Checks of arguments: each raises a TypeError or ValueError that states the requirement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .values import describe

NONE_HINT = "got None; does the function that made it return its result?"
"""The usual reason why an argument is None instead of a tensor."""


def expected_tensor_error(name: str, value: Any) -> TypeError:
    """Return the error for an argument that must be a tensor and is not."""
    if value is None:
        return TypeError(f"{name}: expected a tensor, {NONE_HINT}")
    return TypeError(f"{name}: expected a tensor, got {type(value).__name__}; write mg.tensor(...)")


def check_function(name: str, f: Any) -> None:
    """Raise TypeError unless `f` can be called."""
    if not callable(f):
        raise TypeError(f"{name} expects a function, got {describe(f)}; pass f itself, not f(x)")


def check_count(name: str, value: Any, least: int) -> None:
    """Raise TypeError unless `value` is a whole number, and ValueError if it is less than `least`."""
    message = f"{name} must be a whole number of at least {least}, got {describe(value)}"
    if not hasattr(value, "__index__"):
        raise TypeError(message)
    if value < least:
        raise ValueError(message)


def check_mapping(name: str, value: Any, example: str) -> None:
    """Raise TypeError unless `value` is a dictionary."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} expects a dictionary, such as {example}; got {describe(value)}")
