"""Normalisation: numbers brought to a common size, over features, groups, instances or the batch.

`layer_norm`, over the last axes, is among the networks. Where shapes are (N, channels, ...), weight and bias hold one
number for each channel.
"""

from ..composites import composite
from ..op import op


@op(keeps=("unit", "scale"))
def rms_norm(xp, x, weight=None, *, axes=1, eps=1e-6):
    """The last `axes` axes divided by the root of their mean square, then scaled by `weight`."""
    over = xp.last_axes(axes)
    scale = 1 / xp.sqrt(xp.mean(x * x, axis=over, keepdims=True) + eps)
    unit = x * scale
    return (unit if weight is None else unit * weight), unit, scale


@rms_norm.rule("x")
def _(xp, upstream, weight, unit, scale, axes):
    """Stretching the whole row changes nothing, so a gradient has no part along it: that is taken out."""
    arrived = upstream if weight is None else upstream * weight
    along_unit = xp.mean(arrived * unit, axis=xp.last_axes(axes), keepdims=True)
    return scale * (arrived - unit * along_unit)


@rms_norm.rule("weight")
def _(upstream, unit):
    """The weight multiplies the unit row; the engine adds up over the rows."""
    return upstream * unit


@composite
def scaled_channels(xp, x, weight=None, bias=None):
    """`x * weight + bias`, with one number of each for each channel (axis 1)."""
    shape = xp.shape(x)
    out = +x if weight is None else x * xp.by_channel(weight, shape)
    return out if bias is None else out + xp.by_channel(bias, shape)


@op(keeps=("unit", "scale"))
def batch_norm(xp, x, weight=None, bias=None, *, eps=1e-5):
    """Each channel brought to mean 0 and variance 1 over the whole batch and all places, as in training."""
    over = xp.all_but_channels(xp.shape(x))
    distance = x - xp.mean(x, axis=over, keepdims=True)
    scale = 1 / xp.sqrt(xp.mean(distance * distance, axis=over, keepdims=True) + eps)
    unit = distance * scale
    return xp.scaled_channels(unit, weight, bias), unit, scale


@batch_norm.rule("x")
def _(xp, upstream, weight, unit, scale, x_shape):
    """An example moves the mean and the variance that all others are measured by. Moving or stretching the whole batch
    changes nothing, so a gradient has no part along either: both are taken out."""
    over = xp.all_but_channels(x_shape)
    arrived = upstream if weight is None else upstream * xp.reshape(weight, xp.channel_shape(x_shape))
    along_mean = xp.mean(arrived, axis=over, keepdims=True)
    along_unit = xp.mean(arrived * unit, axis=over, keepdims=True)
    return scale * (arrived - along_mean - unit * along_unit)


@batch_norm.rule("weight")
def _(xp, upstream, unit, x_shape):
    """A channel's weight multiplies it at every place of every example."""
    return xp.sum(upstream * unit, axis=xp.all_but_channels(x_shape))


@batch_norm.rule("bias")
def _(xp, upstream, x_shape):
    """A channel's bias is added at every place of every example."""
    return xp.sum(upstream, axis=xp.all_but_channels(x_shape))


@composite
def batch_norm_inference(xp, x, mean, variance, weight=None, bias=None, *, eps=1e-5):
    """Each channel measured by a mean and a variance that were settled before: no example moves them any more."""
    shape = xp.shape(x)
    scale = 1 / xp.sqrt(xp.by_channel(variance, shape) + eps)
    return xp.scaled_channels((x - xp.by_channel(mean, shape)) * scale, weight, bias)


@composite
def group_norm(xp, x, weight=None, bias=None, *, num_groups=1, eps=1e-5):
    """The channels of each example in `num_groups` groups, each brought to mean 0 and variance 1 as one row."""
    groups = xp.reshape(x, xp.group_shape(xp.shape(x), num_groups))
    unit = xp.reshape(xp.layer_norm(groups, eps=eps), xp.shape(x))
    return xp.scaled_channels(unit, weight, bias)


@composite
def instance_norm(xp, x, weight=None, bias=None, *, eps=1e-5):
    """Each channel of each example brought to mean 0 and variance 1: groups of one channel."""
    return xp.group_norm(x, weight, bias, num_groups=xp.shape(x)[1], eps=eps)


@composite
def residual_layer_norm(xp, x, residual, weight=None, bias=None, *, axes=1, eps=1e-5):
    """A layer's output beside what went past it, together brought to mean 0 and variance 1."""
    return xp.layer_norm(x + residual, weight, bias, axes=axes, eps=eps)


@composite
def residual_rms_norm(xp, x, residual, weight=None, *, axes=1, eps=1e-6):
    """A layer's output beside what went past it, together divided by the root of their mean square."""
    return xp.rms_norm(x + residual, weight, axes=axes, eps=eps)
