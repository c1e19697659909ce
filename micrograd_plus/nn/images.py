"""Resizing and pixel shuffling as modules."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import functional
from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle", "Upsample"]


class Upsample(Module):
    """Upsampling: resizes images by repeating or blending pixels.

    One of size and scale_factor is given. With `size`, "nearest" takes for place i the pixel ⌊i · H / H'⌋, "bilinear"
    blends the pixels around (i + 1/2) · H / H' - 1/2, or with `align_corners` around i · (H - 1) / (H' - 1). With a
    factor f, H' = ⌊f · H⌋ and 1 / f takes the place of H / H'.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        size: H' and W', or one number for both.
        scale_factor: how many times as large, a positive number, or one for each of height and width.
        mode: "nearest" (default) or "bilinear".
        align_corners: for "bilinear", whether the outermost pixels stay where they are; None (default) is False.
    Raises: ValueError when called, for another mode, for both or neither of size and factor, for `align_corners` with
        "nearest", for a size below 1, and for an input without four axes; TypeError if the input is not a tensor.
    Example:
        >>> nn.Upsample(scale_factor=2)(mg.tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
        >>> nn.Upsample(size=(1, 4), mode="bilinear")(mg.tensor([[[[0.0, 4.0]]]])).tolist()
        [[[[0.0, 1.0, 3.0, 4.0]]]]

    See: torch.nn.Upsample.
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
    ):
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, input: Any) -> Tensor:
        """Return images of shape (N, C, H', W')."""
        return functional.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)


class PixelShuffle(Module):
    """Pixel shuffle: rearranges channels into space, an image r times as high and wide.

    out[n, c, r i + a, r j + b] = x[n, c r² + a r + b, i, j].

    Shapes: (N, C · r², H, W) -> (N, C, H · r, W · r).
    Args:
        upscale_factor: r, at least 1.
    Raises: ValueError when called, if r² does not divide the channels, and for an input without four axes;
        TypeError if the input is not a tensor.
    Example:
        >>> nn.PixelShuffle(2)(mg.tensor([[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]])).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]

    See: torch.nn.PixelShuffle; Shi et al., Real-time single image and video super-resolution using an efficient
        sub-pixel convolutional neural network, 2016.
    """

    def __init__(self, upscale_factor: int):
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Tensor:
        """Return images of shape (N, C, H * r, W * r)."""
        return functional.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """Pixel unshuffle: rearranges space into channels, the inverse of `PixelShuffle`.

    out[n, c r² + a r + b, i, j] = x[n, c, r i + a, r j + b].

    Shapes: (N, C, H · r, W · r) -> (N, C · r², H, W).
    Args:
        downscale_factor: r, at least 1.
    Raises: ValueError when called, if r does not divide height and width, and for an input without four axes;
        TypeError if the input is not a tensor.
    Example:
        >>> nn.PixelUnshuffle(2)(mg.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])).tolist()
        [[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]]

    See: torch.nn.PixelUnshuffle.
    """

    def __init__(self, downscale_factor: int):
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Tensor:
        """Return images of shape (N, C * r * r, H, W)."""
        return functional.pixel_unshuffle(input, self.downscale_factor)
