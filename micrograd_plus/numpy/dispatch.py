"""Dispatch between NumPy's functions, for arrays, and this package's, for tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from ..core.variable import Variable
from ..pytrees import leaves, map_leaves
from ..tensor import Tensor


def dispatch_to_tensors(ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's function, replaced by this package's if an argument is a tensor."""

    @wraps(theirs)
    def call(*args: Any, **options: Any) -> Any:
        return (ours if has_tensors((args, options)) else theirs)(*args, **options)

    return call


def with_arrays(ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return this package's function, which returns arrays if no argument is a tensor."""

    @wraps(ours)
    def call(*args: Any, **options: Any) -> Any:
        found = ours(*args, **options)
        return found if has_tensors((args, options)) else as_arrays(found)

    return call


def names_of(module: ModuleType, ours: ModuleType) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module that mirrors NumPy's module of the same name."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        theirs = getattr(module, name)
        return dispatch_to_tensors(getattr(ours, name), theirs) if name in ours.__all__ and callable(theirs) else theirs

    return find


def has_tensors(value: Any) -> bool:
    """Return whether a nested structure contains a tensor."""
    return any(isinstance(leaf, Variable) for leaf in leaves(value))


def as_arrays(value: Any) -> Any:
    """Return the same structure with an array, or a NumPy number, for each tensor without a graph."""
    return map_leaves(value, lambda leaf: leaf.numpy()[()] if isinstance(leaf, Tensor) and leaf.node is None else leaf)
