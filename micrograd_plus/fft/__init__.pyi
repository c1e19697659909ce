"""Fourier transforms under NumPy's names, with its `norm`: `mg.fft.rfft(x)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

def fft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Discrete Fourier transform: how much of each wave there is along an axis."""
def fft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """2-D discrete Fourier transform: how much of each plane wave there is in an image."""
def fftfreq(n: Any, d: Any = 1.0) -> Tensor:
    """The frequencies of `fft`, in waves per unit of time, in its order: from 0 up, then the negative ones."""
def fftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Discrete Fourier transform along several axes, one after the other."""
def fftshift(x: Any, axes: Any = None) -> Tensor:
    """Frequency 0 moved to the middle: a spectrum in order from the lowest to the highest."""
def ifft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Inverse discrete Fourier transform: the signal of which `fft` makes x."""
def ifft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Inverse 2-D discrete Fourier transform: the image of which `fft2` makes x."""
def ifftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Inverse discrete Fourier transform along several axes: the array of which `fftn` makes x."""
def ifftshift(x: Any, axes: Any = None) -> Tensor: """Frequency 0 moved back to the front: the inverse of `fftshift`."""
def irfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Inverse of `rfft`: the n real numbers that have this half spectrum."""
def irfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """Inverse of `rfft2`: the real image that has this half of a spectrum."""
def irfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Inverse of `rfftn`: the real numbers that have this half of a spectrum."""
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """Discrete Fourier transform of real numbers: the first half of the spectrum."""
def rfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """2-D discrete Fourier transform of real numbers: half of the spectrum along the last axis."""
def rfftfreq(n: Any, d: Any = 1.0) -> Tensor:
    """The frequencies of `rfft`, in waves per unit of time: from 0 up to half as many as there are entries."""
def rfftn(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    """Discrete Fourier transform of real numbers along several axes: half of the spectrum along the last of them."""
