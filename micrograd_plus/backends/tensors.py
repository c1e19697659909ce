"""Namespace of recorded tensors: each function is the operation of that name, added when it is defined.

A rule that runs in this namespace returns tensors with a graph, so its gradient can be differentiated again.
"""

from typing import Any

from .shapes import *  # noqa: F403 - functions about shapes belong to every namespace


def contract_rows(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """Return aᵀ @ b; the engine sums it to `shape`, as an operation that can be differentiated."""
    return a.mT @ b


def __getattr__(name: str) -> Any:
    """Raise AttributeError: no operation has this name."""
    raise AttributeError(f"there is no operation {name!r} to read on tensors")
