"""Gradients of a tensor: whether one is wanted, `.grad`, the backward pass, and hooks."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable, Collection, Iterable
from typing import Any, ClassVar, Self, cast
from weakref import ref

from ..backends import devices
from ..core import backward
from ..core.backward import add_gradient
from ..core.messages import check_function
from ..core.modes import recording
from ..core.runtime.hooks import Handle, add_hook, hooks_of, nodes_with_hooks
from ..core.runtime.listening import notify_change
from ..core.runtime.ownership import set_node, snapshot
from ..core.runtime.recorders import notify_walk_rejection
from ..core.variable import Leaf, Node, Variable
from .reading import ReadingMethods
from .values import numbers, refuse_other_device

np = devices.device("cpu").library
_growing = RLock()
"""Threads that bring gradients to the same leaf take turns: what one adds must not be lost to another."""


class GradientMethods(ReadingMethods):
    """Gradients of a tensor, and the walk that brings them."""

    __slots__ = ()

    constant: ClassVar[Callable[..., Any]]
    """Make a tensor of anything array-like; the class `Tensor` defines it."""

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is wanted.

        It may be set, on tensors that you made. A result wants one where gradients are wanted and one of its inputs
        does. While it is False, walks through earlier results leave `.grad` alone.

        Returns: True or False.
        Raises: as it is set, RuntimeError for a result, TypeError for whole numbers.
        """
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted == (self.node is not None):
            return
        if not self.is_leaf:
            raise RuntimeError(
                "requires_grad of a result cannot be changed; x.detach() gives its values without the graph"
            )
        if wanted and self.dtype.kind not in "fc":
            raise TypeError(
                f"a tensor of {self.dtype} cannot have a gradient: gradients are about small changes; use floats, "
                f"e.g. mg.tensor(..., dtype=float)"
            )
        if wanted:
            leaf = getattr(self, "frozen", None) or Leaf(self.shape, self.dtype)
            leaf.is_frozen = False
            set_node(self, leaf)
            return
        leaf = cast("Leaf", self.node)
        if leaf.grad is not None and recording.open:
            notify_change("gradient", leaf, leaf.grad, None, "requires_grad")
        leaf.grad, leaf.is_frozen, self.frozen = None, True, leaf  # a graph may still hold the leaf
        set_node(self, None)

    def requires_grad_(self, wanted: bool = True) -> Self:
        """Set `requires_grad`, and return the tensor.

        Args:
            wanted: whether a gradient is wanted; default True.
        Returns: the tensor.
        Raises: RuntimeError for a result, TypeError for whole numbers.
        """
        self.requires_grad = wanted
        return self

    @property
    def version(self) -> int:
        """How often the values of this leaf have been replaced or exposed for writing.

        Returns: a number; 0 for what is no leaf.
        Raises: nothing.
        """
        return self.node.version if isinstance(self.node, Leaf) else 0

    @property
    def grad(self) -> Self | None:
        """The gradient that backward passes have added up here: on leaves, and where `retain_grad` was called.

        It may be set, to None too, and written into: `p.grad *= 0.5`.

        Returns: a tensor of the same shape and dtype, or None.
        Raises: as it is set, ValueError for another shape, TypeError for a complex one of a real tensor, RuntimeError
            where no gradient is wanted.
        """
        found = getattr(self.node, "grad", None)
        if found is not None and type(found) is not type(self):
            found = self._require_node("grad").grad = self.of(found)
        if found is not None and recording.open:
            notify_change("read", self.node, None, found)
        return found

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self.node is not None:
                if recording.open:
                    notify_change("gradient", self.node, getattr(self.node, "grad", None), None)
                self.node.grad = None
            return
        value = value if isinstance(value, Variable) else self.constant(value, "grad")
        if value.shape != self.shape:
            raise ValueError(f"grad must have the tensor's shape {self.shape}, got {value.shape}")
        if value.dtype != self.dtype:
            if value.dtype.kind == "c" and self.dtype.kind != "c":
                raise TypeError(f"grad is {value.dtype}, the tensor {self.dtype}; take its real part")
            value = value.astype(self.dtype)
        node = self._require_node("grad")
        if recording.open and value is not (before := getattr(node, "grad", None)):
            notify_change("gradient", node, before, value)
        node.grad = value

    # The walk ---------------------------------------------

    def backward(self, gradient: Any = None, *, retain_graph: bool = True, create_graph: bool = False) -> None:
        """Walk back from here, and add to every leaf's `.grad` what it receives.

        For L = this tensor times `gradient`, summed, each leaf x receives ∂L/∂x (of complex leaves, ∂L/∂re + i ∂L/∂im).

        Args:
            gradient: the upstream gradient, of this tensor's shape; not needed for a tensor of one entry (default),
                which starts with 1.
            retain_graph: whether to keep the saved values for a second walk; default True. With False they are freed.
            create_graph: whether gradients have a graph, to be differentiated again; default False.
        Returns: None.
        Raises: RuntimeError if there is no graph, if `gradient` is missing for a tensor of several entries, and for a
            second walk through a freed graph. ValueError for a gradient of another shape, TypeError for a complex one
            of a real tensor.
        Example:
            >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
            >>> (x * x).backward([1.0, 10.0])
            >>> x.grad.tolist()
            [2.0, 40.0]

        See: torch.Tensor.backward, where retain_graph is False by default.
        """
        upstream = upstream_of(self, gradient, create_graph)
        accumulate(
            backward.gradients(self, upstream, create_graph=create_graph, retain_graph=retain_graph), create_graph
        )

    def gradients(
        self,
        gradient: Any = None,
        *,
        retain_graph: bool = True,
        create_graph: bool = False,
        through: Collection[Node] = (),
    ) -> dict[Node, Any]:
        """The gradients of the same walk as a mapping; no `.grad` is touched.

        Args:
            gradient: the upstream gradient, as in `backward`.
            retain_graph: as in `backward`; default True.
            create_graph: as in `backward`; default False.
            through: nodes (`y.node`) whose gradients are wanted as well, though the walk goes on through them.
        Returns: a dictionary from the node of each leaf, and each node of `through`, to an array; with
            `create_graph`, to a tensor.
        Raises: what `backward` raises.
        Example:
            >>> x = mg.tensor(3.0, requires_grad=True)
            >>> (x * x).gradients()[x.node].item(), x.grad
            (6.0, None)

        See: torch.autograd.grad.
        """
        upstream = upstream_of(self, gradient, create_graph)
        return backward.gradients(
            self, upstream, create_graph=create_graph, retain_graph=retain_graph, through=through
        )

    def register_hook(self, hook: Callable[[Self], Self | None]) -> Handle:
        """Have a function called with this tensor's gradient when that is complete.

        Args:
            hook: a function of the gradient, a tensor. It returns a new gradient, or None to keep it.
        Returns: a handle, which takes the hook away again: by `remove()`, or at the end of a `with` block.
        Raises: TypeError where `hook` cannot be called; RuntimeError where the tensor wants no gradient. During a walk,
            TypeError or RuntimeError where the hook returns no tensor, or one of another shape.
        Example:
            >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
            >>> with x.register_hook(lambda gradient: gradient * 10):
            ...     x.sum().backward()
            >>> x.grad.tolist()
            [10.0, 10.0]

        See: torch.Tensor.register_hook.
        """
        check_function("register_hook", hook)
        return add_hook(self._require_node("register_hook"), "hooks", hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Self], None]) -> Handle:
        """Have a function called each time this leaf's `.grad` has grown.

        Args:
            hook: a function of the tensor; what it returns is not looked at.
        Returns: a handle, which takes the hook away again: by `remove()`, or at the end of a `with` block.
        Raises: TypeError where `hook` cannot be called; RuntimeError for a result, or where the tensor wants no
            gradient.
        Example:
            >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
            >>> def step(p):
            ...     p.data -= 0.5 * p.grad
            >>> with x.register_post_accumulate_grad_hook(step):
            ...     x.sum().backward()
            >>> x.tolist()
            [0.5, 1.5]

        See: torch.Tensor.register_post_accumulate_grad_hook.
        """
        check_function("register_post_accumulate_grad_hook", hook)
        if not self.is_leaf:
            raise RuntimeError(
                "register_post_accumulate_grad_hook is for leaves, whose .grad grows; for a result use register_hook"
            )
        held = ref(self)  # a hook that held its own tensor would keep both for ever

        def call() -> None:
            tensor = held()
            if tensor is not None:
                hook(tensor)

        return add_hook(self._require_node("register_post_accumulate_grad_hook"), "after_accumulation", call)

    def retain_grad(self) -> Self:
        """Keep the gradient of this result in `.grad` as well, as leaves do: what its hooks have left of it.

        Returns: the tensor.
        Raises: RuntimeError where it wants no gradient.
        Example:
            >>> x = mg.tensor(3.0, requires_grad=True)
            >>> y = (x * x).retain_grad()
            >>> mg.sin(y).backward()
            >>> round(y.grad.item(), 4), round(float(np.cos(9.0)), 4)
            (-0.9111, -0.9111)

        See: torch.Tensor.retain_grad.
        """
        node = self._require_node("retain_grad")
        if not isinstance(node, Leaf) and not hasattr(node, "grad"):
            node.grad = None
            held = ref(node)

            def keep(gradient: Self) -> None:
                kept: Any = held()
                before = kept.grad
                kept.grad = add_gradient(before, gradient)
                if recording.open:
                    arrays = [None if each is None else each._data.copy() for each in (before, kept.grad)]
                    notify_change("accumulate", [(kept, *arrays)], None, None)

            add_hook(node, "hooks", keep, runs_last=True)
        return self

    def _require_node(self, name: str) -> Node:
        if self.node is None:
            raise RuntimeError(f"{name}: this tensor does not require a gradient; make it with requires_grad=True")
        return self.node


