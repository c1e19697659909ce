"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`. The operations themselves are in
`ops/extras/signal.py`
and `ops/extras/convolving.py`."""

from __future__ import annotations

from typing import NoReturn

from ..core.messages import missing_name
from ..ops.extras.convolving import convolve
from ..ops.extras.signal import frames, hann_window, log_mel, mel_filters, overlap_add, stft

__all__ = ["convolve", "frames", "hann_window", "log_mel", "mel_filters", "overlap_add", "stft"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)
