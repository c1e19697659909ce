"""Quantisation: integers `round(x / scale + zero_point)` from `low` to `high`, and back.

Rounding is flat between its jumps, so its true gradient is 0 and nothing would learn. The rules here let the gradient
pass straight through instead, as if nothing had been rounded (Bengio, Léonard and Courville, "Estimating or propagating
gradients through stochastic neurons", 2013); clipped entries at `low` or `high` receives nothing. Scales and zero
points are constants unless an operation says that it learns them.

`quantize(x, ...).astype("int8")` stores integers, and carries no graph.
"""

from ..core.composite import composite
from ..core.define import elementwise, nondifferentiable, op, real_only, wraps_op
from ..core.messages import prefixes_errors
from ..ops.casts import astype
from ..ops.convolution import conv2d
from ..ops.shape import reshape

__all__ = [
    "dequantize", "dequantize_blocks", "dequantize_grouped_matmul", "dequantize_matmul", "fake_quantize",
    "fake_quantize_lsq", "quantize", "quantized_conv2d", "quantized_matmul",
]  # fmt: skip


@nondifferentiable(public=False)
@real_only
def is_unclipped(xp, x, scale, zero_point, *, low, high):
    """Return whether rounding to the range from `low` to `high` leaves an entry unclipped.

    low ≤ round(x / scale + zero_point) ≤ high, elementwise; halves are rounded to even. There is no gradient.
    Shapes: x, scale and zero_point of shapes that broadcast -> the broadcast shape.
    Args:
        scale: the length of a step.
        zero_point: the integer that stands for 0.
        low, high: the smallest and the largest integer, such as -128 and 127 for int8.
    Returns: a tensor of booleans.
    >>> mg.extras.quantisation.is_unclipped([1.0, 20.0], 0.1, 0, low=-128, high=127).tolist()
    [True, False]
    See: `fake_quantize`, whose gradient passes where this holds."""
    nearest = xp.round(x / scale + zero_point)
    return (nearest >= low) & (nearest <= high)


@elementwise(
    x=lambda xp, x, scale, zero_point, low, high: xp.is_unclipped(x, scale, zero_point, low=low, high=high) / scale,
)
def _quantize(xp, x, scale, zero_point, *, low=-128, high=127):
    """Round to an integer number of steps, from `low` to `high`. The gradient ignores the rounding."""
    return xp.clip(xp.round(x / scale + zero_point), low, high)


@wraps_op(_quantize, namespace=True)
@prefixes_errors
def quantize(x, scale, zero_point=0, *, low=-128, high=127, axis=None):
    """Quantise to an integer number of steps, limited to the range from `low` to `high`, stored as floats.

        q = clip(round(x / scale + zero_point), low, high)

    Halves are rounded to even. The gradient of x passes as if nothing were rounded, 1 / scale, and is 0 for clipped
    entries (straight-through estimator).
    Shapes: x any, scale and zero_point broadcast to x, or (n,) for n slices along `axis` -> the shape of x.
    Args:
        x: real numbers; a tensor or an array if `axis` is given.
        scale: the length of a step; it receives no gradient.
        zero_point: the integer that stands for 0; default 0. It receives no gradient.
        axis: the axis along which each slice has its own scale; None (default) for one scale.
    Returns: a tensor of integers in the dtype of x; `.astype("int8")` stores them and has no graph.
    >>> mg.quantize(mg.tensor([-0.26, 0.1, 0.24, 99.0]), scale=0.1).tolist()
    [-3.0, 1.0, 2.0, 127.0]
    >>> mg.quantize(mg.tensor([[1.0, 2.0], [1.0, 2.0]]), scale=[1.0, 0.5], axis=0).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    See: torch.quantize_per_tensor, torch.quantize_per_channel; Jacob et al., "Quantization and training of neural
        networks for efficient integer-arithmetic-only inference", 2018; Bengio, Léonard and Courville, "Estimating or
        propagating gradients through stochastic neurons", 2013, for the gradient."""
    return _quantize(x, _beside(scale, x, axis), _beside(zero_point, x, axis), low=low, high=high)


@elementwise(q=lambda scale: scale, scale=lambda q, zero_point: q - zero_point, zero_point=lambda scale: -scale)
def _dequantize(xp, q, scale, zero_point):
    """Convert quantised integers back to real numbers."""
    return (q - zero_point) * scale


