"""Operations that treat each entry by itself: arithmetic, powers, trigonometry, rounding, comparisons.

A rule here is a local derivative. The engine multiplies it by upstream, and undoes broadcasting.
"""

from math import inf, log as ln, pi, sqrt as root

from ..backends import devices
from ..core.composite import composite
from ..core.define import elementwise, linear, mask, namespace_function, nondifferentiable, op, real_only, wraps_op
from ..core.errors import names_itself

# Arithmetic -----------------


@elementwise(x=lambda: -1)
def negative(xp, x):
    """Negation: the number with the other sign.

    negative(x) = -x, entry by entry; `-x` of a tensor.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is boolean or not made of numbers.
    Example:
        >>> mg.negative([1.0, -2.0]).tolist()
        [-1.0, 2.0]

    See: numpy.negative; torch.neg.
    """
    return -x


@elementwise(x=lambda: 1)
def positive(xp, x):
    """Unary plus: the number itself.

    positive(x) = +x, a node of its own in the graph; `+x` of a tensor.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is boolean or not made of numbers.
    Example:
        >>> mg.positive([1.0, -2.0]).tolist()
        [1.0, -2.0]

    See: numpy.positive; torch.positive.
    """
    return +x


@elementwise(a=lambda: 1, b=lambda: 1)
def add(xp, a, b):
    """Addition: the sum of two.

    add(a, b) = a + b, entry by entry.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.add([[1.0], [2.0]], [10.0, 20.0]).tolist()
        [[11.0, 21.0], [12.0, 22.0]]

    See: numpy.add; torch.add; CS231n notes, Backpropagation, Patterns in backward flow.
    """
    return a + b


@elementwise(a=lambda: 1, b=lambda: -1)
def subtract(xp, a, b):
    """Subtraction: the first less the second.

    subtract(a, b) = a - b, entry by entry.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where both are boolean, or one is not made of
        numbers.
    Example:
        >>> mg.subtract([5.0, 7.0], 2.0).tolist()
        [3.0, 5.0]

    See: numpy.subtract; torch.sub.
    """
    return a - b


@elementwise(a=lambda b: b, b=lambda a: a)
def multiply(xp, a, b):
    """Multiplication: the product of two, entry by entry.

    multiply(a, b) = a · b. The product of matrices is `matmul`.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.multiply([2.0, 3.0], [5.0, 7.0]).tolist()
        [10.0, 21.0]

    See: numpy.multiply; torch.mul; CS231n notes, Backpropagation, Patterns in backward flow.
    """
    return a * b


