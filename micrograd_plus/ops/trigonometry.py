"""Trigonometric and hyperbolic functions, elementwise."""

from ..core.define import elementwise


@elementwise(x=lambda xp, x: xp.cos(x))
def sin(xp, x):
    """Compute the sine of angles in radians.

    sin(x) = (exp(ix) - exp(-ix)) / 2i, the height of the point on the unit circle at angle x.
    >>> mg.sin([0.0, 1.0])
    tensor([0.        , 0.84147098])
    See: numpy.sin; torch.sin."""
    return xp.sin(x)


@elementwise(x=lambda xp, x: -xp.sin(x))
def cos(xp, x):
    """Compute the cosine of angles in radians.

    cos(x) = (exp(ix) + exp(-ix)) / 2, the horizontal coordinate of the point on the unit circle at angle x.
    >>> mg.cos([0.0, 1.0])
    tensor([1.        , 0.54030231])
    See: numpy.cos; torch.cos."""
    return xp.cos(x)


@elementwise(x=lambda out: 1 + out * out)
def tan(xp, x):
    """Compute the tangent of angles in radians.

    tan(x) = sin(x) / cos(x), the slope of a line at angle x, with poles at odd multiples of π/2.
    >>> mg.tan([0.0, 1.0])
    tensor([0.        , 1.55740772])
    See: numpy.tan; torch.tan."""
    return xp.tan(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(1 - x * x))
def arcsin(xp, x):
    """Compute the inverse sine.

    arcsin(x) is between -π/2 and π/2; nan for a real number outside -1 to 1. At -1 and 1 the derivative is inf.
    >>> mg.arcsin([0.0, 0.5, 1.0])
    tensor([0.        , 0.52359878, 1.57079633])
    See: numpy.arcsin; torch.asin."""
    return xp.arcsin(x)


@elementwise(x=lambda xp, x: -1 / xp.sqrt(1 - x * x))
def arccos(xp, x):
    """Compute the inverse cosine.

    arccos(x) = π/2 - arcsin(x) is between 0 and π; nan for a real x outside -1 to 1. At ±1 the derivative is -inf.
    >>> mg.arccos([1.0, 0.5, 0.0])
    tensor([0.        , 1.04719755, 1.57079633])
    See: numpy.arccos; torch.acos."""
    return xp.arccos(x)


@elementwise(x=lambda x: 1 / (1 + x * x))
def arctan(xp, x):
    """Compute the inverse tangent.

    arctan(x) is between -π/2 and π/2. `arctan2` also distinguishes the quadrants.
    >>> mg.arctan([0.0, 1.0])
    tensor([0.        , 0.78539816])
    See: numpy.arctan; torch.atan."""
    return xp.arctan(x)


@elementwise(a=lambda a, b: b / (a * a + b * b), b=lambda a, b: -a / (a * a + b * b))
def arctan2(xp, a, b):
    """Compute the angle of the point (b, a) in radians: the inverse tangent of a / b in the right quadrant.

    From -π to π. At the origin it is 0 or ±π, depending on the signs of the zeros, and its gradient nan.
    Args:
        a: the vertical coordinate y, real numbers.
        b: the horizontal coordinate x, real numbers.
    >>> mg.arctan2([1.0, 1.0], [1.0, -1.0])
    tensor([0.78539816, 2.35619449])
    See: numpy.arctan2; torch.atan2."""
    return xp.arctan2(a, b)


@elementwise(a=lambda a, out: a / out, b=lambda b, out: b / out)
def hypot(xp, a, b):
    """Compute the length of the vector (a, b).

    hypot(a, b) = √(a² + b²), without overflow of the squares. At the origin the gradient is nan.
    >>> mg.hypot([3.0, 5.0], [4.0, 12.0]).tolist()
    [5.0, 13.0]
    See: numpy.hypot; torch.hypot."""
    return xp.hypot(a, b)


@elementwise(x=lambda xp, x: xp.cosh(x))
def sinh(xp, x):
    """Compute the hyperbolic sine.

    sinh(x) = (exp(x) - exp(-x)) / 2, the odd part of the exponential.
    >>> mg.sinh([0.0, 1.0])
    tensor([0.        , 1.17520119])
    See: numpy.sinh; torch.sinh."""
    return xp.sinh(x)


@elementwise(x=lambda xp, x: xp.sinh(x))
def cosh(xp, x):
    """Compute the hyperbolic cosine.

    cosh(x) = (exp(x) + exp(-x)) / 2, the even part of the exponential.
    >>> mg.cosh([0.0, 1.0])
    tensor([1.        , 1.54308063])
    See: numpy.cosh; torch.cosh."""
    return xp.cosh(x)


@elementwise(x=lambda out: 1 - out * out)
def tanh(xp, x):
    """Compute the hyperbolic tangent, a smooth step from -1 to 1.

    tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)) = 2σ(2x) - 1, where σ is the sigmoid.
    >>> mg.tanh([0.0, 1.0])
    tensor([0.        , 0.76159416])
    See: numpy.tanh; torch.tanh; CS231n notes, Neural Networks Part 1."""
    return xp.tanh(x)


@elementwise(x=lambda xp, x: 1 / xp.sqrt(x * x + 1))
def arcsinh(xp, x):
    """Compute the inverse hyperbolic sine.

    arcsinh(x) = log(x + √(x² + 1)).
    >>> mg.arcsinh([0.0, 1.0])
    tensor([0.        , 0.88137359])
    See: numpy.arcsinh; torch.asinh."""
    return xp.arcsinh(x)


@elementwise(x=lambda xp, x: 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1)))
def arccosh(xp, x):
    """Compute the inverse hyperbolic cosine.

    arccosh(x) = log(x + √(x + 1) · √(x - 1)) is at least 0; nan for a real x below 1. At 1 the derivative is inf.
    >>> mg.arccosh([1.0, 2.0])
    tensor([0.       , 1.3169579])
    See: numpy.arccosh; torch.acosh."""
    return xp.arccosh(x)


@elementwise(x=lambda x: 1 / (1 - x * x))
def arctanh(xp, x):
    """Compute the inverse hyperbolic tangent.

    arctanh(x) = log((1 + x) / (1 - x)) / 2; infinite at -1 and 1, nan for a real number outside.
    >>> mg.arctanh([0.0, 0.5])
    tensor([0.        , 0.54930614])
    See: numpy.arctanh; torch.atanh."""
    return xp.arctanh(x)
