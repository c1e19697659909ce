"""Linear algebra: equations, determinants, functions of matrices, norms. Public as `mg.linalg`, with `factorisations`.

Matrices are on the last two axes; other axes are batch axes. Where possible, rules differentiate the equation that
the result solves, not the algorithm (M. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation", 2008, has most of them).
"""

from math import inf

from ..backends.shapes import ndim, shape
from ..core.define import linear, op, wraps_op
from ..core.messages import prefixes_errors
from . import reductions
from .arithmetic import absolute
from .factorisations import svdvals
from .rounding import sign
from .shape import diag, expand_axes, expand_dims, getitem, mH, moveaxis, mT, reshape, squeeze, tril, triu

# Equations and determinants ----


@op
def _solve(xp, a, b):
    """Solve the linear equations a @ x = b."""
    return xp.solve(a, b)


@_solve.rule("a", "b")
def _(xp, upstream, a, out):
    """Solve with the transpose. When a changes, a @ x must stay b, so x changes by -inv(a) @ da @ x."""
    to_b = xp.solve(xp.mT(a), upstream)
    return -xp.matmul(to_b, xp.mT(out)), to_b


@wraps_op(_solve, namespace=True)
@prefixes_errors
def solve(a, b):
    """Solve the linear equations a @ x = b.

    The gradient of b is the solution y of aᵀ y = upstream, and the gradient of a is -y xᵀ.
    Shapes: a (..., n, n), b (n) -> (..., n); b (..., n, k) -> (..., n, k), a solution for each column.
    Args:
        a: square matrices.
        b: the right-hand side: one vector, or a matrix of columns.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if a is singular or not square, or b does not have a row for each row of a.
    >>> mg.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0])
    tensor([0.5, 0.5])
    See: numpy.linalg.solve, torch.linalg.solve."""
    return squeeze(_solve(a, expand_dims(b, 1)), axis=-1) if ndim(b) == 1 else _solve(a, b)


@prefixes_errors
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    """Solve the linear equations a @ x = b with a triangular matrix.

    The other triangle is not read and receives a gradient of 0.
    Shapes: a (n, n), b (n) -> (n); b (n, k) -> (n, k), a solution for each column.
    Args:
        a: square matrices.
        b: the right-hand side: one vector, or a matrix of columns.
        trans: 0 or "N" (default) for a, 1 or "T" for its transpose, 2 or "C" for its conjugate transpose.
        lower: whether to use the lower triangle; default False, the upper one.
        unit_diagonal: whether to treat the diagonal as ones without reading it; default False.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if the triangle is singular or not square, b does not have a row for each row of a, or trans is
        unknown.
    >>> mg.linalg.solve_triangular([[2.0, 1.0], [9.0, 4.0]], [4.0, 8.0]).tolist()
    [1.0, 2.0]
    See: scipy.linalg.solve_triangular, torch.linalg.solve_triangular."""
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0 or 'N', 1 or 'T', 2 or 'C', got {trans!r}")
    if unit_diagonal:
        triangle = (tril(a, -1) if lower else triu(a, 1)) + _identity(shape(a)[-1])
    else:
        triangle = tril(a) if lower else triu(a)
    return solve(triangle if trans in (0, "N") else mT(triangle) if trans in (1, "T") else mH(triangle), b)


def _identity(n):
    return diag([1.0] * n) if n else reshape([], (0, 0))


