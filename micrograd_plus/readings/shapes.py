"""Words on shapes alone: plain integers and tuples, the same in every reading."""

from __future__ import annotations

from math import floor, prod, sqrt
from typing import Any

__all__ = [
    "attention_scale",
    "count_along",
    "cuts",
    "image_size",
    "inverse_order",
    "joined_last",
    "last_axes",
    "ndim",
    "opposite",
    "quantile_places",
    "shape",
    "size",
    "windows_along",
]  # fmt: skip

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None


def shape(x: Any) -> Shape:
    """The length of each axis."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """The number of axes; of nested lists, how deep they are nested."""
    axes = getattr(x, "ndim", None)
    if axes is not None:
        return axes
    return 1 + (ndim(x[0]) if x else 0) if isinstance(x, (list, tuple)) else 0


def size(x: Any) -> int:
    """The number of entries."""
    return prod(x.shape)


def axes_of(shape: Shape, axis: Axis) -> tuple[int, ...]:
    """The axes named, counted from the front and in order: all of them for None."""
    if axis is None:
        return tuple(range(len(shape)))
    named = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(i % len(shape) for i in named))


def count_along(shape: Shape, axis: Axis) -> int:
    """How many entries a reduction takes together."""
    return prod(shape[i] for i in axes_of(shape, axis))


def reduced(shape: Shape, axis: Axis, length_one: bool) -> Shape:
    """The shape of a reduction, its axes kept with length 1 or left out."""
    gone = axes_of(shape, axis)
    if length_one:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def inverse_order(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The order of axes that undoes another; reversing undoes itself."""
    if axes is None:
        return None
    positive = [i % len(axes) for i in axes]
    return tuple(positive.index(i) for i in range(len(axes)))


def opposite(shift: Any) -> Any:
    """The shift that takes back a shift."""
    return tuple(-each for each in shift) if isinstance(shift, (tuple, list)) else -shift


def cuts(shapes: list[Shape], axis: int) -> tuple[int, ...]:
    """Where to cut so that the parts have the lengths of `shapes` along `axis`."""
    places, total = [], 0
    for each in shapes[:-1]:
        total += each[axis]
        places.append(total)
    return tuple(places)


def last_axes(count: int) -> tuple[int, ...]:
    """The last `count` axes, counted from the end."""
    return tuple(range(-count, 0))


def attention_scale(query: Any, scale: float | None) -> float:
    """The scale that was asked for, or one over the root of the length of a query."""
    return 1 / sqrt(query.shape[-1]) if scale is None else scale


def quantile_places(length: int, q: float) -> tuple[int, int, float]:
    """The two neighbours in order between which a quantile lies, and how far it is towards the second."""
    if not 0 <= q <= 1:
        raise ValueError(f"q is a share between 0 and 1, got {q}")
    place = q * (length - 1)
    low = min(max(floor(place), 0), length - 1)
    return low, min(low + 1, length - 1), place - low


def image_size(shape: Shape) -> Shape:
    """The last two lengths: height and width."""
    return tuple(shape[-2:])


def joined_last(shape: Shape) -> Shape:
    """The last two axes as one."""
    return (*shape[:-2], shape[-2] * shape[-1])


def windows_along(shape: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape = (1, 1)) -> Shape:
    """How many windows fit along the height and the width."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(shape[-2:], kernel[-2:], stride, padding, dilation, strict=True)
    )