def upstream_of(tensor: Any, gradient: Any, create_graph: bool) -> Any:
    """Return the gradient that a walk starts with: a copy of `gradient`, or 1. Recorders are notified of a
    walk that cannot begin."""
    try:
        return _upstream_of(tensor, gradient, create_graph)
    except (RuntimeError, TypeError, ValueError):
        notify_walk_rejection(tensor)
        raise


def _upstream_of(tensor: Any, gradient: Any, create_graph: bool) -> Any:
    if tensor.node is None:
        raise RuntimeError(
            "backward() of a tensor that depends on nothing with requires_grad=True: there is no graph to walk; "
            "make a leaf with mg.tensor(..., requires_grad=True), and compute outside no_grad and mg.compile"
        )
    data = tensor._data
    if gradient is None:
        if isinstance(data, np.generic):
            return data.dtype.type(1)
        if data.size == 1:
            return devices.device_of(data).library.ones(data.shape, data.dtype)
        raise RuntimeError(
            f"backward() from shape {tensor.shape} needs an upstream gradient of that shape; a loss is one "
            f"number: reduce it with .sum() or .mean(), or call backward(gradient)"
        )
    given = _upstream_like(tensor, gradient, create_graph)
    if given.shape != tensor.shape:
        raise ValueError(
            f"the upstream gradient has shape {given.shape}, the tensor {tensor.shape}; they must be equal"
        )
    return given


