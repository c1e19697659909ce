"""Linear algebra on arrays. Each function works on the last two axes, for stacks of matrices of any shape.

`np` is NumPy or CuPy. A ValueError says what the matrix must be.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from numpy import broadcast_shapes, errstate, ndarray
from numpy.linalg import LinAlgError

from .shapes import float_dtype

__all__ = [
    "block_triangle",
    "check_independent",
    "cholesky",
    "cofactors",
    "det",
    "eig",
    "eigh",
    "expm",
    "inv",
    "matrix_power",
    "pivots",
    "qr",
    "resolution",
    "slogdet",
    "solve",
    "solve_sylvester",
    "sqrtm",
    "svd",
    "trace",
]  # fmt: skip


def _square(a: Any) -> None:
    """Raise ValueError if a matrix is not square."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"a must be a square matrix, or a stack of them; it has shape {a.shape}")


class _noticing:  # noqa: N801 - a block, which takes a fifth of what one made of a generator does
    """Return a block in which a matrix without factors raises ValueError with this sentence.

    NumPy raises by itself. CuPy must be configured to wait for the GPU and raise; otherwise it returns unfinished
    values.
    """

    __slots__ = ("errstate", "sentence")

    def __init__(self, np: Any, sentence: str):
        self.sentence = sentence
        self.errstate = import_module("cupyx").errstate(linalg="raise") if np.__name__ == "cupy" else None

    def __enter__(self) -> None:
        if self.errstate is not None:
            self.errstate.__enter__()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.errstate is not None:
            self.errstate.__exit__(kind, error, traceback)
        if isinstance(error, LinAlgError):
            raise ValueError(self.sentence) from None


def solve(np: Any, a: Any, b: Any) -> Any:
    """Return the x with a @ x = b, for a vector b, or for each column of a matrix b. No inverse is computed."""
    _square(a)
    if b.ndim == 1:
        return solve(np, a, b[:, None])[..., 0]
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"b must have a row for each row of a; the shapes are {a.shape} and {b.shape}")
    if a.shape[:-2] != b.shape[:-2]:
        stack = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b))
    with _noticing(np, "a is singular: a @ x = b has no solution, or many"):
        return np.linalg.solve(a, b)


def inv(np: Any, a: Any) -> Any:
    """Return the inverse."""
    _square(a)
    with _noticing(np, "a is singular: it has no inverse"):
        return np.linalg.inv(a)


def det(np: Any, a: Any) -> Any:
    """Return the determinant."""
    _square(a)
    return np.linalg.det(a)


def slogdet(np: Any, a: Any) -> tuple[Any, Any]:
    """Return the sign and the logarithm of the absolute value of the determinant."""
    _square(a)
    return tuple(np.linalg.slogdet(a))


def cofactors(np: Any, a: Any) -> Any:
    """Return the cofactors: the signed determinants of the matrix without one row and one column.

    They are computed from the singular values, since det(a) inv(a)ᵀ would divide by 0 if a is singular.
    """
    _square(a)
    known = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(known, a, 0))
    itself = np.eye(a.shape[-1], dtype=bool)
    others = np.prod(np.where(itself, 1, s[..., None, :]), axis=-1)
    sign = np.linalg.det(u @ vh)
    return np.where(known, sign[..., None, None] * ((u.conj() * others[..., None, :]) @ vh.conj()), math.nan)


def trace(np: Any, x: Any, offset: int = 0) -> Any:
    """Return the sum along a diagonal."""
    return np.trace(x, offset, -2, -1)


def cholesky(np: Any, a: Any) -> Any:
    """Return the lower triangle L with L @ Lᴴ = (a + aᴴ) / 2."""
    _square(a)
    with _noticing(np, "a must be positive definite: all eigenvalues of (a + aᵀ) / 2 above 0"):
        return np.linalg.cholesky(_hermitian(a))


def _hermitian(a: Any) -> Any:
    """Return (a + aᴴ) / 2."""
    return (a + a.swapaxes(-1, -2).conj()) / 2


def eigh(np: Any, a: Any) -> tuple[Any, Any]:
    """Return the eigenvalues of (a + aᴴ) / 2 in ascending order, and eigenvectors as columns with real pivots."""
    _square(a)
    values, vectors = np.linalg.eigh(_hermitian(a))
    return values, vectors if a.dtype.kind != "c" else vectors * _to_real_pivots(np, vectors)


