"""Linear algebra: equations, determinants, factorisations, functions of matrices. Public as `mg.linalg`.

Everything works on the last two axes, for as many matrices as the others hold. Rules are implicit where they
can be: what the result fulfils is differentiated, not how it was found (M. Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation", 2008, has most of them).
"""

from __future__ import annotations

from math import inf, nan

from ..hints import names_itself
from ..op import constant, elementwise, face, linear, op
from ..readings.shapes import ndim, shape
from . import reductions
from .elementwise import absolute, sign
from .shape import concatenate, expand_axes, expand_dims, getitem, moveaxis, mT, squeeze, tril, triu

# Equations and determinants ---------------------------------------------------------------------------------


@op
def _solve(xp, a, b):
    """The x that fulfils a @ x = b."""
    return xp.solve(a, b)


@_solve.rule("a", "b")
def _(xp, upstream, a, out):
    """Solve with the transpose. Where a changes, a @ x stays b, so x makes up for it."""
    to_b = xp.solve(xp.mT(a), upstream)
    return -xp.matmul(to_b, xp.mT(out)), to_b


@face(_solve, word=True)
@names_itself
def solve(a, b):
    """The x that fulfils a @ x = b: for one vector b, or for each column of a matrix b. ValueError if a is
    singular.

    >>> import micrograd_plus as mg
    >>> mg.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0])
    tensor([0.5, 0.5])
    """
    return squeeze(_solve(a, expand_dims(b, 1)), axis=-1) if ndim(b) == 1 else _solve(a, b)


@op
def inv(xp, a):
    """What undoes a matrix: their product is 1 on the diagonal, 0 elsewhere. ValueError if it is singular.

    To solve equations, `solve` is faster and more exact.
    """
    return xp.inv(a)


@inv.rule("a")
def _(xp, upstream, out):
    """Where a changes, a @ inv(a) stays 1."""
    return -xp.matmul(xp.matmul(xp.mT(out), upstream), xp.mT(out))


@op
def det(xp, a):
    """The determinant: the volume that the rows span, with a sign."""
    return xp.det(a)


@det.rule("a")
def _(xp, upstream, a):
    """The determinant grows with an entry by the determinant of what is left without its row and column."""
    return xp.expand_dims(upstream, axis=(-2, -1)) * xp.cofactors(a)


@op
def cofactors(xp, a):
    """For each entry, the determinant of what is left without its row and column, with a chessboard's signs.

    This is det(a) inv(a)ᵀ, and exists where a is singular too. Its own gradient is for matrices that have an
    inverse.
    """
    return xp.cofactors(a)


@cofactors.rule("a")
def _(xp, upstream, a, out):
    """A product's: the determinant moves, and the inverse moves."""
    inverse = xp.mT(xp.inv(a))
    volume = xp.sum(upstream * out, axis=(-2, -1), keepdims=True)
    return volume * inverse - xp.matmul(xp.matmul(out, xp.mT(upstream)), inverse)


@op(outputs=("sign", "logabsdet"))
def slogdet(xp, a):
    """The determinant's sign, and the logarithm of its size, which overflows nowhere.

    A singular matrix has sign 0 and logarithm minus infinity, and no gradient: a ValueError when one is asked
    for.
    """
    return xp.slogdet(a)


@slogdet.rule("a")
def _(xp, upstream, a):
    """The logarithm's slope is the inverse, transposed; the sign does not move."""
    return xp.expand_dims(upstream[1], axis=(-2, -1)) * xp.mT(xp.inv(a))


@linear(
    x=lambda xp, upstream, x_shape, offset: xp.put_diagonal(
        xp.spread(upstream, xp.diagonal_shape(x_shape, offset), -1), x_shape, offset, -2, -1
    )
)
def _trace(xp, x, *, offset=0):
    """The sum along a diagonal. No entry beside it counts."""
    return xp.trace(x, offset)


trace = _trace

# Factorisations of symmetric matrices -----------------------------------------------------------------------


@linear(x=lambda xp, upstream: xp.symmetric_part(upstream))
def symmetric_part(xp, x):
    """The mean of a real matrix and its transpose."""
    return (x + xp.mT(x)) / 2


