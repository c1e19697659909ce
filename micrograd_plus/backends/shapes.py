"""Functions of shapes alone: integers and tuples, the same in every namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, prod, sqrt
from operator import index
from typing import Any, TypeGuard

__all__ = [
    "all_but_channels", "as_table", "attention_scale", "border_at_end", "by_channel", "channel_shape", "corner",
    "count_along", "cuts", "diagonal_shape", "fitting_bias", "group_shape", "heads_sharing", "image_size",
    "inverse_order", "join_last_axes", "kernel_shape", "last_axes", "ndim", "opposite", "other_norm", "quantile_places",
    "reduced_shape", "shape", "shaped_like", "size", "size_before_windows", "transpose_weight", "windows_along",
]  # fmt: skip

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None


def is_sequence(x: Any) -> TypeGuard[Sequence[Any]]:
    """Return True for lists and tuples."""
    return isinstance(x, (list, tuple))


def shape(x: Any) -> Shape:
    """Return the length of each axis; for nested lists, the length at each depth."""
    lengths = getattr(x, "shape", None)
    if lengths is not None:
        return tuple(lengths)
    return (len(x), *(shape(x[0]) if x else ())) if is_sequence(x) else ()


def ndim(x: Any) -> int:
    """Return the number of axes; for nested lists, their depth."""
    axes = getattr(x, "ndim", None)
    if axes is not None:
        return axes
    return 1 + (ndim(x[0]) if x else 0) if is_sequence(x) else 0


def size(x: Any) -> int:
    """Return the number of entries."""
    return int(x.size)


def axes_of(shape: Shape, axis: Axis) -> tuple[int, ...]:
    """Return the named axes, counted from the front and sorted; all of them for None.

    A single number counts as one entry along axis 0, as in reductions of NumPy and PyTorch.
    """
    every = range(len(shape))
    if axis is None:
        return tuple(every)
    named = axis if isinstance(axis, tuple) else (axis,)
    return () if not shape and named in ((0,), (-1,)) else tuple(sorted(every[i] for i in named))


def count_along(shape: Shape, axis: Axis) -> int:
    """Return the number of entries that a reduction combines."""
    return prod(shape[i] for i in axes_of(shape, axis))


def reduced_shape(shape: Shape, axis: Axis, length_one: bool) -> Shape:
    """Return the shape of a reduction, its axes kept with length 1 or removed."""
    gone = axes_of(shape, axis)
    if length_one:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def inverse_order(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the inverse of an order of axes; reversing is its own inverse."""
    if axes is None:
        return None
    positive = [i % len(axes) for i in axes]
    return tuple(positive.index(i) for i in range(len(axes)))


def as_integers(value: Any) -> Any:
    """Return one or several whole numbers. Raise an error for a fraction, which NumPy would truncate."""
    return tuple(index(part) for part in value) if hasattr(value, "__iter__") else index(value)


def one_axis(axis: Any) -> Any:
    """Return one axis, or None for the flat array. Raise TypeError for several."""
    if axis is None:
        return None
    if not hasattr(axis, "__index__"):
        raise TypeError(f"axis must be one whole number, or None for all entries; got {axis!r}")
    return index(axis)


BORDERS = ("constant", "edge", "reflect", "symmetric", "wrap")


def border_mode(mode: str) -> str:
    """Check the mode of a border: NumPy has more modes, which have no gradient here."""
    if mode not in BORDERS:
        raise ValueError(f"mode must be one of {', '.join(map(repr, BORDERS))}, got {mode!r}")
    return mode


def whole_constant(value: Any) -> None:
    """Raise an error for a fractional border of whole numbers, which would be truncated silently."""
    if value != value // 1:
        raise ValueError(f"a border of {value} round whole numbers would be cut to one: x.astype(float) first")


def as_table(weight: Any) -> Any:
    """Return a table of rows. Raise ValueError for a vector, which has no width."""
    if weight.ndim != 2:
        raise ValueError(f"weight has shape {weight.shape}; it is a table of rows, (words, width)")
    return weight


def opposite(shift: int | tuple[int, ...] | list[int]) -> int | tuple[int, ...]:
    """Return the shift that reverses a shift."""
    return tuple(-each for each in shift) if isinstance(shift, (tuple, list)) else -shift


