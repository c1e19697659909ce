"""Fourier transforms: what a signal is made of, as waves. Public as `mg.fft`, with NumPy's names and norms.

The matrix of a transform is symmetric, so going back is the same transform again. (Over the complex numbers
the engine conjugates before and after, which makes it the inverse, but for the norm.)

`norm` says where the division by the number of entries is: "backward" (in the inverse), "forward", or "ortho"
(the root of it in both).
"""

from ..hints import names_itself
from ..op import face, linear
from ..readings.shapes import shape

# Lengths --------------------


@linear(x=lambda xp, upstream, x_shape, axis: xp.cut_or_pad(upstream, length=x_shape[axis], axis=axis))
def cut_or_pad(xp, x, *, length, axis=-1):
    """The first `length` entries along an axis, zeros where there are no more."""
    return xp.cut_or_pad(x, length, axis)


@linear(x=lambda xp, upstream, n, axis: xp.count_mirrored(upstream, n=n, axis=axis))
def count_mirrored(xp, x, *, n, axis=-1):
    """Each frequency as often as the spectrum of `n` real numbers has it: twice, but for the first, and the
    last where `n` is even."""
    return xp.count_mirrored(x, n, axis)


def _of_length(x, n, axis):
    """The signal cut or padded to `n` entries, where a length is asked for."""
    return x if n is None or n == shape(x)[axis] else cut_or_pad(x, length=n, axis=axis)


# Complex numbers ------------


@linear(x=lambda xp, upstream, axis, norm: xp.fft(upstream, axis=axis, norm=norm))
def _fft(xp, x, *, axis=-1, norm="backward"):
    """How much of each wave there is along an axis: the sum of x[t] exp(-2πi k t / n) over t, for every
    frequency k."""
    return xp.fft(x, axis=axis, norm=norm)


@face(_fft)
@names_itself
def fft(x, n=None, axis=-1, norm=None):
    """How much of each wave there is along an axis: the sum of x[t] exp(-2πi k t / n) over t, for every
    frequency k.

    `n` cuts the signal, or pads it with zeros, to that length.
    """
    return _fft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(x=lambda xp, upstream, axis, norm: xp.ifft(upstream, axis=axis, norm=norm))
def _ifft(xp, x, *, axis=-1, norm="backward"):
    """The signal of which `fft` makes x: every wave as strong as x says, added up."""
    return xp.ifft(x, axis=axis, norm=norm)


@face(_ifft)
@names_itself
def ifft(x, n=None, axis=-1, norm=None):
    """The signal of which `fft` makes x: every wave as strong as x says, added up."""
    return _ifft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(x=lambda xp, upstream, axes, norm: xp.fft2(upstream, axes=axes, norm=norm))
def _fft2(xp, x, *, axes=(-2, -1), norm="backward"):
    """The transform along two axes: how much of each plane wave there is in an image."""
    return xp.fft2(x, axes=axes, norm=norm)


@face(_fft2)
@names_itself
def fft2(x, s=None, axes=(-2, -1), norm=None):
    """The transform along two axes: how much of each plane wave there is in an image. `s` cuts or pads both
    lengths."""
    return _fft2(_of_lengths(x, s, axes), axes=tuple(axes), norm=norm or "backward")


@linear(x=lambda xp, upstream, axes, norm: xp.ifft2(upstream, axes=axes, norm=norm))
def _ifft2(xp, x, *, axes=(-2, -1), norm="backward"):
    """The image of which `fft2` makes x."""
    return xp.ifft2(x, axes=axes, norm=norm)


@face(_ifft2)
@names_itself
def ifft2(x, s=None, axes=(-2, -1), norm=None):
    """The image of which `fft2` makes x."""
    return _ifft2(_of_lengths(x, s, axes), axes=tuple(axes), norm=norm or "backward")


def _of_lengths(x, s, axes):
    """The image cut or padded along both axes, where lengths are asked for."""
    for n, axis in zip(s or (None, None), axes, strict=True):
        x = _of_length(x, n, axis)
    return x


# Real numbers: the second half of the spectrum is the first in a mirror, and is left out ----


@linear(
    x=lambda xp, upstream, x_shape, axis, norm: xp.fft(
        xp.cut_or_pad(upstream, length=x_shape[axis], axis=axis), axis=axis, norm=norm
    )
)
def _rfft(xp, x, *, axis=-1, norm="backward"):
    """The first half of the transform of real numbers, up to the frequency n // 2."""
    return xp.rfft(x, axis=axis, norm=norm)


@face(_rfft)
@names_itself
def rfft(x, n=None, axis=-1, norm=None):
    """The first half of the transform of real numbers, up to the frequency n // 2; the second is its mirror
    image."""
    return _rfft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(
    x=lambda xp, upstream, n, axis, norm: xp.count_mirrored(
        xp.rfft(upstream, axis=axis, norm=xp.other_norm(norm)), n=n, axis=axis
    )
)
def _irfft(xp, x, *, n, axis=-1, norm="backward"):
    """The `n` real numbers of which `rfft` makes x. A frequency that has a mirror image counts twice."""
    return xp.irfft(x, n, axis=axis, norm=norm)


@face(_irfft)
@names_itself
def irfft(x, n=None, axis=-1, norm=None):
    """The `n` real numbers of which `rfft` makes x; without `n` an even number of them.

    The imaginary part of frequency 0, and for even `n` of the last, can be nothing but 0: it is not read.
    """
    n = 2 * (shape(x)[axis] - 1) if n is None else n
    return _irfft(_of_length(x, n // 2 + 1, axis), n=n, axis=axis, norm=norm or "backward")
