"""Matrices as products of simpler ones: triangles, orthonormal columns, a diagonal. Public as `mg.linalg`.

Everything works on the last two axes, for as many matrices as the others hold. What is said of a transpose holds for
real matrices; of complex ones it is the adjoint, the transpose conjugated.

An eigenvector or singular vector of a complex matrix may be turned by any angle. Here each has a pivot that is real
and positive: its first entry that is at least half as large as the largest. So its gradient is that of what was
computed, whatever a loss makes of it. PyTorch leaves the angle open, and refuses a loss that depends on it.
"""

from math import nan

from ..hints import names_itself
from ..op import constant, elementwise, face, linear, op
from ..readings.shapes import shape
from .shape import concatenate, getitem, mH, tril, triu

# Parts ----------------------


@linear(x=lambda xp, upstream: xp.hermitian_part(upstream))
def hermitian_part(xp, x):
    """The mean of a matrix and its adjoint: of a real matrix, its symmetric part."""
    return (x + xp.mH(x)) / 2


@op
def pivots(xp, x):
    """One over the pivot of each column, where that stands, and 0 elsewhere: the first entry that is at least half as
    large as the largest."""
    return xp.pivots(x)


@pivots.rule("x")
def _(upstream, out):
    """As of one over a number; which entry is the pivot does not move."""
    return -upstream * out * out


def _with_pivots_held(xp, received, vectors, beside=0.0):
    """What vectors receive, but for what would turn each as a whole, with those `beside` it: that goes to the pivot,
    which stays real. Real vectors cannot be turned as a whole, and nothing changes."""
    whole = xp.sum(xp.conj(vectors) * received, axis=-2, keepdims=True) + beside
    return received - xp.pivots(vectors) * ((whole - xp.conj(whole)) / 2)


@constant
def resolution(xp, x, *, shape=None, rtol=None):
    """The size below which an entry counts as 0 beside the largest along the last axis: the share `rtol` of that, or
    what floating point numbers can tell apart in a matrix of `shape`."""
    return xp.resolution(x, shape=shape, rtol=rtol)


@elementwise(x=lambda out: -out * out)
def reciprocal_beyond(xp, x, floor):
    """One over a number larger than `floor`; 0 for the smaller ones."""
    beyond = abs(x) > floor
    return xp.where(beyond, 1 / xp.where(beyond, x, 1.0), 0.0)


@elementwise(
    x=lambda xp, y, floor: 1 / xp.where(abs(y) > floor, y, nan),
    y=lambda xp, out, y, floor: -out / xp.where(abs(y) > floor, y, nan),
)
def known_ratio(xp, x, y, floor):
    """x / y, and 0 where x is 0. Where y is no larger than `floor`, rounding hides what it is: nan."""
    return xp.where(x == 0, 0.0, x / xp.where(abs(y) > floor, y, nan))


def _spread_of_equals(xp, values):
    """How far apart values may come out that are equal: rounding moves them by a few times what numbers can tell
    apart, by up to three times in a thousand matrices."""
    return xp.expand_dims(8 * xp.resolution(values), axis=-1)


# Factors of Hermitian matrices ----


def _from_triangle(a, lower):
    """The Hermitian matrix that has the lower, or the upper, triangle of `a`."""
    return tril(a) + mH(tril(a, k=-1)) if lower else triu(a) + mH(triu(a, k=1))


@op
def _cholesky(xp, a):
    """The lower triangle whose product with its own transpose is a."""
    return xp.cholesky(a)


