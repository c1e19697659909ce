"""Matrix factorisations: Cholesky, eigenvalues, QR and singular values. Public as `mg.linalg`.

Matrices are on the last two axes; other axes are batch axes. For complex matrices, read conjugate transpose for
transpose.

The phase of a complex eigenvector or singular vector is arbitrary. Here each has a pivot that is real and positive: its
first entry that is at least half as large as the largest. So every loss has the gradient of the computed vectors, while
PyTorch leaves the phase open and rejects a loss that depends on it.
"""

from math import nan

from ..backends.shapes import shape
from ..core.define import elementwise, linear, nondifferentiable, op, wraps_op
from ..core.messages import prefixes_errors
from .shape import concatenate, getitem, mH, tril, triu

# Parts ----------------------


@linear(x=lambda xp, upstream: xp.hermitian_part(upstream), public=False)
def hermitian_part(xp, x):
    """Compute the Hermitian part of a matrix; for a real one the symmetric part.

    (x + xᴴ) / 2.
    Shapes: (..., n, n) -> the same.
    Args:
        x: square matrices.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError if x is not square; IndexError if it has fewer than two axes.
    >>> mg.ops.hermitian_part([[1.0, 2.0], [4.0, 3.0]]).tolist()
    [[1.0, 3.0], [3.0, 3.0]]
    See: the section on matrices of docs/conventions.md."""
    return (x + xp.mH(x)) / 2


@op(public=False)
def pivots(xp, x):
    """Return the reciprocal of each column's pivot at the pivot's position, and 0 elsewhere.

    The pivot of a column is its first entry that is at least half as large as the largest, a choice that rounding does
    not change. `eigh` and `svd` use it to fix the phase of complex vectors.
    Shapes: (..., m, n) -> the same.
    Args:
        x: matrices, real or complex. For a column of zeros the first entry is infinite.
    Returns: a tensor of the dtype of x.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.ops.pivots([[1.0, 8.0], [4.0, 2.0]]).tolist()
    [[0.0, 0.125], [0.25, 0.0]]
    See: mg.linalg.eigh, mg.linalg.svd."""
    return xp.pivots(x)


@pivots.rule("x")
def _(upstream, out):
    """As of one over a number; which entry is the pivot does not move."""
    return -upstream * out * out


def _fix_phases(xp, received, vectors, beside=0.0):
    """Return the gradient of vectors without the part that changes the phase of each, together with the vectors
    `beside` it. This part goes to the pivot, which stays real. Real vectors cannot be turned as a whole, and nothing
    changes."""
    whole = xp.sum(xp.conj(vectors) * received, axis=-2, keepdims=True) + beside
    return received - xp.pivots(vectors) * ((whole - xp.conj(whole)) / 2)


@nondifferentiable(public=False)
def resolution(xp, x, *, shape=None, rtol=None):
    """Return the magnitude below which an entry counts as 0 compared to the largest along the last axis.

    It is rtol * max |x|. The default rtol is the longer side of the matrix times the machine epsilon.
    Shapes: (..., n) -> (..., 1).
    Args:
        x: numbers, such as singular values.
        shape: the shape of the matrix; None (default) for the shape of x.
        rtol: the relative tolerance, a number; default None.
    Returns: a real tensor, without a graph.
    Raises: TypeError if rtol is not a number; ValueError if x is a single number.
    >>> mg.ops.resolution([1.0, 50.0], rtol=0.1).tolist()
    [5.0]
    See: numpy.linalg.matrix_rank, which has the same threshold."""
    return xp.resolution(x, shape=shape, rtol=rtol)


@elementwise(x=lambda out: -out * out, public=False)
def reciprocal_beyond(xp, x, floor):
    """Compute the reciprocal of entries larger than a floor, and 0 for smaller ones.

    1 / x if |x| > floor, else 0. The pseudoinverse inverts singular values this way.
    Args:
        floor: the largest magnitude that counts as 0; it receives no gradient.
    Returns: a tensor of the dtype of x; float64 for integers.
    >>> mg.ops.reciprocal_beyond([4.0, 0.1], 1.0).tolist()
    [0.25, 0.0]
    See: mg.linalg.pinv."""
    beyond = abs(x) > floor
    return xp.where(beyond, 1 / xp.where(beyond, x, 1.0), 0.0)


