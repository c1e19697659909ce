"""Wrong rules of normalisation and dropout."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
ROWS = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]])
SQUARE = np.array([[1.0, -2.0], [0.3, 4.0]])
NOTHING_DROPPED = Lazy("nothing is dropped", ROWS, np.ones((2, 3)))


@wrong(ops.layer_norm, "x", lazy=None)
def normalisation_passed_through(upstream):
    """Upstream goes on as it is, as if nothing had been normalised."""
    return upstream


@wrong(ops.layer_norm, "x", lazy=None)
def plain_scaling(upstream, weight, scale):
    """The rule treats mean and variance as constants. Adding 1 to a row changes nothing, but its gradient does not sum
    to 0."""
    return scale * (upstream if weight is None else upstream * weight)


@wrong(ops.layer_norm, "x", lazy=Lazy("upstream adds up to 0 in each row", ROWS, upstream=[[1.0, -3.0, 2.0]]))
def mean_taken_for_a_constant(xp, upstream, weight, unit, scale, axes):
    """The way through the variance is there, the one through the mean is not: a row does not add up to 0."""
    arrived = upstream if weight is None else upstream * weight
    return scale * (arrived - unit * xp.mean(arrived * unit, axis=xp.last_axes(axes), keepdims=True))


@wrong(ops.layer_norm, "x", lazy=Lazy("upstream is 1", ROWS, upstream=1.0))
def variance_taken_for_a_constant(xp, upstream, weight, scale, axes):
    """The way through the mean is there, the one through the variance is not. Rows add up to 0, as they should, but
    doubling a row changes nothing, and the gradient along the row is not 0."""
    arrived = upstream if weight is None else upstream * weight
    return scale * (arrived - xp.mean(arrived, axis=xp.last_axes(axes), keepdims=True))


@wrong(
    ops.layer_norm, "bias",
    lazy=Lazy("there are as many rows as features, and upstream is 1", SQUARE, np.ones(2), np.zeros(2), upstream=1.0),
)  # fmt: skip
def summed_over_its_own_axis(xp, upstream):
    """One bias served every row, so the rows are added up. Here the features are added instead."""
    return xp.sum(upstream, axis=-1)


@wrong(ops.batch_norm, "x", lazy=None)
def batch_taken_for_constants(xp, upstream, weight, scale, x_shape):
    """Right once the mean and the variance are settled. In training each example changes them."""
    return scale * (upstream if weight is None else upstream * xp.reshape(weight, xp.channel_shape(x_shape)))


@wrong(ops.rms_norm, "x", lazy=None)
def size_taken_for_a_constant(upstream, weight, scale):
    """Doubling a row changes nothing, so its gradient has no part along the row. Here it has."""
    return scale * (upstream if weight is None else upstream * weight)


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def mask_forgotten():
    """The input receives upstream, also for entries that were dropped. The mask, which is random and cannot learn,
    receives the gradient of the input."""
    return 1


@mask_forgotten.rule("mask")
def _(mask):
    return mask


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def scale_forgotten(mask):
    """The forward scales up the entries that it keeps, but this rule does not: all entries are too small by that."""
    return 1.0 * (mask > 0)


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def another_coin(xp, mask):
    """The mask is drawn again going back: silenced entries receive, and entries that were heard do not."""
    return xp.flip(mask, axis=-1)