def other_norm(norm: str) -> str:
    """Return the norm with which a Fourier transform undoes the division of its inverse."""
    return {"backward": "forward", "forward": "backward"}.get(norm, norm)


def border_at_end(ndim: int, width: int) -> tuple[tuple[int, int], ...]:
    """Return a `pad_width` for the last of `ndim` axes alone, equal on both sides."""
    return ((0, 0),) * (ndim - 1) + ((width, width),)


def cuts(shapes: list[Shape], axis: int) -> tuple[int, ...]:
    """Return the indices that split an axis into parts with the lengths of `shapes` along `axis`."""
    places: list[int] = []
    total = 0
    for each in shapes[:-1]:
        total += each[axis]
        places.append(total)
    return tuple(places)


def diagonal_shape(shape: Shape, offset: int) -> Shape:
    """Return the shape of a diagonal of matrices of `shape`; its length comes last."""
    rows, columns = shape[-2:]
    return (*shape[:-2], max(0, min(rows + min(offset, 0), columns - max(offset, 0))))


def corner(shape: Shape, axis: int) -> tuple[slice, ...]:
    """Return an index of the first entries along all axes of `shape` except one, and of all entries along that one."""
    return tuple(slice(None) if i == axis % len(shape) else slice(n) for i, n in enumerate(shape))


def last_axes(count: int) -> tuple[int, ...]:
    """Return the last `count` axes, counted from the end."""
    if count < 1:
        raise ValueError(f"axes must be the number of last axes, at least 1; got {count}")
    return tuple(range(-count, 0))


def shaped_like(x: Any, other: Any) -> Any:
    """Return a value that has the shape of another array. Raise ValueError if it would broadcast instead."""
    if x.shape != other.shape:
        raise ValueError(f"the shapes {x.shape} and {other.shape} must be equal")
    return x


def transpose_weight(weight: Any) -> Any:
    """Return the transpose of a matrix. Raise ValueError for more axes, which would broadcast."""
    if weight.ndim != 2:
        raise ValueError(f"weight has shape {weight.shape} and is no matrix")
    return weight.T


def float_dtype(x: Any) -> Any:
    """Return the floating dtype that fits an array: its own, or float64 for whole numbers."""
    return x.dtype if x.dtype.kind in "fc" else "float64"


def attention_scale(query: Any, scale: float | None) -> float:
    """Return the given scale, or 1 over the square root of the length of a query."""
    return 1 / sqrt(max(query.shape[-1], 1)) if scale is None else scale


def fitting_bias(bias: Any, query: Any, key: Any) -> Any:
    """Return the bias of attention scores.

    Raise TypeError for booleans, which would count as 1 and 0, and ValueError for more queries or keys than there are,
    which would repeat them.
    """
    if bias.dtype.kind == "b":
        raise TypeError(
            "bias is numbers, which are added to the scores; where a query may look, as True and False, is allowed= of "
            "mg.attention"
        )
    scores = (query.shape[-2], key.shape[-2])
    if any(n not in (1, m) for n, m in zip(bias.shape[::-1], scores[::-1], strict=False)):
        raise ValueError(f"a bias of shape {bias.shape} does not fit the scores of queries and keys, {scores}")
    return bias


QUANTILES: dict[str, Callable[[int, float], float]] = {
    "linear": lambda n, q: q * (n - 1),
    "lower": lambda n, q: floor(q * (n - 1)),
    "higher": lambda n, q: ceil(q * (n - 1)),
    "midpoint": lambda n, q: (floor(q * (n - 1)) + ceil(q * (n - 1))) / 2,
    "nearest": lambda n, q: round(q * (n - 1)),
    "hazen": lambda n, q: q * n - 1 / 2,
    "weibull": lambda n, q: q * (n + 1) - 1,
    "median_unbiased": lambda n, q: q * (n + 1 / 3) - 2 / 3,
    "normal_unbiased": lambda n, q: q * (n + 1 / 4) - 5 / 8,
    "interpolated_inverted_cdf": lambda n, q: q * n - 1,
    "inverted_cdf": lambda n, q: ceil(q * n - 1),
    "averaged_inverted_cdf": lambda n, q: (floor(q * n - 1) + ceil(q * n - 1) + 1) / 2,
    "closest_observation": lambda n, q: round(q * n) - 1,
}
"""Where among `n` entries in order, counted from 0, a share `q` of them ends; under NumPy's names, of which most are of
R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996."""


