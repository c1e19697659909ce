"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

def convolve(a: Any, b: Any, mode: Any = "full", axes: Any = None, dot_axes: Any = ((), ())) -> Tensor:
    """Convolution: one array turned round and moved along another, the products added up at each place."""
def frames(x: Any, length: Any, hop: Any) -> Tensor: """Overlapping frames of a signal."""
def hann_window(x: Any, length: Any) -> Tensor:
    """Hann window: a bell that begins at 0 and would be back there one entry after its end."""
def log_mel(
    x: Any, sample_rate: Any = 16000, n_fft: Any = 400, hop_length: Any = 160, n_mels: Any = 80, fmin: Any = 0.0,
    fmax: Any = None, floor: Any = 1e-10,
) -> Tensor:
    """Log-mel spectrogram: how loud each pitch is at each time."""
def mel_filters(x: Any, n_mels: Any, n_fft: Any, sample_rate: Any, fmin: Any = 0.0, fmax: Any = None) -> Tensor:
    """Mel filter bank: triangles over frequencies, at equal distances on the mel scale."""
def overlap_add(x: Any, size: Any, hop: Any) -> Tensor:
    """Overlap-add: frames put back where they were in a signal, the transpose of `frames`."""
def stft(
    x: Any, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: Any = True,
    pad_mode: Any = "reflect", normalized: Any = False, onesided: Any = True,
) -> Tensor:
    """Short-time Fourier transform: how much of each wave there is at each time."""
