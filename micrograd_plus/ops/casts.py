"""Conversions to another dtype, removal of the graph, and new arrays on the device of another one."""

from ..backends import devices
from ..core.define import linear, namespace_function, nondifferentiable, wraps_op
from ..core.messages import prefixes_errors
from .complexes import real


@linear(x=lambda upstream: upstream)
def _astype(xp, x, *, dtype):
    """Convert to another dtype; the gradient is converted back."""
    return xp.astype(x, dtype)


@wraps_op(_astype, namespace=True)
@prefixes_errors
def astype(x, dtype):
    """Convert to another dtype.

    The gradient is converted back; no gradient passes through integers and booleans. Converting floats to integers
    truncates them; converting complex numbers to real ones drops the imaginary part, with NumPy's warning.
    Args:
        dtype: float, complex, int, bool, or a NumPy dtype or its name, such as "float32".
    Returns: a tensor of that dtype.
    Raises: TypeError if x or dtype is not numeric.
    >>> mg.astype([1.7, -1.7], int).tolist()
    [1, -1]
    See: numpy.ndarray.astype; torch.Tensor.to."""
    wanted, given = devices.device("cpu").library.dtype(dtype), getattr(x, "dtype", None)
    if wanted.kind not in "biufc":
        raise TypeError(f"{wanted} is no dtype of numbers; write float, complex, int, bool, or e.g. 'float32'")
    ends = wanted.kind not in "fc" and given is not None and given.kind in "fc"
    return _astype(stop_gradient(x) if ends else x, dtype=wanted)


@namespace_function
@prefixes_errors
def cast(x, dtype):
    """Convert to another dtype; complex numbers that become real lose their imaginary part.

    Rules use it to bring a contribution to the dtype of its input. Otherwise it is `astype`.
    Args:
        x: a tensor or an array.
        dtype: a NumPy dtype of numbers, such as np.dtype("float32").
    Returns: a tensor of that dtype.
    Raises: TypeError if x has no dtype, or dtype is not numeric.
    >>> mg.ops.cast(mg.tensor([1 + 2j]), np.dtype(float)).tolist()
    [1.0]
    See: numpy.ndarray.astype."""
    return astype(real(x) if x.dtype.kind == "c" and dtype.kind != "c" else x, dtype)


cast.public = False


@nondifferentiable
def stop_gradient(xp, x):
    """Return the same values as a constant, which passes no gradient.

    x · stop_gradient(x) has the derivative x, while x · x has 2x.
    Returns: a tensor of the values of x, without a graph.
    >>> mg.grad(lambda x: x * mg.stop_gradient(x))(3.0).item()
    3.0
    See: jax.lax.stop_gradient; torch.Tensor.detach."""
    return xp.stop_gradient(x)


@nondifferentiable(public=False)
def new_zeros(xp, x, *, shape, dtype=None):
    """Return zeros of the given shape, with the device and the dtype of `x`.

    The values of x do not matter. With it an operation creates an array without naming a device.
    Shapes: x any -> shape.
    Args:
        x: an array, a tensor or numbers.
        shape: the shape of the result, a length or a tuple of them.
        dtype: the dtype; None (default) for the dtype of x.
    Returns: a tensor, without a graph.
    Raises: ValueError if a length is negative; TypeError if x is not numeric, or shape does not consist of integers.
    >>> mg.ops.new_zeros(mg.tensor([1.0]), shape=(2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    See: numpy.zeros_like with shape; torch.Tensor.new_zeros."""
    return xp.new_zeros(x, shape, dtype)


@nondifferentiable(public=False)
def new_ones(xp, x, *, shape):
    """Return ones of the given shape, with the device and the dtype of `x`.

    Shapes: x any -> shape.
    Args:
        x: an array, a tensor or numbers.
        shape: the shape of the result, a length or a tuple of them.
    Returns: a tensor, without a graph.
    Raises: ValueError if a length is negative; TypeError if x is not numeric, or shape does not consist of integers.
    >>> mg.ops.new_ones(mg.tensor([5.0]), shape=(2, 3)).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    See: numpy.ones_like with shape; torch.Tensor.new_ones."""
    return xp.new_ones(x, shape)


@nondifferentiable(public=False)
def new_eye(xp, x, *, n):
    """Return an identity matrix with the device and the dtype of `x`.

    Ones on the diagonal, zeros beside it.
    Shapes: x any -> (n, n).
    Args:
        x: an array, a tensor or numbers.
        n: the number of rows and columns, an integer.
    Returns: a tensor, without a graph.
    Raises: ValueError if n is negative; TypeError if x is not numeric, or n is not an integer.
    >>> mg.ops.new_eye(mg.tensor([5.0]), n=2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    See: numpy.eye; torch.eye."""
    return xp.new_eye(x, n)
