"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

def cholesky(a: Any, *, upper: Any = False) -> Tensor:
    """Cholesky factorisation: the lower triangle L with L @ Lᵀ = a."""
def det(a: Any) -> Tensor: """Determinant of a matrix: the volume that its rows span, with a sign."""
def eig(a: Any) -> Any: """Eigenvalues of a square matrix, and eigenvectors as columns."""
def eigh(a: Any, UPLO: Any = None) -> Any:
    """Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns."""
def eigvals(a: Any) -> Tensor: """Eigenvalues of a square matrix."""
def eigvalsh(a: Any, UPLO: Any = None) -> Tensor: """Eigenvalues of a symmetric matrix in ascending order."""
def expm(a: Any) -> Tensor: """Matrix exponential."""
def inv(a: Any) -> Tensor: """Inverse of a matrix."""
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Tensor:
    """Norm of a matrix: its size, in one of several senses."""
def matrix_power(a: Any, n: Any) -> Tensor: """Matrix power: a matrix multiplied with itself n times."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Norm of a vector or a matrix: NumPy's norm."""
def pinv(a: Any, rtol: Any = None) -> Tensor: """Pseudoinverse of a matrix (Moore-Penrose): least squares solutions."""
def qr(a: Any, mode: Any = "reduced") -> Any:
    """QR factorisation: orthonormal columns q and an upper triangle r with q @ r = a."""
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
