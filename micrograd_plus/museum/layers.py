"""Wrong rules of normalisation, dropout and attention."""

from __future__ import annotations

from .. import ops
from ..readings import vocabulary
from .exhibit import Lazy, wrong

np = vocabulary.device("cpu").library
ROWS = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]])
ONE_FEATURE = np.array([[1.0], [-2.0], [0.5]])
NOTHING_DROPPED = Lazy("nothing is dropped", ROWS, np.ones((2, 3)))


@wrong(ops.layer_norm, "x", lazy=None)
def normalisation_passed_through(upstream):
    """Upstream goes on as it is, as if nothing had been normalised."""
    return upstream


@wrong(ops.layer_norm, "x", lazy=None)
def plain_scaling(upstream, weight, scale):
    """Mean and variance are taken for constants. Adding 1 to a row changes nothing, yet its gradient does not add up
    to 0."""
    return scale * (upstream if weight is None else upstream * weight)


@wrong(ops.layer_norm, "x", lazy=Lazy("upstream adds up to 0 in each row", ROWS, upstream=np.array([[1.0, -3.0, 2.0]] * 2)))
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


@wrong(ops.layer_norm, "bias", lazy=Lazy("there are two axes", ROWS, np.ones(3), np.zeros(3)))
def summed_over_the_first_axis_only(xp, upstream):
    """One bias served every row of every image; added up over the images alone, it has a row too many."""
    return xp.sum(upstream, axis=0)


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def gradient_sent_to_the_mask():
    """What the input should receive goes to the mask, which is drawn and cannot learn; upstream goes through to the
    input, to what was silenced as well."""
    return 1


@gradient_sent_to_the_mask.rule("mask")
def _(mask):
    return mask


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def scale_forgotten(mask):
    """What was kept was made up for going forward, and is not going back: all entries are too small, by what is kept."""
    return 1.0 * (mask > 0)


@wrong(ops.dropout, "x", lazy=NOTHING_DROPPED)
def another_coin(xp, mask):
    """The mask is drawn again going back: silenced entries receive, and entries that were heard do not."""
    return xp.flip(mask, axis=-1)


@wrong(
    ops.scaled_dot_product_attention, "query", "key", "value", "bias",
    lazy=Lazy("there is one feature", ONE_FEATURE, ONE_FEATURE, ONE_FEATURE),
)  # fmt: skip
def scale_of_attention_forgotten(xp, upstream, query, key, value, weights):
    """The scores were scaled before the softmax. Queries and keys receive √d too much, values the right amount."""
    to_weights = xp.matmul(upstream, xp.mT(value))
    to_scores = weights * (to_weights - xp.sum(to_weights * weights, axis=-1, keepdims=True))
    to_value = xp.matmul(xp.mT(weights), upstream)
    return xp.matmul(to_scores, key), xp.matmul(xp.mT(to_scores), query), to_value, to_scores


@wrong(
    ops.scaled_dot_product_attention, "query", "key", "value", "bias",
    lazy=Lazy("there is one key", ROWS, ROWS[:1], ROWS[:1]),
)  # fmt: skip
def attention_entry_by_entry(xp, upstream, query, key, value, weights, scale):
    """A query that looks more at one key looks less at the others, and here none of them hears of it."""
    to_scores = xp.matmul(upstream, xp.mT(value)) * weights * (1 - weights)
    scaled = to_scores * xp.attention_scale(query, scale)
    to_value = xp.matmul(xp.mT(weights), upstream)
    return xp.matmul(scaled, key), xp.matmul(xp.mT(scaled), query), to_value, to_scores
