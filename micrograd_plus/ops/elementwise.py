"""Operations that treat each entry by itself: arithmetic, powers, trigonometry, rounding, comparisons.

A rule here is a local derivative. The engine multiplies it by upstream, and undoes broadcasting.
"""

from math import inf, log as ln, pi, sqrt as root

from ..composites import composite
from ..hints import names_itself
from ..op import constant, elementwise, face, linear, mask, op, phrase, real_only
from ..readings import vocabulary

# Arithmetic -----------------


@elementwise(x=lambda: -1)
def negative(xp, x):
    """The number with the other sign."""
    return -x


@elementwise(x=lambda: 1)
def positive(xp, x):
    """The number itself."""
    return +x


@elementwise(a=lambda: 1, b=lambda: 1)
def add(xp, a, b):
    """The sum of two."""
    return a + b


@elementwise(a=lambda: 1, b=lambda: -1)
def subtract(xp, a, b):
    """The first less the second."""
    return a - b


@elementwise(a=lambda b: b, b=lambda a: a)
def multiply(xp, a, b):
    """The product of two."""
    return a * b


@elementwise(a=lambda b: 1 / b, b=lambda out, b: -out / b)
def divide(xp, a, b):
    """The first shared out by the second."""
    return a / b


@elementwise(
    base=lambda base, exponent: exponent * base ** (exponent - (exponent != 0)),
    exponent=lambda xp, base, out: out * xp.log(base + ((base == 0) & (abs(out) < inf))),
)
def power(xp, base, exponent):
    """`base` raised to `exponent`.

    To the power 0 everything is 1, with slope 0: lowering the exponent there would say 0 times infinity at base 0. As
    an exponent of at least 0 moves, a base of 0 stays 0; a negative base has a value only at whole exponents, and no
    slope between.
    """
    return xp.power(base, exponent)


@composite
@elementwise(x=lambda scale: scale, scale=lambda x: x, shift=lambda: 1)
def affine(xp, x, scale, shift):
    """A straight line: `scale * x + shift`."""
    return scale * x + shift


@composite
@elementwise(start=lambda weight: 1 - weight, end=lambda weight: weight, weight=lambda start, end: end - start)
def lerp(xp, start, end, weight):
    """The point between `start` (weight 0) and `end` (weight 1)."""
    return start + weight * (end - start)


@composite
@elementwise(x=lambda: 1, a=lambda b, value: value * b, b=lambda a, value: value * a)
def addcmul(xp, x, a, b, *, value=1.0):
    """A product added: `x + value * a * b`."""
    return x + value * a * b


@elementwise(a=lambda a, b: (a > b) + 0.5 * (a == b), b=lambda a, b: (b > a) + 0.5 * (a == b))
@real_only
def maximum(xp, a, b):
    """The larger of two. At a tie both could move the result, and each receives half."""
    return xp.maximum(a, b)


@elementwise(a=lambda a, b: (a < b) + 0.5 * (a == b), b=lambda a, b: (b < a) + 0.5 * (a == b))
@real_only
def minimum(xp, a, b):
    """The smaller of two. At a tie both could move the result, and each receives half."""
    return xp.minimum(a, b)


@linear(
    a=lambda xp, upstream, condition: xp.where(condition, upstream, 0.0),
    b=lambda xp, upstream, condition: xp.where(condition, 0.0, upstream),
)
def where(xp, condition, a, b):
    """`a` where the condition holds, else `b`. What was not taken receives 0, whatever it holds; the condition receives
    nothing."""
    return xp.where(condition, a, b)


@elementwise(
    x=mask(lambda x, min, max: (x >= (-inf if min is None else min)) & (x <= (inf if max is None else max))),
    min=mask(lambda x, min, max: (x < min) & (min < (inf if max is None else max))),
    max=mask(lambda x, min, max: (x > max) | ((-inf if min is None else min) > max)),
)
@real_only
def clip(xp, x, min=None, max=None):
    """The nearest number between `min` and `max`; it is `max` where the two are the wrong way round. At a bound itself
    the gradient passes to `x`, as in PyTorch; beyond it, to the bound."""
    return xp.clip(x, min, max)


@elementwise(a=lambda a, b: b / (a * a + b * b), b=lambda a, b: -a / (a * a + b * b))
def arctan2(xp, a, b):
    """The angle of the point (b, a), in radians between -pi and pi."""
    return xp.arctan2(a, b)


@elementwise(a=lambda a, out: a / out, b=lambda b, out: b / out)
def hypot(xp, a, b):
    """The length of the vector (a, b)."""
    return xp.hypot(a, b)


@elementwise(a=lambda xp, a, b: xp.sigmoid(a - b), b=lambda xp, a, b: xp.sigmoid(b - a))
def logaddexp(xp, a, b):
    """log(exp(a) + exp(b)), without overflow. Each receives its share of the sum."""
    return xp.logaddexp(a, b)


