"""Tensor: what users hold. Operators and methods, written out one a line over the operations."""

from __future__ import annotations

import inspect
import os
import sys
from _thread import RLock
from collections.abc import Callable, Collection, Iterator
from typing import Any, NoReturn
from weakref import ref

from .. import ops
from ..backends import devices
from ..core import backward
from ..core.backward import add_gradient, topological_order
from ..core.messages import MissingName, check_function, unpacked_count
from ..core.messages.foreign_names import FOREIGN_NAMES
from ..core.modes import grad_enabled, recording
from ..core.runtime.blocks import transforming
from ..core.runtime.hooks import Handle, add_hook, hooks_of, nodes_with_hooks
from ..core.runtime.listening import notify_change
from ..core.runtime.ownership import array_to_write, is_real_on_cpu, lend_to_user, replace_array, snapshot
from ..core.runtime.recorders import notify, notify_walk_rejection
from ..core.variable import Leaf, Node, Variable
from ..pytrees import leaves, map_leaves
from .pytorch_methods import PyTorchMethods, one_tuple
from .result_array import ResultArray
from .values import Count, array_index, as_dtype, cast, numbers, refuse_other_device
from .views import check_replacement, is_basic, is_written_already, lend_view, write_into_view

np = devices.device("cpu").library
_ndarray = np.ndarray
_growing = RLock()
_getitem, _quotient = ops.getitem, ops.divide.op.call  # what `/` means has no rounding_mode
_transpose = ops.transpose.op.call
"""Threads that bring gradients to the same leaf take turns: what one adds must not be lost to another."""
_ABOUT_FORM = {np.shape, np.ndim, np.size, np.result_type, np.zeros_like, np.ones_like, np.empty_like, np.full_like}
"""NumPy's functions that ask for shape and dtype alone: no graph is lost in them."""


def tensor(data: Any, requires_grad: bool = False, dtype: Any = None, device: str = "cpu") -> Tensor:
    """A tensor with a copy of the given values.

    Args:
        data: numbers, nested lists, an array, or a tensor's values.
        requires_grad: whether it is a leaf, to whose `.grad` a backward pass adds; default False. Only real and complex
            floats can be.
        dtype: NumPy's name or type of the numbers; default None, as NumPy would choose.
        device: "cpu" (default) or "cuda".
    Returns: a Tensor that shares memory with nothing else.
    Raises: TypeError for what is not made of numbers, and where a gradient is wanted for whole numbers; ValueError for
        lists of different lengths, or a device of another name; RuntimeError for one that is not there.
    Example:
        >>> mg.tensor([[1, 2], [3, 4]], requires_grad=True, dtype="float32")
        tensor([[1., 2.],
                [3., 4.]], dtype=float32, requires_grad=True)

    See: torch.tensor; numpy.array.
    """
    where = devices.device(device)
    out = Tensor.of(where.library.array(numbers(data, dtype, "mg.tensor")))
    if requires_grad:
        out.requires_grad = True
    return out


class TensorType(type):
    """Type of `Tensor`. Calling the class raises TypeError; `new_tensor` makes instances for the engine."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeError: `mg.tensor` makes tensors."""
        raise TypeError(
            f"{cls.__name__}(...) makes no tensor: write mg.tensor(values), with requires_grad=True for a leaf; for a "
            f"shape, mg.zeros(shape) or mg.empty(shape)"
        )


