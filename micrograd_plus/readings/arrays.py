"""Words for arrays: NumPy's own, and those that need a loop, a stride or a write in place.

The file is read once for each array library: with NumPy here, and with CuPy in its place by `vocabulary.words_of`.
Whatever is not defined below is the library's own function of that name.
"""

from __future__ import annotations

import builtins
import math
import sys
import typing
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy  # noqa: ICN001 - np is the library that this file is read with, which may be another

from . import matrices, resampling, sequences, special, waves
from .shapes import *  # noqa: F403 - words about shapes are words of this reading too
from .shapes import axes_of, count_along, inverse_order, is_sequence, reduced, whole, windows_along

np: Any = globals().get("library", numpy)

_add_up = np.add.reduce

for _room in (matrices, resampling, sequences, waves):
    globals().update({word: partial(getattr(_room, word), np) for word in _room.__all__})

# glibc gives freed blocks that are larger than any freed before back to the system, and the next step faults every page
# in again; having seen one of 31 MB it keeps them. Elsewhere this does nothing.
numpy.empty(31 << 20, numpy.uint8)


def __getattr__(word: str) -> Any:
    """A word that the library has under the same name; kept, so that the next look is a plain one."""
    if word.startswith("__"):
        raise AttributeError(word)
    meaning = getattr(np, word)
    globals()[word] = meaning
    return meaning


# Sums and products --------------------------------------------------------------------------------------------------


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Entries added up along some axes, or along all."""
    if axis is not None and _along_short_rows(x, axis):
        total = rows(x).dot(np.ones((x.shape[-1], 1), x.dtype))
        return total.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    return _add_up(x, axis=axis, keepdims=keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest entry along some axes, or along all."""
    if axis is not None and _along_short_rows(x, axis):
        largest = np.maximum.reduce(np.ascontiguousarray(rows(x).T))
        return largest.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    return np.max(x, axis=axis, keepdims=keepdims)


def _along_short_rows(x: Any, axis: Any) -> bool:
    """True where a reduction goes along many rows of few numbers. NumPy starts a loop for each row, which takes longer
    than the row; a product with ones, or a loop over columns, is up to ten times as fast. Up to 128 numbers NumPy adds
    without pairing too, so nothing is lost."""
    return (
        axis in (-1, (-1,), x.ndim - 1)
        and x.ndim > 1
        and np is numpy
        and 0 < x.shape[-1] <= 96
        and x.size > 2000
        and x.dtype.kind == "f"
        and x.flags.c_contiguous
    )


def einsum(subscripts: str, *parts: Any) -> Any:
    """Einstein's summation. With many numbers it is worth looking for the matrix products in it, which go to BLAS."""
    return np.einsum(subscripts, *parts, optimize=builtins.max(part.size for part in parts) > 10_000)