@prefixes_errors
def solve_banded(l_and_u, ab, b):
    """Solve the linear equations a @ x = b with a banded matrix.

    ab[u + i - j, j] = a[i, j]: each row of ab is a diagonal of a, the upper ones first; corners outside a are not read.
    The matrix is expanded, so this form saves no memory or time.
    Shapes: ab (l + u + 1, n), b (n) -> (n); b (n, k) -> (n, k), a solution for each column.
    Args:
        l_and_u: the numbers of diagonals below and above the main one.
        ab: the diagonals, as rows.
        b: the right-hand side: one vector, or a matrix of columns.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if ab does not have l + u + 1 rows, a is singular, or b does not have a row for each column of a.
    >>> mg.linalg.solve_banded((0, 1), [[0.0, 1.0], [2.0, 4.0]], [4.0, 8.0]).tolist()
    [1.0, 2.0]
    See: scipy.linalg.solve_banded."""
    below, above = l_and_u
    if ndim(ab) != 2 or shape(ab)[0] != below + above + 1:
        raise ValueError(f"ab has a row for each of {below} + {above} + 1 diagonals, its shape is {shape(ab)}")
    n, whole = shape(ab)[1], 0.0
    for row, k in enumerate(range(above, -below - 1, -1)):
        if abs(k) < n:
            whole = whole + diag(getitem(ab, index=(row, slice(max(k, 0), n + min(k, 0)))), k=k)
    return solve(whole, b)


@op
def solve_sylvester(xp, a, b, q):
    """Solve Sylvester's equation a @ x + x @ b = q.

    All entries of x are solved for at once as linear equations, which suits matrices of moderate size. The gradient of
    q is the solution y of aᵀ y + y bᵀ = upstream; the gradients of a and b are -y xᵀ and -xᵀ y.
    Shapes: a (..., m, m), b (..., n, n), q (..., m, n) -> (..., m, n).
    Args:
        a, b: square matrices; no eigenvalue of a may be the negative of one of b.
        q: the right-hand side.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if there is not exactly one solution, a or b is not square, or q does not match them.
    >>> mg.linalg.solve_sylvester([[1.0]], [[3.0]], [[8.0]]).tolist()
    [[2.0]]
    See: scipy.linalg.solve_sylvester."""
    return xp.solve_sylvester(a, b, q)


@solve_sylvester.rule("a", "b", "q")
def _(xp, upstream, a, b, out):
    """Solve with the transposes. When a or b changes, a @ x + x @ b must stay q."""
    to_q = xp.solve_sylvester(xp.mT(a), xp.mT(b), upstream)
    return -xp.matmul(to_q, xp.mT(out)), -xp.matmul(xp.mT(out), to_q), to_q


@op
def sqrtm(xp, a):
    """Compute the square root of a matrix: x with x @ x = a, and eigenvalues with positive real part.

    The gradient of a is the solution y of xᵀ y + y xᵀ = upstream.
    Args:
        a: square matrices without eigenvalues on the real line up to 0. A real matrix has a real root.
    Raises: ValueError if a is not square or singular, or has a real eigenvalue below 0.
    >>> mg.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).round(6).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    See: scipy.linalg.sqrtm; N. J. Higham, "Functions of Matrices", 2008."""
    return xp.sqrtm(a)


@sqrtm.rule("a")
def _(xp, upstream, out):
    """From x @ x = a follows x @ dx + dx @ x = da: a Sylvester equation, solved with the transposes."""
    return xp.solve_sylvester(xp.mT(out), xp.mT(out), upstream)


@op
def inv(xp, a):
    """Compute the inverse of a matrix.

    a @ inv(a) = inv(a) @ a = 1. Use `solve` for equations: it is faster and more accurate. The gradient of a is
    -inv(a)ᵀ @ upstream @ inv(a)ᵀ.
    Raises: ValueError if a is singular or not square.
    >>> mg.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    See: numpy.linalg.inv, torch.linalg.inv."""
    return xp.inv(a)


@inv.rule("a")
def _(xp, upstream, out):
    """When a changes, a @ inv(a) must stay 1."""
    return -xp.matmul(xp.matmul(xp.mT(out), upstream), xp.mT(out))


@op
def det(xp, a):
    """Compute the determinant of a matrix.

    ∂ det(a) / ∂a = cofactors(a) = det(a) inv(a)ᵀ; the first form also holds for singular matrices.
    Shapes: (..., n, n) -> (...).
    Raises: ValueError if a is not square.
    >>> mg.linalg.det([[2.0, 1.0], [0.0, 3.0]])
    tensor(6.)
    See: numpy.linalg.det, torch.linalg.det."""
    return xp.det(a)


