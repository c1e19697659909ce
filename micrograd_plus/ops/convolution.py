"""Convolution and pooling of images. Shapes are (images, channels, height, width).

A pair such as `stride` is (along the height, along the width).
"""

from ..core.define import linear, nondifferentiable, op, real_only
from ..core.messages import explains

IMAGES = (
    "{error}; x must be (images, channels, height, width), and parameters for height and width must be a number or a "
    "pair, such as stride=(2, 2)"
)
"""The message of operations on images."""


@linear(
    x=lambda xp, upstream, x_shape, kernel_size, stride, padding, dilation: xp.fold(
        upstream, xp.image_size(x_shape), kernel_size, stride, padding, dilation
    )
)
@explains(IMAGES)
def unfold(xp, x, *, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """Extract sliding windows of images as columns (im2col).

    Column l of image n contains the entries of window l: channel by channel, each in row-major order. Windows are in
    row-major order, too, and the padding is 0. The gradient adds up the windows that contain an entry: `fold`.

        H' = ⌊(H + 2 * padding - dilation * (kH - 1) - 1) / stride⌋ + 1, and W' likewise
    Shapes: x (N, C, H, W) -> (N, C * kH * kW, H' * W').
    Args:
        x: images.
    Raises: ValueError if x does not have four axes, a window is larger than the padded image, or a number is too small;
        TypeError if a pair is a single number.
    >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
    >>> mg.unfold(x, kernel_size=(2, 2))[0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    See: torch.nn.functional.unfold."""
    return xp.unfold(x, kernel_size, stride, padding, dilation)


@linear(
    x=lambda xp, upstream, kernel_size, stride, padding, dilation: xp.unfold(
        upstream, kernel_size, stride, padding, dilation
    )
)
@explains("{error}; x must be (images, channels * kernel, windows), with as many windows as output_size has room for")
def fold(xp, x, *, output_size, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """Add columns of windows up into images (col2im): the transpose of `unfold`.

    Each column returns to the position of its window; overlapping entries add up. So fold(unfold(x)) is x times the
    number of windows that contain each entry.
    Shapes: x (N, C * kH * kW, L) -> (N, C, H, W), where L is the number of windows in the image.
    Args:
        x: columns, as returned by `unfold`.
        output_size: height and width of the images, (H, W).
        stride, padding, dilation: pairs, as in `unfold`; default (1, 1), (0, 0) and (1, 1).
    Raises: ValueError if number or length of the columns does not match the windows of such an image; TypeError if a
        pair is a single number.
    >>> windows = mg.unfold(np.ones((1, 1, 3, 3)), kernel_size=(2, 2))
    >>> mg.fold(windows, output_size=(3, 3), kernel_size=(2, 2)).tolist()
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    See: torch.nn.functional.fold."""
    return xp.fold(x, output_size, kernel_size, stride, padding, dilation)


@op
@explains(f"{IMAGES}; weight must be (out, channels / groups, height, width), and bias (out,)")
def conv2d(xp, x, weight, bias=None, *, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Compute a 2-D convolution (cross-correlation) of images.

    Each filter is multiplied with every window of the padded image; with stride s and dilation d

        out[n, o, i, j] = bias[o] + Σ_c Σ_p Σ_q weight[o, c, p, q] * x[n, c, s * i + d * p, s * j + d * q]
        H' = ⌊(H + 2 * padding - dilation * (kH - 1) - 1) / stride⌋ + 1, and W' likewise

    It is computed as one matrix product, (weights, entries) times (entries, windows), with the windows of all images
    side by side.
    Shapes: x (N, C, H, W), weight (O, C / groups, kH, kW), bias (O,) -> (N, O, H', W').
    Args:
        x: images.
        weight: one filter for each of O output channels.
        bias: one number for each output channel; default none.
    Returns: a tensor of the common dtype of x and weight.
    Raises: ValueError if the shapes do not match, or a window is larger than the padded image. TypeError if a pair is a
        single number.
    >>> edges = [[[[1.0, -1.0]]]]
    >>> mg.conv2d([[[[5.0, 5.0, 9.0, 9.0]]]], edges).tolist()
    [[[[0.0, -4.0, 0.0]]]]
    See: torch.nn.functional.conv2d; the notes on convolutional networks of CS231n."""
    out = xp.correlate2d(x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


@conv2d.rule("x")
def _(xp, upstream, weight, x_shape, stride, padding, dilation, groups):
    """Each window sends its gradient to the entries it saw, by their weights; entries in several windows add up."""
    return xp.conv2d_input(weight, upstream, size=xp.image_size(x_shape), stride=stride, padding=padding,
                           dilation=dilation, groups=groups)  # fmt: skip


@conv2d.rule("weight")
def _(xp, upstream, x, weight_shape, stride, padding, dilation, groups):
    """Each weight collects the entries it met, window by window, times the gradient of that window."""
    return xp.conv2d_weight(x, upstream, kernel_size=xp.image_size(weight_shape), stride=stride, padding=padding,
                            dilation=dilation, groups=groups)  # fmt: skip


@conv2d.rule("bias")
def _(xp, upstream):
    """A channel's bias is added at every position of every image."""
    return xp.sum(upstream, axis=(0, 2, 3))


# The product in a convolution and its two gradients. Each is the rule of the others, so derivatives of any order are
# convolutions again. Arrays are multiplied in blocks (`backends/windows.py`); the steps below are what that computes.


@op(public=False)
def correlate2d(xp, x, weight, *, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Multiply every filter with every window: `conv2d` without a bias.

    Shapes: x (N, C, H, W), weight (O, C / groups, kH, kW) -> (N, O, H', W').
    Args:
        x: images.
        weight: one filter for each of O output channels.
        stride, padding, dilation: pairs, as in `conv2d`.
        groups: the number of groups of channels; default 1.
    Raises: ValueError if the shapes do not match, or a window is larger than the padded image.
    >>> mg.ops.correlate2d([[[[5.0, 5.0, 9.0, 9.0]]]], [[[[1.0, -1.0]]]]).tolist()
    [[[[0.0, -4.0, 0.0]]]]
    See: scipy.signal.correlate2d; `conv2d`."""
    columns = xp.unfold(x, xp.image_size(xp.shape(weight)), stride, padding, dilation)
    product = xp.matmul(xp.kernel_rows(weight, groups=groups), xp.group_columns(columns, groups=groups))
    size = xp.windows_along(xp.shape(x), xp.shape(weight), stride, padding, dilation)
    return xp.ungroup_images(product, size=size, images=xp.shape(x)[0])


@correlate2d.rule("x")
def _(xp, upstream, weight, x_shape, stride, padding, dilation, groups):
    return xp.conv2d_input(weight, upstream, size=xp.image_size(x_shape), stride=stride, padding=padding,
                           dilation=dilation, groups=groups)  # fmt: skip


@correlate2d.rule("weight")
def _(xp, upstream, x, weight_shape, stride, padding, dilation, groups):
    return xp.conv2d_weight(x, upstream, kernel_size=xp.image_size(weight_shape), stride=stride, padding=padding,
                            dilation=dilation, groups=groups)  # fmt: skip


@op(public=False)
def conv2d_input(xp, weight, sent, *, size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Compute the gradient of a convolution with respect to its images.

    Shapes: weight (O, C / groups, kH, kW), sent (N, O, H', W') -> (N, C, *size).
    Args:
        weight: the filters of the convolution.
        sent: the gradient of its output.
        size: height and width of the images, (H, W).
        stride, padding, dilation: pairs, as in `conv2d`.
        groups: the number of groups of channels; default 1.
    Raises: ValueError if `sent` does not have the shape of the convolution's output.
    >>> mg.ops.conv2d_input([[[[1.0, -1.0]]]], [[[[1.0, 10.0]]]], size=(1, 3)).tolist()
    [[[[1.0, 9.0, -10.0]]]]
    See: torch.nn.grad.conv2d_input; `conv2d`."""
    columns = xp.matmul(xp.mT(xp.kernel_rows(weight, groups=groups)), xp.group_images(sent, groups=groups))
    columns = xp.ungroup_columns(columns, images=xp.shape(sent)[0])
    return xp.fold(columns, size, xp.image_size(xp.shape(weight)), stride, padding, dilation)


@conv2d_input.rule("weight")
def _(xp, upstream, sent, weight_shape, stride, padding, dilation, groups):
    return xp.conv2d_weight(upstream, sent, kernel_size=xp.image_size(weight_shape), stride=stride, padding=padding,
                            dilation=dilation, groups=groups)  # fmt: skip


@conv2d_input.rule("sent")
def _(xp, upstream, weight, stride, padding, dilation, groups):
    return xp.correlate2d(upstream, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)


@op(public=False)
def conv2d_weight(xp, x, sent, *, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Compute the gradient of a convolution with respect to its weight.

    Shapes: x (N, C, H, W), sent (N, O, H', W') -> (O, C / groups, *kernel_size).
    Args:
        x: the images of the convolution.
        sent: the gradient of its output.
        kernel_size: height and width of a filter, (kH, kW).
        stride, padding, dilation: pairs, as in `conv2d`.
        groups: the number of groups of channels; default 1.
    Raises: ValueError if `sent` does not have the shape of the convolution's output.
    >>> mg.ops.conv2d_weight([[[[1.0, 2.0, 3.0]]]], [[[[1.0, 10.0]]]], kernel_size=(1, 2)).tolist()
    [[[[21.0, 32.0]]]]
    See: torch.nn.grad.conv2d_weight; `conv2d`."""
    columns = xp.group_columns(xp.unfold(x, kernel_size, stride, padding, dilation), groups=groups)
    return xp.reshape(
        xp.matmul(xp.group_images(sent, groups=groups), xp.mT(columns)),
        xp.kernel_shape(xp.shape(x), xp.shape(sent), kernel_size, stride, padding, dilation, groups),
    )


@conv2d_weight.rule("x")
def _(xp, upstream, sent, x_shape, stride, padding, dilation, groups):
    return xp.conv2d_input(upstream, sent, size=xp.image_size(x_shape), stride=stride, padding=padding,
                           dilation=dilation, groups=groups)  # fmt: skip


@conv2d_weight.rule("sent")
def _(xp, upstream, x, stride, padding, dilation, groups):
    return xp.correlate2d(x, upstream, stride=stride, padding=padding, dilation=dilation, groups=groups)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def kernel_rows(xp, x, *, groups=1):
    """Reshape the weights of a convolution to matrices, with one row for each output channel.

    Shapes: x (O, C / groups, kH, kW) -> (groups, O / groups, C / groups * kH * kW).
    Args:
        x: the weight of a convolution.
    Raises: ValueError if O is not a multiple of groups.
    >>> mg.ops.kernel_rows(np.arange(8.0).reshape(2, 1, 2, 2)).tolist()
    [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]
    See: `conv2d`, whose left matrix this is."""
    return xp.kernel_rows(x, groups)


@linear(
    x=lambda xp, upstream, x_shape: xp.reshape(xp.ungroup_columns(upstream, images=x_shape[0]), x_shape),
    public=False,
)
def group_columns(xp, x, *, groups=1):
    """Arrange the columns of all images side by side, separately for each group of channels.

    Shapes: x (N, entries, windows) -> (groups, entries / groups, windows * N); the images alternate fastest.
    Args:
        x: columns, as returned by `unfold`.
    Raises: ValueError if the length of a column is not a multiple of groups.
    >>> mg.ops.group_columns([[[1.0, 2.0]], [[3.0, 4.0]]]).tolist()
    [[[1.0, 3.0, 2.0, 4.0]]]
    See: `conv2d`, whose right matrix this is; `ungroup_columns` is the reverse."""
    return xp.group_columns(x, groups)


@linear(x=lambda xp, upstream, x_shape: xp.group_columns(upstream, groups=x_shape[0]), public=False)
def ungroup_columns(xp, x, *, images):
    """Separate the columns of the images again, with all groups together: the inverse of `group_columns`.

    Shapes: x (groups, entries / groups, windows * N) -> (N, entries, windows).
    Args:
        x: columns of all images side by side, for each group.
        images: the number of images, N.
    Raises: ValueError if the last axis is not a multiple of images.
    >>> mg.ops.ungroup_columns([[[1.0, 3.0, 2.0, 4.0]]], images=2).tolist()
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    See: `group_columns`."""
    return xp.ungroup_columns(x, images)


@linear(
    x=lambda xp, upstream, x_shape: xp.ungroup_images(upstream, size=xp.image_size(x_shape), images=x_shape[0]),
    public=False,
)
def group_images(xp, x, *, groups=1):
    """Arrange the pixels of all images in rows, separately for each group of channels.

    Shapes: x (N, C, H, W) -> (groups, C / groups, H * W * N); the images alternate fastest.
    Args:
        x: images.
    Raises: ValueError if C is not a multiple of groups, or x does not have four axes.
    >>> mg.ops.group_images([[[[1.0, 2.0]]], [[[3.0, 4.0]]]]).tolist()
    [[[1.0, 3.0, 2.0, 4.0]]]
    See: `conv2d`, whose rules need it; `ungroup_images` is the reverse."""
    return xp.group_images(x, groups)


@linear(x=lambda xp, upstream, x_shape: xp.group_images(upstream, groups=x_shape[0]), public=False)
def ungroup_images(xp, x, *, size, images):
    """Rebuild images from their rows of pixels: the inverse of `group_images`.

    Shapes: x (groups, C / groups, H * W * N) -> (N, C, H, W).
    Args:
        x: pixels of all images in a row, for each group.
        size: height and width of an image, (H, W).
        images: the number of images, N.
    Raises: ValueError if the last axis is not H * W * N long.
    >>> mg.ops.ungroup_images([[[1.0, 3.0, 2.0, 4.0]]], size=(1, 2), images=2).tolist()
    [[[[1.0, 2.0]]], [[[3.0, 4.0]]]]
    See: `group_images`."""
    return xp.ungroup_images(x, size, images)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def as_channels(xp, x):
    """Reshape one number per channel so that it broadcasts with images.

    Shapes: x (C,) -> (C, 1, 1).
    Args:
        x: numbers, one for each channel.
    >>> mg.ops.as_channels([1.0, 2.0]).tolist()
    [[[1.0]], [[2.0]]]
    See: `scaled_channels`, which multiplies and adds by channel."""
    return xp.reshape(x, (-1, 1, 1))


@op(residuals=("chosen",), constants=("chosen",))
@real_only
@explains(IMAGES)
def max_pool2d(xp, x, *, kernel_size, stride, padding=(0, 0), dilation=(1, 1)):
    """Compute 2-D max pooling: the largest entry of each window.

    Padding counts as -inf. If entries tie, the first one (in row-major order) is chosen and receives the whole
    gradient, as in PyTorch.

        H' = ⌊(H + 2 * padding - dilation * (kH - 1) - 1) / stride⌋ + 1, and W' likewise
    Shapes: x (N, C, H, W) -> (N, C, H', W').
    Args:
        x: images of real numbers.
        stride: step from one window to the next, (down, across), each at least 1.
        padding: how far windows may extend beyond the edges, at most half a window; default (0, 0).
    Raises: TypeError if x is complex, or a pair is a single number; ValueError if a window is larger than the padded
        image, or the padding is more than half a window.
    >>> x = mg.tensor([[[[1.0, 4.0, 4.0, 2.0]]]], requires_grad=True)
    >>> out = mg.max_pool2d(x, kernel_size=(1, 3), stride=(1, 1))
    >>> out.tolist()
    [[[[4.0, 4.0]]]]
    >>> mg.sum(out).backward()
    >>> x.grad.tolist()
    [[[[0.0, 2.0, 0.0, 0.0]]]]
    See: torch.nn.functional.max_pool2d."""
    return xp.max_pool2d_and_choice(x, kernel_size, stride, padding, dilation)


@max_pool2d.rule("x")
def _(xp, upstream, chosen, x_shape, kernel_size, stride, padding, dilation):
    """The gradient goes to the entry that was chosen. An entry chosen by several windows receives from each."""
    columns = xp.group_images(upstream, groups=x_shape[1]) * chosen
    columns = xp.ungroup_columns(columns, images=x_shape[0])
    return xp.fold(columns, xp.image_size(x_shape), kernel_size, stride, padding, dilation)


@linear(
    x=lambda xp, upstream, x_shape, kernel_size, stride, padding, count_include_pad: xp.fold(
        xp.window_columns(
            upstream / xp.window_counts(upstream, x_shape, kernel_size, stride, padding, count_include_pad), kernel_size
        ),
        xp.image_size(x_shape),
        kernel_size,
        stride,
        padding,
    )
)
@explains(IMAGES)
def avg_pool2d(xp, x, *, kernel_size, stride, padding=(0, 0), count_include_pad=True):
    """Compute 2-D average pooling: the mean of each window.

    Each mean is the sum of a window over kH * kW, or, without `count_include_pad`, over the number of its entries
    inside the image. The gradient of a mean is shared equally among these entries.

        H' = ⌊(H + 2 * padding - kH) / stride⌋ + 1, and W' likewise
    Shapes: x (N, C, H, W) -> (N, C, H', W').
    Args:
        x: images.
        stride: step from one window to the next, (down, across), each at least 1.
        count_include_pad: whether to count the padding as entries; default True.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: ValueError if a window is larger than the padded image, or a number is too small. TypeError if a pair is a
        single number.
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> mg.avg_pool2d(x, kernel_size=(2, 2), stride=(2, 2)).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    See: torch.nn.functional.avg_pool2d."""
    total = xp.window_sums(xp.unfold(x, kernel_size, stride, padding), x_shape=xp.shape(x), kernel_size=kernel_size,
                           stride=stride, padding=padding)  # fmt: skip
    return total / xp.window_counts(x, xp.shape(x), kernel_size, stride, padding, count_include_pad)


@linear(x=lambda xp, upstream, kernel_size: xp.window_columns(upstream, kernel_size), public=False)
def window_sums(xp, x, *, x_shape, kernel_size, stride, padding):
    """Sum each window: add up the columns of `unfold`, as images.

    Shapes: x (N, C * kH * kW, H' * W') -> (N, C, H', W').
    Args:
        x: columns, as returned by `unfold`.
        x_shape: the shape (N, C, H, W) of the images.
        kernel_size: height and width of a window, (kH, kW).
        stride, padding: pairs, as in `unfold`.
    Raises: ValueError if the columns do not match such images.
    >>> windows = mg.unfold(np.ones((1, 1, 2, 3)), kernel_size=(2, 2))
    >>> mg.ops.window_sums(windows, (1, 1, 2, 3), kernel_size=(2, 2), stride=(1, 1), padding=(0, 0)).tolist()
    [[[[4.0, 4.0]]]]
    See: `avg_pool2d`, a part of which this is; `window_columns` is its transpose."""
    return xp.window_sums(x, x_shape, kernel_size, stride, padding)


@linear(
    x=lambda xp, upstream, x_shape, kernel_size: xp.reshape(
        xp.sum(xp.split_columns(upstream, kernel_size=kernel_size), axis=2), x_shape
    ),
    public=False,
)
def window_columns(xp, x, *, kernel_size):
    """Repeat each entry as a column for its whole window: the transpose of `window_sums`.

    Shapes: x (N, C, H', W') -> (N, C * kH * kW, H' * W').
    Args:
        x: images with one entry for each window.
        kernel_size: height and width of a window, (kH, kW).
    Raises: ValueError if x does not have four axes.
    >>> mg.ops.window_columns([[[[5.0, 7.0]]]], kernel_size=(1, 2)).tolist()
    [[[5.0, 7.0], [5.0, 7.0]]]
    See: `window_sums`."""
    return xp.window_columns(x, kernel_size)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def split_columns(xp, x, *, kernel_size):
    """Give the entries of each channel a separate axis in columns of windows.

    Shapes: x (N, C * kH * kW, windows) -> (N, C, kH * kW, windows).
    Args:
        x: columns, as returned by `unfold`.
        kernel_size: height and width of a window, (kH, kW).
    Raises: ValueError if the length of a column is not a multiple of kH * kW.
    >>> mg.ops.split_columns([[[1.0], [2.0], [3.0], [4.0]]], kernel_size=(1, 2)).tolist()
    [[[[1.0], [2.0]], [[3.0], [4.0]]]]
    See: `unfold`; `window_columns`, whose rule needs it."""
    return xp.split_columns(x, kernel_size)


@nondifferentiable(public=False)
def window_counts(xp, x, *, shape, kernel_size, stride, padding, count_include_pad):
    """Count the entries that each window of an image averages.

    There is no gradient.
    Shapes: x any -> (H', W'), or () if all counts are equal.
    Args:
        x: a tensor that determines the device.
        shape: the shape (..., H, W) of the image.
        kernel_size, stride, padding: pairs, as in `avg_pool2d`.
        count_include_pad: whether to count the padding as entries.
    Returns: a tensor of integers (int16).
    Raises: ValueError if a kernel size or stride is less than 1.
    >>> mg.ops.window_counts([0.0], (1, 1, 2, 2), (2, 2), (1, 1), (1, 1), False).tolist()
    [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    See: `avg_pool2d`, which divides by it."""
    return xp.window_counts(x, shape, kernel_size, stride, padding, count_include_pad)