def _from_triangle(a, lower):
    """The symmetric matrix that has the lower, or the upper, triangle of `a`."""
    return tril(a) + mT(tril(a, k=-1)) if lower else triu(a) + mT(triu(a, k=1))


@op
def _cholesky(xp, a):
    """The lower triangle whose product with its own transpose is a."""
    return xp.cholesky(a)


@_cholesky.rule("a")
def _(xp, upstream, out):
    """A change of a, seen from inside the factors, is a lower triangle and its transpose: each has half the
    diagonal.

    I. Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    inside = xp.matmul(xp.mT(out), upstream)
    half = (xp.tril(inside) + xp.tril(inside, k=-1)) / 2
    right = xp.solve(xp.mT(out), xp.mT(half))
    return xp.symmetric_part(xp.solve(xp.mT(out), xp.mT(right)))


@face(_cholesky)
@names_itself
def cholesky(a, *, upper=False):
    """The lower triangle L with L @ Lᵀ = a, or with `upper` its transpose. ValueError if a is not positive
    definite.

    What counts of a is its symmetric part (a + aᵀ) / 2, so that its gradient is symmetric.
    """
    return mT(_cholesky(a)) if upper else _cholesky(a)


@op(outputs=("values", "vectors"))
def _eigh(xp, a):
    """Eigenvalues in ascending order, and eigenvectors as columns."""
    return xp.eigh(a)


@_eigh.rule("a")
def _(xp, upstream, values, vectors, a_shape):
    """A value moves by what a does along its own vector; vectors turn towards each other, faster the nearer their
    values are."""
    one, floor = xp.eye_beside(values, n=a_shape[-1]), xp.expand_dims(xp.resolution(values), axis=-1)
    gaps = xp.expand_dims(values, axis=-2) - xp.expand_dims(values, axis=-1) + one
    turned = xp.known_ratio(xp.matmul(xp.mT(vectors), upstream[1]), gaps, floor) * (1 - one)
    stretched = vectors * xp.expand_dims(upstream[0], axis=-2)
    return xp.symmetric_part(xp.matmul(xp.matmul(vectors, turned) + stretched, xp.mT(vectors)))


@face(_eigh)
@names_itself
def eigh(a, UPLO=None):
    """Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns.

    What counts of a is its symmetric part (a + aᵀ) / 2, so that its gradient is symmetric; with `UPLO="L"` or
    `"U"` one triangle alone. Vectors of equal values may be any that span the same space, and have no gradient:
    what uses them receives nan. What uses the values alone has its gradient there too.
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"eigh: UPLO is 'L', 'U' or None, got {UPLO!r}")
    return _eigh(a if UPLO is None else _from_triangle(a, UPLO == "L"))


@names_itself
def eigvalsh(a, UPLO=None):
    """The eigenvalues of a symmetric matrix in ascending order."""
    return eigh(a, UPLO)[0]


@constant
def resolution(xp, x, *, shape=None, rtol=None):
    """The size below which an entry counts as 0 beside the largest along the last axis: the share `rtol` of
    that, or what floating point numbers can tell apart in a matrix of `shape`."""
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


# Factorisations of any matrix -------------------------------------------------------------------------------


@op(outputs=("q", "r"))
def _qr(xp, a):
    """Orthonormal columns, and the upper triangle that makes a of them; a has no more columns than rows."""
    return xp.qr(a)


@_qr.rule("a")
def _(xp, upstream, q, r):
    """Columns of q only turn, and r stays a triangle: what is left of a change is symmetric.

    S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in
    optimum experimental design", 2010.
    """
    inside = xp.matmul(r, xp.mT(upstream[1])) - xp.matmul(xp.mT(upstream[0]), q)
    mirrored = xp.tril(inside) + xp.mT(xp.tril(inside, k=-1))
    return xp.mT(xp.solve(r, xp.mT(upstream[0] + xp.matmul(q, mirrored))))


