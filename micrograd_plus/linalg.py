"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`. The operations themselves are in `ops/linalg.py` and
`ops/factorisations.py`."""

from __future__ import annotations

from .ops.factorisations import (
    cholesky,
    eigh,
    eigvalsh,
    hermitian_part,
    known_ratio,
    pinv,
    pivots,
    qr,
    reciprocal_beyond,
    resolution,
    svd,
    svdvals,
)
from .ops.linalg import (
    block_triangle,
    cofactors,
    det,
    expm,
    inv,
    matrix_norm,
    matrix_power,
    norm,
    p_norm,
    slogdet,
    solve,
    trace,
    vector_norm,
)

__all__ = [
    "block_triangle", "cholesky", "cofactors", "det", "eigh", "eigvalsh", "expm", "hermitian_part", "inv",
    "known_ratio", "matrix_norm", "matrix_power", "norm", "p_norm", "pinv", "pivots", "qr", "reciprocal_beyond",
    "resolution", "slogdet", "solve", "svd", "svdvals", "trace", "vector_norm",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
