"""Lines, volumes, images of another size, normalisation by channels, and steps of recurrent networks.

Names and signatures are PyTorch's.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np

from ... import ops
from ...tensor import Tensor
from ...variable import no_grad

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "batch_norm", "conv1d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "group_norm", "gru_cell", "instance_norm", "interpolate", "lstm_cell", "max_pool1d",
    "pixel_shuffle", "pixel_unshuffle", "rms_norm", "rnn_relu_cell", "rnn_tanh_cell",
]  # fmt: skip

PLACES = {1: "length", 2: "height, width", 3: "depth, height, width"}


def each_axis(value: Any, count: int, name: str) -> tuple[Any, ...]:
    """One number for all axes, or one for each."""
    numbers = (value,) * count if isinstance(value, (int, float)) else tuple(value)
    if len(numbers) != count:
        raise ValueError(f"{name} is one number, or {count} (along {PLACES[count]}), got {value}")
    return numbers


# Windows --------------------------------------------------------------------------------------------------------------


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """A short line of weights compared with every window of each line.

    Shapes: input (N, C, L), weight (O, C / groups, k), bias (O,); the result is (N, O, L'). `padding` is a number,
    "valid" (none), or "same" (the result is as long as the input; needs stride 1).
    """
    input, settings = _convolution("conv1d", 1, input, weight, stride, padding, dilation, groups)
    return ops.conv1d(input, weight, bias, groups=groups, **{name: value for name, (value,) in settings.items()})


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """A small volume of weights compared with every window of each volume.

    Shapes: input (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), bias (O,); the result is (N, O, D', H', W').
    `padding` as in `conv1d`, or a number for each axis.
    """
    input, settings = _convolution("conv3d", 3, input, weight, stride, padding, dilation, groups)
    return ops.conv3d(input, weight, bias, groups=groups, **settings)


def _convolution(
    name: str, axes: int, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Any, dict[str, tuple[int, ...]]]:
    """The input, with its border where "same" asks for one, and a number for each axis."""
    _refuse_places(name, axes, input)
    if weight.ndim != axes + 2 or input.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ValueError(
            f"{name}: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"(out channels, {input.shape[1]} / {groups}, kernel), with out channels a multiple of groups"
        )
    strides, dilations = each_axis(stride, axes, "stride"), each_axis(dilation, axes, "dilation")
    if padding == "same":
        if any(step != 1 for step in strides):
            raise ValueError(f"{name}: padding='same' needs stride 1, got {stride}")
        whole = [step * (length - 1) for step, length in zip(dilations, weight.shape[2:], strict=True)]
        input = ops.pad(input, pad_width=((0, 0), (0, 0), *((each // 2, each - each // 2) for each in whole)))
        padding = 0
    paddings = each_axis(0 if padding == "valid" else padding, axes, "padding")
    for length, kernel, border, step in zip(input.shape[2:], weight.shape[2:], paddings, dilations, strict=True):
        if step * (kernel - 1) >= length + 2 * border:
            raise ValueError(
                f"{name}: a kernel of {weight.shape[2:]} (dilation {dilation}) is larger than the input "
                f"{input.shape[2:]} with padding {padding}"
            )
    return input, {"stride": strides, "padding": paddings, "dilation": dilations}


def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The transpose of `conv1d`: (N, C, L) and weight (C, O / groups, k) to (N, O, L')."""
    settings = _transposed("conv_transpose1d", 1, input, weight, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose1d(
        input, weight, bias, groups=groups, **{name: value for name, (value,) in settings.items()}
    )


def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """The transpose of `conv2d`: (N, C, H, W) and weight (C, O / groups, kh, kw) to (N, O, H', W').

    A stride leaves several sizes possible; `output_padding`, smaller than stride or dilation, says how much larger than
    the smallest.
    """
    settings = _transposed("conv_transpose2d", 2, input, weight, stride, padding, output_padding, groups, dilation)
    return ops.conv_transpose2d(input, weight, bias, groups=groups, **settings)


def _transposed(
    name: str, axes: int, input: Any, weight: Any, stride: Any, padding: Any, output_padding: Any, groups: int,
    dilation: Any,
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """A number for each axis."""
    _refuse_places(name, axes, input)
    if weight.ndim != axes + 2 or input.shape[1] != weight.shape[0] or weight.shape[0] % groups:
        raise ValueError(
            f"{name}: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"({input.shape[1]}, out channels / groups, kernel), with {input.shape[1]} a multiple of groups"
        )
    given = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
    settings = {key: each_axis(value, axes, key) for key, value in given.items()}
    for more, step, spread in zip(settings["output_padding"], settings["stride"], settings["dilation"], strict=True):
        if more >= max(step, spread):
            raise ValueError(f"{name}: output_padding {output_padding} must be smaller than stride or dilation")
    return settings


def max_pool1d(input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """The largest entry of each window of a line; windows stand next to each other unless `stride` says otherwise."""
    kernel, step, border = _windows("max_pool1d", input, kernel_size, stride, padding)
    (dilation,) = each_axis(dilation, 1, "dilation")
    return ops.max_pool1d(input, kernel_size=kernel, stride=step, padding=border, dilation=dilation)


def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window of a line; `count_include_pad` says whether a border of padding counts as entries."""
    kernel, step, border = _windows("avg_pool1d", input, kernel_size, stride, padding)
    return ops.avg_pool1d(input, kernel_size=kernel, stride=step, padding=border, count_include_pad=count_include_pad)


def _windows(name: str, input: Any, kernel_size: Any, stride: Any, padding: Any) -> tuple[int, int, int]:
    _refuse_places(name, 1, input)
    (kernel,), (border,) = each_axis(kernel_size, 1, "kernel_size"), each_axis(padding, 1, "padding")
    if border > kernel // 2:
        raise ValueError(f"{name}: padding {border} is more than half of the window {kernel}: some would see nothing")
    return kernel, kernel if stride is None else each_axis(stride, 1, "stride")[0], border


def _refuse_places(name: str, axes: int, input: Any) -> None:
    if input.ndim != axes + 2:
        raise ValueError(f"{name}: input has shape {input.shape}, expected (examples, channels, {PLACES[axes]})")


# Another size ---------------------------------------------------------------------------------------------------------


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """Means of windows that part a line (N, C, L) into `output_size`."""
    _refuse_places("adaptive_avg_pool1d", 1, input)
    return ops.resample(input, length=output_size, axis=-1, mode="average")


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Means of windows that part an image (N, C, H, W) into `output_size`, (rows, columns) or one number for both;
    None keeps an axis as it is."""
    _refuse_places("adaptive_avg_pool2d", 2, input)
    wanted = (output_size, output_size) if output_size is None else each_axis(output_size, 2, "output_size")
    size = tuple(old if new is None else new for old, new in zip(input.shape[2:], wanted, strict=True))
    return ops.adaptive_avg_pool2d(input, output_size=size)


def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False
) -> Tensor:
    """An image (N, C, H, W) of another `size`, or `scale_factor` times as large.

    `mode` is "nearest" or "bilinear"; `align_corners` keeps the outermost entries where they are.
    """
    _refuse_places("interpolate", 2, input)
    if mode not in ("nearest", "bilinear"):
        raise ValueError(f"interpolate: mode is 'nearest' or 'bilinear', got {mode!r}")
    if align_corners and mode == "nearest":
        raise ValueError("interpolate: align_corners is for mode='bilinear'")
    if (size is None) == (scale_factor is None):
        raise ValueError(f"interpolate: give either size or scale_factor, got {size} and {scale_factor}")
    how = "nearest" if mode == "nearest" else "corners" if align_corners else "linear"
    if size is not None:
        return ops.interpolate(input, size=each_axis(size, 2, "size"), mode=how)
    factors = each_axis(scale_factor, 2, "scale_factor")
    size = tuple(floor(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True))
    return ops.interpolate(input, size=size, mode=how, steps=tuple(1 / factor for factor in factors))


def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""
    _refuse_places("pixel_shuffle", 2, input)
    if input.shape[1] % upscale_factor**2:
        raise ValueError(
            f"pixel_shuffle: {input.shape[1]} channels are no multiple of {upscale_factor} * {upscale_factor}"
        )
    return ops.pixel_shuffle(input, upscale_factor=upscale_factor)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Places laid out as channels: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""
    _refuse_places("pixel_unshuffle", 2, input)
    if any(length % downscale_factor for length in input.shape[2:]):
        raise ValueError(f"pixel_unshuffle: height and width {input.shape[2:]} are no multiples of {downscale_factor}")
    return ops.pixel_unshuffle(input, downscale_factor=downscale_factor)


# Normalisation --------------------------------------------------------------------------------------------------------


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    """The last axes, of lengths `normalized_shape`, divided by the root of their mean square, `* weight`. `eps` is the
    smallest step of the dtype unless given."""
    lengths = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not lengths or input.shape[-len(lengths) :] != lengths:
        raise ValueError(f"rms_norm: input has shape {input.shape}, which does not end in {lengths}")
    smallest = float(np.finfo(input.dtype).eps) if eps is None else eps
    return ops.rms_norm(input, weight, axes=len(lengths), eps=smallest)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """The channels of each example in groups, each brought to mean 0 and variance 1. Shape (N, channels, ...)."""
    return ops.group_norm(input, weight, bias, num_groups=num_groups, eps=eps)


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel of each example brought to mean 0 and variance 1, or measured by what is running.

    Shape (N, channels, ...). With `use_input_stats`, running statistics that are given follow the mean over examples.
    """
    if not use_input_stats:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    places = tuple(range(2, input.ndim))
    if input.ndim < 3 or _count(input, places) < 2:
        raise ValueError(f"instance_norm: input has shape {input.shape}: one place for each channel has no variance")
    if running_mean is not None:
        with no_grad():
            follow(running_mean, ops.mean(ops.mean(input, axis=places), axis=0), momentum)
            follow(running_var, ops.mean(ops.var(input, axis=places, ddof=1), axis=0), momentum)
    return ops.instance_norm(input, weight, bias, eps=eps)


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel brought to mean 0 and variance 1: those of the batch while `training`, else those that are running.

    Shape (N, channels, ...). While training, running statistics that are given move towards the batch's by the share
    `momentum`, outside the graph; the variance among them is the unbiased one.
    """
    if not training:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    over = (0, *range(2, input.ndim))
    if _count(input, over) < 2:
        raise ValueError(f"batch_norm: input has shape {input.shape}: one number for each channel has no variance")
    if running_mean is not None:
        with no_grad():
            follow(running_mean, ops.mean(input, axis=over), momentum)
            follow(running_var, ops.var(input, axis=over, ddof=1), momentum)
    return ops.batch_norm(input, weight, bias, eps=eps)


def follow(running: Tensor, value: Tensor, momentum: float) -> None:
    """A buffer moved towards a value by the share `momentum`."""
    running.assign(running.detach() * (1 - momentum) + value * momentum)


def _count(input: Any, axes: tuple[int, ...]) -> int:
    return int(np.prod([input.shape[axis] for axis in axes]))


# Recurrent networks ---------------------------------------------------------------------------------------------------


def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """tanh of the input and the hidden state, each through its linear layer. Shapes as in `nn.RNNCell`."""
    return ops.tanh(ops.linear_layer(input, w_ih, b_ih) + ops.linear_layer(hx, w_hh, b_hh))


def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """The same with relu."""
    return ops.relu(ops.linear_layer(input, w_ih, b_ih) + ops.linear_layer(hx, w_hh, b_hh))


def lstm_cell(
    input: Any, hx: tuple[Any, Any], w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of a long short-term memory: from the input and (hidden, cell) to the next (hidden, cell).

    Shapes: input (..., in), hidden and cell (..., H), w_ih (4 H, in), w_hh (4 H, H), biases (4 H,).
    """
    hidden, cell = hx
    gates = ops.linear_layer(input, w_ih, b_ih) + ops.linear_layer(hidden, w_hh, b_hh)
    return ops.lstm_cell(gates, cell)


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of a gated recurrent unit: from the input and the hidden state to the next hidden state.

    Shapes: input (..., in), hidden (..., H), w_ih (3 H, in), w_hh (3 H, H), biases (3 H,).
    """
    return ops.gru_cell(ops.linear_layer(input, w_ih, b_ih), ops.linear_layer(hx, w_hh, b_hh), hx)
