"""Elementwise arithmetic. Each rule is a local derivative, which the engine multiplies by upstream."""

from math import inf

from ..core.composite import composite
from ..core.define import elementwise, mask, real_only, wraps_op
from ..core.messages import prefixes_errors
from .comparisons import less, logical_and, not_equal


@elementwise(x=lambda: -1)
def negative(xp, x):
    """Negate each entry.

    negative(x) = -x; `-x` of a tensor.
    Raises: TypeError if x is boolean or not numeric.
    >>> mg.negative([1.0, -2.0]).tolist()
    [-1.0, 2.0]
    See: numpy.negative; torch.neg."""
    return -x


@elementwise(x=lambda: 1)
def positive(xp, x):
    """Return each entry unchanged.

    positive(x) = +x, as a separate node in the graph; `+x` of a tensor.
    Raises: TypeError if x is boolean or not numeric.
    >>> mg.positive([1.0, -2.0]).tolist()
    [1.0, -2.0]
    See: numpy.positive; torch.positive."""
    return +x


@elementwise(a=lambda: 1, b=lambda: 1)
def add(xp, a, b):
    """Add two inputs elementwise.

    add(a, b) = a + b.
    >>> mg.add([[1.0], [2.0]], [10.0, 20.0]).tolist()
    [[11.0, 21.0], [12.0, 22.0]]
    See: numpy.add; torch.add; CS231n notes, Backpropagation, Patterns in backward flow."""
    return a + b


@elementwise(a=lambda: 1, b=lambda: -1)
def subtract(xp, a, b):
    """Subtract the second input from the first, elementwise.

    subtract(a, b) = a - b.
    Raises: ValueError if the shapes do not broadcast; TypeError if both are boolean, or one is not numeric.
    >>> mg.subtract([5.0, 7.0], 2.0).tolist()
    [3.0, 5.0]
    See: numpy.subtract; torch.sub."""
    return a - b


@elementwise(a=lambda b: b, b=lambda a: a)
def multiply(xp, a, b):
    """Multiply two inputs elementwise.

    multiply(a, b) = a · b. For the product of matrices see `matmul`.
    >>> mg.multiply([2.0, 3.0], [5.0, 7.0]).tolist()
    [10.0, 21.0]
    See: numpy.multiply; torch.mul; CS231n notes, Backpropagation, Patterns in backward flow."""
    return a * b


@elementwise(a=lambda: 0, b=lambda: 0)
@real_only
def floor_divide(xp, a, b):
    """Divide elementwise and round down to an integer.

    floor_divide(a, b) = ⌊a / b⌋, as // in Python. It is a step function, so its gradient is 0.
    >>> mg.floor_divide([7.0, -7.0], 2.0).tolist()
    [3.0, -4.0]
    See: numpy.floor_divide; torch.floor_divide."""
    return xp.floor_divide(a, b)


@elementwise(a=lambda xp, b: xp.divide(1, b), b=lambda out, b: -out / b)
def _divide(xp, a, b):
    """Divide the first input by the second, elementwise."""
    return a / b