def _upstream_like(tensor: Any, gradient: Any, create_graph: bool) -> Any:
    """Return a given upstream gradient in the dtype and on the device of its tensor."""
    if create_graph and isinstance(gradient, Variable):
        upstream: Any = gradient
        return upstream if upstream.dtype == tensor.dtype else upstream.astype(tensor.dtype)
    given = numbers(gradient, None, "backward: gradient")
    refuse_other_device(tensor, given)
    if given.dtype.kind == "c" and tensor.dtype.kind != "c":
        raise TypeError(f"the upstream gradient is {given.dtype}, the tensor {tensor.dtype}; take its real part")
    return devices.device_of(tensor._data).library.array(given, tensor.dtype)


def accumulate(found: dict[Any, Any], create_graph: bool = False) -> None:
    """Add the gradients of a walk to the leaves' `.grad`, as arrays until `.grad` is read."""
    frozen = [leaf for leaf in found if leaf.is_frozen]
    grown: list[Any] | None = [(leaf, None, None) for leaf in frozen] if recording.open else None
    found = {leaf: found[leaf] for leaf in found if not leaf.is_frozen} if frozen else found
    with _growing:
        for leaf, received in found.items():
            if received.dtype is not leaf.shape_dtype[1]:
                received = in_dtype(received, leaf)
            before = leaf.grad
            if before is not None and type(before) is Variable.public and before.node is None:
                before = snapshot(before)
            on_tensors = create_graph or (before is not None and type(before) is Variable.public)
            if grown and on_tensors:
                notify_change("accumulate", grown, None, None)  # the sum is recorded, and finds these leaves done
                grown = []
            after = received if before is None else add_gradient(before, received)
            leaf.grad = after.of(after._data, after.node) if create_graph else after  # for each leaf its own tensor
            if grown is not None:
                arrays = [getattr(each, "_data", each) for each in (before, after)] if on_tensors else (before, after)
                grown.append((leaf, *arrays))
    if grown:
        notify_change("accumulate", grown, None, None)
    if nodes_with_hooks:
        for hook in [hook for leaf in found for hook in hooks_of(leaf, "after_accumulation")]:
            hook()


def in_dtype(received: Any, leaf: Node) -> Any:
    """What arrived at a leaf, in its dtype. Single numbers are no arrays to NumPy, and widen on the way."""
    dtype = leaf.shape_dtype[1]
    return received if received.dtype == dtype else received.astype(dtype)


def _in_a_child() -> None:
    """A forked child begins with a lock that no thread holds: the one that may have held it is not there."""
    global _growing  # noqa: PLW0603 - a lock that another thread held cannot be released
    _growing = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_child)


def set_gradients(changes: Iterable[tuple[Any, Any]], by: Any = None) -> None:
    """Set the `.grad` of several leaves: pairs of a tensor and its gradient, a tensor or None. Recorders are notified
    once; `by` computes the new gradients from the old ones, for those who repeat it with others."""
    of_nodes = {leaf.node: gradient for leaf, gradient in changes if leaf.node is not None}
    if recording.open:
        subject = [(node, getattr(node, "grad", None), gradient) for node, gradient in of_nodes.items()]
        notify_change("gradients", subject, None, None, by)
    for node, gradient in of_nodes.items():
        node.grad = gradient


def forget_gradients(leaves: Iterable[Any], set_to_none: bool) -> None:
    """Set the gradients of leaves to None, or replace them by zeros."""
    set_gradients(
        (leaf, None if set_to_none or leaf.grad is None else leaf.of(devices.zeros_like(leaf._data)))
        for leaf in leaves
    )
