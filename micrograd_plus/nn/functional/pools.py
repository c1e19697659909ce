"""Pooling: reduction of each window to one number.

A setting such as `stride` is one number, or one for each axis. Windows do not overlap unless `stride` says
otherwise. With `ceil_mode` a last window that hangs over the end is one more; nothing counts there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import ceil, inf, prod
from typing import Any

import numpy as np

from ... import ops
from ...tensor import Tensor
from .shapes import constant_like, each_axis, on_a_line, one_or_many, refuse_places, windows

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d",
    "max_pool2d", "max_pool3d",
]  # fmt: skip


@one_or_many(1)
def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """Compute 1-D max pooling: the largest entry of each window of lines.

    Among equal entries of a window, the first gets the gradient. A border of padding never wins. The size of the result
    is

        L' = floor((L + 2 · padding - dilation · (kernel_size - 1) - 1) / stride) + 1

    with ceil_mode rounded up, where the last window still begins inside the input or the padding before it.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        input: a tensor of real numbers, N lines of C channels; floats where ceil_mode adds a window.
        kernel_size: size of the windows, a number.
        stride: step from one window to the next, a number; kernel_size by default.
        padding: width of the border on each side, a number, at most half of kernel_size; 0 by default.
        dilation: step between the entries of a window, a number; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have 3 axes, a window is larger than the padded input, or a setting is not
        allowed; TypeError if input is complex or not a tensor, or a setting no integer.
    Example:
        >>> F.max_pool1d(mg.tensor([[[3.0, 1.0, 5.0]]]), 2).tolist()
        [[[3.0]]]
        >>> F.max_pool1d(mg.tensor([[[3.0, 1.0, 5.0]]]), 2, ceil_mode=True).tolist()
        [[[3.0, 5.0]]]

    See: torch.nn.functional.max_pool1d.
    """
    input, settings = _prepare_windows("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, -inf)
    return ops.max_pool1d(input, **on_a_line(settings))


@one_or_many(2)
def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """Compute 2-D max pooling: the largest entry of each window of images.

    Among equal entries of a window, the first gets the gradient. A border of padding never wins. The size of the result
    is

        H' = floor((H + 2 · padding - dilation · (kernel_size - 1) - 1) / stride) + 1,   and W' alike

    with ceil_mode rounded up, where the last window still begins inside the input or the padding before it.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        input: a tensor of real numbers, N images of C channels; floats where ceil_mode adds a window.
        kernel_size: size of the windows, a number or a pair.
        stride: step from one window to the next, a number or a pair; kernel_size by default.
        padding: width of the border on each side, a number or a pair, at most half of kernel_size; 0 by default.
        dilation: step between the entries of a window, a number or a pair; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have 4 axes, a window is larger than the padded input, or a setting is not
        allowed; TypeError if input is complex or not a tensor, or a setting no integer.
    Example:
        >>> F.max_pool2d(mg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).tolist()
        [[[[4.0]]]]

    See: torch.nn.functional.max_pool2d; CS231n notes, Convolutional networks.
    """
    input, settings = _prepare_windows("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, -inf)
    return ops.max_pool2d(input, **settings)


@one_or_many(1)
def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Compute 1-D average pooling: the mean of each window of lines.

    The size of the result is

        L' = floor((L + 2 · padding - kernel_size) / stride) + 1

    with ceil_mode rounded up, where the last window still begins inside the input or the padding before it; what hangs
    over the end is not counted.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        input: a tensor, N lines of C channels.
        kernel_size: size of the windows, a number.
        stride: step from one window to the next, a number; kernel_size by default.
        padding: zeros added on each side, a number, at most half of kernel_size; 0 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
        count_include_pad: whether the zeros of padding count as entries; True by default.
    Returns: a tensor of the dtype of input (float64 for integers).
    Raises: ValueError if input does not have 3 axes, a window is larger than the padded input, or a setting is not
        allowed; TypeError if input is not a tensor, or a setting no integer.
    Example:
        >>> F.avg_pool1d(mg.tensor([[[1.0, 3.0, 5.0]]]), 2, padding=1).tolist()
        [[[0.5, 4.0]]]
        >>> F.avg_pool1d(mg.tensor([[[1.0, 3.0, 5.0]]]), 2, padding=1, count_include_pad=False).tolist()
        [[[1.0, 4.0]]]

    See: torch.nn.functional.avg_pool1d.
    """
    return _average("avg_pool1d", 1, ops.avg_pool1d, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


@one_or_many(2)
def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Compute 2-D average pooling: the mean of each window of images.

    The size of the result is

        H' = floor((H + 2 · padding - kernel_size) / stride) + 1,   and W' alike

    with ceil_mode rounded up, where the last window still begins inside the input or the padding before it; what hangs
    over the end is not counted.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        input: a tensor, N images of C channels.
        kernel_size: size of the windows, a number or a pair.
        stride: step from one window to the next, a number or a pair; kernel_size by default.
        padding: zeros added on each side, a number or a pair, at most half of kernel_size; 0 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
        count_include_pad: whether the zeros of padding count as entries; True by default.
        divisor_override: divisor of the sums, instead of the number of entries; None by default.
    Returns: a tensor of the dtype of input (float64 for integers).
    Raises: ValueError if input does not have 4 axes, a window is larger than the padded input, or a setting is not
        allowed; TypeError if input is not a tensor, or a setting no integer.
    Example:
        >>> F.avg_pool2d(mg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).tolist()
        [[[[2.5]]]]

    See: torch.nn.functional.avg_pool2d.
    """
    if divisor_override is not None:
        return _divide_sums(
            "avg_pool2d", avg_pool2d, 2, input, kernel_size, stride, padding, ceil_mode, divisor_override
        )
    return _average("avg_pool2d", 2, ops.avg_pool2d, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


@one_or_many(3)
def max_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """Compute 3-D max pooling: the largest entry of each window of volumes.

    It goes over height and width first, and over depth then. Among equal entries of a window, the first gets the
    gradient. The result has the size of `max_pool2d`, along the depth as well.

    Shapes: (N, C, D, H, W) -> (N, C, D', H', W'); without N the same.
    Args:
        input: a tensor of real numbers, N volumes of C channels; floats where ceil_mode adds a window.
        kernel_size: size of the windows, a number or three.
        stride: step from one window to the next, a number or three; kernel_size by default.
        padding: width of the border on each side, a number or three, at most half of kernel_size; 0 by default.
        dilation: step between the entries of a window, a number or three; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have 5 axes (or 4), a window is larger than the padded input, or a setting is
        not allowed; TypeError if input is complex or not a tensor, or a setting no integer.
    Example:
        >>> F.max_pool3d(mg.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2)), 2).tolist()
        [[[[[7.0]]]]]

    See: torch.nn.functional.max_pool3d.
    """
    refuse_places("max_pool3d", 3, input)
    settings = _by_plane_and_depth(kernel_size, stride, padding, dilation)
    return _over_volumes(lambda x, given: max_pool2d(x, *given, ceil_mode=ceil_mode), input, settings)


@one_or_many(3)
def avg_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Compute 3-D average pooling: the mean of each window of volumes.

    It goes over height and width first, and over depth then: the mean of means. The result has the size of
    `avg_pool2d`, along the depth as well.

    Shapes: (N, C, D, H, W) -> (N, C, D', H', W'); without N the same.
    Args:
        input: a tensor, N volumes of C channels.
        kernel_size: size of the windows, a number or three.
        stride: step from one window to the next, a number or three; kernel_size by default.
        padding: zeros added on each side, a number or three, at most half of kernel_size; 0 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
        count_include_pad: whether the zeros of padding count as entries; True by default.
        divisor_override: divisor of the sums, instead of the number of entries; None by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have 5 axes (or 4), a window is larger than the padded input, or a setting is
        not allowed; TypeError if input is not a tensor, or a setting no integer.
    Example:
        >>> F.avg_pool3d(mg.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2)), 2).tolist()
        [[[[[3.5]]]]]

    See: torch.nn.functional.avg_pool3d.
    """
    refuse_places("avg_pool3d", 3, input)
    if divisor_override is not None:
        return _divide_sums(
            "avg_pool3d", avg_pool3d, 3, input, kernel_size, stride, padding, ceil_mode, divisor_override
        )
    settings = _by_plane_and_depth(kernel_size, stride, padding)
    return _over_volumes(lambda x, given: avg_pool2d(x, *given, ceil_mode, count_include_pad), input, settings)


