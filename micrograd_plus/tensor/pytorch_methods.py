"""Methods of tensors under PyTorch's names.

NumPy's arrays have no methods of these names, except `view`, and what they do is what PyTorch's do. A name with another
meaning in NumPy (`sort`, `repeat`) is not here, and neither is one whose result is a pair in PyTorch (`max(dim)`).
"""

from __future__ import annotations

from typing import Any

from .. import ops
from ..backends import devices
from ..backends.shapes import shape
from ..core.variable import Variable

np = devices.device("cpu").library


def one_tuple(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """`f(2, 3)` and `f((2, 3))` mean the same."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


class PyTorchMethods(Variable):
    """What a tensor answers to beside NumPy's names."""

    __slots__ = ()

    # Operations under the names of PyTorch's methods --------

    add, sub, mul, div, pow, neg = ops.add, ops.subtract, ops.multiply, ops.divide, ops.power, ops.negative
    eq, ne, lt, le, gt, ge = ops.equal, ops.not_equal, ops.less, ops.less_equal, ops.greater, ops.greater_equal
    mm = bmm = mv = ops.matmul
    clamp = ops.clip
    unsqueeze = ops.expand_dims
    softmax, log_softmax, logsumexp, cumprod = ops.softmax, ops.log_softmax, ops.logsumexp, ops.cumprod
    log2, log10, log1p, expm1, sign = ops.log2, ops.log10, ops.log1p, ops.expm1, ops.sign
    floor, ceil, reciprocal, rsqrt, erf = ops.floor, ops.ceil, ops.reciprocal, ops.rsqrt, ops.erf
    isnan, isinf, isfinite = ops.isnan, ops.isinf, ops.isfinite
    amax, amin, tril, triu, outer = ops.amax, ops.amin, ops.tril, ops.triu, ops.outer
    maximum, minimum, allclose = ops.maximum, ops.minimum, ops.allclose

    # Shape --------------------------------------------------

    def dim(self) -> int:
        """The number of axes, as `ndim`."""
        return self._data.ndim

    def numel(self) -> int:
        """The number of entries, as `size`."""
        return self._data.size

    nelement = numel

    def view(self, *lengths: Any) -> Any:
        """The same entries in another shape, as `reshape`; the result shares no memory.

        Args:
            *lengths: a length for each axis, or one tuple of them; one may be -1, and is computed from the others.
        Returns: a tensor.
        Raises: ValueError for a shape of another number of entries; TypeError for a dtype (`x.astype(dtype)`).
        """
        wanted = one_tuple(lengths)
        if not all(hasattr(length, "__index__") for length in wanted):
            raise TypeError(f"x.view takes a shape, got {lengths[0]!r}; for another dtype write x.astype(dtype)")
        return ops.reshape(self, shape=wanted)

    def view_as(self, other: Any) -> Any:
        """The same entries in the shape of another tensor."""
        return ops.reshape(self, shape=other.shape)

    def permute(self, *axes: Any, dims: Any = ()) -> Any:
        """All axes in another order.

        Args:
            *axes: the axes in their new order, as one tuple or each by itself.
            dims: the same under PyTorch's name.
        Returns: a tensor.
        Raises: ValueError unless each axis is named once.
        """
        return ops.transpose(self, axes=one_tuple(axes or (dims,)))

    def t(self) -> Any:
        """A matrix with rows and columns exchanged; a vector stays as it is."""
        if self._data.ndim > 2:
            raise ValueError(f"x.t() needs at most two axes, this tensor has shape {self._data.shape}; write x.mT")
        return ops.transpose(self)

    def expand(self, *lengths: Any) -> Any:
        """Repeat axes of length 1, as broadcasting does.

        Args:
            *lengths: the new length of each axis; -1 keeps an axis as it is.
        Returns: a tensor.
        Raises: ValueError for a shape that x does not broadcast to.
        """
        old, wanted = self._data.shape, one_tuple(lengths)
        extra = len(wanted) - len(old)
        whole = (old[i - extra] if n == -1 and i >= extra else n for i, n in enumerate(wanted))
        return ops.broadcast_to(self, shape=tuple(whole))

    def expand_as(self, other: Any) -> Any:
        """Repeat axes of length 1 up to the shape of another tensor."""
        return ops.broadcast_to(self, shape=other.shape)

    def flip(self, *axes: Any, dims: Any = ()) -> Any:
        """Reverse the order of the entries along some axes; with none given, along all.

        Args:
            *axes: the axes, as one tuple or each by itself.
            dims: the same under PyTorch's name.
        Returns: a tensor.
        Raises: IndexError for an axis that is out of range.
        """
        return ops.flip(self, axis=one_tuple(axes or (dims,)) or None)

    def contiguous(self) -> Any:
        """The same entries, in memory in row-major order."""
        return ops.ascontiguousarray(self)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """Cut an axis into pieces of one length; the last may be shorter, and there may be fewer than `chunks`.

        Args:
            chunks: the largest number of pieces.
            dim: the axis; default 0.
        Returns: a tuple of tensors.
        Raises: ValueError if `chunks` is less than 1; IndexError if the axis is out of range.
        """
        if chunks < 1:
            raise ValueError(f"x.chunk: chunks must be a whole number of at least 1, got {chunks}")
        length = self._data.shape[dim]
        step = max(-(-length // chunks), 1)
        return ops.split(self, list(range(step, length, step)), axis=dim)

    # Entries ------------------------------------------------

    def masked_fill(self, mask: Any, value: Any) -> Any:
        """A copy with one value where the mask is true."""
        return ops.where(mask, value, self)

    def gather(self, dim: int, index: Any) -> Any:
        """Take an entry along an axis for each entry of `index`.

        Args:
            dim: the axis.
            index: whole numbers, with as many axes as x, and no longer than x along the others.
        Returns: a tensor of the shape of index.
        Raises: IndexError for an index or axis out of range; ValueError for an index with another number of axes.
        """
        lengths = shape(index)
        if len(lengths) != self._data.ndim:
            raise ValueError(f"x.gather: index has shape {lengths}, x {self._data.shape}: as many axes are needed")
        axis = range(len(lengths))[dim]
        part = tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(lengths))
        return ops.take_along_axis(ops.getitem(self, index=part), index, axis=axis)

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        """The k largest entries along an axis, and where they are.

        Args:
            k: how many.
            dim: the axis; default the last.
            largest: whether the largest are wanted; with False, the smallest.
            sorted: accepted as in PyTorch; the entries are always in order.
        Returns: a pair of tensors: values and indices.
        Raises: ValueError if k is larger than the axis; IndexError if the axis is out of range.
        """
        if largest:
            return ops.topk(self, k=k, axis=dim)
        values, indices = ops.topk(ops.negative(self), k=k, axis=dim)
        return ops.negative(values), indices

    # Kinds of numbers ---------------------------------------

    def float(self) -> Any:
        """The values in float32."""
        return self._in_dtype("float32")

    def double(self) -> Any:
        """The values in float64."""
        return self._in_dtype("float64")

    def half(self) -> Any:
        """The values in float16."""
        return self._in_dtype("float16")

    def long(self) -> Any:
        """The values in int64; the graph ends."""
        return self._in_dtype("int64")

    def int(self) -> Any:
        """The values in int32; the graph ends."""
        return self._in_dtype("int32")

    def bool(self) -> Any:
        """Whether each entry is other than 0."""
        return self._in_dtype("bool")

    def cpu(self) -> Any:
        """The tensor in the computer's memory, as `x.to("cpu")`."""
        return self.to("cpu")  # type: ignore[attr-defined] - a tensor has it

    def type_as(self, other: Any) -> Any:
        """The values in the dtype of another tensor."""
        return self._in_dtype(other.dtype)

    def _in_dtype(self, dtype: Any) -> Any:
        """The values in a dtype; the tensor itself if it has it, so that a write into the result reaches it."""
        dtype = np.dtype(dtype)
        return self if self._data.dtype == dtype else ops.astype(self, dtype=dtype)

    # Writing: as `x[...] = values` and `x += y` do ----------

    def zero_(self) -> Any:
        """Write zeros, as `x[...] = 0` does, and return the tensor."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Any:
        """Write one value, as `x[...] = value` does, and return the tensor."""
        self[...] = value  # type: ignore[index] - a tensor has it
        return self

    def copy_(self, other: Any) -> Any:
        """Write other values, as `x[...] = other` does, and return the tensor."""
        return self.fill_(other)

    def clamp_(self, min: Any = None, max: Any = None) -> Any:
        """Write the nearest values between two bounds, and return the tensor."""
        return self.fill_(ops.clip(self, min, max))

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """`x += alpha * other`."""
        self += other if alpha == 1 else alpha * other
        return self

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """`x -= alpha * other`."""
        self -= other if alpha == 1 else alpha * other
        return self

    def mul_(self, other: Any) -> Any:
        """`x *= other`."""
        self *= other
        return self

    def div_(self, other: Any) -> Any:
        """`x /= other`."""
        self /= other
        return self
