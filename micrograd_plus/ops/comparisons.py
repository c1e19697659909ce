"""Comparisons, logic and tests, entry by entry: true or false, and no graph."""

from ..core.define import nondifferentiable, real_only


@nondifferentiable
def equal(xp, a, b):
    """Equality: whether the two are equal, entry by entry.

    a == b; nan is equal to nothing, not even to itself.
    >>> mg.equal([1.0, 2.0], [1.0, 3.0]).tolist()
    [True, False]
    See: numpy.equal; torch.eq; `isclose` for equality up to rounding."""
    return xp.equal(a, b)


@nondifferentiable
def not_equal(xp, a, b):
    """Inequality: whether the two differ, entry by entry.

    a != b; nan differs from everything, even from itself.
    >>> mg.not_equal([1.0, 2.0], [1.0, 3.0]).tolist()
    [False, True]
    See: numpy.not_equal; torch.ne."""
    return xp.not_equal(a, b)


@nondifferentiable
@real_only
def less(xp, a, b):
    """Comparison a < b: whether the first is smaller.

    Entry by entry; False where either is nan.
    >>> mg.less([1.0, 2.0, 3.0], 2.0).tolist()
    [True, False, False]
    See: numpy.less; torch.lt."""
    return xp.less(a, b)


@nondifferentiable
@real_only
def less_equal(xp, a, b):
    """Comparison a <= b: whether the first is smaller or equal.

    Entry by entry; False where either is nan.
    >>> mg.less_equal([1.0, 2.0, 3.0], 2.0).tolist()
    [True, True, False]
    See: numpy.less_equal; torch.le."""
    return xp.less_equal(a, b)


@nondifferentiable
@real_only
def greater(xp, a, b):
    """Comparison a > b: whether the first is larger.

    Entry by entry; False where either is nan.
    >>> mg.greater([1.0, 2.0, 3.0], 2.0).tolist()
    [False, False, True]
    See: numpy.greater; torch.gt."""
    return xp.greater(a, b)


@nondifferentiable
@real_only
def greater_equal(xp, a, b):
    """Comparison a >= b: whether the first is larger or equal.

    Entry by entry; False where either is nan.
    >>> mg.greater_equal([1.0, 2.0, 3.0], 2.0).tolist()
    [False, True, True]
    See: numpy.greater_equal; torch.ge."""
    return xp.greater_equal(a, b)


@nondifferentiable
def logical_and(xp, a, b):
    """Logical and: whether both hold.

    Entry by entry; of booleans the same as `a & b`.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    >>> mg.logical_and([True, True, False], [True, False, False]).tolist()
    [True, False, False]
    See: numpy.logical_and; torch.logical_and."""
    return xp.logical_and(a, b)


@nondifferentiable
def logical_or(xp, a, b):
    """Logical or: whether at least one holds.

    Entry by entry; of booleans the same as `a | b`.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    >>> mg.logical_or([True, True, False], [True, False, False]).tolist()
    [True, True, False]
    See: numpy.logical_or; torch.logical_or."""
    return xp.logical_or(a, b)


@nondifferentiable
def logical_xor(xp, a, b):
    """Logical exclusive or: whether exactly one holds.

    Entry by entry; of booleans the same as `not_equal`.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    >>> mg.logical_xor([True, True, False], [True, False, False]).tolist()
    [False, True, False]
    See: numpy.logical_xor; torch.logical_xor."""
    return xp.logical_xor(a, b)


@nondifferentiable
def logical_not(xp, x):
    """Logical not: whether it does not hold.

    Entry by entry; of booleans the same as `~x`.
    Args:
        x: booleans, or numbers of which all but 0 hold.
    >>> mg.logical_not([True, False]).tolist()
    [False, True]
    See: numpy.logical_not; torch.logical_not."""
    return xp.logical_not(x)


# Bits -----------------------


@nondifferentiable
def bitwise_and(xp, a, b):
    """And of bits: those that are set in both; of booleans, whether both hold.

    Entry by entry; `a & b` of tensors.
    Args:
        a, b: integers, or booleans.
    Returns: a tensor of the dtype that a and b promote to, without a graph.
    Raises: ValueError if the shapes do not broadcast; TypeError for other numbers than whole ones.
    >>> mg.bitwise_and([6, 3], 3).tolist()
    [2, 3]
    See: numpy.bitwise_and; torch.bitwise_and."""
    return a & b


