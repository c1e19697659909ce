"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`. The operations themselves are in `ops/linalg.py`."""

from __future__ import annotations

from .ops.linalg import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    expm,
    inv,
    matrix_norm,
    matrix_power,
    norm,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
    trace,
    vector_norm,
)

__all__ = [
    "cholesky", "det", "eigh", "eigvalsh", "expm", "inv", "matrix_norm", "matrix_power", "norm", "pinv", "qr", "slogdet",
    "solve", "svd", "svdvals", "trace", "vector_norm",
]  # fmt: skip
