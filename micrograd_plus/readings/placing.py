"""Words for arrays that write entries where they belong: into zeros, onto diagonals, back to where copies came from.

Most are the reverse of a word that picks entries, or repeats them. `np` is NumPy or CuPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from numpy import integer

from .shapes import axes_of, count_along, diagonal_shape

__all__ = [
    "one_hot", "put_add", "put_along_axis_add", "put_diagonal", "put_take", "scatter_add", "sum_repeats", "sum_tiles",
    "undiag", "unpad",
]  # fmt: skip


def put_add(np: Any, x: Any, shape: tuple[int, ...], index: Any) -> Any:
    """Zeros of `shape` with `x` added at `index`: places named twice receive both."""
    out = np.zeros(shape, x.dtype)
    if _names_no_place_twice(index):
        out[index] = x
    else:
        add_at(np, out, index, x)
    return out


def add_at(np: Any, out: Any, index: Any, x: Any) -> None:
    """`x` added into `out` at `index`, place by place. CuPy has that for real numbers; complex ones go part by part."""
    for half, part in [(out.real, x.real), (out.imag, x.imag)] if out.dtype.kind == "c" else [(out, x)]:
        np.add.at(half, index, part)


def _names_no_place_twice(index: Any) -> bool:
    """True for slices, single integers and boolean masks: no entry is met a second time."""
    parts = cast("tuple[Any, ...]", index) if type(index) is tuple else (index,)
    return all(
        part is None
        or part is Ellipsis
        or isinstance(part, (slice, int, integer))
        or getattr(part, "dtype", None) == "bool"
        for part in parts
    )


def put_take(np: Any, x: Any, indices: Any, shape: tuple[int, ...], axis: int | None = None) -> Any:
    """Zeros of `shape` with each slice of `x` added at its number along `axis`."""
    if axis is None:
        return put_add(np, x, _joined_shape(shape), (indices,)).reshape(shape)
    return put_add(np, x, shape, (slice(None),) * axes_of(shape, axis)[0] + (indices,))


def put_along_axis_add(np: Any, x: Any, indices: Any, shape: tuple[int, ...], axis: int | None = -1) -> Any:
    """Zeros of `shape` with each entry of `x` added at its number along `axis`; with None, of all entries in a row."""
    if axis is None:
        return put_add(np, x, _joined_shape(shape), (indices,)).reshape(shape)
    return put_add(np, x, shape, _along(np, indices, axis, shape))


def _along(np: Any, indices: Any, axis: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index that picks `indices` along `axis`, and every other axis of `shape` as it is."""
    grid, (along,) = np.ogrid[tuple(slice(n) for n in shape)], axes_of(shape, axis)
    return tuple(indices if i == along else places for i, places in enumerate(grid))


def scatter_add(np: Any, x: Any, index: Any, src: Any, axis: int) -> Any:
    """`x` with each entry of `src` added at its number along `axis`."""
    if index.ndim != x.ndim:
        raise ValueError(f"index has shape {index.shape}: it has as many axes as x")
    out = x.astype(np.result_type(x, src), copy=True)
    add_at(np, out, _along(np, index, axis, index.shape), src)
    return out


def one_hot(np: Any, indices: Any, num_classes: int) -> Any:
    """A row of zeros with a single 1, for each number; whole numbers so small that float32 beside them stays as it
    is."""
    out = np.zeros((indices.size, num_classes), np.int8)
    out[np.arange(indices.size), indices.reshape(-1)] = 1
    return out.reshape(*indices.shape, num_classes)


def sum_repeats(np: Any, x: Any, shape: tuple[int, ...], repeats: Any, axis: int | None) -> Any:
    """The copies that `repeat` made of each entry along `axis`, added up; with None, of all entries in a row."""
    if axis is None:
        return sum_repeats(np, x, _joined_shape(shape), repeats, 0).reshape(shape)
    before, after = x.shape[: axis % x.ndim], x.shape[axis % x.ndim + 1 :]
    origin = np.repeat(np.arange(shape[axis]), repeats)
    return put_add(np, x, (*before, shape[axis], *after), (slice(None),) * len(before) + (origin,))


def sum_tiles(np: Any, x: Any, shape: tuple[int, ...], reps: int | Sequence[int]) -> Any:
    """The tiles that `tile` made, added up."""
    reps = reps if isinstance(reps, Sequence) else (reps,)
    length = max(len(reps), len(shape))
    times = (1,) * (length - len(reps)) + tuple(reps)
    sides = (1,) * (length - len(shape)) + tuple(shape)
    pairs = [n for pair in zip(times, sides, strict=True) for n in pair]
    return np.add.reduce(x.reshape(pairs), axis=tuple(range(0, 2 * length, 2))).reshape(shape)


def unpad(np: Any, x: Any, shape: tuple[int, ...], pad_width: Any, mode: str = "constant") -> Any:
    """A border folded back onto the entries it was made of; a constant one is cut off."""
    places = np.arange(count_along(shape, None)).reshape(shape)
    origin = np.pad(places, pad_width, mode, **({"constant_values": -1} if mode == "constant" else {}))
    inside = origin >= 0
    return put_add(np, x[inside], _joined_shape(shape), (origin[inside],)).reshape(shape)


def put_diagonal(np: Any, x: Any, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> Any:
    """Zeros of `shape` with `x` on the diagonal of two axes."""
    out = np.zeros(shape, x.dtype)
    places = np.arange(x.shape[-1])
    matrices = np.moveaxis(out, (axis1, axis2), (-2, -1))
    if x.shape != diagonal_shape(matrices.shape, offset):
        raise ValueError(f"x must have the shape of that diagonal, {diagonal_shape(matrices.shape, offset)}")
    matrices[..., places - min(offset, 0), places + max(offset, 0)] = x
    return out


def undiag(np: Any, x: Any, shape: tuple[int, ...], k: int) -> Any:
    """The reverse of `diag` of an array of `shape`."""
    if len(shape) == 2:
        return put_diagonal(np, x, shape, k, 0, 1)
    side = shape[0] + abs(k)
    if x.shape != (side, side):
        raise ValueError(f"x must have the shape of what diag makes of {shape}, {(side, side)}")
    return np.diag(x, k)


def _joined_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """All axes as one."""
    return (count_along(shape, None),)
