"""More layers under PyTorch's names: windows over lines and volumes, images of another size, the transformer's layer.

`device`, `dtype` and `rng` are those of `layers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor
from . import functional
from .attention import MultiheadAttention
from .functional.more import each_axis
from .layers import Dropout, LayerNorm, Linear, parameter, start_as_linear
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool1d", "Conv1d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
    "MaxPool1d", "PixelShuffle", "PixelUnshuffle", "TransformerEncoderLayer", "Upsample",
]  # fmt: skip

Generator = np.random.Generator


def said(module: Any, *first: Any, **usual: Any) -> str:
    """What is always said of a layer, and what is not as usual."""
    unusual = [f"{name}={getattr(module, name)}" for name, value in usual.items() if getattr(module, name) != value]
    return ", ".join([*map(str, first), *unusual])


# Windows --------------------------------------------------------------------------------------------------------------


class _Windows(Module):
    """What convolutions along one or more axes share."""

    axes: int
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{type(self).__name__}: {in_channels} and {out_channels} channels do not part into {groups} groups"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = each_axis(kernel_size, self.axes, "kernel_size")
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = parameter((first, second // groups, *self.kernel_size), dtype, device)
        self.bias = parameter((out_channels,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        sizes = (self.in_channels, self.out_channels, f"kernel_size={self.kernel_size}")
        return said(self, *sizes, stride=1, padding=0, dilation=1, groups=1)


class Conv1d(_Windows):
    """A short line of weights compared with every window: (N, in, L) to (N, out, L')."""

    axes = 1

    def forward(self, input: Any) -> Tensor:
        """Shape (N, out, L')."""
        return functional.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv3d(_Windows):
    """A small volume of weights compared with every window: (N, in, D, H, W) to (N, out, D', H', W')."""

    axes = 3

    def forward(self, input: Any) -> Tensor:
        """Shape (N, out, D', H', W')."""
        return functional.conv3d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class _TransposedWindows(_Windows):
    """The same for transposed convolutions, in PyTorch's order of parameters."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            device=device, dtype=dtype, rng=rng,
        )  # fmt: skip
        self.output_padding = output_padding

    def forward(self, input: Any) -> Tensor:
        """Shape (N, out, *places)."""
        apply: Callable[..., Tensor] = functional.conv_transpose1d if self.axes == 1 else functional.conv_transpose2d
        return apply(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        more = "" if self.output_padding == 0 else f", output_padding={self.output_padding}"
        return super().extra_repr() + more


class ConvTranspose1d(_TransposedWindows):
    """The transpose of `Conv1d`: each entry writes the kernel, times itself. (N, in, L) to (N, out, L')."""

    axes = 1


class ConvTranspose2d(_TransposedWindows):
    """The transpose of `Conv2d`: each entry writes the kernel, times itself. (N, in, H, W) to (N, out, H', W')."""

    axes = 2


class MaxPool1d(Module):
    """The largest entry of each window of a line."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1):
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.dilation = dilation

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, L')."""
        return functional.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation)

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(Module):
    """The mean of each window of a line."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True):
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, L')."""
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, count_include_pad=self.count_include_pad
        )

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool1d(Module):
    """Means of windows that part a line into `output_size`."""

    def __init__(self, output_size: int):
        self.output_size = output_size

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, output_size)."""
        return functional.adaptive_avg_pool1d(input, self.output_size)

    def extra_repr(self) -> str:
        """The size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(Module):
    """Means of windows that part an image into `output_size`: rows and columns, or one number for both."""

    def __init__(self, output_size: Any):
        self.output_size = output_size

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, *output_size)."""
        return functional.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """The size."""
        return f"output_size={self.output_size}"


# Another size ---------------------------------------------------------------------------------------------------------


class Upsample(Module):
    """An image of another `size`, or `scale_factor` times as large; `mode` is "nearest" or "bilinear"."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False):
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H', W')."""
        return functional.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self) -> str:
        """The size, and what is not as usual."""
        size = f"scale_factor={self.scale_factor}" if self.size is None else f"size={self.size}"
        return said(self, size, mode="nearest", align_corners=False)


class PixelShuffle(Module):
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""

    def __init__(self, upscale_factor: int):
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H * r, W * r)."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Places laid out as channels: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""

    def __init__(self, downscale_factor: int):
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C * r * r, H, W)."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"


# Transformers ---------------------------------------------------------------------------------------------------------


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each with what went past it (Vaswani et al. 2017).

    Shapes: (L, N, E), or with `batch_first` (N, L, E). Normalised after each sum, or with `norm_first` before each
    part.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        if isinstance(activation, str) and activation not in ("relu", "gelu"):
            raise ValueError(f"TransformerEncoderLayer: activation is 'relu', 'gelu' or a function, got {activation!r}")
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first, rng=rng, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias, rng=rng, **place)
        self.dropout = Dropout(dropout, rng=rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, rng=rng, **place)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.dropout1, self.dropout2 = Dropout(dropout, rng=rng), Dropout(dropout, rng=rng)
        self.norm_first = norm_first
        self.activation = getattr(functional, activation) if isinstance(activation, str) else activation

    def forward(
        self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Tensor:
        """The shape of the input. Masks as in `MultiheadAttention`."""
        masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        if self.norm_first:
            src = src + self._gather(self.norm1(src), masks)
            return src + self._think(self.norm2(src))
        src = self.norm1(src + self._gather(src, masks))
        return self.norm2(src + self._think(src))

    def _gather(self, x: Tensor, masks: dict[str, Any]) -> Tensor:
        """What each place gathers from the others."""
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **masks)[0])

    def _think(self, x: Tensor) -> Tensor:
        """What each place makes of it by itself."""
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
