"""Whose function it is: this engine's where a tensor is given, else NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from ..core.variable import Variable
from ..pytrees import leaves, map_leaves
from ..tensor import Tensor


def dispatched(ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, which becomes this engine's where it is given a tensor."""

    @wraps(theirs)
    def call(*args: Any, **options: Any) -> Any:
        return (ours if has_tensors((args, options)) else theirs)(*args, **options)

    return call


def with_arrays(ours: Callable[..., Any]) -> Callable[..., Any]:
    """This engine's function, which gives arrays where it was given no tensor."""

    @wraps(ours)
    def call(*args: Any, **options: Any) -> Any:
        found = ours(*args, **options)
        return found if has_tensors((args, options)) else as_arrays(found)

    return call


def names_of(module: ModuleType, ours: ModuleType) -> Callable[[str], Any]:
    """The `__getattr__` of a module that stands for NumPy's of the same name, with this engine's beside it."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        theirs = getattr(module, name)
        return dispatched(getattr(ours, name), theirs) if name in ours.__all__ and callable(theirs) else theirs

    return find


def has_tensors(value: Any) -> bool:
    """Whether there is a tensor in a nested structure."""
    return any(isinstance(leaf, Variable) for leaf in leaves(value))


def as_arrays(value: Any) -> Any:
    """The same structure, with an array, or NumPy's number, for each tensor without a graph."""
    return map_leaves(value, lambda leaf: leaf.numpy()[()] if isinstance(leaf, Tensor) and leaf.node is None else leaf)
