"""Complex numbers and their parts. The gradient of a real loss is dL/d(re) + i dL/d(im)."""

from math import inf

from ..core.define import elementwise, linear, op


@elementwise(x=lambda: 1)
def real(xp, x):
    """Return the real part.

    real(a + bi) = a; a real number is returned as it is.
    Returns: a real tensor of the precision of x.
    >>> mg.real([1 + 2j, 3.0]).tolist()
    [1.0, 3.0]
    See: numpy.real; torch.real."""
    return xp.real(x)


@linear(x=lambda upstream: upstream * 1j)
def imag(xp, x):
    """Return the imaginary part.

    imag(a + bi) = b, and 0 for real numbers. A step of x along i is an equal step of the result.
    Returns: a real tensor of the precision of x.
    >>> mg.imag([1 + 2j, 3.0]).tolist()
    [2.0, 0.0]
    See: numpy.imag; torch.imag."""
    return xp.imag(x)


@linear(x=lambda xp, upstream: xp.conj(upstream))
def conj(xp, x):
    """Return the complex conjugate.

    conj(a + bi) = a - bi; a real number is returned as it is.
    >>> mg.conj([1 + 2j, 3.0]).tolist()
    [(1-2j), (3-0j)]
    See: numpy.conjugate; torch.conj."""
    return xp.conj(x)

conjugate = conj


@op
def angle(xp, x):
    """Return the angle of complex numbers in radians.

    angle(a + bi) = arctan2(b, a), from -π to π: 0 for positive and π for negative numbers. At 0 the gradient is 0.
    Returns: a real tensor of the precision of x; float64 for integers.
    >>> mg.angle([1j, -1.0])
    tensor([1.57079633, 3.14159265])
    See: numpy.angle; torch.angle."""
    return xp.angle(x)


@angle.rule("x")
def _(xp, upstream, x):
    """The angle changes fastest as x moves across its ray, and the faster the nearer x is to 0. At 0 the gradient is
    defined as 0."""
    return upstream * 1j * x / xp.where(x == 0, inf, xp.square(abs(x)))
