"""Rules with a right first gradient and a wrong second one: they treat a value that they read as a constant."""

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
    """The gradient of the image depends on the weight, so a second gradient must reach the weight; here it does not."""
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
    """The gradient of one factor depends on the other, which receives nothing here."""
    return xp.matmul(upstream, xp.stop_gradient(xp.mT(b)))


@wrong(ops.softmax, "x", lazy=Lazy(ONLY_ONCE, np.array([[1.0, -2.0, 0.5]])), promise=SECOND)
def weights_taken_for_constants(xp, upstream, out, axis):
    """The right contribution, but made of numbers: it forgets that the weights depend on the scores."""
    weights = xp.stop_gradient(out)
    return weights * (upstream - xp.sum(upstream * weights, axis=axis, keepdims=True))
