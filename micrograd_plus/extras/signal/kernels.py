"""Kernels for signals in time: convolutions, frames, and the filters of a mel scale. `np` is NumPy or CuPy."""

from __future__ import annotations

import math
from typing import Any

from ...backends.shapes import float_dtype
from ...backends.waves import cut_or_pad

__all__ = ["convolve", "frames", "hann_window", "mel_filters", "overlap_add"]


def convolve(np: Any, a: Any, b: Any) -> Any:
    """Return the full convolution of two arrays with the same number of axes: the smaller, reversed, in windows of the
    larger."""
    if not a.size or not b.size:
        raise ValueError("an array without entries cannot be moved along another")
    a, b = (a, b) if a.size >= b.size else (b, a)
    wide = np.zeros(tuple(m + 2 * n - 2 for m, n in zip(a.shape, b.shape, strict=True)), a.dtype)
    wide[tuple(slice(n - 1, n - 1 + m) for m, n in zip(a.shape, b.shape, strict=True))] = a
    if not a.ndim:
        return wide * b
    windows = np.lib.stride_tricks.sliding_window_view(wide, b.shape)
    return np.tensordot(windows, np.flip(b), axes=a.ndim)


def frames(np: Any, x: Any, length: int, hop: int) -> Any:
    """Return frames of `length` entries, one every `hop` entries: (..., T) to (..., frames, length)."""
    if not 0 < length <= x.shape[-1]:
        raise ValueError(f"a frame of {length} entries does not fit into a signal of {x.shape[-1]}")
    if hop < 1:
        raise ValueError(f"hop must be a whole number of at least 1, got {hop}")
    first = np.arange(0, x.shape[-1] - length + 1, hop)
    return x[..., first[:, None] + np.arange(length)]


def overlap_add(np: Any, x: Any, size: int, hop: int) -> Any:
    """Add frames at their positions in a signal of `size` entries.

    A frame is cut into blocks as long as a hop: the first blocks of all frames are adjacent, and so are the second
        ones, one block further on.
    """
    count, length = x.shape[-2:]
    if hop < 1 or count != (size - length) // hop + 1:
        raise ValueError(f"{count} frames of {length}, {hop} apart, are not those of a signal of {size} entries")
    blocks = -(-length // hop)
    cut = cut_or_pad(np, x, blocks * hop).reshape(*x.shape[:-1], blocks, hop)
    out = np.zeros((*x.shape[:-2], count + blocks - 1, hop), x.dtype)
    for block in range(blocks):
        out[..., block : block + count, :] += cut[..., block, :]
    return cut_or_pad(np, out.reshape(*x.shape[:-2], (count + blocks - 1) * hop), size)


def hann_window(np: Any, x: Any, length: int) -> Any:
    """Return a periodic Hann window, sin² from 0 to π, in the dtype of `x`."""
    return (np.sin(np.arange(length) * (math.pi / length)) ** 2).astype(float_dtype(x.real))


def mel_filters(
    np: Any, x: Any, n_mels: int, n_fft: int, sample_rate: float, fmin: float = 0.0, fmax: float | None = None
) -> Any:
    """Return triangular filters over the frequencies of an `rfft`, equally spaced on the mel scale: (n_mels, n_fft // 2
    + 1).

    The scale is 2595 log10(1 + f / 700): D. O'Shaughnessy, "Speech Communication: Human and Machine", 1987.
    Each triangle rises from its left neighbour's peak to a height of 1, and falls to its right one's. In the
    dtype of `x`.
    """
    ends = (fmin, sample_rate / 2 if fmax is None else fmax)
    if not 0 <= ends[0] < ends[1] <= sample_rate / 2:
        raise ValueError(f"fmin must be less than fmax, and both between 0 and half the sample rate; got {ends}")
    low, high = (2595 * math.log10(1 + f / 700) for f in ends)
    corners = 700 * (10 ** (np.linspace(low, high, n_mels + 2) / 2595) - 1)
    frequencies = np.arange(n_fft // 2 + 1) * (sample_rate / n_fft)
    left, peak, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (frequencies - left) / (peak - left), (right - frequencies) / (right - peak)
    return np.maximum(0, np.minimum(rising, falling)).astype(float_dtype(x.real))
