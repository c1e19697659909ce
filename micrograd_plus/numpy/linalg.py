"""NumPy's linear algebra with gradients: `np.linalg.solve(a, b)` of arrays or of tensors."""

from __future__ import annotations

import numpy as np

from .. import linalg as _ours
from .dispatch import names_of

__getattr__ = names_of(np.linalg, _ours)


def __dir__() -> list[str]:
    return sorted(dir(np.linalg))
