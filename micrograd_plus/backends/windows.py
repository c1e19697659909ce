"""Windows over images, in arrays: cut out, put back, and laid out for one matrix product.

Shapes are (images, channels, height, width), in short (N, C, H, W). `np` is NumPy or CuPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from numpy import ndindex

from .shapes import kernel_shape, windows_along

__all__ = [
    "conv2d_input",
    "conv2d_weight",
    "correlate2d",
    "fold",
    "group_columns",
    "group_images",
    "kernel_rows",
    "max_pool2d_and_choice",
    "split_columns",
    "unfold",
    "ungroup_columns",
    "ungroup_images",
    "window_columns",
    "window_counts",
    "window_sums",
]  # fmt: skip


def _images_last(x: Any) -> Any:
    """Return (N, C, H, W) as a view (C, H, W, N), which is the order of images in memory here.

    So a row of a window is contiguous, and a convolution is one matrix product. Elementwise operations keep the order.
    """
    return x.transpose(1, 2, 3, 0)


def _copy_images(target: Any, x: Any) -> None:
    """Copy (N, C, H, W) into a target (C, H, W, N).

    Images whose distance in memory is a multiple of a page share their places in a processor's cache, and N of them
    would drive each other out: they are copied eight at a time (32 images of 16 x 32 x 32: 0.6 ms instead of 1.9).
    """
    group = 8 if x.strides[0] % 4096 == 0 else x.shape[0] or 1
    for i in range(0, x.shape[0], group):
        target[..., i : i + group] = _images_last(x[i : i + group])


def _contiguous_images(np: Any, x: Any) -> Any:
    """Return (N, C, H, W) as a contiguous array (C, H, W, N); without a copy if it is one already."""
    seen = _images_last(x)
    if seen.flags.c_contiguous:
        return seen
    out = np.empty(seen.shape, x.dtype)
    _copy_images(out, x)
    return out


def _images_first(x: Any) -> Any:
    """Return (C, H, W, N) as a view (N, C, H, W)."""
    return x.transpose(3, 0, 1, 2)


def _counts(shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[int, int]:
    """Return how many windows there are along height and width: at least one."""
    high, wide = windows_along(shape, kernel, stride, padding, dilation)
    if high < 1 or wide < 1:
        image = f"the image {tuple(shape[-2:])} with padding {padding}"
        raise ValueError(f"a window of {kernel} (dilation {dilation}) is larger than {image}")
    return high, wide


def _windows(np: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, border: float) -> Any:
    """Return every window as a view: (C, kh, kw, H', W', N)."""
    (ph, pw), (sh, sw), (dh, dw), (kh, kw) = padding, stride, dilation, kernel
    high, wide = _counts(x.shape, kernel, stride, padding, dilation)
    n, channels, rows, columns = x.shape
    if ph or pw:
        framed = np.empty((channels, rows + 2 * ph, columns + 2 * pw, n), x.dtype)
        framed[:, :ph] = framed[:, ph + rows :] = framed[:, :, :pw] = framed[:, :, pw + columns :] = border
        _copy_images(framed[:, ph : ph + rows, pw : pw + columns], x)
    else:
        framed = _contiguous_images(np, x)
    c, h, w, each = framed.strides
    return np.lib.stride_tricks.as_strided(
        framed, (channels, kh, kw, high, wide, n), (c, h * dh, w * dw, h * sh, w * sw, each)
    )


def unfold(
    np: Any, x: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)
) -> Any:
    """Return the entries of each window as one column: (N, C * kernel, windows)."""
    windows = _windows(np, x, kernel_size, stride, padding, dilation, 0.0)
    places = windows.shape[3] * windows.shape[4]
    return windows.reshape(x.shape[1] * kernel_size[0] * kernel_size[1], places, x.shape[0]).transpose(2, 0, 1)


def fold(
    np: Any, x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0),
    dilation: Any = (1, 1),
) -> Any:  # fmt: skip
    """Put columns back to their windows, and add up overlaps: (N, C, H, W)."""
    (ph, pw), (sh, sw), (dh, dw), (kh, kw) = padding, stride, dilation, kernel_size
    high, wide = _counts(output_size, kernel_size, stride, padding, dilation)
    columns = x.transpose(1, 2, 0).reshape(x.shape[1] // (kh * kw), kh, kw, high, wide, x.shape[0])
    size = (output_size[0] + 2 * ph, output_size[1] + 2 * pw)
    if stride == kernel_size and dilation == (1, 1) and size == (high * sh, wide * sw):
        framed = columns.transpose(0, 3, 1, 4, 2, 5).reshape(len(columns), *size, x.shape[0])  # nothing overlaps
    else:
        framed = np.zeros((len(columns), *size, x.shape[0]), x.dtype)
        for i, j in ndindex(kh, kw):
            top, left = i * dh, j * dw
            framed[:, top : top + sh * high : sh, left : left + sw * wide : sw] += columns[:, i, j]
    return _images_first(framed[:, ph : ph + output_size[0], pw : pw + output_size[1]])


def kernel_rows(np: Any, x: Any, groups: int = 1) -> Any:
    """Return a kernel's weights as one row per output channel: (groups, O / groups, entries)."""
    return x.reshape(groups, x.shape[0] // groups, prod(x.shape[1:]))


def group_columns(np: Any, x: Any, groups: int = 1) -> Any:
    """Return the columns of all images side by side, by group: (groups, entries, windows * N)."""
    return x.transpose(1, 2, 0).reshape(groups, x.shape[1] // groups, x.shape[2] * x.shape[0])


def ungroup_columns(np: Any, x: Any, images: int) -> Any:
    """Return the inverse of `group_columns`: (N, all entries, windows)."""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2] // (images or 1), images).transpose(2, 0, 1)


def group_images(np: Any, x: Any, groups: int = 1) -> Any:
    """Return the positions of all images in a row, by group: (groups, C / groups, H * W * N)."""
    n, channels, high, wide = x.shape
    return _contiguous_images(np, x).reshape(groups, channels // groups, high * wide * n)


def ungroup_images(np: Any, x: Any, size: tuple[int, ...], images: int) -> Any:
    """Return the inverse of `group_images`: (N, C, H, W)."""
    return _images_first(x.reshape(x.shape[0] * x.shape[1], *size, images))


# Convolution in blocks -------------------------------------
#
# The columns of all windows are kernel-size times as large as the images. A block of rows of windows fits in the cache
# of a processor: it is written once, multiplied, and overwritten by the next. With 16 channels and 3 x 3 windows that
# takes half the time of writing all columns first, and a ninth of the memory.

BLOCK = 1 << 18
"""Entries of columns in a block: a megabyte of float32."""


def _column_blocks(
    np: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Iterator[tuple[slice, Any]]:
    """Yield (places, columns) for blocks of rows of windows; columns are (groups, entries, places).

    Each block overwrites the one before it. On a GPU there is one block, since starting a kernel costs more than
    missing a cache.
    """
    windows = _windows(np, x, kernel, stride, padding, dilation, 0.0)
    channels, kh, kw, high, wide, n = windows.shape
    entries, row = channels // groups * kh * kw, wide * n
    rows = max(1, BLOCK // max(1, channels * kh * kw * row)) if np.__name__ == "numpy" else high
    block = np.empty((channels, kh, kw, min(rows, high), wide, n), x.dtype)
    for start in range(0, high, rows):
        stop = min(start + rows, high)
        if stop - start < block.shape[3]:
            block = np.empty((channels, kh, kw, stop - start, wide, n), x.dtype)
        block[...] = windows[:, :, :, start:stop]
        yield slice(start * row, stop * row), block.reshape(groups, entries, (stop - start) * row)


def correlate2d(np: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int = 1) -> Any:
    """Return every filter's product with every window: (N, O, H', W')."""
    kernel, filters = weight.shape[2:], kernel_rows(np, weight, groups)
    if x.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"x has {x.shape[1]} channels; with groups={groups} and weight {weight.shape} it must have "
            f"{weight.shape[1] * groups}"
        )
    size = _counts(x.shape, kernel, stride, padding, dilation)
    out = np.empty((groups, filters.shape[1], prod(size) * x.shape[0]), np.result_type(x, weight))
    for places, columns in _column_blocks(np, x, kernel, stride, padding, dilation, groups):
        np.matmul(filters, columns, out=out[:, :, places])
    return ungroup_images(np, out, size, x.shape[0])


def conv2d_weight(
    np: Any, x: Any, upstream: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int = 1
) -> Any:
    """Return the gradient of a convolution's weight: (O, C / groups, kH, kW)."""
    arriving = group_images(np, upstream, groups)
    shape = (groups, arriving.shape[1], x.shape[1] // groups * prod(kernel_size))
    total = np.zeros(shape, np.result_type(x, upstream))
    weight_shape = kernel_shape(x.shape, upstream.shape, kernel_size, stride, padding, dilation, groups)
    for places, columns in _column_blocks(np, x, kernel_size, stride, padding, dilation, groups):
        total += arriving[:, :, places] @ columns.swapaxes(-1, -2)
    return total.reshape(weight_shape)


def conv2d_input(
    np: Any, weight: Any, upstream: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int = 1
) -> Any:
    """Return the gradient of a convolution's images of a `size`: (N, C, H, W).

    With stride 1 it is a convolution, too: of upstream in a wider border, with the filters turned by half a turn.
    """
    kernel = weight.shape[2:]
    border = tuple(d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True))
    if stride == (1, 1) and min(border) >= 0:
        return correlate2d(np, upstream, _turn_filters(weight, groups), stride, border, dilation, groups)
    columns = kernel_rows(np, weight, groups).swapaxes(-1, -2) @ group_images(np, upstream, groups)
    return fold(np, ungroup_columns(np, columns, upstream.shape[0]), size, kernel, stride, padding, dilation)


def _turn_filters(weight: Any, groups: int) -> Any:
    """Return filters turned by half a turn, inputs and outputs exchanged: (C, O / groups, kH, kW)."""
    outputs, inputs, kh, kw = weight.shape
    by_group = weight.reshape(groups, outputs // groups, inputs, kh, kw)[..., ::-1, ::-1]
    return by_group.swapaxes(1, 2).reshape(groups * inputs, outputs // groups, kh, kw)


def max_pool2d_and_choice(
    np: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[Any, Any]:
    """Return the largest entry of each window, and its index in the window: (C, kernel, windows * N)."""
    if any(2 * p > k for p, k in zip(padding, kernel_size, strict=True)):
        raise ValueError(f"padding {padding} is more than half of the window {kernel_size}: some would see nothing")
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min if x.dtype.kind in "iu" else False
    windows = _windows(np, x, kernel_size, stride, padding, dilation, least)
    entries = [windows[:, i, j] for i, j in ndindex(*kernel_size)]
    largest = entries[0].copy()
    for entry in entries[1:]:
        np.maximum(largest, entry, out=largest)
    chosen = np.empty((len(windows), len(entries), *largest.shape[1:]), bool)
    free = np.ones(largest.shape, bool)
    for place, entry in enumerate(entries):
        np.logical_and(entry == largest, free, out=chosen[:, place])
        free ^= chosen[:, place]
    return _images_first(largest), chosen.reshape(*chosen.shape[:2], prod(largest.shape[1:]))


def window_counts(
    np: Any, x: Any, shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool
) -> Any:
    """Return how many entries each window of an image of `shape` has."""
    if any(2 * p > k for p, k in zip(padding, kernel_size, strict=True)):
        raise ValueError(f"padding {padding} is more than half of the window {kernel_size}: some would see nothing")
    if count_include_pad or not any(padding):
        return np.array(kernel_size[0] * kernel_size[1], np.int16)  # small integers leave float32 as it is
    ones = np.ones((1, 1, *shape[-2:]))
    counts = unfold(np, ones, kernel_size, stride, padding).sum(axis=1).astype(np.int16)
    return counts.reshape(windows_along(shape, kernel_size, stride, padding))


def split_columns(np: Any, x: Any, kernel_size: Any) -> Any:
    """Return columns of windows by channel: (N, C, kernel, windows)."""
    entries = kernel_size[0] * kernel_size[1]
    return x.reshape(x.shape[0], x.shape[1] // entries, entries, x.shape[-1])


def window_sums(np: Any, x: Any, x_shape: Any, kernel_size: Any, stride: Any, padding: Any) -> Any:
    """Return the sums of columns of windows, as images."""
    total = split_columns(np, x, kernel_size).sum(axis=2)
    return total.reshape(*x_shape[:2], *windows_along(x_shape, kernel_size, stride, padding))


def window_columns(np: Any, x: Any, kernel_size: Any) -> Any:
    """Repeat each entry of an image as a column for its whole window."""
    (n, channels, high, wide), entries = x.shape, kernel_size[0] * kernel_size[1]
    line = x.reshape(n, channels, 1, high * wide)
    return np.broadcast_to(line, (n, channels, entries, high * wide)).reshape(n, channels * entries, high * wide)
