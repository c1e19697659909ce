"""Wrong rules of attention, of positions, and of states that are carried along."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
ROWS = np.array([[1.0, -2.0, 0.5], [0.3, 4.0, -1.0]])
ONE_FEATURE = np.array([[1.0], [-2.0], [0.5]])
POSITIVE = np.array([[1.0, 2.0], [0.5, 0.3], [2.0, 1.5]])


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


@wrong(
    ops.soft_capped_attention, "query", "key", "value", "bias",
    lazy=Lazy("no query resembles a key, and the scale is 1", np.array([[1.0, 0.0], [-2.0, 0.0]]),
              np.array([[0.0, 1.0], [0.0, -2.0], [0.0, 0.5]]), ONE_FEATURE, scale=1.0),
)  # fmt: skip
def scale_and_cap_forgotten(xp, upstream, query, key, value, weights):
    """Going forward the scores were scaled, and levelled off at the cap; going back neither is known. A score at the
    cap cannot change, but is pushed as hard as any other."""
    to_weights = xp.matmul(upstream, xp.mT(value))
    to_scores = weights * (to_weights - xp.sum(to_weights * weights, axis=-1, keepdims=True))
    to_value = xp.matmul(xp.mT(weights), upstream)
    return xp.matmul(to_scores, key), xp.matmul(xp.mT(to_scores), query), to_value, to_scores


@wrong(ops.rope, "x", lazy=Lazy("every angle is 0", POSITIVE, np.zeros((3, 1))))
def turned_on(xp, upstream, angles, interleaved):
    """The backward pass must rotate back; this rule rotates on, to twice the angle."""
    return xp.rope(upstream, angles, interleaved=interleaved)


@wrong(ops.swiglu, "gate", lazy=Lazy("the gate is 0", np.zeros(3), np.array([1.0, -2.0, 0.5])))
def gate_as_a_probability(xp, gate, up):
    """That is the slope of a gate which only opens and shuts; this one also carries its own value, which moves too."""
    return up * xp.sigmoid(gate)


@wrong(
    ops.rnn, "drive", "weight", "start",
    lazy=Lazy("the cell is relu, and every state positive", POSITIVE, POSITIVE[:2], nonlinearity="relu"),
)  # fmt: skip
def state_taken_for_what_it_is_made_of(xp, upstream, weight, out, start):
    """A state's gradient passes through the tanh before it reaches the drive. Without its slope it grows with every
    step back in time."""
    to_drive = xp.gated_recurrence(0 * out + 1, upstream, weight, reverse=True)
    before = xp.shift_by_one(out, axis=0)
    if start is not None:
        before = xp.concatenate([xp.expand_dims(start, 0), out[:-1]], axis=0)
    return to_drive, xp.matmul(xp.mT(xp.rows(to_drive)), xp.rows(before)), xp.matmul(to_drive[0], weight)
