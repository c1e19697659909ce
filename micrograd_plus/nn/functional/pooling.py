"""Pooling: each window of a line or an image as one number.

A setting such as `stride` is one number, or one for each axis. Windows stand next to each other unless `stride` says
otherwise.
"""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor
from .shapes import along, each_axis, refuse_larger, refuse_places

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"]


def max_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of lines (N, C, L). A border of padding never wins.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus.nn import functional as F
    >>> F.max_pool1d(mg.tensor([[[3.0, 1.0, 2.0, 5.0]]]), 2).tolist()
    [[[3.0, 5.0]]]
    """
    return ops.max_pool1d(input, **_windows("max_pool1d", 1, input, kernel_size, stride, padding, dilation=dilation))


def max_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of images (N, C, H, W). A border of padding never wins."""
    return ops.max_pool2d(input, **_windows("max_pool2d", 2, input, kernel_size, stride, padding, dilation=dilation))


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of lines (N, C, L); `count_include_pad` says whether a border of padding counts as
    entries."""
    windows = _windows("avg_pool1d", 1, input, kernel_size, stride, padding)
    return ops.avg_pool1d(input, count_include_pad=count_include_pad, **windows)


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of images (N, C, H, W); `count_include_pad` as in `avg_pool1d`."""
    windows = _windows("avg_pool2d", 2, input, kernel_size, stride, padding)
    return ops.avg_pool2d(input, count_include_pad=count_include_pad, **windows)


def _windows(
    name: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any, **dilation: Any
) -> dict[str, Any]:
    """Size, steps and border of windows, for each axis, when they fit."""
    refuse_places(name, axes, input)
    kernel, borders = each_axis(kernel_size, axes, "kernel_size"), each_axis(padding, axes, "padding")
    if any(border > length // 2 for border, length in zip(borders, kernel, strict=True)):
        raise ValueError(
            f"{name}: padding {padding} is more than half of the window {kernel_size}: some would see nothing"
        )
    stride = kernel if stride is None else stride
    settings = along(axes, kernel_size=kernel, stride=stride, padding=borders, **dilation)
    refuse_larger(name, input, kernel, borders, **dilation)
    return settings


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
