"""Pooling: each window of a line or an image as one number.

A setting such as `stride` is one number, or one for each axis. Windows stand next to each other unless `stride` says
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
from .shapes import constant_like, each_axis, on_a_line, refuse_places, windows

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"]


def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """The largest entry of each window of lines (N, C, L). A border of padding never wins.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.max_pool1d(mg.tensor([[[3.0, 1.0, 5.0]]]), 2).tolist()
    [[[3.0]]]
    >>> mg.nn.functional.max_pool1d(mg.tensor([[[3.0, 1.0, 5.0]]]), 2, ceil_mode=True).tolist()
    [[[3.0, 5.0]]]
    """
    input, settings = _pooled("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, -inf)
    return ops.max_pool1d(input, **on_a_line(settings))


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """The largest entry of each window of images (N, C, H, W). A border of padding never wins."""
    input, settings = _pooled("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, -inf)
    return ops.max_pool2d(input, **settings)


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of lines (N, C, L); `count_include_pad` says whether a border of padding counts as
    entries."""
    return _averaged("avg_pool1d", 1, ops.avg_pool1d, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of images (N, C, H, W); `count_include_pad` as in `avg_pool1d`."""
    return _averaged("avg_pool2d", 2, ops.avg_pool2d, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _pooled(
    name: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    beyond: float,
) -> tuple[Any, dict[str, tuple[int, ...]]]:  # fmt: skip
    """The input, made so long by what is `beyond` it that no window hangs over, and how large windows are and how they
    go over it: a number for each axis. Refuses what does not fit."""
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
    """How far the last window hangs over the border behind; it begins in the entries, or in the border before them."""
    reach = between * (size - 1) + 1
    last = ceil((length + 2 * border - reach) / step) * step
    last = last if last < length + border else last - step
    return max(last + reach - length - 2 * border, 0)


def _averaged(
    name: str, axes: int, pool: Callable[..., Tensor], input: Any, kernel_size: Any, stride: Any, padding: Any,
    ceil_mode: bool, count_include_pad: bool,
) -> Tensor:  # fmt: skip
    """The mean of each window; where one hangs over, of the entries that it has."""
    whole, settings = _pooled(name, axes, input, kernel_size, stride, padding, 1, ceil_mode, 0.0)
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
    """How many entries each window has along one axis, and `counted` ones of the border on either side."""
    starts = np.arange(places) * step - border
    return np.minimum(starts + size, length + counted) - np.maximum(starts, -counted)


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """Means of windows that part lines (N, C, L) into `output_size`. Where it does not divide L, neighbours share an
    entry."""
    refuse_places("adaptive_avg_pool1d", 1, input)
    return ops.resample(input, length=output_size, axis=-1, mode="average")


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Means of windows that part images (N, C, H, W) into `output_size`: rows and columns, or one number for both; None
    keeps an axis as it is."""
    refuse_places("adaptive_avg_pool2d", 2, input)
    wanted = (None, None) if output_size is None else each_axis(output_size, 2, "output_size")
    size = tuple(old if new is None else new for old, new in zip(input.shape[2:], wanted, strict=True))
    return ops.adaptive_avg_pool2d(input, output_size=size)
