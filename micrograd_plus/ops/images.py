"""Convolution and pooling in one and three dimensions, transposed convolution, and resizing of images.

Shapes are (images, channels, *positions): a sequence has one axis of positions, an image two, a volume three. See
`convolution` for images: a sequence is an image of height 1, and a volume a stack of images.
"""

from ..core.composite import composite
from ..core.define import linear, op

# Convolution ----------------


@composite
def conv1d(xp, x, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1):
    """Compute a 1-D convolution (cross-correlation) of sequences.

    Each filter is multiplied with every window of the padded sequence, as in `conv2d`; with stride s and dilation d

        out[n, o, i] = bias[o] + Σ_c Σ_p weight[o, c, p] * x[n, c, s * i + d * p]
        L' = ⌊(L + 2 * padding - dilation * (k - 1) - 1) / stride⌋ + 1
    Shapes: x (N, C, L), weight (O, C / groups, k), bias (O,) -> (N, O, L').
    Args:
        x: sequences of C channels.
        weight: one filter for each of O output channels.
        bias: one number for each output channel; default none.
        stride: step from one window to the next, at least 1; default 1.
        padding: zeros added at each end; default 0.
        dilation: step between neighbouring entries of a window, at least 1; default 1.
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, or a window is larger than the padded sequence; TypeError if the
        stride is not an integer.
    >>> mg.conv1d([[[1.0, 2.0, 4.0, 8.0]]], [[[-1.0, 1.0]]]).tolist()
    [[[1.0, 2.0, 4.0]]]
    See: torch.nn.functional.conv1d."""
    out = xp.conv2d(
        xp.expand_dims(x, -2), xp.expand_dims(weight, -2), bias,
        stride=(1, stride), padding=(0, padding), dilation=(1, dilation), groups=groups,
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def conv3d(xp, x, weight, bias=None, *, stride=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1):
    """Compute a 3-D convolution (cross-correlation) of volumes.

    Each filter is multiplied with every window of the padded volume, as in `conv2d`:

        D' = ⌊(D + 2 * padding - dilation * (kD - 1) - 1) / stride⌋ + 1, and H', W' likewise

    It is computed by `conv2d`: the slices in a window become the channels of one image, with one image for each depth.
    Shapes: x (N, C, D, H, W), weight (O, C / groups, kD, kH, kW), bias (O,) -> (N, O, D', H', W').
    Args:
        x: volumes of C channels.
        weight: one filter for each of O output channels.
        bias: one number for each output channel; default none.
        stride: step from one window to the next, along depth, height and width; default (1, 1, 1).
        padding: zeros added on each side, along depth, height and width; default (0, 0, 0).
        dilation: step between neighbouring entries of a window; default (1, 1, 1).
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, or a window is larger than the padded volume. TypeError if a triple
        is a single number.
    >>> out = mg.conv3d(np.ones((1, 1, 2, 2, 3)), np.ones((1, 1, 2, 2, 2)))
    >>> out.tolist()
    [[[[[8.0, 8.0]]]]]
    See: torch.nn.functional.conv3d."""
    n, c, _, high, wide = xp.shape(x)
    o, each, deep, *kernel = xp.shape(weight)
    slices = xp.reshape(x, xp.join_last_axes(xp.shape(x)))
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
    """Compute a 2-D transposed convolution: the gradient of `conv2d`, as a layer.

    Each entry of an image adds the filter, times itself, to a larger one:

        H' = (H - 1) * stride - 2 * padding + dilation * (kH - 1) + output_padding + 1, and W' likewise

    With a stride, `conv2d` gives the same size for several image sizes; `output_padding` chooses among them.
    Shapes: x (N, C, H, W), weight (C, O / groups, kH, kW), bias (O,) -> (N, O, H', W').
    Args:
        x: images.
        weight: one filter for each pair of an input channel and an output channel in its group.
        bias: one number for each output channel; default none.
        stride: distance in the result between the windows of neighbouring entries, (down, across); default (1, 1).
        padding: rows and columns removed on each side of the result; default (0, 0).
        output_padding: additional rows and columns at the bottom and on the right, fewer than the stride; default (0,
            0).
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, the padding leaves nothing, or output_padding reaches the stride.
    >>> x = [[[[1.0, 2.0]]]]
    >>> mg.conv_transpose2d(x, [[[[1.0, 10.0]]]], stride=(1, 1)).tolist()
    [[[[1.0, 12.0, 20.0]]]]
    >>> mg.conv_transpose2d(x, [[[[1.0, 10.0]]]], stride=(1, 2)).tolist()
    [[[[1.0, 10.0, 2.0, 20.0]]]]
    See: torch.nn.functional.conv_transpose2d; Zeiler, Krishnan, Taylor and Fergus, "Deconvolutional networks", 2010."""
    size = xp.size_before_windows(xp.shape(x), xp.shape(weight), stride, padding, output_padding, dilation)
    columns = xp.matmul(xp.mT(xp.kernel_rows(weight, groups=groups)), xp.group_images(x, groups=groups))
    columns = xp.ungroup_columns(columns, images=xp.shape(x)[0])
    out = xp.fold(columns, size, xp.image_size(xp.shape(weight)), stride, padding, dilation)
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


@conv_transpose2d.rule("x")
def _(xp, upstream, weight, stride, padding, groups, dilation):
    """The transpose of a transpose: each entry receives the gradients in its window, times the kernel's weights."""
    return xp.conv2d(upstream, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)


@conv_transpose2d.rule("weight")
def _(xp, upstream, x, weight_shape, stride, padding, groups, dilation):
    """Each weight receives the upstream at the positions it wrote to, times the entries it was multiplied by."""
    unfolded = xp.unfold(upstream, xp.image_size(weight_shape), stride, padding, dilation)
    columns = xp.group_columns(unfolded, groups=groups)
    return xp.reshape(xp.matmul(xp.group_images(x, groups=groups), xp.mT(columns)), weight_shape)


@conv_transpose2d.rule("bias")
def _(xp, upstream):
    """A channel's bias is added at every position of every image."""
    return xp.sum(upstream, axis=(0, 2, 3))


@composite
def conv_transpose1d(xp, x, weight, bias=None, *, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Compute a 1-D transposed convolution: the gradient of `conv1d`, as a layer.

    Each entry of a sequence adds the filter, times itself, to a longer one:

        L' = (L - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1
    Shapes: x (N, C, L), weight (C, O / groups, k), bias (O,) -> (N, O, L').
    Args:
        x: sequences of C channels.
        weight: one filter for each pair of an input channel and an output channel in its group.
        bias: one number for each output channel; default none.
        stride: distance in the result between the windows of neighbouring entries; default 1.
        padding: entries removed at each end of the result; default 0.
        output_padding: additional entries at the end, fewer than the stride; default 0.
        dilation: step between neighbouring entries of a window, at least 1; default 1.
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, the padding leaves nothing, or output_padding reaches the stride.
    >>> mg.conv_transpose1d([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], stride=2).tolist()
    [[[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]]]
    See: torch.nn.functional.conv_transpose1d."""
    out = xp.conv_transpose2d(
        xp.expand_dims(x, -2), xp.expand_dims(weight, -2), bias, stride=(1, stride), padding=(0, padding),
        output_padding=(0, output_padding), groups=groups, dilation=(1, dilation),
    )  # fmt: skip
    return xp.squeeze(out, -2)


# Pooling --------------------


@composite
def max_pool1d(xp, x, *, kernel_size, stride, padding=0, dilation=1):
    """Compute 1-D max pooling: the largest entry of each window.

    Padding never wins. If entries tie, the first one is chosen and receives the whole gradient.

        L' = ⌊(L + 2 * padding - dilation * (kernel_size - 1) - 1) / stride⌋ + 1
    Shapes: x (N, C, L) -> (N, C, L').
    Args:
        x: sequences of real numbers.
        kernel_size: length of a window, at least 1.
        stride: step from one window to the next, at least 1.
        padding: how far windows may extend beyond the ends, at most half a window; default 0.
        dilation: step between neighbouring entries of a window, at least 1; default 1.
    Raises: TypeError if x is complex; ValueError if a window is larger than the padded sequence, or the padding is more
        than half a window.
    >>> mg.max_pool1d([[[1.0, 4.0, 2.0, 3.0]]], kernel_size=2, stride=2).tolist()
    [[[4.0, 3.0]]]
    See: torch.nn.functional.max_pool1d."""
    out = xp.max_pool2d(
        xp.expand_dims(x, -2), kernel_size=(1, kernel_size), stride=(1, stride), padding=(0, padding),
        dilation=(1, dilation),
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def avg_pool1d(xp, x, *, kernel_size, stride, padding=0, count_include_pad=True):
    """Compute 1-D average pooling: the mean of each window.

        L' = ⌊(L + 2 * padding - kernel_size) / stride⌋ + 1
    Shapes: x (N, C, L) -> (N, C, L').
    Args:
        x: sequences of numbers.
        kernel_size: length of a window, at least 1.
        stride: step from one window to the next, at least 1.
        padding: zeros added at each end; default 0.
        count_include_pad: whether to count the padding as entries; default True.
    Raises: ValueError if a window is larger than the padded sequence, or a number is too small.
    >>> x = [[[2.0, 4.0, 6.0]]]
    >>> mg.avg_pool1d(x, kernel_size=2, stride=2, padding=1).tolist()
    [[[1.0, 5.0]]]
    >>> mg.avg_pool1d(x, kernel_size=2, stride=2, padding=1, count_include_pad=False).tolist()
    [[[2.0, 5.0]]]
    See: torch.nn.functional.avg_pool1d."""
    out = xp.avg_pool2d(
        xp.expand_dims(x, -2), kernel_size=(1, kernel_size), stride=(1, stride), padding=(0, padding),
        count_include_pad=count_include_pad,
    )  # fmt: skip
    return xp.squeeze(out, -2)


@composite
def adaptive_avg_pool2d(xp, x, *, output_size):
    """Compute 2-D adaptive average pooling: means over windows that give the requested output size.

    Row i of h is the mean of the input rows from ⌊i * H / h⌋ up to, but excluding, ⌈(i + 1) * H / h⌉, and columns
    likewise. If the lengths do not divide evenly, neighbouring windows share an entry.
    Shapes: x (..., H, W) -> (..., h, w).
    Args:
        x: images.
        output_size: height and width of the result, (h, w), each at least 1; also larger than x.
    Raises: ValueError if a size is less than 1, TypeError if output_size is a single number.
    >>> mg.adaptive_avg_pool2d([[[[1.0, 3.0, 5.0]]]], output_size=(1, 2)).tolist()
    [[[[2.0, 4.0]]]]
    See: torch.nn.functional.adaptive_avg_pool2d."""
    high, wide = output_size
    return xp.resample(xp.resample(x, length=high, axis=-2, mode="average"), length=wide, axis=-1, mode="average")


# Another size ---------------


@composite
def interpolate(xp, x, *, size, mode="nearest", steps=(None, None)):
    """Resize images by interpolation, first along the height and then along the width.

    Each axis is resampled by `resample`; "linear" along both is also called bilinear.
    Shapes: x (..., H, W) -> (..., h, w).
    Args:
        x: images.
        size: height and width of the result, (h, w), each at least 1.
        mode: "nearest" (default), "linear", "corners" or "average", as in `resample`.
        steps: distance of new rows and columns, measured in old ones; default (None, None): H / h and W / w.
    Returns: a tensor of the dtype of x; float64 for integers unless the mode is "nearest".
    Raises: ValueError if mode is unknown or a size is less than 1; TypeError if size is a single number.
    >>> mg.interpolate([[[[1.0, 3.0]]]], size=(1, 4)).tolist()
    [[[[1.0, 1.0, 3.0, 3.0]]]]
    >>> mg.interpolate([[[[1.0, 3.0]]]], size=(1, 4), mode="linear").tolist()
    [[[[1.0, 1.5, 2.5, 3.0]]]]
    See: torch.nn.functional.interpolate, where "corners" is align_corners=True."""
    high, wide = size
    rows = xp.resample(x, length=high, axis=-2, mode=mode, step=steps[0])
    return xp.resample(rows, length=wide, axis=-1, mode=mode, step=steps[1])


@linear(
    x=lambda xp, upstream, x_shape, axis, mode, step: xp.unresample(upstream, x_shape, axis, mode, step),
    public=False,
)
def resample(xp, x, *, length, axis=-1, mode="nearest", step=None):
    """Resample an axis to another length: each new entry is a weighted sum of old ones.

    With the old length n, the new length m and the step s = n / m, new entry i reads
        "nearest"   old entry ⌊i * s⌋
        "linear"    the two entries next to (i + ½) * s - ½: entries are cells, whose centres are aligned
        "corners"   the two entries next to i * (n - 1) / (m - 1): the first and the last are kept
        "average"   all entries that cell i covers, fully or partly, with equal weights
    Beyond the outermost entries the values are constant. The gradient uses the same weights.
    Shapes: x (..., n, ...) -> (..., m, ...).
    Args:
        length: the new length m, at least 1.
        mode: one of the modes above; default "nearest".
        step: s for "nearest" and "linear"; None (default) for n / m.
    Returns: a tensor of the dtype of x; float64 for integers unless the mode is "nearest".
    Raises: ValueError if mode is unknown or length is less than 1; IndexError if the axis is out of range.
    >>> mg.ops.resample([1.0, 3.0], length=4, mode="linear").tolist()
    [1.0, 1.5, 2.5, 3.0]
    >>> mg.ops.resample([1.0, 3.0], length=3, mode="corners").tolist()
    [1.0, 2.0, 3.0]
    >>> mg.ops.resample([1.0, 3.0, 5.0], length=2, mode="average").tolist()
    [2.0, 4.0]
    See: torch.nn.functional.interpolate."""
    return xp.resample(x, length, axis, mode, step)


@linear(
    x=lambda xp, upstream, x_shape, axis, mode, step: xp.resample(upstream, x_shape[axis], axis, mode, step),
    public=False,
)
def unresample(xp, x, *, shape, axis=-1, mode="nearest", step=None):
    """Compute the transpose of `resample`, with the same weights.

    Shapes: x (..., m, ...) -> (..., n, ...).
    Args:
        x: numbers, with the shape that `resample` returns for an array of `shape`.
        axis, mode, step: as in `resample`; default -1, "nearest" and None.
    Returns: a tensor of the dtype of x; float64 for integers unless the mode is "nearest".
    Raises: ValueError if mode is unknown, a length is 0, or x does not have the resampled shape.
    >>> mg.ops.unresample([1.0, 2.0, 3.0, 4.0], shape=(2,)).tolist()
    [3.0, 7.0]
    See: `resample`."""
    resampled = xp.resample(xp.new_zeros(x, shape), xp.shape(x)[axis], axis, mode, step)
    return xp.unresample(xp.shaped_like(x, resampled), shape, axis, mode, step)


@linear(x=lambda xp, upstream, upscale_factor: xp.pixel_unshuffle(upstream, downscale_factor=upscale_factor))
def pixel_shuffle(xp, x, *, upscale_factor):
    """Rearrange channels into space, which enlarges an image.

        out[n, c, h * r + i, w * r + j] = x[n, (c * r + i) * r + j, h, w]
    Shapes: x (N, C * r * r, H, W) -> (N, C, H * r, W * r).
    Args:
        x: images.
        upscale_factor: r, an integer of at least 1.
    Raises: ValueError if x does not have four axes, or the channels are not a multiple of r².
    >>> mg.pixel_shuffle([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]], upscale_factor=2).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    See: torch.nn.functional.pixel_shuffle; Shi et al., "Real-time single image and video super-resolution using an
        efficient sub-pixel convolutional neural network", 2016."""
    n, c, high, wide = xp.shape(x)
    r, kept = upscale_factor, c // upscale_factor**2
    apart = xp.reshape(x, (n, kept, r, r, high, wide))
    return xp.reshape(xp.transpose(apart, (0, 1, 4, 2, 5, 3)), (n, kept, high * r, wide * r))


@linear(x=lambda xp, upstream, downscale_factor: xp.pixel_shuffle(upstream, upscale_factor=downscale_factor))
def pixel_unshuffle(xp, x, *, downscale_factor):
    """Rearrange space into channels: the inverse of `pixel_shuffle`.

        out[n, (c * r + i) * r + j, h, w] = x[n, c, h * r + i, w * r + j]
    Shapes: x (N, C, H * r, W * r) -> (N, C * r * r, H, W).
    Args:
        x: images.
        downscale_factor: r, an integer of at least 1.
    Raises: ValueError if x does not have four axes, or height or width is not a multiple of r.
    >>> mg.pixel_unshuffle([[[[1.0, 2.0], [3.0, 4.0]]]], downscale_factor=2).tolist()
    [[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]
    See: torch.nn.functional.pixel_unshuffle; `pixel_shuffle`."""
    n, c, high, wide = xp.shape(x)
    r = downscale_factor
    apart = xp.reshape(x, (n, c, high // r, r, wide // r, r))
    return xp.reshape(xp.transpose(apart, (0, 1, 3, 5, 2, 4)), (n, c * r**2, high // r, wide // r))
