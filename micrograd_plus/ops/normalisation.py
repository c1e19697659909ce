"""Normalisation over features, groups, instances or the batch.

`layer_norm`, over the last axes, is in `neural`. With shapes (N, channels, ...), weight and bias have one number for
each channel.
"""

from ..core.composite import composite
from ..core.define import op


@op(residuals=("unit", "scale"))
def rms_norm(xp, x, weight=None, *, axes=1, eps=1e-6):
    """Divide the last axes by their root mean square, then scale (RMS normalisation).

        out = x / √(mean(x²) + eps) * weight

    Unlike `layer_norm` it does not subtract the mean.
    Shapes: x (..., *last), weight (*last,), where last are `axes` lengths -> the shape of x.
    Args:
        weight: factors for the normalised row; default none.
        eps: added to the mean square, so that a row of zeros does not divide by 0; default 1e-6.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if weight does not broadcast, or axes is less than 1; IndexError if x has fewer axes.
    >>> mg.rms_norm([[1.0, 7.0]], eps=0.0).round(3).tolist()
    [[0.2, 1.4]]
    See: torch.nn.functional.rms_norm; Zhang and Sennrich, "Root mean square layer normalization", 2019."""
    over = xp.last_axes(axes)
    scale = 1 / xp.sqrt(xp.mean(x * x, axis=over, keepdims=True) + eps)
    unit = x * scale
    return (unit if weight is None else unit * weight), unit, scale


@rms_norm.rule("x")
def _(xp, upstream, weight, unit, scale, axes):
    """Scaling a whole row does not change the result, so the gradient has no component along it; it is subtracted."""
    arrived = upstream if weight is None else upstream * weight
    along_unit = xp.mean(arrived * unit, axis=xp.last_axes(axes), keepdims=True)
    return scale * (arrived - unit * along_unit)


@rms_norm.rule("weight")
def _(upstream, unit):
    """The weight multiplies the normalised row; the engine sums over the rows."""
    return upstream * unit


@composite(public=False)
def scaled_channels(xp, x, weight=None, bias=None):
    """Multiply each channel by its weight and add its bias: x * weight + bias.

    Shapes: x (N, C, ...), weight (C,), bias (C,) -> the shape of x.
    Args:
        x: numbers, with channels on axis 1.
        weight: one number for each channel; default none.
        bias: one number for each channel; default none.
    Raises: ValueError if weight or bias does not have one number for each channel; IndexError if x has only one axis.
    >>> mg.ops.scaled_channels([[[1.0, 2.0], [3.0, 4.0]]], weight=[1.0, 10.0], bias=[0.5, 0.0]).tolist()
    [[[1.5, 2.5], [30.0, 40.0]]]
    See: `batch_norm`, `group_norm`, which end with it."""
    shape = xp.shape(x)
    out = +x if weight is None else x * xp.by_channel(weight, shape)
    return out if bias is None else out + xp.by_channel(bias, shape)


@op(residuals=("unit", "scale"))
def batch_norm(xp, x, weight=None, bias=None, *, eps=1e-5):
    """Normalise each channel of a batch to mean 0 and variance 1, as in training (batch normalisation).

        out = (x - mean) / √(variance + eps) * weight + bias

    Mean and variance are computed over all axes except the channels, the variance with ddof 0 (divided by n). They
    depend on all examples, so gradients also pass through them.
    Shapes: x (N, C, ...), weight (C,), bias (C,) -> the shape of x.
    Args:
        x: numbers, with channels on axis 1.
        weight: one number for each channel; default none.
        bias: one number for each channel; default none.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if weight or bias does not have one number for each channel.
    >>> mg.batch_norm([[1.0, 10.0], [3.0, 30.0]], eps=0.0).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    See: torch.nn.functional.batch_norm with training=True; Ioffe and Szegedy, "Batch normalization: accelerating deep
        network training by reducing internal covariate shift", 2015; `batch_norm_inference`."""
    over = xp.all_but_channels(xp.shape(x))
    unit = x - xp.mean(x, axis=over, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean_square(unit, axis=over, keepdims=True) + eps)
    unit *= scale
    return xp.scaled_channels(unit, weight, bias), unit, scale


@batch_norm.rule("x")
def _(xp, upstream, weight, unit, scale, x_shape):
    """Each example changes the mean and the variance that normalise all others. Shifting or scaling the whole batch
    does not change the result, so the gradient has no component along either; both are subtracted."""
    over = xp.all_but_channels(x_shape)
    along_unit = xp.mean(upstream * unit, axis=over, keepdims=True)
    rest = upstream - xp.mean(upstream, axis=over, keepdims=True)
    rest -= unit * along_unit
    return rest * (scale if weight is None else scale * xp.reshape(weight, xp.channel_shape(x_shape)))


@batch_norm.rule("weight")
def _(xp, upstream, unit, x_shape):
    """A channel's weight multiplies it at every position of every example."""
    return xp.sum(upstream * unit, axis=xp.all_but_channels(x_shape))


@batch_norm.rule("bias")
def _(xp, upstream, x_shape):
    """A channel's bias is added at every position of every example."""
    return xp.sum(upstream, axis=xp.all_but_channels(x_shape))


