"""Resizing, pixel shuffling and padding of images."""

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
    """Resize images by nearest neighbours or bilinear interpolation.

    With scale_factor, the size is floor(length · scale_factor) along each axis. Entry i of an axis is at this position,
    in old entries:

        "nearest":                        floor(i · step)
        "bilinear":                       (i + 1/2) · step - 1/2, held inside the image
        "bilinear" with align_corners:    i · (old length - 1) / (new length - 1)

    where step = old length / new length, or 1 / scale_factor where that is given; between two old entries both count by
    nearness.

    Shapes: (N, C, H, W) -> (N, C, H', W').
    Args:
        input: a tensor, N images of C channels.
        size: height and width of the result, (H', W') or one number for both.
        scale_factor: instead of size, how many times as large, a positive number or a pair.
        mode: "nearest" (the default) or "bilinear".
        align_corners: for "bilinear": whether the outermost entries stay where they are; False unless given.
    Returns: a tensor of the dtype of input (float64 for integers in bilinear mode).
    Raises: ValueError if input does not have four axes, mode is another, not exactly one of size and scale_factor is
        given, or nothing is left of the image; TypeError if input is not a tensor, or size holds no integers.
    Example:
        >>> F.interpolate(mg.tensor([[[[0.0, 4.0]]]]), size=(1, 4), mode="bilinear").tolist()
        [[[[0.0, 1.0, 3.0, 4.0]]]]

    See: torch.nn.functional.interpolate.
    """
    refuse_places("interpolate", 2, input)
    if mode not in ("nearest", "bilinear"):
        raise ValueError(f"interpolate: mode must be 'nearest' or 'bilinear', got {mode!r}")
    if align_corners is not None and mode == "nearest":
        raise ValueError("interpolate: align_corners is for mode='bilinear'")
    if (size is None) == (scale_factor is None):
        raise ValueError(f"interpolate: give either size or scale_factor, but not both; got {size} and {scale_factor}")
    how = "nearest" if mode == "nearest" else "corners" if align_corners else "linear"
    if size is not None:
        return ops.interpolate(input, size=each_axis(size, 2, "size", 1), mode=how)
    factors = each_axis(scale_factor, 2, "scale_factor")
    if min(factors) <= 0:
        raise ValueError(f"interpolate: scale_factor must be positive, got {scale_factor}")
    size = tuple(floor(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True))
    return ops.interpolate(input, size=size, mode=how, steps=tuple(1 / factor for factor in factors))


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Rearrange channels into space (pixel shuffle, depth to space).

    out[n, c, h · r + i, w · r + j] = input[n, c · r² + i · r + j, h, w], with r the upscale_factor.

    Shapes: (N, C · r², H, W) -> (N, C, H · r, W · r).
    Args:
        input: a tensor, N images.
        upscale_factor: how many times as high and as wide, r, an integer of at least 1.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have four axes, or its channels are not a multiple of r²; TypeError if input is
        not a tensor, or r no integer.
    Example:
        >>> F.pixel_shuffle(mg.tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), upscale_factor=2).tolist()
        [[[[1.0, 2.0], [3.0, 4.0]]]]

    See: torch.nn.functional.pixel_shuffle; Shi et al., Real-time single image and video super-resolution, 2016.
    """
    refuse_places("pixel_shuffle", 2, input)
    if upscale_factor < 1 or input.shape[1] % upscale_factor**2:
        raise ValueError(
            f"pixel_shuffle: {input.shape[1]} channels are no multiple of {upscale_factor} * {upscale_factor}"
        )
    return ops.pixel_shuffle(input, upscale_factor=upscale_factor)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Rearrange space into channels (pixel unshuffle, space to depth).

    The inverse of pixel_shuffle: out[n, c · r² + i · r + j, h, w] = input[n, c, h · r + i, w · r + j], with r the
    downscale_factor.

    Shapes: (N, C, H · r, W · r) -> (N, C · r², H, W).
    Args:
        input: a tensor, N images.
        downscale_factor: by how much height and width are divided, r, an integer of at least 1.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have four axes, or height and width are not multiples of r; TypeError if input
        is not a tensor, or r no integer.
    Example:
        >>> F.pixel_unshuffle(mg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), downscale_factor=2).tolist()
        [[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]

    See: torch.nn.functional.pixel_unshuffle.
    """
    refuse_places("pixel_unshuffle", 2, input)
    if downscale_factor < 1 or any(length % downscale_factor for length in input.shape[2:]):
        raise ValueError(f"pixel_unshuffle: height and width {input.shape[2:]} are no multiples of {downscale_factor}")
    return ops.pixel_unshuffle(input, downscale_factor=downscale_factor)


def pad(input: Any, pad: tuple[int, ...], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last axes, with PyTorch's arguments.

    `mg.pad` takes NumPy's arguments and modes.

    Shapes: any -> the same with longer last axes.
    Args:
        input: a tensor.
        pad: how much, (before, after) of the last axis, then of the one before it, and so on; integers, not
            negative.
        mode: "constant" (the default), "replicate" (the outermost entry again), "reflect" (mirrored about the outermost
            entry, which is not repeated) or "circular" (going on at the other end).
        value: the number in a constant border; 0 unless given; an integer where input holds such.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if mode is another, pad is odd or too long, or holds a negative number, or value is a fraction
        and input holds integers; TypeError if input is not a tensor, or pad no tuple.
    Example:
        >>> F.pad(mg.tensor([[1.0, 2.0]]), (1, 0, 0, 1)).tolist()
        [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]
        >>> F.pad(mg.tensor([1.0, 2.0, 3.0]), (1, 2), mode="reflect").tolist()
        [2.0, 1.0, 2.0, 3.0, 2.0, 1.0]

    See: torch.nn.functional.pad, numpy.pad.
    """
    if mode not in BORDERS:
        raise ValueError(f"pad: mode must be one of {', '.join(map(repr, BORDERS))}, got {mode!r}")
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise ValueError(f"pad: expected a pair (before, after) for some last axes of {input.shape}, got {pad}")
    named = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    width = (*((0, 0) for _ in range(input.ndim - len(named))), *reversed(named))
    return ops.pad(input, pad_width=width, mode=BORDERS[mode], constant_values=0.0 if value is None else value)
