"""Elementwise roots, exponentials and logarithms, and the error function."""

from math import log as ln, pi, sqrt as root

from ..core.define import elementwise


@elementwise(x=lambda out: 0.5 / out)
def sqrt(xp, x):
    """Compute the square root of each entry.

    sqrt(x) = √x, not negative; nan for a negative real number. At 0 the derivative is inf.
    >>> mg.sqrt([4.0, 9.0]).tolist()
    [2.0, 3.0]
    See: numpy.sqrt; torch.sqrt."""
    return xp.sqrt(x)


@elementwise(x=lambda x, out: -0.5 * out / x)
def rsqrt(xp, x):
    """Compute the reciprocal of the square root.

    rsqrt(x) = 1 / √x; nan for a negative real number. At 0 the value is inf and the derivative -inf.
    >>> mg.rsqrt([4.0, 0.25]).tolist()
    [0.5, 2.0]
    See: torch.rsqrt."""
    return 1 / xp.sqrt(x)


@elementwise(x=lambda out: 1 / (3 * out * out))
def cbrt(xp, x):
    """Compute the real cube root, also of negative numbers.

    cbrt(x) = ∛x. At 0 the derivative is inf.
    >>> mg.cbrt([-8.0, 1.0]).tolist()
    [-2.0, 1.0]
    See: numpy.cbrt."""
    return xp.cbrt(x)


@elementwise(x=lambda out: out)
def exp(xp, x):
    """Compute the exponential of each entry.

    exp(x) = e^x with e = 2.71828…. It is its own derivative. Beyond x = 709.78 it is inf in float64.
    >>> mg.exp([0.0, 1.0])
    tensor([1.        , 2.71828183])
    See: numpy.exp; torch.exp."""
    return xp.exp(x)


@elementwise(x=lambda xp, x: xp.exp(x))
def expm1(xp, x):
    """Compute exp(x) - 1, accurately for small x.

    expm1(x) avoids the subtraction of nearly equal numbers, which loses the digits of a small x.
    >>> mg.expm1(1e-12).item(), (mg.exp(1e-12) - 1).item()
    (1.0000000000005e-12, 1.000088900582341e-12)
    See: numpy.expm1; torch.expm1."""
    return xp.expm1(x)


@elementwise(x=lambda x: 1 / x)
def log(xp, x):
    """Compute the natural logarithm.

    log(x) is the number y with e^y = x. It is -inf at 0 and nan for negative real x. The derivative at 0 is inf. For
    complex x, the imaginary part is the angle, from -π to π.
    >>> mg.log([1.0, 10.0])
    tensor([0.        , 2.30258509])
    See: numpy.log; torch.log."""
    return xp.log(x)


@elementwise(x=lambda x: 1 / (1 + x))
def log1p(xp, x):
    """Compute log(1 + x), accurately for small x.

    Adding 1 loses the digits of a small x. At -1 the result is -inf with derivative inf; nan below.
    >>> mg.log1p(1e-12).item(), mg.log(1 + 1e-12).item()
    (9.999999999995e-13, 1.000088900581841e-12)
    See: numpy.log1p; torch.log1p."""
    return xp.log1p(x)


@elementwise(x=lambda x: 1 / (x * ln(2)))
def log2(xp, x):
    """Compute the logarithm to base 2.

    log2(x) = ln x / ln 2. At 0 and below it behaves as `log`.
    >>> mg.log2([1.0, 2.0, 8.0]).tolist()
    [0.0, 1.0, 3.0]
    See: numpy.log2; torch.log2."""
    return xp.log2(x)


@elementwise(x=lambda x: 1 / (x * ln(10)))
def log10(xp, x):
    """Compute the logarithm to base 10.

    log10(x) = ln x / ln 10. At 0 and below it behaves as `log`.
    >>> mg.log10([1.0, 10.0, 1000.0]).tolist()
    [0.0, 1.0, 3.0]
    See: numpy.log10; torch.log10."""
    return xp.log10(x)


@elementwise(a=lambda xp, a, b: xp.sigmoid(a - b), b=lambda xp, a, b: xp.sigmoid(b - a))
def logaddexp(xp, a, b):
    """Compute the logarithm of the sum of two exponentials, without overflow.

    The derivatives of log(exp(a) + exp(b)) are σ(a - b) and σ(b - a), with σ the sigmoid; nan if both are -inf.
    >>> mg.logaddexp(1000.0, 1000.0)
    tensor(1000.69314718)
    See: numpy.logaddexp; torch.logaddexp; `mg.logsumexp` along an axis."""
    return xp.logaddexp(a, b)


TWO_OVER_ROOT_PI = 2 / root(pi)


@elementwise(x=lambda xp, x: TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erf(xp, x):
    """Compute the error function.

    erf(x) = 2 / √π · ∫ exp(-t²) dt from 0 to x, an odd function between -1 and 1.
    >>> mg.erf([0.0, 1.0])
    tensor([0.        , 0.84270079])
    See: scipy.special.erf; torch.erf."""
    return xp.erf(x)


@elementwise(x=lambda xp, x: -TWO_OVER_ROOT_PI * xp.exp(-x * x))
def erfc(xp, x):
    """Compute the complementary error function, accurately where it is tiny.

    erfc(x) = 1 - erf(x) = 2 / √π · ∫ exp(-t²) dt from x to infinity.
    >>> mg.erfc([0.0, 10.0]), 1 - mg.erf([0.0, 10.0])
    (tensor([1.00000000e+00, 2.08848758e-45]), tensor([1., 0.]))
    See: scipy.special.erfc; torch.erfc."""
    return xp.erfc(x)