@composite(public=False)
def batch_norm_inference(xp, x, mean, variance, weight=None, bias=None, *, eps=1e-5):
    """Normalise each channel with given means and variances, as after training (batch normalisation).

        out = (x - mean) / √(variance + eps) * weight + bias

    Examples do not affect each other. Mean and variance are inputs, which receive gradients.
    Shapes: x (N, C, ...), mean, variance, weight and bias (C,) -> the shape of x.
    Args:
        x: numbers, with channels on axis 1.
        mean: the running mean of each channel from training.
        variance: the running variance of each channel from training.
        weight: one number for each channel; default none.
        bias: one number for each channel; default none.
    Raises: ValueError if mean, variance, weight or bias does not have one number for each channel.
    >>> mg.ops.batch_norm_inference([[1.0, 10.0]], mean=[0.0, 4.0], variance=[1.0, 4.0], eps=0.0).tolist()
    [[1.0, 3.0]]
    See: torch.nn.functional.batch_norm with training=False; `batch_norm`."""
    shape = xp.shape(x)
    scale = 1 / xp.sqrt(xp.by_channel(variance, shape) + eps)
    return xp.scaled_channels((x - xp.by_channel(mean, shape)) * scale, weight, bias)


@composite
def group_norm(xp, x, weight=None, bias=None, *, num_groups=1, eps=1e-5):
    """Normalise each group of channels to mean 0 and variance 1 (group normalisation).

        out = (x - mean) / √(variance + eps) * weight + bias

    Mean and variance are computed over a group of neighbouring channels of one example, the variance with ddof 0.
    Shapes: x (N, C, ...), weight (C,), bias (C,) -> the shape of x.
    Args:
        x: numbers, with channels on axis 1.
        weight: one number for each channel; default none.
        bias: one number for each channel; default none.
        num_groups: the number of groups, a divisor of C; default 1.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if num_groups does not divide C, or weight or bias does not have one number for each channel.
    >>> mg.group_norm([[0.0, 2.0, 10.0, 30.0]], num_groups=2, eps=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    See: torch.nn.functional.group_norm; Wu and He, "Group normalization", 2018."""
    groups = xp.reshape(x, xp.group_shape(xp.shape(x), num_groups))
    unit = xp.reshape(xp.layer_norm(groups, eps=eps), xp.shape(x))
    return xp.scaled_channels(unit, weight, bias)


@composite
def instance_norm(xp, x, weight=None, bias=None, *, eps=1e-5):
    """Normalise each channel of each example to mean 0 and variance 1 (instance normalisation).

        out = (x - mean) / √(variance + eps) * weight + bias

    Mean and variance are computed over all positions of one channel of one example: `group_norm` with groups of one
    channel.
    Shapes: x (N, C, ...), weight (C,), bias (C,) -> the shape of x.
    Args:
        x: numbers, with channels on axis 1.
        weight: one number for each channel; default none.
        bias: one number for each channel; default none.
    Returns: a tensor of the common dtype; float64 for integers.
    Raises: ValueError if weight or bias does not have one number for each channel; IndexError if x has only one axis.
    >>> mg.instance_norm([[[0.0, 2.0], [10.0, 30.0]]], eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    See: torch.nn.functional.instance_norm; Ulyanov, Vedaldi and Lempitsky, "Instance normalization: the missing
        ingredient for fast stylization", 2016."""
    return xp.group_norm(x, weight, bias, num_groups=xp.shape(x)[1], eps=eps)


@composite
def residual_layer_norm(xp, x, residual, weight=None, bias=None, *, axes=1, eps=1e-5):
    """Normalise the sum of a layer's output and its residual connection with `layer_norm`.

    out = layer_norm(x + residual, weight, bias), the end of a block of a post-norm transformer.
    Shapes: x, residual of shapes that broadcast, weight and bias (*last,) -> the broadcast shape.
    Args:
        x: the output of the layer.
        residual: the input of the layer.
        weight, bias: as in `layer_norm`; default none.
    Raises: ValueError if the shapes do not broadcast, or axes is less than 1.
    >>> mg.residual_layer_norm([[1.0, 1.0]], [[0.0, 2.0]], eps=0.0).tolist()
    [[-1.0, 1.0]]
    See: `layer_norm`; Vaswani et al., "Attention is all you need", 2017."""
    return xp.layer_norm(x + residual, weight, bias, axes=axes, eps=eps)


@composite
def residual_rms_norm(xp, x, residual, weight=None, *, axes=1, eps=1e-6):
    """Normalise the sum of a layer's output and its residual connection with `rms_norm`.

    out = rms_norm(x + residual, weight)
    Shapes: x, residual of shapes that broadcast, weight (*last,) -> the broadcast shape.
    Args:
        x: the output of the layer.
        residual: the input of the layer.
        weight: as in `rms_norm`; default none.
        eps: added to the mean square; default 1e-6.
    Raises: ValueError if the shapes do not broadcast, or axes is less than 1.
    >>> mg.residual_rms_norm([[1.0, 3.0]], [[0.0, 4.0]], eps=0.0).round(3).tolist()
    [[0.2, 1.4]]
    See: `rms_norm`."""
    return xp.rms_norm(x + residual, weight, axes=axes, eps=eps)