@elementwise(a=lambda xp, b: xp.divide(1, b), b=lambda out, b: -out / b)
def divide(xp, a, b):
    """Division: the quotient of two.

    divide(a, b) = a / b, entry by entry, of whole numbers too. Divided by 0 it is inf or nan, with NumPy's warning.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a: numerator, real or complex numbers.
        b: denominator, real or complex numbers.
    Returns: a tensor of the dtype that a and b promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.divide([1, 3], [2, 4]).tolist()
        [0.5, 0.75]

    See: numpy.divide; torch.div.
    """
    return a / b


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

    Shapes: base, exponent of shapes that broadcast -> the broadcast shape.
    Args:
        base, exponent: real or complex numbers.
    Returns: a tensor of the dtype that base and exponent promote to.
    Raises: ValueError where the shapes do not broadcast, or whole numbers meet a negative whole exponent; TypeError
        where an input is not made of numbers.
    Example:
        >>> mg.power([2.0, 3.0, 9.0], [3.0, 2.0, 0.5]).tolist()
        [8.0, 9.0, 3.0]

    See: numpy.power; torch.pow.
    """
    return xp.power(base, exponent)


@composite
@elementwise(x=lambda scale: scale, scale=lambda x: x, shift=lambda: 1)
def affine(xp, x, scale, shift):
    """Affine map: the straight line scale · x + shift.

    affine(x, scale, shift) = scale · x + shift, entry by entry, as one node of the graph.

    Shapes: x, scale, shift of shapes that broadcast -> the broadcast shape.
    Args:
        x: real or complex numbers.
        scale: the slope of the line.
        shift: its height at x = 0.
    Returns: a tensor of the dtype that the three promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input is not made of numbers.
    Example:
        >>> mg.affine([1.0, 2.0], 10.0, 0.5).tolist()
        [10.5, 20.5]

    See: torch.addcmul(shift, x, scale).
    """
    return scale * x + shift


@composite
@elementwise(start=lambda weight: 1 - weight, end=lambda weight: weight, weight=lambda start, end: end - start)
def lerp(xp, start, end, weight):
    """Linear interpolation: the point between `start` (weight 0) and `end` (weight 1).

    lerp(start, end, weight) = start + weight · (end - start). A weight outside 0 to 1 goes on along the line.

    Shapes: start, end, weight of shapes that broadcast -> the broadcast shape.
    Args:
        start, end: real or complex numbers.
        weight: the share of `end`, numbers.
    Returns: a tensor of the dtype that the three promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input is not made of numbers, or start and
        end are boolean.
    Example:
        >>> mg.lerp(0.0, 10.0, [0.0, 0.25, 1.0]).tolist()
        [0.0, 2.5, 10.0]

    See: torch.lerp.
    """
    return start + weight * (end - start)


@composite
@elementwise(x=lambda: 1, a=lambda b, value: value * b, b=lambda a, value: value * a)
def addcmul(xp, x, a, b, *, value=1.0):
    """Multiply and add: a product, times a fixed factor, added to x.

    addcmul(x, a, b) = x + value · a · b, entry by entry, as one node of the graph.

    Shapes: x, a, b of shapes that broadcast -> the broadcast shape.
    Args:
        x, a, b: real or complex numbers.
        value: the factor, a number that receives no gradient; default 1.0.
    Returns: a tensor of the dtype that the three promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input is not made of numbers, or value is
        no number.
    Example:
        >>> mg.addcmul([1.0, 2.0], [3.0, 4.0], [5.0, 6.0], value=0.5).tolist()
        [8.5, 14.0]

    See: torch.addcmul.
    """
    return x + value * a * b


@elementwise(a=lambda a, b: (a > b) + 0.5 * (a == b), b=lambda a, b: (b > a) + 0.5 * (a == b))
@real_only
def maximum(xp, a, b):
    """Maximum of two, entry by entry.

    maximum(a, b) = a where a > b, else b; where either is nan, nan. At a tie both could move the result, and each
    receives half, as in PyTorch and JAX.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.maximum([1.0, 5.0], [3.0, 2.0]).tolist()
        [3.0, 5.0]
        >>> mg.grad(mg.maximum)(1.0, 1.0).item()
        0.5

    See: numpy.maximum; torch.maximum; `mg.max` for the largest along an axis.
    """
    return xp.maximum(a, b)


@elementwise(a=lambda a, b: (a < b) + 0.5 * (a == b), b=lambda a, b: (b < a) + 0.5 * (a == b))
@real_only
def minimum(xp, a, b):
    """Minimum of two, entry by entry.

    minimum(a, b) = a where a < b, else b; where either is nan, nan. At a tie both could move the result, and each
    receives half, as in PyTorch and JAX.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.minimum([1.0, 5.0], [3.0, 2.0]).tolist()
        [1.0, 2.0]

    See: numpy.minimum; torch.minimum; `mg.min` for the smallest along an axis.
    """
    return xp.minimum(a, b)


@linear(
    a=lambda xp, upstream, condition: xp.where(condition, upstream, 0.0),
    b=lambda xp, upstream, condition: xp.where(condition, 0.0, upstream),
)
def where(xp, condition, a, b):
    """Selection by a condition: `a` where it holds, else `b`.

    What was not taken receives 0, whatever it holds; the condition receives nothing. That 0 times an infinite slope
    further back is nan: mg.where(x > 0, mg.log(x), 0.0) has no gradient at 0. Make the argument safe first:
    mg.log(mg.where(x > 0, x, 1.0)).

    Shapes: condition, a, b of shapes that broadcast -> the broadcast shape.
    Args:
        condition: booleans, or numbers of which all but 0 hold.
        a, b: real or complex numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input is not made of numbers.
    Example:
        >>> mg.where([True, False], [1.0, 2.0], 0.0).tolist()
        [1.0, 0.0]

    See: numpy.where; torch.where.
    """
    return xp.where(condition, a, b)


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

    Shapes: x, min, max of shapes that broadcast -> the broadcast shape.
    Args:
        x: real numbers.
        min: lower bound, real numbers; None, the default, for none.
        max: upper bound, real numbers; None, the default, for none.
    Returns: a tensor of the dtype that the three promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input is complex or not made of numbers.
    Example:
        >>> mg.clip([-2.0, 0.5, 3.0], 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
        >>> mg.grad(mg.clip)(1.0, 0.0, 1.0).item()
        1.0

    See: numpy.clip; torch.clamp.
    """
    return xp.clip(x, min, max)


@elementwise(a=lambda a, b: b / (a * a + b * b), b=lambda a, b: -a / (a * a + b * b))
def arctan2(xp, a, b):
    """Angle of the point (b, a) in radians: the arc tangent of a / b in the right quadrant.

    arctan2(a, b) = atan(a / b), with π added or subtracted where b < 0: from -π to π. At the origin the value is 0 or
    ±π, by the signs of the zeros, and the gradient nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a: the vertical coordinate y, real numbers.
        b: the horizontal coordinate x, real numbers.
    Returns: a tensor of the dtype that a and b promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.arctan2([1.0, 1.0], [1.0, -1.0])
        tensor([0.78539816, 2.35619449])

    See: numpy.arctan2; torch.atan2.
    """
    return xp.arctan2(a, b)


@elementwise(a=lambda a, out: a / out, b=lambda b, out: b / out)
def hypot(xp, a, b):
    """Hypotenuse: the length of the vector (a, b).

    hypot(a, b) = √(a² + b²), without overflow of the squares. At the origin it has no slope, and the gradient is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of the dtype that a and b promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.hypot([3.0, 5.0], [4.0, 12.0]).tolist()
        [5.0, 13.0]

    See: numpy.hypot; torch.hypot.
    """
    return xp.hypot(a, b)


