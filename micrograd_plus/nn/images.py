"""Images of another size."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import functional
from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle", "Upsample"]


class Upsample(Module):
    """Images (N, C, H, W) of another `size`, or `scale_factor` times as large.

    `mode` is "nearest" or "bilinear"; with the latter, `align_corners` keeps the outermost entries where they are.

    >>> import micrograd_plus as mg
    >>> mg.nn.Upsample(scale_factor=2)(mg.tensor([[[[1.0, 2.0]]]])).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
    ):
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H', W')."""
        return functional.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)


class PixelShuffle(Module):
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""

    def __init__(self, upscale_factor: int):
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H * r, W * r)."""
        return functional.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """Places laid out as channels: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""

    def __init__(self, downscale_factor: int):
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C * r * r, H, W)."""
        return functional.pixel_unshuffle(input, self.downscale_factor)
