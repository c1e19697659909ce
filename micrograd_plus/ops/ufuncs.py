"""Further functions with NumPy's names: powers of two, angles, nan, tests and selection of entries."""

from math import log as ln, pi

from ..backends.shapes import ndim, shape
from ..core.define import elementwise, mask, nondifferentiable, real_only
from ..core.messages import prefixes_errors
from .arithmetic import absolute, multiply
from .comparisons import equal, isclose
from .complexes import imag, real
from .indexing import take_along_axis, where
from .reductions import all as every
from .shape import ravel, unstack

# Powers, logarithms, angles ----


@elementwise(x=lambda out: ln(2) * out)
def exp2(xp, x):
    """Compute 2 to the power of each entry.

    exp2(x) = 2ˣ.
    >>> mg.exp2([0.0, 3.0, -1.0]).tolist()
    [1.0, 8.0, 0.5]
    See: numpy.exp2; torch.exp2."""
    return xp.exp2(x)


@elementwise(a=lambda xp, a, b: xp.sigmoid(ln(2) * (a - b)), b=lambda xp, a, b: xp.sigmoid(ln(2) * (b - a)))
@real_only
def logaddexp2(xp, a, b):
    """Compute the logarithm to base 2 of the sum of two powers of two.

    logaddexp2(a, b) = log₂(2ᵃ + 2ᵇ), without overflow. Each input's derivative is its share of the sum.
    >>> mg.logaddexp2(1000.0, 1000.0).item()
    1001.0
    See: numpy.logaddexp2; torch.logaddexp2."""
    return xp.logaddexp2(a, b)


@elementwise(x=lambda: pi / 180)
@real_only
def deg2rad(xp, x):
    """Convert angles from degrees to radians. `mg.radians` is the same function.

    deg2rad(x) = x π / 180.
    >>> mg.deg2rad([0.0, 180.0])
    tensor([0.        , 3.14159265])
    See: numpy.deg2rad; torch.deg2rad."""
    return x * (pi / 180)


@elementwise(x=lambda: 180 / pi)
@real_only
def rad2deg(xp, x):
    """Convert angles from radians to degrees. `mg.degrees` is the same function.

    rad2deg(x) = 180 x / π.
    >>> mg.rad2deg([0.0, np.pi]).tolist()
    [0.0, 180.0]
    See: numpy.rad2deg; torch.rad2deg."""
    return x * (180 / pi)


radians, degrees = deg2rad, rad2deg

NEAR = 0.08
"""Nearer to 0 than this the slope of sinc is computed by its series: there a difference of two nearly equal numbers
would be divided by a small one."""


def _slope_of_sinc(xp, x, out):
    """(cos πx - sinc x) / x; near 0 -π² x / 3 (1 - t / 10 (1 - t / 28 (1 - t / 54 (1 - t / 88)))), with t = (πx)²."""
    near, t = xp.absolute(x) < NEAR, (pi * x) * (pi * x)
    series = -(pi * pi / 3) * x * (1 - t / 10 * (1 - t / 28 * (1 - t / 54 * (1 - t / 88))))
    return xp.where(near, series, (xp.cos(pi * x) - out) / xp.where(near, 1.0, x))


@elementwise(x=_slope_of_sinc)
@real_only
def sinc(xp, x):
    """Compute the normalised sinc function.

    sinc(x) = sin(πx) / (πx), and 1 at 0.
    >>> mg.sinc([0.0, 0.5, 1.0]).round(4).tolist()
    [1.0, 0.6366, 0.0]
    See: numpy.sinc; torch.sinc."""
    return xp.sinc(x)


# Extremes, and nan ----------


@elementwise(
    a=lambda xp, a, b: (a > b) + 0.5 * (a == b) + 1.0 * xp.isnan(b),
    b=lambda xp, a, b: (b > a) + 0.5 * (a == b) + 1.0 * xp.logical_and(xp.isnan(a), xp.logical_not(xp.isnan(b))),
)
@real_only
def fmax(xp, a, b):
    """Compute the larger of two entries, ignoring nan.

    fmax(a, b) = b if a is nan, a if b is nan, else max(a, b). At a tie each input receives half of the gradient.
    >>> mg.fmax([1.0, np.nan], [3.0, 2.0]).tolist()
    [3.0, 2.0]
    See: numpy.fmax; torch.fmax; `mg.maximum`, in which nan comes first."""
    return xp.fmax(a, b)