@elementwise(a=lambda xp, a, b: xp.sigmoid(a - b), b=lambda xp, a, b: xp.sigmoid(b - a))
def logaddexp(xp, a, b):
    """Logarithm of the sum of two exponentials.

    logaddexp(a, b) = log(exp(a) + exp(b)), without overflow. Each receives its share of the sum: a receives σ(a - b),
    with σ the sigmoid. Where both are -inf the gradient is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers, logarithms of what is added.
    Returns: a tensor of the dtype that a and b promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.logaddexp(1000.0, 1000.0)
        tensor(1000.69314718)

    See: numpy.logaddexp; torch.logaddexp; `mg.logsumexp` along an axis.
    """
    return xp.logaddexp(a, b)


@elementwise(a=lambda xp, a, b: xp.sign(a) * xp.copysign(1.0, b))
def copysign(xp, a, b):
    """Copied sign: the size of `a` with the sign of `b`.

    copysign(a, b) = |a| with the sign of b, in which -0.0 is negative. Nothing small happens as b moves, so it receives
    nothing; at a = 0 the slope is 0, as in PyTorch.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a: real numbers, of which the size counts.
        b: real numbers, of which the sign counts.
    Returns: a tensor of the dtype that a and b promote to; float64 for whole numbers.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.copysign([3.0, -3.0], [-1.0, 1.0]).tolist()
        [-3.0, 3.0]

    See: numpy.copysign; torch.copysign.
    """
    return xp.copysign(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.trunc(a / b))
def fmod(xp, a, b):
    """Remainder of a division, with the sign of the dividend `a`.

    fmod(a, b) = a - b · trunc(a / b), as % in C. The slope by b is minus the whole number of times that b fits. Where b
    is 0 it is nan, of whole numbers 0.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a: dividend, real numbers.
        b: divisor, real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.fmod([-7.0, 7.0], [3.0, -3.0]).tolist()
        [-1.0, 1.0]

    See: numpy.fmod; torch.fmod.
    """
    return xp.fmod(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.floor(a / b))
def remainder(xp, a, b):
    """Modulo: the remainder of a division, with the sign of the divisor `b`.

    remainder(a, b) = a - b · floor(a / b), as % in Python and of tensors. The slope by b is minus the whole number of
    times that b fits. Where b is 0 it is nan, of whole numbers 0.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a: dividend, real numbers.
        b: divisor, real numbers.
    Returns: a tensor of the dtype that a and b promote to.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.remainder([-7.0, 7.0], [3.0, -3.0]).tolist()
        [2.0, -2.0]

    See: numpy.remainder; torch.remainder.
    """
    return xp.remainder(a, b)


mod = remainder


# Powers, exponentials, logarithms ----


@elementwise(x=lambda xp, x: xp.sign(x))
def absolute(xp, x):
    """Absolute value: the distance from 0.

    absolute(x) = |x|; of a complex number its length √(re² + im²). At 0 itself the slope is 0, as in PyTorch.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; real for complex numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.abs([-2.0, 3.0]).tolist()
        [2.0, 3.0]
        >>> mg.abs(3 + 4j).item()
        5.0

    See: numpy.absolute; torch.abs.
    """
    return abs(x)


@elementwise(x=lambda x: 2 * x)
def square(xp, x):
    """Square: a number times itself.

    square(x) = x · x; of a complex number not the square of its length.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.square([-2.0, 3.0]).tolist()
        [4.0, 9.0]

    See: numpy.square; torch.square.
    """
    return x * x


@elementwise(x=lambda out: 0.5 / out)
def sqrt(xp, x):
    """Square root.

    sqrt(x) = √x, the one that is not negative; of a negative real number nan. At 0 the slope is inf.

    Shapes: any -> the same.
    Args:
        x: real numbers of at least 0, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.sqrt([4.0, 9.0]).tolist()
        [2.0, 3.0]
        >>> mg.sqrt(-1 + 0j).item()
        1j

    See: numpy.sqrt; torch.sqrt.
    """
    return xp.sqrt(x)


@elementwise(x=lambda x, out: -0.5 * out / x)
def rsqrt(xp, x):
    """Reciprocal square root: one over the square root.

    rsqrt(x) = 1 / √x; of a negative real number nan. At 0 the value is inf and the slope -inf.

    Shapes: any -> the same.
    Args:
        x: positive real numbers, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.rsqrt([4.0, 0.25]).tolist()
        [0.5, 2.0]

    See: torch.rsqrt.
    """
    return 1 / xp.sqrt(x)


@elementwise(x=lambda out: 1 / (3 * out * out))
def cbrt(xp, x):
    """Cube root, of negative numbers too.

    cbrt(x) = ∛x, the real one. At 0 the slope is inf.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.cbrt([-8.0, 27.0]).tolist()
        [-2.0, 3.0]

    See: numpy.cbrt.
    """
    return xp.cbrt(x)


