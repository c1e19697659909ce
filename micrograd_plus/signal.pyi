"""Signals in time: `mg.signal.stft(x, n_fft=256, window="hann")`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from .tensor import Tensor

def frames(x: Any, length: Any, hop: Any) -> Tensor:
    """Stretches of `length` entries, one beginning every `hop` entries: (..., T) to (..., frames, length)."""
def hann_window(x: Any, length: Any) -> Tensor:
    """A bell that begins at 0 and would be back there one entry after its end: sin² from 0 to π."""
def log_mel(
    x: Any, sample_rate: Any = 16000, n_fft: Any = 400, hop_length: Any = 160, n_mels: Any = 80, fmin: Any = 0.0,
    fmax: Any = None, floor: Any = 1e-10,
) -> Tensor:
    """How loud each pitch is at each time: (..., T) to (..., n_mels, frames)."""
def mel_filters(x: Any, n_mels: Any, n_fft: Any, sample_rate: Any, fmin: Any = 0.0, fmax: Any = None) -> Tensor:
    """Triangles over the frequencies of an `rfft`, each as a row, at equal distances on the mel scale, where pitch
    sounds equally spaced."""
def overlap_add(x: Any, size: Any, hop: Any) -> Tensor:
    """Frames put back where they were in a signal of `size` entries; where they overlap, entries add up."""
def stft(
    x: Any, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: Any = None, center: Any = True,
    pad_mode: Any = "reflect", normalized: Any = False, onesided: Any = True,
) -> Tensor:
    """How much of each wave there is at each time: (..., T) to (..., frequencies, frames), complex, as `torch.stft`."""
def windowed_spectra(
    x: Any, window: Any, hop_length: Any, center: Any = True, pad_mode: Any = "reflect", normalized: Any = False,
    onesided: Any = True,
) -> Tensor:
    """The Fourier transform of every frame of a signal, each frame as long as the window that it is seen through."""
