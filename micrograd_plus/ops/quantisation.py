"""Quantisation: numbers as a few whole ones, `round(x / scale + zero_point)` from `low` to `high`, and back.

Rounding is flat between its jumps, so its true gradient is 0 and nothing would learn. The rules here let the gradient
pass straight through instead, as if nothing had been rounded (Bengio, Léonard and Courville, "Estimating or propagating
gradients through stochastic neurons", 2013); what was cut off at `low` or `high` receives nothing. Scales and zero
points are constants unless an operation says that it learns them.

`quantize(x, ...).astype("int8")` stores whole numbers, and carries no graph.
"""

from ..composites import composite
from ..hints import names_itself
from ..op import constant, elementwise, face, op, real_only
from .convolution import conv2d
from .elementwise import astype
from .shape import reshape


@constant
@real_only
def fits(xp, x, scale, zero_point, *, low, high):
    """Whether a number is rounded to one between `low` and `high`, so that nothing of it is cut off."""
    nearest = xp.round(x / scale + zero_point)
    return (nearest >= low) & (nearest <= high)


@elementwise(
    x=lambda xp, x, scale, zero_point, low, high: xp.fits(x, scale, zero_point, low=low, high=high) / scale,
)
def _quantize(xp, x, scale, zero_point, *, low=-128, high=127):
    """The nearest whole number of steps, from `low` to `high`. The gradient passes as if it were not rounded."""
    return xp.clip(xp.round(x / scale + zero_point), low, high)


@face(_quantize, word=True)
@names_itself
def quantize(x, scale, zero_point=0, *, low=-128, high=127, axis=None):
    """The nearest whole number of steps, from `low` to `high`: `round(x / scale + zero_point)`, still as floats. The
    gradient passes as if nothing were rounded.

    `scale` and `zero_point` belong to the whole tensor, broadcast, or, with `axis`, have one entry for each slice along
    it.

    >>> import micrograd_plus as mg
    >>> mg.quantize(mg.tensor([-0.26, 0.1, 0.24]), scale=0.1).tolist()
    [-3.0, 1.0, 2.0]
    """
    return _quantize(x, _beside(scale, x, axis), _beside(zero_point, x, axis), low=low, high=high)


@elementwise(q=lambda scale: scale, scale=lambda q, zero_point: q - zero_point, zero_point=lambda scale: -scale)
def _dequantize(xp, q, scale, zero_point):
    """What whole numbers stand for."""
    return (q - zero_point) * scale


@face(_dequantize, word=True)
@names_itself
def dequantize(q, scale, zero_point=0, *, axis=None):
    """What whole numbers stand for: `(q - zero_point) * scale`.

    >>> import micrograd_plus as mg
    >>> mg.dequantize(mg.tensor([-3, 1, 2]), scale=0.5).tolist()
    [-1.5, 0.5, 1.0]
    """
    return _dequantize(q, _beside(scale, q, axis), _beside(zero_point, q, axis))


@elementwise()
def _fake_quantize(xp, x, scale, zero_point, *, low=-128, high=127, estimator="clipped"):
    """Rounded as it would be stored, and brought back."""
    return (xp.clip(xp.round(x / scale + zero_point), low, high) - zero_point) * scale


@_fake_quantize.rule("x")
def _(xp, x, scale, zero_point, low, high, estimator):
    """An estimate in the place of the slope: 1 everywhere, 1 where nothing was cut off, or a bell over the range."""
    if estimator == "identity":
        return 1
    if estimator == "clipped":
        return xp.fits(x, scale, zero_point, low=low, high=high)
    place = (x / scale + zero_point - (low + high) / 2) / ((high - low) / 2)
    return 1 - xp.square(xp.tanh(place))


@face(_fake_quantize, word=True)
@names_itself
def fake_quantize(x, scale, zero_point=0, *, low=-128, high=127, axis=None, estimator="clipped"):
    """Rounded as it would be stored, and brought back: training sees the errors that storing would make.

    `scale` and `zero_point` are as in `quantize`. `estimator` says what goes back through rounding: "identity" (all),
    "clipped" (all but what was cut off), or "tanh" (1 - tanh² over the range: ever less towards its ends).

    >>> import micrograd_plus as mg
    >>> mg.fake_quantize(mg.tensor([-0.26, 0.125, 9.0]), scale=0.25, low=-8, high=7).tolist()
    [-0.25, 0.0, 1.75]
    """
    if estimator not in ("identity", "clipped", "tanh"):
        raise ValueError(f"fake_quantize: estimator is 'identity', 'clipped' or 'tanh', got {estimator!r}")
    scale, zero_point = _beside(scale, x, axis), _beside(zero_point, x, axis)
    return _fake_quantize(x, scale, zero_point, low=low, high=high, estimator=estimator)


