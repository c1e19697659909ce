"""Variables, which users hold, and nodes, which the backward pass sees.

A variable (`Tensor` is its public class) holds an array and the node that it came from. A node records which operation
was applied to which parents, and what its rules saved, but not the value. An intermediate array that no rule reads is
freed as soon as the user drops its variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast
from weakref import ref

from ..backends import devices, tensors

Array = Any  # an array of a device's library, or a NumPy scalar
Namespace = Any  # what `xp` can be: a module or object with functions of floats, arrays, tensors or symbols
Gradient = Any  # an array, or a tensor if the walk is to be differentiated; a list of them for several outputs

clock: Callable[[], int] = itertools.count(1).__next__
"""Return the next creation number. Every application takes one, so smaller means earlier."""


class Node:
    """One application of an operation.

    `vjp` sends an upstream gradient to `parents` (None for an input without a gradient). `saved` holds the values that
    rules read, in the order of `op.saves`, and is None once freed. `shape_dtype` belongs to the value and its gradient
    (one pair for each output). `created` is the creation number. `grad` and `hooks` exist once a user asked for them.
    """

    __slots__ = ("__weakref__", "created", "grad", "hooks", "parents", "saved", "shape_dtype", "vjp")

    vjp: Any
    parents: tuple[Node | None, ...]
    saved: tuple[Any, ...] | None
    shape_dtype: tuple[Any, ...]
    created: int
    grad: Gradient
    hooks: dict[Any, Callable[..., Any]]

    @property
    def op(self) -> Any:
        """The operation that was applied; None for a leaf and for one of several outputs."""
        return getattr(self.vjp, "op", None)


class Leaf(Node):
    """Node of a variable that the user made with `requires_grad`; its gradients add up in `grad` until it is frozen."""

    __slots__ = ("after_accumulation", "is_frozen", "version")

    after_accumulation: dict[Any, Callable[..., Any]]

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.vjp, self.parents, self.saved, self.grad = None, (), (), None
        self.created, self.version, self.shape_dtype, self.is_frozen = clock(), 0, (shape, dtype), False


class Variable:
    """An array and the node that it came from; `node` is None if the variable needs no gradient.

    `is_fast` is True if compiled code may use the array: it holds real numbers, is on the CPU and not lent to the user,
    who may write into it while `is_lent`. `origin` says where a view comes from, `frozen` is the node of a frozen leaf.
    """

    __slots__ = ("__weakref__", "_data", "frozen", "is_fast", "is_lent", "label", "node", "origin")

    public: Any = None  # the class that users hold; the `tensor` package sets it to `Tensor`

    _data: Array
    node: Node | None
    frozen: Leaf
    is_fast: bool
    is_lent: bool
    origin: tuple[ref[Any], Any, Any, Any] | tuple[ref[Any], Any, Any, Any, int] | None
    label: str


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array or variable; () for a number."""
    return tuple(getattr(value, "shape", ()))


def is_complex(value: Any) -> bool:
    """Return True for a complex number and for an array or variable of them."""
    dtype = getattr(value, "dtype", None)
    return dtype.kind == "c" if dtype is not None else type(value) is complex


def namespace_of(value: Any) -> Any:
    """Return the namespace of a value: tensors, or the arrays of its device. Several upstreams share one namespace."""
    some = next(part for part in cast("list[Any]", value) if part is not None) if type(value) is list else value
    return tensors if isinstance(some, Variable) else devices.device_of(some).namespace
