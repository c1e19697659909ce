"""Fourier transforms. Public as `mg.fft`, with NumPy's names and norms.

The matrix of a transform is symmetric, so its vjp is the same transform again. (The engine conjugates complex gradients
before and after, which makes it the inverse transform, up to the norm.)

`norm` says where the division by the number of entries is: "backward" (in the inverse), "forward", or "ortho"
(the root of it in both).
"""

from ..backends.shapes import ndim, shape
from ..core.define import linear, wraps_op
from ..core.messages import prefixes_errors
from .casts import stop_gradient
from .shape import roll

# Lengths --------------------


@linear(x=lambda xp, upstream, x_shape, axis: xp.cut_or_pad(upstream, length=x_shape[axis], axis=axis), public=False)
def cut_or_pad(xp, x, *, length, axis=-1):
    """Truncate an axis to a length, or pad it with zeros.

    Shapes: x (..., n), length=m -> (..., m).
    Args:
        length: the length of the axis in the result.
    Raises: ValueError if a length is negative; TypeError if it is not an integer; IndexError if the axis is out of
        range.
    >>> mg.ops.cut_or_pad([1.0, 2.0, 3.0], 2).tolist(), mg.ops.cut_or_pad([1.0, 2.0, 3.0], 5).tolist()
    ([1.0, 2.0], [1.0, 2.0, 3.0, 0.0, 0.0])
    See: numpy.fft.fft, whose argument n does so."""
    return xp.cut_or_pad(x, length, axis)


@linear(x=lambda xp, upstream, n, axis: xp.count_mirror_images(upstream, n=n, axis=axis), public=False)
def count_mirror_images(xp, x, *, n, axis=-1):
    """Multiply each frequency by the number of times it occurs in the spectrum of n real numbers.

    Frequencies 0 and, for even n, n / 2 are their own mirror images and occur once; all others occur twice.
    Shapes: (..., n // 2 + 1) -> the same.
    Args:
        x: half a spectrum, as returned by `rfft`.
        n: the number of real numbers.
    >>> mg.ops.count_mirror_images([1.0, 1.0, 1.0], n=4).tolist()
    [1.0, 2.0, 1.0]
    >>> mg.ops.count_mirror_images([1.0, 1.0, 1.0], n=5).tolist()
    [1.0, 2.0, 2.0]
    See: mg.fft.rfft."""
    return xp.count_mirror_images(x, n, axis)


def _of_length(x, n, axis):
    """Return the signal truncated or padded to `n` entries, if n is given."""
    return x if n is None or n == shape(x)[axis] else cut_or_pad(x, length=n, axis=axis)


# Complex numbers ------------


@linear(x=lambda xp, upstream, axis, norm: xp.fft(upstream, axis=axis, norm=norm))
def _fft(xp, x, *, axis=-1, norm="backward"):
    """Compute the discrete Fourier transform along an axis."""
    return xp.fft(x, axis=axis, norm=norm)


@wraps_op(_fft)
@prefixes_errors
def fft(x, n=None, axis=-1, norm=None):
    """Compute the discrete Fourier transform along an axis.

    X[k] = Σ_t x[t] exp(-2πi k t / n), for the frequencies k = 0, 1, …, n - 1.
    Shapes: x (..., n) -> the same.
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if n is less than 1 or norm is unknown; IndexError if the axis is out of range; TypeError if n is
        not an integer.
    >>> mg.fft.fft([1.0, 2.0, 3.0, 4.0]).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    See: numpy.fft.fft, torch.fft.fft."""
    return _fft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(x=lambda xp, upstream, axis, norm: xp.ifft(upstream, axis=axis, norm=norm))
def _ifft(xp, x, *, axis=-1, norm="backward"):
    """Compute the inverse discrete Fourier transform along an axis."""
    return xp.ifft(x, axis=axis, norm=norm)


@wraps_op(_ifft)
@prefixes_errors
def ifft(x, n=None, axis=-1, norm=None):
    """Compute the inverse discrete Fourier transform along an axis.

    x[t] = 1/n Σ_k X[k] exp(2πi k t / n).
    Shapes: x (..., n) -> the same.
    Args:
        x: the spectrum X, real or complex numbers.
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if n is less than 1 or norm is unknown; IndexError if the axis is out of range; TypeError if n is
        not an integer.
    >>> mg.fft.ifft([4.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    See: numpy.fft.ifft, torch.fft.ifft."""
    return _ifft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(x=lambda xp, upstream, axes, norm: xp.fft2(upstream, axes=axes, norm=norm))
def _fft2(xp, x, *, axes=(-2, -1), norm="backward"):
    """Compute the 2-D discrete Fourier transform."""
    return xp.fft2(x, axes=axes, norm=norm)


