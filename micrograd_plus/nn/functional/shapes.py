"""What the functions of this package ask of shapes, and the constants that they make."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ...application import shape_of
from ...readings import vocabulary
from ...tensor import Tensor

PLACES = {1: "length", 2: "height, width", 3: "depth, height, width"}
"""What the axes behind examples and channels are, by how many there are."""


def each_axis(value: Any, axes: int, name: str) -> tuple[Any, ...]:
    """One number for all axes, or one for each."""
    numbers = (value,) * axes if isinstance(value, Real) else tuple(value)
    if len(numbers) != axes:
        raise ValueError(f"{name} is one number, or {axes} (along {PLACES[axes]}), got {value!r}")
    return numbers


def counts(value: Any, axes: int, name: str, least: int = 1) -> tuple[int, ...]:
    """Whole numbers of at least 1, or what is the least: one for each axis."""
    numbers = each_axis(value, axes, name)
    if not all(isinstance(number, Integral) for number in numbers) or min(numbers) < least:
        raise ValueError(f"{name} is counted in entries, at least {least}, got {value!r}")
    return numbers


def along(axes: int, **settings: Any) -> dict[str, Any]:
    """Settings as an operation takes them: a number for each axis; for a line, which has one, the number itself."""
    each = {name: counts(value, axes, name, 0 if "padding" in name else 1) for name, value in settings.items()}
    return {name: value for name, (value,) in each.items()} if axes == 1 else each


def refuse_places(name: str, axes: int, input: Any) -> None:
    """Refuse what is not a batch of lines, images or volumes."""
    if len(shape_of(input)) != axes + 2:
        raise ValueError(f"{name}: input has shape {shape_of(input)}, expected (examples, channels, {PLACES[axes]})")


def refuse_larger(name: str, input: Any, kernel: Any, padding: Any, dilation: Any = 1) -> None:
    """Refuse windows that do not fit into the input and its border."""
    axes, lengths = input.ndim - 2, input.shape[2:]
    settings = zip(
        lengths, kernel, each_axis(padding, axes, "padding"), each_axis(dilation, axes, "dilation"), strict=True
    )
    if any(step * (length - 1) >= there + 2 * border for there, length, border, step in settings):
        raise ValueError(
            f"{name}: a kernel of {tuple(kernel)} (dilation {dilation}) is larger than the input {lengths} with "
            f"padding {padding}"
        )


def last_lengths(name: str, input: Any, normalized_shape: Any) -> tuple[int, ...]:
    """The lengths of the last axes as a tuple; refuses an input that does not end in them."""
    lengths = each_length(normalized_shape)
    if not lengths or input.shape[-len(lengths) :] != lengths:
        raise ValueError(f"{name}: input has shape {input.shape}, which does not end in {lengths}")
    return lengths


def each_length(normalized_shape: Any) -> tuple[int, ...]:
    """One length for the last axis, or one for each of the last axes, as a tuple."""
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


def same_shape(name: str, input: Any, target: Any) -> None:
    """Refuse shapes that would silently broadcast: (n, 1) against (n,) compares everything with everything."""
    if type(input) is Tensor is type(target) and input._data.shape == target._data.shape:
        return
    if shape_of(input) != shape_of(target):
        raise ValueError(
            f"{name}: input has shape {shape_of(input)} and target {shape_of(target)}; they must be equal, because "
            f"broadcasting would compare entries that do not belong together: reshape one of them"
        )


def constant_like(values: Any, x: Any) -> Tensor:
    """An array as a tensor without graph, with the dtype of `x` and on its device."""
    library = vocabulary.device_of(getattr(x, "_data", x)).library
    return Tensor.of(library.asarray(values).astype(x.dtype, copy=False))


def plain(x: Any) -> Any:
    """The array of a tensor; an array as it is."""
    return x._data if isinstance(x, Tensor) else x
