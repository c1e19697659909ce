"""Functions on arrays whose results depend on all earlier entries along an axis: sums, recurrences, sorting.

`np` is NumPy or CuPy.
"""

from __future__ import annotations

from typing import Any

from .shapes import one_axis

__all__ = ["argsort", "cummax_with_indices", "cumprod", "cumsum", "logcumsumexp", "recurrence", "shift_by_one", "topk"]


def _run_accumulation(
    np: Any, accumulate: Any, x: Any, first: Any, axis: int | None, exclusive: bool, reverse: bool
) -> Any:
    """Return a running sum or product from either end; `first` starts an exclusive one."""
    axis = one_axis(axis)
    line = x.reshape(-1) if axis is None else np.moveaxis(x, axis, -1)
    line = line[..., ::-1] if reverse else line
    out = accumulate(line, axis=-1)
    if exclusive:
        start = np.full_like(out[..., :1], first)
        out = np.concatenate([start, out[..., :-1]], axis=-1)
    out = out[..., ::-1] if reverse else out
    return out if axis is None else np.moveaxis(out, -1, axis)


def cumsum(np: Any, x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
    """Return running sums."""
    return _run_accumulation(np, np.cumsum, x, 0, axis, exclusive, reverse)


def cumprod(np: Any, x: Any, axis: Any = None, exclusive: bool = False, reverse: bool = False) -> Any:
    """Return running products."""
    return _run_accumulation(np, np.cumprod, x, 1, axis, exclusive, reverse)


def recurrence(np: Any, decay: Any, drive: Any, axis: int = -1, reverse: bool = False) -> Any:
    """Return the states `decay * previous + drive`, starting from 0."""
    decay, drive = np.broadcast_arrays(decay, drive)
    decay, drive = np.moveaxis(decay, axis, 0), np.moveaxis(drive, axis, 0)
    out = np.empty(drive.shape, np.result_type(decay, drive))
    steps = range(len(drive))
    state: Any = 0.0
    for i in reversed(steps) if reverse else steps:
        state = out[i] = decay[i] * state + drive[i]
    return np.moveaxis(out, 0, axis)


def shift_by_one(np: Any, x: Any, axis: int = -1, reverse: bool = False) -> Any:
    """Shift entries by one along an axis, and insert a 0."""
    out = np.zeros_like(x)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    if reverse:
        target[:-1] = source[1:]
    else:
        target[1:] = source[:-1]
    return out


def cummax_with_indices(np: Any, x: Any, axis: int = -1) -> tuple[Any, Any]:
    """Return the largest entry so far, and its latest index."""
    line = np.moveaxis(x, axis, -1)
    values = _running_maximum(np, line)
    reached = (line == values) | np.isnan(line)  # what is no number equals nothing, and is the largest from there on
    places = _running_maximum(np, np.where(reached, np.arange(line.shape[-1]), 0))
    return np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis)


def _running_maximum(np: Any, line: Any) -> Any:
    """Return the largest entry so far along the last axis, by comparing with 1, 2, 4, 8 ... entries back.

    CuPy accumulates only sums and products.
    """
    out, back = line.copy(), 1
    while back < line.shape[-1]:
        out[..., back:] = np.maximum(out[..., back:], out[..., :-back])
        back *= 2
    return out


def logcumsumexp(np: Any, x: Any, axis: int = -1) -> Any:
    """Return the logarithm of the running sum of exponentials, by looking 1, 2, 4, 8 ... entries back."""
    line, back = np.moveaxis(x, one_axis(axis), -1), 1
    out = line.astype(np.result_type(x.dtype, np.float16)) if x.dtype.kind == "f" else line.astype(np.float64)
    while back < out.shape[-1]:
        out[..., back:] = np.logaddexp(out[..., back:], out[..., :-back])
        back *= 2
    return np.moveaxis(out, -1, axis)


def argsort(np: Any, x: Any, axis: int | None = -1, descending: bool = False) -> Any:
    """Return the indices that sort the entries; equal entries keep their order."""
    axis = one_axis(axis)
    if axis is None:
        return argsort(np, x.reshape(-1), -1, descending)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis=axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis=axis)


def topk(np: Any, x: Any, k: int, axis: int = -1) -> tuple[Any, Any]:
    """Return the `k` largest entries in descending order, and their indices."""
    axis = one_axis(axis)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"k={k} entries of an axis of length {x.shape[axis]}")
    order = argsort(np, x, axis=axis, descending=True)
    places = order[(slice(None),) * (axis % x.ndim) + (slice(k),)]
    return np.take_along_axis(x, places, axis), places