def eig(np: Any, a: Any) -> tuple[Any, Any]:
    """Return the eigenvalues of a square matrix, and eigenvectors of length 1 as columns with real, positive pivots."""
    _square(a)
    if not hasattr(np.linalg, "eig"):
        raise RuntimeError(f"{np.__name__} has no eigenvectors of matrices that are not symmetric: a.to('cpu')")
    with _noticing(np, "a must be finite: its eigenvalues were not found"):
        values, vectors = np.linalg.eig(a)
    wide = np.complex64 if a.dtype.char in "fF" else np.complex128
    vectors = vectors.astype(wide)
    return values.astype(wide), vectors * _to_real_pivots(np, vectors)


def pivots(np: Any, x: Any) -> Any:
    """Return, for each column, 1 over its first entry that is at least half as large as its largest, at that index."""
    size = abs(x)
    large = size >= _largest(np, size, -2) / 2
    first = large & (np.cumsum(large, axis=-2) == 1)
    return np.where(first, 1 / np.where(first, x, 1), 0)


def _to_real_pivots(np: Any, vectors: Any) -> Any:
    """Return the numbers of absolute value 1 that make the pivot of each column real and positive."""
    inverse = pivots(np, vectors).sum(axis=-2, keepdims=True)
    return inverse / abs(inverse)


def qr(np: Any, a: Any) -> tuple[Any, Any]:
    """Return orthonormal columns and the upper triangle whose product is `a`; it needs as many rows as columns."""
    if a.shape[-1] > a.shape[-2]:
        raise ValueError(f"a must have no more columns than rows; it has shape {a.shape}")
    return tuple(np.linalg.qr(a))


def check_independent(np: Any, x: Any, what: str) -> Any:
    """Return a square matrix with independent columns.

    Otherwise raise ValueError(`what`), or on a device return nan.
    """
    values = np.linalg.svd(x, compute_uv=False)
    if not values.size:
        return x
    return _where_it_holds(np, values[..., -1:] > resolution(np, values, x.shape), x, what)


def _where_it_holds(np: Any, holds: Any, x: Any, what: str) -> Any:
    """Return matrices if each meets its condition, otherwise raise ValueError.

    On a device, a check would have to wait for all earlier work, so matrices that fail become nan instead.
    """
    if np.ndarray is not ndarray:
        return np.where(holds[..., None], x, math.nan).astype(x.dtype)
    if not holds.all():
        raise ValueError(what)
    return x


