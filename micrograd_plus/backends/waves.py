"""Fourier transforms of arrays. `np` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any

__all__ = [
    "count_mirror_images", "cut_or_pad", "fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "irfft", "rfft",
]  # fmt: skip


def fft(np: Any, x: Any, axis: int = -1, norm: str = "backward") -> Any:
    """Return the discrete Fourier transform along an axis."""
    return np.fft.fft(x, axis=axis, norm=norm)


def ifft(np: Any, x: Any, axis: int = -1, norm: str = "backward") -> Any:
    """Return the inverse of `fft`."""
    return np.fft.ifft(x, axis=axis, norm=norm)


def rfft(np: Any, x: Any, axis: int = -1, norm: str = "backward") -> Any:
    """Return the first half of the transform of real numbers; the second half is its mirror image."""
    if x.dtype.kind == "c":
        raise TypeError("x must be real; fft takes complex numbers")
    return np.fft.rfft(x, axis=axis, norm=norm)


def irfft(np: Any, x: Any, n: int, axis: int = -1, norm: str = "backward") -> Any:
    """Return the `n` real numbers whose `rfft` is `x`."""
    if x.shape[axis] != n // 2 + 1:
        raise ValueError(f"x must have the n // 2 + 1 frequencies of n={n} numbers, {n // 2 + 1}; got {x.shape[axis]}")
    return np.fft.irfft(x, n, axis=axis, norm=norm)


def fft2(np: Any, x: Any, axes: tuple[int, int] = (-2, -1), norm: str = "backward") -> Any:
    """Return the transform along two axes."""
    return np.fft.fft2(x, axes=axes, norm=norm)


def ifft2(np: Any, x: Any, axes: tuple[int, int] = (-2, -1), norm: str = "backward") -> Any:
    """Return the inverse of `fft2`."""
    return np.fft.ifft2(x, axes=axes, norm=norm)


def fftn(np: Any, x: Any, axes: tuple[int, ...], norm: str = "backward") -> Any:
    """Return the transform along several axes."""
    return np.fft.fftn(x, axes=axes, norm=norm)


def ifftn(np: Any, x: Any, axes: tuple[int, ...], norm: str = "backward") -> Any:
    """Return the inverse of `fftn`."""
    return np.fft.ifftn(x, axes=axes, norm=norm)


def count_mirror_images(np: Any, x: Any, n: int, axis: int = -1) -> Any:
    """Multiply each frequency by its count in the spectrum of `n` real numbers, which is 2 or 1."""
    places = np.arange(x.shape[axis])
    times = 2 - ((places == 0) | (2 * places == n)).astype(np.int8)
    return x * np.expand_dims(times, tuple(range(1, x.ndim - axis % x.ndim)))


def cut_or_pad(np: Any, x: Any, length: int, axis: int = -1) -> Any:
    """Return the first `length` entries along an axis, filled up with zeros."""
    if length < 0:
        raise ValueError(f"length must be at least 0, got {length}")
    before = (slice(None),) * (axis % x.ndim)
    if length <= x.shape[axis]:
        return x[(*before, slice(length))]
    out = np.zeros((*x.shape[: len(before)], length, *x.shape[len(before) + 1 :]), x.dtype)
    out[(*before, slice(x.shape[axis]))] = x
    return out
