"""Complex numbers and their parts. The gradient of a real loss is dL/d(re) + i dL/d(im)."""

from math import inf

from ..core.define import elementwise, linear, op


@elementwise(x=lambda: 1)
def real(xp, x):
    """Real part of a complex number.

    real(a + bi) = a; a real number is its own.
    Returns: a tensor of the shape of x, in the real dtype of its parts.
    >>> mg.real([1 + 2j, 3.0]).tolist()
    [1.0, 3.0]
    See: numpy.real; torch.real."""
    return xp.real(x)


@linear(x=lambda upstream: upstream * 1j)
def imag(xp, x):
    """Imaginary part of a complex number.

    imag(a + bi) = b; of a real number 0. A step along i is a step of the result.
    Returns: a tensor of the shape of x, in the real dtype of its parts.
    >>> mg.imag([1 + 2j, 3.0]).tolist()
    [2.0, 0.0]
    See: numpy.imag; torch.imag."""
    return xp.imag(x)


@linear(x=lambda xp, upstream: xp.conj(upstream))
def conj(xp, x):
    """Complex conjugate: the mirror image in the real axis.

    conj(a + bi) = a - bi; a real number is its own.
    >>> mg.conj([1 + 2j, 3.0]).tolist()
    [(1-2j), (3-0j)]
    See: numpy.conjugate; torch.conj."""
    return xp.conj(x)

conjugate = conj


@op
def angle(xp, x):
    """Angle of a complex number in radians.

    angle(a + bi) = arctan2(b, a), from -π to π: 0 of a positive number, π of a negative one. At 0 the slope is 0.
    Returns: a tensor of the shape of x, in the real dtype of its parts; float64 for integers.
    >>> mg.angle([1j, -1.0])
    tensor([1.57079633, 3.14159265])
    See: numpy.angle; torch.angle."""
    return xp.angle(x)


@angle.rule("x")
def _(xp, upstream, x):
    """An angle turns fastest as x moves across its ray, and faster nearer to 0; at 0 the slope is taken to be 0."""
    return upstream * 1j * x / xp.where(x == 0, inf, xp.square(abs(x)))
