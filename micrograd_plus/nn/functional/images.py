"""Images of another size, pixels laid out anew, and borders."""

from __future__ import annotations

from math import floor
from typing import Any

from ... import ops
from ...tensor import Tensor
from .shapes import each_axis, refuse_places

__all__ = ["interpolate", "pad", "pixel_shuffle", "pixel_unshuffle"]

BORDERS = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "circular": "wrap"}
"""PyTorch's names of borders, and NumPy's."""


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Images (N, C, H, W) of another `size`, or `scale_factor` times as large.

    `mode` is "nearest" or "bilinear"; with the latter, `align_corners` keeps the outermost entries where they are.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.interpolate(mg.tensor([[[[0.0, 4.0]]]]), size=(1, 4), mode="bilinear").tolist()
    [[[[0.0, 1.0, 3.0, 4.0]]]]
    """
    refuse_places("interpolate", 2, input)
    if mode not in ("nearest", "bilinear"):
        raise ValueError(f"interpolate: mode is 'nearest' or 'bilinear', got {mode!r}")
    if align_corners is not None and mode == "nearest":
        raise ValueError("interpolate: align_corners is for mode='bilinear'")
    if (size is None) == (scale_factor is None):
        raise ValueError(f"interpolate: give either size or scale_factor, got {size} and {scale_factor}")
    how = "nearest" if mode == "nearest" else "corners" if align_corners else "linear"
    if size is not None:
        return ops.interpolate(input, size=each_axis(size, 2, "size", 1), mode=how)
    factors = each_axis(scale_factor, 2, "scale_factor")
    if min(factors) <= 0:
        raise ValueError(f"interpolate: scale_factor must be positive, got {scale_factor}")
    size = tuple(floor(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True))
    return ops.interpolate(input, size=size, mode=how, steps=tuple(1 / factor for factor in factors))


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""
    refuse_places("pixel_shuffle", 2, input)
    if upscale_factor < 1 or input.shape[1] % upscale_factor**2:
        raise ValueError(
            f"pixel_shuffle: {input.shape[1]} channels are no multiple of {upscale_factor} * {upscale_factor}"
        )
    return ops.pixel_shuffle(input, upscale_factor=upscale_factor)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Places laid out as channels: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""
    refuse_places("pixel_unshuffle", 2, input)
    if downscale_factor < 1 or any(length % downscale_factor for length in input.shape[2:]):
        raise ValueError(f"pixel_unshuffle: height and width {input.shape[2:]} are no multiples of {downscale_factor}")
    return ops.pixel_unshuffle(input, downscale_factor=downscale_factor)


def pad(input: Any, pad: tuple[int, ...], mode: str = "constant", value: float | None = None) -> Tensor:
    """A border in PyTorch's form: `pad` is (before, after) of the last axis, then of the one before it, and so on.

    `mode` is "constant" (of `value`, 0 unless given), "replicate", "reflect" or "circular". NumPy's form is `mg.pad`.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.pad(mg.tensor([[1.0, 2.0]]), (1, 0, 0, 1)).tolist()
    [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]
    """
    if mode not in BORDERS:
        raise ValueError(f"pad: mode is one of {', '.join(map(repr, BORDERS))}, got {mode!r}")
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise ValueError(f"pad: expected a pair (before, after) for some last axes of {input.shape}, got {pad}")
    named = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    width = (*((0, 0) for _ in range(input.ndim - len(named))), *reversed(named))
    return ops.pad(input, pad_width=width, mode=BORDERS[mode], constant_values=0.0 if value is None else value)