@elementwise(x=lambda out: -out * out)
def reciprocal(xp, x):
    """Reciprocal: one over a number.

    reciprocal(x) = 1 / x, also of whole numbers; inf at 0, with NumPy's warning.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.reciprocal([2, 4]).tolist()
        [0.5, 0.25]

    See: numpy.reciprocal (which cuts off the fraction of whole numbers); torch.reciprocal.
    """
    return 1 / x


@elementwise(x=lambda out: out)
def exp(xp, x):
    """Exponential: the function that is its own slope.

    exp(x) = e^x with e = 2.71828…; beyond x = 709.78 it is inf in float64.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.exp([0.0, 1.0])
        tensor([1.        , 2.71828183])

    See: numpy.exp; torch.exp.
    """
    return xp.exp(x)


@elementwise(x=lambda xp, x: xp.exp(x))
def expm1(xp, x):
    """Exponential minus one, exact for small x.

    expm1(x) = exp(x) - 1, without the subtraction of near equals that loses the digits of a small x.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.expm1(1e-12).item(), (mg.exp(1e-12) - 1).item()
        (1.0000000000005e-12, 1.000088900582341e-12)

    See: numpy.expm1; torch.expm1.
    """
    return xp.expm1(x)


@elementwise(x=lambda x: 1 / x)
def log(xp, x):
    """Natural logarithm: the inverse of the exponential.

    log(x) = ln x; -inf with slope inf at 0, nan of a negative real number. Of a complex number the imaginary part is
    its angle, from -π to π.

    Shapes: any -> the same.
    Args:
        x: positive real numbers, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.log([1.0, 10.0])
        tensor([0.        , 2.30258509])

    See: numpy.log; torch.log.
    """
    return xp.log(x)


@elementwise(x=lambda x: 1 / (1 + x))
def log1p(xp, x):
    """Natural logarithm of one plus x, exact for small x.

    log1p(x) = log(1 + x), without the addition that loses the digits of a small x; -inf with slope inf at -1, nan of a
    real number below.

    Shapes: any -> the same.
    Args:
        x: real numbers above -1, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.log1p(1e-12).item(), mg.log(1 + 1e-12).item()
        (9.999999999995e-13, 1.000088900581841e-12)

    See: numpy.log1p; torch.log1p.
    """
    return xp.log1p(x)


@elementwise(x=lambda x: 1 / (x * ln(2)))
def log2(xp, x):
    """Logarithm to base 2.

    log2(x) = ln x / ln 2: the bits it takes to tell x things apart. At and below 0 it does as `log`.

    Shapes: any -> the same.
    Args:
        x: positive real numbers, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.log2([1.0, 2.0, 8.0]).tolist()
        [0.0, 1.0, 3.0]

    See: numpy.log2; torch.log2.
    """
    return xp.log2(x)


@elementwise(x=lambda x: 1 / (x * ln(10)))
def log10(xp, x):
    """Logarithm to base 10.

    log10(x) = ln x / ln 10. At and below 0 it does as `log`.

    Shapes: any -> the same.
    Args:
        x: positive real numbers, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.log10([1.0, 10.0, 1000.0]).tolist()
        [0.0, 1.0, 3.0]

    See: numpy.log10; torch.log10.
    """
    return xp.log10(x)


# Circular and hyperbolic functions ----


@elementwise(x=lambda xp, x: xp.cos(x))
def sin(xp, x):
    """Sine of an angle in radians.

    sin(x) = (exp(ix) - exp(-ix)) / 2i: the height of the point on the unit circle at angle x. It repeats after 2π.

    Shapes: any -> the same.
    Args:
        x: angles in radians, real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.sin([0.0, 1.0])
        tensor([0.        , 0.84147098])

    See: numpy.sin; torch.sin.
    """
    return xp.sin(x)


@elementwise(x=lambda xp, x: -xp.sin(x))
def cos(xp, x):
    """Cosine of an angle in radians.

    cos(x) = (exp(ix) + exp(-ix)) / 2: how far to the right the point on the unit circle at angle x lies. It repeats
    after 2π.

    Shapes: any -> the same.
    Args:
        x: angles in radians, real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.cos([0.0, 1.0])
        tensor([1.        , 0.54030231])

    See: numpy.cos; torch.cos.
    """
    return xp.cos(x)


@elementwise(x=lambda out: 1 + out * out)
def tan(xp, x):
    """Tangent of an angle in radians.

    tan(x) = sin(x) / cos(x): the slope of a line at angle x. It repeats after π, with poles at odd multiples of π/2.

    Shapes: any -> the same.
    Args:
        x: angles in radians, real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.tan([0.0, 1.0])
        tensor([0.        , 1.55740772])

    See: numpy.tan; torch.tan.
    """
    return xp.tan(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(1 - x * x))
def arcsin(xp, x):
    """Inverse sine: the angle whose sine is x.

    arcsin(x) is from -π/2 to π/2; nan of a real number outside -1 to 1. At -1 and 1 the slope is inf.

    Shapes: any -> the same.
    Args:
        x: real numbers from -1 to 1, or complex numbers.
    Returns: the angle in radians, a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arcsin([0.0, 0.5, 1.0])
        tensor([0.        , 0.52359878, 1.57079633])

    See: numpy.arcsin; torch.asin.
    """
    return xp.arcsin(x)


