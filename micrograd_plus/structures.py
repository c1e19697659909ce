"""Values in nested lists, tuples and dictionaries: what functions of several tensors take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def leaves(value: Any) -> Iterator[Any]:
    """The values in nested lists, tuples and dictionaries, in order."""
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same nested structure, with a function applied to each value."""
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [mapped(part, function) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return function(value)


def rebuilt(value: Any, found: Iterator[Any]) -> Any:
    """The same nested structure, with what was found in the values' places."""
    return mapped(value, lambda _: next(found))