@det.rule("a")
def _(xp, upstream, a):
    """The derivative with respect to an entry is the determinant of a without its row and column, with a sign."""
    return xp.expand_dims(upstream, axis=(-2, -1)) * xp.cofactors(a)


@op(public=False)
def cofactors(xp, a):
    """Compute the cofactor matrix: the gradient of the determinant.

    out[i, j] = (-1)^(i+j) times the determinant of a without row i and column j. This is det(a) inv(a)ᵀ, but also
    exists for singular matrices; its own gradient needs an invertible matrix.
    Raises: ValueError if a is not square, or in the backward pass if it is singular.
    >>> mg.ops.cofactors([[1.0, 2.0], [3.0, 4.0]])
    tensor([[ 4., -3.],
            [-2.,  1.]])
    See: mg.linalg.det; jax.numpy.linalg.det, whose gradient it is too."""
    return xp.cofactors(a)


@cofactors.rule("a")
def _(xp, upstream, a, out):
    """The product rule: the determinant changes, and the inverse changes."""
    inverse = xp.mT(xp.inv(a))
    volume = xp.sum(upstream * out, axis=(-2, -1), keepdims=True)
    return volume * inverse - xp.matmul(xp.matmul(out, xp.mT(upstream)), inverse)


@op(outputs=("sign", "logabsdet"))
def slogdet(xp, a):
    """Compute the sign and the logarithm of the absolute value of the determinant.

    det(a) = sign * exp(logabsdet), without overflow. The sign of a complex determinant is a complex number of magnitude
    1. A singular matrix has sign 0 and logarithm -inf, and no gradient.
    Shapes: (..., n, n) -> (...) twice.
    Returns: a pair of tensors: sign, of the dtype of a, and logabsdet, real; float64 for integers.
    Raises: ValueError if a is not square, or in the backward pass if it is singular.
    >>> mg.linalg.slogdet([[1.0, 2.0], [3.0, 4.0]])
    (tensor(-1.), tensor(0.69314718))
    See: numpy.linalg.slogdet, torch.linalg.slogdet."""
    return xp.slogdet(a)


@slogdet.rule("a")
def _(xp, upstream, a, sign):
    """The derivative of the logarithm is the transposed inverse. A real sign is constant; a complex one turns with the
    imaginary part of the logarithm."""
    turned = upstream[0] * xp.conj(sign)
    arrived = upstream[1] + (turned - xp.conj(turned)) / 2
    return xp.expand_dims(arrived, axis=(-2, -1)) * xp.mH(xp.inv(a))


@linear(
    x=lambda xp, upstream, x_shape, offset: xp.put_diagonal(
        xp.unreduce(upstream, xp.diagonal_shape(x_shape, offset), -1), x_shape, offset, -2, -1
    )
)
def _trace(xp, x, *, offset=0):
    """Compute the trace of a matrix: the sum along its diagonal.

    Σ_i x[..., i, i + offset].
    Shapes: (..., m, n) -> (...); the matrices are on the last two axes, in numpy.trace on the first two.
    Args:
        x: matrices, also not square.
        offset: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
    Raises: ValueError if x has fewer than two axes; TypeError if the offset is not an integer.
    >>> mg.linalg.trace([[1.0, 2.0], [3.0, 4.0]]).item()
    5.0
    See: numpy.linalg.trace, torch.trace."""
    return xp.trace(x, offset)


trace = _trace

# Functions of matrices ------


@linear(
    a=lambda upstream, a_shape: (
        upstream[..., : a_shape[-1], : a_shape[-1]] + upstream[..., a_shape[-1] :, a_shape[-1] :]
    ),
    b=lambda upstream, b_shape: upstream[..., : b_shape[-1], b_shape[-1] :],
    public=False,
)
def block_triangle(xp, a, b):
    """Build the block matrix [[a, b], [0, a]], which differentiates functions of matrices.

    For a function f of matrices, f([[a, b], [0, a]]) = [[f(a), Df(a)[b]], [0, f(a)]]: the upper right block is the
    derivative of f at a in the direction b.
    Shapes: a (..., n, n), b (..., n, n) -> (..., 2 n, 2 n).
    Args:
        a: square matrices.
        b: the directions, matrices of the same shape.
    Raises: ValueError if b does not have the shape of a.
    >>> mg.ops.block_triangle([[1.0]], [[5.0]]).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    See: R. Mathias, "A chain rule for matrix functions and applications", 1996."""
    return xp.block_triangle(a, b)


