"""Fourier transforms under NumPy's names: `mg.fft.rfft(x)`. The operations themselves are in
`ops/fourier.py`."""

from __future__ import annotations

from .ops.fourier import count_mirrored, cut_or_pad, fft, fft2, ifft, ifft2, irfft, rfft

__all__ = ["count_mirrored", "cut_or_pad", "fft", "fft2", "ifft", "ifft2", "irfft", "rfft"]


def __dir__() -> list[str]:
    return sorted(__all__)