@elementwise(a=lambda xp, a, b: xp.sign(a) * xp.copysign(1.0, b))
def copysign(xp, a, b):
    """The size of `a` with the sign of `b`. Nothing small happens as `b` moves, so it receives nothing."""
    return xp.copysign(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.trunc(a / b))
def fmod(xp, a, b):
    """What is left of `a` after whole multiples of `b`, with the sign of `a`."""
    return xp.fmod(a, b)


@elementwise(a=lambda: 1, b=lambda xp, a, b: -xp.floor(a / b))
def remainder(xp, a, b):
    """What is left of `a` after whole multiples of `b`, with the sign of `b`."""
    return xp.remainder(a, b)


# Powers, exponentials, logarithms ----


@elementwise(x=lambda xp, x: xp.sign(x))
def absolute(xp, x):
    """The distance from 0. At 0 itself the slope is taken to be 0. Of a complex number, its length."""
    return abs(x)


@elementwise(x=lambda x: 2 * x)
def square(xp, x):
    """A number times itself."""
    return x * x


@elementwise(x=lambda out: 0.5 / out)
def sqrt(xp, x):
    """The square root."""
    return xp.sqrt(x)


@elementwise(x=lambda x, out: -0.5 * out / x)
def rsqrt(xp, x):
    """One over the square root."""
    return 1 / xp.sqrt(x)


@elementwise(x=lambda out: 1 / (3 * out * out))
def cbrt(xp, x):
    """The cube root, of negative numbers too."""
    return xp.cbrt(x)


@elementwise(x=lambda out: -out * out)
def reciprocal(xp, x):
    """One over a number."""
    return 1 / x


@elementwise(x=lambda out: out)
def exp(xp, x):
    """The exponential: the function that is its own slope."""
    return xp.exp(x)


@elementwise(x=lambda xp, x: xp.exp(x))
def expm1(xp, x):
    """exp(x) - 1, exact for small x."""
    return xp.expm1(x)


@elementwise(x=lambda x: 1 / x)
def log(xp, x):
    """The natural logarithm."""
    return xp.log(x)


@elementwise(x=lambda x: 1 / (1 + x))
def log1p(xp, x):
    """log(1 + x), exact for small x."""
    return xp.log1p(x)


@elementwise(x=lambda x: 1 / (x * ln(2)))
def log2(xp, x):
    """The logarithm to base 2."""
    return xp.log2(x)


@elementwise(x=lambda x: 1 / (x * ln(10)))
def log10(xp, x):
    """The logarithm to base 10."""
    return xp.log10(x)


# Circular and hyperbolic functions ----


@elementwise(x=lambda xp, x: xp.cos(x))
def sin(xp, x):
    """The sine of an angle in radians."""
    return xp.sin(x)


@elementwise(x=lambda xp, x: -xp.sin(x))
def cos(xp, x):
    """The cosine of an angle in radians."""
    return xp.cos(x)


@elementwise(x=lambda out: 1 + out * out)
def tan(xp, x):
    """The tangent of an angle in radians."""
    return xp.tan(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(1 - x * x))
def arcsin(xp, x):
    """The angle whose sine is x."""
    return xp.arcsin(x)


@elementwise(x=lambda xp, x: -1 / xp.sqrt(1 - x * x))
def arccos(xp, x):
    """The angle whose cosine is x."""
    return xp.arccos(x)


@elementwise(x=lambda x: 1 / (1 + x * x))
def arctan(xp, x):
    """The angle whose tangent is x."""
    return xp.arctan(x)


@elementwise(x=lambda xp, x: xp.cosh(x))
def sinh(xp, x):
    """The hyperbolic sine."""
    return xp.sinh(x)


@elementwise(x=lambda xp, x: xp.sinh(x))
def cosh(xp, x):
    """The hyperbolic cosine: the shape of a hanging chain."""
    return xp.cosh(x)


@elementwise(x=lambda out: 1 - out * out)
def tanh(xp, x):
    """The hyperbolic tangent: a smooth step from -1 to 1."""
    return xp.tanh(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(x * x + 1))
def arcsinh(xp, x):
    """The number whose hyperbolic sine is x."""
    return xp.arcsinh(x)


@elementwise(x=lambda xp, x: 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1)))
def arccosh(xp, x):
    """The number, at least 0, whose hyperbolic cosine is x."""
    return xp.arccosh(x)


@elementwise(x=lambda x: 1 / (1 - x * x))
def arctanh(xp, x):
    """The number whose hyperbolic tangent is x."""
    return xp.arctanh(x)


TWO_OVER_ROOT_PI = 2 / root(pi)


