"""Fourier transforms under NumPy's names: `mg.fft.rfft(x)`.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from .tensor import Tensor

def count_mirrored(x: Any, n: Any, axis: Any = -1) -> Tensor:
    """Each frequency as often as the spectrum of `n` real numbers has it: twice, but for the first, and the last where
    `n` is even."""
def cut_or_pad(x: Any, length: Any, axis: Any = -1) -> Tensor:
    """The first `length` entries along an axis, zeros where there are no more."""
def fft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """How much of each wave there is along an axis: the sum of x[t] exp(-2πi k t / n) over t, for every frequency k."""
def fft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """The transform along two axes: how much of each plane wave there is in an image."""
def ifft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """The signal of which `fft` makes x: every wave as strong as x says, added up."""
def ifft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    """The image of which `fft2` makes x."""
def irfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """The `n` real numbers of which `rfft` makes x; without `n` an even number of them."""
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Tensor:
    """The first half of the transform of real numbers, up to the frequency n // 2; the second is its mirror image."""
