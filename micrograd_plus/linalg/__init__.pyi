"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

__all__: list[str]

def cholesky(a: Any, *, upper: Any = False) -> Tensor:
    """Compute the Cholesky factorisation: the lower triangle L with L @ Lᵀ = a."""
def det(a: Any) -> Tensor: """Compute the determinant of a matrix."""
def eig(a: Any) -> Any: """Compute the eigenvalues of a square matrix, and eigenvectors as columns."""
def eigh(a: Any, UPLO: Any = None) -> Any:
    """Compute the eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns."""
def eigvals(a: Any) -> Tensor: """Compute the eigenvalues of a square matrix."""
def eigvalsh(a: Any, UPLO: Any = None) -> Tensor:
    """Compute the eigenvalues of a symmetric matrix in ascending order."""
def expm(a: Any) -> Tensor: """Compute the matrix exponential."""
def inv(a: Any) -> Tensor: """Compute the inverse of a matrix."""
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Tensor: """Compute the norm of a matrix."""
def matrix_power(a: Any, n: Any) -> Tensor: """Raise a square matrix to an integer power."""
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Tensor:
    """Compute the norm of a vector or a matrix, as NumPy's norm."""
def pinv(a: Any, rtol: Any = None) -> Tensor:
    """Compute the pseudoinverse of a matrix (Moore-Penrose), for least squares problems."""
def qr(a: Any, mode: Any = "reduced") -> Any:
    """Compute the QR factorisation: orthonormal columns q and an upper triangle r with q @ r = a."""
def slogdet(a: Any) -> tuple[Tensor, Tensor]:
    """Compute the sign and the logarithm of the absolute value of the determinant."""
def solve(a: Any, b: Any) -> Tensor: """Solve the linear equations a @ x = b."""
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Tensor:
    """Solve the linear equations a @ x = b with a banded matrix."""
def solve_sylvester(a: Any, b: Any, q: Any) -> Tensor: """Solve Sylvester's equation a @ x + x @ b = q."""
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False) -> Tensor:
    """Solve the linear equations a @ x = b with a triangular matrix."""
def sqrtm(a: Any) -> Tensor:
    """Compute the square root of a matrix: x with x @ x = a, and eigenvalues with positive real part."""
def svd(a: Any, full_matrices: Any = False, compute_uv: Any = True) -> Any:
    """Compute the singular value decomposition: u, s, vh with u * s @ vh = a."""
def svdvals(a: Any) -> Tensor: """Compute the singular values of a matrix, in descending order."""
def trace(x: Any, offset: Any = 0) -> Tensor: """Compute the trace of a matrix: the sum along its diagonal."""
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Tensor:
    """Compute the norm of a vector."""
