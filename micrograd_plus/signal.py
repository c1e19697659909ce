"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`. The operations themselves are in
`ops/signal.py`."""

from __future__ import annotations

from .ops.signal import frames, hann_window, log_mel, mel_filters, overlap_add, stft, windowed_spectra

__all__ = ["frames", "hann_window", "log_mel", "mel_filters", "overlap_add", "stft", "windowed_spectra"]


def __dir__() -> list[str]:
    return sorted(__all__)