@elementwise(x=lambda xp, x: TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erf(xp, x):
    """The error function: the share of a bell curve within x standard deviations times the root of 2."""
    return xp.erf(x)


@elementwise(x=lambda xp, x: -TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erfc(xp, x):
    """1 - erf(x), exact where that is tiny."""
    return xp.erfc(x)


# Steps: flat everywhere but where they jump ----


@elementwise(x=lambda: 0)
def floor(xp, x):
    """The whole number below. Flat between its jumps, so nothing goes back."""
    return xp.floor(x)


@elementwise(x=lambda: 0)
def ceil(xp, x):
    """The whole number above. Flat between its jumps, so nothing goes back."""
    return xp.ceil(x)


@elementwise(x=lambda: 0)
def trunc(xp, x):
    """The whole number towards 0. Flat between its jumps, so nothing goes back."""
    return xp.trunc(x)


@elementwise(x=lambda: 0)
def round(xp, x, *, decimals=0):
    """The nearest number of so many decimals, halves to the even one. Flat between its jumps, so nothing goes back."""
    return xp.round(x, decimals)


@op
def sign(xp, x):
    """-1, 0 or 1. Flat but for its jump, so nothing goes back. Of a complex number, its direction: x / |x|."""
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
    """The real part."""
    return xp.real(x)


@linear(x=lambda upstream: upstream * 1j)
def imag(xp, x):
    """The imaginary part: a step along i is a step of the result."""
    return xp.imag(x)


@linear(x=lambda xp, upstream: xp.conj(upstream))
def conj(xp, x):
    """The complex conjugate; a real number is its own."""
    return xp.conj(x)


@op
def angle(xp, x):
    """The angle of a complex number in radians."""
    return xp.angle(x)


@angle.rule("x")
def _(xp, upstream, x):
    """It turns fastest as x moves across its ray, and faster nearer to 0; at 0 itself the slope is taken to be 0."""
    return upstream * 1j * x / xp.where(x == 0, inf, xp.square(abs(x)))


@linear(x=lambda upstream: upstream)
def _astype(xp, x, *, dtype):
    """The values in another dtype; the gradient is cast back."""
    return xp.astype(x, dtype)


@face(_astype, word=True)
@names_itself
def astype(x, dtype):
    """The values in another dtype; the gradient is cast back. Through whole numbers and truths nothing goes back."""
    wanted, given = vocabulary.device("cpu").library.dtype(dtype), getattr(x, "dtype", None)
    if wanted.kind not in "biufc":
        raise TypeError(f"{wanted} is no dtype of numbers; write float, complex, int, bool, or e.g. 'float32'")
    ends = wanted.kind not in "fc" and given is not None and given.kind in "fc"
    return _astype(stop_gradient(x) if ends else x, dtype=wanted)


@phrase
@names_itself
def cast(x, dtype):
    """The values in another dtype; of complex numbers that become real, the real part."""
    return astype(real(x) if x.dtype.kind == "c" and dtype.kind != "c" else x, dtype)


# Questions: yes or no, and no graph ----


@constant
def equal(xp, a, b):
    """Whether the two are equal."""
    return xp.equal(a, b)


@constant
def not_equal(xp, a, b):
    """Whether the two differ."""
    return xp.not_equal(a, b)


@constant
@real_only
def less(xp, a, b):
    """Whether the first is smaller."""
    return xp.less(a, b)


@constant
@real_only
def less_equal(xp, a, b):
    """Whether the first is smaller or equal."""
    return xp.less_equal(a, b)


@constant
@real_only
def greater(xp, a, b):
    """Whether the first is larger."""
    return xp.greater(a, b)


@constant
@real_only
def greater_equal(xp, a, b):
    """Whether the first is larger or equal."""
    return xp.greater_equal(a, b)


@constant
def logical_and(xp, a, b):
    """Whether both hold."""
    return xp.logical_and(a, b)


@constant
def logical_or(xp, a, b):
    """Whether at least one holds."""
    return xp.logical_or(a, b)


@constant
def logical_xor(xp, a, b):
    """Whether exactly one holds."""
    return xp.logical_xor(a, b)


@constant
def logical_not(xp, x):
    """Whether it does not hold."""
    return xp.logical_not(x)


@constant
def isnan(xp, x):
    """Whether it is not a number."""
    return xp.isnan(x)


@constant
def isinf(xp, x):
    """Whether it is infinite."""
    return xp.isinf(x)


@constant
def isfinite(xp, x):
    """Whether it is an ordinary number."""
    return xp.isfinite(x)


@constant
def isclose(xp, a, b, *, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether the two are equal up to rounding."""
    return xp.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@constant
def stop_gradient(xp, x):
    """The same values, through which nothing goes back."""
    return xp.stop_gradient(x)


# New arrays, where another one lives ----


@constant
def zeros_beside(xp, x, *, shape, dtype=None):
    """Zeros of a shape, on the device of `x` and of its dtype."""
    return xp.zeros_beside(x, shape, dtype)


@constant
def ones_beside(xp, x, *, shape):
    """Ones of a shape, on the device of `x` and of its dtype."""
    return xp.ones_beside(x, shape)


@constant
def eye_beside(xp, x, *, n):
    """The identity matrix, on the device of `x` and of its dtype."""
    return xp.eye_beside(x, n)
