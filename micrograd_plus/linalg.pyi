"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from .tensor import Tensor

def block_triangle(a: Any, b: Any) -> Tensor: """The larger matrix [[a, b], [0, a]]."""
def cholesky(a: Any, *, upper: Any = False) -> Tensor:
    """The lower triangle L with L @ Lᵀ = a, or with `upper` its transpose."""
def cofactors(a: Any) -> Tensor:
    """For each entry, the determinant of what is left without its row and column, with a chessboard's signs."""
def det(a: Any) -> Tensor: """The determinant: the volume that the rows span, with a sign."""
def eigh(a: Any, UPLO: Any = None) -> Any:
    """Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns."""
def eigvalsh(a: Any, UPLO: Any = None) -> Tensor: """The eigenvalues of a symmetric matrix in ascending order."""
def expm(a: Any) -> Tensor: """The exponential of a matrix, 1 + a + a² / 2 + a³ / 6 + …."""
def hermitian_part(x: Any) -> Tensor: """The mean of a matrix and its adjoint: of a real matrix, its symmetric part."""
def inv(a: Any) -> Tensor: """What undoes a matrix: their product is 1 on the diagonal, 0 elsewhere."""
def known_ratio(x: Any, y: Any, floor: Any) -> Tensor: """x / y, and 0 where x is 0."""
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Tensor:
    """The size of a matrix: the root of the sum of squares for "fro"; the sum, largest or smallest of its singular
    values for "nuc", 2 or -2; the largest or smallest sum of sizes of a column for 1 or -1, of a row for inf or
    -inf."""
def matrix_power(a: Any, n: Any) -> Tensor:
    """The matrix multiplied with itself `n` times; for negative `n` its inverse is."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """NumPy's norm: `vector_norm` along one axis, `matrix_norm` over two; without `ord` the root of the sum of
    squares."""
def p_norm(x: Any, ord: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The sum of the sizes' powers, to one over that power."""
def pinv(a: Any, rtol: Any = None) -> Tensor:
    """The pseudoinverse p of a matrix a: of all x for which a @ x is nearest to b, p @ b is the shortest."""
def pivots(x: Any) -> Tensor:
    """One over the pivot of each column, where that stands, and 0 elsewhere: the first entry that is at least half as
    large as the largest."""
def qr(a: Any, mode: Any = "reduced") -> Any:
    """q with orthonormal columns and an upper triangle r, with real numbers on its diagonal, for which q @ r = a; with
    `mode="r"` the triangle alone."""
def reciprocal_beyond(x: Any, floor: Any) -> Tensor:
    """One over a number larger than `floor`; 0 for the smaller ones."""
def resolution(x: Any, shape: Any = None, rtol: Any = None) -> Tensor:
    """The size below which an entry counts as 0 beside the largest along the last axis: the share `rtol` of that, or
    what floating point numbers can tell apart in a matrix of `shape`."""
def slogdet(a: Any) -> tuple[Tensor, Tensor]:
    """The determinant's sign, and the logarithm of its size, which overflows nowhere."""
def solve(a: Any, b: Any) -> Tensor:
    """The x that fulfils a @ x = b: for one vector b, or for each column of a matrix b."""
def svd(a: Any, full_matrices: Any = False, compute_uv: Any = True) -> Any:
    """u, s, vh with `u * s @ vh` = a: orthonormal columns u and rows vh, and the singular values s in descending
    order."""
def svdvals(a: Any) -> Tensor: """The singular values, in descending order."""
def trace(x: Any, offset: Any = 0) -> Tensor: """The sum along a diagonal."""
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Tensor:
    """The size of a vector: its length for `ord=2`, the sum of sizes for 1, the largest or smallest size for inf or
    -inf, how many entries are not 0 for 0, else the `ord`-th root of the sum of `ord`-th powers."""