@_cholesky.rule("a")
def _(xp, upstream, out):
    """A change of a, seen from inside the factors, is a lower triangle and its transpose: each has half the diagonal.

    I. Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    out = xp.conj(out)  # as upstream is
    inside = xp.matmul(xp.mH(out), upstream)
    half = (xp.tril(inside) + xp.tril(inside, k=-1)) / 2
    right = xp.solve(xp.mH(out), xp.mH(half))
    return xp.hermitian_part(xp.solve(xp.mH(out), xp.mH(right)))


@face(_cholesky)
@names_itself
def cholesky(a, *, upper=False):
    """The lower triangle L with L @ Lᵀ = a, or with `upper` its transpose. ValueError if a is not positive definite.

    What counts of a is its symmetric part (a + aᵀ) / 2, so that its gradient is symmetric.
    """
    return mH(_cholesky(a)) if upper else _cholesky(a)


@op(outputs=("values", "vectors"))
def _eigh(xp, a):
    """Eigenvalues in ascending order, and eigenvectors as columns."""
    return xp.eigh(a)


@_eigh.rule("a")
def _(xp, upstream, values, vectors, a_shape):
    """A value moves by what a does along its own vector; vectors turn towards each other, faster the nearer their
    values are."""
    one, floor = xp.eye_beside(values, n=a_shape[-1]), _spread_of_equals(xp, values)
    gaps = xp.expand_dims(values, axis=-2) - xp.expand_dims(values, axis=-1) + one
    to_vectors = _with_pivots_held(xp, upstream[1], vectors)
    turned = xp.known_ratio(xp.matmul(xp.mH(vectors), to_vectors), gaps, floor) * (1 - one)
    stretched = vectors * xp.expand_dims(upstream[0], axis=-2)
    return xp.hermitian_part(xp.matmul(xp.matmul(vectors, turned) + stretched, xp.mH(vectors)))


@face(_eigh)
@names_itself
def eigh(a, UPLO=None):
    """Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns.

    What counts of a is its symmetric part (a + aᵀ) / 2, so that its gradient is symmetric; with `UPLO="L"` or `"U"` one
    triangle alone. Vectors of equal values may be any that span the same space, and have no gradient: what uses them
    receives nan. What uses the values alone has its gradient there too. Vectors of a complex matrix may be turned by
    any angle: here the pivot of each is real and positive.
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"eigh: UPLO is 'L', 'U' or None, got {UPLO!r}")
    return _eigh(a if UPLO is None else _from_triangle(a, UPLO == "L"))


@names_itself
def eigvalsh(a, UPLO=None):
    """The eigenvalues of a symmetric matrix in ascending order."""
    return eigh(a, UPLO)[0]


# Factors of any matrix ------


@op(outputs=("q", "r"))
def _qr(xp, a):
    """Orthonormal columns, and the upper triangle that makes a of them; a has no more columns than rows."""
    return xp.qr(a)


@_qr.rule("a")
def _(xp, upstream, q, r):
    """Columns of q only turn, and r stays a triangle with a real diagonal: what is left of a change is symmetric.

    S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
    experimental design", 2010.
    """
    inside = xp.matmul(r, xp.mH(upstream[1])) - xp.matmul(xp.mH(upstream[0]), q)
    mirrored = xp.hermitian_part(xp.tril(inside) + xp.tril(inside, k=-1))
    return xp.mH(xp.solve(r, xp.mH(upstream[0] + xp.matmul(q, mirrored))))


@face(_qr)
@names_itself
def qr(a, mode="reduced"):
    """q with orthonormal columns and an upper triangle r, with real numbers on its diagonal, for which q @ r = a; with
    `mode="r"` the triangle alone.

    The columns of a (of a wide one, the first that make a square) must be independent for a gradient to exist:
    ValueError if they are not. The further columns of NumPy's "complete" are any basis of what is left, and have none.
    """
    if mode not in ("reduced", "r"):
        raise ValueError(f"qr: mode is 'reduced' or 'r', got {mode!r}")
    rows, columns = shape(a)[-2:]
    if columns <= rows:
        q, r = _qr(a)
    else:
        q, square = _qr(getitem(a, index=(..., slice(rows))))
        r = concatenate([square, mH(q) @ getitem(a, index=(..., slice(rows, None)))], axis=-1)
    return r if mode == "r" else (q, r)


@op(outputs=("u", "s", "vh"))
def _svd(xp, a):
    """Left singular vectors as columns, singular values in descending order, right singular vectors as rows."""
    return xp.svd(a)


