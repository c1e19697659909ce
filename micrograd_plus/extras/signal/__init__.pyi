"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ...tensor import Tensor

__all__: list[str]

def convolve(a: Any, b: Any, mode: Any = "full", axes: Any = None, dot_axes: Any = ((), ())) -> Tensor:
    """Convolve two arrays."""
def frames(x: Any, length: Any, hop: Any) -> Tensor: """Split a signal into overlapping frames."""
def hann_window(x: Any, length: Any) -> Tensor: """Return a periodic Hann window."""
def log_mel(
    x: Any, sample_rate: Any = 16000, n_fft: Any = 400, hop_length: Any = 160, n_mels: Any = 80, fmin: Any = 0.0,
    fmax: Any = None, floor: Any = 1e-10,
) -> Tensor:
    """Compute the log-mel spectrogram of a signal."""
def mel_filters(x: Any, n_mels: Any, n_fft: Any, sample_rate: Any, fmin: Any = 0.0, fmax: Any = None) -> Tensor:
    """Return a mel filter bank: triangular filters, equally spaced on the mel scale."""
def overlap_add(x: Any, size: Any, hop: Any) -> Tensor:
    """Add overlapping frames into a signal: the transpose of `frames`."""
def stft(
    x: Any, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: Any = True,
    pad_mode: Any = "reflect", normalized: Any = False, onesided: Any = True,
) -> Tensor:
    """Compute the short-time Fourier transform of a signal."""