@wraps_op(_fft2)
@prefixes_errors
def fft2(x, s=None, axes=(-2, -1), norm=None):
    """Compute the 2-D discrete Fourier transform.

    X[k, l] = Σ_{s,t} x[s, t] exp(-2πi (k s / h + l t / w)).
    Shapes: x (..., h, w) -> the same.
    Args:
        axes: the two axes, or any others; default the last two.
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, or norm is unknown; IndexError if an
        axis is out of range.
    >>> mg.fft.fft2([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    See: numpy.fft.fft2, torch.fft.fft2."""
    named = _axes(x, s, axes)
    return _fft2(_of_lengths(x, s, named), axes=named, norm=norm or "backward")


@linear(x=lambda xp, upstream, axes, norm: xp.ifft2(upstream, axes=axes, norm=norm))
def _ifft2(xp, x, *, axes=(-2, -1), norm="backward"):
    """Compute the inverse 2-D discrete Fourier transform."""
    return xp.ifft2(x, axes=axes, norm=norm)


@wraps_op(_ifft2)
@prefixes_errors
def ifft2(x, s=None, axes=(-2, -1), norm=None):
    """Compute the inverse 2-D discrete Fourier transform.

    x[s, t] = 1/(h w) Σ_{k,l} X[k, l] exp(2πi (k s / h + l t / w)).
    Shapes: x (..., h, w) -> the same.
    Args:
        x: the spectrum X, real or complex numbers.
        axes: the two axes, or any others; default the last two.
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, or norm is unknown; IndexError if an
        axis is out of range.
    >>> mg.fft.ifft2([[4.0, 0.0], [0.0, 0.0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    See: numpy.fft.ifft2, torch.fft.ifft2."""
    named = _axes(x, s, axes)
    return _ifft2(_of_lengths(x, s, named), axes=named, norm=norm or "backward")


def _of_lengths(x, s, axes):
    """Return the array truncated or padded along the axes, if lengths are given."""
    for n, axis in zip(s or (None,) * len(axes), axes, strict=True):
        x = _of_length(x, n, axis)
    return x


# Real numbers: the second half of the spectrum is the first in a mirror, and is left out ----


@linear(
    x=lambda xp, upstream, x_shape, axis, norm: xp.fft(
        xp.cut_or_pad(upstream, length=x_shape[axis], axis=axis), axis=axis, norm=norm
    )
)
def _rfft(xp, x, *, axis=-1, norm="backward"):
    """Compute the first half of the discrete Fourier transform of real numbers."""
    return xp.rfft(x, axis=axis, norm=norm)


@wraps_op(_rfft)
@prefixes_errors
def rfft(x, n=None, axis=-1, norm=None):
    """Compute the first half of the discrete Fourier transform of real numbers.

    X[k] = Σ_t x[t] exp(-2πi k t / n), for k = 0, …, n // 2. The second half is its mirror image: X[n - k] = conj(X[k]).
    Shapes: x (..., n) -> (..., n // 2 + 1).
    Args:
        x: real numbers.
    Returns: a complex tensor of the precision of x.
    Raises: TypeError if x is complex; ValueError if n is less than 1 or norm is unknown; IndexError if the axis is out
        of range.
    >>> mg.fft.rfft([1.0, 2.0, 3.0, 4.0]).tolist()
    [(10+0j), (-2+2j), (-2+0j)]
    See: numpy.fft.rfft, torch.fft.rfft."""
    return _rfft(_of_length(x, n, axis), axis=axis, norm=norm or "backward")


@linear(
    x=lambda xp, upstream, n, axis, norm: xp.count_mirror_images(
        xp.rfft(upstream, axis=axis, norm=xp.other_norm(norm)), n=n, axis=axis
    )
)
def _irfft(xp, x, *, n, axis=-1, norm="backward"):
    """Compute the inverse of `rfft`: n real numbers from half a spectrum."""
    return xp.irfft(x, n, axis=axis, norm=norm)


