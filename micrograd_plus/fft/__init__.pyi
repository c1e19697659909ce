"""Fourier transforms under NumPy's names, with its `norm`: `mg.fft.rfft(x)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

__all__: list[str]

def fft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform along an axis."""
def fft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Compute the 2-D discrete Fourier transform."""
def fftfreq(n: Any, d: Any = 1.0) -> Tensor:
    """Return the frequencies of `fft` in cycles per unit of time: from 0 up, then the negative ones."""
def fftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform along several axes."""
def fftshift(x: Any, axes: Any = None) -> Tensor:
    """Shift frequency 0 to the middle, so that frequencies are in ascending order."""
def ifft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Compute the inverse discrete Fourier transform along an axis."""
def ifft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Compute the inverse 2-D discrete Fourier transform."""
def ifftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Compute the inverse discrete Fourier transform along several axes."""
def ifftshift(x: Any, axes: Any = None) -> Tensor: """Shift frequency 0 back to the front: the inverse of `fftshift`."""
def irfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Compute the inverse of `rfft`: n real numbers from half a spectrum."""
def irfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Compute the inverse of `rfft2`: a real image from half a spectrum."""
def irfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Compute the inverse of `rfftn`: real numbers from half a spectrum."""
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Compute the first half of the discrete Fourier transform of real numbers."""
def rfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Compute the 2-D discrete Fourier transform of real numbers."""
def rfftfreq(n: Any, d: Any = 1.0) -> Tensor:
    """Return the frequencies of `rfft` in cycles per unit of time: from 0 up to half the sampling rate."""
def rfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Compute the discrete Fourier transform of real numbers along several axes."""
