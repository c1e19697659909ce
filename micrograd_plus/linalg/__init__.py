"""Linear algebra under NumPy's names: `mg.linalg.solve(a, b)`.

Everything works on the last two axes, for as many matrices as the others hold. The operations themselves are in
`ops/linalg.py` and `ops/factorisations.py`.
"""

from __future__ import annotations

from typing import NoReturn

from ..core.messages import missing_name
from ..ops.factorisations import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    pinv,
    qr,
    svd,
    svdvals,
)
from ..ops.linalg import (
    det,
    expm,
    inv,
    matrix_norm,
    matrix_power,
    norm,
    slogdet,
    solve,
    solve_banded,
    solve_sylvester,
    solve_triangular,
    sqrtm,
    trace,
    vector_norm,
)

__all__ = [
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "matrix_norm", "matrix_power", "norm",
    "pinv", "qr", "slogdet", "solve", "solve_banded", "solve_sylvester", "solve_triangular", "sqrtm", "svd", "svdvals",
    "trace", "vector_norm",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)
