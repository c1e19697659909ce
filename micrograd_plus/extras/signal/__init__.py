"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`.

`spectra` and `convolving` define the operations, `kernels` computes them for arrays.
"""

from __future__ import annotations

from typing import NoReturn

from ...core.messages import missing_name
from .convolving import convolve
from .spectra import frames, hann_window, log_mel, mel_filters, overlap_add, stft

__all__ = ["convolve", "frames", "hann_window", "log_mel", "mel_filters", "overlap_add", "stft"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)
