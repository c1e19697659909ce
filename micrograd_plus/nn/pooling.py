"""Pooling: reduction of each window to one number.

A setting such as `stride` is one number, or one for each axis. Windows do not overlap unless `stride` says
otherwise. With `ceil_mode` a last window that hangs over the end is one more; nothing counts there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.messages import check_count
from ..tensor import Tensor
from . import functional
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d",
]  # fmt: skip


def refuse_windows(layer: Any) -> None:
    """Raise ValueError for windows that would contain no entry."""
    name = type(layer).__name__
    given = {"kernel_size": (layer.kernel_size, 1), "stride": (layer.stride, 1), "padding": (layer.padding, 0)}
    for setting, (value, least) in {**given, "dilation": (getattr(layer, "dilation", 1), 1)}.items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            check_count(f"{name}: {setting}", each, least)
    pairs = [value if isinstance(value, (tuple, list)) else (value,) for value in (layer.kernel_size, layer.padding)]
    if any(2 * border > size for size in pairs[0] for border in pairs[1] if len(pairs[0]) == 1 or len(pairs[1]) == 1):
        raise ValueError(f"{name}: padding {layer.padding} is more than half of the window {layer.kernel_size}")


class _MaxPool(Module):
    """Base class of max pooling."""

    pool: Callable[..., Tensor]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, *, ceil_mode: bool = False
    ):
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        refuse_windows(self)

    def forward(self, input: Any) -> Tensor:
        """Return the pooled input, with the same channels."""
        return self.pool(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    """1-D max pooling: the largest entry of each window of lines.

    L' = ⌊(L + 2 · padding - dilation · (k - 1) - 1) / stride⌋ + 1; with `ceil_mode` rounded up, if that window begins
    before the padding behind. Of equal largest entries the first receives the gradient.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        kernel_size: length k of a window.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added at either end, never the largest; at most half a window, 0 by default.
        dilation: step between the entries of a window; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Raises: when called, ValueError for a kernel or stride below 1, too much padding, a window larger than the input,
        and an input without three axes; TypeError if the input is not a tensor of real numbers.
    Example:
        >>> nn.MaxPool1d(2)(mg.tensor([[[3.0, 1.0, 5.0]]])).tolist()
        [[[3.0]]]
        >>> nn.MaxPool1d(2, ceil_mode=True)(mg.tensor([[[3.0, 1.0, 5.0]]])).tolist()
        [[[3.0, 5.0]]]

    See: torch.nn.MaxPool1d.
    """

    pool = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """2-D max pooling: the largest entry of each window of images.

    H' = ⌊(H + 2 · padding - dilation · (kH - 1) - 1) / stride⌋ + 1, and W' likewise; with `ceil_mode` rounded up, if
    that window begins before the padding behind. Of equal largest entries the first receives the gradient.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        kernel_size: height and width of a window, or one number for both; so for the settings below.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added on each side, never the largest; at most half a window, 0 by default.
        dilation: step between the entries of a window; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Raises: when called, ValueError for a kernel or stride below 1, too much padding, a window larger than the input,
        and an input without four axes; TypeError if the input is not a tensor of real numbers.
    Example:
        >>> nn.MaxPool2d(2)(mg.tensor(np.arange(16.0).reshape(1, 1, 4, 4))).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]

    See: torch.nn.MaxPool2d; CS231n notes, Convolutional networks.
    """

    pool = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """3-D max pooling: the largest entry of each window of volumes.

    As `MaxPool2d`, along the depth as well.

    Shapes: x (N, C, D, H, W) -> (N, C, D', H', W'); without N the same.
    Args:
        kernel_size: depth, height and width of a window, or one number for all; so for the settings below.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added on each side, never the largest; at most half a window, 0 by default.
        dilation: step between the entries of a window; 1 by default.
        ceil_mode: whether to add a last window that extends past the end; False by default.
    Raises: ValueError for a kernel or stride below 1 and too much padding; when called, ValueError for a window larger
        than the input, and an input that has neither five axes nor four; TypeError if the input is not a tensor.
    Example:
        >>> nn.MaxPool3d(2)(mg.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2))).tolist()
        [[[[[7.0]]]]]

    See: torch.nn.MaxPool3d.
    """

    pool = staticmethod(functional.max_pool3d)


class _AvgPool(Module):
    """Base class of average pooling; `count_include_pad` counts padding as entries."""

    pool: Callable[..., Tensor]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ):  # fmt: skip
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override
        refuse_windows(self)

    def forward(self, input: Any) -> Tensor:
        """Return the pooled input, with the same channels."""
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)
        override = {} if self.divisor_override is None else {"divisor_override": self.divisor_override}
        return self.pool(input, *settings, **override)


class AvgPool1d(_AvgPool):
    """1-D average pooling: the mean of each window of lines.

    L' = ⌊(L + 2 · padding - k) / stride⌋ + 1; with `ceil_mode` rounded up, if that window begins before the padding
    behind.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        kernel_size: length k of a window.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added at either end, 0s; at most half a window, 0 by default.
        ceil_mode: whether to add a last window that extends past the end, with the mean of the entries inside; False by
            default.
        count_include_pad: whether the padding counts as entries; True by default.
    Raises: when called, ValueError for a kernel or stride below 1, too much padding, a window larger than the input,
        and an input without three axes; TypeError if the input is not a tensor.
    Example:
        >>> nn.AvgPool1d(2)(mg.tensor([[[3.0, 1.0, 5.0]]])).tolist()
        [[[2.0]]]
        >>> nn.AvgPool1d(2, padding=1, count_include_pad=False)(mg.tensor([[[3.0, 1.0, 5.0]]])).tolist()
        [[[3.0, 3.0]]]

    See: torch.nn.AvgPool1d.
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)

    pool = staticmethod(functional.avg_pool1d)


