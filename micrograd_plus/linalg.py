"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`. The operations themselves are in
`ops/linalg.py`."""

from __future__ import annotations

from .ops.linalg import (
    block_triangle,
    cholesky,
    cofactors,
    det,
    eigh,
    eigvalsh,
    expm,
    inv,
    known_ratio,
    matrix_norm,
    matrix_power,
    norm,
    p_norm,
    pinv,
    qr,
    reciprocal_beyond,
    resolution,
    slogdet,
    solve,
    svd,
    svdvals,
    symmetric_part,
    trace,
    vector_norm,
)

__all__ = [
    "block_triangle", "cholesky", "cofactors", "det", "eigh", "eigvalsh", "expm", "inv", "known_ratio",
    "matrix_norm", "matrix_power", "norm", "p_norm", "pinv", "qr", "reciprocal_beyond", "resolution", "slogdet",
    "solve", "svd", "svdvals", "symmetric_part", "trace", "vector_norm",
]  # fmt: skip
