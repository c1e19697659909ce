"""Arithmetic, entry by entry: sums, products, quotients and powers, and the choice between two.

A rule here is a local derivative. The engine multiplies it by upstream, and undoes broadcasting.
"""

from math import inf

from ..core.composite import composite
from ..core.define import elementwise, linear, mask, real_only, wraps_op
from ..core.messages import prefixes_errors
from .comparisons import less, logical_and, not_equal


@elementwise(x=lambda: -1)
def negative(xp, x):
    """Negation: the number with the other sign.

    negative(x) = -x, entry by entry; `-x` of a tensor.
    Returns: a tensor of the dtype of x.
    Raises: TypeError if x is boolean or not numeric.
    >>> mg.negative([1.0, -2.0]).tolist()
    [-1.0, 2.0]
    See: numpy.negative; torch.neg."""
    return -x


@elementwise(x=lambda: 1)
def positive(xp, x):
    """Unary plus: the number itself.

    positive(x) = +x, a node of its own in the graph; `+x` of a tensor.
    Returns: a tensor of the dtype of x.
    Raises: TypeError if x is boolean or not numeric.
    >>> mg.positive([1.0, -2.0]).tolist()
    [1.0, -2.0]
    See: numpy.positive; torch.positive."""
    return +x


@elementwise(a=lambda: 1, b=lambda: 1)
def add(xp, a, b):
    """Addition: the sum of two.

    add(a, b) = a + b, entry by entry.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.add([[1.0], [2.0]], [10.0, 20.0]).tolist()
    [[11.0, 21.0], [12.0, 22.0]]
    See: numpy.add; torch.add; CS231n notes, Backpropagation, Patterns in backward flow."""
    return a + b


@elementwise(a=lambda: 1, b=lambda: -1)
def subtract(xp, a, b):
    """Subtraction: the first less the second.

    subtract(a, b) = a - b, entry by entry.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError if the shapes do not broadcast; TypeError if both are boolean, or one is not numeric.
    >>> mg.subtract([5.0, 7.0], 2.0).tolist()
    [3.0, 5.0]
    See: numpy.subtract; torch.sub."""
    return a - b


@elementwise(a=lambda b: b, b=lambda a: a)
def multiply(xp, a, b):
    """Multiplication: the product of two, entry by entry.

    multiply(a, b) = a · b. The product of matrices is `matmul`.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.multiply([2.0, 3.0], [5.0, 7.0]).tolist()
    [10.0, 21.0]
    See: numpy.multiply; torch.mul; CS231n notes, Backpropagation, Patterns in backward flow."""
    return a * b


@elementwise(a=lambda: 0, b=lambda: 0)
@real_only
def floor_divide(xp, a, b):
    """Floor division: how often the divisor fits, as a whole number.

    floor_divide(a, b) = ⌊a / b⌋, as // in Python. It moves in steps, so its slope is 0 by either.
    Args:
        a: dividend, real numbers.
        b: divisor, real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.floor_divide([7.0, -7.0], 2.0).tolist()
    [3.0, -4.0]
    See: numpy.floor_divide; torch.floor_divide."""
    return xp.floor_divide(a, b)


@elementwise(a=lambda xp, b: xp.divide(1, b), b=lambda out, b: -out / b)
def _divide(xp, a, b):
    """Division: the quotient of two."""
    return a / b


@wraps_op(_divide)
@prefixes_errors
def divide(a, b, *, rounding_mode=None):
    """Division: the quotient of two.

    divide(a, b) = a / b, entry by entry, of whole numbers too. Divided by 0 it is inf or nan, with NumPy's warning.
    Args:
        a: numerator, real or complex numbers.
        b: denominator, real or complex numbers.
        rounding_mode: None (default) for the quotient itself; "floor" for a // b, "trunc" for the whole part.
            Rounded, it moves in steps, and its slope is 0.
    Returns: a tensor of the dtype that a and b promote to; float64 for the quotient of integers.
    Raises: ValueError if the shapes do not broadcast, or for another rounding_mode; TypeError if an input is not
        numeric.
    >>> mg.divide([1, 3], [2, 4]).tolist()
    [0.5, 0.75]
    >>> mg.divide([7.0, -7.0], 2.0, rounding_mode="trunc").tolist()
    [3.0, -3.0]
    See: numpy.divide; torch.div."""
    if rounding_mode is None:
        return _divide(a, b)
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")
    down = floor_divide(a, b)
    if rounding_mode == "floor":
        return down
    return down + logical_and(less(down, 0), not_equal(multiply(down, b), a))


true_divide = divide


