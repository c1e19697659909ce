"""Words for arrays: NumPy's own, and those that need a loop, a stride or a write in place.

Words of one subject stand in rooms beside this one: matrices, scans, windows and more.
The file is read once for each array library: with NumPy here, and with CuPy in its place by `vocabulary.words_of`.
Whatever is not defined below is the library's own function of that name.
"""

from __future__ import annotations

import builtins
import math
import sys
from functools import lru_cache, partial
from typing import Any

import numpy  # noqa: ICN001 - np is the library that this file is read with, which may be another

from . import matrices, placing, resampling, scans, sequences, special, waves, windows
from .shapes import *  # noqa: F403 - words about shapes are words of this reading too
from .shapes import axes_of, count_along, floating, inverse_order, is_sequence, reduced, whole

np: Any = globals().get("library", numpy)

_add_up = np.add.reduce

for _room in (matrices, placing, resampling, scans, sequences, waves, windows):
    globals().update({word: partial(getattr(_room, word), np) for word in _room.__all__})

composed: dict[str, Any] = {}
"""Operations that are made of others, in the words of this file: what a word falls back on that is quicker only for
some arrays."""

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


# Sums and products ----------------------------------------


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Entries added up along some axes, or along all. Of few numbers, and of short rows, a product with ones is the sum
    in a third of the time, and no less exact."""
    if axis is None and not keepdims and 0 < x.size <= 1024 and x.dtype.kind == "f" and np is numpy:
        return _ones(x.size, x.dtype).dot(x.ravel("K"))
    if axis is not None and _along_short_rows(x, axis):
        total = rows(x).dot(_ones(x.shape[-1], x.dtype))
        return total.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    return _add_up(x, axis=axis, keepdims=keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest entry along some axes, or along all."""
    if axis is None or not x.ndim or np is not numpy:
        return np.max(x, axis=axis, keepdims=keepdims)
    if _along_short_rows(x, axis) and x.size >= x.shape[-1] ** 2:
        largest = np.maximum.reduce(np.ascontiguousarray(rows(x).T))
        return largest.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims)


def top(x: Any, axis: Any = -1) -> Any:
    """The largest entry, its axes kept with length 1; of no entries, and in the place of infinity, 0."""
    if not x.size:
        return np.zeros(reduced(x.shape, axis, length_one=True), x.dtype)
    largest = max(x, axis, keepdims=True)
    return np.where(np.isfinite(largest), largest, 0)


def _along_short_rows(x: Any, axis: Any) -> bool:
    """True where a reduction goes along many rows of few numbers. NumPy starts a loop for each row, which takes longer
    than the row; a product with ones, or a loop over columns, is up to ten times as fast. Up to 128 numbers NumPy adds
    without pairing too, so nothing is lost."""
    return (
        axis in (-1, (-1,), x.ndim - 1)
        and x.ndim > 1
        and np is numpy
        and 0 < x.shape[-1] <= 96
        and x.size > 64
        and x.dtype.kind == "f"
        and x.flags.c_contiguous
    )


@lru_cache(64)
def _few_ones(count: int, dtype: Any) -> Any:
    return np.ones(count, dtype)


def _ones(count: int, dtype: Any) -> Any:
    """A row of ones to be read. Few of them are kept: to make them would take as long as to add with them."""
    return _few_ones(count, dtype) if count <= 4096 and np is numpy else np.ones(count, dtype)


def einsum(subscripts: str, *parts: Any) -> Any:
    """Einstein's summation. With many numbers it is worth looking for the matrix products in it, which go to BLAS."""
    return np.einsum(subscripts, *parts, optimize=builtins.max(part.size for part in parts) > 10_000)