@wraps_op(_dequantize, namespace=True)
@prefixes_errors
def dequantize(q, scale, zero_point=0, *, axis=None):
    """Convert quantised integers back to real numbers: (q - zero_point) * scale.

    Shapes: q any, scale and zero_point broadcast to q, or (n,) for n slices along `axis` -> the shape of q.
    Args:
        q: integers, as returned by `quantize`.
        scale: the length of a step.
        zero_point: the integer that stands for 0; default 0.
        axis: the axis along which each slice has its own scale; None (default) for one scale.
    Returns: a tensor of the common dtype of q and scale. All three inputs receive gradients.
    >>> mg.dequantize(mg.tensor([-3, 1, 2]), scale=0.5).tolist()
    [-1.5, 0.5, 1.0]
    See: torch.dequantize; `quantize`."""
    return _dequantize(q, _beside(scale, q, axis), _beside(zero_point, q, axis))


@elementwise()
def _fake_quantize(xp, x, scale, zero_point, *, low=-128, high=127, estimator="clipped"):
    """Quantise and convert back."""
    return (xp.clip(xp.round(x / scale + zero_point), low, high) - zero_point) * scale


@_fake_quantize.rule("x")
def _(xp, x, scale, zero_point, low, high, estimator):
    """An estimate replaces the derivative: 1 everywhere, 1 where nothing was clipped, or a bell over the range."""
    if estimator == "identity":
        return 1
    if estimator == "clipped":
        return xp.is_unclipped(x, scale, zero_point, low=low, high=high)
    place = (x / scale + zero_point - (low + high) / 2) / ((high - low) / 2)
    return 1 - xp.square(xp.tanh(place))


@wraps_op(_fake_quantize, namespace=True)
@prefixes_errors
def fake_quantize(x, scale, zero_point=0, *, low=-128, high=127, axis=None, estimator="clipped"):
    """Quantise and convert back, to train with quantisation errors.

        out = (clip(round(x / scale + zero_point), low, high) - zero_point) * scale

    Training so sees the errors that storing would make. The gradient of rounding is an estimate.
    Shapes: x any, scale and zero_point broadcast to x, or (n,) for n slices along `axis` -> the shape of x.
    Args:
        x: real numbers; a tensor or an array if `axis` is given.
        scale: the length of a step; it receives no gradient.
        zero_point: the integer that stands for 0; default 0. It receives no gradient.
        axis: the axis along which each slice has its own scale; None (default) for one scale.
        estimator: how the gradient passes through rounding: "identity" (unchanged), "clipped" (0 where x was clipped;
            default), or "tanh" (times 1 - tanh² over the range, so less towards its ends).
    Returns: a tensor of the dtype of x.
    Raises: ValueError if estimator is unknown, or the shapes do not broadcast; TypeError if an input is complex.
    >>> x = mg.tensor([-0.26, 0.125, 9.0], requires_grad=True)
    >>> out = mg.fake_quantize(x, scale=0.25, low=-8, high=7)
    >>> out.tolist()
    [-0.25, 0.0, 1.75]
    >>> mg.sum(out).backward()
    >>> x.grad.tolist()
    [1.0, 1.0, 0.0]
    See: torch.fake_quantize_per_tensor_affine; Jacob et al., "Quantization and training of neural networks for
        efficient integer-arithmetic-only inference", 2018."""
    if estimator not in ("identity", "clipped", "tanh"):
        raise ValueError(f"fake_quantize: estimator must be 'identity', 'clipped' or 'tanh', got {estimator!r}")
    scale, zero_point = _beside(scale, x, axis), _beside(zero_point, x, axis)
    return _fake_quantize(x, scale, zero_point, low=low, high=high, estimator=estimator)


@elementwise(x=lambda xp, x, step, low, high: xp.is_unclipped(x, step, 0, low=low, high=high))
def _fake_quantize_lsq(xp, x, step, *, low=-128, high=127, grad_factor=1.0):
    """Quantise and convert back, with a learned step."""
    return xp.clip(xp.round(x / step), low, high) * step


@_fake_quantize_lsq.rule("step")
def _(xp, x, step, low, high, grad_factor):
    """The derivative is the rounding error in steps, or the end of the range where x was clipped."""
    steps = x / step
    within = xp.is_unclipped(x, step, 0, low=low, high=high)
    return (xp.clip(xp.round(steps), low, high) - steps * within) * grad_factor


