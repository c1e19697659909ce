"""Convolutions along lines, images and volumes, and the columns of windows that they are made of.

A setting such as `stride` is one number, or one for each axis. `groups` parts the channels: each group of outputs sees
its own group of inputs.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ... import ops
from ...readings.shapes import windows_along
from ...tensor import Tensor
from .shapes import each_axis, on_a_line, refuse_places, windows

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "fold", "unfold"]


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """A short line of weights compared with every window of each line.

    Shapes: input (N, C, L), weight (O, C / groups, k), bias (O,); the result is (N, O, L'). `padding` is a number,
    "valid" (none), or "same" (the result is as long as the input; needs stride 1).

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.conv1d(mg.tensor([[[0.0, 0, 1, 0]]]), mg.tensor([[[1.0, 2, 3]]]), padding="same").tolist()
    [[[0.0, 3.0, 2.0, 1.0]]]
    """
    input, settings = _convolution(1, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv1d(input, weight, bias, groups=groups, **on_a_line(settings))


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """A small image of weights compared with every window of each image.

    Shapes: input (N, C, H, W), weight (O, C / groups, kh, kw), bias (O,); the result is (N, O, H', W'). `padding` as in
    `conv1d`.
    """
    input, settings = _convolution(2, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv2d(input, weight, bias, groups=groups, **settings)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """A small volume of weights compared with every window of each volume.

    Shapes: input (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), bias (O,); the result is (N, O, D', H', W').
    `padding` as in `conv1d`.
    """
    input, settings = _convolution(3, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv3d(input, weight, bias, groups=groups, **settings)


def _convolution(
    axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """The input, with its border where "same" asks for one, and a number for each axis. Refuses what does not fit."""
    name = f"conv{axes}d"
    refuse_places(name, axes, input)
    fits = weight.ndim == axes + 2 and groups >= 1 and weight.shape[0] % groups == 0
    if not fits or input.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"{name}: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"(out channels, {input.shape[1]} / {groups}, kernel), with out channels a multiple of groups"
        )
    if padding == "same":
        input, padding = _bordered(name, input, weight, stride, dilation), 0
    return input, windows(name, input, weight.shape[2:], stride, plain_padding(name, padding), dilation)


def plain_padding(name: str, padding: Any) -> Any:
    """A padding in numbers."""
    if isinstance(padding, str) and padding != "valid":
        raise ValueError(f"{name}: padding is a number, one for each axis, 'valid' or 'same', got {padding!r}")
    return 0 if padding == "valid" else padding


def _bordered(name: str, input: Any, weight: Any, stride: Any, dilation: Any) -> Tensor:
    """A border so wide that there is one window for each entry; an odd one is wider at the end."""
    axes = weight.ndim - 2
    if any(step != 1 for step in each_axis(stride, axes, "stride", 1)):
        raise ValueError(f"{name}: padding='same' needs stride 1, got {stride}")
    apart = zip(each_axis(dilation, axes, "dilation", 1), weight.shape[2:], strict=True)
    widths = [between * (length - 1) for between, length in apart]
    return ops.pad(input, pad_width=((0, 0), (0, 0), *((width // 2, width - width // 2) for width in widths)))


def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The transpose of `conv1d`: each entry writes the kernel, times itself.

    Shapes: input (N, C, L), weight (C, O / groups, k), bias (O,); the result is (N, O, L'). A stride leaves several
    lengths possible; `output_padding`, smaller than the stride, says how much longer than the shortest.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.conv_transpose1d(mg.tensor([[[1.0, 10.0]]]), mg.tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.0, 12.0, 23.0, 30.0]]]
    """
    settings = _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose1d(input, weight, bias, groups=groups, **on_a_line(settings))


def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The transpose of `conv2d`: each entry writes the kernel, times itself.

    Shapes: input (N, C, H, W), weight (C, O / groups, kh, kw), bias (O,); the result is (N, O, H', W').
    `output_padding` as in `conv_transpose1d`.
    """
    settings = _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose2d(input, weight, bias, groups=groups, **settings)


def _transposed(
    axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any,
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """A number for each axis. Refuses what does not fit."""
    name = f"conv_transpose{axes}d"
    refuse_places(name, axes, input)
    if weight.ndim != axes + 2 or input.shape[1] != weight.shape[0] or groups < 1 or weight.shape[0] % groups:
        raise ValueError(
            f"{name}: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"({input.shape[1]}, out channels / groups, kernel), with {input.shape[1]} a multiple of groups"
        )
    steps, apart = each_axis(stride, axes, "stride", 1), each_axis(dilation, axes, "dilation", 1)
    borders, more = each_axis(padding, axes, "padding", 0), each_axis(output_padding, axes, "output_padding", 0)
    if any(each >= step for each, step in zip(more, steps, strict=True)):
        raise ValueError(f"{name}: output_padding {output_padding} must be smaller than stride {stride}")
    return {"stride": steps, "padding": borders, "output_padding": more, "dilation": apart}


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Each window of an image as one column: (N, C, H, W) to (N, C * kernel, windows).

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.unfold(mg.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]), kernel_size=2).tolist()
    [[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]]
    """
    refuse_places("unfold", 2, input)
    kernel = each_axis(kernel_size, 2, "kernel_size", 1)
    return ops.unfold(input, kernel_size=kernel, **windows("unfold", input, kernel, stride, padding, dilation))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns (N, C * kernel, windows) put back where `unfold` took them from; overlapping entries add up."""
    size, kernel = each_axis(output_size, 2, "output_size", 1), each_axis(kernel_size, 2, "kernel_size", 1)
    steps, apart = each_axis(stride, 2, "stride", 1), each_axis(dilation, 2, "dilation", 1)
    borders = each_axis(padding, 2, "padding", 0)
    count = prod(windows_along(size, kernel, steps, borders, apart))
    if input.ndim != 3 or input.shape[1] % prod(kernel) or input.shape[2] != count:
        raise ValueError(
            f"fold: input has shape {input.shape}, expected (examples, channels * {prod(kernel)}, {count}): one column "
            f"for each of {count} windows"
        )
    settings = {"kernel_size": kernel, "stride": steps, "padding": borders, "dilation": apart}
    return ops.fold(input, output_size=size, **settings)