def quantile_places(length: int, q: Any, method: str = "linear") -> tuple[Any, Any, Any]:
    """Return the sorted neighbours of a quantile, and its distance from the first; lists for several shares."""
    if method not in QUANTILES:
        raise ValueError(f"method must be one of {', '.join(map(repr, QUANTILES))}, got {method!r}")
    if is_sequence(q):
        found = [quantile_places(length, share, method) for share in q]
        return [low for low, _, _ in found], [high for _, high, _ in found], [weight for _, _, weight in found]
    if not 0 <= q <= 1:
        raise ValueError(f"q must be between 0 and 1, got {q}")
    if not length:
        raise ValueError("of no entries at all there is no quantile")
    place = min(max(QUANTILES[method](length, q), 0), length - 1)
    low = floor(place)
    return low, min(low + 1, length - 1), place - low


def image_size(shape: Shape) -> Shape:
    """Return height and width, the last two lengths."""
    return tuple(shape[-2:])


def kernel_shape(
    x_shape: Shape, out_shape: Shape, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape,
    groups: int = 1,
) -> Shape:  # fmt: skip
    """Return the shape (O, C / groups, kH, kW) of the weight of a convolution between two shapes of images."""
    size = windows_along(x_shape, kernel_size, stride, padding, dilation)
    if tuple(out_shape[2:]) != size:
        raise ValueError(f"a convolution of {tuple(x_shape)} has outputs of size {size}, got {tuple(out_shape)}")
    return (out_shape[1], x_shape[1] // groups, *kernel_size)


def join_last_axes(shape: Shape) -> Shape:
    """Return the shape with the last two axes joined."""
    return (*shape[:-2], shape[-2] * shape[-1])


def windows_along(shape: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape = (1, 1)) -> Shape:
    """Return how many windows fit along the height and the width.

    Sizes that are too small must be rejected here: a window with a dilation of -1 would read memory beside the image.
    """
    if min(*kernel[-2:], *stride, *dilation) < 1 or min(padding) < 0:
        raise ValueError(
            f"windows {kernel[-2:]}, their stride {stride} and their dilation {dilation} are at least 1, their padding "
            f"{padding} at least 0"
        )
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(shape[-2:], kernel[-2:], stride, padding, dilation, strict=True)
    )


def size_before_windows(
    shape: Shape, kernel: Shape, stride: Shape, padding: Shape, output_padding: Shape, dilation: Shape
) -> Shape:
    """Return the height and width of the smallest image with this many windows, plus `output_padding`."""
    size = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + more + 1
        for n, k, s, p, more, d in zip(shape[-2:], kernel[-2:], stride, padding, output_padding, dilation, strict=True)
    )
    if min(size) < 1:
        raise ValueError(f"padding {padding} leaves nothing of the image: its size would be {size}")
    return size


def channel_shape(shape: Shape) -> Shape:
    """Return the shape in which one number per channel (axis 1) broadcasts to an array of `shape`."""
    return (-1, *(1,) * (len(shape) - 2))


def by_channel(values: Any, shape: Shape) -> Any:
    """Return one number per channel (axis 1), shaped to broadcast to `shape`. Raise ValueError for other shapes."""
    if values.shape != shape[1:2]:
        raise ValueError(f"there must be one number for each of {shape[1]} channels, got shape {values.shape}")
    return values.reshape(channel_shape(shape))


def all_but_channels(shape: Shape) -> tuple[int, ...]:
    """Return every axis except the channels (axis 1)."""
    return (0, *range(2, len(shape)))


def group_shape(shape: Shape, num_groups: int) -> Shape:
    """Return the shape with each group of channels as one row: (N, groups, entries)."""
    if num_groups < 1 or shape[1] % num_groups:
        raise ValueError(f"{shape[1]} channels do not part into {num_groups} equal groups")
    return (shape[0], num_groups, prod(shape[1:]) // num_groups)


def heads_sharing(query: Shape, key: Shape) -> int:
    """Return how many query heads (third axis from the end) share one key head; one key head broadcasts."""
    heads, given = (shape[-3] if len(shape) > 2 else 1 for shape in (query, key))
    if 1 in (heads, given) or heads == given:
        return 1
    if heads % given:
        raise ValueError(f"{heads} heads of queries cannot share {given} of keys: no divisor")
    return heads // given
