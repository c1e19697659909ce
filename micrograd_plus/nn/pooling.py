"""Pooling: each window of a line or an image as one number.

A setting such as `stride` is one number, or one for each axis. Windows stand next to each other unless `stride` says
otherwise. With `ceil_mode` a last window that hangs over the end is one more; nothing counts there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .module import Module

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d"]


class _MaxPool(Module):
    """The largest entry of each window."""

    pool: Callable[..., Tensor]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, *, ceil_mode: bool = False
    ):
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode

    def forward(self, input: Any) -> Tensor:
        """The channels of the input, at fewer places."""
        return self.pool(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    """The largest entry of each window of lines: (N, C, L) to (N, C, L')."""

    pool = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest entry of each window of images: (N, C, H, W) to (N, C, H', W').

    >>> import micrograd_plus as mg
    >>> import numpy as np
    >>> mg.nn.MaxPool2d(2)(mg.tensor(np.arange(16.0).reshape(1, 1, 4, 4))).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    pool = staticmethod(functional.max_pool2d)


class _AvgPool(Module):
    """The mean of each window; `count_include_pad` says whether a border of padding counts as entries."""

    pool: Callable[..., Tensor]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):  # fmt: skip
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad

    def forward(self, input: Any) -> Tensor:
        """The channels of the input, at fewer places."""
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        return self.pool(input, *settings)


class AvgPool1d(_AvgPool):
    """The mean of each window of lines: (N, C, L) to (N, C, L')."""

    pool = staticmethod(functional.avg_pool1d)


class AvgPool2d(_AvgPool):
    """The mean of each window of images: (N, C, H, W) to (N, C, H', W').

    >>> import micrograd_plus as mg
    >>> import numpy as np
    >>> mg.nn.AvgPool2d(2)(mg.tensor(np.arange(16.0).reshape(1, 1, 4, 4))).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    pool = staticmethod(functional.avg_pool2d)


class _AdaptiveAvgPool(Module):
    """Means of as many windows as are asked for; where lengths do not divide, neighbouring windows share an entry."""

    pool: Callable[..., Tensor]

    def __init__(self, output_size: Any):
        self.output_size = output_size

    def forward(self, input: Any) -> Tensor:
        """The channels of the input, at `output_size` places."""
        return self.pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of windows that part lines (N, C, L) into `output_size`."""

    pool = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of windows that part images (N, C, H, W) into `output_size`: rows and columns, or one number for both; None
    keeps an axis as it is."""

    pool = staticmethod(functional.adaptive_avg_pool2d)
