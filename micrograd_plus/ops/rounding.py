"""Rounding and sign: step functions, whose gradient is 0."""

from math import inf

from ..core.define import elementwise, op


@elementwise(x=lambda: 0)
def floor(xp, x):
    """Round down to the nearest integer.

    floor(x) is the largest integer that is at most x. It is constant between its jumps, so its gradient is 0.
    >>> mg.floor([-1.5, 1.5]).tolist()
    [-2.0, 1.0]
    See: numpy.floor; torch.floor."""
    return xp.floor(x)


@elementwise(x=lambda: 0)
def ceil(xp, x):
    """Round up to the nearest integer.

    ceil(x) is the smallest integer that is at least x. It is constant between its jumps, so its gradient is 0.
    >>> mg.ceil([-1.5, 1.5]).tolist()
    [-1.0, 2.0]
    See: numpy.ceil; torch.ceil."""
    return xp.ceil(x)


@elementwise(x=lambda: 0)
def trunc(xp, x):
    """Round towards 0 to the nearest integer.

    trunc(x) is x without its fractional part. It is constant between its jumps, so its gradient is 0.
    >>> mg.trunc([-1.5, 1.5]).tolist()
    [-1.0, 1.0]
    See: numpy.trunc; torch.trunc."""
    return xp.trunc(x)

fix = trunc


@elementwise(x=lambda: 0)
def round(xp, x, *, decimals=0):
    """Round to the given number of decimals.

    Halves are rounded to even. The result is constant between its jumps, so its gradient is 0.
    Args:
        decimals: number of digits after the decimal point, an integer; negative for tens and hundreds; default 0.
    Raises: TypeError if x is not numeric, or decimals is not an integer.
    >>> mg.round([0.5, 1.5, 2.5]).tolist()
    [0.0, 2.0, 2.0]
    See: numpy.round; torch.round."""
    return xp.round(x, decimals)

around = round


@op
def sign(xp, x):
    """Return the sign of each entry: -1, 0 or 1.

    sign(x) = x / |x|, and 0 at 0; for a complex number its direction. For real numbers its gradient is 0.
    Raises: TypeError if x is boolean or not numeric.
    >>> mg.sign([-2.0, 0.0, 5.0]).tolist()
    [-1.0, 0.0, 1.0]
    >>> mg.sign(3 + 4j).item()
    (0.6+0.8j)
    See: numpy.sign; torch.sgn."""
    return xp.sign(x)


@sign.rule("x")
def _(xp, upstream, x, out):
    """The direction of a complex number turns as x moves across it, the faster the nearer x is to 0. It is constant as
    x moves along it, and for real numbers."""
    across = upstream - xp.conj(out) * xp.real(out * upstream)
    return across / xp.where(x == 0, inf, abs(x))
