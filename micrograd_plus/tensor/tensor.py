"""Tensor: what users hold.

`reading`, `gradients`, `writing`, `operators` and `pytorch_methods` have most of its methods, by subject.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .. import ops
from ..backends import devices
from ..core.messages import MissingName, unpacked_count
from ..core.messages.foreign_names import FOREIGN_NAMES
from ..core.modes import recording
from ..core.runtime.ownership import is_real_on_cpu, lend_to_user, snapshot
from ..core.runtime.recorders import notify
from ..core.variable import Leaf, Node, Variable
from .operators import OperatorMethods
from .pytorch_methods import one_tuple
from .result_array import ResultArray
from .values import array_index, as_dtype, numbers
from .views import check_replacement, is_basic, lend_view
from .writing import WritingMethods

np = devices.device("cpu").library
_ndarray = np.ndarray
_getitem = ops.getitem
_transpose = ops.transpose.op.call


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


class Tensor(WritingMethods, OperatorMethods, metaclass=TensorType):
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

    # The array --------------------------------------------

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

    # Entries ----------------------------------------------

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

    # Other forms ------------------------------------------

    T = property(_transpose, doc="All axes in reverse order.")

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        return ops.mT(self)

    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, and all entries conjugated."""
        return ops.mH(self)

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

    # Copies -----------------------------------------------

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

    # Names ------------------------------------------------

    def __dir__(self) -> list[str]:
        """Return the attributes of a tensor, without names that only raise a hint."""
        kinds = {name: inspect.getattr_static(self, name) for name in super().__dir__()}
        return sorted(name for name, kind in kinds.items() if not isinstance(kind, MissingName))


new_tensor: Callable[[], Tensor] = type.__call__.__get__(Tensor)
"""Return a tensor without any attributes: 0.07 µs, `object.__new__(Tensor)` 0.10."""
Variable.public = Tensor
_foreign = {*FOREIGN_NAMES["tensor"], *ops.__all__}
for _name in (_foreign | {f"{name}_" for name in _foreign if not name.endswith("_")}) - {*dir(Tensor)}:
    setattr(Tensor, _name, MissingName(_name))