@wraps_op(_fake_quantize_lsq, namespace=True)
@prefixes_errors
def fake_quantize_lsq(x, step, *, low=-128, high=127, axis=None, grad_factor=1.0):
    """Quantise and convert back, with a learned step (LSQ).

        out = clip(round(x / step), low, high) * step

    The gradient of x passes where nothing was cut off. That of the step is round(x / step) - x / step, or if x was
    cut off low or high, times `grad_factor`.
    Shapes: x any, step broadcasts to x, or (n,) for n slices along `axis` -> the shape of x.
    Args:
        x: real numbers; a tensor or an array if `axis` is given.
        step: the length of a step.
        axis: the axis along which each slice has its own step; None (default) for one step.
        grad_factor: factor for the gradient of the step; default 1.0. The paper recommends 1 / √(entries * high).
    Returns: a tensor of the dtype of x.
    >>> step = mg.tensor(0.5, requires_grad=True)
    >>> out = mg.fake_quantize_lsq(mg.tensor([0.6, 9.0]), step, low=-8, high=7)
    >>> out.tolist()
    [0.5, 3.5]
    >>> mg.sum(out).backward()
    >>> step.grad.round(6).item()
    6.8
    See: Esser, McKinstry, Bablani, Appuswamy and Modha, "Learned step size quantization", 2020."""
    return _fake_quantize_lsq(x, _beside(step, x, axis), low=low, high=high, grad_factor=grad_factor)


# Products of whole numbers ----


@op
def _quantized_matmul(xp, a, b, a_scale, b_scale, a_zero_point, b_zero_point, *, low=-128, high=127):
    """Multiply two quantised matrices as integers."""
    left = xp.quantize(a, a_scale, a_zero_point, low=low, high=high) - xp.stop_gradient(a_zero_point)
    right = xp.quantize(b, b_scale, b_zero_point, low=low, high=high) - xp.stop_gradient(b_zero_point)
    return xp.matmul(left, right) * xp.stop_gradient(a_scale) * xp.stop_gradient(b_scale)


@_quantized_matmul.rule("a")
def _(xp, upstream, a, b, a_scale, b_scale, a_zero_point, b_zero_point, low, high):
    """As for the product with the quantised other matrix; clipped entries receive nothing."""
    right = xp.fake_quantize(b, b_scale, b_zero_point, low=low, high=high)
    return xp.matmul(upstream, xp.mT(right)) * xp.is_unclipped(a, a_scale, a_zero_point, low=low, high=high)


@_quantized_matmul.rule("b")
def _(xp, upstream, a, b, a_scale, b_scale, a_zero_point, b_zero_point, low, high):
    """As for the product with the quantised other matrix; clipped entries receive nothing."""
    left = xp.fake_quantize(a, a_scale, a_zero_point, low=low, high=high)
    return xp.matmul(xp.mT(left), upstream) * xp.is_unclipped(b, b_scale, b_zero_point, low=low, high=high)


@wraps_op(_quantized_matmul, namespace=True)
@prefixes_errors
def quantized_matmul(a, b, a_scale, b_scale, a_zero_point=0, b_zero_point=0, *, low=-128, high=127):
    """Quantise two matrices and multiply them as integers.

        out = (quantize(a) - a_zero_point) @ (quantize(b) - b_zero_point) * a_scale * b_scale

    The gradient passes as if nothing were rounded, and is 0 for clipped entries.
    Shapes: a (..., M, K), b (..., K, N) -> (..., M, N).
    Args:
        a_scale: the length of a step of a: one number, or one for each row, (..., M, 1).
        b_scale: the length of a step of b: one number, or one for each column, (N,).
        a_zero_point, b_zero_point: the integers that stand for 0; default 0. Like scales they receive no gradient.
    Returns: a tensor of the common dtype of a and b.
    >>> mg.quantized_matmul([[0.9, 2.2]], [[1.0], [1.0]], a_scale=0.5, b_scale=0.5).tolist()
    [[3.0]]
    See: `quantize`, `matmul`; Jacob et al., "Quantization and training of neural networks for efficient
        integer-arithmetic-only inference", 2018."""
    scales = [_beside(value, a, None, number=False) for value in (a_scale, b_scale, a_zero_point, b_zero_point)]
    return _quantized_matmul(a, b, *scales, low=low, high=high)


@op
def _quantized_conv2d(
    xp, x, weight, x_scale, weight_scale, x_zero_point, bias=None, *,
    stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, low=-128, high=127,
):  # fmt: skip
    """Convolve a quantised image with quantised weights as integers."""
    image = xp.quantize(x, x_scale, x_zero_point, low=low, high=high) - xp.stop_gradient(x_zero_point)
    kernel = xp.quantize(weight, xp.expand_dims(xp.as_channels(weight_scale), axis=1), 0, low=low, high=high)
    whole = xp.conv2d(image, kernel, stride=stride, padding=padding, dilation=dilation, groups=groups)
    out = whole * xp.stop_gradient(x_scale) * xp.stop_gradient(xp.as_channels(weight_scale))
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