@face(_qr)
@names_itself
def qr(a, mode="reduced"):
    """q with orthonormal columns and an upper triangle r with q @ r = a; with `mode="r"` the triangle alone.

    The columns of a (of a wide one, the first that make a square) must be independent for a gradient to
    exist: ValueError if they are not. The further columns of NumPy's "complete" are any basis of what is
    left, and have none.
    """
    if mode not in ("reduced", "r"):
        raise ValueError(f"qr: mode is 'reduced' or 'r', got {mode!r}")
    rows, columns = shape(a)[-2:]
    if columns <= rows:
        q, r = _qr(a)
    else:
        q, square = _qr(getitem(a, index=(..., slice(rows))))
        r = concatenate([square, mT(q) @ getitem(a, index=(..., slice(rows, None)))], axis=-1)
    return r if mode == "r" else (q, r)


@op(outputs=("u", "s", "vh"))
def _svd(xp, a):
    """Left singular vectors as columns, singular values in descending order, right singular vectors as
    rows."""
    return xp.svd(a)


@_svd.rule("a")
def _(xp, upstream, u, s, vh, a_shape):
    """A value moves by what a does along its own two vectors; vectors turn towards each other, and, where a is longer
    one way, out of the space that they span.

    As of eigenvectors: the values of [[0, a], [aᵀ, 0]] are s and -s, which are as far apart as differences and
    sums of s. J. Townsend, "Differentiating the singular value decomposition", 2016.
    """
    row, column, to_v = xp.expand_dims(s, axis=-2), xp.expand_dims(s, axis=-1), xp.mT(upstream[2])
    one, floor = xp.eye_beside(s, n=min(a_shape[-2:])), xp.expand_dims(xp.resolution(s), axis=-1)
    turn_u, turn_v = xp.matmul(xp.mT(u), upstream[0]), xp.matmul(vh, to_v)
    near = xp.known_ratio(turn_u + turn_v, row - column + one, floor) * (1 - one)
    far = xp.known_ratio(turn_u - turn_v, row + column + one, 0.0)
    inside = (near + xp.mT(near) + far - xp.mT(far)) / 2
    beyond_u = (upstream[0] - xp.matmul(u, turn_u)) * float(a_shape[-2] > a_shape[-1])
    beyond_v = (to_v - xp.matmul(xp.mT(vh), turn_v)) * float(a_shape[-2] < a_shape[-1])
    left = xp.matmul(u, inside) + u * xp.expand_dims(upstream[1], axis=-2) + xp.known_ratio(beyond_u, row, 0.0)
    return xp.matmul(left, vh) + xp.matmul(u, xp.mT(xp.known_ratio(beyond_v, row, 0.0)))