def mT(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.T if x.ndim == 2 else x.swapaxes(-1, -2)


def mH(x: Any) -> Any:
    """The last two axes exchanged, and all entries conjugated."""
    return mT(x).conj() if x.dtype.kind == "c" else mT(x)


def matmul(a: Any, b: Any) -> Any:
    """The matrix product; two plain matrices take the shorter way to BLAS, and many before one go as one."""
    if a.ndim == 2 == b.ndim:
        return a.dot(b)
    if b.ndim != 2 or a.ndim < 2:
        return np.matmul(a, b)
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


def product_of_others(x: Any, axis: Any = None) -> Any:
    """For each entry, the product of all the others. Where no product is so small or so large that dividing would lose
    anything, it is the whole product over the entry."""
    if np is numpy and x.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            whole = np.prod(x, axis=axis, keepdims=True)
        if (abs(whole) > np.finfo(x.dtype).tiny).all() and (abs(whole) < np.inf).all():
            return whole / x
    return composed["product_of_others"](x, axis=axis)


def spread(x: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """The results of a reduction repeated along the axes it took away."""
    return broadcast_to(x if keepdims or axis is None else x.reshape(reduced(shape, axis, length_one=True)), shape)


def expand_dims(x: Any, axis: Any) -> Any:
    """New axes of length 1; for the first and the last one an index is the shorter way."""
    if type(axis) is not int or axis not in (0, -1):
        return np.expand_dims(x, axis)
    return x[None] if axis == 0 else x[..., None]


def stop_gradient(x: Any) -> Any:
    """The array itself; only a walk sees a difference."""
    return x


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Repeated along new axes and axes of length 1; of few numbers a new array is made more quickly than a view."""
    if type(shape) is not tuple or x.ndim > len(shape) or math.prod(shape) > 4096:
        return np.broadcast_to(x, shape)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


def quantile(x: Any, **params: Any) -> Any:
    """The entry below which a share of all lies. NumPy's own makes nan of an entry that has infinity beside it."""
    return composed["quantile"](x, **params)


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


# Undoing broadcasting -------------------------------------


def summed_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `shape` along which broadcasting repeated a variable of shape `target`."""
    extra = len(shape) - len(target)
    return (*range(extra), *(extra + i for i, n in enumerate(target) if n == 1 and shape[extra + i] != 1))


def unbroadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """The sum of `x` over everything that broadcasting had repeated, in the shape it had before."""
    if len(shape) == 1 and x.shape[-1:] == shape and x.dtype.kind == "f":
        each = rows(x)
        return _ones(len(each), x.dtype).dot(each)  # three to six times as fast as adding the rows
    extra = x.ndim - len(shape)
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
    """`x` in memory that nobody else reads: a copy where it is `upstream` itself, or looks into what others hold. A
    scalar of NumPy's cannot be written into."""
    if isinstance(x, _scalar) or (x is not upstream and (x.base is None or _alone(x))):
        return x
    return x.copy("C" if 0 in x.strides else "K")  # repeated entries stand in no order of their own


def writeable(x: Any) -> bool:
    """True where each entry has a place of its own that may be written into. CuPy knows no array that is read-only."""
    return 0 not in x.strides and getattr(x.flags, "writeable", True)


def _alone(x: Any) -> bool:
    """True for a view of memory that nothing else holds: a fresh array that was turned, cut or reshaped."""
    return writeable(x) and sys.getrefcount(x.base) == _ALONE


_scalar: Any = numpy.generic
_fresh = np.zeros(2)[:1]
_ALONE = sys.getrefcount(_fresh.base)


# Axes -----------------------------------------------------


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
    return tuple(x if axis == 0 else np.moveaxis(x, axis, 0))


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


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The slices of the given numbers along an axis."""
    return np.take(x, whole(indices) if type(indices) is float else indices, axis)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> Any:
    """A border round an array."""
    return np.pad(x, pad_width, mode, **({"constant_values": constant_values} if mode == "constant" else {}))


# Arrays beside others -------------------------------------


def zeros_beside(x: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Zeros where `x` lives."""
    return np.zeros(shape, dtype or x.dtype)


def ones_beside(x: Any, shape: tuple[int, ...]) -> Any:
    """Ones where `x` lives."""
    return np.ones(shape, x.dtype)


def numbers_beside(x: Any, numbers: Any) -> Any:
    """Plain numbers as an array where `x` lives."""
    return np.asarray(numbers, floating(x))


def eye_beside(x: Any, n: int) -> Any:
    """The identity matrix where `x` lives."""
    return np.eye(n, dtype=x.dtype)