@elementwise(x=lambda xp, x, step, low, high: xp.fits(x, step, 0, low=low, high=high))
def _fake_quantize_lsq(xp, x, step, *, low=-128, high=127, grad_factor=1.0):
    """Rounded to a learned step."""
    return xp.clip(xp.round(x / step), low, high) * step


@_fake_quantize_lsq.rule("step")
def _(xp, x, step, low, high, grad_factor):
    """A longer step moves the result by what rounding did, or, where x was cut off, moves the end of the range."""
    steps = x / step
    within = xp.fits(x, step, 0, low=low, high=high)
    return (xp.clip(xp.round(steps), low, high) - steps * within) * grad_factor


@face(_fake_quantize_lsq, word=True)
@names_itself
def fake_quantize_lsq(x, step, *, low=-128, high=127, axis=None, grad_factor=1.0):
    """Rounded to whole steps and brought back, with a step that is learned (Esser, McKinstry, Bablani, Appuswamy and
    Modha, "Learned step size quantization", 2020). Its gradient is multiplied by `grad_factor`: they advise
    1 / √(entries * high)."""
    return _fake_quantize_lsq(x, _beside(step, x, axis), low=low, high=high, grad_factor=grad_factor)


# Products of whole numbers ----


@op
def _quantized_matmul(xp, a, b, a_scale, b_scale, a_zero_point, b_zero_point, *, low=-128, high=127):
    """The product of two rounded matrices, multiplied as whole numbers."""
    left = xp.quantize(a, a_scale, a_zero_point, low=low, high=high) - xp.stop_gradient(a_zero_point)
    right = xp.quantize(b, b_scale, b_zero_point, low=low, high=high) - xp.stop_gradient(b_zero_point)
    return xp.matmul(left, right) * xp.stop_gradient(a_scale) * xp.stop_gradient(b_scale)


@_quantized_matmul.rule("a")
def _(xp, upstream, a, b, a_scale, b_scale, a_zero_point, b_zero_point, low, high):
    """As through the product with the rounded other one; what was cut off receives nothing."""
    right = xp.fake_quantize(b, b_scale, b_zero_point, low=low, high=high)
    return xp.matmul(upstream, xp.mT(right)) * xp.fits(a, a_scale, a_zero_point, low=low, high=high)


@_quantized_matmul.rule("b")
def _(xp, upstream, a, b, a_scale, b_scale, a_zero_point, b_zero_point, low, high):
    """As through the product with the rounded other one; what was cut off receives nothing."""
    left = xp.fake_quantize(a, a_scale, a_zero_point, low=low, high=high)
    return xp.matmul(xp.mT(left), upstream) * xp.fits(b, b_scale, b_zero_point, low=low, high=high)


@face(_quantized_matmul, word=True)
@names_itself
def quantized_matmul(a, b, a_scale, b_scale, a_zero_point=0, b_zero_point=0, *, low=-128, high=127):
    """The product of two matrices that are rounded first, and multiplied as whole numbers. The gradient passes as if
    nothing were rounded. A scale is one number, or one for each row of `a`, (..., M, 1), and column of `b`, (N,)."""
    scales = [_beside(value, a, None, number=False) for value in (a_scale, b_scale, a_zero_point, b_zero_point)]
    return _quantized_matmul(a, b, *scales, low=low, high=high)


@op
def _quantized_conv2d(
    xp, x, weight, x_scale, weight_scale, x_zero_point, bias=None, *,
    stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, low=-128, high=127,
):  # fmt: skip
    """The convolution of a rounded image with rounded weights, over whole numbers."""
    image = xp.quantize(x, x_scale, x_zero_point, low=low, high=high) - xp.stop_gradient(x_zero_point)
    kernel = xp.quantize(weight, xp.expand_dims(xp.channels(weight_scale), axis=1), 0, low=low, high=high)
    whole = xp.conv2d(image, kernel, stride=stride, padding=padding, dilation=dilation, groups=groups)
    out = whole * xp.stop_gradient(x_scale) * xp.stop_gradient(xp.channels(weight_scale))
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


_to_image, _to_weight, _to_bias = (rule.function for rule in conv2d.op.rules)


