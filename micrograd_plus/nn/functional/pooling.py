"""Pooling: each window of a line or an image as one number.

A setting such as `stride` is one number, or one for each axis. Windows stand next to each other unless `stride` says
otherwise.
"""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor
from .shapes import each_axis, on_a_line, refuse_places, windows

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"]


def max_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of lines (N, C, L). A border of padding never wins.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus.nn import functional as F
    >>> F.max_pool1d(mg.tensor([[[3.0, 1.0, 2.0, 5.0]]]), 2).tolist()
    [[[3.0, 5.0]]]
    """
    settings = _pooled("max_pool1d", 1, input, kernel_size, stride, padding, dilation)
    return ops.max_pool1d(input, **on_a_line(settings))


def max_pool2d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of images (N, C, H, W). A border of padding never wins."""
    return ops.max_pool2d(input, **_pooled("max_pool2d", 2, input, kernel_size, stride, padding, dilation))


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of lines (N, C, L); `count_include_pad` says whether a border of padding counts as
    entries."""
    settings = _averaged("avg_pool1d", 1, input, kernel_size, stride, padding)
    return ops.avg_pool1d(input, count_include_pad=count_include_pad, **on_a_line(settings))


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of images (N, C, H, W); `count_include_pad` as in `avg_pool1d`."""
    settings = _averaged("avg_pool2d", 2, input, kernel_size, stride, padding)
    return ops.avg_pool2d(input, count_include_pad=count_include_pad, **settings)


def _pooled(
    name: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> dict[str, tuple[int, ...]]:
    """How large windows are and how they go over the input: a number for each axis. Refuses what does not fit."""
    refuse_places(name, axes, input)
    kernel, borders = each_axis(kernel_size, axes, "kernel_size", 1), each_axis(padding, axes, "padding", 0)
    if any(border > length // 2 for border, length in zip(borders, kernel, strict=True)):
        raise ValueError(
            f"{name}: padding {padding} is more than half of the window {kernel}: some would see nothing"
        )
    stride = kernel if stride is None else stride
    return {"kernel_size": kernel, **windows(name, input, kernel, stride, borders, dilation)}


def _averaged(
    name: str, axes: int, input: Any, kernel_size: Any, stride: Any, padding: Any
) -> dict[str, tuple[int, ...]]:
    """The same for means, whose windows have no dilation."""
    settings = _pooled(name, axes, input, kernel_size, stride, padding, 1)
    del settings["dilation"]
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
