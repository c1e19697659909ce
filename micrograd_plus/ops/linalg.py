"""Linear algebra: equations, determinants, functions of matrices, norms. Public as `mg.linalg`, with `factorisations`.

Everything works on the last two axes, for as many matrices as the others hold. Rules are implicit where they can be:
what the result fulfils is differentiated, not how it was found (M. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation", 2008, has most of them).
"""

from math import inf

from ..hints import names_itself
from ..op import face, linear, op
from ..readings.shapes import ndim, shape
from . import reductions
from .elementwise import absolute, sign
from .factorisations import svdvals
from .shape import expand_axes, expand_dims, moveaxis, squeeze

# Equations and determinants ----


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
    """The determinant's sign, and the logarithm of its size, which overflows nowhere. The sign of a complex
    determinant is a complex number of size 1.

    A singular matrix has sign 0 and logarithm minus infinity, and no gradient: a ValueError when one is asked for.
    """
    return xp.slogdet(a)


@slogdet.rule("a")
def _(xp, upstream, a, sign):
    """The slope of the logarithm is the inverse, transposed. A real sign does not move; a complex one turns, which is
    how the logarithm's imaginary part moves."""
    turned = upstream[0] * xp.conj(sign)
    arrived = upstream[1] + (turned - xp.conj(turned)) / 2
    return xp.expand_dims(arrived, axis=(-2, -1)) * xp.mH(xp.inv(a))


@linear(
    x=lambda xp, upstream, x_shape, offset: xp.put_diagonal(
        xp.spread(upstream, xp.diagonal_shape(x_shape, offset), -1), x_shape, offset, -2, -1
    )
)
def _trace(xp, x, *, offset=0):
    """The sum along a diagonal. No entry beside it counts."""
    return xp.trace(x, offset)


trace = _trace

# Functions of matrices ------


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


# Norms ----------------------


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