def _by_plane_and_depth(kernel_size: Any, stride: Any, *others: Any) -> tuple[list[Any], list[Any]]:
    """Split settings for volumes into those for height and width, and those for depth with a width of 1."""
    each = [each_axis(value, 3, "a setting") for value in (kernel_size, kernel_size if stride is None else stride)]
    each += [each_axis(value, 3, "a setting") for value in others]
    alone = (1, 1, 0, 1)
    return [value[1:] for value in each], [(value[0], one) for value, one in zip(each, alone, strict=False)]


def _over_volumes(pool: Callable[[Any, Any], Tensor], input: Any, settings: tuple[list[Any], list[Any]]) -> Tensor:
    """Pool volumes as images of all depths, then the result as images of depth and place."""
    n, c, depth, height, width = input.shape
    plane = pool(ops.reshape(input, shape=(n, c * depth, height, width)), settings[0])
    rows, columns = plane.shape[2:]
    deep = pool(ops.reshape(plane, shape=(n, c, depth, rows * columns)), settings[1])
    return ops.reshape(deep, shape=(n, c, deep.shape[2], rows, columns))


def _divide_sums(
    name: str, pool: Callable[..., Tensor], axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any,
    ceil_mode: bool, divisor: int,
) -> Tensor:  # fmt: skip
    """Return the sum of each window divided by a given number."""
    if divisor == 0:
        raise ValueError(f"{name}: divisor_override is a number other than 0")
    kernel, borders = each_axis(kernel_size, axes, "kernel_size", 1), each_axis(padding, axes, "padding", 0)
    steps = each_axis(kernel if stride is None else stride, axes, "stride", 1)
    more = list(map(_overhang, input.shape[2:], kernel, steps, borders, (1,) * axes)) if ceil_mode else [0] * axes
    whole = ops.pad(input, pad_width=((0, 0), (0, 0), *((0, each) for each in more))) if any(more) else input
    return pool(whole, kernel, steps, borders) * (prod(kernel) / divisor)


