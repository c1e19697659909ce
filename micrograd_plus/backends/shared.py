"""Functions of the namespace of arrays that are the same for every array library: NumPy and CuPy.

A function that needs the library takes the namespace first, as the forward of an operation does: `xp.zeros` is the
library's own function. Other functions take only arrays. `bind_functions` binds all of them to a namespace.
"""

from __future__ import annotations

import builtins
import math
import sys
from functools import partial
from typing import Any

import numpy as np

from . import (
    error_function,
    matrices,
    placing,
    resampling,
    scans,
    sequences,
    shapes,
    waves,
    windows,
)
from .shapes import (
    as_integers,
    axes_of,
    border_mode,
    count_along,
    float_dtype,
    inverse_order,
    is_sequence,
    one_axis,
    reduced_shape,
    whole_constant,
)


def bind_functions(xp: Any, library: Any) -> dict[str, Any]:
    """Return the functions that a namespace shares with others, by name.

    Those of other modules take only the library.
    """
    functions = {name: getattr(shapes, name) for name in shapes.__all__}
    for module in (matrices, placing, resampling, scans, sequences, waves, windows):
        functions |= {name: partial(getattr(module, name), library) for name in module.__all__}
    functions |= {name: partial(getattr(error_function, name), library) for name in ("erf", "erfc")}
    functions |= {function.__name__: function for function in ASK_ARRAYS_ONLY}
    return functions | {function.__name__: partial(function, xp) for function in ASK_THE_LIBRARY}


# Sums and products ----------------------------------------


