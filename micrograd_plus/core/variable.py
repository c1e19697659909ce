"""Variables: what the user holds, and nodes: what the walk sees.

A user holds a `Variable` (its public form is `Tensor`): an array, and the node it came from. The walk sees only the
nodes: which operation was applied, to which parents, and what its rules asked to keep. An intermediate array that no
rule reads is therefore freed as soon as the user lets go of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Array = Any
"""An array of a device's library, or a scalar of NumPy's."""
Namespace = Any
"""What `xp` is: a module or an object with functions, of floats, arrays, tensors or symbols."""
Gradient = Any
"""An array; where a walk is to be differentiated, a tensor; at an application with several outputs a list of them."""

clock: Callable[[], int] = itertools.count(1).__next__
"""Each application and each write takes the next number, so "made before" is "has a smaller number"."""


class Node:
    """One application of an operation, as the walk sees it: without its value.

    `vjp` takes an upstream gradient on to `parents` (None where an input wants no gradient); `saved` is what it reads,
    in the order of `op.saves`, and None once it was freed; `shape_dtype` is the shape and dtype of the value, which its
    gradient has too (of several outputs: one pair each); `created` is its creation number. `grad` and `hooks` are there
    only where somebody asked for them.
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
        """The operation that was applied; None for a leaf, and for one of several outputs."""
        return getattr(self.vjp, "op", None)


class Leaf(Node):
    """A variable that the user made and wants a gradient for: where the walk ends, and gradients add up in `grad`."""

    __slots__ = ("after_accumulation", "version")

    after_accumulation: dict[Any, Callable[..., Any]]

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.vjp, self.parents, self.saved, self.grad = None, (), (), None
        self.created, self.version = clock(), 0
        self.shape_dtype = (shape, dtype)


class Part(Node):
    """One of several outputs: its gradient waits at the application until all the others have arrived."""

    __slots__ = ("index",)

    def __init__(self, application: Node, index: int):
        self.vjp, self.parents, self.saved = vjp_of_part, (application,), ()
        self.created, self.index = clock(), index
        self.shape_dtype = application.shape_dtype[index]


def vjp_of_part(xp: Namespace, upstream: Gradient, part: Any, arrived: dict[Any, Gradient]) -> None:
    """Put the gradient of one output down at the application: a list, None where nothing has arrived. A rule that reads
    an output is given it under a node of its own, so more than one may arrive for it."""
    (application,) = part.parents
    waiting = arrived.setdefault(application, [None] * len(application.shape_dtype))
    before = waiting[part.index]
    waiting[part.index] = upstream if before is None else before + upstream


vars(vjp_of_part).update(on_tensors=vjp_of_part)


class Variable:
    """An array and the node it came from; `node` is None where no gradient is wanted.

    `plain` says that written-out code may take the array as it is: real numbers, on the CPU, and not in the hands of
    the user (`exposed`), who may write into it at any time.
    """

    __slots__ = ("__weakref__", "_data", "exposed", "label", "node", "plain")

    public: Any = None
    """The class of what users hold and operations return; `tensor` puts `Tensor` here."""

    _data: Array
    node: Node | None
    plain: bool
    exposed: bool
    label: str