def svd(np: Any, a: Any) -> tuple[Any, Any, Any]:
    """Return left singular vectors as columns, singular values in descending order, right singular vectors as rows.

    The pivots of complex left vectors are real.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if a.dtype.kind != "c":
        return u, s, vh
    turn = _to_real_pivots(np, u)
    return u * turn, s, turn.conj().swapaxes(-1, -2) * vh


def resolution(np: Any, x: Any, shape: tuple[int, ...] | None = None, rtol: float | None = None) -> Any:
    """Return the size below which an entry counts as 0, relative to the largest one along the last axis.

    It is the share `rtol` of the largest. By default that is the spacing of floating point numbers times the longer
    side of the matrix of `shape` that the entries came from.
    """
    longest = max((shape or x.shape)[-2:])
    share = float(np.finfo(x.dtype).eps) * longest if rtol is None else rtol
    return share * _largest(np, np.abs(x), -1)


def _largest(np: Any, sizes: Any, axis: int) -> Any:
    """Return the largest of some sizes along an axis, which stays with length 1; 0 if there are none."""
    return (np.max if sizes.shape[axis] else np.sum)(sizes, axis=axis, keepdims=True)


# Functions of matrices ------


def block_triangle(np: Any, a: Any, b: Any) -> Any:
    """Return [[a, b], [0, a]]."""
    upper = np.concatenate([a, b], axis=-1)
    lower = np.concatenate([np.zeros_like(b), a], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def matrix_power(np: Any, a: Any, n: int) -> Any:
    """Return `a` multiplied by itself `n` times; powers of the inverse for negative `n`."""
    _square(a)
    return np.linalg.matrix_power(inv(np, a), -n) if n < 0 else np.linalg.matrix_power(a, n)


def solve_sylvester(np: Any, a: Any, b: Any, q: Any) -> Any:
    """Return the x with a @ x + x @ b = q, by linear equations for all its entries at once."""
    _square(a)
    _square(b)
    m, n = a.shape[-1], b.shape[-1]
    if q.shape[-2:] != (m, n):
        raise ValueError(f"q must have the shape {(m, n)}, it has {q.shape}")
    stack = broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2])
    a, b, q = (np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b, q))
    rows = a[..., :, None, :, None] * np.eye(n, dtype=a.dtype)[:, None, :]
    columns = np.eye(m, dtype=b.dtype)[:, None, :, None] * b.swapaxes(-1, -2)[..., None, :, None, :]
    whole = (rows + columns).reshape(*stack, m * n, m * n)
    with _noticing(np, "a @ x + x @ b = q has no solution, or many: an eigenvalue of a is minus one of b"):
        return np.linalg.solve(whole, q.reshape(*stack, m * n, 1)).reshape(*stack, m, n)


ROOT_STEPS, SCALED_ROOT_STEPS = 24, 6
"""Where nothing is seen of how near a root is, so many steps are taken; they do no harm once it is there."""


def sqrtm(np: Any, a: Any) -> Any:
    """Return the principal square root, by a Newton iteration for it and its inverse, scaled by determinants at first.

    E. D. Denman and A. N. Beavers, "The matrix sign function and computations in systems", Applied Mathematics and
    Computation 2 (1976), pages 63-94; N. J. Higham, "Functions of Matrices", 2008, section 6.3.
    """
    _square(a)
    n, dtype = max(a.shape[-1], 1), float_dtype(a)
    root, other = a.astype(dtype), np.broadcast_to(np.eye(a.shape[-1], dtype=dtype), a.shape)
    least = 4 * float(np.finfo(dtype).eps)
    what = "a has no principal square root: it is singular, or has an eigenvalue below 0"
    with _noticing(np, what), errstate(all="ignore"):
        for step in range(ROOT_STEPS):
            of_root, of_other = np.linalg.inv(root), np.linalg.inv(other)
            size = abs(np.linalg.det(root) * np.linalg.det(other)) ** (-0.5 / n)
            scale = (size if step < SCALED_ROOT_STEPS else np.ones_like(size))[..., None, None]
            further = (scale * root + of_other / scale) / 2
            other = (scale * other + of_root / scale) / 2
            moved, root = abs(further - root), further
            if np.ndarray is ndarray and (moved <= least * _largest_of_all(np, root)).all():
                break
    wrong = _largest_of_all(np, root @ root - a)[..., 0]
    return _where_it_holds(np, wrong <= 1e4 * n * least * _largest_of_all(np, root)[..., 0] ** 2, root, what)


def _largest_of_all(np: Any, x: Any) -> Any:
    """Return the size of the largest entry of each matrix, both axes kept."""
    return _largest(np, _largest(np, abs(x), -1), -2)


DEGREE = 13
LARGEST = 5.371920351148152
"""A matrix up to this 1-norm needs no halving for the quotient of polynomials of that degree to be exact in
float64."""

MOST_HALVINGS = 24
"""One step each, needed or not, since nobody on the host may look at a matrix on a device. Enough for norms
to 9e7."""


def _quotient_coefficients() -> list[float]:
    """Return the coefficients of N in Padé's exp(x) = N(x) / N(-x), from the constant upwards."""
    coefficients = [1.0]
    for k in range(1, DEGREE + 1):
        coefficients.append(coefficients[-1] * (DEGREE - k + 1) / ((2 * DEGREE - k + 1) * k))
    return coefficients


EVEN, ODD = _quotient_coefficients()[::2], _quotient_coefficients()[1::2]


def expm(np: Any, a: Any) -> Any:
    """Return the exponential 1 + a + a² / 2 + a³ / 6 + …, by halving until small, Padé's quotient, and squaring.

    N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM Journal on Matrix
    Analysis and Applications 26 (2005), pages 1179-1193. A norm beyond 9e7 gives nan.
    """
    _square(a)
    size = _largest(np, np.sum(np.abs(a), axis=-2, keepdims=True), -1)
    halvings = np.ceil(np.log2(np.maximum(size / LARGEST, 1)))
    small = a * (0.5**halvings).astype(float_dtype(size))
    square = small @ small
    even = _polynomial(np, EVEN, square)
    odd = small @ _polynomial(np, ODD, square)
    out = np.linalg.solve(even - odd, even + odd)
    with errstate(all="ignore"):  # a square that is one too many may overflow, and is not taken
        for step in range(MOST_HALVINGS):
            out = np.where(halvings > step, out @ out, out)
    return np.where(halvings > MOST_HALVINGS, math.nan, out)


def _polynomial(np: Any, coefficients: list[float], x: Any) -> Any:
    """Evaluate a polynomial of a matrix by Horner's scheme."""
    one = np.eye(x.shape[-1], dtype=x.dtype)
    total = coefficients[-1] * one
    for coefficient in coefficients[-2::-1]:
        total = total @ x + coefficient * one
    return total