@elementwise(
    a=lambda xp, a, b: (a < b) + 0.5 * (a == b) + 1.0 * xp.isnan(b),
    b=lambda xp, a, b: (b < a) + 0.5 * (a == b) + 1.0 * xp.logical_and(xp.isnan(a), xp.logical_not(xp.isnan(b))),
)
@real_only
def fmin(xp, a, b):
    """Compute the smaller of two entries, ignoring nan.

    fmin(a, b) = b if a is nan, a if b is nan, else min(a, b). At a tie each input receives half of the gradient.
    >>> mg.fmin([1.0, np.nan], [3.0, 2.0]).tolist()
    [1.0, 2.0]
    See: numpy.fmin; torch.fmin; `mg.minimum`, in which nan comes first."""
    return xp.fmin(a, b)


@elementwise(x=mask(lambda xp, x: xp.isfinite(x)))
def nan_to_num(xp, x, *, copy=True, nan=0.0, posinf=None, neginf=None):
    """Replace nan and infinities with finite numbers.

    No gradient passes through the entries that were replaced.
    Args:
        copy: accepted as in NumPy; the result is always a new tensor.
        nan: the replacement for nan; default 0.0.
        posinf: the replacement for inf; None (default) for the largest number of the dtype.
        neginf: the replacement for -inf; None (default) for the lowest number of the dtype.
    Raises: TypeError if x or a replacement is not numeric.
    >>> mg.nan_to_num([1.0, np.nan, -np.inf], neginf=-9.0).tolist()
    [1.0, 0.0, -9.0]
    See: numpy.nan_to_num; torch.nan_to_num."""
    return xp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@prefixes_errors
def fabs(x):
    """Compute the absolute value of real numbers, as floats.

    Args:
        x: real numbers.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: TypeError if x is complex or not numeric.
    >>> mg.fabs([-2, 3]).tolist()
    [2.0, 3.0]
    See: numpy.fabs; `mg.abs`, which takes complex numbers too."""
    size = multiply(absolute(x), 1.0)
    if getattr(x, "dtype", size.dtype).kind == "c" or bool(every(equal(imag(x), 0))) is False:
        raise TypeError("fabs takes real numbers; mg.abs takes complex ones")
    return size


@prefixes_errors
def real_if_close(x, tol=100.0):
    """Drop imaginary parts if all of them are as small as rounding errors.

    Args:
        tol: the largest imaginary part, in machine epsilons of the dtype; below 1 an absolute value.
    Returns: a real tensor if all imaginary parts are small, else a complex one.
    >>> mg.real_if_close([1.0 + 1e-16j, 2.0]).tolist()
    [1.0, 2.0]
    See: numpy.real_if_close."""
    x = multiply(x, 1)
    if x.dtype.kind != "c":
        return x
    least = tol * 2.0 ** (-52 if x.dtype.itemsize == 16 else -23) if tol > 1 else tol
    return real(x) if bool(every(absolute(imag(x)) < least)) else x


# Choosing -------------------


@prefixes_errors
def select(condlist, choicelist, default=0.0):
    """Return entries from the first choice whose condition is true.

    Shapes: conditions, choices and default of shapes that broadcast -> the broadcast shape.
    Args:
        condlist: a list of conditions.
        choicelist: a list of equally many choices, numbers.
        default: the value if no condition is true; default 0.0.
    Returns: a tensor of the common dtype of the choices and default.
    Raises: ValueError if the numbers of conditions and choices differ or are 0, or the shapes do not broadcast.
    >>> x = mg.tensor([1.0, 2.0, 3.0])
    >>> mg.select([x < 2, x < 3], [x, 10 * x], -1.0).tolist()
    [1.0, 20.0, -1.0]
    See: numpy.select."""
    if len(condlist) != len(choicelist) or not len(condlist):
        given = f"{len(condlist)} conditions and {len(choicelist)} choices"
        raise ValueError(f"{given}; there is one for each, and at least one")
    out = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        out = where(condition, choice, out)
    return out