@wraps_op(_irfft)
@prefixes_errors
def irfft(x, n=None, axis=-1, norm=None):
    """Compute the inverse of `rfft`: n real numbers from half a spectrum.

    A frequency that has a mirror image counts twice. The imaginary part of frequency 0, and for even n of the last one,
    must be 0 and is not read.
    Shapes: x (..., n // 2 + 1) -> (..., n).
    Args:
        x: half a spectrum, real or complex numbers.
        n: the number of real numbers; None (default) for 2 (m - 1), where m is the number of frequencies.
    Returns: a real tensor of the precision of x.
    Raises: ValueError if n is less than 1 or norm is unknown; IndexError if the axis is out of range; TypeError if n is
        not an integer.
    >>> mg.fft.irfft([10.0, -2.0 + 2.0j, -2.0]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    See: numpy.fft.irfft, torch.fft.irfft."""
    n = 2 * (shape(x)[axis] - 1) if n is None else n
    return _irfft(_of_length(x, n // 2 + 1, axis), n=n, axis=axis, norm=norm or "backward")


# Several axes ---------------


@linear(x=lambda xp, upstream, axes, norm: xp.fftn(upstream, axes=axes, norm=norm))
def _fftn(xp, x, *, axes, norm="backward"):
    """Compute the discrete Fourier transform along several axes."""
    return xp.fftn(x, axes=axes, norm=norm)


@wraps_op(_fftn, namespace=True)
@prefixes_errors
def fftn(x, s=None, axes=None, norm=None):
    """Compute the discrete Fourier transform along several axes.

    Shapes: x any -> the same.
    Args:
        axes: the axes; None (default) for all, or with `s` for the last len(s).
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, an axis is repeated, or norm is unknown;
        IndexError if an axis is out of range.
    >>> mg.fft.fftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    See: numpy.fft.fftn, torch.fft.fftn."""
    named = _axes(x, s, axes)
    return _fftn(_of_lengths(x, s, named), axes=named, norm=norm or "backward")


@linear(x=lambda xp, upstream, axes, norm: xp.ifftn(upstream, axes=axes, norm=norm))
def _ifftn(xp, x, *, axes, norm="backward"):
    """Compute the inverse discrete Fourier transform along several axes."""
    return xp.ifftn(x, axes=axes, norm=norm)


@wraps_op(_ifftn, namespace=True)
@prefixes_errors
def ifftn(x, s=None, axes=None, norm=None):
    """Compute the inverse discrete Fourier transform along several axes.

    Shapes: x any -> the same.
    Args:
        x: the spectrum, real or complex numbers.
        axes: the axes; None (default) for all, or with `s` for the last len(s).
    Returns: a complex tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, an axis is repeated, or norm is unknown;
        IndexError if an axis is out of range.
    >>> mg.fft.ifftn([[4.0, 0.0], [0.0, 0.0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    See: numpy.fft.ifftn, torch.fft.ifftn."""
    named = _axes(x, s, axes)
    return _ifftn(_of_lengths(x, s, named), axes=named, norm=norm or "backward")


@prefixes_errors
def rfftn(x, s=None, axes=None, norm=None):
    """Compute the discrete Fourier transform of real numbers along several axes.

    Along the last of these axes only the first half of the spectrum is computed.
    Shapes: x (..., m, n), axes=(-2, -1) -> (..., m, n // 2 + 1).
    Args:
        x: real numbers.
        axes: the axes; None (default) for all, or with `s` for the last len(s).
    Returns: a complex tensor of the precision of x.
    Raises: TypeError if x is complex; ValueError if a length is less than 1, s and axes differ in length, an axis is
        repeated, or norm is unknown; IndexError if an axis is out of range.
    >>> mg.fft.rfftn([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    See: numpy.fft.rfftn, torch.fft.rfftn."""
    named = _axes(x, s, axes)
    lengths = s or (None,) * len(named)
    half = rfft(x, lengths[-1], named[-1], norm)
    return fftn(half, s and lengths[:-1], named[:-1], norm) if len(named) > 1 else half


@prefixes_errors
def irfftn(x, s=None, axes=None, norm=None):
    """Compute the inverse of `rfftn`: real numbers from half a spectrum.

    Shapes: x (..., m, n // 2 + 1), axes=(-2, -1) -> (..., m, n).
    Args:
        x: half a spectrum, real or complex numbers.
        s: the lengths of the result along the axes; None (default) for the lengths of x, and 2 (m - 1) along the last.
        axes: the axes; None (default) for all, or with `s` for the last len(s).
    Returns: a real tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, an axis is repeated, or norm is unknown;
        IndexError if an axis is out of range.
    >>> mg.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.fft.irfftn, torch.fft.irfftn."""
    *others, last = _axes(x, s, axes)
    whole = ifftn(x, s and s[:-1], others, norm) if others else x
    return irfft(whole, s[-1] if s else None, last, norm)


@prefixes_errors
def rfft2(x, s=None, axes=(-2, -1), norm=None):
    """Compute the 2-D discrete Fourier transform of real numbers.

    Along the last axis only the first half of the spectrum is computed.
    Shapes: x (..., h, w) -> (..., h, w // 2 + 1).
    Args:
        x: real numbers.
        axes: the two axes, or any others; default the last two.
    Returns: a complex tensor of the precision of x.
    Raises: TypeError if x is complex; ValueError if a length is less than 1, s and axes differ in length, or norm is
        unknown; IndexError if an axis is out of range.
    >>> mg.fft.rfft2([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    See: numpy.fft.rfft2, torch.fft.rfft2."""
    return rfftn(x, s, axes, norm)


@prefixes_errors
def irfft2(x, s=None, axes=(-2, -1), norm=None):
    """Compute the inverse of `rfft2`: a real image from half a spectrum.

    Shapes: x (..., h, w // 2 + 1) -> (..., h, w).
    Args:
        x: half a spectrum, real or complex numbers.
        s: the two lengths of the result; None (default) for the lengths of x, and 2 (m - 1) along the last.
        axes: the two axes, or any others; default the last two.
    Returns: a real tensor of the precision of x.
    Raises: ValueError if a length is less than 1, s and axes differ in length, or norm is unknown; IndexError if an
        axis is out of range.
    >>> mg.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.fft.irfft2, torch.fft.irfft2."""
    return irfftn(x, s, axes, norm)


def _axes(x, s, axes):
    """Return the axes of a transform without repetition, counted from the front. One axis may be given by itself."""
    count = ndim(x)
    axes = (axes,) if hasattr(axes, "__index__") else axes
    if axes is None:
        axes = range(count) if s is None else range(count - len(s), count)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"s must have one length for each axis, got {len(s)} for {len(axes)}")
    if not len(axes) or not all(-count <= axis < count for axis in axes):
        raise IndexError(f"axes {tuple(axes)} are none, or out of range for an array of {count} axes")
    named = tuple(axis % count for axis in axes)
    if len({*named}) < len(named):
        raise ValueError(f"axes {tuple(axes)} name one twice")
    return named


# The order of frequencies ----


@prefixes_errors
def fftshift(x, axes=None):
    """Shift frequency 0 to the middle, so that frequencies are in ascending order.

    Args:
        axes: the axis or axes; None (default) for all.
    Raises: IndexError if the axis is out of range.
    >>> mg.fft.fftshift([0.0, 1.0, 2.0, -2.0, -1.0]).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    See: numpy.fft.fftshift, torch.fft.fftshift."""
    named = tuple(range(ndim(x))) if axes is None else tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return roll(x, tuple(shape(x)[axis] // 2 for axis in named), named)


@prefixes_errors
def ifftshift(x, axes=None):
    """Shift frequency 0 back to the front: the inverse of `fftshift`.

    Args:
        axes: the axis or axes; None (default) for all.
    Raises: IndexError if the axis is out of range.
    >>> mg.fft.ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0]).tolist()
    [0.0, 1.0, 2.0, -2.0, -1.0]
    See: numpy.fft.ifftshift, torch.fft.ifftshift."""
    named = tuple(range(ndim(x))) if axes is None else tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return roll(x, tuple(-(shape(x)[axis] // 2) for axis in named), named)


@prefixes_errors
def fftfreq(n, d=1.0):
    """Return the frequencies of `fft` in cycles per unit of time: from 0 up, then the negative ones.

    Args:
        n: the number of samples, at least 1.
        d: the time between two samples; default 1.0.
    Returns: a tensor of shape (n), without a graph.
    Raises: ValueError if n is less than 1, or d is 0; TypeError if n is not an integer.
    >>> mg.fft.fftfreq(4, 0.5).tolist()
    [0.0, 0.5, -1.0, -0.5]
    See: numpy.fft.fftfreq, torch.fft.fftfreq."""
    _wants_spacing(n, d)
    return stop_gradient([(k if k < (n + 1) // 2 else k - n) / (n * d) for k in range(n)])


@prefixes_errors
def rfftfreq(n, d=1.0):
    """Return the frequencies of `rfft` in cycles per unit of time: from 0 up to half the sampling rate.

    Args:
        n: the number of samples, at least 1.
        d: the time between two samples; default 1.0.
    Returns: a tensor of shape (n // 2 + 1), without a graph.
    Raises: ValueError if n is less than 1, or d is 0; TypeError if n is not an integer.
    >>> mg.fft.rfftfreq(4, 0.5).tolist()
    [0.0, 0.5, 1.0]
    See: numpy.fft.rfftfreq, torch.fft.rfftfreq."""
    _wants_spacing(n, d)
    return stop_gradient([k / (n * d) for k in range(n // 2 + 1)])


def _wants_spacing(n, d):
    if n.__index__() < 1 or d == 0:
        raise ValueError(f"n must be at least 1 and d must not be 0, got n={n}, d={d}")