@elementwise(
    base=lambda xp, base, exponent: exponent * xp.power(base, exponent - (exponent != 0)),
    exponent=lambda xp, base, out: out * xp.log(base + ((base == 0) & (abs(out) < inf))),
)
def power(xp, base, exponent):
    """Power: `base` raised to `exponent`.

    power(base, exponent) = base^exponent, entry by entry. To the power 0 everything is 1, with slope 0: lowering the
    exponent there would say 0 times infinity at base 0. As an exponent of at least 0 moves, a base of 0 stays 0. A
    negative base has a value only at whole exponents, and no slope between: elsewhere the result is nan, and the
    gradient of the exponent is nan everywhere. Given as a complex number, such as -2 + 0j, it has both.
    Returns: a tensor of the dtype that base and exponent promote to.
    Raises: ValueError if the shapes do not broadcast, or integers meet a negative whole exponent; TypeError if an input
        is not numeric.
    >>> mg.power([2.0, 3.0, 9.0], [3.0, 2.0, 0.5]).tolist()
    [8.0, 9.0, 3.0]
    See: numpy.power; torch.pow."""
    return xp.power(base, exponent)


@elementwise(x=lambda x: 2 * x)
def square(xp, x):
    """Square: a number times itself.

    square(x) = x · x; of a complex number not the square of its length.
    Returns: a tensor of the dtype of x.
    >>> mg.square([-2.0, 3.0]).tolist()
    [4.0, 9.0]
    See: numpy.square; torch.square."""
    return x * x


@elementwise(x=lambda out: -out * out)
def reciprocal(xp, x):
    """Reciprocal: one over a number.

    reciprocal(x) = 1 / x, also of whole numbers; inf at 0, with NumPy's warning.
    >>> mg.reciprocal([2, 4]).tolist()
    [0.5, 0.25]
    See: numpy.reciprocal (which cuts off the fraction of whole numbers); torch.reciprocal."""
    return 1 / x


@elementwise(x=lambda xp, x: xp.sign(x))
def absolute(xp, x):
    """Absolute value: the distance from 0.

    absolute(x) = |x|; of a complex number its length √(re² + im²). At 0 itself the slope is 0, as in PyTorch.
    Returns: a tensor of the dtype of x; real for complex numbers.
    >>> mg.abs([-2.0, 3.0]).tolist()
    [2.0, 3.0]
    >>> mg.abs(3 + 4j).item()
    5.0
    See: numpy.absolute; torch.abs."""
    return abs(x)


@elementwise(a=lambda xp, a, b: xp.sign(a) * xp.copysign(1.0, b))
def copysign(xp, a, b):
    """Copied sign: the size of `a` with the sign of `b`.

    copysign(a, b) = |a| with the sign of b, in which -0.0 is negative. Nothing small happens as b moves, so it receives
    nothing; at a = 0 the slope is 0, as in PyTorch.
    Args:
        a: real numbers, of which the size counts.
        b: real numbers, of which the sign counts.
    >>> mg.copysign([3.0, -3.0], [-1.0, 1.0]).tolist()
    [-3.0, 3.0]
    See: numpy.copysign; torch.copysign."""
    return xp.copysign(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.trunc(a / b))
def fmod(xp, a, b):
    """Remainder of a division, with the sign of the dividend `a`.

    fmod(a, b) = a - b · trunc(a / b), as % in C. The slope by b is minus the whole number of times that b fits. Where b
    is 0 it is nan, of whole numbers 0.
    Args:
        a: dividend, real numbers.
        b: divisor, real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.fmod([-7.0, 7.0], [3.0, -3.0]).tolist()
    [-1.0, 1.0]
    See: numpy.fmod; torch.fmod."""
    return xp.fmod(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.floor(a / b))
def remainder(xp, a, b):
    """Modulo: the remainder of a division, with the sign of the divisor `b`.

    remainder(a, b) = a - b · floor(a / b), as % in Python and of tensors. The slope by b is minus the whole number of
    times that b fits. Where b is 0 it is nan, of whole numbers 0.
    Args:
        a: dividend, real numbers.
        b: divisor, real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.remainder([-7.0, 7.0], [3.0, -3.0]).tolist()
    [2.0, -2.0]
    See: numpy.remainder; torch.remainder."""
    return xp.remainder(a, b)

mod = remainder


@composite
@elementwise(x=lambda scale: scale, scale=lambda x: x, shift=lambda: 1)
def affine(xp, x, scale, shift):
    """Affine map: the straight line scale · x + shift.

    affine(x, scale, shift) = scale · x + shift, entry by entry, as one node of the graph.
    Args:
        scale: the slope of the line.
        shift: its height at x = 0.
    Returns: a tensor of the dtype that the three promote to.
    >>> mg.affine([1.0, 2.0], 10.0, 0.5).tolist()
    [10.5, 20.5]
    See: torch.addcmul(shift, x, scale)."""
    return scale * x + shift