# Questions ------------------


@prefixes_errors
def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether two inputs are equal up to rounding, in every entry.

    |a - b| <= atol + rtol · |b| for every entry.
    Shapes: a, b of shapes that broadcast -> a bool.
    Args:
        a, b: real or complex numbers.
        rtol: relative tolerance, a number; default 1e-5.
        atol: absolute tolerance, a number; default 1e-8.
        equal_nan: whether nan counts as equal to nan; default False.
    Returns: True or False.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is not numeric.
    >>> mg.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    See: numpy.allclose; torch.allclose."""
    return bool(every(isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)))


@prefixes_errors
def array_equal(a1, a2):
    """Return whether two inputs have the same shape and the same entries.

    Shapes: any -> a bool.
    Args:
        a1, a2: real or complex numbers.
    Returns: True or False.
    Raises: TypeError if an input is not numeric.
    >>> mg.array_equal([1.0, 2.0], [1.0, 2.0]), mg.array_equal([1.0], [1.0, 1.0])
    (True, False)
    See: numpy.array_equal; torch.equal."""
    return shape(a1) == shape(a2) and bool(every(equal(a1, a2)))


@nondifferentiable
def argwhere(xp, x):
    """Return the indices of the entries that are not 0, one row for each.

    Shapes: x with n axes and k nonzero entries -> (k, n).
    Args:
        x: numbers or booleans.
    Returns: a tensor of int64, without a graph.
    >>> mg.argwhere([[0.0, 5.0], [7.0, 0.0]]).tolist()
    [[0, 1], [1, 0]]
    See: numpy.argwhere; torch.nonzero."""
    return xp.argwhere(x)


@prefixes_errors
def nonzero(x):
    """Return the indices of the entries that are not 0, as one array for each axis; `x[mg.nonzero(x)]` selects them.

    Shapes: x with n axes and k nonzero entries -> n arrays (k).
    Args:
        x: numbers or booleans, with at least one axis.
    Returns: a tuple of tensors of int64, without a graph.
    Raises: ValueError if x is a single number; TypeError if it is not numeric.
    >>> [row.tolist() for row in mg.nonzero([[0.0, 5.0], [7.0, 0.0]])]
    [[0, 1], [1, 0]]
    See: numpy.nonzero; torch.nonzero with as_tuple=True."""
    if not ndim(x):
        raise ValueError("a single number has no axes to have places on")
    return unstack(argwhere(x), axis=1)


@nondifferentiable
@real_only
def argpartition(xp, x, *, kth, axis=-1):
    """Return the indices that partition the entries along an axis.

    The entry at index `kth` is in its sorted position; smaller entries come before it, larger ones after.
    Args:
        kth: an index into the sorted order, or several.
    Returns: a tensor of int64, without a graph.
    Raises: ValueError if kth is out of range; TypeError if x is complex; IndexError if the axis is out of range.
    >>> mg.argpartition([7.0, 1.0, 5.0], 0).tolist()[0]
    1
    See: numpy.argpartition."""
    return xp.argpartition(x, kth, axis=axis)


@prefixes_errors
def partition(x, kth, axis=-1):
    """Partition the entries along an axis around the one at index `kth` of the sorted order.

    Smaller entries come before it and larger ones after, in no particular order.
    Shapes: any -> the same; with axis=None -> (n), for n entries.
    Args:
        x: real numbers.
        kth: an index into the sorted order, or several.
        axis: axis along which to partition; default -1, the last; None flattens x first.
    Raises: ValueError if kth is out of range; TypeError if x is complex; IndexError if the axis is out of range.
    >>> mg.partition([7.0, 1.0, 5.0], 1).tolist()
    [1.0, 5.0, 7.0]
    See: numpy.partition; torch.kthvalue."""
    if axis is None:
        x, axis = ravel(x), -1
    return take_along_axis(x, argpartition(x, kth, axis), axis)
