"""NumPy's Fourier transforms with gradients."""

from __future__ import annotations

import numpy as np

from .. import fft as _ours
from .dispatch import names_of

__getattr__ = names_of(np.fft, _ours)


def __dir__() -> list[str]:
    return sorted(dir(np.fft))
