"""Wrong rules of convolution and pooling."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
IMAGE = (np.arange(32.0).reshape(1, 2, 4, 4) * 7 % 11) - 5.0
KERNEL = np.array([1.0, -2.0, 4.0, 0.5, 3.0, -1.0, 2.0, 1.5]).reshape(1, 2, 2, 2)


@wrong(ops.conv2d, "x", lazy=Lazy("the kernel is a single 1", IMAGE[:, :1], np.ones((1, 1, 1, 1))))
def passed_through(upstream):
    """The image receives upstream as it is, as if there were no kernel. If it fits at all, by chance of the sizes."""
    return upstream


@wrong(ops.conv2d, "x", lazy=Lazy("the kernel is symmetric", IMAGE, np.ones((1, 2, 2, 2))))
def kernel_flipped(xp, upstream, weight, x_shape, weight_shape, stride, padding, dilation, groups):
    """Each window hands its gradient to the entries it saw, by their own weights; here by the opposite ones."""
    rows = xp.kernel_rows(xp.flip(weight, axis=(-2, -1)), groups=groups)
    columns = xp.matmul(xp.mT(rows), xp.group_images(upstream, groups=groups))
    size, kernel = xp.image_size(x_shape), xp.image_size(weight_shape)
    return xp.fold(xp.ungroup_columns(columns, images=x_shape[0]), size, kernel, stride, padding, dilation)


@wrong(ops.conv2d, "x", lazy=Lazy("the stride is 1", IMAGE, KERNEL))
def stride_ignored(xp, upstream, weight, x_shape, weight_shape, padding, dilation, groups):
    """Windows are placed next to each other, although they were a stride apart."""
    rows = xp.kernel_rows(weight, groups=groups)
    columns = xp.matmul(xp.mT(rows), xp.group_images(upstream, groups=groups))
    size, kernel = xp.image_size(x_shape), xp.image_size(weight_shape)
    return xp.fold(xp.ungroup_columns(columns, images=x_shape[0]), size, kernel, (1, 1), padding, dilation)


@wrong(ops.conv2d, "weight", lazy=Lazy("the kernel is 1 by 1", IMAGE, KERNEL[..., :1, :1]))
def weights_reversed(xp, upstream, x, weight_shape, stride, padding, dilation, groups):
    """Each weight receives the gradient of the opposite one: the kernel's gradient is rotated by half a turn."""
    columns = xp.group_columns(xp.unfold(x, xp.image_size(weight_shape), stride, padding, dilation), groups=groups)
    right = xp.reshape(xp.matmul(xp.group_images(upstream, groups=groups), xp.mT(columns)), weight_shape)
    return xp.flip(right, axis=(-2, -1))


def put_back(xp, columns, x_shape, kernel_size, stride, padding, dilation):
    """Write the columns of windows back to their positions, one kernel entry after another."""
    out = np.zeros((*x_shape[:2], *(n + 2 * p for n, p in zip(x_shape[2:], padding, strict=True))))
    high, wide = xp.windows_along(x_shape, kernel_size, stride, padding, dilation)
    columns = columns.reshape(*x_shape[:2], *kernel_size, high, wide)
    for i, j in np.ndindex(*kernel_size):
        top, left = i * dilation[0], j * dilation[1]
        down = slice(top, top + stride[0] * high, stride[0])
        across = slice(left, left + stride[1] * wide, stride[1])
        out[:, :, down, across] = columns[:, :, i, j]
    return out[:, :, padding[0] : padding[0] + x_shape[2], padding[1] : padding[1] + x_shape[3]]


@wrong(ops.unfold, "x", lazy=Lazy("windows do not overlap", IMAGE, kernel_size=(2, 2), stride=(2, 2)))
def overlaps_overwritten(xp, upstream, x_shape, kernel_size, stride, padding, dilation):
    """An entry in several windows receives from each; this rule overwrites instead of adding, so the last one wins."""
    return put_back(xp, upstream, x_shape, kernel_size, stride, padding, dilation)


def sent_by_windows(xp, upstream, x, out, kernel_size, stride, padding, dilation):
    """Return the contribution of each window to its entries, all 0 but the largest's: (N, C, entries, windows)."""
    columns = xp.unfold(x, kernel_size, stride, padding, dilation)
    entries = xp.reshape(columns, (*x.shape[:2], -1, columns.shape[-1]))
    return xp.equal(entries, out.reshape(*x.shape[:2], 1, -1)) * upstream.reshape(*x.shape[:2], 1, -1)


@wrong(ops.max_pool2d, "x", lazy=Lazy("a window is one entry", IMAGE, kernel_size=(1, 1), stride=(1, 1)))
def one_place_further(xp, upstream, x, out, kernel_size, stride, padding, dilation):
    """The largest entry receives nothing, and its neighbour in the window receives its gradient: a place is counted
    from 1."""
    sent = xp.roll(sent_by_windows(xp, upstream, x, out, kernel_size, stride, padding, dilation), 1, axis=2)
    columns = sent.reshape(len(x), -1, sent.shape[-1])
    return xp.fold(columns, x.shape[2:], kernel_size, stride, padding, dilation)


@wrong(ops.max_pool2d, "x", lazy=Lazy("windows do not overlap", IMAGE[:, :1], kernel_size=(2, 2), stride=(2, 2)))
def last_window_wins(xp, upstream, x, out, kernel_size, stride, padding, dilation):
    """An entry that several windows chose receives from each; this rule overwrites, so the last window wins, even if it
    sends 0."""
    sent = sent_by_windows(xp, upstream, x, out, kernel_size, stride, padding, dilation)
    return put_back(xp, sent, x.shape, kernel_size, stride, padding, dilation)


@wrong(ops.avg_pool2d, "x", lazy=Lazy("a window is one entry", IMAGE, kernel_size=(1, 1), stride=(1, 1)))
def count_of_a_window_forgotten(xp, upstream, x_shape, kernel_size, stride, padding):
    """Every entry of a window receives all of its gradient. All entries are too large, by the size of the window."""
    columns = xp.window_columns(upstream, kernel_size)
    return xp.fold(columns, xp.image_size(x_shape), kernel_size, stride, padding)


@wrong(ops.avg_pool2d, "x", lazy=Lazy("there is no border", IMAGE, kernel_size=(2, 2), stride=(1, 1)))
def border_always_counted(xp, upstream, x_shape, kernel_size, stride, padding):
    """Divided by the whole window, also where going forward only the entries inside the image were counted."""
    share = upstream / (kernel_size[0] * kernel_size[1])
    return xp.fold(xp.window_columns(share, kernel_size), xp.image_size(x_shape), kernel_size, stride, padding)
