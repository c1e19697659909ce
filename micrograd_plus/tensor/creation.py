"""Creation of tensors under NumPy's names: `mg.zeros((2, 3))`, `mg.arange(5)`, `mg.array(x)`.

A shape is one tuple, as NumPy takes it, or its lengths one after the other, as PyTorch does. Each makes a leaf, whose
gradient is computed if `requires_grad` is True; where a tensor with a graph is given (`mg.full(3, x)`), it goes on
through the constructor.
"""

from __future__ import annotations

from operator import index
from typing import Any

from .. import ops
from ..backends import devices
from ..backends.shapes import is_sequence, ndim
from ..core.messages import prefixes_errors
from .tensor import Tensor, tensor

__all__ = [
    "arange", "array", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "identity",
    "linspace", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip

np = devices.device("cpu").library


def __dir__() -> list[str]:
    return sorted(__all__)


# From a shape ---------------


@prefixes_errors
def zeros(*shape: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Return a tensor of zeros.

    Args:
        *shape: its shape, a tuple or one length after the other; a NumPy dtype may come last.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of that shape, a leaf.
    Raises: TypeError for a length that is not an integer, or if integers are to have a gradient; ValueError
        for a negative one, or if there is no such device.
    Example:
        >>> mg.zeros(2, 3).tolist() == mg.zeros((2, 3)).tolist() == [[0.0, 0.0, 0.0]] * 2
        True

    See: numpy.zeros, torch.zeros.
    """
    lengths, dtype = _shape_and_dtype(shape, dtype)
    return _fill(lengths, 0, dtype or float, device, requires_grad)


@prefixes_errors
def ones(*shape: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Return a tensor of ones.

    Args:
        *shape: its shape, a tuple or one length after the other; a NumPy dtype may come last.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of that shape, a leaf.
    Raises: TypeError for a length that is not an integer, or if integers are to have a gradient; ValueError
        for a negative one, or if there is no such device.
    Example:
        >>> mg.ones(3, dtype="float32")
        tensor([1., 1., 1.], dtype=float32)

    See: numpy.ones, torch.ones.
    """
    lengths, dtype = _shape_and_dtype(shape, dtype)
    return _fill(lengths, 1, dtype or float, device, requires_grad)


@prefixes_errors
def empty(*shape: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Return a tensor to be filled; its entries are 0.

    NumPy and PyTorch leave in it whatever the memory held. Here the same program gives the same numbers every time.

    Args:
        *shape: its shape, a tuple or one length after the other; a NumPy dtype may come last.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of that shape, a leaf.
    Raises: TypeError for a length that is not an integer, or if integers are to have a gradient; ValueError
        for a negative one, or if there is no such device.
    Example:
        >>> mg.empty(2, 3).shape
        (2, 3)

    See: numpy.empty, torch.empty.
    """
    lengths, dtype = _shape_and_dtype(shape, dtype)
    return _fill(lengths, 0, dtype or float, device, requires_grad)


@prefixes_errors
def full(shape: Any, fill_value: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Return a tensor filled with one value.

    A tensor with a graph as `fill_value` keeps it: its gradient is then the sum of what all entries receive.

    Args:
        shape: its shape, a length or a tuple of them.
        fill_value: the value, or several that broadcast to the shape.
        dtype: its dtype; None (default) for the dtype of the value.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of that shape.
    Raises: TypeError for a length that is not an integer, or if integers are to have a gradient; ValueError
        for a negative one, for values that do not broadcast, or if there is no such device.
    Example:
        >>> mg.full((2, 2), 7.0).tolist()
        [[7.0, 7.0], [7.0, 7.0]]

    See: numpy.full, torch.full.
    """
    return _fill(_lengths((shape,)), fill_value, dtype, device, requires_grad)


@prefixes_errors
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: how many rows it has.
        M: how many columns; None (default) for the number of rows.
        k: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of shape (N, M), a leaf.
    Raises: TypeError for a length that is not an integer; ValueError for a negative one, or if there is no such
        device.
    Example:
        >>> mg.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    See: numpy.eye, torch.eye.
    """
    columns = None if M is None else index(M)
    return _leaf(np.eye(index(N), columns, index(k)), dtype, device, requires_grad)


@prefixes_errors
def identity(n: int, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Return the identity matrix.

    Args:
        n: how many rows and columns it has.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of shape (n, n), a leaf.
    Raises: TypeError if n is not an integer; ValueError if it is negative, or there is no such device.
    Example:
        >>> mg.identity(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    See: numpy.identity.
    """
    return _leaf(np.identity(index(n)), dtype, device, requires_grad)


# Like another ---------------


@prefixes_errors
def zeros_like(x: Any, dtype: Any = None, device: str | None = None, requires_grad: bool = False) -> Tensor:
    """Return zeros with the shape of another array.

    Args:
        x: tensor, array or list that gives the shape.
        dtype: its dtype; None (default) for the dtype of x.
        device: its device; None (default) for the device of x.
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of the shape of x, a leaf without x's graph.
    Raises: TypeError if x is not made of numbers; ValueError if there is no such device.
    Example:
        >>> mg.zeros_like(mg.tensor([[1.0, 2.0]])).tolist()
        [[0.0, 0.0]]

    See: numpy.zeros_like, torch.zeros_like.
    """
    return _fill_like(x, 0, dtype, device, requires_grad)


@prefixes_errors
def ones_like(x: Any, dtype: Any = None, device: str | None = None, requires_grad: bool = False) -> Tensor:
    """Return ones with the shape of another array.

    Args:
        x: tensor, array or list that gives the shape.
        dtype: its dtype; None (default) for the dtype of x.
        device: its device; None (default) for the device of x.
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of the shape of x, a leaf without x's graph.
    Raises: TypeError if x is not made of numbers; ValueError if there is no such device.
    Example:
        >>> mg.ones_like(mg.tensor([[1.0, 2.0]])).tolist()
        [[1.0, 1.0]]

    See: numpy.ones_like, torch.ones_like.
    """
    return _fill_like(x, 1, dtype, device, requires_grad)


@prefixes_errors
def empty_like(x: Any, dtype: Any = None, device: str | None = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor to be filled, with the shape of another array; its entries are 0.

    Args:
        x: tensor, array or list that gives the shape.
        dtype: its dtype; None (default) for the dtype of x.
        device: its device; None (default) for the device of x.
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of the shape of x, a leaf without x's graph.
    Raises: TypeError if x is not made of numbers; ValueError if there is no such device.
    Example:
        >>> mg.empty_like(mg.tensor([[1.0, 2.0]])).shape
        (1, 2)

    See: numpy.empty_like, torch.empty_like.
    """
    return _fill_like(x, 0, dtype, device, requires_grad)


@prefixes_errors
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor filled with one value, with the shape of another array.

    Args:
        x: tensor, array or list that gives the shape.
        fill_value: the value, or several that broadcast to the shape; a graph that it has goes on.
        dtype: its dtype; None (default) for the dtype of x.
        device: its device; None (default) for the device of x.
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of the shape of x, without x's graph.
    Raises: TypeError if x is not made of numbers; ValueError for values that do not broadcast, or if there is no
        such device.
    Example:
        >>> mg.full_like(mg.tensor([[1.0, 2.0]]), 7).tolist()
        [[7.0, 7.0]]

    See: numpy.full_like, torch.full_like.
    """
    return _fill_like(x, fill_value, dtype, device, requires_grad)


# Rows of numbers ------------


@prefixes_errors
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return evenly spaced numbers from start (included) to stop (excluded).

    Args:
        start: the first of them; alone, it is where they end, and they begin at 0.
        stop: where they end.
        step: how far each is from the one before; default 1.
        dtype: its dtype; None (default) for int64, or float64 where one of the three is a float.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of one axis, a leaf.
    Raises: TypeError for bounds that are no numbers, or if integers are to have a gradient; ValueError for a
        step of 0, or if there is no such device.
    Example:
        >>> mg.arange(5), mg.arange(1.0, 2.0, 0.25)
        (tensor([0, 1, 2, 3, 4]), tensor([1.  , 1.25, 1.5 , 1.75]))

    See: numpy.arange, torch.arange.
    """
    begin, end = (0, start) if stop is None else (start, stop)
    begin, end, step = (_plain(each) for each in (begin, end, step))
    if not step:
        raise ValueError("the step is not 0")
    return _leaf(np.arange(begin, end, step), dtype, device, requires_grad)


@prefixes_errors
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Return evenly spaced numbers between two.

    If start or stop has a graph, each number depends on both, by its distance from them.

    Args:
        start: the first number.
        stop: the last one.
        num: how many there are; default 50.
        endpoint: whether `stop` is the last of them (default), or the one that would follow.
        dtype: its dtype; None (default) for float64.
        device: its device; default "cpu".
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor of shape (num), with the axes of start and stop behind it.
    Raises: TypeError if num is not an integer; ValueError if it is negative, or there is no such device.
    Example:
        >>> mg.linspace(0.0, 1.0, 5)
        tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])

    See: numpy.linspace, torch.linspace.
    """
    if not (_has_graph(start) or _has_graph(stop)):
        return _leaf(np.linspace(_plain(start), _plain(stop), index(num), endpoint), dtype, device, requires_grad)
    shares = np.linspace(0.0, 1.0, index(num), endpoint)
    shares = shares.reshape((-1,) + (1,) * max(ndim(start), ndim(stop)))
    between = ops.lerp(start, stop, tensor(shares, device=device))
    return between if dtype is None else between.astype(dtype)


# From values ----------------


@prefixes_errors
def array(values: Any, dtype: Any = None, device: str | None = None, requires_grad: bool = False) -> Tensor:
    """Create a tensor from numbers, nested lists, arrays, or lists of tensors.

    What tensors in it depend on goes on: a list of them is stacked, so that each receives its part of the gradient.

    Args:
        values: what it holds: a copy is made.
        dtype: its dtype; None (default) for the dtype of the values.
        device: its device; None (default) for where the values are.
        requires_grad: whether to compute its gradient; default False.
    Returns: a tensor; a leaf where no tensor with a graph was given.
    Raises: TypeError for values that are not numbers; ValueError for rows of unequal length, or if there is no such
        device.
    Example:
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> row = mg.array([x, x * x, 1.0])
        >>> row.sum().backward()
        >>> row.tolist(), x.grad.item()
        ([3.0, 9.0, 1.0], 7.0)

    See: numpy.array, torch.tensor, torch.stack.
    """
    if holds_tensors(values):
        out = ops.stack([array(part) for part in values])
    elif isinstance(values, Tensor):
        out = ops.positive(values) if _has_graph(values) else tensor(values, device=values.device)
    else:
        return _leaf(values, dtype, device or "cpu", requires_grad)
    return _with_dtype(out, dtype, device, requires_grad)


@prefixes_errors
def asarray(values: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """Convert to a tensor; a tensor is returned unchanged.

    Args:
        values: a tensor, or what `mg.array` takes.
        dtype: its dtype; None (default) for the dtype of the values.
        device: its device; None (default) for where the values are.
    Returns: `values` itself where it is a tensor of that dtype on that device, else a tensor of its entries.
    Raises: TypeError for values that are not numbers; ValueError for rows of unequal length, or if there is no such
        device.
    Example:
        >>> x = mg.tensor([1.0, 2.0])
        >>> mg.asarray(x) is x, mg.asarray([1, 2])
        (True, tensor([1, 2]))

    See: numpy.asarray, torch.as_tensor.
    """
    return _with_dtype(values, dtype, device) if isinstance(values, Tensor) else array(values, dtype, device)


@prefixes_errors
def from_numpy(values: Any) -> Tensor:
    """Create a tensor from a copy of a NumPy array.

    PyTorch's shares the array's memory; here later writes into the array do not reach the tensor, nor its graph.

    Args:
        values: a NumPy array.
    Returns: a tensor of its shape and dtype, a leaf.
    Raises: TypeError if it is no array, or none of numbers.
    Example:
        >>> mg.from_numpy(np.array([1.0, 2.0]))
        tensor([1., 2.])

    See: torch.from_numpy.
    """
    if not isinstance(values, np.ndarray):
        raise TypeError(f"expected a NumPy array, got {type(values).__name__}; mg.tensor takes lists and numbers")
    return tensor(values)


def holds_tensors(values: Any) -> bool:
    """Return whether a list or a tuple contains a tensor."""
    return is_sequence(values) and any(isinstance(part, Tensor) or holds_tensors(part) for part in values)


# Parts ----------------------


def _lengths(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape given as one tuple, list or tensor's shape, or as its lengths."""
    shape = given[0] if len(given) == 1 and hasattr(given[0], "__iter__") else given
    lengths = tuple(index(length) for length in shape)
    if min(lengths, default=0) < 0:
        raise ValueError(f"a length must be at least 0, got the shape {lengths}")
    return lengths


def _shape_and_dtype(given: tuple[Any, ...], dtype: Any) -> tuple[tuple[int, ...], Any]:
    """Split positional arguments into a shape and a dtype, as in NumPy's `zeros(3, int)`."""
    if len(given) > 1 and isinstance(given[-1], (str, type, np.dtype)):
        if dtype is not None:
            raise TypeError(f"the dtype was given twice, as {given[-1]!r} and {dtype!r}")
        given, dtype = given[:-1], given[-1]
    return _lengths(given), dtype


def _plain(value: Any) -> Any:
    """Return a bound as NumPy takes it."""
    return value.numpy() if isinstance(value, Tensor) else value


def _has_graph(value: Any) -> bool:
    return isinstance(value, Tensor) and value.node is not None


def _leaf(values: Any, dtype: Any, device: str, requires_grad: bool) -> Tensor:
    return tensor(values, requires_grad=requires_grad, dtype=dtype, device=device)


def _fill(shape: tuple[int, ...], value: Any, dtype: Any, device: str, requires_grad: bool) -> Tensor:
    """Return a tensor filled with one value; a value with a graph is broadcast by an operation."""
    if _has_graph(value) or holds_tensors(value):
        return _with_dtype(ops.positive(ops.broadcast_to(array(value), shape)), dtype, device)
    return _leaf(np.broadcast_to(tensor(value).numpy(), shape), dtype, device, requires_grad)


def _fill_like(x: Any, value: Any, dtype: Any, device: str | None, requires_grad: bool) -> Tensor:
    like = x if isinstance(x, Tensor) else array(x)
    return _fill(like.shape, value, dtype or like.dtype, device or like.device, requires_grad)


def _with_dtype(x: Tensor, dtype: Any, device: str | None, requires_grad: bool = False) -> Tensor:
    """Return a tensor with a given dtype and device."""
    x = x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)
    x = x if device is None else x.to(device)
    return x.requires_grad_() if requires_grad and x.node is None else x