def mT(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.T if x.ndim == 2 else x.swapaxes(-1, -2)


def matmul(a: Any, b: Any) -> Any:
    """The matrix product; two plain matrices take the shorter way to BLAS, and many before one go as one."""
    if b.ndim != 2 or a.ndim < 2:
        return np.matmul(a, b)
    if a.ndim == 2:
        return a.dot(b)
    out = np.empty((*a.shape[:-1], b.shape[1]), np.result_type(a, b))
    np.dot(rows(a), b, out=rows(out))
    return out


def sum_outer(a: Any, b: Any) -> Any:
    """The outer products of each row of `a` with that of `b`, added up: the product of two matrices, one transposed."""
    return a.T.dot(b) if a.ndim == 2 else rows(a).T.dot(rows(b))


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """A sum shared out among its entries; of no entries at all it is not a number."""
    count = x.size if axis is None else count_along(x.shape, axis)
    total = sum(x, axis, keepdims)
    return total / count if count else total * np.nan


def mean_square(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of squares. Of a few numbers their inner product is the sum; of many, adding in pairs is more exact."""
    if axis is None and not keepdims and 0 < x.size <= 4096 and x.dtype.kind == "f":
        return np.vdot(x, x) / x.size
    return mean(x * x, axis, keepdims)


def spread(x: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """The results of a reduction repeated along the axes it took away."""
    return broadcast_to(x if keepdims or axis is None else x.reshape(reduced(shape, axis, length_one=True)), shape)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Repeated along new axes and axes of length 1; of few numbers a new array is made more quickly than a view."""
    if type(shape) is not tuple or x.ndim > len(shape) or math.prod(shape) > 4096:
        return np.broadcast_to(x, shape)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`; a plain condition picks one, and plain numbers stay plain."""
    return (a if condition else b) if type(condition) is bool else np.where(condition, a, b)


def power(base: Any, exponent: Any) -> Any:
    """`base` to the `exponent`; small whole powers by multiplication."""
    return base * base if type(exponent) in (int, float) and exponent == 2 else np.power(base, exponent)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    return np.maximum(a, _as_row(a, b))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    return np.minimum(a, _as_row(a, b))


def _as_row(a: Any, b: Any) -> Any:
    """A number as a row of it beside a large array: NumPy compares two rows more than twice as fast as a row and a
    number (0.13 ms and 0.30 ms for a million)."""
    if type(b) not in (float, int) or getattr(a, "size", 0) < 10_000 or a.dtype.kind != "f":
        return b
    return np.full_like(a, b) if a.shape[-1] < 64 or a.strides[-1] != a.itemsize else np.full(a.shape[-1], b, a.dtype)


def erf(x: Any) -> Any:
    """The error function."""
    return special.erf(np, x)


def erfc(x: Any) -> Any:
    """1 - erf(x)."""
    return special.erfc(np, x)


def astype(x: Any, dtype: Any) -> Any:
    """`x` in another dtype."""
    return x.astype(dtype, copy=False)


# Undoing broadcasting -----------------------------------------------------------------------------------------------


def summed_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `shape` along which broadcasting repeated a variable of shape `target`."""
    extra = len(shape) - len(target)
    return (*range(extra), *(extra + i for i, n in enumerate(target) if n == 1 and shape[extra + i] != 1))


def unbroadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """The sum of `x` over everything that broadcasting had repeated, in the shape it had before."""
    extra = x.ndim - len(shape)
    if extra == 1 and x.size < 2000 and x.shape[1:] == shape:
        return _add_up(x)
    if len(shape) == 1 and extra > 0 and x.size and x.shape[-1:] == shape and x.dtype.kind == "f":
        return np.ones(x.size // shape[0], x.dtype).dot(rows(x))  # up to three times as fast as adding the rows
    if extra < 0 or builtins.any(n not in (m, 1) for n, m in zip(shape, x.shape[extra:], strict=True)):
        raise ValueError(f"shape {x.shape} is not what broadcasting makes of {shape}")
    axes = summed_axes(x.shape, shape)
    return (_add_up(x, axis=axes) if axes else x).reshape(shape)


def cast(x: Any, dtype: Any) -> Any:
    """`x` in another dtype; a complex gradient of a real variable keeps its real part."""
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype, copy=False)


def fit(x: Any, like: tuple[tuple[int, ...], Any]) -> Any:
    """`x` in the shape and dtype of a variable, in memory of its own."""
    shape, dtype = like
    if x.shape != shape:
        x = unbroadcast(x, shape)
    if x.dtype is not dtype and x.dtype != dtype:
        x = cast(x, dtype)
    return own(x)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def fit_product(upstream: Any, local: Any, like: tuple[tuple[int, ...], Any]) -> Any:
    """`fit(upstream * local, like)`; the product of two whole arrays is added up without ever being written down."""
    shape, dtype = like
    if getattr(local, "shape", ()) != upstream.shape or upstream.ndim > len(_LETTERS):
        return fit(upstream * local, like)
    extra = upstream.ndim - len(shape)
    every = _LETTERS[: upstream.ndim]
    kept = "".join(letter for letter, n in zip(every[extra:], shape, strict=True) if n != 1)
    x = np.einsum(f"{every},{every}->{kept}", upstream, local).reshape(shape)
    return x if x.dtype == dtype and x.base is None else fit(x, like)


def times(upstream: Any, local: Any) -> Any:
    """Upstream times a local derivative, which may be of a wider dtype: a number that came out of `where`, say."""
    x = upstream * local
    return x if x.dtype is upstream.dtype else x.astype(upstream.dtype)


def own(x: Any, upstream: Any = None) -> Any:
    """`x` in memory that nobody else reads: a copy where it is `upstream` itself, or looks into what others hold."""
    if x is not upstream and (x.base is None or _alone(x)):
        return x
    return x.copy("C" if 0 in x.strides else "K")  # repeated entries stand in no order of their own


def writeable(x: Any) -> bool:
    """True where each entry has a place of its own that may be written into. CuPy knows no array that is read-only."""
    return 0 not in x.strides and getattr(x.flags, "writeable", True)


def _alone(x: Any) -> bool:
    """True for a view of memory that nothing else holds: a fresh array that was turned, cut or reshaped."""
    return writeable(x) and sys.getrefcount(x.base) == _ALONE


_fresh = np.zeros(2)[:1]
_ALONE = sys.getrefcount(_fresh.base)


# Axes ---------------------------------------------------------------------------------------------------------------


def rows(x: Any) -> Any:
    """All leading axes joined in one."""
    return x if x.ndim == 2 else x.reshape(count_along(x.shape[:-1], None), x.shape[-1])


def axes_to_last(x: Any, axis: Any = None) -> Any:
    """The named axes joined in one, at the end."""
    joined = axes_of(x.shape, axis)
    kept = tuple(i for i in range(x.ndim) if i not in joined)
    return x.transpose(kept + joined).reshape(*(x.shape[i] for i in kept), count_along(x.shape, joined))


def axes_from_last(x: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """The last axis taken apart again into the named axes of `shape`."""
    joined = axes_of(shape, axis)
    order = tuple(i for i in range(len(shape)) if i not in joined) + joined
    return x.reshape(tuple(shape[i] for i in order)).transpose(inverse_order(order))


def squeeze_axes(x: Any, axis: Any = None) -> Any:
    """The axes that a reduction kept with length 1, left out."""
    return x.reshape(reduced(x.shape, axis, length_one=False))


def expand_axes(x: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """The axes that a reduction of an array of `shape` took away, put back with length 1."""
    return x.reshape(reduced(shape, axis, length_one=True))


def stack(parts: Any, axis: int = 0) -> Any:
    """Arrays of equal shape side by side along a new axis; in front, that is one behind the other."""
    if axis == 0 and len(parts) > 1 and parts[0].ndim and builtins.all(part.shape == parts[0].shape for part in parts):
        return np.concatenate(parts).reshape(len(parts), *parts[0].shape)
    return np.stack(parts, axis=axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis."""
    return tuple(np.moveaxis(x, axis, 0))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """The parts of an array that is cut along an axis."""
    places = list(indices_or_sections) if is_sequence(indices_or_sections) else indices_or_sections
    return tuple(np.split(x, places, axis=axis))


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each entry several times in a row."""
    return np.repeat(x, whole(repeats), axis)


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """The entries moved along; what falls off the end comes in at the start."""
    return np.roll(x, whole(shift), axis)


def sum_repeats(x: Any, shape: tuple[int, ...], repeats: Any, axis: int | None) -> Any:
    """The copies that `repeat` made of each entry, added up."""
    line, along = (joined_shape(shape), 0) if axis is None else (shape, axis % len(shape))
    origin = np.repeat(np.arange(line[along]), repeats)
    return put_add(x, line, (slice(None),) * along + (origin,)).reshape(shape)


def joined_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """All axes as one."""
    return (count_along(shape, None),)


def sum_tiles(x: Any, shape: tuple[int, ...], reps: int | Sequence[int]) -> Any:
    """The tiles that `tile` made, added up."""
    reps = reps if isinstance(reps, Sequence) else (reps,)
    length = builtins.max(len(reps), len(shape))
    times = (1,) * (length - len(reps)) + tuple(reps)
    sides = (1,) * (length - len(shape)) + tuple(shape)
    pairs = [n for pair in zip(times, sides, strict=True) for n in pair]
    return _add_up(x.reshape(pairs), axis=tuple(range(0, 2 * length, 2))).reshape(shape)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> Any:
    """A border round an array."""
    return np.pad(x, pad_width, mode, **({"constant_values": constant_values} if mode == "constant" else {}))


def unpad(x: Any, shape: tuple[int, ...], pad_width: Any, mode: str = "constant") -> Any:
    """A border folded back onto the entries it was made of; a constant one is cut off."""
    places = np.arange(count_along(shape, None)).reshape(shape)
    origin = np.pad(places, pad_width, mode, **({"constant_values": -1} if mode == "constant" else {}))
    inside = origin >= 0
    return put_add(x[inside], joined_shape(shape), (origin[inside],)).reshape(shape)


def put_diagonal(x: Any, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> Any:
    """Zeros of `shape` with `x` on the diagonal of two axes."""
    out = np.zeros(shape, x.dtype)
    places = np.arange(x.shape[-1])
    matrices = np.moveaxis(out, (axis1, axis2), (-2, -1))
    matrices[..., places - builtins.min(offset, 0), places + builtins.max(offset, 0)] = x
    return out


def undiag(x: Any, shape: tuple[int, ...], k: int) -> Any:
    """The reverse of `diag` of an array of `shape`."""
    return np.diag(x, k) if len(shape) == 1 else put_diagonal(x, shape, k, 0, 1)


# Writing in place ---------------------------------------------------------------------------------------------------


def put_add(x: Any, shape: tuple[int, ...], index: Any) -> Any:
    """Zeros of `shape` with `x` added at `index`: places named twice receive both."""
    out = np.zeros(shape, x.dtype)
    if _names_no_place_twice(index):
        out[index] = x
    else:
        np.add.at(out, index, x)
    return out


def _names_no_place_twice(index: Any) -> bool:
    """True for slices, single integers and boolean masks: no entry is met a second time."""
    parts = typing.cast("tuple[Any, ...]", index) if type(index) is tuple else (index,)
    return builtins.all(
        part is None
        or part is Ellipsis
        or isinstance(part, (slice, int, numpy.integer))
        or getattr(part, "dtype", None) == "bool"
        for part in parts
    )


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The slices of the given numbers along an axis."""
    return np.take(x, whole(indices) if type(indices) is float else indices, axis)


def put_take(x: Any, indices: Any, shape: tuple[int, ...], axis: int | None = None) -> Any:
    """Zeros of `shape` with each slice of `x` added at its number along `axis`."""
    if axis is None:
        return put_add(x, joined_shape(shape), (indices,)).reshape(shape)
    return put_add(x, shape, (slice(None),) * axes_of(shape, axis)[0] + (indices,))


def put_along_axis_add(x: Any, indices: Any, shape: tuple[int, ...], axis: int | None = -1) -> Any:
    """Zeros of `shape` with each entry of `x` added at its number along `axis`; with None, of all entries in a row."""
    if axis is None:
        return put_add(x, joined_shape(shape), (indices,)).reshape(shape)
    return put_add(x, shape, _along(indices, axis))


def _along(indices: Any, axis: int) -> tuple[Any, ...]:
    """An index that picks `indices` along `axis`, and every other axis as it is."""
    grid, (along,) = np.ogrid[tuple(slice(n) for n in indices.shape)], axes_of(indices.shape, axis)
    return tuple(indices if i == along else places for i, places in enumerate(grid))


def scatter_add(x: Any, index: Any, src: Any, axis: int) -> Any:
    """`x` with each entry of `src` added at its number along `axis`."""
    out = x.astype(np.result_type(x, src), copy=True)
    np.add.at(out, _along(index, axis), src)
    return out


def one_hot(indices: Any, num_classes: int) -> Any:
    """A row of zeros with a single 1, for each number."""
    return np.eye(num_classes)[indices]


# Along an axis --------------------------------------------------------------------------------------------------------


def _running(
    accumulate: Any, x: Any, first: Any, axis: int | None, exclusive: bool, reverse: bool
) -> Any:
    """A running total, or product, from either end; `first` is where an exclusive one starts."""
    line = x.reshape(-1) if axis is None else np.moveaxis(x, axis, -1)
    line = line[..., ::-1] if reverse else line
    out = accumulate(line, axis=-1)
    if exclusive:
        start = np.full_like(out[..., :1], first)
        out = np.concatenate([start, out[..., :-1]], axis=-1)
    out = out[..., ::-1] if reverse else out
    return out if axis is None else np.moveaxis(out, -1, axis)


def cumsum(x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running sums."""
    return _running(np.cumsum, x, 0, axis, exclusive, reverse)


def cumprod(x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running products."""
    return _running(np.cumprod, x, 1, axis, exclusive, reverse)


def product_of_others(x: Any, axis: Any = None) -> Any:
    """For each entry, the product of all the others: the whole product over the entry, where no product is so small
    or so large that dividing would lose anything; elsewhere those before it times those after it."""
    if np is numpy and x.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            whole = np.prod(x, axis=axis, keepdims=True)
        if (abs(whole) > np.finfo(x.dtype).tiny).all() and (abs(whole) < np.inf).all():
            return whole / x
    line = axes_to_last(x, axis)
    before, after = cumprod(line, -1, exclusive=True), cumprod(line, -1, exclusive=True, reverse=True)
    return axes_from_last(before * after, x.shape, axis)


def recurrence(decay: Any, drive: Any, axis: int = -1, reverse: bool = False) -> Any:
    """Each state is `decay * previous + drive`, starting from 0."""
    decay, drive = np.broadcast_arrays(decay, drive)
    decay, drive = np.moveaxis(decay, axis, 0), np.moveaxis(drive, axis, 0)
    out = np.empty(drive.shape, np.result_type(decay, drive))
    steps = range(len(drive))
    state: Any = 0.0
    for i in reversed(steps) if reverse else steps:
        state = out[i] = decay[i] * state + drive[i]
    return np.moveaxis(out, 0, axis)


def shift(x: Any, axis: int = -1, reverse: bool = False) -> Any:
    """Every entry moved one place on along an axis, a 0 moving in."""
    out = np.zeros_like(x)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    if reverse:
        target[:-1] = source[1:]
    else:
        target[1:] = source[:-1]
    return out


def cummax_with_indices(x: Any, axis: int = -1) -> tuple[Any, Any]:
    """The largest entry so far, and the latest place where it stands."""
    line = np.moveaxis(x, axis, -1)
    values = _running_maximum(line)
    places = _running_maximum(np.where(line == values, np.arange(line.shape[-1]), 0))
    return np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis)


def _running_maximum(line: Any) -> Any:
    """The largest entry so far along the last axis, by looking 1, 2, 4, 8 ... places back; CuPy accumulates only sums
    and products."""
    out, back = line.copy(), 1
    while back < line.shape[-1]:
        out[..., back:] = np.maximum(out[..., back:], out[..., :-back])
        back *= 2
    return out


def argsort(x: Any, axis: int | None = -1, descending: bool = False) -> Any:
    """The places of the entries in order; equal entries keep the order they came in."""
    if axis is None:
        return argsort(x.reshape(-1), -1, descending)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis=axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis=axis)


def topk(x: Any, k: int, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest entries in descending order, and where they stand."""
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"k={k} entries of an axis of length {x.shape[axis]}")
    order = argsort(x, axis=axis, descending=True)
    places = order[(slice(None),) * (axis % x.ndim) + (slice(k),)]
    return np.take_along_axis(x, places, axis), places


# Windows over images --------------------------------------------------------------------------------------------------


def _images_last(x: Any) -> Any:
    """(N, C, H, W) seen as (C, H, W, N), which is how images lie in memory here: a row of a window is then one run of
    numbers, and a convolution one product of matrices. Elementwise operations keep the order."""
    return x.transpose(1, 2, 3, 0)


def _images_first(x: Any) -> Any:
    """(C, H, W, N) seen as (N, C, H, W)."""
    return x.transpose(3, 0, 1, 2)


def _windows(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, border: float) -> Any:
    """Every window as a view: (C, kh, kw, H', W', N)."""
    (ph, pw), (sh, sw), (dh, dw), (kh, kw) = padding, stride, dilation, kernel
    high, wide = windows_along(x.shape, kernel, stride, padding, dilation)
    if high < 1 or wide < 1:
        raise ValueError(
            f"a window of {kernel} (dilation {dilation}) is larger than the image {x.shape[-2:]} with padding {padding}"
        )
    n, channels, rows, columns = x.shape
    framed = _images_last(x)
    if ph or pw:
        framed = np.full((channels, rows + 2 * ph, columns + 2 * pw, n), border, x.dtype)
        framed[:, ph : ph + rows, pw : pw + columns] = _images_last(x)
    framed = np.ascontiguousarray(framed)
    c, h, w, each = framed.strides
    return np.lib.stride_tricks.as_strided(
        framed, (channels, kh, kw, high, wide, n), (c, h * dh, w * dw, h * sh, w * sw, each)
    )


def unfold(x: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)) -> Any:
    """Each window's entries as one column: (N, C * kernel, windows)."""
    windows = _windows(x, kernel_size, stride, padding, dilation, 0.0)
    places = windows.shape[3] * windows.shape[4]
    return windows.reshape(x.shape[1] * kernel_size[0] * kernel_size[1], places, x.shape[0]).transpose(2, 0, 1)


def fold(
    x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1)
) -> Any:
    """Columns put back where their windows were, overlaps added up: (N, C, H, W)."""
    (ph, pw), (sh, sw), (dh, dw), (kh, kw) = padding, stride, dilation, kernel_size
    high, wide = windows_along(output_size, kernel_size, stride, padding, dilation)
    columns = x.transpose(1, 2, 0).reshape(x.shape[1] // (kh * kw), kh, kw, high, wide, x.shape[0])
    size = (output_size[0] + 2 * ph, output_size[1] + 2 * pw)
    if stride == kernel_size and dilation == (1, 1) and size == (high * sh, wide * sw):
        framed = columns.transpose(0, 3, 1, 4, 2, 5).reshape(len(columns), *size, x.shape[0])  # nothing overlaps
    else:
        framed = np.zeros((len(columns), *size, x.shape[0]), x.dtype)
        for i, j in numpy.ndindex(kh, kw):
            top, left = i * dh, j * dw
            framed[:, top : top + sh * high : sh, left : left + sw * wide : sw] += columns[:, i, j]
    return _images_first(framed[:, ph : ph + output_size[0], pw : pw + output_size[1]])


def kernel_rows(x: Any, groups: int = 1) -> Any:
    """A kernel's weights as one row for each output channel: (groups, O / groups, entries)."""
    return x.reshape(groups, x.shape[0] // groups, -1)


def grouped(x: Any, groups: int = 1) -> Any:
    """The columns of all images side by side, apart for each group: (groups, entries, windows * N)."""
    return x.transpose(1, 2, 0).reshape(groups, x.shape[1] // groups, x.shape[2] * x.shape[0])


def ungrouped(x: Any, images: int) -> Any:
    """The reverse of `grouped`: (N, all entries, windows)."""
    return x.reshape(x.shape[0] * x.shape[1], -1, images).transpose(2, 0, 1)


def grouped_images(x: Any, groups: int = 1) -> Any:
    """The places of all images in a row, apart for each group: (groups, C / groups, H * W * N)."""
    return _images_last(x).reshape(groups, x.shape[1] // groups, -1)


def as_images(x: Any, size: tuple[int, ...], images: int) -> Any:
    """The reverse of `grouped_images`: (N, C, H, W)."""
    return _images_first(x.reshape(x.shape[0] * x.shape[1], *size, images))


def max_pool2d_with_chosen(x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any]:
    """The largest entry of each window, and which entry of its window it is: (C, kernel, windows * N)."""
    if builtins.any(2 * p > k for p, k in zip(padding, kernel_size, strict=True)):
        raise ValueError(f"padding {padding} is more than half of the window {kernel_size}: some would see nothing")
    windows = _windows(x, kernel_size, stride, padding, dilation, -np.inf)
    entries = [windows[:, i, j] for i, j in numpy.ndindex(*kernel_size)]
    largest = entries[0].copy()
    for entry in entries[1:]:
        np.maximum(largest, entry, out=largest)
    chosen = np.empty((len(windows), len(entries), *largest.shape[1:]), bool)
    free = np.ones(largest.shape, bool)
    for place, entry in enumerate(entries):
        np.logical_and(entry == largest, free, out=chosen[:, place])
        free ^= chosen[:, place]
    return _images_first(largest), chosen.reshape(*chosen.shape[:2], -1)


def zeros_beside(x: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Zeros where `x` lives."""
    return np.zeros(shape, dtype or x.dtype)


def ones_beside(x: Any, shape: tuple[int, ...]) -> Any:
    """Ones where `x` lives."""
    return np.ones(shape, x.dtype)


def eye_beside(x: Any, n: int) -> Any:
    """The identity matrix where `x` lives."""
    return np.eye(n, dtype=x.dtype)


def window_counts(x: Any, shape: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool) -> Any:
    """How many entries each window of an image of `shape` takes together."""
    if count_include_pad or not builtins.any(padding):
        return np.array(kernel_size[0] * kernel_size[1], np.int16)  # small integers leave float32 as it is
    ones = np.ones((1, 1, *shape[-2:]))
    counts = unfold(ones, kernel_size, stride, padding).sum(axis=1).astype(np.int16)
    return counts.reshape(windows_along(shape, kernel_size, stride, padding))


def split_columns(x: Any, kernel_size: Any) -> Any:
    """Columns of windows apart for each channel: (N, C, kernel, windows)."""
    return x.reshape(x.shape[0], -1, kernel_size[0] * kernel_size[1], x.shape[-1])


def window_sums(x: Any, x_shape: Any, kernel_size: Any, stride: Any, padding: Any) -> Any:
    """Columns of windows added up, as images."""
    total = split_columns(x, kernel_size).sum(axis=2)
    return total.reshape(*x_shape[:2], *windows_along(x_shape, kernel_size, stride, padding))


def window_columns(x: Any, kernel_size: Any) -> Any:
    """Each entry of an image repeated as a column for its whole window."""
    entries = kernel_size[0] * kernel_size[1]
    line = x.reshape(*x.shape[:2], 1, -1)
    return np.broadcast_to(line, (*line.shape[:2], entries, line.shape[-1])).reshape(x.shape[0], -1, line.shape[-1])