def _prepare_windows(
    name: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    beyond: float,
) -> tuple[Any, dict[str, tuple[int, ...]]]:  # fmt: skip
    """Return the input, extended by `beyond` so that no window extends past it, and the settings for each axis; raise
    if they do not fit."""
    refuse_places(name, axes, input)
    kernel, borders = each_axis(kernel_size, axes, "kernel_size", 1), each_axis(padding, axes, "padding", 0)
    if any(border > length // 2 for border, length in zip(borders, kernel, strict=True)):
        raise ValueError(
            f"{name}: padding {padding} is more than half of the window {kernel}: some would see nothing"
        )
    steps = each_axis(kernel if stride is None else stride, axes, "stride", 1)
    apart = each_axis(dilation, axes, "dilation", 1)
    if ceil_mode:
        more = list(map(_overhang, input.shape[2:], kernel, steps, borders, apart))
        if any(more):
            width = ((0, 0), (0, 0), *((0, each) for each in more))
            input = ops.pad(input, pad_width=width, constant_values=beyond)
    return input, {"kernel_size": kernel, **windows(name, input, kernel, steps, borders, apart)}


def _overhang(length: int, size: int, step: int, border: int, between: int) -> int:
    """Return how far the last window extends past the border; it begins in the entries or in the border before them."""
    reach = between * (size - 1) + 1
    last = ceil((length + 2 * border - reach) / step) * step
    last = last if last < length + border else last - step
    return max(last + reach - length - 2 * border, 0)


def _average(
    name: str, axes: int, pool: Callable[..., Tensor], input: Any, kernel_size: Any, stride: Any, padding: Any,
    ceil_mode: bool, count_include_pad: bool,
) -> Tensor:  # fmt: skip
    """Return the mean of each window, over the entries that are inside."""
    whole, settings = _prepare_windows(name, axes, input, kernel_size, stride, padding, 1, ceil_mode, 0.0)
    kernel, steps, borders = settings["kernel_size"], settings["stride"], settings["padding"]
    del settings["dilation"]
    given: dict[str, Any] = dict(on_a_line(settings) if axes == 1 else settings)
    if whole is input:
        return pool(input, count_include_pad=count_include_pad, **given)
    means = pool(whole, **given)
    counted = borders if count_include_pad else (0,) * axes
    along = map(_counts, input.shape[2:], means.shape[2:], kernel, steps, borders, counted)
    return means * constant_like(prod(kernel) / reduce(np.multiply.outer, along), input)


def _counts(length: int, places: int, size: int, step: int, border: int, counted: int) -> np.ndarray:
    """Count the entries of each window along one axis, with `counted` entries of the border on each side."""
    starts = np.arange(places) * step - border
    return np.minimum(starts + size, length + counted) - np.maximum(starts, -counted)


@one_or_many(1)
def adaptive_avg_pool1d(input: Any, output_size: int | tuple[int]) -> Tensor:
    """Compute 1-D adaptive average pooling: means of a given number of windows.

    Entry i of an axis is the mean of the old entries from floor(i · old / new) up to, but without, ceil((i + 1) · old /
    new), old and new being its lengths. If the new size does not divide the old one, neighbouring windows share an
    entry.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        input: a tensor, N lines of C channels.
        output_size: L', how long lines become, an integer of at least 1, or a tuple of one.
    Returns: a tensor of the dtype of input (float64 for integers).
    Raises: ValueError if input does not have 3 axes, or output_size is below 1; TypeError if input is not a tensor, or
        output_size no integer.
    Example:
        >>> F.adaptive_avg_pool1d(mg.tensor([[[1.0, 2.0, 6.0]]]), 2).tolist()
        [[[1.5, 4.0]]]

    See: torch.nn.functional.adaptive_avg_pool1d.
    """
    refuse_places("adaptive_avg_pool1d", 1, input)
    (length,) = each_axis(output_size, 1, "output_size")
    return ops.resample(input, length=length, axis=-1, mode="average")


@one_or_many(2)
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Compute 2-D adaptive average pooling: means of a given number of windows.

    Entry i of an axis is the mean of the old entries from floor(i · old / new) up to, but without, ceil((i + 1) · old /
    new), old and new being its lengths. If the new size does not divide the old one, neighbouring windows share an
    entry.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        input: a tensor, N images of C channels.
        output_size: (H', W'), integers of at least 1, or one number for both; None keeps an axis as it is.
    Returns: a tensor of the dtype of input (float64 for integers).
    Raises: ValueError if input does not have 4 axes, or output_size is below 1 or not two numbers; TypeError if input
        is not a tensor, or output_size no integer.
    Example:
        >>> F.adaptive_avg_pool2d(mg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (None, 1)).tolist()
        [[[[1.5], [3.5]]]]

    See: torch.nn.functional.adaptive_avg_pool2d.
    """
    refuse_places("adaptive_avg_pool2d", 2, input)
    wanted = (None, None) if output_size is None else each_axis(output_size, 2, "output_size")
    size = tuple(old if new is None else new for old, new in zip(input.shape[2:], wanted, strict=True))
    return ops.adaptive_avg_pool2d(input, output_size=size)
