"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

def block_triangle(a: Any, b: Any) -> Tensor:
    """The larger matrix [[a, b], [0, a]], by which functions of matrices are differentiated."""
def cholesky(a: Any, *, upper: Any = False) -> Tensor:
    """Cholesky factorisation: the lower triangle L with L @ Lᵀ = a."""
def cofactors(a: Any) -> Tensor: """Cofactor matrix: the gradient of the determinant."""
def det(a: Any) -> Tensor: """Determinant of a matrix: the volume that its rows span, with a sign."""
def eig(a: Any) -> Any: """Eigenvalues of a square matrix, and eigenvectors as columns."""
def eigh(a: Any, UPLO: Any = None) -> Any:
    """Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns."""
def eigvals(a: Any) -> Tensor: """Eigenvalues of a square matrix."""
def eigvalsh(a: Any, UPLO: Any = None) -> Tensor: """Eigenvalues of a symmetric matrix in ascending order."""
def expm(a: Any) -> Tensor: """Matrix exponential."""
def hermitian_part(x: Any) -> Tensor: """Hermitian part of a matrix: of a real one, its symmetric part."""
def independent(x: Any, what: Any = "the columns depend on each other") -> Tensor:
    """A square matrix as it is, where its columns do not depend on each other."""
def inv(a: Any) -> Tensor: """Inverse of a matrix."""
def known_ratio(x: Any, y: Any, floor: Any) -> Tensor:
    """The ratio x / y: 0 where x is 0, and nan where rounding hides y."""
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Tensor:
    """Norm of a matrix: its size, in one of several senses."""
def matrix_power(a: Any, n: Any) -> Tensor: """Matrix power: a matrix multiplied with itself n times."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Norm of a vector or a matrix: NumPy's norm."""
def p_norm(x: Any, ord: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """p-norm of a vector, for any exponent but 0 and infinity."""
def pinv(a: Any, rtol: Any = None) -> Tensor: """Pseudoinverse of a matrix (Moore-Penrose): least squares solutions."""
def pivots(x: Any) -> Tensor: """One over the pivot of each column, where that stands, and 0 elsewhere."""
def qr(a: Any, mode: Any = "reduced") -> Any:
    """QR factorisation: orthonormal columns q and an upper triangle r with q @ r = a."""
def reciprocal_beyond(x: Any, floor: Any) -> Tensor:
    """One over a number whose size is larger than a floor; 0 for the smaller ones."""
def resolution(x: Any, shape: Any = None, rtol: Any = None) -> Tensor:
    """The size below which an entry counts as 0 beside the largest along the last axis."""
def slogdet(a: Any) -> tuple[Tensor, Tensor]:
    """Sign and logarithm of the size of a determinant, which overflows nowhere."""
def solve(a: Any, b: Any) -> Tensor: """Linear equations: the x that fulfils a @ x = b."""
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Tensor:
    """Linear equations with a band: the x that fulfils a @ x = b, where a is 0 but on a few diagonals."""
def solve_sylvester(a: Any, b: Any, q: Any) -> Tensor: """Sylvester's equation: the x that fulfils a @ x + x @ b = q."""
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False) -> Tensor:
    """Linear equations with a triangle: the x that fulfils a @ x = b, where only one triangle of a counts."""
def sqrtm(a: Any) -> Tensor:
    """Square root of a matrix: the x with x @ x = a whose eigenvalues have positive real parts."""
def svd(a: Any, full_matrices: Any = False, compute_uv: Any = True) -> Any:
    """Singular value decomposition: u, s, vh with u * s @ vh = a."""
def svdvals(a: Any) -> Tensor: """Singular values of a matrix, in descending order."""
def trace(x: Any, offset: Any = 0) -> Tensor: """Trace of a matrix: the sum along its diagonal."""
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Tensor:
    """Norm of a vector: its size, in one of several senses."""