@_quantized_conv2d.rule("x")
def _(
    xp, upstream, x, weight, x_scale, weight_scale, x_zero_point, x_shape, weight_shape, stride, padding, dilation,
    groups, low, high,
):  # fmt: skip
    """As through the convolution with the rounded weights; what was cut off receives nothing."""
    scale = xp.expand_dims(xp.channels(weight_scale), axis=1)
    kernel = xp.fake_quantize(weight, scale, 0, low=low, high=high)
    received = _to_image(xp, upstream, kernel, x_shape, weight_shape, stride, padding, dilation, groups)
    return received * xp.fits(x, x_scale, x_zero_point, low=low, high=high)


@_quantized_conv2d.rule("weight")
def _(
    xp, upstream, x, weight, x_scale, weight_scale, x_zero_point, weight_shape, stride, padding, dilation, groups, low,
    high,
):  # fmt: skip
    """As through the convolution of the rounded image; what was cut off receives nothing."""
    scale = xp.expand_dims(xp.channels(weight_scale), axis=1)
    image = xp.fake_quantize(x, x_scale, x_zero_point, low=low, high=high)
    received = _to_weight(xp, upstream, image, weight_shape, stride, padding, dilation, groups)
    return received * xp.fits(weight, scale, 0, low=low, high=high)


_quantized_conv2d.rule("bias")(_to_bias)


@face(_quantized_conv2d, word=True)
@names_itself
def quantized_conv2d(
    x, weight, x_scale, weight_scale, x_zero_point=0, bias=None, *,
    stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, low=-128, high=127,
):  # fmt: skip
    """`conv2d` of an image and weights that are rounded first, over whole numbers. `x_scale` is one number;
    `weight_scale` is one, or one for each output channel, shape (O,). The gradient passes as if nothing were rounded;
    a border of padding stands for 0."""
    scales = [_beside(value, x, None, number=False) for value in (x_scale, weight_scale, x_zero_point)]
    return _quantized_conv2d(
        x, weight, *scales, bias, stride=stride, padding=padding, dilation=dilation, groups=groups, low=low, high=high
    )


# Stored weights, each block of them with a scale of its own ----


@op
def dequantize_blocks(xp, codes, scale, zero_point=None, *, block=32):
    """Stored weights as numbers: `codes` (..., K, N), with a `scale` and `zero_point` for each `block` of them along K:
    (..., K / block, N). Scales and zero points may be learned; stored codes have no gradient."""
    shifted = codes if zero_point is None else codes - xp.repeat(zero_point, repeats=block, axis=-2)
    return shifted * xp.repeat(scale, repeats=block, axis=-2)


@dequantize_blocks.rule("scale")
def _(xp, upstream, codes, zero_point, scale_shape, block):
    """A block's scale moves all its weights, each as far as it stands from the zero point."""
    shifted = codes if zero_point is None else codes - xp.repeat(zero_point, repeats=block, axis=-2)
    return xp.sum_repeats(upstream * shifted, shape=scale_shape, repeats=block, axis=-2)


@dequantize_blocks.rule("zero_point")
def _(xp, upstream, scale, scale_shape, block):
    """A block's zero point moves all its weights by a step, the other way."""
    steps = xp.repeat(scale, repeats=block, axis=-2)
    return -xp.sum_repeats(upstream * steps, shape=scale_shape, repeats=block, axis=-2)


@op
def dequantize_matmul(xp, x, codes, scale, zero_point=None, *, block=32):
    """The product with stored weights, `x @ dequantize_blocks(codes, ...)`: x (..., M, K), codes (K, N)."""
    return xp.matmul(x, xp.dequantize_blocks(codes, scale, zero_point, block=block))


@dequantize_matmul.rule("x")
def _(xp, upstream, codes, scale, zero_point, block):
    """Back through the weights, made again from their codes: kept as numbers they would take eight times the room."""
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
    """Each row multiplied by the stored matrix of its expert: x (R, K), codes (E, K, N), experts (R,)."""
    return xp.grouped_matmul(x, xp.dequantize_blocks(codes, scale, zero_point, block=block), experts)


def _beside(value, x, axis, number=True):
    """A scale or zero point as it stands beside `x`: of its dtype, and with `axis` one entry for each slice along it. A
    plain number may stay one."""
    if number and isinstance(value, (int, float)):
        return value
    dtype = getattr(x, "dtype", None)
    value = value if dtype is None or dtype.kind != "f" else astype(value, dtype=dtype)
    if axis is None:
        return value
    return reshape(value, shape=tuple(-1 if i == axis % x.ndim else 1 for i in range(x.ndim)))
