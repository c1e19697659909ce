"""Pytrees: values in nested lists, tuples and dictionaries, as arguments and results of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any


def leaves(value: Any) -> list[Any]:
    """Return the values in nested lists, tuples and dictionaries, in order."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def matching_leaves(value: Any, pattern: Any, name: str) -> list[Any]:
    """Return the values of a structure like `pattern`, in the order of `pattern`.

    Dictionaries are matched by their keys; lists and tuples match each other. Another structure raises ValueError, in
    which `name` stands for `value`."""
    if isinstance(pattern, dict):
        if not isinstance(value, dict) or value.keys() != pattern.keys():
            got = f"the keys {', '.join(map(repr, value))}" if isinstance(value, dict) else type(value).__name__
            raise ValueError(f"{name} must be a dictionary with the keys {', '.join(map(repr, pattern))}, got {got}")
        return [leaf for key, part in pattern.items() for leaf in matching_leaves(value[key], part, name)]
    if isinstance(pattern, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(pattern):
            got = str(len(value)) if isinstance(value, (list, tuple)) else type(value).__name__
            raise ValueError(f"{name} must be a list or tuple of {len(pattern)}, got {got}")
        pairs = zip(value, pattern, strict=True)
        return [leaf for part, beside in pairs for leaf in matching_leaves(part, beside, name)]
    return [value]


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return the same structure, with a function applied to each value."""
    if isinstance(value, dict):
        return _dictionary_like(value, {key: map_leaves(part, function) for key, part in value.items()})
    if isinstance(value, (list, tuple)):
        parts = [map_leaves(part, function) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return function(value)


def _dictionary_like(value: dict[Any, Any], parts: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dictionary of the same type, such as OrderedDict, with other parts."""
    if type(value) is dict:
        return parts
    made = copy(value)
    made.update(parts)
    return made


def replace_leaves(value: Any, values: Iterator[Any]) -> Any:
    """Return the same structure, with its values replaced in order."""
    return map_leaves(value, lambda _: next(values))


def map_named_leaves(value: Any, function: Callable[[Any, str], Any], name: str) -> Any:
    """Return the same structure, with a function applied to each value and its name, such as `name["weight"][0]`."""
    if isinstance(value, dict):
        parts = {key: map_named_leaves(part, function, f"{name}[{key!r}]") for key, part in value.items()}
        return _dictionary_like(value, parts)
    if isinstance(value, (list, tuple)):
        parts = [map_named_leaves(part, function, f"{name}[{i}]") for i, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return function(value, name)