class Tensor(PyTorchMethods, metaclass=TensorType):
    """An array whose operations are remembered, so that gradients can be walked back through them.

    Made by `mg.tensor`, and by every operation. Its operators and most of its methods are operations of `mg`, with the
    tensor as first input: `x.sum(axis=0)` is `mg.sum(x, axis=0)`, and `a @ b` is `mg.matmul(a, b)`.

    Args: none; it is made by `mg.tensor`.
    Raises: AttributeError for a name of NumPy's or PyTorch's that it has not; the message says what to write.
    Example:
        >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x * x).sum()
        >>> y.backward()
        >>> y.item(), x.grad.tolist()
        (5.0, [2.0, 4.0])

    See: torch.Tensor; `Value` of micrograd.
    """

    __slots__ = ()

    # Making -----------------------------------------------

    @staticmethod
    def of(data: Any, node: Node | None = None, origin: Any = None) -> Tensor:
        """A tensor that holds an array itself, not a copy.

        Args:
            data: an array, which is the tensor's own from then on; a tensor is given back as it is.
            node: where it came from, for the walk; default None, from nowhere.
            origin: the tensor that it is a view of, for writes; default None.
        Returns: a tensor.
        Raises: nothing: whether it is an array is not looked at.
        """
        if type(data) is Tensor:
            return data
        out = new_tensor()
        out._data, out.node, out.is_fast = data, node, is_real_on_cpu(data)
        out.origin = origin
        return out

    @staticmethod
    def constant(value: Any, name: str) -> Tensor:
        """A tensor of anything array-like that an operation was given.

        It is a copy, so that no later write reaches the graph.

        Args:
            value: numbers, nested lists, or an array.
            name: what errors call it.
        Returns: a tensor that wants no gradient.
        Raises: TypeError for values that are not numbers.
        """
        array = numbers(value, None, name)
        return Tensor.of(array.copy() if array is value else array)

    # Looking ----------------------------------------------

    @property
    def data(self) -> Any:
        """The array itself: the tensor's own, of one that you made; read-only, of a result.

        Writes into the array change the tensor, and it sees a later `t[i] = v`. After `t.data = ...`, `t -=
        ...`, `t.assign(...)` or a step of an optimiser the tensor has another array, and the old one is left behind. No
        gradient changes by any of it: what a rule has saved is left to it, and the tensor goes on with a copy.

        Set, it takes new values, as `assign` does: `p.data -= rate * p.grad` and `p.data = p.data - rate * p.grad` are
        both right. A copy is `numpy()`.

        Returns: an array of the device, NumPy's on the CPU.
        Raises: ValueError as somebody writes into the array of a result; RuntimeError where a result is set.
        Example:
            >>> t = mg.tensor([1.0, 2.0])
            >>> a = t.data
            >>> a[0], t[1] = 10.0, 20.0
            >>> t.tolist(), a.tolist()
            ([10.0, 20.0], [10.0, 20.0])
            >>> t.data = [0.0, 0.0]
            >>> t.tolist(), a.tolist()
            ([0.0, 0.0], [10.0, 20.0])

        See: the page "Writing into tensors" of the documentation; torch.Tensor.data.
        """
        if type(self._data) is not _ndarray:
            if not hasattr(self._data, "base"):
                return self._data
            if isinstance(self._data, np.generic):
                self._data = np.asarray(self._data)
        if self.node is None or isinstance(self.node, Leaf):
            return lend_to_user(self) if self.origin is None else lend_view(self)
        return ResultArray.of(self._data) if isinstance(self._data, np.ndarray) else self._data.copy()

    @data.setter
    def data(self, values: Any) -> None:
        if self.origin is not None and values is not self._data:
            check_replacement(self)
        self._assign(values)

    def numpy(self) -> Any:
        """A copy of the values as a NumPy array, from any device.

        Returns: a copy: writes into it do not change the tensor, and it does not see later writes into the tensor.
        Raises: nothing.
        """
        data = self._data
        return np.array(data.get() if hasattr(data, "get") else data)

    def item(self) -> Any:
        """The only entry, as a Python number.

        Returns: a float, int, bool or complex.
        Raises: ValueError for a tensor of more entries than one, or of none.
        """
        return self._python_number("item()")

    def _python_number(self, conversion: str) -> Any:
        """Return the one entry as a Python number; errors name the conversion."""
        if self._data.size != 1:
            raise ValueError(f"{conversion} needs a tensor of one entry, this one has shape {self.shape}")
        if self.node is not None and transforming.open:
            self._refuse_constant()
        return self._data.item()

    def _refuse_constant(self) -> None:
        """Raise TypeError inside a transform if this value depends on its argument: as a Python number it would lose
        its gradient silently."""
        inputs = {node for each in transforming.all() for node in each}
        if grad_enabled() and depends_on(self.node, inputs):  # pyright: ignore[reportArgumentType] - it has a node
            raise TypeError(
                "inside a transform such as mg.grad this value depends on the differentiated arguments, but a Python "
                "number (x.item(), float(x), math.sin(x), array[i] = x) would be a constant: compute with mg functions,"
                " join results with mg.stack, or write mg.stop_gradient(x) for a constant"
            )

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers.

        Returns: a list; for a tensor of shape (), a number.
        Raises: nothing.
        """
        return self._data.tolist()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._data.shape

    @property
    def dtype(self) -> Any:
        """The kind of number, as NumPy names it."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return Count(self._data)

    @property
    def device(self) -> str:
        """Where the array lives: "cpu" or "cuda"."""
        return devices.device_of(self._data).name

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is wanted.

        It may be set, on tensors that you made. A result wants one where gradients are wanted and one of its inputs
        does.

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
        self.node = Leaf(self.shape, self.dtype) if wanted else None

    @property
    def is_leaf(self) -> bool:
        """Whether this is a leaf: a tensor that no operation made, or that wants no gradient.

        Returns: True or False.
        Raises: nothing.
        """
        return self.node is None or isinstance(self.node, Leaf)

    @property
    def version(self) -> int:
        """How often the values of this leaf have been replaced or exposed for writing.

        Returns: a number; 0 for what is no leaf.
        Raises: nothing.
        """
        return self.node.version if isinstance(self.node, Leaf) else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up here: on leaves, and where `retain_grad` was called.

        It may be set, to None too, and written into: `p.grad *= 0.5`.

        Returns: a tensor of the same shape and dtype, or None.
        Raises: as it is set, ValueError for another shape, TypeError for a complex one of a real tensor, RuntimeError
            where no gradient is wanted.
        """
        found = getattr(self.node, "grad", None)
        if found is not None and type(found) is not Tensor:
            found = self._require_node("grad").grad = Tensor.of(found)
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
        value = value if isinstance(value, Tensor) else Tensor.constant(value, "grad")
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

    T = property(_transpose, doc="All axes in reverse order.")

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        return ops.mT(self)

    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, and all entries conjugated."""
        return ops.mH(self)

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

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Handle:
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

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Handle:
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

    def retain_grad(self) -> Tensor:
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

            def keep(gradient: Tensor) -> None:
                kept: Any = held()
                kept.grad = add_gradient(kept.grad, gradient)

            add_hook(node, "hooks", keep, runs_last=True)
        return self

    def _require_node(self, name: str) -> Node:
        if self.node is None:
            raise RuntimeError(f"{name}: this tensor does not require a gradient; make it with requires_grad=True")
        return self.node

    # Copies and values ------------------------------------

    def detach(self) -> Tensor:
        """The same values without the graph.

        The array is shared until one of the two tensors is written into, which then goes on with a copy: what is
        written into one does not show in the other. Nothing is copied before.

        Returns: a tensor that wants no gradient.
        Raises: nothing.
        Example:
            >>> x = mg.tensor([1.0, 2.0])
            >>> y = x.detach()
            >>> y[0] = 10.0
            >>> x.tolist(), y.tolist()
            ([1.0, 2.0], [10.0, 2.0])

        See: torch.Tensor.detach, where both are the same memory for ever.
        """
        out = Tensor.of(snapshot(self))
        if recording.open and self.node is not None:
            self._report_detach(out)
        return out

    def _report_detach(self, out: Tensor) -> None:
        """Notify the recorders of a result that leaves the graph."""
        notify(ops.stop_gradient.op, (self,), [out._data], {}, out)

    def clone(self) -> Tensor:
        """A copy that the graph knows: gradients pass through.

        Returns: a tensor.
        Raises: nothing.
        """
        if self.dtype.kind == "b":  # these have no sign, and no graph
            return Tensor.of(self._data.copy())
        return ops.positive(self)

    def to(self, device: str) -> Tensor:
        """The tensor on another device; gradients come back through it.

        Args:
            device: "cpu" or "cuda".
        Returns: a tensor; the same one where it is there already.
        Raises: ValueError for another name; RuntimeError for a device that is not there.
        """
        if devices.device(device).name == self.device:
            return self
        return ops.to_device(self, device=device, source=self.device)

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        """Set `requires_grad`, and return the tensor.

        Args:
            wanted: whether a gradient is wanted; default True.
        Returns: the tensor.
        Raises: RuntimeError for a result, TypeError for whole numbers.
        """
        self.requires_grad = wanted
        return self

    def assign(self, values: Any) -> Tensor:
        """Give this tensor new values: of the same shape, or broadcast to it, and cast to its dtype.

        Graphs that used the old values keep them, and references to the old array keep the old array.

        Args:
            values: numbers, nested lists, an array or a tensor.
        Returns: the tensor.
        Raises: RuntimeError for a result; ValueError for a shape that does not broadcast to the tensor's; TypeError for
            what is not made of numbers, or complex ones for a real tensor.
        Example:
            >>> w = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
            >>> w.assign(0.0).tolist(), w.is_leaf
            ([[0.0, 0.0], [0.0, 0.0]], True)

        See: torch.Tensor.copy_.
        """
        if self.origin is None:
            self._assign(values)
        else:
            write_into_view(self, self._assign, (values,), (...,))
        return self

    def _assign(self, values: Any) -> None:
        """Give this tensor object new values."""
        self._refuse_result("make a new tensor, or x.detach() first")
        if type(values) is Tensor and values.dtype == self.dtype and values.shape == self.shape:
            replace_array(self, snapshot(values))  # the two share it, until one is written into
            return
        data = numbers(values, None, "assign")
        if data is self._data:  # `x.data -= 1` has written already
            return
        if data.shape != self.shape:
            try:
                data = devices.device_of(data).library.broadcast_to(data, self.shape)
            except ValueError:
                raise ValueError(f"values of shape {data.shape} do not fit a tensor of shape {self.shape}") from None
        replace_array(self, cast(data, self.dtype, "assign"))

    def _refuse_result(self, instead: str) -> None:
        if not self.is_leaf:
            raise RuntimeError(f"a result cannot be assigned to: it is what its inputs make it; {instead}")

    def _in_place(self, symbol: str, operation: Callable[..., Any], other: Any) -> Tensor:
        """Apply `x -= y`, to the tensor behind a view as well."""
        if self.origin is None:
            return self._apply_in_place(symbol, operation, other)
        write_into_view(self, self._apply_in_place, (symbol, operation, other), symbol=symbol)
        return self

    def _apply_in_place(self, symbol: str, operation: Callable[..., Any], other: Any) -> Tensor:
        """Apply `x -= y`: in a graph, this tensor object becomes the result; without a graph it is a write. A leaf is
        never lost by accident."""
        if isinstance(self.node, Leaf) and (not grad_enabled.open or grad_enabled()):
            raise RuntimeError(
                f"x {symbol} ... would turn a leaf that requires a gradient into a result; to change its values "
                f"write `with mg.no_grad(): x {symbol} ...`, to compute with it write x = x {symbol[:-1]} ..."
            )
        out = operation(self, other)
        if out.node is not None:
            return self._become(self._check_fit(symbol, out))
        data, before = out._data, self._data
        if data.dtype is before.dtype and type(data) is _ndarray and data.shape == before.shape and self.is_leaf:
            replace_array(self, data)  # the operation has just made it, so there is no other reference
            return self
        if data.dtype != before.dtype and self.is_leaf:
            self._check_kind(symbol, out.dtype)
        self._assign(out)
        return self

    def _check_fit(self, symbol: str, result: Tensor) -> Tensor:
        """A result in this tensor's dtype; or an error, if it cannot be in its place."""
        if result.shape != self.shape:
            raise ValueError(
                f"x {symbol} ... would make shape {result.shape} of shape {self.shape}; write x = x {symbol[:-1]} ..."
            )
        if result.dtype == self.dtype:
            return result
        self._check_kind(symbol, result.dtype)
        return ops.astype(result, dtype=self.dtype)

    def _check_kind(self, symbol: str, dtype: Any) -> None:
        """Raise TypeError if numbers of a dtype would lose their fractions or imaginary parts in this tensor."""
        kinds = "bifc"
        if kinds.index(dtype.kind.replace("u", "i")) > kinds.index(self.dtype.kind.replace("u", "i")):
            wider = {"i": "int", "f": "float", "c": "complex"}[dtype.kind.replace("u", "i")]
            raise TypeError(
                f"x {symbol} ...: a tensor of {self.dtype} cannot become a result of {dtype}; make it with dtype="
                f"{wider}, or write x = x {symbol[:-1]} ..."
            )

    def _become(self, result: Tensor) -> Tensor:
        """Be a result from now on. Graphs that used this tensor as it was know its array and its node, not itself."""
        if recording.open:
            notify_change("become", self, self._data, result._data)
        self._data, self.node, self.is_fast, self.is_lent = result._data, result.node, result.is_fast, False
        return self

    def __iadd__(self, other: Any) -> Tensor:
        return self._in_place("+=", ops.add, other)

    def __isub__(self, other: Any) -> Tensor:
        return self._in_place("-=", ops.subtract, other)

    def __imul__(self, other: Any) -> Tensor:
        return self._in_place("*=", ops.multiply, other)

    def __itruediv__(self, other: Any) -> Tensor:
        return self._in_place("/=", _quotient, other)

    def __ipow__(self, other: Any) -> Tensor:
        return self._in_place("**=", ops.power, other)

    def __imod__(self, other: Any) -> Tensor:
        return self._in_place("%=", ops.remainder, other)

    def __ifloordiv__(self, other: Any) -> Tensor:
        return self._in_place("//=", ops.floor_divide, other)

    def __iand__(self, other: Any) -> Tensor:
        return self._in_place("&=", ops.bitwise_and, other)

    def __ior__(self, other: Any) -> Tensor:
        return self._in_place("|=", ops.bitwise_or, other)

    def __ixor__(self, other: Any) -> Tensor:
        return self._in_place("^=", ops.bitwise_xor, other)

    def __ilshift__(self, other: Any) -> Tensor:
        return self._in_place("<<=", ops.left_shift, other)

    def __irshift__(self, other: Any) -> Tensor:
        return self._in_place(">>=", ops.right_shift, other)

    def __setitem__(self, index: Any, values: Any) -> None:
        if type(values) is Tensor and values.origin is not None and is_written_already(self, index, values):
            return
        self._put(index, values)

    def _put(self, index: Any, values: Any) -> None:
        """Write values at an index, into the tensor behind a view as well."""
        if self.origin is None:
            self._put_entries(index, values)
        else:
            place = index if type(index) is tuple else (index,)
            write_into_view(self, self._put_entries, (index, values), place)

    def _put_entries(self, index: Any, values: Any) -> None:
        """Write values at an index of this tensor object."""
        if self.node is not None or getattr(values, "node", None) is not None:
            if not grad_enabled.open or grad_enabled():
                self._become(self._with_entries(index, values))
                return
            self._refuse_result("compute a changed copy with mg.where(...), or write into x.detach()")
        if isinstance(self._data, np.generic):
            self._data = np.asarray(self._data)
        try:
            if type(values) is Tensor and values._data.dtype == self._data.dtype:
                given = values._data
            else:
                given = cast(numbers(values, None, "values"), self.dtype, "values")
            array_to_write(self)[array_index(index)] = given
        except (IndexError, TypeError, ValueError) as error:
            said = f"x[{index!r}] = {values!r} does not fit a tensor of shape {self.shape}: {error}"
            raise type(error)(said) from error

    def _with_entries(self, index: Any, values: Any) -> Tensor:
        """What `x[index] = values` makes of this tensor in a graph."""
        if isinstance(self.node, Leaf):
            raise RuntimeError(
                "x[...] = ... on a tensor that wants a gradient: write `with mg.no_grad(): x[...] = ...` to change its "
                "values, or mg.where(...) to compute a changed copy"
            )
        if self.dtype.kind not in "fc":
            raise TypeError(
                f"x[...] = ...: a tensor of {self.dtype} cannot hold a value that requires a gradient; make it with "
                f"dtype=float"
            )
        place = array_index(index)
        given = values if isinstance(values, Tensor) else Tensor.constant(values, "values")
        if given.dtype != self.dtype:
            if given.dtype.kind == "c" and self.dtype.kind != "c":
                raise TypeError("x[...] = ...: real numbers cannot take in complex ones; write x = x.astype(complex)")
            given = ops.astype(given, dtype=self.dtype)
        if given.shape[:1] == (1,):  # as in an array, axes of length 1 in front are not counted
            extra = given.ndim - np.ndim(self._data[place])
            if extra > 0 and set(given.shape[:extra]) == {1}:
                given = ops.reshape(given, shape=given.shape[extra:])
        return ops.setitem(self, given, index=place)

    # Python's own -----------------------------------------

    def __dir__(self) -> list[str]:
        """Return the attributes of a tensor, without names that only raise a hint."""
        kinds = {name: inspect.getattr_static(self, name) for name in super().__dir__()}
        return sorted(name for name, kind in kinds.items() if not isinstance(kind, MissingName))

    def __repr__(self) -> str:
        body = np.array2string(self.numpy(), separator=", ", prefix="tensor(")
        said = [body] + ([] if self.dtype in (np.float64, np.int64, np.bool_) else [f"dtype={self.dtype}"])
        said += [f"device={self.device!r}"] if self.device != "cpu" else []
        if self.node is not None:
            made_by = getattr(self.node.op, "name", "an output")
            said.append("requires_grad=True" if self.is_leaf else f"made_by={made_by!r}")
        return f"tensor({', '.join(said)})"

    def __format__(self, spec: str) -> str:
        if spec and self.size != 1:
            raise ValueError(f"a format such as {spec!r} is for one number, this tensor has shape {self.shape}")
        return format(self._data.item(), spec) if spec else repr(self)

    def __bool__(self) -> bool:
        if self._data.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is not one answer; use mg.any(x), mg.all(x), or mg.where"
            )
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(self._python_number("float(x)"))

    def __int__(self) -> int:
        return int(self._python_number("int(x)"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"an index must be an integer, this tensor is {self.dtype}")
        return int(self._python_number("an index"))

    def __complex__(self) -> complex:
        return complex(self._python_number("complex(x)"))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of shape () is one number and has no length")
        return self.shape[0]

    def __contains__(self, value: Any) -> bool:
        return bool(ops.any(self == value))

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("a tensor of shape () is one number and cannot be iterated over")
        count = unpacked_count(sys._getframe(1))
        if count is not None and count != self.shape[0]:
            raise ValueError(
                f"{count} names cannot take a tensor of length {self.shape[0]}. PyTorch's max, min, sort and median "
                f"along an axis return values and indices, here they return values: write x.max(axis=1) and x.argmax(1)"
            )
        return iter(ops.unstack(self))

    def __getitem__(self, index: Any) -> Tensor:
        kind = type(index)
        if kind is tuple:
            for part in index:
                if type(part) is not int and type(part) is not slice:
                    break
            else:
                return _getitem(self, index=index)
        elif kind is int or kind is slice:
            return _getitem(self, index=index)
        out = _getitem(self, index=index.copy() if kind is _ndarray else array_index(index))
        if not is_basic(index):
            out.origin = None
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.node is not None:
            raise TypeError(
                "NumPy would lose the graph of this tensor; use the mg function, or x.numpy() for the values"
            )
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """`array * tensor` and np.exp(tensor) are the operations of the same name; `array -= tensor` writes into the
        array where no graph is lost by it."""
        operation = getattr(ops, ufunc.__name__, None) if method == "__call__" else None
        if operation is not None and not options:
            return operation(*(Tensor.of(each.copy()) if _is_numbers(each) else each for each in inputs))
        if operation is not None and len(options) == 1 and type(options.get("out", (None,))[0]) is _ndarray:
            tracked = [each for each in inputs if isinstance(each, Tensor) and each.node is not None]
            if not tracked or (grad_enabled.open and not grad_enabled()):
                return ufunc(*[snapshot(each) if isinstance(each, Tensor) else each for each in inputs], **options)
        raise TypeError(
            f"np.{ufunc.__name__} would lose the graph of a tensor: use an mg function, without NumPy's options "
            f"and not in place (array += tensor), or x.numpy() for the values"
        )

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """np.sum(tensor): NumPy's own, of the values alone."""
        tracked = any(getattr(leaf, "node", None) is not None for leaf in leaves((args, options)))
        if tracked and function not in _ABOUT_FORM:
            name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
            raise TypeError(
                f"{name} would lose the graph of a tensor: use the mg function of that name, or x.numpy() for the "
                f"values"
            )
        args, options = map_leaves((args, options), lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf)
        return function(*args, **options)

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "a result cannot be copied apart from its graph; x.detach() copies its values, x.clone() joins it"
            )
        out = Tensor.of(self._data.copy())
        out.requires_grad = self.requires_grad
        if self.grad is not None:
            out.grad = self.grad.detach()
        memo[id(self)] = out
        return out

    def __reduce__(self) -> Any:
        if not self.is_leaf:
            raise RuntimeError("a result cannot be stored apart from its graph; store x.detach()")
        return tensor, (self.numpy(), self.requires_grad, None, self.device)

    __hash__ = object.__hash__

    # Operators --------------------------------------------

    __neg__ = ops.negative
    __pos__ = ops.positive
    __abs__ = ops.absolute
    __add__ = __radd__ = ops.add
    __sub__ = ops.subtract
    __mul__ = __rmul__ = ops.multiply
    __truediv__ = _quotient
    __pow__ = ops.power
    __matmul__ = ops.matmul
    __mod__ = ops.remainder
    __floordiv__ = ops.floor_divide
    __lt__ = ops.less
    __le__ = ops.less_equal
    __gt__ = ops.greater
    __ge__ = ops.greater_equal
    __and__ = __rand__ = ops.bitwise_and
    __or__ = __ror__ = ops.bitwise_or
    __xor__ = __rxor__ = ops.bitwise_xor
    __invert__ = ops.invert
    __lshift__ = ops.left_shift
    __rshift__ = ops.right_shift

    def __eq__(self, other: Any) -> Any:  # entry by entry, but for None, which no number is
        return ops.equal(self, other) if other is not None else False

    def __ne__(self, other: Any) -> Any:
        return ops.not_equal(self, other) if other is not None else True

    def __rsub__(self, other: Any) -> Tensor:
        return ops.subtract(other, self)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _quotient(other, self)

    def __rpow__(self, other: Any) -> Tensor:
        return ops.power(other, self)

    def __rmatmul__(self, other: Any) -> Tensor:
        return ops.matmul(other, self)

    def __rmod__(self, other: Any) -> Tensor:
        return ops.remainder(other, self)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return ops.floor_divide(other, self)

    def __rlshift__(self, other: Any) -> Tensor:
        return ops.left_shift(other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return ops.right_shift(other, self)

    # Methods: the operations whose first input is the tensor --------

    sum = ops.sum
    mean = ops.mean
    prod = ops.prod
    max = ops.max
    min = ops.min
    var = ops.var
    std = ops.std
    any = ops.any
    all = ops.all
    argmax = ops.argmax
    argmin = ops.argmin
    cumsum = ops.cumsum
    abs = ops.absolute
    exp = ops.exp
    log = ops.log
    sqrt = ops.sqrt
    sin = ops.sin
    cos = ops.cos
    tanh = ops.tanh
    relu = ops.relu
    sigmoid = ops.sigmoid
    clip = ops.clip
    square = ops.square
    conj = ops.conj
    round = ops.round
    dot = ops.dot
    matmul = ops.matmul
    ravel = ops.ravel
    squeeze = ops.squeeze
    swapaxes = ops.swapaxes
    take = ops.take
    unstack = ops.unstack

    flatten = ops.flatten

    def repeat(self, repeats: Any, *more: Any, axis: int | None = None) -> Tensor:
        """Each entry several times, along an axis, or all in one row.

        Args:
            repeats: how often, a whole number or one for each place along the axis.
            *more: none; PyTorch's `x.repeat(2, 1)` is `mg.tile(x, (2, 1))`.
            axis: the axis, by its name; None (default) for all entries in one row.
        Returns: a tensor.
        Raises: TypeError where a second number is given without a name; ValueError for a negative number.
        """
        if more:
            both = (repeats, *more)
            raise TypeError(
                f"x.repeat{both}: for each entry {repeats} times along an axis write "
                f"x.repeat({repeats}, axis={more[0]}), for all of x several times mg.tile(x, {both})"
            )
        return ops.repeat(self, repeats, axis=axis)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return ops.real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return ops.imag(self)

    def astype(self, dtype: Any) -> Tensor:
        """The values in another dtype; the gradient is cast back.

        Args:
            dtype: NumPy's name or type.
        Returns: a tensor. Through whole numbers and truths nothing goes back.
        Raises: TypeError for what names no dtype of numbers.
        """
        return ops.astype(self, dtype=as_dtype(dtype, "astype"))

    def reshape(self, *shape: Any) -> Tensor:
        """The same entries in another shape.

        Args:
            *shape: a length for each axis, or one tuple of them; one may be -1, and is computed from the others.
        Returns: a tensor.
        Raises: ValueError for a shape of another number of entries.
        """
        return ops.reshape(self, shape=one_tuple(shape))

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order.

        Args:
            *axes: the axes in their new order, as one tuple, or each by itself where they are not two; with none given,
                in reverse. Two bare numbers are axes to exchange, as in PyTorch, unless x is a matrix.
        Returns: a tensor.
        Raises: TypeError for `x.transpose(0, 1)` of a matrix, which NumPy takes for an order and PyTorch for the axes
            to exchange (write `x.swapaxes(0, 1)` for that); IndexError for an axis that there is not; ValueError for
            one named twice, or not all.
        """
        if len(axes) == 2 and all(hasattr(axis, "__index__") for axis in axes):
            if self._data.ndim != 2:  # no order of all axes
                return ops.swapaxes(self, *axes)
            if axes[0] % 2 == 0:
                raise TypeError(
                    f"x.transpose{axes} could mean two things: to exchange these axes write x.swapaxes{axes}, for an "
                    f"order of all axes x.transpose({axes})"
                )
        return _transpose(self, axes=one_tuple(axes) or None)


new_tensor: Callable[[], Tensor] = type.__call__.__get__(Tensor)
"""Return a tensor without any attributes: 0.07 µs, `object.__new__(Tensor)` 0.10."""
Variable.public = Tensor
_foreign = {*FOREIGN_NAMES["tensor"], *ops.__all__}
for _name in (_foreign | {f"{name}_" for name in _foreign if not name.endswith("_")}) - {*dir(Tensor)}:
    setattr(Tensor, _name, MissingName(_name))


def upstream_of(tensor: Tensor, gradient: Any, create_graph: bool) -> Any:
    """Return the gradient that a walk starts with: a copy of `gradient`, or 1. Recorders are notified of a
    walk that cannot begin."""
    try:
        return _upstream_of(tensor, gradient, create_graph)
    except (RuntimeError, TypeError, ValueError):
        notify_walk_rejection(tensor)
        raise


def _upstream_of(tensor: Tensor, gradient: Any, create_graph: bool) -> Any:
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


def _upstream_like(tensor: Tensor, gradient: Any, create_graph: bool) -> Any:
    """Return a given upstream gradient in the dtype and on the device of its tensor."""
    if create_graph and isinstance(gradient, Tensor):
        return gradient if gradient.dtype == tensor.dtype else gradient.astype(tensor.dtype)
    given = numbers(gradient, None, "backward: gradient")
    refuse_other_device(tensor, given)
    if given.dtype.kind == "c" and tensor.dtype.kind != "c":
        raise TypeError(f"the upstream gradient is {given.dtype}, the tensor {tensor.dtype}; take its real part")
    return devices.device_of(tensor._data).library.array(given, tensor.dtype)


def accumulate(found: dict[Any, Any], create_graph: bool = False) -> None:
    """Add the gradients of a walk to the leaves' `.grad`, as arrays until `.grad` is read."""
    grown: list[Any] | None = [] if recording.open else None
    with _growing:
        for leaf, received in found.items():
            if received.dtype is not leaf.shape_dtype[1]:
                received = in_dtype(received, leaf)
            before = leaf.grad
            if type(before) is Tensor and before.node is None:
                before = snapshot(before)
            on_tensors = create_graph or type(before) is Tensor
            if grown and on_tensors:
                notify_change("accumulate", grown, None, None)  # the sum is recorded, and finds these leaves done
                grown = []
            after = received if before is None else add_gradient(before, received)
            leaf.grad = Tensor.of(after._data, after.node) if create_graph else after  # for each leaf its own tensor
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


def _is_numbers(value: Any) -> bool:
    """True for an array of NumPy's that an operation can take."""
    return type(value) is _ndarray and value.dtype.kind in "fiubc"


def depends_on(root: Node, others: Collection[Node]) -> bool:
    """Whether a value was computed from one of some others."""
    since = min((node.created for node in others), default=root.created + 1)
    return root in others or any(p in others for node in topological_order([root], since=since) for p in node.parents)


def forget_gradient(leaf: Tensor, set_to_none: bool) -> None:
    """Return a leaf without a gradient, or with zeros instead of it."""
    leaf.grad = None if set_to_none or leaf.grad is None else Tensor.of(devices.zeros_like(leaf._data))