@face(_svd)
@names_itself
def svd(a, full_matrices=False, compute_uv=True):
    """u, s, vh with `u * s @ vh` = a: orthonormal columns u and rows vh, and the singular values s in
    descending order.

    With `compute_uv=False` the values alone. `full_matrices` would add any basis of what is left, which has no
    gradient: ValueError. Vectors of equal values may be any that span the same space, and have no gradient: what
    uses them receives nan. What uses the values alone has its gradient there too.
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
    return xp.matmul(xp.mT(vh) * xp.expand_dims(inverse, axis=-2), xp.mT(u))


@pinv.rule("a")
def _(xp, upstream, a, out):
    """As of an inverse, and what reaches beyond the rows and the columns of a.

    G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate", SIAM Journal on Numerical Analysis 10 (1973), pages 413-432.
    """
    back, turned = xp.mT(upstream), xp.mT(out)
    beyond_columns = back - xp.matmul(a, xp.matmul(out, back))
    beyond_rows = back - xp.matmul(xp.matmul(back, out), a)
    across = xp.matmul(beyond_columns, xp.matmul(out, turned)) + xp.matmul(xp.matmul(turned, out), beyond_rows)
    return across - xp.matmul(turned, xp.matmul(upstream, turned))


# Functions of matrices --------------------------------------------------------------------------------------


@linear(
    a=lambda upstream, a_shape: (
        upstream[..., : a_shape[-1], : a_shape[-1]] + upstream[..., a_shape[-1] :, a_shape[-1] :]
    ),
    b=lambda upstream, b_shape: upstream[..., : b_shape[-1], b_shape[-1] :],
)
def block_triangle(xp, a, b):
    """The larger matrix [[a, b], [0, a]]. In any function f of it, how f(a) moves as a moves along b stands
    where b stood (R. Mathias, "A chain rule for matrix functions and applications", 1996)."""
    return xp.block_triangle(a, b)


@op
def matrix_power(xp, a, *, n):
    """The matrix multiplied with itself `n` times; for negative `n` its inverse is."""
    return xp.matrix_power(a, n)


@matrix_power.rule("a")
def _(xp, upstream, a, a_shape, n):
    """The same power, of a larger matrix: its upper right block is what moves."""
    larger = xp.matrix_power(xp.block_triangle(xp.mT(a), upstream), n=n)
    return larger[..., : a_shape[-1], a_shape[-1] :]


@op
def expm(xp, a):
    """The exponential of a matrix, 1 + a + a² / 2 + a³ / 6 + …

    What moves at the speed a @ x goes from x to `expm(a) @ x` in a time of 1.
    """
    return xp.expm(a)


@expm.rule("a")
def _(xp, upstream, a, a_shape):
    """The exponential, too, of a larger matrix: its upper right block is what moves."""
    larger = xp.expm(xp.block_triangle(xp.mT(a), upstream))
    return larger[..., : a_shape[-1], a_shape[-1] :]


# Norms ------------------------------------------------------------------------------------------------------


@op
def p_norm(xp, x, *, ord, axis=None, keepdims=False):
    """The sum of the sizes' powers, to one over that power. At the origin, and for an entry of 0, the
    gradient is 0."""
    return xp.power(xp.sum(xp.power(xp.absolute(x), ord), axis=axis, keepdims=keepdims), 1 / ord)


@p_norm.rule("x")
def _(xp, upstream, x, out, x_shape, ord, axis, keepdims):
    """An entry pulls along its own direction, by its share of the whole."""
    whole = xp.spread(xp.where(out == 0, 1.0, out), x_shape, axis, keepdims)
    share = xp.power(xp.where(x == 0, 1.0, xp.absolute(x) / whole), ord - 1)
    return xp.spread(upstream, x_shape, axis, keepdims) * share * xp.sign(x)


@names_itself
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    """The size of a vector: its length for `ord=2`, the sum of sizes for 1, the largest or smallest size for
    inf or -inf, how many entries are not 0 for 0, else the `ord`-th root of the sum of `ord`-th powers."""
    if isinstance(ord, str):
        raise ValueError(f"vector_norm: ord is a number, got {ord!r}")
    if ord == 2:
        return reductions.norm(x, axis=axis, keepdims=keepdims)
    reduce = {inf: reductions.max, -inf: reductions.min, 0: reductions.sum, 1: reductions.sum}.get(ord)
    if reduce is None:
        return p_norm(x, ord=ord, axis=axis, keepdims=keepdims)
    return reduce(absolute(x if ord else sign(x)), axis=axis, keepdims=keepdims)


@names_itself
def matrix_norm(x, *, keepdims=False, ord="fro"):
    """The size of a matrix: the root of the sum of squares for "fro"; the sum, largest or smallest of its
    singular values for "nuc", 2 or -2; the largest or smallest sum of sizes of a column for 1 or -1, of a row
    for inf or -inf."""
    if ord == "fro":
        return reductions.norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, inf, -inf):
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    along = {1: -2, -1: -2, inf: -1, -inf: -1}.get(ord)
    sizes = svdvals(x) if along is None else reductions.sum(absolute(x), axis=along)
    reduce = reductions.sum if ord == "nuc" else reductions.max if ord > 0 else reductions.min
    out = reduce(sizes, axis=-1)
    return expand_axes(out, shape=shape(x), axis=(-2, -1)) if keepdims else out


@names_itself
def norm(x, ord=None, axis=None, keepdims=False):
    """NumPy's norm: `vector_norm` along one axis, `matrix_norm` over two; without `ord` the root of the sum
    of squares."""
    axes = tuple(range(ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord is None:
        return reductions.norm(x, axis=axis, keepdims=keepdims)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError(f"norm: ord={ord!r} is for one axis (a vector) or two (a matrix), got {len(axes)}")
    out = matrix_norm(moveaxis(x, source=axes, destination=(-2, -1)), ord=ord)
    return expand_axes(out, shape=shape(x), axis=axes) if keepdims else out