_to_image, _to_weight, _to_bias = (rule.function for rule in conv2d.op.rules)


@_quantized_conv2d.rule("x")
def _(
    xp, upstream, x, weight, x_scale, weight_scale, x_zero_point, x_shape, stride, padding, dilation, groups, low,
    high,
):  # fmt: skip
    """As for the convolution with the quantised weights; clipped entries receive nothing."""
    scale = xp.expand_dims(xp.as_channels(weight_scale), axis=1)
    kernel = xp.fake_quantize(weight, scale, 0, low=low, high=high)
    received = _to_image(xp, upstream, kernel, x_shape, stride, padding, dilation, groups)
    return received * xp.is_unclipped(x, x_scale, x_zero_point, low=low, high=high)


@_quantized_conv2d.rule("weight")
def _(
    xp, upstream, x, weight, x_scale, weight_scale, x_zero_point, weight_shape, stride, padding, dilation, groups, low,
    high,
):  # fmt: skip
    """As for the convolution of the quantised image; clipped entries receive nothing."""
    scale = xp.expand_dims(xp.as_channels(weight_scale), axis=1)
    image = xp.fake_quantize(x, x_scale, x_zero_point, low=low, high=high)
    received = _to_weight(xp, upstream, image, weight_shape, stride, padding, dilation, groups)
    return received * xp.is_unclipped(weight, scale, 0, low=low, high=high)


_quantized_conv2d.rule("bias")(_to_bias)


@wraps_op(_quantized_conv2d, namespace=True)
@prefixes_errors
def quantized_conv2d(
    x, weight, x_scale, weight_scale, x_zero_point=0, bias=None, *,
    stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, low=-128, high=127,
):  # fmt: skip
    """Quantise images and filters and convolve them as integers.

        out = conv2d(quantize(x) - x_zero_point, quantize(weight)) * x_scale * weight_scale + bias

    The gradient passes as if nothing were rounded, and is 0 for clipped entries. A border of padding stands for 0.
    Shapes: x (N, C, H, W), weight (O, C / groups, kH, kW), bias (O,) -> (N, O, H', W'), as in `conv2d`.
    Args:
        x: images of real numbers.
        weight: one filter for each of O output channels.
        x_scale: the length of a step of x, one number.
        weight_scale: the length of a step of weight: one number, or one for each output channel, (O,).
        x_zero_point: the integer that stands for 0 in x; default 0. Like scales it receives no gradient.
        bias: one number for each output channel, not rounded; default none.
        stride, padding, dilation, groups: as in `conv2d`; default (1, 1), (0, 0), (1, 1) and 1.
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, or a window is larger than the padded image; TypeError if an input is
        complex.
    >>> mg.quantized_conv2d([[[[0.9, 2.2]]]], [[[[1.0, 1.0]]]], x_scale=0.5, weight_scale=0.5).tolist()
    [[[[3.0]]]]
    See: `conv2d`, `quantize`."""
    scales = [_beside(value, x, None, number=False) for value in (x_scale, weight_scale, x_zero_point)]
    return _quantized_conv2d(
        x, weight, *scales, bias, stride=stride, padding=padding, dilation=dilation, groups=groups, low=low, high=high
    )


# Stored weights, each block of them with a scale of its own ----


@op
def dequantize_blocks(xp, codes, scale, zero_point=None, *, block=32):
    """Convert stored weights to real numbers; each block of them has its own scale.

        out[k, n] = (codes[k, n] - zero_point[⌊k / block⌋, n]) * scale[⌊k / block⌋, n]

    Scales and zero points may be learned; stored codes have no gradient.
    Shapes: codes (..., K, N), scale and zero_point (..., K / block, N) -> (..., K, N).
    Args:
        codes: integers.
        scale: the length of a step, for each block.
        zero_point: the code of 0, for each block; default 0.
    Returns: a tensor of the common dtype of codes and scale.
    Raises: ValueError if scale does not have one entry for each block, or block is less than 1.
    >>> mg.dequantize_blocks([[1], [2], [3], [4]], scale=[[1.0], [10.0]], block=2).tolist()
    [[1.0], [2.0], [30.0], [40.0]]
    See: Dettmers and Zettlemoyer, "The case for 4-bit precision: k-bit inference scaling laws", 2023."""
    shifted = codes if zero_point is None else codes - xp.repeat(zero_point, repeats=block, axis=-2)
    return shifted * xp.repeat(scale, repeats=block, axis=-2)