@_svd.rule("a")
def _(xp, upstream, u, s, vh, a_shape):
    """A value moves by what a does along its own two vectors; vectors turn towards each other, and, where a is longer
    one way, out of the space that they span."""
    row, v, to_v = xp.expand_dims(s, axis=-2), xp.mH(vh), xp.mH(upstream[2])
    to_u = _with_pivots_held(xp, upstream[0], u, xp.sum(xp.conj(v) * to_v, axis=-2, keepdims=True))
    turn_u, turn_v = xp.matmul(xp.mH(u), to_u), xp.matmul(vh, to_v)
    inside = _turned_together(xp, turn_u, turn_v, s, min(a_shape[-2:]))
    beyond_u = (to_u - xp.matmul(u, turn_u)) * float(a_shape[-2] > a_shape[-1])
    beyond_v = (to_v - xp.matmul(v, turn_v)) * float(a_shape[-2] < a_shape[-1])
    left = xp.matmul(u, inside) + u * xp.expand_dims(upstream[1], axis=-2) + xp.known_ratio(beyond_u, row, 0.0)
    return xp.matmul(left, vh) + xp.matmul(u, xp.mH(xp.known_ratio(beyond_v, row, 0.0)))


def _turned_together(xp, turn_u, turn_v, s, n):
    """What left and right vectors receive for turning towards each other, by what a does between them.

    As of eigenvectors: the values of [[0, a], [aᵀ, 0]] are s and -s, which are as far apart as differences and sums of
    s. J. Townsend, "Differentiating the singular value decomposition", 2016.
    """
    row, column, one = xp.expand_dims(s, axis=-2), xp.expand_dims(s, axis=-1), xp.eye_beside(s, n=n)
    together, apart = turn_u + turn_v, turn_u - turn_v
    near = xp.known_ratio(together - xp.mH(together), row - column + one, _spread_of_equals(xp, s)) * (1 - one)
    return (near + xp.known_ratio(apart - xp.mH(apart), row + column, 0.0)) / 2


@face(_svd)
@names_itself
def svd(a, full_matrices=False, compute_uv=True):
    """u, s, vh with `u * s @ vh` = a: orthonormal columns u and rows vh, and the singular values s in descending order.

    With `compute_uv=False` the values alone. `full_matrices` would add any basis of what is left, which has no
    gradient: ValueError. Vectors of equal values may be any that span the same space, and have no gradient: what uses
    them receives nan. What uses the values alone has its gradient there too. Both vectors of a value of a complex
    matrix may be turned by the same angle: here the pivot of the left one is real and positive.
    """
    if full_matrices:
        raise ValueError("svd: the further vectors of full_matrices are any basis of what is left")
    return _svd(a) if compute_uv else _svd(a)[1]


@names_itself
def svdvals(a):
    """The singular values, in descending order."""
    return _svd(a)[1]


@op
def pinv(xp, a, *, rtol=None):
    """The pseudoinverse p of a matrix a: of all x for which a @ x is nearest to b, p @ b is the shortest.

    Singular values up to `rtol` times the largest count as 0; how many do is taken not to change.
    """
    u, s, vh = xp.svd(a)
    inverse = xp.reciprocal_beyond(s, xp.resolution(s, shape=xp.shape(a), rtol=rtol))
    return xp.matmul(xp.mH(vh) * xp.expand_dims(inverse, axis=-2), xp.mH(u))


@pinv.rule("a")
def _(xp, upstream, a, out):
    """As of an inverse, and what reaches beyond the rows and the columns of a.

    G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
    variables separate", SIAM Journal on Numerical Analysis 10 (1973), pages 413-432.
    """
    a, out = xp.conj(a), xp.conj(out)  # as upstream is
    back, turned = xp.mH(upstream), xp.mH(out)
    beyond_columns = back - xp.matmul(a, xp.matmul(out, back))
    beyond_rows = back - xp.matmul(xp.matmul(back, out), a)
    across = xp.matmul(beyond_columns, xp.matmul(out, turned)) + xp.matmul(xp.matmul(turned, out), beyond_rows)
    return across - xp.matmul(turned, xp.matmul(upstream, turned))