@nondifferentiable
def bitwise_or(xp, a, b):
    """Or of bits: those that are set in at least one; of booleans, whether at least one holds.

    Entry by entry; `a | b` of tensors.
    Args:
        a, b: integers, or booleans.
    Returns: a tensor of the dtype that a and b promote to, without a graph.
    Raises: ValueError if the shapes do not broadcast; TypeError for other numbers than whole ones.
    >>> mg.bitwise_or([6, 3], 1).tolist()
    [7, 3]
    See: numpy.bitwise_or; torch.bitwise_or."""
    return a | b


@nondifferentiable
def bitwise_xor(xp, a, b):
    """Exclusive or of bits: those that are set in one alone; of booleans, whether exactly one holds.

    Entry by entry; `a ^ b` of tensors.
    Args:
        a, b: integers, or booleans.
    Returns: a tensor of the dtype that a and b promote to, without a graph.
    Raises: ValueError if the shapes do not broadcast; TypeError for other numbers than whole ones.
    >>> mg.bitwise_xor([6, 3], 3).tolist()
    [5, 0]
    See: numpy.bitwise_xor; torch.bitwise_xor."""
    return a ^ b


@nondifferentiable
def invert(xp, x):
    """Not of bits: those that are not set; of booleans, whether it does not hold.

    Entry by entry, ~x = -x - 1 of whole numbers; `~x` of a tensor.
    Args:
        x: integers, or booleans.
    Returns: a tensor of the dtype of x, without a graph.
    Raises: TypeError for other numbers.
    >>> mg.invert([True, False]).tolist()
    [False, True]
    >>> mg.invert([1, 2]).tolist()
    [-2, -3]
    See: numpy.invert; torch.bitwise_not."""
    return ~x


bitwise_not = invert


@nondifferentiable
def left_shift(xp, a, b):
    """Shift of bits to the left: times two, so often.

    left_shift(a, b) = a · 2ᵇ, entry by entry; `a << b` of tensors.
    Args:
        a, b: integers.
    Returns: a tensor of the dtype that a and b promote to, without a graph.
    Raises: ValueError if the shapes do not broadcast; TypeError for other numbers than whole ones.
    >>> mg.left_shift([1, 3], 2).tolist()
    [4, 12]
    See: numpy.left_shift; torch.bitwise_left_shift."""
    return a << b


@nondifferentiable
def right_shift(xp, a, b):
    """Shift of bits to the right: halved so often, rounded down.

    right_shift(a, b) = ⌊a / 2ᵇ⌋, entry by entry; `a >> b` of tensors.
    Args:
        a, b: integers.
    Returns: a tensor of the dtype that a and b promote to, without a graph.
    Raises: ValueError if the shapes do not broadcast; TypeError for other numbers than whole ones.
    >>> mg.right_shift([4, 13], 2).tolist()
    [1, 3]
    See: numpy.right_shift; torch.bitwise_right_shift."""
    return a >> b


# Tests ----------------------


@nondifferentiable
def isnan(xp, x):
    """Test for nan: whether it is not a number.

    Args:
        x: real or complex numbers; of the latter, either part counts.
    >>> mg.isnan([1.0, np.nan, np.inf]).tolist()
    [False, True, False]
    See: numpy.isnan; torch.isnan."""
    return xp.isnan(x)


@nondifferentiable
def isinf(xp, x):
    """Test for infinity, of either sign.

    Args:
        x: real or complex numbers; of the latter, either part counts.
    >>> mg.isinf([1.0, np.nan, -np.inf]).tolist()
    [False, False, True]
    See: numpy.isinf; torch.isinf."""
    return xp.isinf(x)


@nondifferentiable
def isfinite(xp, x):
    """Test for finite numbers: neither infinite nor nan.

    Args:
        x: real or complex numbers; of the latter, both parts count.
    >>> mg.isfinite([1.0, np.nan, np.inf]).tolist()
    [True, False, False]
    See: numpy.isfinite; torch.isfinite."""
    return xp.isfinite(x)


@nondifferentiable
def isclose(xp, a, b, *, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Equality up to rounding, entry by entry.

    |a - b| <= atol + rtol · |b|: b is the one that is measured by. Infinities are close to their like.
    Args:
        rtol: relative tolerance, a number; default 1e-5.
        atol: absolute tolerance, a number; default 1e-8.
        equal_nan: whether nan is close to nan; default False.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input or a tolerance is not numeric.
    >>> mg.isclose([1.0, 1.0], [1.000001, 1.1]).tolist()
    [True, False]
    See: numpy.isclose; torch.isclose."""
    return xp.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