@wraps_op(_divide)
@prefixes_errors
def divide(a, b, *, rounding_mode=None):
    """Divide the first input by the second, elementwise.

    divide(a, b) = a / b, also for integers. Division by 0 gives inf or nan, with NumPy's warning.
    Args:
        rounding_mode: None (default) for the quotient; "floor" for a // b, "trunc" to round towards 0. If rounded, its
            gradient is 0.
    Returns: a tensor of the common dtype of a and b; float64 for the quotient of integers.
    Raises: ValueError if the shapes do not broadcast, or rounding_mode is unknown; TypeError if one is not numeric.
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
    """Raise `base` to the power `exponent`, elementwise.

    At exponent 0 the gradient of the base is 0, also at base 0. At base 0 the gradient of an exponent ≥ 0 is 0. At a
    negative real base the result is nan unless the exponent is an integer, and the gradient of the exponent is nan; a
    complex base, such as -2 + 0j, has both.
    Returns: a tensor of the common dtype of base and exponent.
    Raises: ValueError for integers with negative exponents; TypeError if an input is not numeric.
    >>> mg.power([2.0, 3.0, 9.0], [3.0, 2.0, 0.5]).tolist()
    [8.0, 9.0, 3.0]
    See: numpy.power; torch.pow."""
    return xp.power(base, exponent)


@elementwise(x=lambda x: 2 * x)
def square(xp, x):
    """Square each entry.

    square(x) = x · x. For complex numbers this is not the squared magnitude.
    >>> mg.square([-2.0, 3.0]).tolist()
    [4.0, 9.0]
    See: numpy.square; torch.square."""
    return x * x


@elementwise(x=lambda out: -out * out)
def reciprocal(xp, x):
    """Compute the reciprocal of each entry.

    reciprocal(x) = 1 / x, also for integers; inf at 0, with NumPy's warning.
    Returns: a tensor of the dtype of x; float64 for integers.
    >>> mg.reciprocal([2, 4]).tolist()
    [0.5, 0.25]
    See: numpy.reciprocal (which truncates for integers); torch.reciprocal."""
    return 1 / x


@elementwise(x=lambda xp, x: xp.sign(x))
def absolute(xp, x):
    """Compute the absolute value of each entry.

    absolute(x) = |x|; for complex numbers √(re² + im²). At 0 the gradient is 0, as in PyTorch.
    Returns: a tensor of the dtype of x; real if x is complex.
    >>> mg.abs([-2.0, 3.0]).tolist()
    [2.0, 3.0]
    >>> mg.abs(3 + 4j).item()
    5.0
    See: numpy.absolute; torch.abs."""
    return abs(x)


@elementwise(a=lambda xp, a, b: xp.sign(a) * xp.copysign(1.0, b))
def copysign(xp, a, b):
    """Return the magnitude of `a` with the sign of `b`, elementwise.

    -0.0 counts as negative. The gradient of b is 0, and at a = 0 that of a is 0, too, as in PyTorch.
    >>> mg.copysign([3.0, -3.0], [-1.0, 1.0]).tolist()
    [-3.0, 3.0]
    See: numpy.copysign; torch.copysign."""
    return xp.copysign(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.trunc(a / b))
def fmod(xp, a, b):
    """Compute the remainder of a division, with the sign of the dividend `a`.

    fmod(a, b) = a - b · trunc(a / b), as % in C. For b = 0 the result is nan, or 0 for integers.
    >>> mg.fmod([-7.0, 7.0], [3.0, -3.0]).tolist()
    [-1.0, 1.0]
    See: numpy.fmod; torch.fmod."""
    return xp.fmod(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.floor(a / b))
def remainder(xp, a, b):
    """Compute the remainder of a division, with the sign of the divisor `b`.

    remainder(a, b) = a - b · floor(a / b), as % in Python. For b = 0 the result is nan, or 0 for integers.
    >>> mg.remainder([-7.0, 7.0], [3.0, -3.0]).tolist()
    [2.0, -2.0]
    See: numpy.remainder; torch.remainder."""
    return xp.remainder(a, b)

mod = remainder


@composite
@elementwise(x=lambda scale: scale, scale=lambda x: x, shift=lambda: 1)
def affine(xp, x, scale, shift):
    """Compute scale · x + shift elementwise.

    affine(x, scale, shift) = scale · x + shift, as a single node in the graph.
    >>> mg.affine([1.0, 2.0], 10.0, 0.5).tolist()
    [10.5, 20.5]
    See: torch.addcmul(shift, x, scale)."""
    return scale * x + shift


@composite
@elementwise(start=lambda weight: 1 - weight, end=lambda weight: weight, weight=lambda start, end: end - start)
def lerp(xp, start, end, weight):
    """Interpolate linearly from `start` (weight 0) to `end` (weight 1).

    lerp(start, end, weight) = start + weight · (end - start). A weight outside 0 to 1 extrapolates.
    Raises: ValueError if the shapes do not broadcast; TypeError if start and end are boolean, or not numeric.
    >>> mg.lerp(0.0, 10.0, [0.0, 0.25, 1.0]).tolist()
    [0.0, 2.5, 10.0]
    See: torch.lerp."""
    return start + weight * (end - start)


@composite
@elementwise(x=lambda: 1, a=lambda b, value: value * b, b=lambda a, value: value * a)
def addcmul(xp, x, a, b, *, value=1.0):
    """Add the product of two inputs, times a constant, to x.

    addcmul(x, a, b) = x + value · a · b, as a single node in the graph.
    Args:
        value: a constant factor, a number; default 1.0.
    Returns: a tensor of the common dtype of the inputs; float64 for integers.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is not numeric, or value is not a number.
    >>> mg.addcmul([1.0, 2.0], [3.0, 4.0], [5.0, 6.0], value=0.5).tolist()
    [8.5, 14.0]
    See: torch.addcmul."""
    return x + value * a * b


@elementwise(a=lambda a, b: (a > b) + 0.5 * (a == b), b=lambda a, b: (b > a) + 0.5 * (a == b))
@real_only
def maximum(xp, a, b):
    """Compute the larger of two entries, elementwise.

    The result is nan if either is nan. At a tie each input receives half of the gradient, as in PyTorch and JAX.
    >>> mg.maximum([1.0, 5.0], [3.0, 2.0]).tolist()
    [3.0, 5.0]
    >>> mg.grad(mg.maximum)(1.0, 1.0).item()
    0.5
    See: numpy.maximum; torch.maximum; `mg.max` for the largest along an axis."""
    return xp.maximum(a, b)


@elementwise(a=lambda a, b: (a < b) + 0.5 * (a == b), b=lambda a, b: (b < a) + 0.5 * (a == b))
@real_only
def minimum(xp, a, b):
    """Compute the smaller of two entries, elementwise.

    The result is nan if either is nan. At a tie each input receives half of the gradient, as in PyTorch and JAX.
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
    """Limit each entry to the range from `min` to `max`; to `max` if min > max.

    clip(x) = minimum(maximum(x, min), max). At a bound the gradient goes to x, as in PyTorch; beyond it, to the bound.
    Args:
        min, max: bounds, real numbers; None (default) for none.
    >>> mg.clip([-2.0, 0.5, 3.0], 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    See: numpy.clip; torch.clamp."""
    return xp.clip(x, min, max)