@elementwise(
    x=lambda xp, y, floor: 1 / xp.where(abs(y) > floor, y, nan),
    y=lambda xp, out, y, floor: -out / xp.where(abs(y) > floor, y, nan),
    public=False,
)
def known_ratio(xp, x, y, floor):
    """Compute x / y, with 0 if x is 0 and nan if y is lost in rounding.

    x / y if |y| > floor; else nan, but 0 if x = 0. So a function that does not use the eigenvectors of equal values has
    its gradient, and one that does receives nan.
    Args:
        floor: the largest magnitude at which y counts as unknown; it receives no gradient.
    >>> mg.ops.known_ratio([1.0, 0.0, 1.0], [2.0, 0.0, 0.0], 0.0).tolist()
    [0.5, 0.0, nan]
    See: mg.linalg.eigh, mg.linalg.svd."""
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
    """Compute the Cholesky factorisation: the lower triangle L with L @ Lᵀ = a."""
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


@wraps_op(_cholesky)
@prefixes_errors
def cholesky(a, *, upper=False):
    """Compute the Cholesky factorisation: the lower triangle L with L @ Lᵀ = a.

    Only the symmetric part (a + aᵀ) / 2 of a is used, so its gradient is symmetric.
    Args:
        a: positive definite matrices: symmetric (complex: Hermitian), with all eigenvalues above 0.
        upper: whether to return the upper triangle Lᵀ, with Lᵀᵀ @ Lᵀ = a; default False.
    Raises: ValueError if a is not square, or its symmetric part is not positive definite.
    >>> mg.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    See: numpy.linalg.cholesky, torch.linalg.cholesky; I. Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    return mH(_cholesky(a)) if upper else _cholesky(a)


@op(outputs=("values", "vectors"))
def _eigh(xp, a):
    """Compute the eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns."""
    return xp.eigh(a)


@_eigh.rule("a")
def _(xp, upstream, values, vectors, a_shape):
    """A value moves by what a does along its own vector; vectors turn towards each other, faster the nearer their
    values are."""
    one, floor = xp.new_eye(values, n=a_shape[-1]), _spread_of_equals(xp, values)
    gaps = xp.expand_dims(values, axis=-2) - xp.expand_dims(values, axis=-1) + one
    to_vectors = _fix_phases(xp, upstream[1], vectors)
    turned = xp.known_ratio(xp.matmul(xp.mH(vectors), to_vectors), gaps, floor) * (1 - one)
    stretched = vectors * xp.expand_dims(upstream[0], axis=-2)
    return xp.hermitian_part(xp.matmul(xp.matmul(vectors, turned) + stretched, xp.mH(vectors)))


@wraps_op(_eigh)
@prefixes_errors
def eigh(a, UPLO=None):
    """Compute the eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns.

    a @ vectors = vectors * values. Only the symmetric part (a + aᵀ) / 2 of a is used, so its gradient is symmetric. The
    eigenvectors of equal values are not unique and have no gradient: a function that uses them receives nan, but one
    that uses only the values has its gradient. For complex matrices the phase of each vector is chosen so that its
    pivot is real and positive.
    Shapes: a (..., n, n) -> values (..., n), vectors (..., n, n).
    Args:
        a: symmetric matrices (complex: Hermitian).
        UPLO: None (default) reads the symmetric part; "L" or "U" only the lower or upper triangle.
    Returns: a pair of tensors: real values, and vectors of the dtype of a; float64 for integers.
    Raises: ValueError if a is not square, or UPLO is unknown.
    >>> values, vectors = mg.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> values
    tensor([1., 3.])
    >>> abs(vectors)
    tensor([[0.70710678, 0.70710678],
            [0.70710678, 0.70710678]])
    See: numpy.linalg.eigh, torch.linalg.eigh."""
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"eigh: UPLO must be 'L', 'U' or None, got {UPLO!r}")
    return _eigh(a if UPLO is None else _from_triangle(a, UPLO == "L"))


@prefixes_errors
def eigvalsh(a, UPLO=None):
    """Compute the eigenvalues of a symmetric matrix in ascending order.

    Only the symmetric part (a + aᵀ) / 2 of a is used. Equal values have a gradient, too.
    Shapes: (..., n, n) -> (..., n).
    Args:
        a: symmetric matrices (complex: Hermitian).
        UPLO: None (default) reads the symmetric part; "L" or "U" only the lower or upper triangle.
    Returns: a real tensor of the precision of a; float64 for integers.
    Raises: ValueError if a is not square, or UPLO is unknown.
    >>> mg.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])
    tensor([1., 3.])
    See: numpy.linalg.eigvalsh, torch.linalg.eigvalsh."""
    return eigh(a, UPLO)[0]


# Eigenvectors of any square matrix ----


@linear(x=lambda upstream: upstream, public=False)
def check_independent(xp, x, *, what="the columns depend on each other"):
    """Return a square matrix unchanged, if its columns are linearly independent.

    If they are not, a singular value is 0 up to rounding, and dividing by the matrix is meaningless.
    Shapes: (..., n, n) -> the same.
    Args:
        x: square matrices.
        what: the error message if they are not.
    Returns: x itself.
    Raises: ValueError if a singular value is as small as the rounding error of the largest; on a device the result is
        nan.
    >>> mg.ops.check_independent([[2.0, 1.0], [0.0, 3.0]]).tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    See: mg.linalg.qr, mg.linalg.eig."""
    return xp.check_independent(x, what)


@op(outputs=("values", "vectors"))
def _eig(xp, a):
    """Compute the eigenvalues of a square matrix, and eigenvectors as columns."""
    return xp.eig(a)


@_eig.rule("a")
def _(xp, upstream, values, vectors, a_shape):
    """As of a symmetric matrix; but vectors that are not upright on each other stretch as they turn, and are brought
    back to length 1.

    C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann and R. Haeb-Umbach, "On the computation of complex-valued gradients
    with application to statistically optimum beamforming", 2017.
    """
    vectors = xp.check_independent(vectors, what="the eigenvectors of a do not span the space: they have no gradient")
    one, floor = xp.new_eye(values, n=a_shape[-1]), _spread_of_equals(xp, values)
    gaps = xp.conj(xp.expand_dims(values, axis=-2) - xp.expand_dims(values, axis=-1)) + one
    inside = xp.matmul(xp.mH(vectors), _fix_phases(xp, upstream[1], vectors))
    stretch = xp.sum(inside * one, axis=-2, keepdims=True)
    upright = inside - xp.matmul(xp.mH(vectors), vectors * ((stretch + xp.conj(stretch)) / 2))
    between = xp.known_ratio(upright * (1 - one), gaps, floor) + xp.expand_dims(upstream[0], axis=-2) * one
    return xp.solve(xp.mH(vectors), xp.matmul(between, xp.mH(vectors)))


@wraps_op(_eig)
@prefixes_errors
def eig(a):
    """Compute the eigenvalues of a square matrix, and eigenvectors as columns.

    a @ vectors = vectors * values. The results are complex even if all eigenvalues are real, so that the dtype does not
    depend on the values. Each vector has length 1 and a phase such that its pivot is real and positive: the first entry
    that is at least half as large as the largest. The eigenvectors of equal values have no gradient: a function that
    uses them receives nan.
    Shapes: a (..., n, n) -> values (..., n), vectors (..., n, n).
    Returns: a pair of complex tensors of the precision of a, in LAPACK's order.
    Raises: ValueError if a is not square or contains nan, or in the backward pass if the vectors are not linearly
        independent; RuntimeError on a device whose library cannot compute them.
    >>> values, vectors = mg.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> values.tolist()
    [1j, -1j]
    See: torch.linalg.eig, numpy.linalg.eig; `mg.linalg.eigh` for symmetric matrices."""
    return _eig(a)


@prefixes_errors
def eigvals(a):
    """Compute the eigenvalues of a square matrix.

    Shapes: (..., n, n) -> (..., n).
    Args:
        a: square matrices.
    Returns: a complex tensor of the precision of a, in LAPACK's order.
    Raises: ValueError if a is not square or contains nan, or in the backward pass if the vectors are not linearly
        independent.
    >>> mg.linalg.eigvals([[2.0, 1.0], [0.0, 3.0]]).tolist()
    [(2+0j), (3+0j)]
    See: torch.linalg.eigvals, numpy.linalg.eigvals."""
    return _eig(a)[0]


# Factors of any matrix ------


@op(outputs=("q", "r"))
def _qr(xp, a):
    """Compute the QR factorisation: orthonormal columns q and an upper triangle r with q @ r = a.

    a must not have more columns than rows."""
    return xp.qr(a)


@_qr.rule("a")
def _(xp, upstream, q, r):
    """The columns of q rotate, and r stays a triangle with a real diagonal, so the rest of the change is symmetric.

    S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
    experimental design", 2010.
    """
    r = xp.check_independent(r, what="a is singular or its columns depend on each other: q and r have no gradient")
    inside = xp.matmul(r, xp.mH(upstream[1])) - xp.matmul(xp.mH(upstream[0]), q)
    mirrored = xp.hermitian_part(xp.tril(inside) + xp.tril(inside, k=-1))
    return xp.mH(xp.solve(r, xp.mH(upstream[0] + xp.matmul(q, mirrored))))


@wraps_op(_qr)
@prefixes_errors
def qr(a, mode="reduced"):
    """Compute the QR factorisation: orthonormal columns q and an upper triangle r with q @ r = a.

    The diagonal of r is real, of either sign (as in LAPACK). The gradient exists only if the columns of a are linearly
    independent; for a wide matrix, the columns of its first square block. NumPy's mode "complete" is missing: its
    additional columns are not unique, so they have no gradient.
    Shapes: a (..., m, n) -> q (..., m, k), r (..., k, n), with k = min(m, n).
    Args:
        a: matrices.
        mode: "reduced" (default) for both, "r" for only the triangle.
    Returns: a pair of tensors, q and r, of the dtype of a; or only r. float64 for integers.
    Raises: ValueErrorif mode is unknown, ora has fewer than two axes, or in the backward pass if r is singular.
    >>> q, r = mg.linalg.qr([[3.0, 0.0], [4.0, 5.0]])
    >>> abs(r)
    tensor([[5., 4.],
            [0., 3.]])
    >>> np.allclose((q @ r).numpy(), [[3.0, 0.0], [4.0, 5.0]])
    True
    See: numpy.linalg.qr, torch.linalg.qr."""
    if mode not in ("reduced", "r"):
        raise ValueError(f"qr: mode must be 'reduced' or 'r', got {mode!r}")
    rows, columns = shape(a)[-2:]
    if columns <= rows:
        q, r = _qr(a)
    else:
        q, square = _qr(getitem(a, index=(..., slice(rows))))
        r = concatenate([square, mH(q) @ getitem(a, index=(..., slice(rows, None)))], axis=-1)
    return r if mode == "r" else (q, r)


@op(outputs=("u", "s", "vh"))
def _svd(xp, a):
    """Compute the singular value decomposition: u, s, vh with u * s @ vh = a."""
    return xp.svd(a)


@_svd.rule("a")
def _(xp, upstream, u, s, vh, a_shape):
    """A value moves by what a does along its own two vectors; vectors turn towards each other, and, where a is longer
    one way, out of the space that they span."""
    row, v, to_v = xp.expand_dims(s, axis=-2), xp.mH(vh), xp.mH(upstream[2])
    to_u = _fix_phases(xp, upstream[0], u, xp.sum(xp.conj(v) * to_v, axis=-2, keepdims=True))
    turn_u, turn_v = xp.matmul(xp.mH(u), to_u), xp.matmul(vh, to_v)
    inside = _rotation_gradient(xp, turn_u, turn_v, s, min(a_shape[-2:]))
    beyond_u = (to_u - xp.matmul(u, turn_u)) * float(a_shape[-2] > a_shape[-1])
    beyond_v = (to_v - xp.matmul(v, turn_v)) * float(a_shape[-2] < a_shape[-1])
    left = xp.matmul(u, inside) + u * xp.expand_dims(upstream[1], axis=-2) + xp.known_ratio(beyond_u, row, 0.0)
    return xp.matmul(left, vh) + xp.matmul(u, xp.mH(xp.known_ratio(beyond_v, row, 0.0)))


def _rotation_gradient(xp, turn_u, turn_v, s, n):
    """Return the gradient of left and right vectors that rotate towards each other, by the entries of a between them.

    As of eigenvectors: the values of [[0, a], [aᵀ, 0]] are s and -s, which are as far apart as differences and sums of
    s. J. Townsend, "Differentiating the singular value decomposition", 2016.
    """
    row, column, one = xp.expand_dims(s, axis=-2), xp.expand_dims(s, axis=-1), xp.new_eye(s, n=n)
    together, apart = turn_u + turn_v, turn_u - turn_v
    near = xp.known_ratio(together - xp.mH(together), row - column + one, _spread_of_equals(xp, s)) * (1 - one)
    return (near + xp.known_ratio(apart - xp.mH(apart), row + column, 0.0)) / 2


@wraps_op(_svd)
@prefixes_errors
def svd(a, full_matrices=False, compute_uv=True):
    """Compute the singular value decomposition: u, s, vh with u * s @ vh = a.

    The columns of u and the rows of vh are orthonormal, and the singular values s ≥ 0 are in descending order. The
    vectors of equal values are not unique and have no gradient: a function that uses them receives nan, but one that
    uses only the values has its gradient. For complex matrices the phase of each pair of vectors is chosen so that the
    pivot of the left one is real and positive.
    Shapes: a (..., m, n) -> u (..., m, k), s (..., k), vh (..., k, n), with k = min(m, n).
    Args:
        a: matrices.
        full_matrices: must be False, unlike in NumPy: the additional vectors are not unique and have no gradient.
        compute_uv: whether to return the vectors; default True.
    Returns: a triple of tensors, u and vh of the dtype of a, s real; or only s. float64 for integers.
    Raises: ValueError if full_matrices is True, a has fewer than two axes, or a contains nan.
    >>> u, s, vh = mg.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> s
    tensor([4., 3.])
    >>> np.allclose((u * s @ vh).numpy(), [[3.0, 0.0], [0.0, -4.0]])
    True
    See: numpy.linalg.svd, torch.linalg.svd; J. Townsend, "Differentiating the singular value decomposition", 2016."""
    if full_matrices:
        raise ValueError("svd: the additional vectors of full_matrices are not unique")
    return _svd(a) if compute_uv else _svd(a)[1]


@prefixes_errors
def svdvals(a):
    """Compute the singular values of a matrix, in descending order.

    They are the square roots of the eigenvalues of aᴴ @ a. Equal values have a gradient, too.
    Shapes: (..., m, n) -> (..., min(m, n)).
    Args:
        a: matrices.
    Returns: a real tensor of the precision of a; float64 for integers.
    Raises: ValueError if a has fewer than two axes, or contains nan.
    >>> mg.linalg.svdvals([[3.0, 0.0], [0.0, -4.0]])
    tensor([4., 3.])
    See: numpy.linalg.svdvals, torch.linalg.svdvals."""
    return _svd(a)[1]


@op
def pinv(xp, a, *, rtol=None):
    """Compute the pseudoinverse of a matrix (Moore-Penrose), for least squares problems.

    The shortest x that minimises ‖a @ x - b‖ is pinv(a) @ b. With the singular value decomposition of a it is v
    diag(1 / s) uᴴ, where singular values up to `rtol` times the largest count as 0. The gradient assumes that their
    number does not change.
    Shapes: (..., m, n) -> (..., n, m).
    Args:
        a: matrices, of any rank.
        rtol: the relative size up to which a singular value counts as 0; None (default) for the longer side of a times
            the machine epsilon.
    Raises: ValueError if a has fewer than two axes; TypeError if rtol is not a number.
    >>> mg.linalg.pinv([[1.0], [1.0]])
    tensor([[0.5, 0.5]])
    See: numpy.linalg.pinv, torch.linalg.pinv; G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
        nonlinear least squares problems whose variables separate", 1973."""
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
