"""NumPy's own random numbers: they have no gradient, and `seed` is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np


def __getattr__(name: str) -> Any:
    return getattr(np.random, name)


def __dir__() -> list[str]:
    return sorted(dir(np.random))
