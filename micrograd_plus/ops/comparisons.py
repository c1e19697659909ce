"""Elementwise comparisons, logic and tests; their results have no graph."""

from ..core.define import nondifferentiable, real_only


@nondifferentiable
def equal(xp, a, b):
    """Return whether a == b, elementwise.

    nan is not equal to anything, not even to itself.
    >>> mg.equal([1.0, 2.0], [1.0, 3.0]).tolist()
    [True, False]
    See: numpy.equal; torch.eq; `isclose` for equality up to rounding."""
    return xp.equal(a, b)


@nondifferentiable
def not_equal(xp, a, b):
    """Return whether a != b, elementwise.

    nan differs from everything, even from itself.
    >>> mg.not_equal([1.0, 2.0], [1.0, 3.0]).tolist()
    [False, True]
    See: numpy.not_equal; torch.ne."""
    return xp.not_equal(a, b)


@nondifferentiable
@real_only
def less(xp, a, b):
    """Return whether a < b, elementwise.

    False if either is nan.
    >>> mg.less([1.0, 2.0, 3.0], 2.0).tolist()
    [True, False, False]
    See: numpy.less; torch.lt."""
    return xp.less(a, b)


@nondifferentiable
@real_only
def less_equal(xp, a, b):
    """Return whether a <= b, elementwise.

    False if either is nan.
    >>> mg.less_equal([1.0, 2.0, 3.0], 2.0).tolist()
    [True, True, False]
    See: numpy.less_equal; torch.le."""
    return xp.less_equal(a, b)


@nondifferentiable
@real_only
def greater(xp, a, b):
    """Return whether a > b, elementwise.

    False if either is nan.
    >>> mg.greater([1.0, 2.0, 3.0], 2.0).tolist()
    [False, False, True]
    See: numpy.greater; torch.gt."""
    return xp.greater(a, b)


@nondifferentiable
@real_only
def greater_equal(xp, a, b):
    """Return whether a >= b, elementwise.

    False if either is nan.
    >>> mg.greater_equal([1.0, 2.0, 3.0], 2.0).tolist()
    [False, True, True]
    See: numpy.greater_equal; torch.ge."""
    return xp.greater_equal(a, b)


@nondifferentiable
def logical_and(xp, a, b):
    """Return whether both entries are true, elementwise.

    For booleans this is `a & b`. Numbers are true if they are not 0.
    >>> mg.logical_and([True, True, False], [True, False, False]).tolist()
    [True, False, False]
    See: numpy.logical_and; torch.logical_and."""
    return xp.logical_and(a, b)


@nondifferentiable
def logical_or(xp, a, b):
    """Return whether at least one of two entries is true, elementwise.

    For booleans this is `a | b`. Numbers are true if they are not 0.
    >>> mg.logical_or([True, True, False], [True, False, False]).tolist()
    [True, True, False]
    See: numpy.logical_or; torch.logical_or."""
    return xp.logical_or(a, b)


@nondifferentiable
def logical_xor(xp, a, b):
    """Return whether exactly one of two entries is true, elementwise.

    For booleans this is `not_equal`. Numbers are true if they are not 0.
    >>> mg.logical_xor([True, True, False], [True, False, False]).tolist()
    [False, True, False]
    See: numpy.logical_xor; torch.logical_xor."""
    return xp.logical_xor(a, b)


@nondifferentiable
def logical_not(xp, x):
    """Return whether each entry is false.

    For booleans this is `~x`. Numbers are true if they are not 0.
    >>> mg.logical_not([True, False]).tolist()
    [False, True]
    See: numpy.logical_not; torch.logical_not."""
    return xp.logical_not(x)


@nondifferentiable
def bitwise_and(xp, a, b):
    """Compute the bitwise AND; for booleans the logical AND.

    `a & b` of tensors: the bits that are set in both.
    >>> mg.bitwise_and([6, 3], 3).tolist()
    [2, 3]
    See: numpy.bitwise_and; torch.bitwise_and."""
    return a & b


@nondifferentiable
def bitwise_or(xp, a, b):
    """Compute the bitwise OR; for booleans the logical OR.

    `a | b` of tensors: the bits that are set in at least one.
    >>> mg.bitwise_or([6, 3], 1).tolist()
    [7, 3]
    See: numpy.bitwise_or; torch.bitwise_or."""
    return a | b


@nondifferentiable
def bitwise_xor(xp, a, b):
    """Compute the bitwise exclusive OR; for booleans the logical one.

    `a ^ b` of tensors: the bits that are set in exactly one.
    >>> mg.bitwise_xor([6, 3], 3).tolist()
    [5, 0]
    See: numpy.bitwise_xor; torch.bitwise_xor."""
    return a ^ b


@nondifferentiable
def invert(xp, x):
    """Compute the bitwise NOT; for booleans the logical NOT.

    `~x` of a tensor; for integers ~x = -x - 1.
    >>> mg.invert([True, False]).tolist()
    [False, True]
    >>> mg.invert([1, 2]).tolist()
    [-2, -3]
    See: numpy.invert; torch.bitwise_not."""
    return ~x


bitwise_not = invert


@nondifferentiable
def left_shift(xp, a, b):
    """Shift the bits of integers to the left.

    left_shift(a, b) = a · 2ᵇ; `a << b` of tensors.
    >>> mg.left_shift([1, 3], 2).tolist()
    [4, 12]
    See: numpy.left_shift; torch.bitwise_left_shift."""
    return a << b


@nondifferentiable
def right_shift(xp, a, b):
    """Shift the bits of integers to the right.

    right_shift(a, b) = ⌊a / 2ᵇ⌋; `a >> b` of tensors.
    >>> mg.right_shift([4, 13], 2).tolist()
    [1, 3]
    See: numpy.right_shift; torch.bitwise_right_shift."""
    return a >> b


@nondifferentiable
def isnan(xp, x):
    """Return whether each entry is nan; for a complex number, whether either part is.

    >>> mg.isnan([1.0, np.nan, np.inf]).tolist()
    [False, True, False]
    See: numpy.isnan; torch.isnan."""
    return xp.isnan(x)


@nondifferentiable
def isinf(xp, x):
    """Return whether each entry is infinite, with either sign; for a complex number, whether either part is.

    >>> mg.isinf([1.0, np.nan, -np.inf]).tolist()
    [False, False, True]
    See: numpy.isinf; torch.isinf."""
    return xp.isinf(x)


@nondifferentiable
def isfinite(xp, x):
    """Return whether each entry is finite: neither infinite nor nan. For a complex number both parts must be.

    >>> mg.isfinite([1.0, np.nan, np.inf]).tolist()
    [True, False, False]
    See: numpy.isfinite; torch.isfinite."""
    return xp.isfinite(x)


@nondifferentiable
def isclose(xp, a, b, *, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Return whether two inputs are equal up to rounding, elementwise.

    |a - b| <= atol + rtol · |b|, where the tolerance is relative to b. Infinities of the same sign are close.
    Args:
        rtol: relative tolerance, a number; default 1e-5.
        atol: absolute tolerance, a number; default 1e-8.
        equal_nan: whether nan counts as equal to nan; default False.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input or a tolerance is not numeric.
    >>> mg.isclose([1.0, 1.0], [1.000001, 1.1]).tolist()
    [True, False]
    See: numpy.isclose; torch.isclose."""
    return xp.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
