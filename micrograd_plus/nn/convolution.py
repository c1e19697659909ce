"""Convolutions, and their transposes.

A setting such as `stride` is one number, or one for each axis. What else each layer takes: see `parameters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .functional.convolution import plain_padding
from .functional.shapes import each_axis
from .module import Module
from .parameters import Generator, parameter, start_as_linear, wants_sizes

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d"]


class _Convolution(Module):
    """What convolutions along one or more axes share."""

    axes: int
    apply_to: Callable[..., Tensor]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        name = type(self).__name__
        wants_sizes(self, in_channels=in_channels, out_channels=out_channels)
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: {in_channels} and {out_channels} channels do not part into {groups} equal groups"
            )
        if padding != "same":
            each_axis(plain_padding(name, padding), self.axes, f"{name}: padding", 0)
        each_axis(stride, self.axes, f"{name}: stride", 1)
        each_axis(dilation, self.axes, f"{name}: dilation", 1)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = each_axis(kernel_size, self.axes, f"{name}: kernel_size", 1)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = parameter((*self._weight_channels(), *self.kernel_size), dtype, device)
        self.bias = parameter((out_channels,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def _weight_channels(self) -> tuple[int, int]:
        """The first two axes of the weight."""
        return self.out_channels, self.in_channels // self.groups

    def forward(self, input: Any) -> Tensor:
        """The channels and places that the windows make."""
        return self.apply_to(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """A short line of weights compared with every window of each line: (N, in, L) to (N, out, L').

    >>> import micrograd_plus as mg
    >>> mg.nn.Conv1d(2, 4, kernel_size=3, padding="same")(mg.random.normal(size=(1, 2, 10))).shape
    (1, 4, 10)
    """

    axes, apply_to = 1, staticmethod(functional.conv1d)


class Conv2d(_Convolution):
    """A small image of weights compared with every window of each image: (N, in, H, W) to (N, out, H', W').

    >>> import micrograd_plus as mg
    >>> layer = mg.nn.Conv2d(3, 8, kernel_size=3, stride=2)
    >>> layer
    Conv2d(in_channels=3, out_channels=8, kernel_size=(3, 3), stride=2): weight (8, 3, 3, 3), bias (8,); 224 parameters
    >>> layer(mg.random.normal(size=(10, 3, 29, 29))).shape
    (10, 8, 14, 14)
    """

    axes, apply_to = 2, staticmethod(functional.conv2d)


class Conv3d(_Convolution):
    """A small volume of weights compared with every window of each volume: (N, in, D, H, W) to (N, out, D', H', W')."""

    axes, apply_to = 3, staticmethod(functional.conv3d)


class _Transposed(_Convolution):
    """The same for transposed convolutions, with their parameters in PyTorch's order."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, *, device: str = "cpu",
        dtype: Any = None, rng: Generator | None = None,
    ):  # fmt: skip
        each_axis(padding, self.axes, f"{type(self).__name__}: padding", 0)
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, rng=rng, **place
        )
        self.output_padding = output_padding

    def _weight_channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, input: Any) -> Tensor:
        """The channels and places that the kernels reach."""
        settings = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return self.apply_to(input, self.weight, self.bias, *settings)


class ConvTranspose1d(_Transposed):
    """The transpose of `Conv1d`: each entry writes the kernel, times itself. (N, in, L) to (N, out, L').

    >>> import micrograd_plus as mg
    >>> mg.nn.ConvTranspose1d(2, 4, kernel_size=3, stride=2)(mg.random.normal(size=(1, 2, 10))).shape
    (1, 4, 21)
    """

    axes, apply_to = 1, staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """The transpose of `Conv2d`: each entry writes the kernel, times itself. (N, in, H, W) to (N, out, H', W')."""

    axes, apply_to = 2, staticmethod(functional.conv_transpose2d)
