"""Resampling of an axis, for arrays: every new entry is a weighted sum of a few old ones.

The weights are a table of pairs: `new[into[k]] += weights[k] * old[places[k]]`. Read in the other direction, the same
table is the transpose. Tables are made with NumPy on every device; `library` is NumPy or CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .placing import add_at
from .shapes import float_dtype

__all__ = ["resample", "unresample"]

Table = tuple[Any, Any, Any]


def table(length: int, new_length: int, mode: str, step: float | None) -> Table:
    """Return three rows: new index, old index, weight. `step` as in `mg.ops.resample`."""
    if new_length < 1 or length < 1:
        raise ValueError(f"an axis of length {length} cannot be resampled to length {new_length}: both are at least 1")
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, _MODES))}, got {mode!r}")
    return _MODES[mode](length, new_length, length / new_length if step is None else step)


def _nearest(length: int, new_length: int, step: float) -> Table:
    """Return the old entry in whose cell the new one begins, as PyTorch's "nearest"."""
    into = np.arange(new_length)
    places = np.minimum(np.floor(into * step).astype(int), length - 1)
    return into, places, np.ones(new_length, bool)


def _linear(length: int, new_length: int, step: float) -> Table:
    """Return the two old cells whose centres are next to that of a new cell; at the border, one of them."""
    return _between(length, np.maximum((np.arange(new_length) + 0.5) * step - 0.5, 0))


def _corners(length: int, new_length: int, step: float) -> Table:
    """Return the neighbours if the first and the last entry keep their positions."""
    return _between(length, np.arange(new_length) * ((length - 1) / max(new_length - 1, 1)))


def _between(length: int, middles: Any) -> Table:
    """Return both neighbours, weighted by their distance."""
    low = np.minimum(np.floor(middles).astype(int), length - 1)
    share, into = middles - low, np.arange(len(middles))
    high = np.minimum(low + 1, length - 1)
    return np.concatenate([into, into]), np.concatenate([low, high]), np.concatenate([1 - share, share])


def _average(length: int, new_length: int, step: float) -> Table:
    """Return all old entries that a new one covers, at least in part, with equal weights."""
    every = np.arange(new_length)
    first, end = every * length // new_length, -(-(every + 1) * length // new_length)
    into = np.repeat(every, end - first)
    places = np.concatenate([np.arange(a, b) for a, b in zip(first, end, strict=True)])
    return into, places, 1 / (end - first)[into]


_MODES = {"nearest": _nearest, "linear": _linear, "corners": _corners, "average": _average}


def resample(
    library: Any, x: Any, length: int, axis: int = -1, mode: str = "nearest", step: float | None = None
) -> Any:
    """Return `x` with another length along an axis."""
    into, places, weights = table(x.shape[axis], length, mode, step)
    return _add_weighted_entries(library, x, places, into, weights, length, axis)


def unresample(
    library: Any, x: Any, shape: tuple[int, ...], axis: int = -1, mode: str = "nearest", step: float | None = None
) -> Any:
    """Return the transpose of `resample` for an array of `shape`."""
    into, places, weights = table(shape[axis], x.shape[axis], mode, step)
    return _add_weighted_entries(library, x, into, places, weights, shape[axis], axis)


def _add_weighted_entries(library: Any, x: Any, source: Any, target: Any, weights: Any, length: int, axis: int) -> Any:
    """Add up entries along an axis, each times its weight, at its new index."""
    first = library.moveaxis(x, axis, 0)
    dtype = float_dtype(x) if weights.dtype.kind == "f" else x.dtype
    column = library.asarray(weights).astype(dtype).reshape(-1, *(1,) * (x.ndim - 1))
    out = library.zeros((length, *first.shape[1:]), dtype)
    add_at(library, out, library.asarray(target), first[library.asarray(source)] * column)
    return library.moveaxis(out, 0, axis)