def sum(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Sum entries along some axes, or along all."""
    return xp.np.add.reduce(x, axis=axis, keepdims=keepdims)


def mean(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean along some axes, or along all; the mean of no entries is nan."""
    count = x.size if axis is None else count_along(x.shape, axis)
    total = xp.sum(x, axis, keepdims)
    return total / count if count else total * math.nan


def mean_square(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean of squares.

    The inner product of a few numbers is their sum of squares. Many numbers along long axes are squared and added in
    one pass (25,000 in each of 16 channels, float32: 0.10 ms instead of 0.16); all others are added in pairs.
    """
    if x.dtype.kind != "f" or not x.size:
        return xp.mean(x * x, axis, keepdims)
    if axis is None and not keepdims and x.size <= 4096:
        return xp.vdot(x, x) / x.size
    count = count_along(x.shape, axis)
    if axis is None or x.size <= 4096 or count < 256:
        return xp.mean(x * x, axis, keepdims)
    axes, all_axes = axes_of(x.shape, axis), range(x.ndim)
    total = xp.np.einsum(x, all_axes, x, all_axes, [i for i in all_axes if i not in axes]) / count
    return total.reshape(reduced_shape(x.shape, axis, length_one=True)) if keepdims else total


def finite_max(xp: Any, x: Any, axis: Any = -1) -> Any:
    """Return the largest entry, keeping the reduced axes with length 1; 0 if it is infinite or there are no entries."""
    if not x.size:
        return xp.zeros(reduced_shape(x.shape, axis, length_one=True), x.dtype)
    largest = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(largest), largest, 0)


def quantile(xp: Any, x: Any, **params: Any) -> Any:
    """Return a quantile. NumPy's own returns nan for an entry next to infinity."""
    return xp.composed["quantile"](x, **params)


def einsum(xp: Any, subscripts: str, *parts: Any) -> Any:
    """Return Einstein's summation. For large arrays, NumPy looks for matrix products in it, which go to BLAS."""
    return xp.np.einsum(subscripts, *parts, optimize=builtins.max(part.size for part in parts) > 10_000)


def mT(x: Any) -> Any:
    """Exchange the last two axes."""
    return x.T if x.ndim == 2 else x.swapaxes(-1, -2)


def mH(x: Any) -> Any:
    """Exchange the last two axes and conjugate all entries."""
    return mT(x).conj() if x.dtype.kind == "c" else mT(x)


def matmul(a: Any, b: Any) -> Any:
    """Return the matrix product. Two matrices go to BLAS directly; a stack before one matrix goes as one matrix.

    8 x 8: 0.7 µs, NumPy's matmul 1.0. 32 matrices of 8 x 256 before one of 256 x 256, float32: 0.27 ms and 0.57.
    """
    if a.ndim == 2 == b.ndim:
        return a.dot(b)
    if b.ndim != 2 or a.ndim < 2:
        return a @ b
    return rows(a).dot(b).reshape(*a.shape[:-1], b.shape[1])


def contract_rows(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """Return aᵀ @ b. If `shape` is that of a matrix, which all rows share, the rows are contracted in one product.

    32 x 8 rows of 256, float32: 0.27 ms; 32 products and their sum take 0.50.
    """
    if a.ndim == 2 == b.ndim:
        return a.T.dot(b)
    return sum_outer(a, b) if len(shape) == 2 and a.shape[:-1] == b.shape[:-1] else matmul(mT(a), b)


def sum_outer(a: Any, b: Any) -> Any:
    """Sum the outer products of the rows of `a` and `b`: aᵀ @ b for matrices of rows."""
    return a.T.dot(b) if a.ndim == 2 else rows(a).T.dot(rows(b))


# Entry by entry -------------------------------------------


def where(xp: Any, condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where the condition holds, otherwise `b`. A Python bool chooses one of them unchanged."""
    if a is None or b is None:
        raise TypeError("it needs a and b; for the places where a condition holds write mg.nonzero(condition)")
    return (a if condition else b) if type(condition) is bool else xp.np.where(condition, a, b)


def stop_gradient(x: Any) -> Any:
    """Return the array itself; only a walk sees a difference."""
    return x


def astype(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype."""
    return x.astype(dtype, copy=False)


# Broadcasting and its transpose ---------------------------


def unreduce(xp: Any, x: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Repeat the result of a reduction along the axes that it removed."""
    is_kept = keepdims or axis is None
    return xp.broadcast_to(x if is_kept else x.reshape(reduced_shape(shape, axis, length_one=True)), shape)


def summed_axes(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of `shape` along which broadcasting repeated an array of shape `target`."""
    extra = len(shape) - len(target)
    return (*range(extra), *(extra + i for i, n in enumerate(target) if n == 1 and shape[extra + i] != 1))


def sum_to_shape(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Sum `x` over everything that broadcasting from `shape` had repeated.

    Rows are summed by a row of ones times the matrix, which goes to BLAS: 32 rows of 16 take 0.8 µs instead of 1.2.
    """
    if len(shape) == 1 and x.shape[-1:] == shape and x.dtype.kind == "f":
        matrix = rows(x)
        return xp.row_of_ones(len(matrix), x.dtype).dot(matrix)
    extra = x.ndim - len(shape)
    if extra < 0 or builtins.any(n not in (m, 1) for n, m in zip(shape, x.shape[extra:], strict=True)):
        raise ValueError(f"broadcasting cannot make shape {x.shape} from {shape}")
    axes = summed_axes(x.shape, shape)
    return (xp.np.add.reduce(x, axis=axes) if axes else x).reshape(shape)


def row_of_ones(xp: Any, count: int, dtype: Any) -> Any:
    """Return ones to multiply with; they must not be written into."""
    return xp.ones(count, dtype)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def sum_product_to_shape(xp: Any, upstream: Any, local: Any, shape: tuple[int, ...]) -> Any:
    """Return `sum_to_shape(upstream * local, shape)`; the product of two arrays of one shape is never stored."""
    if getattr(local, "shape", ()) != upstream.shape or upstream.ndim > len(_LETTERS):
        product = upstream * local
        return product if product.shape == shape else xp.sum_to_shape(product, shape)
    extra = upstream.ndim - len(shape)
    letters = _LETTERS[: upstream.ndim]
    remaining = "".join(letter for letter, n in zip(letters[extra:], shape, strict=True) if n != 1)
    return xp.np.einsum(f"{letters},{letters}->{remaining}", upstream, local).reshape(shape)


# Dtypes and memory of gradients ---------------------------


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` in another dtype; a complex gradient of a real variable keeps its real part."""
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype, copy=False)


def multiply_as(upstream: Any, local: Any) -> Any:
    """Return upstream times a local derivative in upstream's dtype; `local` may be of a wider one."""
    x = upstream * local
    return x if x.dtype is upstream.dtype else x.astype(upstream.dtype)


SCALAR: Any = np.generic


def owned_copy(x: Any, upstream: Any = None) -> Any:
    """Return `x` in memory of its own: a copy if it is `upstream` itself or a view of shared memory.

    A NumPy scalar cannot be written into, so it is never copied.
    """
    if isinstance(x, SCALAR) or (x is not upstream and (x.base is None or has_one_owner(x))):
        return x
    return copy_array(x)


def copy_array(x: Any) -> Any:
    """Return a copy in the same memory order; repeated entries have none to keep."""
    return x.copy("C" if 0 in x.strides else "K")


def is_writeable(x: Any) -> bool:
    """Return True if entries do not share memory and may be written into. CuPy has no read-only arrays."""
    return 0 not in x.strides and getattr(x.flags, "writeable", True)


def has_one_owner(x: Any) -> bool:
    """Return True for a view of memory that nothing else holds: a fresh array that was transposed, cut or reshaped."""
    return is_writeable(x) and sys.getrefcount(x.base) == ONE_OWNER


class _Slot:
    __slots__ = ("value",)


def _references_of_a_slot() -> int:
    slot = _Slot()
    slot.value = bytearray(1)
    return sys.getrefcount(slot.value)


ONE_OWNER = _references_of_a_slot()
"""What `sys.getrefcount` reports for an object that is held by one attribute only."""


def scaled_channels(x: Any, weight: Any = None, bias: Any = None) -> Any:
    """Return each channel times its weight, plus its bias; the bias is added into the product's own memory."""
    out = +x if weight is None else x * shapes.by_channel(weight, x.shape)
    if bias is None:
        return out
    shift = shapes.by_channel(bias, x.shape)
    if shift.dtype != out.dtype:
        return out + shift
    out += shift
    return out


# Axes -----------------------------------------------------


def rows(x: Any) -> Any:
    """Join all leading axes into one."""
    return x if x.ndim == 2 else x.reshape(count_along(x.shape[:-1], None), x.shape[-1])


def reshape(x: Any, shape: Any) -> Any:
    """Return the entries in another shape. 8 x 8: 0.15 µs, NumPy's function 0.71."""
    return x.reshape(shape)


def transpose(x: Any, axes: Any = None) -> Any:
    """Permute the axes. 8 x 8: 0.11 µs, NumPy's function 0.35."""
    return x.transpose(axes)


def axes_to_last(x: Any, axis: Any = None) -> Any:
    """Join the named axes into one, at the end."""
    joined = axes_of(x.shape, axis)
    kept = tuple(i for i in range(x.ndim) if i not in joined)
    return x.transpose(kept + joined).reshape(*(x.shape[i] for i in kept), count_along(x.shape, joined))


def axes_from_last(x: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Split the last axis into the named axes of `shape`."""
    joined = axes_of(shape, axis)
    order = tuple(i for i in range(len(shape)) if i not in joined) + joined
    return x.reshape(tuple(shape[i] for i in order)).transpose(inverse_order(order))


def squeeze_axes(x: Any, axis: Any = None) -> Any:
    """Remove the axes that a reduction kept with length 1."""
    return x.reshape(reduced_shape(x.shape, axis, length_one=False))


def expand_axes(x: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Insert, with length 1, the axes that a reduction of an array of `shape` removed."""
    return x.reshape(reduced_shape(shape, axis, length_one=True))


def expand_dims(xp: Any, x: Any, axis: Any) -> Any:
    """Insert axes of length 1. For the first and the last axis an index is faster (0.15 µs, NumPy 2.0)."""
    if type(axis) is not int or axis not in (0, -1):
        return xp.np.expand_dims(x, axis)
    return x[None] if axis == 0 else x[..., None]


def unstack(xp: Any, x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices along an axis."""
    return tuple(x if axis == 0 else xp.moveaxis(x, axis, 0))


def split(xp: Any, x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Split an array along an axis."""
    places = as_integers(indices_or_sections)
    places = list(places) if is_sequence(places) else places
    return tuple(xp.np.split(x, places, axis=axis))


def tril(xp: Any, x: Any, k: int = 0) -> Any:
    """Return the lower triangle of each matrix. NumPy would round a fractional diagonal."""
    return xp.np.tril(x, as_integers(k))


def triu(xp: Any, x: Any, k: int = 0) -> Any:
    """Return the upper triangle of each matrix."""
    return xp.np.triu(x, as_integers(k))


def argmax(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the largest entry."""
    return xp.np.argmax(x, axis=one_axis(axis), keepdims=keepdims)


def argmin(xp: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest entry."""
    return xp.np.argmin(x, axis=one_axis(axis), keepdims=keepdims)


def repeat(xp: Any, x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each entry several times."""
    return xp.np.repeat(x, as_integers(repeats), axis)


def roll(xp: Any, x: Any, shift: Any, axis: Any = None) -> Any:
    """Shift entries cyclically along an axis."""
    return xp.np.roll(x, as_integers(shift), axis)


def take(xp: Any, x: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the slices with the given indices along an axis."""
    return xp.np.take(x, as_integers(indices) if type(indices) is float else indices, axis)


def pad(xp: Any, x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> Any:
    """Add a border to an array. A constant border must fit the dtype."""
    border_mode(mode)
    if mode == "constant" and x.dtype.kind in "iu":
        whole_constant(constant_values)
    return xp.np.pad(x, pad_width, mode, **({"constant_values": constant_values} if mode == "constant" else {}))


# Arrays beside others -------------------------------------


def new_zeros(xp: Any, x: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Return zeros on the device of `x`."""
    return xp.zeros(shape, dtype or x.dtype)


def new_ones(xp: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Return ones on the device of `x`."""
    return xp.ones(shape, x.dtype)


def new_array(xp: Any, x: Any, numbers: Any) -> Any:
    """Return Python numbers as an array on the device of `x`."""
    return xp.asarray(numbers, float_dtype(x))


def new_eye(xp: Any, x: Any, n: int) -> Any:
    """Return the identity matrix on the device of `x`."""
    return xp.eye(n, dtype=x.dtype)


ASK_THE_LIBRARY = (
    sum, mean, mean_square, finite_max, quantile, einsum, where, unreduce, sum_to_shape, row_of_ones,
    sum_product_to_shape, expand_dims, unstack, split, tril, triu, argmax, argmin, repeat, roll, take, pad,
    new_zeros, new_ones, new_array, new_eye,
)  # fmt: skip

ASK_ARRAYS_ONLY = (
    mT, mH, matmul, contract_rows, sum_outer, stop_gradient, astype, summed_axes, cast, multiply_as, owned_copy,
    is_writeable, rows, reshape, transpose, axes_to_last, axes_from_last,
    squeeze_axes, expand_axes, scaled_channels,
)  # fmt: skip