@op
def matrix_power(xp, a, *, n):
    """Raise a square matrix to an integer power.

    a⁰ is the identity, and a⁻ⁿ = inv(a)ⁿ.
    Args:
        n: the exponent, an integer.
    Returns: a tensor of the dtype of a; float64 for integers to a negative power.
    Raises: ValueError if a is not square, or singular for a negative power; TypeError if n is not an integer.
    >>> mg.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    See: numpy.linalg.matrix_power, torch.linalg.matrix_power."""
    return xp.matrix_power(a, n)


@matrix_power.rule("a")
def _(xp, upstream, a, a_shape, n):
    """The same power of the block matrix [[a, b], [0, a]]: its upper right block is the derivative."""
    larger = xp.matrix_power(xp.block_triangle(xp.mT(a), upstream), n=n)
    return larger[..., : a_shape[-1], a_shape[-1] :]


@op
def expm(xp, a):
    """Compute the matrix exponential.

    expm(a) = 1 + a + a² / 2! + a³ / 3! + … The solution of x' = a @ x at time 1 is expm(a) @ x(0). It is not the
    exponential of each entry.
    Raises: ValueError if a is not square.
    >>> mg.linalg.expm([[0.0, 1.0], [-1.0, 0.0]])
    tensor([[ 0.54030231,  0.84147098],
            [-0.84147098,  0.54030231]])
    See: scipy.linalg.expm, torch.linalg.matrix_exp."""
    return xp.expm(a)


@expm.rule("a")
def _(xp, upstream, a, a_shape):
    """The exponential of the block matrix [[a, b], [0, a]]: its upper right block is the derivative."""
    larger = xp.expm(xp.block_triangle(xp.mT(a), upstream))
    return larger[..., : a_shape[-1], a_shape[-1] :]


# Norms ----------------------


@op(public=False)
def p_norm(xp, x, *, ord, axis=None, keepdims=False):
    """Compute the p-norm of a vector, for any exponent except 0 and infinity.

    ‖x‖_p = (Σ_i |x_i|^p)^(1/p). At the origin, and for an entry of 0, the gradient is defined as 0.
    Args:
        ord: the exponent p.
    Returns: a real tensor of the precision of x; float64 for integers.
    Raises: ValueError if ord is 0; TypeError if ord is not a number; IndexError if the axis is out of range.
    >>> round(mg.ops.p_norm([3.0, 4.0], 3).item(), 4)
    4.4979
    See: numpy.linalg.norm, torch.linalg.vector_norm."""
    return xp.power(xp.sum(xp.power(xp.absolute(x), ord), axis=axis, keepdims=keepdims), 1 / ord)


@p_norm.rule("x")
def _(xp, upstream, x, out, x_shape, ord, axis, keepdims):
    """Each entry receives a gradient along its own direction, in proportion to its share of the norm."""
    whole = xp.unreduce(xp.where(out == 0, 1.0, out), x_shape, axis, keepdims)
    share = xp.power(xp.where(x == 0, 1.0, xp.absolute(x) / whole), ord - 1)
    return xp.unreduce(upstream, x_shape, axis, keepdims) * share * xp.sign(x)


