"""Windows that slide over images: convolution and pooling. Shapes are (images, channels, height, width).

A pair such as `stride` is (along the height, along the width).
"""

from ..op import constant, linear, op, real_only


@linear(
    x=lambda xp, upstream, x_shape, kernel_size, stride, padding, dilation: xp.fold(
        upstream, xp.image_size(x_shape), kernel_size, stride, padding, dilation
    )
)
def unfold(xp, x, *, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """Each window's entries as one column: (N, C, H, W) to (N, C * kernel, windows)."""
    return xp.unfold(x, kernel_size, stride, padding, dilation)


@linear(
    x=lambda xp, upstream, kernel_size, stride, padding, dilation: xp.unfold(
        upstream, kernel_size, stride, padding, dilation
    )
)
def fold(xp, x, *, output_size, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """The reverse of `unfold`: columns put back where their windows were; where windows overlap, entries add up."""
    return xp.fold(x, output_size, kernel_size, stride, padding, dilation)


@op
def conv2d(xp, x, weight, bias=None, *, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """A small image of weights compared with every window: (N, C, H, W) and (O, C / groups, kh, kw) to (N, O, H', W').

    The product of two matrices: weights by entry, and entries by window, the windows of all images side by side.
    """
    columns = xp.unfold(x, xp.image_size(xp.shape(weight)), stride, padding, dilation)
    product = xp.matmul(xp.kernel_rows(weight, groups=groups), xp.grouped(columns, groups=groups))
    size = xp.windows_along(xp.shape(x), xp.shape(weight), stride, padding, dilation)
    out = xp.as_images(product, size=size, images=xp.shape(x)[0])
    return out if bias is None else out + xp.by_channel(bias, xp.shape(out))


@conv2d.rule("x")
def _(xp, upstream, weight, x_shape, weight_shape, stride, padding, dilation, groups):
    """Each window hands its gradient to the entries it saw, by their weights; entries in several windows add up."""
    columns = xp.matmul(xp.mT(xp.kernel_rows(weight, groups=groups)), xp.grouped_images(upstream, groups=groups))
    columns = xp.ungrouped(columns, images=x_shape[0])
    return xp.fold(columns, xp.image_size(x_shape), xp.image_size(weight_shape), stride, padding, dilation)


@conv2d.rule("weight")
def _(xp, upstream, x, weight_shape, stride, padding, dilation, groups):
    """Each weight collects what it saw, window by window, as strongly as the window was asked to change."""
    columns = xp.grouped(xp.unfold(x, xp.image_size(weight_shape), stride, padding, dilation), groups=groups)
    return xp.reshape(xp.matmul(xp.grouped_images(upstream, groups=groups), xp.mT(columns)), weight_shape)


@conv2d.rule("bias")
def _(xp, upstream):
    """A channel's bias is added at every place of every image."""
    return xp.sum(upstream, axis=(0, 2, 3))


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def kernel_rows(xp, x, *, groups=1):
    """A kernel's weights as one row for each output channel, apart for each group: (groups, O / groups, entries)."""
    return xp.kernel_rows(x, groups)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(xp.ungrouped(upstream, images=x_shape[0]), x_shape))
def grouped(xp, x, *, groups=1):
    """The columns of all images side by side, apart for each group: (N, entries, windows) to (groups, entries / groups,
    windows * N)."""
    return xp.grouped(x, groups)


@linear(x=lambda xp, upstream, x_shape: xp.grouped(upstream, groups=x_shape[0]))
def ungrouped(xp, x, *, images):
    """The columns of so many images again, all groups together: the reverse of `grouped`."""
    return xp.ungrouped(x, images)


@linear(x=lambda xp, upstream, x_shape: xp.as_images(upstream, size=xp.image_size(x_shape), images=x_shape[0]))
def grouped_images(xp, x, *, groups=1):
    """The places of all images in a row, apart for each group: (N, C, H, W) to (groups, C / groups, H * W * N)."""
    return xp.grouped_images(x, groups)


@linear(x=lambda xp, upstream, x_shape: xp.grouped_images(upstream, groups=x_shape[0]))
def as_images(xp, x, *, size, images):
    """So many images of `size` again, all groups together: the reverse of `grouped_images`."""
    return xp.as_images(x, size, images)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def channels(xp, x):
    """One number for each channel, ready to be added to images."""
    return xp.reshape(x, (-1, 1, 1))


@op(keeps=("chosen",), constants=("chosen",))
@real_only
def max_pool2d(xp, x, *, kernel_size, stride, padding=(0, 0), dilation=(1, 1)):
    """The largest entry of each window; a border of padding never wins. Of several the first, as in PyTorch."""
    return xp.max_pool2d_with_chosen(x, kernel_size, stride, padding, dilation)


@max_pool2d.rule("x")
def _(xp, upstream, chosen, x_shape, kernel_size, stride, padding, dilation):
    """The gradient goes to the entry that was chosen; one that several windows chose receives from each."""
    columns = xp.grouped_images(upstream, groups=x_shape[1]) * chosen
    columns = xp.ungrouped(columns, images=x_shape[0])
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
def avg_pool2d(xp, x, *, kernel_size, stride, padding=(0, 0), count_include_pad=True):
    """The mean of each window; `count_include_pad` says whether a border of padding counts as entries."""
    total = xp.window_sums(xp.unfold(x, kernel_size, stride, padding), x_shape=xp.shape(x), kernel_size=kernel_size,
                           stride=stride, padding=padding)  # fmt: skip
    return total / xp.window_counts(x, xp.shape(x), kernel_size, stride, padding, count_include_pad)


@linear(x=lambda xp, upstream, kernel_size: xp.window_columns(upstream, kernel_size))
def window_sums(xp, x, *, x_shape, kernel_size, stride, padding):
    """Columns of windows added up, as images."""
    return xp.window_sums(x, x_shape, kernel_size, stride, padding)


@linear(
    x=lambda xp, upstream, x_shape, kernel_size: xp.reshape(
        xp.sum(xp.split_columns(upstream, kernel_size=kernel_size), axis=2), x_shape
    )
)
def window_columns(xp, x, *, kernel_size):
    """Each entry of an image repeated as a column for its whole window: the reverse of `window_sums`."""
    return xp.window_columns(x, kernel_size)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def split_columns(xp, x, *, kernel_size):
    """Columns of windows apart for each channel: (N, C, kernel, windows)."""
    return xp.split_columns(x, kernel_size)


@constant
def window_counts(xp, x, *, shape, kernel_size, stride, padding, count_include_pad):
    """How many entries each window of an image of `shape` takes together."""
    return xp.window_counts(x, shape, kernel_size, stride, padding, count_include_pad)
