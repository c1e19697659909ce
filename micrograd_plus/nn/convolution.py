"""Convolutions and transposed convolutions.

A setting such as `stride` is one number, or one for each axis. What else each layer takes: see `parameters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .functional.conv import plain_padding
from .functional.shapes import each_axis
from .module import Module
from .parameters import Generator, check_sizes, parameter, start_as_linear

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _Convolution(Module):
    """Base class of convolutions."""

    axes: int
    apply_to: Callable[..., Tensor]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        name = type(self).__name__
        check_sizes(self, in_channels=in_channels, out_channels=out_channels)
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
        """Return the first two axes of the weight."""
        return self.out_channels, self.in_channels // self.groups

    def forward(self, input: Any) -> Tensor:
        """Return the convolution of the input."""
        return self.apply_to(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """1-D convolution (cross-correlation) of lines with learned filters.

        out[n, o, i] = bias[o] + Σ_c Σ_u weight[o, c, u] · x[n, c, stride · i + dilation · u - padding]

    A short line of weights compared with every window of each line. There are

        L' = ⌊(L + 2 · padding - dilation · (k - 1) - 1) / stride⌋ + 1

    of them. Weight and bias start uniform within ± 1 / √(C / groups · k).

    Shapes: x (N, C, L), weight (O, C / groups, k), bias (O,) -> (N, O, L'), with C in_channels and O out_channels.
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: length k of the kernel.
        stride: step from one window to the next; 1 by default.
        padding: 0s added at either end: a number (0 by default), "valid" for none, or "same" for as many outputs as
            inputs (at stride 1; an odd one goes to the end).
        dilation: step between the entries of a window; 1 by default.
        groups: number of equal groups of channels; each output sees one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and another
        padding; when called, ValueError for other axes or channels, for a window larger than the input with its
        padding, and for "same" with a stride; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.Conv1d(2, 4, kernel_size=3, padding="same")
        >>> layer(mg.random.normal(size=(1, 2, 10))).shape
        (1, 4, 10)
        >>> _ = layer.weight.assign(np.ones((4, 2, 3))), layer.bias.assign(np.zeros(4))
        >>> layer(mg.tensor([[[0.0, 0.0, 1.0, 0.0, 0.0], [0.0] * 5]]))[0, 0].tolist()
        [0.0, 1.0, 1.0, 1.0, 0.0]

    See: torch.nn.Conv1d; CS231n notes, Convolutional networks.
    """

    axes, apply_to = 1, staticmethod(functional.conv1d)


class Conv2d(_Convolution):
    """2-D convolution (cross-correlation) of images with learned filters.

        out[n, o, i, j] = bias[o] + Σ_c Σ_u Σ_v weight[o, c, u, v] · x[n, c, s · i + d · u - p, s · j + d · v - p]

    with stride s, dilation d and padding p: a small image of weights compared with every window of each image. Width as
    height, the result has

        H' = ⌊(H + 2 · padding - dilation · (kH - 1) - 1) / stride⌋ + 1

    rows. Weight and bias start uniform within ± 1 / √(C / groups · kH · kW).

    Shapes: x (N, C, H, W), weight (O, C / groups, kH, kW), bias (O,) -> (N, O, H', W'), with C in_channels and O
        out_channels.
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: height and width of the kernel, or one number for both; so for stride, padding and dilation.
        stride: step from one window to the next; 1 by default.
        padding: rows and columns of 0s added on each side: a number (0 by default), one for each axis, "valid" or
            "same", as in `Conv1d`.
        dilation: step between the entries of a window; 1 by default.
        groups: number of equal groups of channels; each output sees one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and another
        padding; when called, ValueError for other axes or channels, for a window larger than the input with its
        padding, and for "same" with a stride; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.Conv2d(3, 8, kernel_size=3)
        >>> layer
        Conv2d(in_channels=3, out_channels=8, kernel_size=(3, 3)): weight (8, 3, 3, 3), bias (8,); 224 parameters
        >>> layer(mg.random.normal(size=(10, 3, 32, 32))).shape
        (10, 8, 30, 30)

    See: torch.nn.Conv2d; LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition,
        1998; CS231n notes, Convolutional networks.
    """

    axes, apply_to = 2, staticmethod(functional.conv2d)


class Conv3d(_Convolution):
    """3-D convolution (cross-correlation) of volumes with learned filters.

    As `Conv2d` with one axis more: a small volume of weights compared with every window of each volume. Height and
    width as depth, the result has

        D' = ⌊(D + 2 · padding - dilation · (kD - 1) - 1) / stride⌋ + 1

    places.

    Shapes: x (N, C, D, H, W), weight (O, C / groups, kD, kH, kW), bias (O,) -> (N, O, D', H', W').
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: depth, height and width of the kernel, or one number for all; so for stride, padding and dilation.
        stride: step from one window to the next; 1 by default.
        padding: 0s added on each side: a number (0 by default), one for each axis, "valid" or "same", as in `Conv1d`.
        dilation: step between the entries of a window; 1 by default.
        groups: number of equal groups of channels; each output sees one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and another
        padding; when called, ValueError for other axes or channels, for a window larger than the input with its
        padding, and for "same" with a stride; TypeError if the input is not a tensor.
    Example:
        >>> nn.Conv3d(1, 4, kernel_size=3, stride=2)(mg.random.normal(size=(2, 1, 9, 9, 9))).shape
        (2, 4, 4, 4, 4)

    See: torch.nn.Conv3d.
    """

    axes, apply_to = 3, staticmethod(functional.conv3d)


class _Transposed(_Convolution):
    """Base class of transposed convolutions, with parameters in PyTorch's order."""

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
        """Return the transposed convolution of the input."""
        settings = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return self.apply_to(input, self.weight, self.bias, *settings)


class ConvTranspose1d(_Transposed):
    """1-D transposed convolution: each entry adds the kernel, scaled by it, to the result.

    It is the gradient of `Conv1d`: a stride makes the line longer, to

        L' = (L - 1) · stride - 2 · padding + dilation · (k - 1) + output_padding + 1

    A stride leaves several lengths possible; `output_padding` chooses. The order of the arguments is PyTorch's.

    Shapes: x (N, C, L), weight (C, O / groups, k), bias (O,) -> (N, O, L'), with C in_channels and O out_channels.
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: length k of the kernel.
        stride: step between the outputs of neighbouring entries; 1 by default.
        padding: how much is cut off at each end; 0 by default.
        output_padding: entries to add to the shortest possible result, below the stride; 0 by default.
        groups: number of equal groups of channels; each input writes to one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        dilation: step between the entries that a kernel writes; 1 by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and a padding
        that is not a number; when called, ValueError for other axes or channels, an output_padding not below the
        stride, and a padding that leaves nothing; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.ConvTranspose1d(1, 1, kernel_size=3, stride=2, bias=False)
        >>> _ = layer.weight.assign([[[1.0, 2.0, 3.0]]])
        >>> layer(mg.tensor([[[1.0, 10.0]]])).tolist()
        [[[1.0, 2.0, 13.0, 20.0, 30.0]]]

    See: torch.nn.ConvTranspose1d; Dumoulin and Visin, A guide to convolution arithmetic for deep learning, 2016.
    """

    axes, apply_to = 1, staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_Transposed):
    """2-D transposed convolution: each pixel adds the kernel, scaled by it, to the result.

    It is the gradient of `Conv2d`: a stride makes the image larger. Width as height, the result has

        H' = (H - 1) · stride - 2 · padding + dilation · (kH - 1) + output_padding + 1

    rows.

    Shapes: x (N, C, H, W), weight (C, O / groups, kH, kW), bias (O,) -> (N, O, H', W').
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: height and width of the kernel, or one number for both; so for the settings below.
        stride: step between the outputs of neighbouring entries; 1 by default.
        padding: how much is cut off at each side; 0 by default.
        output_padding: entries to add to the shortest possible result, below the stride; 0 by default.
        groups: number of equal groups of channels; each input writes to one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        dilation: step between the entries that a kernel writes; 1 by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and a padding
        that is not a number; when called, ValueError for other axes or channels, an output_padding not below the
        stride, and a padding that leaves nothing; TypeError if the input is not a tensor.
    Example:
        >>> nn.ConvTranspose2d(8, 3, kernel_size=4, stride=2, padding=1)(mg.random.normal(size=(2, 8, 7, 7))).shape
        (2, 3, 14, 14)

    See: torch.nn.ConvTranspose2d; Dumoulin and Visin, A guide to convolution arithmetic for deep learning, 2016.
    """

    axes, apply_to = 2, staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_Transposed):
    """3-D transposed convolution: each entry adds the kernel, scaled by it, to the result.

    As `ConvTranspose2d`, along the depth as well.

    Shapes: x (N, C, D, H, W), weight (C, O / groups, kD, kH, kW), bias (O,) -> (N, O, D', H', W'); without N the same.
    Args:
        in_channels, out_channels: numbers of channels before and after, at least 1.
        kernel_size: depth, height and width of the kernel, or one number for all; so for the settings below.
        stride: step between the outputs of neighbouring entries; 1 by default.
        padding: how much is cut off at each side; 0 by default.
        output_padding: entries to add to the shortest possible result, below the stride; 0 by default.
        groups: number of equal groups of channels; each input writes to one group; 1 by default.
        bias: whether to add a bias to each output channel; True by default.
        dilation: step between the entries that a kernel writes; 1 by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for channels that `groups` does not divide, a kernel, stride or dilation below 1, and a padding
        that is not a number; when called, ValueError for other axes or channels, an output_padding not below the
        stride, and a padding that leaves nothing; TypeError if the input is not a tensor.
    Example:
        >>> nn.ConvTranspose3d(4, 2, kernel_size=2, stride=2)(mg.random.normal(size=(1, 4, 3, 2, 2))).shape
        (1, 2, 6, 4, 4)

    See: torch.nn.ConvTranspose3d.
    """

    axes, apply_to = 3, staticmethod(functional.conv_transpose3d)