@dequantize_blocks.rule("scale")
def _(xp, upstream, codes, zero_point, scale_shape, block):
    """A block's scale changes all its weights, each by its distance from the zero point."""
    shifted = codes if zero_point is None else codes - xp.repeat(zero_point, repeats=block, axis=-2)
    return xp.sum_repeats(upstream * shifted, shape=scale_shape, repeats=block, axis=-2)


@dequantize_blocks.rule("zero_point")
def _(xp, upstream, scale, scale_shape, block):
    """A block's zero point moves all its weights by a step, the other way."""
    steps = xp.repeat(scale, repeats=block, axis=-2)
    return -xp.sum_repeats(upstream * steps, shape=scale_shape, repeats=block, axis=-2)


@op
def dequantize_matmul(xp, x, codes, scale, zero_point=None, *, block=32):
    """Multiply by stored weights: x @ dequantize_blocks(codes, scale, zero_point).

    The weights are recomputed from their codes in the backward pass; storing them would take eight times the memory.
    Shapes: x (..., M, K), codes (K, N), scale and zero_point (K / block, N) -> (..., M, N).
    Args:
        x: inputs.
        codes: integers, the stored weights; they receive no gradient.
        scale: the length of a step, for each block.
        zero_point: the code of 0, for each block; default 0.
    >>> mg.dequantize_matmul([[1.0, 1.0]], [[1], [2]], scale=[[0.5]], block=2).tolist()
    [[1.5]]
    See: `dequantize_blocks`, `matmul`."""
    return xp.matmul(x, xp.dequantize_blocks(codes, scale, zero_point, block=block))


@dequantize_matmul.rule("x")
def _(xp, upstream, codes, scale, zero_point, block):
    """Back through the weights, made again from their codes: kept as numbers they would take eight times the memory."""
    return xp.matmul(upstream, xp.mT(xp.dequantize_blocks(codes, scale, zero_point, block=block)))


_to_scale, _to_zero_point = (rule.function for rule in dequantize_blocks.op.rules)


@dequantize_matmul.rule("scale", "zero_point")
def _(xp, upstream, x, codes, scale, zero_point, scale_shape, block):
    """What each weight receives, added up over its block."""
    to_weights = xp.sum_outer(x, upstream)
    to_scale = _to_scale(xp, to_weights, codes, zero_point, scale_shape, block)
    return to_scale, _to_zero_point(xp, to_weights, scale, scale_shape, block)


@composite
def dequantize_grouped_matmul(xp, x, codes, scale, experts, zero_point=None, *, block=32):
    """Multiply each row by the stored weights of its expert.

    out[r] = x[r] @ dequantize_blocks(codes, scale, zero_point)[experts[r]]
    Shapes: x (rows, K), codes (experts, K, N), scale and zero_point (experts, K / block, N), experts (rows,) -> (rows,
        N).
    Args:
        x: one row for each token.
        codes: integers, the stored weights; they receive no gradient.
        scale: the length of a step, for each block.
        experts: integers from 0, the expert of each row.
        zero_point: the code of 0, for each block; default 0.
    Raises: IndexError if an expert is out of range; ValueError if the shapes do not match.
    >>> codes = [[[1], [2]], [[3], [4]]]
    >>> mg.dequantize_grouped_matmul([[1.0, 1.0]], codes, [[[0.5]], [[0.5]]], [1], block=2).tolist()
    [[3.5]]
    See: `dequantize_blocks`, `grouped_matmul`."""
    return xp.grouped_matmul(x, xp.dequantize_blocks(codes, scale, zero_point, block=block), experts)


def _beside(value, x, axis, number=True):
    """Return a scale or zero point with the dtype of `x`, and with `axis` one entry for each slice along it. A Python
    number may stay a number."""
    if number and isinstance(value, (int, float)):
        return value
    dtype = getattr(x, "dtype", None)
    value = value if dtype is None or dtype.kind != "f" else astype(value, dtype=dtype)
    if axis is None:
        return value
    if not hasattr(axis, "__index__") or not -x.ndim <= axis < x.ndim:
        raise IndexError(f"axis {axis!r} is none of the {x.ndim} axes of x {x.shape}")
    return reshape(value, shape=tuple(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))