class AvgPool2d(_AvgPool):
    """2-D average pooling: the mean of each window of images.

    H' = ⌊(H + 2 · padding - kH) / stride⌋ + 1, and W' likewise; with `ceil_mode` rounded up, if that window begins
    before the padding behind.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        kernel_size: height and width of a window, or one number for both; so for the settings below.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added on each side, 0s; at most half a window, 0 by default.
        ceil_mode: whether to add a last window that extends past the end, with the mean of the entries inside; False by
            default.
        count_include_pad: whether the padding counts as entries; True by default.
        divisor_override: divisor of the sums; None (default) for how many entries count.
    Raises: when called, ValueError for a kernel or stride below 1, too much padding, a window larger than the input,
        and an input without four axes; TypeError if the input is not a tensor.
    Example:
        >>> nn.AvgPool2d(2)(mg.tensor(np.arange(16.0).reshape(1, 1, 4, 4))).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]

    See: torch.nn.AvgPool2d.
    """

    pool = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool):
    """3-D average pooling: the mean of each window of volumes.

    As `AvgPool2d`, along the depth as well.

    Shapes: x (N, C, D, H, W) -> (N, C, D', H', W'); without N the same.
    Args:
        kernel_size: depth, height and width of a window, or one number for all; so for the settings below.
        stride: step from one window to the next; `kernel_size` by default, so that windows do not overlap.
        padding: entries added on each side, 0s; at most half a window, 0 by default.
        ceil_mode: whether to add a last window that extends past the end, with the mean of the entries inside; False by
            default.
        count_include_pad: whether the padding counts as entries; True by default.
        divisor_override: divisor of the sums; None (default) for how many entries count.
    Raises: ValueError for a kernel or stride below 1 and too much padding; when called, ValueError for a window larger
        than the input, and an input that has neither five axes nor four; TypeError if the input is not a tensor.
    Example:
        >>> nn.AvgPool3d(2)(mg.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2))).tolist()
        [[[[[3.5]]]]]

    See: torch.nn.AvgPool3d.
    """

    pool = staticmethod(functional.avg_pool3d)


class _AdaptiveAvgPool(Module):
    """Base class of adaptive average pooling; if lengths do not divide, neighbouring windows share an entry."""

    pool: Callable[..., Tensor]

    def __init__(self, output_size: Any):
        self.output_size = output_size

    def forward(self, input: Any) -> Tensor:
        """Return the pooled input, with the same channels and `output_size` places."""
        return self.pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """1-D adaptive average pooling: the means of a given number of windows.

    Entry i is the mean of the entries from ⌊i L / L'⌋ up to, without it, ⌈(i + 1) L / L'⌉: where L' does not divide L,
    neighbours share one.

    Shapes: (N, C, L) -> (N, C, L').
    Args:
        output_size: L', at least 1.
    Raises: when called, ValueError for a size below 1 and for an input without three axes; TypeError for a size
        that is not an integer, and if the input is not a tensor.
    Example:
        >>> nn.AdaptiveAvgPool1d(2)(mg.tensor([[[1.0, 2.0, 6.0]]])).tolist()
        [[[1.5, 4.0]]]

    See: torch.nn.AdaptiveAvgPool1d.
    """

    pool = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """2-D adaptive average pooling: the means of a given number of windows.

    Along each axis as `AdaptiveAvgPool1d`. A size of 1 is global average pooling: one number for each channel.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        output_size: H' and W', or one number for both; None keeps an axis as it is.
    Raises: when called, ValueError for a size below 1 and for an input without four axes; TypeError if the input is not
        a tensor.
    Example:
        >>> nn.AdaptiveAvgPool2d(1)(mg.tensor(np.arange(16.0).reshape(1, 1, 4, 4))).tolist()
        [[[[7.5]]]]
        >>> nn.AdaptiveAvgPool2d((None, 2))(mg.random.normal(size=(2, 3, 5, 7))).shape
        (2, 3, 5, 2)

    See: torch.nn.AdaptiveAvgPool2d; Lin, Chen and Yan, Network in network, 2014.
    """

    pool = staticmethod(functional.adaptive_avg_pool2d)
