"""Rules whose gradient is right, and whose gradient's gradient is not: something they read is taken for a constant."""

from ... import ops
from ...backends import devices
from .exhibit import SECOND, Lazy, wrong

np = devices.device("cpu").library
IMAGE = (np.arange(16.0).reshape(1, 1, 4, 4) * 7 % 11) - 5.0
KERNEL = np.array([1.0, -2.0, 4.0, 0.5]).reshape(1, 1, 2, 2)
ONLY_ONCE = "the gradient is taken once"


@wrong(ops.conv2d, "x", lazy=Lazy(ONLY_ONCE, IMAGE, KERNEL), promise=SECOND)
def convolution_without_the_weights_term(
    xp, upstream, weight, x_shape, weight_shape, stride, padding, dilation, groups
):
    """What the image receives depends on the weight, so the gradient of a gradient reaches the weight too; here it does
    not."""
    rows = xp.kernel_rows(xp.stop_gradient(weight), groups=groups)
    columns = xp.matmul(xp.mT(rows), xp.group_images(upstream, groups=groups))
    size, kernel = xp.image_size(x_shape), xp.image_size(weight_shape)
    return xp.fold(xp.ungroup_columns(columns, images=x_shape[0]), size, kernel, stride, padding, dilation)


@wrong(ops.tanh, "x", lazy=Lazy(ONLY_ONCE, np.array([0.5, -1.0])), promise=SECOND)
def slope_cut_off_from_its_output(xp, out):
    """The slope is right and has no past: it does not know that it changes with x."""
    return 1 - xp.stop_gradient(out) ** 2


@wrong(ops.matmul, "a", lazy=Lazy(ONLY_ONCE, IMAGE[0, 0], IMAGE[0, 0]), promise=SECOND)
def factor_taken_for_a_constant(xp, upstream, b):
    """What one factor receives depends on the other, which receives nothing in return."""
    return xp.matmul(upstream, xp.stop_gradient(xp.mT(b)))


@wrong(ops.softmax, "x", lazy=Lazy(ONLY_ONCE, np.array([[1.0, -2.0, 0.5]])), promise=SECOND)
def weights_taken_for_constants(xp, upstream, out, axis):
    """The right contribution, made of numbers: that the weights move with the scores is forgotten."""
    weights = xp.stop_gradient(out)
    return weights * (upstream - xp.sum(upstream * weights, axis=axis, keepdims=True))
