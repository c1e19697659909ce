"""Checks of shapes and settings, and constants beside a tensor."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ... import ops
from ...backends import devices
from ...backends.shapes import float_dtype
from ...core.messages import expected_tensor_error
from ...core.variable import shape_of
from ...tensor import Tensor

PLACES = {1: "length", 2: "height, width", 3: "depth, height, width"}
EXAMPLES = {1: "lines", 2: "images", 3: "volumes"}
"""Names of the axes after the channels, and of their contents, by their number."""


def each_axis(value: Any, axes: int, name: str, least: int | None = None) -> tuple[Any, ...]:
    """Return a setting as one number for each axis; raise ValueError for one below `least`."""
    numbers = tuple(value) if hasattr(value, "__len__") else (value,) * axes
    if len(numbers) != axes:
        raise ValueError(f"{name} must be one number, or {axes} (along {PLACES[axes]}), got {value!r}")
    if least is not None and min(numbers) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return numbers


def refuse_places(name: str, axes: int, input: Any) -> None:
    """Raise ValueError unless the input is a batch of lines, images or volumes."""
    shape = getattr(input, "shape", None)
    if shape is None:
        raise expected_tensor_error(name, input)
    if len(shape) != axes + 2:
        wanted = f"({EXAMPLES[axes]}, channels, {PLACES[axes]})"
        raise ValueError(f"{name}: input has shape {tuple(shape)}, expected {wanted}")


def windows(
    name: str, input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any = 1
) -> dict[str, tuple[int, ...]]:
    """Return the settings of windows for each axis; raise ValueError if the windows do not fit."""
    lengths = input.shape[2:]
    steps = each_axis(stride, len(lengths), "stride", 1)
    borders = each_axis(padding, len(lengths), "padding", 0)
    apart = each_axis(dilation, len(lengths), "dilation", 1)
    for length, size, border, between in zip(lengths, kernel, borders, apart, strict=True):
        if between * (size - 1) >= length + 2 * border:
            raise ValueError(
                f"{name}: a window of {tuple(kernel)} (dilation {dilation}) is larger than the input {lengths} with "
                f"padding {padding}"
            )
    return {"stride": steps, "padding": borders, "dilation": apart}


def on_a_line(settings: dict[str, tuple[int, ...]]) -> dict[str, int]:
    """Return settings for one axis as plain numbers."""
    return {name: value for name, (value,) in settings.items()}


def last_lengths(name: str, input: Any, normalized_shape: Any, weight: Any, bias: Any = None) -> tuple[int, ...]:
    """Return the lengths of the last axes as a tuple; raise unless the input ends in them, and weight and bias have
    that shape."""
    lengths = each_length(normalized_shape)
    if not lengths or input.shape[-len(lengths) :] != lengths:
        raise ValueError(f"{name}: input has shape {input.shape}, which does not end in {lengths}")
    for each in (weight, bias):
        if getattr(each, "shape", lengths) != lengths:
            raise ValueError(f"{name}: weight and bias must have the shape {lengths}, got {each.shape}")
    return lengths


def each_length(normalized_shape: Any) -> tuple[int, ...]:
    """Return the lengths of the last axes as a tuple."""
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


def check_probability(name: str, p: float) -> None:
    """Raise ValueError unless a number is a probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {p}")


def same_shape(name: str, input: Any, target: Any) -> None:
    """Raise ValueError for shapes that would silently broadcast: (n, 1) with (n,) compares every pair."""
    if type(input) is Tensor is type(target) and input._data.shape == target._data.shape:
        return
    if shape_of(input) != shape_of(target):
        raise ValueError(
            f"{name}: input has shape {shape_of(input)} and target {shape_of(target)}; they must be equal, because "
            f"broadcasting would compare entries that do not belong together: reshape one of them"
        )


def both(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Return prediction and target as tensors; raise ValueError for shapes that would silently broadcast."""
    input, target = (Tensor.constant(x, name) if isinstance(x, (list, tuple)) else x for x in (input, target))
    same_shape(name, input, target)
    return input, target


def refuse_complex(name: str, *given: Any) -> None:
    """Raise TypeError for complex numbers, which have no order."""
    if any(getattr(getattr(x, "dtype", None), "kind", "") == "c" or type(x) is complex for x in given):
        raise TypeError(f"{name}: it compares real numbers; of complex ones take mg.abs, or x.real and x.imag")


def one_or_many(axes: int) -> Callable[[Any], Any]:
    """Decorator for a function of batches: a single line, image or volume is passed as a batch of one."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def call(input: Any, *args: Any, **options: Any) -> Tensor:
            if getattr(input, "ndim", 0) != axes + 1 or not hasattr(input, "shape"):
                return function(input, *args, **options)
            return ops.squeeze(function(ops.expand_dims(input, 0), *args, **options), axis=0)

        return call

    return decorate


def constant_like(values: Any, x: Any) -> Tensor:
    """Return an array as a tensor without a graph, on the device of `x` and in its floating dtype."""
    library = devices.device_of(getattr(x, "_data", x)).library
    return Tensor.of(library.asarray(values).astype(float_dtype(x), copy=False))


def plain(x: Any) -> Any:
    """Return the array of a tensor; return an array unchanged."""
    return x._data if isinstance(x, Tensor) else x
