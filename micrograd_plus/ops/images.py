"""Windows over lines and volumes, their transposes, and images of another size.

Shapes are (images, channels, *places): a line has one axis of places, an image two, a volume three. What `convolution`
says of images is not said again here: a line is an image of height 1, and a volume a stack of images.
"""

from ..composites import composite
from ..op import linear, op

# Convolution ----------------


@composite
def conv1d(xp, x, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
    """A short line of weights compared with every window: (N, C, L) and (O, C / groups, k) to (N, O, L')."""
    out = xp.conv2d(
        xp.expand_dims(x, -2), xp.expand_dims(weight, -2), bias,
        stride=(1, stride), padding=(0, padding), dilation=(1, dilation), groups=groups,
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def conv3d(xp, x, weight, bias=None, *, stride=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1):
    """A small volume of weights compared with every window: (N, C, D, H, W) and (O, C / groups, kd, kh, kw) to
    (N, O, D', H', W').

    As many slices as the kernel is deep are the channels of one image, and there is one such image for each depth.
    """
    n, c, _, high, wide = xp.shape(x)
    o, each, deep, *kernel = xp.shape(weight)
    slices = xp.reshape(x, xp.joined_last(xp.shape(x)))
    stacks = xp.unfold(slices, (deep, 1), (stride[0], 1), (padding[0], 0), (dilation[0], 1))
    depths = xp.shape(stacks)[-1] // (high * wide)
    stacks = xp.moveaxis(xp.reshape(stacks, (n, c * deep, depths, high, wide)), 2, 1)
    images = xp.reshape(stacks, (n * depths, c * deep, high, wide))
    out = xp.conv2d(
        images, xp.reshape(weight, (o, each * deep, *kernel)), bias,
        stride=stride[1:], padding=padding[1:], dilation=dilation[1:], groups=groups,
    )  # fmt: skip
    return xp.moveaxis(xp.reshape(out, (n, depths, *xp.shape(out)[1:])), 1, 2)


@op
def conv_transpose2d(
    xp, x, weight, bias=None, *, stride=(1, 1), padding=(0, 0), output_padding=(0, 0), groups=1, dilation=(1, 1)
):
    """What `conv2d` does to a gradient, as a layer: each entry writes the kernel, times itself, where its window was.

    Shapes: (N, C, H, W) and (C, O / groups, kh, kw) to (N, O, H', W'). A stride leaves several sizes possible;
    `output_padding` says how much larger than the smallest.
    """
    size = xp.size_before_windows(xp.shape(x), xp.shape(weight), stride, padding, output_padding, dilation)
    columns = xp.matmul(xp.mT(xp.kernel_rows(weight, groups=groups)), xp.grouped_images(x, groups=groups))
    columns = xp.ungrouped(columns, images=xp.shape(x)[0])
    out = xp.fold(columns, size, xp.image_size(xp.shape(weight)), stride, padding, dilation)
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


@conv_transpose2d.rule("x")
def _(xp, upstream, weight, stride, padding, groups, dilation):
    """The transpose of a transpose: an entry collects what its window received, by the kernel's weights."""
    return xp.conv2d(upstream, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)


@conv_transpose2d.rule("weight")
def _(xp, upstream, x, weight_shape, stride, padding, groups, dilation):
    """Each weight collects what was asked of the places it wrote to, as strongly as the entry that wrote."""
    columns = xp.grouped(xp.unfold(upstream, xp.image_size(weight_shape), stride, padding, dilation), groups=groups)
    return xp.reshape(xp.matmul(xp.grouped_images(x, groups=groups), xp.mT(columns)), weight_shape)


@conv_transpose2d.rule("bias")
def _(xp, upstream):
    """A channel's bias is added at every place of every image."""
    return xp.sum(upstream, axis=(0, 2, 3))


@composite
def conv_transpose1d(xp, x, weight, bias=None, *, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """What `conv1d` does to a gradient, as a layer: (N, C, L) and (C, O / groups, k) to (N, O, L')."""
    out = xp.conv_transpose2d(
        xp.expand_dims(x, -2), xp.expand_dims(weight, -2), bias, stride=(1, stride), padding=(0, padding),
        output_padding=(0, output_padding), groups=groups, dilation=(1, dilation),
    )  # fmt: skip
    return xp.squeeze(out, -2)


# Pooling --------------------


@composite
def max_pool1d(xp, x, *, kernel_size, stride, padding=0, dilation=1):
    """The largest entry of each window of a line; a border of padding never wins. Of several the first."""
    out = xp.max_pool2d(
        xp.expand_dims(x, -2), kernel_size=(1, kernel_size), stride=(1, stride), padding=(0, padding),
        dilation=(1, dilation),
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def avg_pool1d(xp, x, *, kernel_size, stride, padding=0, count_include_pad=True):
    """The mean of each window of a line; `count_include_pad` says whether a border of padding counts as entries."""
    out = xp.avg_pool2d(
        xp.expand_dims(x, -2), kernel_size=(1, kernel_size), stride=(1, stride), padding=(0, padding),
        count_include_pad=count_include_pad,
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def adaptive_avg_pool2d(xp, x, *, output_size):
    """Means of windows that part an image into `output_size` (rows, columns): where the lengths do not divide,
    neighbouring windows share an entry."""
    high, wide = output_size
    return xp.resample(xp.resample(x, length=high, axis=-2, mode="average"), length=wide, axis=-1, mode="average")


# Another size ---------------


@composite
def interpolate(xp, x, *, size, mode="nearest", steps=(None, None)):
    """An image of another size, first along its height and then along its width: `mode` and `steps` are those of
    `resample`. "linear" along both is what others call bilinear."""
    high, wide = size
    rows = xp.resample(x, length=high, axis=-2, mode=mode, step=steps[0])
    return xp.resample(rows, length=wide, axis=-1, mode=mode, step=steps[1])


@linear(x=lambda xp, upstream, x_shape, axis, mode, step: xp.unresample(upstream, x_shape, axis, mode, step))
def resample(xp, x, *, length, axis=-1, mode="nearest", step=None):
    """An axis made longer or shorter: each new entry is a weighted sum of old ones.

    `mode` is "nearest" (one old entry), "linear" (the two on either side, entries taken as cells), "corners" (the same,
    the first and last entries staying where they are) or "average" (all old entries that the new one covers). `step` is
    how far apart neighbouring new entries lie, in old entries; None: the old length shared out.
    """
    return xp.resample(x, length, axis, mode, step)


@linear(x=lambda xp, upstream, x_shape, axis, mode, step: xp.resample(upstream, x_shape[axis], axis, mode, step))
def unresample(xp, x, *, shape, axis=-1, mode="nearest", step=None):
    """The reverse of `resample` of an array of `shape`: each new entry hands itself back to the old ones, by the same
    weights."""
    resampled = xp.resample(xp.zeros_beside(x, shape), xp.shape(x)[axis], axis, mode, step)
    return xp.unresample(xp.shaped_like(x, resampled), shape, axis, mode, step)


@linear(x=lambda xp, upstream, upscale_factor: xp.pixel_unshuffle(upstream, downscale_factor=upscale_factor))
def pixel_shuffle(xp, x, *, upscale_factor):
    """Channels laid out as places: (N, C * r * r, H, W) to (N, C, H * r, W * r)."""
    n, c, high, wide = xp.shape(x)
    r, kept = upscale_factor, c // upscale_factor**2
    apart = xp.reshape(x, (n, kept, r, r, high, wide))
    return xp.reshape(xp.transpose(apart, (0, 1, 4, 2, 5, 3)), (n, kept, high * r, wide * r))


@linear(x=lambda xp, upstream, downscale_factor: xp.pixel_shuffle(upstream, upscale_factor=downscale_factor))
def pixel_unshuffle(xp, x, *, downscale_factor):
    """Places laid out as channels, the reverse of `pixel_shuffle`: (N, C, H * r, W * r) to (N, C * r * r, H, W)."""
    n, c, high, wide = xp.shape(x)
    r = downscale_factor
    apart = xp.reshape(x, (n, c, high // r, r, wide // r, r))
    return xp.reshape(xp.transpose(apart, (0, 1, 3, 5, 2, 4)), (n, c * r**2, high // r, wide // r))
