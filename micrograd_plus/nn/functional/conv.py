"""Convolutions of lines, images and volumes, and `unfold` and `fold`.

A setting such as `stride` is one number, or one for each axis. `groups` parts the channels: each group of outputs sees
its own group of inputs.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ... import ops
from ...backends.shapes import windows_along
from ...tensor import Tensor
from .shapes import each_axis, on_a_line, one_or_many, refuse_places, windows

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "unfold"]


@one_or_many(1)
def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Compute the 1-D convolution (cross-correlation) of lines with learned filters.

        out[n, o, i] = bias[o] + Σ_c,p weight[o, c, p] · padded[n, c, s · i + d · p]

    with s the stride, d the dilation and padded the input between its zeros; the filter is not flipped. The size of the
    result is

        L' = floor((L + 2 · padding - dilation · (k - 1) - 1) / stride) + 1

    Shapes: input (N, C, L), weight (O, C / groups, k), bias (O,) -> (N, O, L').
    Args:
        input: a tensor, N lines of C channels.
        weight: a tensor, one filter for each of O output channels.
        bias: a tensor, added to each output channel; None by default.
        stride: how far the filter moves from place to place, a number; 1 by default.
        padding: zeros added on both sides of each axis, a number, or "valid" (none), or "same" (the result is
            as large as the input; for stride 1 only); 0 by default.
        dilation: step between neighbouring weights, a number; 1 by default.
        groups: number of groups of channels; each group of outputs sees one group of inputs; 1 by default.
    Returns: a tensor (N, O, L') of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit, the filter is larger than the padded input, or a setting is not allowed;
        TypeError if input or weight is not a tensor, or a setting no integer.
    Example:
        >>> F.conv1d(mg.tensor([[[0.0, 0.0, 1.0, 0.0]]]), mg.tensor([[[1.0, 2.0, 3.0]]]), padding="same").tolist()
        [[[0.0, 3.0, 2.0, 1.0]]]

    See: torch.nn.functional.conv1d, numpy.correlate.
    """
    input, settings = _convolution(1, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv1d(input, weight, bias, groups=groups, **on_a_line(settings))


@one_or_many(2)
def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Compute the 2-D convolution (cross-correlation) of images with learned filters.

        out[n, o, i, j] = bias[o] + Σ_c,p,q weight[o, c, p, q] · padded[n, c, s · i + d · p, s · j + d · q]

    with s the stride, d the dilation and padded the input in its border of zeros; the filter is not flipped. The size
    of the result is

        H' = floor((H + 2 · padding - dilation · (kH - 1) - 1) / stride) + 1,   and W' alike

    Shapes: input (N, C, H, W), weight (O, C / groups, kH, kW), bias (O,) -> (N, O, H', W').
    Args:
        input: a tensor, N images of C channels.
        weight: a tensor, one filter for each of O output channels.
        bias: a tensor, added to each output channel; None by default.
        stride: how far the filter moves from place to place, a number or a pair; 1 by default.
        padding: zeros added on both sides of each axis, a number or a pair, or "valid" (none), or "same" (the
            result is as large as the input; for stride 1 only); 0 by default.
        dilation: step between neighbouring weights, a number or a pair; 1 by default.
        groups: number of groups of channels; each group of outputs sees one group of inputs; 1 by default.
    Returns: a tensor (N, O, H', W') of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit, the filter is larger than the padded input, or a setting is not allowed;
        TypeError if input or weight is not a tensor, or a setting no integer.
    Example:
        >>> image, weight = mg.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]), mg.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
        >>> F.conv2d(image, weight).tolist()
        [[[[6.0, 8.0]]]]

    See: torch.nn.functional.conv2d, scipy.signal.correlate2d; CS231n notes, Convolutional networks; Dumoulin and Visin,
        A guide to convolution arithmetic, 2016.
    """
    input, settings = _convolution(2, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv2d(input, weight, bias, groups=groups, **settings)


@one_or_many(3)
def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """Compute the 3-D convolution (cross-correlation) of volumes with learned filters.

    A small volume of weights slides over each volume, as in conv2d with depth as one more axis: at every place its
        products with the entries below are summed over channels and window, and bias is added; the filter is not
        flipped.
    The size of the result is

        D' = floor((D + 2 · padding - dilation · (kD - 1) - 1) / stride) + 1,   and H', W' alike

    Shapes: input (N, C, D, H, W), weight (O, C / groups, kD, kH, kW), bias (O,) -> (N, O, D', H', W').
    Args:
        input: a tensor, N volumes of C channels.
        weight: a tensor, one filter for each of O output channels.
        bias: a tensor, added to each output channel; None by default.
        stride: how far the filter moves from place to place, a number or three; 1 by default.
        padding: zeros added on both sides of each axis, a number or three, or "valid" (none), or "same" (the
            result is as large as the input; for stride 1 only); 0 by default.
        dilation: step between neighbouring weights, a number or three; 1 by default.
        groups: number of groups of channels; each group of outputs sees one group of inputs; 1 by default.
    Returns: a tensor (N, O, D', H', W') of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit, the filter is larger than the padded input, or a setting is not allowed;
        TypeError if input or weight is not a tensor, or a setting no integer.
    Example:
        >>> F.conv3d(mg.tensor(np.ones((1, 1, 2, 2, 2))), mg.tensor(np.ones((1, 1, 2, 2, 1)))).tolist()
        [[[[[4.0, 4.0]]]]]

    See: torch.nn.functional.conv3d; Tran et al., Learning spatiotemporal features with 3D convolutional networks, 2015.
    """
    input, settings = _convolution(3, input, weight, bias, stride, padding, dilation, groups)
    return ops.conv3d(input, weight, bias, groups=groups, **settings)


def _convolution(
    axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """Return the input, padded for "same", and the settings for each axis; raise if they do not fit."""
    name = f"conv{axes}d"
    refuse_places(name, axes, input)
    fits = weight.ndim == axes + 2 and groups >= 1 and weight.shape[0] % groups == 0
    if not fits or input.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"{name}: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"(out channels, {input.shape[1]} / {groups}, kernel), with out channels a multiple of groups"
        )
    if padding == "same":
        input, padding = _pad_same(name, input, weight, stride, dilation), 0
    return input, windows(name, input, weight.shape[2:], stride, plain_padding(name, padding), dilation)


def plain_padding(name: str, padding: Any) -> Any:
    """Return a padding as numbers."""
    if isinstance(padding, str) and padding != "valid":
        raise ValueError(f"{name}: padding must be a number, one for each axis, 'valid' or 'same', got {padding!r}")
    return 0 if padding == "valid" else padding


def _pad_same(name: str, input: Any, weight: Any, stride: Any, dilation: Any) -> Tensor:
    """Pad so that there is one window for each entry; an odd padding is wider at the end."""
    axes = weight.ndim - 2
    if any(step != 1 for step in each_axis(stride, axes, "stride", 1)):
        raise ValueError(f"{name}: stride must be 1 with padding='same', got {stride}")
    apart = zip(each_axis(dilation, axes, "dilation", 1), weight.shape[2:], strict=True)
    widths = [between * (length - 1) for between, length in apart]
    return ops.pad(input, pad_width=((0, 0), (0, 0), *((width // 2, width - width // 2) for width in widths)))


@one_or_many(1)
def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Compute the 1-D transposed convolution: each entry adds the filter, scaled by it, to the result.

    It is the transpose of conv1d as a linear map: what that convolution gathers to one entry, this one spreads from it;
    overlapping entries add up, and bias is added. The size of the result is

        L' = (L - 1) · stride - 2 · padding + dilation · (k - 1) + output_padding + 1

    Shapes: input (N, C, L), weight (C, O / groups, k), bias (O,) -> (N, O, L').
    Args:
        input: a tensor, N lines of C channels.
        weight: a tensor, one filter for each input channel and each output channel of its group.
        bias: a tensor, added to each output channel; None by default.
        stride: step between the outputs of neighbouring entries, a number; 1 by default.
        padding: how many entries are cut off before and behind each axis, a number; 0 by default.
        output_padding: a stride leaves several lengths possible; this says how much longer than the shortest, a number,
            smaller than the stride; 0 by default.
        groups: number of groups of channels; each group of inputs writes to one group of outputs; 1 by default.
        dilation: step between neighbouring weights, a number; 1 by default.
    Returns: a tensor (N, O, L') of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit, padding leaves nothing, or a setting is not allowed; TypeError if
        input or weight is not a tensor, or a setting no integer.
    Example:
        >>> F.conv_transpose1d(mg.tensor([[[1.0, 10.0]]]), mg.tensor([[[1.0, 2.0, 3.0]]])).tolist()
        [[[1.0, 12.0, 23.0, 30.0]]]

    See: torch.nn.functional.conv_transpose1d.
    """
    settings = _settings_of_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose1d(input, weight, bias, groups=groups, **on_a_line(settings))


@one_or_many(2)
def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Compute the 2-D transposed convolution: each entry adds the filter, scaled by it, to the result.

    It is the transpose of conv2d as a linear map: what that convolution gathers to one entry, this one spreads from it;
    overlapping entries add up, and bias is added. The size of the result is

        H' = (H - 1) · stride - 2 · padding + dilation · (kH - 1) + output_padding + 1,   and W' alike

    Shapes: input (N, C, H, W), weight (C, O / groups, kH, kW), bias (O,) -> (N, O, H', W').
    Args:
        input: a tensor, N images of C channels.
        weight: a tensor, one filter for each input channel and each output channel of its group.
        bias: a tensor, added to each output channel; None by default.
        stride: step between the outputs of neighbouring entries, a number or a pair; 1 by default.
        padding: how many entries are cut off before and behind each axis, a number or a pair; 0 by default.
        output_padding: a stride leaves several lengths possible; this says how much longer than the shortest, a number
            or a pair, smaller than the stride; 0 by default.
        groups: number of groups of channels; each group of inputs writes to one group of outputs; 1 by default.
        dilation: step between neighbouring weights, a number or a pair; 1 by default.
    Returns: a tensor (N, O, H', W') of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit, padding leaves nothing, or a setting is not allowed; TypeError if
        input or weight is not a tensor, or a setting no integer.
    Example:
        >>> F.conv_transpose2d(mg.tensor([[[[1.0, 10.0]]]]), mg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).tolist()
        [[[[1.0, 12.0, 20.0], [3.0, 34.0, 40.0]]]]

    See: torch.nn.functional.conv_transpose2d; Dumoulin and Visin, A guide to convolution arithmetic, 2016.
    """
    settings = _settings_of_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose2d(input, weight, bias, groups=groups, **settings)


@one_or_many(3)
def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Compute the 3-D transposed convolution: each entry adds the filter, scaled by it, to the result.

    It is the convolution of the volume with zeros between its entries and a border round them, the filter turned round.
    The result has the size of `conv_transpose2d`, along the depth as well.

    Shapes: input (N, C, D, H, W), weight (C, O / groups, kD, kH, kW), bias (O,) -> (N, O, D', H', W'); without N the
        same.
    Args:
        input: a tensor, N volumes of C channels.
        weight: a tensor, one filter for each input channel and each output channel of its group.
        bias: a tensor, added to each output channel; None by default.
        stride: step between the outputs of neighbouring entries, a number or three; 1 by default.
        padding: how many entries are cut off before and behind each axis, a number or three; 0 by default.
        output_padding: a stride leaves several lengths possible; this says how much longer than the shortest, a number
            or three, smaller than the stride; 0 by default.
        groups: number of groups of channels; each group of inputs writes to one group of outputs; 1 by default.
        dilation: step between neighbouring weights, a number or three; 1 by default.
    Returns: a tensor of the dtype that holds input and weight.
    Raises: ValueError if shapes or groups do not fit, or the result would be empty; TypeError if input or weight
        is not a tensor, or a setting no integer.
    Example:
        >>> F.conv_transpose3d(mg.ones(1, 1, 1, 1, 2), mg.ones(1, 1, 1, 1, 2)).tolist()
        [[[[[1.0, 2.0, 1.0]]]]]

    See: torch.nn.functional.conv_transpose3d.
    """
    given = _settings_of_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
    kernel = weight.shape[2:]
    for axis, step in enumerate(given["stride"], start=2):
        if step > 1:
            wide = ops.stack([input, *[0 * input] * (step - 1)], axis=axis + 1)
            lengths = (*input.shape[:axis], input.shape[axis] * step, *input.shape[axis + 1 :])
            input = ops.reshape(wide, shape=lengths)
            input = input[(slice(None),) * axis + (slice(None, lengths[axis] - step + 1),)]
    borders = []
    for axis, (k, apart, border, more) in enumerate(
        zip(kernel, given["dilation"], given["padding"], given["output_padding"], strict=True), start=2
    ):
        reach = apart * (k - 1) - border
        start, stop = max(-reach, 0), input.shape[axis] - max(-reach - more, 0)
        if stop <= start:
            raise ValueError(f"conv_transpose3d: padding {padding} leaves nothing of the input")
        input = input[(slice(None),) * axis + (slice(start, stop),)]
        borders.append((max(reach, 0), max(reach + more, 0)))
    wide = ops.pad(input, pad_width=((0, 0), (0, 0), *borders))
    parts = ops.reshape(weight, shape=(groups, weight.shape[0] // groups, *weight.shape[1:]))
    turned = ops.flip(ops.swapaxes(parts, 1, 2), axis=(3, 4, 5))
    filters = ops.reshape(turned, shape=(groups * weight.shape[1], weight.shape[0] // groups, *kernel))
    return ops.conv3d(wide, filters, bias, dilation=given["dilation"], groups=groups)


def _settings_of_transpose(
    axes: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any,
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """Return the settings for each axis; raise if they do not fit."""
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
    """Extract the sliding windows of images as columns (im2col).

    Column l of the result holds the entries of window l, channel by channel, each window row by row; windows go along
    each row of the image, then down. Over height and width, there are

        windows = Π_i floor((length_i + 2 · padding_i - dilation_i · (kernel_size_i - 1) - 1) / stride_i + 1)

    Shapes: (N, C, H, W) -> (N, C · kH · kW, windows).
    Args:
        input: a tensor, N images of C channels.
        kernel_size: height and width of the windows, (kH, kW) or one number for both.
        dilation: step between the entries of a window, a number or a pair; 1 by default.
        padding: zeros added around the image, a number or a pair; 0 by default.
        stride: step from one window to the next, a number or a pair; 1 by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if input does not have four axes, a window is larger than the padded image, or a setting is not
        allowed; TypeError if input is not a tensor.
    Example:
        >>> F.unfold(mg.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]), kernel_size=2).tolist()
        [[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]]

    See: torch.nn.functional.unfold, numpy.lib.stride_tricks.sliding_window_view; CS231n notes, Convolutional networks.
    """
    refuse_places("unfold", 2, input)
    kernel = each_axis(kernel_size, 2, "kernel_size", 1)
    return ops.unfold(input, kernel_size=kernel, **windows("unfold", input, kernel, stride, padding, dilation))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Add columns of windows into images (col2im), the transpose of unfold.

    Each column goes back to the position of its window; overlapping entries add up, and what falls on the padding is
    dropped.

    Shapes: (N, C · kH · kW, windows) -> (N, C, H, W).
    Args:
        input: a tensor, one column for each window.
        output_size: height and width of the images, (H, W) or one number for both.
        kernel_size: height and width of the windows, (kH, kW) or one number for both.
        dilation: step between the entries of a window, a number or a pair; 1 by default.
        padding: zeros that were added around the image, a number or a pair; 0 by default.
        stride: step from one window to the next, a number or a pair; 1 by default.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if the number of columns is not the number of windows, or a setting is not allowed; TypeError if
        input is not a tensor.
    Example:
        >>> columns = mg.tensor([[[1.0, 2.0], [2.0, 3.0], [4.0, 5.0], [5.0, 6.0]]])
        >>> F.fold(columns, output_size=(2, 3), kernel_size=2).tolist()
        [[[[1.0, 4.0, 3.0], [4.0, 10.0, 6.0]]]]

    See: torch.nn.functional.fold.
    """
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