@elementwise(x=lambda xp, x: -1 / xp.sqrt(1 - x * x))
def arccos(xp, x):
    """Inverse cosine: the angle whose cosine is x.

    arccos(x) = π/2 - arcsin(x) is from 0 to π; nan of a real number outside -1 to 1. At -1 and 1 the slope is -inf.

    Shapes: any -> the same.
    Args:
        x: real numbers from -1 to 1, or complex numbers.
    Returns: the angle in radians, a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arccos([1.0, 0.5, 0.0])
        tensor([0.        , 1.04719755, 1.57079633])

    See: numpy.arccos; torch.acos.
    """
    return xp.arccos(x)


@elementwise(x=lambda x: 1 / (1 + x * x))
def arctan(xp, x):
    """Inverse tangent: the angle whose tangent is x.

    arctan(x) is between -π/2 and π/2. `arctan2` knows the quadrant too.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: the angle in radians, a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arctan([0.0, 1.0])
        tensor([0.        , 0.78539816])

    See: numpy.arctan; torch.atan.
    """
    return xp.arctan(x)


@elementwise(x=lambda xp, x: xp.cosh(x))
def sinh(xp, x):
    """Hyperbolic sine.

    sinh(x) = (exp(x) - exp(-x)) / 2: the odd part of the exponential.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.sinh([0.0, 1.0])
        tensor([0.        , 1.17520119])

    See: numpy.sinh; torch.sinh.
    """
    return xp.sinh(x)


@elementwise(x=lambda xp, x: xp.sinh(x))
def cosh(xp, x):
    """Hyperbolic cosine: the shape of a hanging chain.

    cosh(x) = (exp(x) + exp(-x)) / 2: the even part of the exponential.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.cosh([0.0, 1.0])
        tensor([1.        , 1.54308063])

    See: numpy.cosh; torch.cosh.
    """
    return xp.cosh(x)


@elementwise(x=lambda out: 1 - out * out)
def tanh(xp, x):
    """Hyperbolic tangent: a smooth step from -1 to 1.

    tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)) = 2σ(2x) - 1, where σ is the sigmoid.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.tanh([0.0, 1.0])
        tensor([0.        , 0.76159416])

    See: numpy.tanh; torch.tanh; CS231n notes, Neural Networks Part 1.
    """
    return xp.tanh(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(x * x + 1))
def arcsinh(xp, x):
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x.

    arcsinh(x) = log(x + √(x² + 1)).

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arcsinh([0.0, 1.0])
        tensor([0.        , 0.88137359])

    See: numpy.arcsinh; torch.asinh.
    """
    return xp.arcsinh(x)


@elementwise(x=lambda xp, x: 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1)))
def arccosh(xp, x):
    """Inverse hyperbolic cosine: the number, at least 0, whose hyperbolic cosine is x.

    arccosh(x) = log(x + √(x + 1) · √(x - 1)); nan of a real number below 1. At 1 the slope is inf.

    Shapes: any -> the same.
    Args:
        x: real numbers of at least 1, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arccosh([1.0, 2.0])
        tensor([0.       , 1.3169579])

    See: numpy.arccosh; torch.acosh.
    """
    return xp.arccosh(x)


@elementwise(x=lambda x: 1 / (1 - x * x))
def arctanh(xp, x):
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x.

    arctanh(x) = log((1 + x) / (1 - x)) / 2; infinite at -1 and 1, nan of a real number outside.

    Shapes: any -> the same.
    Args:
        x: real numbers between -1 and 1, or complex numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.arctanh([0.0, 0.5])
        tensor([0.        , 0.54930614])

    See: numpy.arctanh; torch.atanh.
    """
    return xp.arctanh(x)


TWO_OVER_ROOT_PI = 2 / root(pi)


