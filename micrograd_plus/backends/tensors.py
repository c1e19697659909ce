"""The namespace of recorded tensors: each function is the operation of that name, put here as it is defined.

A rule that is read in it computes tensors, so what it sends has a graph of its own and can be differentiated again.
"""

from typing import Any

from .shapes import *  # noqa: F403 - functions about shapes belong to every namespace


def contract_rows(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """Return aᵀ @ b; the engine sums it to `shape`, as an operation that can be differentiated."""
    return a.mT @ b


def __getattr__(name: str) -> Any:
    """Only what no operation has put here is looked for in this way."""
    raise AttributeError(f"there is no operation {name!r} to read on tensors")