@composite
@elementwise(start=lambda weight: 1 - weight, end=lambda weight: weight, weight=lambda start, end: end - start)
def lerp(xp, start, end, weight):
    """Linear interpolation: the point between `start` (weight 0) and `end` (weight 1).

    lerp(start, end, weight) = start + weight · (end - start). A weight outside 0 to 1 goes on along the line.
    Args:
        weight: the share of `end`, numbers.
    Returns: a tensor of the dtype that the three promote to.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is not numeric, or start and end are
        boolean.
    >>> mg.lerp(0.0, 10.0, [0.0, 0.25, 1.0]).tolist()
    [0.0, 2.5, 10.0]
    See: torch.lerp."""
    return start + weight * (end - start)


@composite
@elementwise(x=lambda: 1, a=lambda b, value: value * b, b=lambda a, value: value * a)
def addcmul(xp, x, a, b, *, value=1.0):
    """Multiply and add: a product, times a fixed factor, added to x.

    addcmul(x, a, b) = x + value · a · b, entry by entry, as one node of the graph.
    Args:
        value: the factor, a number that receives no gradient; default 1.0.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is not numeric, or value is not a number.
    >>> mg.addcmul([1.0, 2.0], [3.0, 4.0], [5.0, 6.0], value=0.5).tolist()
    [8.5, 14.0]
    See: torch.addcmul."""
    return x + value * a * b


@elementwise(a=lambda a, b: (a > b) + 0.5 * (a == b), b=lambda a, b: (b > a) + 0.5 * (a == b))
@real_only
def maximum(xp, a, b):
    """Maximum of two, entry by entry.

    maximum(a, b) = a where a > b, else b; where either is nan, nan. At a tie both could move the result, and each
    receives half, as in PyTorch and JAX.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.maximum([1.0, 5.0], [3.0, 2.0]).tolist()
    [3.0, 5.0]
    >>> mg.grad(mg.maximum)(1.0, 1.0).item()
    0.5
    See: numpy.maximum; torch.maximum; `mg.max` for the largest along an axis."""
    return xp.maximum(a, b)


@elementwise(a=lambda a, b: (a < b) + 0.5 * (a == b), b=lambda a, b: (b < a) + 0.5 * (a == b))
@real_only
def minimum(xp, a, b):
    """Minimum of two, entry by entry.

    minimum(a, b) = a where a < b, else b; where either is nan, nan. At a tie both could move the result, and each
    receives half, as in PyTorch and JAX.
    Returns: a tensor of the dtype that a and b promote to.
    >>> mg.minimum([1.0, 5.0], [3.0, 2.0]).tolist()
    [1.0, 2.0]
    See: numpy.minimum; torch.minimum; `mg.min` for the smallest along an axis."""
    return xp.minimum(a, b)


@elementwise(
    x=mask(lambda x, min, max: (x >= (-inf if min is None else min)) & (x <= (inf if max is None else max))),
    min=mask(lambda x, min, max: (x < min) & (min < (inf if max is None else max))),
    max=mask(lambda x, min, max: (x > max) | ((-inf if min is None else min) > max)),
)
@real_only
def clip(xp, x, min=None, max=None):
    """Clipping: the nearest number between `min` and `max`.

    clip(x) = min(max(x, lower), upper), so the result is `max` where the bounds are the wrong way round. At a bound
    itself the gradient passes to x, as in PyTorch; beyond it, to the bound.
    Args:
        min: lower bound, real numbers; None, the default, for none.
        max: upper bound, real numbers; None, the default, for none.
    Returns: a tensor of the dtype that the three promote to.
    >>> mg.clip([-2.0, 0.5, 3.0], 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    >>> mg.grad(mg.clip)(1.0, 0.0, 1.0).item()
    1.0
    See: numpy.clip; torch.clamp."""
    return xp.clip(x, min, max)


@linear(
    a=lambda xp, upstream, condition: xp.where(condition, upstream, 0.0),
    b=lambda xp, upstream, condition: xp.where(condition, 0.0, upstream),
)
def where(xp, condition, a=None, b=None):
    """Selection by a condition: `a` where it holds, else `b`.

    What was not taken receives 0, whatever it holds; the condition receives nothing. That 0 times an infinite slope
    further back is nan: mg.where(x > 0, mg.log(x), 0.0) has no gradient at 0. Make the argument safe first:
    mg.log(mg.where(x > 0, x, 1.0)).
    Shapes: condition, a, b of shapes that broadcast -> the broadcast shape.
    Args:
        condition: booleans, or numbers of which all but 0 hold.
        a, b: real or complex numbers; both must be given.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is not numeric, or a or b is missing: the
        places where a condition holds are mg.nonzero(condition).
    >>> mg.where([True, False], [1.0, 2.0], 0.0).tolist()
    [1.0, 0.0]
    See: numpy.where; torch.where."""
    return xp.where(condition, a, b)