@prefixes_errors
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    """Compute the norm of a vector.

    The norm depends on `ord`:
        2:     √(Σ_i |x_i|²), the length
        1:     Σ_i |x_i|
        inf:   max_i |x_i|
        -inf:  min_i |x_i|
        0:     how many entries are not 0
        p:     (Σ_i |x_i|^p)^(1/p), for any other number
    At the origin the gradient is defined as 0; entries that tie for the largest share it.
    Args:
        x: numbers, real or complex.
        ord: a number, inf or -inf; default 2.
    Returns: a real tensor.
    Raises: ValueError if ord is text; IndexError if the axis is out of range.
    >>> [mg.linalg.vector_norm([3.0, -4.0], ord=p).item() for p in (1, 2, np.inf)]
    [7.0, 5.0, 4.0]
    See: numpy.linalg.vector_norm, torch.linalg.vector_norm."""
    if isinstance(ord, str):
        raise ValueError(f"vector_norm: ord must be a number, got {ord!r}")
    if ord == 2:
        return reductions.norm(x, axis=axis, keepdims=keepdims)
    reduce = {inf: reductions.max, -inf: reductions.min, 0: reductions.sum, 1: reductions.sum}.get(ord)
    if reduce is None:
        return p_norm(x, ord=ord, axis=axis, keepdims=keepdims)
    return reduce(absolute(x if ord else sign(x)), axis=axis, keepdims=keepdims)


@prefixes_errors
def matrix_norm(x, *, keepdims=False, ord="fro"):
    """Compute the norm of a matrix.

    The norm depends on `ord`, with s the singular values of x:
        "fro":      √(Σ_ij |x_ij|²), Frobenius
        "nuc":      Σ_i s_i, nuclear
        2, -2:      max_i s_i, spectral; min_i s_i
        1, -1:      max_j Σ_i |x_ij|; min_j Σ_i |x_ij|, of columns
        inf, -inf:  max_i Σ_j |x_ij|; min_i Σ_j |x_ij|, of rows
    Shapes: x (..., m, n) -> (...); with keepdims -> (..., 1, 1).
    Args:
        x: matrices, real or complex.
        ord: "fro" (default), "nuc", 1, -1, 2, -2, inf or -inf.
    Returns: a real tensor.
    Raises: ValueError if ord is unknown; IndexError or ValueError if x has fewer than two axes.
    >>> [mg.linalg.matrix_norm([[3.0, 0.0], [0.0, -4.0]], ord=each).item() for each in ("fro", 1)]
    [5.0, 4.0]
    See: numpy.linalg.matrix_norm, torch.linalg.matrix_norm."""
    if ord == "fro":
        return reductions.norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, inf, -inf):
        raise ValueError(f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    along = {1: -2, -1: -2, inf: -1, -inf: -1}.get(ord)
    sizes = svdvals(x) if along is None else reductions.sum(absolute(x), axis=along)
    reduce = reductions.sum if ord == "nuc" else reductions.max if ord > 0 else reductions.min
    out = reduce(sizes, axis=-1)
    return expand_axes(out, shape=shape(x), axis=(-2, -1)) if keepdims else out


@prefixes_errors
def norm(x, ord=None, axis=None, keepdims=False):
    """Compute the norm of a vector or a matrix, as NumPy's norm.

    It is `vector_norm` along one axis and `matrix_norm` over two; without `ord` the root of the sum of squares over all
    given axes.
    Shapes: x (2, 3) -> (); axis=1 -> (2); with keepdims -> (2, 1).
    Args:
        x: numbers, real or complex.
        ord: as in `vector_norm` or `matrix_norm`; default None.
        axis: the axis of vectors, or the two of matrices; None (default) for all.
    Returns: a real tensor.
    Raises: ValueError if ord is unknown, or given for three or more axes; IndexError if an axis is out of range.
    >>> mg.linalg.norm([3.0, 4.0]).item()
    5.0
    >>> mg.linalg.norm([[1.0, -2.0], [3.0, 4.0]], np.inf).item()
    7.0
    See: numpy.linalg.norm, torch.linalg.norm."""
    axes = tuple(range(ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord is None:
        return reductions.norm(x, axis=axis, keepdims=keepdims)
    if len(axes) == 1:
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=ord)
    if len(axes) != 2:
        raise ValueError(f"norm: with ord={ord!r}, axis must be one axis (a vector) or two (a matrix), got {len(axes)}")
    out = matrix_norm(moveaxis(x, source=axes, destination=(-2, -1)), ord=ord)
    return expand_axes(out, shape=shape(x), axis=axes) if keepdims else out