@elementwise(x=lambda xp, x: TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erf(xp, x):
    """Error function: the share of a bell curve within √2 · x standard deviations.

    erf(x) = 2 / √π · ∫ exp(-t²) dt from 0 to x. It is odd, and goes from -1 to 1.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.erf([0.0, 1.0])
        tensor([0.        , 0.84270079])

    See: scipy.special.erf; torch.erf.
    """
    return xp.erf(x)


@elementwise(x=lambda xp, x: -TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erfc(xp, x):
    """Complementary error function, exact where it is tiny.

    erfc(x) = 1 - erf(x) = 2 / √π · ∫ exp(-t²) dt from x to infinity.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x; float64 for whole numbers.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.erfc([0.0, 10.0]), 1 - mg.erf([0.0, 10.0])
        (tensor([1.00000000e+00, 2.08848758e-45]), tensor([1., 0.]))

    See: scipy.special.erfc; torch.erfc.
    """
    return xp.erfc(x)


# Steps: flat everywhere but where they jump ----


@elementwise(x=lambda: 0)
def floor(xp, x):
    """Floor: the whole number below.

    floor(x) is the largest whole number that is at most x. Flat between its jumps, so nothing goes back.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.floor([-1.5, 1.5]).tolist()
        [-2.0, 1.0]

    See: numpy.floor; torch.floor.
    """
    return xp.floor(x)


@elementwise(x=lambda: 0)
def ceil(xp, x):
    """Ceiling: the whole number above.

    ceil(x) is the smallest whole number that is at least x. Flat between its jumps, so nothing goes back.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.ceil([-1.5, 1.5]).tolist()
        [-1.0, 2.0]

    See: numpy.ceil; torch.ceil.
    """
    return xp.ceil(x)


@elementwise(x=lambda: 0)
def trunc(xp, x):
    """Truncation: the whole number towards 0.

    trunc(x) is x without its fraction. Flat between its jumps, so nothing goes back.

    Shapes: any -> the same.
    Args:
        x: real numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is complex or not made of numbers.
    Example:
        >>> mg.trunc([-1.5, 1.5]).tolist()
        [-1.0, 1.0]

    See: numpy.trunc; torch.trunc.
    """
    return xp.trunc(x)


fix = trunc


@elementwise(x=lambda: 0)
def round(xp, x, *, decimals=0):
    """Rounding: the nearest number of so many decimals.

    Halves go to the even neighbour. Flat between its jumps, so nothing goes back.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers; of the latter each part is rounded.
        decimals: the digits kept after the point, a whole number, negative for tens and hundreds; default 0.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is not made of numbers, or decimals is not whole.
    Example:
        >>> mg.round([0.5, 1.5, 2.5]).tolist()
        [0.0, 2.0, 2.0]
        >>> mg.round([123.456], decimals=-1).tolist()
        [120.0]

    See: numpy.round; torch.round.
    """
    return xp.round(x, decimals)


around = round


@op
def sign(xp, x):
    """Sign: -1, 0 or 1.

    sign(x) = x / |x|, and 0 at 0; of a complex number that is its direction. Between real numbers it is flat but for
    its jump, so nothing goes back.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is boolean or not made of numbers.
    Example:
        >>> mg.sign([-2.0, 0.0, 5.0]).tolist()
        [-1.0, 0.0, 1.0]
        >>> mg.sign(3 + 4j).item()
        (0.6+0.8j)

    See: numpy.sign; torch.sgn.
    """
    return xp.sign(x)


@sign.rule("x")
def _(xp, upstream, x, out):
    """A direction turns when x moves across it, and the more the nearer x is to 0; along it, and between real numbers,
    nothing turns."""
    across = upstream - xp.conj(out) * xp.real(out * upstream)
    return across / xp.where(x == 0, inf, abs(x))


# Complex numbers: the gradient of a real loss is dL/d(re) + i dL/d(im) ----


@elementwise(x=lambda: 1)
def real(xp, x):
    """Real part of a complex number.

    real(a + bi) = a; a real number is its own.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape of x, in the real dtype of its parts.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.real([1 + 2j, 3.0]).tolist()
        [1.0, 3.0]

    See: numpy.real; torch.real.
    """
    return xp.real(x)


@linear(x=lambda upstream: upstream * 1j)
def imag(xp, x):
    """Imaginary part of a complex number.

    imag(a + bi) = b; of a real number 0. A step along i is a step of the result.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape of x, in the real dtype of its parts.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.imag([1 + 2j, 3.0]).tolist()
        [2.0, 0.0]

    See: numpy.imag; torch.imag.
    """
    return xp.imag(x)


@linear(x=lambda xp, upstream: xp.conj(upstream))
def conj(xp, x):
    """Complex conjugate: the mirror image in the real axis.

    conj(a + bi) = a - bi; a real number is its own.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape and dtype of x.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.conj([1 + 2j, 3.0]).tolist()
        [(1-2j), (3-0j)]

    See: numpy.conjugate; torch.conj.
    """
    return xp.conj(x)


conjugate = conj


@op
def angle(xp, x):
    """Angle of a complex number in radians.

    angle(a + bi) = arctan2(b, a), from -π to π: 0 of a positive number, π of a negative one. At 0 the slope is 0.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the shape of x, in the real dtype of its parts; float64 for whole numbers.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.angle([1j, -1.0])
        tensor([1.57079633, 3.14159265])

    See: numpy.angle; torch.angle.
    """
    return xp.angle(x)


@angle.rule("x")
def _(xp, upstream, x):
    """An angle turns fastest as x moves across its ray, and faster nearer to 0; at 0 the slope is taken to be 0."""
    return upstream * 1j * x / xp.where(x == 0, inf, xp.square(abs(x)))


@linear(x=lambda upstream: upstream)
def _astype(xp, x, *, dtype):
    """Conversion to another dtype; the gradient is cast back."""
    return xp.astype(x, dtype)


@wraps_op(_astype, namespace=True)
@names_itself
def astype(x, dtype):
    """Conversion to another dtype.

    The gradient is cast back. Through whole numbers and booleans nothing goes back. Floats become whole by leaving out
    the fraction; complex numbers become real by leaving out the imaginary part, with NumPy's warning.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
        dtype: float, complex, int, bool, or a NumPy dtype or its name, such as "float32".
    Returns: a tensor of the values in that dtype.
    Raises: TypeError where x is not made of numbers, or dtype is not one of numbers.
    Example:
        >>> mg.astype([1.7, -1.7], int).tolist()
        [1, -1]

    See: numpy.ndarray.astype; torch.Tensor.to.
    """
    wanted, given = devices.device("cpu").library.dtype(dtype), getattr(x, "dtype", None)
    if wanted.kind not in "biufc":
        raise TypeError(f"{wanted} is no dtype of numbers; write float, complex, int, bool, or e.g. 'float32'")
    ends = wanted.kind not in "fc" and given is not None and given.kind in "fc"
    return _astype(stop_gradient(x) if ends else x, dtype=wanted)


@namespace_function
@names_itself
def cast(x, dtype):
    """Conversion to another dtype that takes the real part where complex numbers become real.

    What rules use to bring a contribution into the dtype of its input. Otherwise it is `astype`.

    Shapes: any -> the same.
    Args:
        x: a tensor or an array.
        dtype: a NumPy dtype of numbers, such as np.dtype("float32").
    Returns: a tensor of the values in that dtype.
    Raises: TypeError where x has no dtype, or dtype is not one of numbers.
    Example:
        >>> mg.cast(mg.tensor([1 + 2j]), np.dtype(float)).tolist()
        [1.0]

    See: numpy.ndarray.astype.
    """
    return astype(real(x) if x.dtype.kind == "c" and dtype.kind != "c" else x, dtype)


# Comparisons, logic and tests: true or false, and no graph ----


@nondifferentiable
def equal(xp, a, b):
    """Equality: whether the two are equal, entry by entry.

    a == b; nan is equal to nothing, not even to itself.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.equal([1.0, 2.0], [1.0, 3.0]).tolist()
        [True, False]

    See: numpy.equal; torch.eq; `isclose` for equality up to rounding.
    """
    return xp.equal(a, b)


@nondifferentiable
def not_equal(xp, a, b):
    """Inequality: whether the two differ, entry by entry.

    a != b; nan differs from everything, even from itself.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.not_equal([1.0, 2.0], [1.0, 3.0]).tolist()
        [False, True]

    See: numpy.not_equal; torch.ne.
    """
    return xp.not_equal(a, b)


@nondifferentiable
@real_only
def less(xp, a, b):
    """Comparison a < b: whether the first is smaller.

    Entry by entry; False where either is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.less([1.0, 2.0, 3.0], 2.0).tolist()
        [True, False, False]

    See: numpy.less; torch.lt.
    """
    return xp.less(a, b)


@nondifferentiable
@real_only
def less_equal(xp, a, b):
    """Comparison a <= b: whether the first is smaller or equal.

    Entry by entry; False where either is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.less_equal([1.0, 2.0, 3.0], 2.0).tolist()
        [True, True, False]

    See: numpy.less_equal; torch.le.
    """
    return xp.less_equal(a, b)


@nondifferentiable
@real_only
def greater(xp, a, b):
    """Comparison a > b: whether the first is larger.

    Entry by entry; False where either is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.greater([1.0, 2.0, 3.0], 2.0).tolist()
        [False, False, True]

    See: numpy.greater; torch.gt.
    """
    return xp.greater(a, b)


@nondifferentiable
@real_only
def greater_equal(xp, a, b):
    """Comparison a >= b: whether the first is larger or equal.

    Entry by entry; False where either is nan.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real numbers.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is complex or not made of numbers.
    Example:
        >>> mg.greater_equal([1.0, 2.0, 3.0], 2.0).tolist()
        [False, True, True]

    See: numpy.greater_equal; torch.ge.
    """
    return xp.greater_equal(a, b)


@nondifferentiable
def logical_and(xp, a, b):
    """Logical and: whether both hold.

    Entry by entry; `a & b` of tensors.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.logical_and([True, True, False], [True, False, False]).tolist()
        [True, False, False]

    See: numpy.logical_and; torch.logical_and.
    """
    return xp.logical_and(a, b)


@nondifferentiable
def logical_or(xp, a, b):
    """Logical or: whether at least one holds.

    Entry by entry; `a | b` of tensors.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.logical_or([True, True, False], [True, False, False]).tolist()
        [True, True, False]

    See: numpy.logical_or; torch.logical_or.
    """
    return xp.logical_or(a, b)


@nondifferentiable
def logical_xor(xp, a, b):
    """Logical exclusive or: whether exactly one holds.

    Entry by entry; of booleans the same as `not_equal`.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: booleans, or numbers of which all but 0 hold.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where a or b is not made of numbers.
    Example:
        >>> mg.logical_xor([True, True, False], [True, False, False]).tolist()
        [False, True, False]

    See: numpy.logical_xor; torch.logical_xor.
    """
    return xp.logical_xor(a, b)


@nondifferentiable
def logical_not(xp, x):
    """Logical not: whether it does not hold.

    Entry by entry; `~x` of a tensor.

    Shapes: any -> the same.
    Args:
        x: booleans, or numbers of which all but 0 hold.
    Returns: a tensor of booleans, without a graph.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.logical_not([True, False]).tolist()
        [False, True]

    See: numpy.logical_not; torch.logical_not.
    """
    return xp.logical_not(x)


@nondifferentiable
def isnan(xp, x):
    """Test for nan: whether it is not a number.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers; of the latter, either part counts.
    Returns: a tensor of booleans, without a graph.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.isnan([1.0, np.nan, np.inf]).tolist()
        [False, True, False]

    See: numpy.isnan; torch.isnan.
    """
    return xp.isnan(x)


@nondifferentiable
def isinf(xp, x):
    """Test for infinity, of either sign.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers; of the latter, either part counts.
    Returns: a tensor of booleans, without a graph.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.isinf([1.0, np.nan, -np.inf]).tolist()
        [False, False, True]

    See: numpy.isinf; torch.isinf.
    """
    return xp.isinf(x)


@nondifferentiable
def isfinite(xp, x):
    """Test for finite numbers: neither infinite nor nan.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers; of the latter, both parts count.
    Returns: a tensor of booleans, without a graph.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.isfinite([1.0, np.nan, np.inf]).tolist()
        [True, False, False]

    See: numpy.isfinite; torch.isfinite.
    """
    return xp.isfinite(x)


@nondifferentiable
def isclose(xp, a, b, *, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Equality up to rounding, entry by entry.

    |a - b| <= atol + rtol · |b|: b is the one that is measured by. Infinities are close to their like.

    Shapes: a, b of shapes that broadcast -> the broadcast shape.
    Args:
        a, b: real or complex numbers.
        rtol: relative tolerance, a number; default 1e-5.
        atol: absolute tolerance, a number; default 1e-8.
        equal_nan: whether nan is close to nan; default False.
    Returns: a tensor of booleans, without a graph.
    Raises: ValueError where the shapes do not broadcast; TypeError where an input or a tolerance is not made of
        numbers.
    Example:
        >>> mg.isclose([1.0, 1.0], [1.000001, 1.1]).tolist()
        [True, False]

    See: numpy.isclose; torch.isclose.
    """
    return xp.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@nondifferentiable
def stop_gradient(xp, x):
    """Stopped gradient: the same values, through which nothing goes back.

    It makes a constant of what was computed: x · stop_gradient(x) has the slope x, where x · x has 2x.

    Shapes: any -> the same.
    Args:
        x: real or complex numbers.
    Returns: a tensor of the values of x, without a graph.
    Raises: TypeError where x is not made of numbers.
    Example:
        >>> mg.grad(lambda x: x * mg.stop_gradient(x))(3.0).item()
        3.0

    See: jax.lax.stop_gradient; torch.Tensor.detach.
    """
    return xp.stop_gradient(x)


# New arrays, where another one lives ----


@nondifferentiable
def zeros_beside(xp, x, *, shape, dtype=None):
    """Zeros of a shape, on the device of `x` and of its dtype.

    The values of x do not matter, only where and what it is: so an operation makes an array without naming a device.

    Shapes: x any -> shape.
    Args:
        x: an array or a tensor, or numbers to make one of.
        shape: the shape of the result, a length or a tuple of them.
        dtype: its dtype; None, the default, for that of x.
    Returns: a tensor, without a graph.
    Raises: ValueError where a length is negative; TypeError where x is not made of numbers, or shape is not whole
        numbers.
    Example:
        >>> mg.zeros_beside(mg.tensor([1.0]), shape=(2, 3)).tolist()
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]

    See: numpy.zeros_like with shape; torch.Tensor.new_zeros.
    """
    return xp.zeros_beside(x, shape, dtype)


@nondifferentiable
def ones_beside(xp, x, *, shape):
    """Ones of a shape, on the device of `x` and of its dtype.

    Shapes: x any -> shape.
    Args:
        x: an array or a tensor, or numbers to make one of.
        shape: the shape of the result, a length or a tuple of them.
    Returns: a tensor, without a graph.
    Raises: ValueError where a length is negative; TypeError where x is not made of numbers, or shape is not whole
        numbers.
    Example:
        >>> mg.ones_beside(mg.tensor([5.0]), shape=(2, 3)).tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]

    See: numpy.ones_like with shape; torch.Tensor.new_ones.
    """
    return xp.ones_beside(x, shape)


@nondifferentiable
def eye_beside(xp, x, *, n):
    """Identity matrix, on the device of `x` and of its dtype.

    Ones on the diagonal, zeros beside it.

    Shapes: x any -> (n, n).
    Args:
        x: an array or a tensor, or numbers to make one of.
        n: how many rows and columns, a whole number.
    Returns: a tensor, without a graph.
    Raises: ValueError where n is negative; TypeError where x is not made of numbers, or n is not whole.
    Example:
        >>> mg.eye_beside(mg.tensor([5.0]), n=2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    See: numpy.eye; torch.eye.
    """
    return xp.eye_beside(x, n)
