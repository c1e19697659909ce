"""Wrong rules of operations that only move entries or look them up."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
TABLE = np.array([[1.0, -2.0], [0.5, 4.0], [3.0, -1.0]])


@wrong(ops.transpose, "x", lazy=Lazy("there are two axes", TABLE))
def the_same_order_again(xp, upstream, axes):
    """The way back takes the inverse order. With two axes the only other order is its own inverse."""
    return xp.transpose(upstream, axes)


@wrong(ops.transpose, "x", lazy=Lazy("there is one row", TABLE[:1]))
def reshaped_for_transposed(xp, upstream, x_shape):
    """The shape is right, and the entries are in the order of memory: each but the corners is in another's place."""
    return xp.reshape(upstream, x_shape)


@wrong(ops.getitem, "x", lazy=Lazy("the slice is the whole array", TABLE, index=slice(None)))
def in_the_shape_of_the_slice(upstream):
    """Entries that were not picked must receive 0. This rule returns only the picked ones."""
    return upstream


@wrong(ops.take, "x", lazy=Lazy("no number is looked up twice", TABLE, np.array([2, 0]), axis=0))
def last_use_wins(upstream, indices, x_shape, axis):
    """A row that is looked up twice receives from both; this rule overwrites instead of adding: the last one wins."""
    out = np.zeros(x_shape, upstream.dtype)
    out[(slice(None),) * (axis or 0) + (indices,)] = upstream
    return out


@wrong(ops.take_along_axis, "x", lazy=Lazy("no place is looked up twice", TABLE, np.array([[1, 0]]), axis=0))
def last_use_of_a_place_wins(upstream, indices, x_shape, axis):
    """An entry that several outputs were read from receives the gradient of the last one only."""
    out = np.zeros(x_shape, upstream.dtype)
    np.put_along_axis(out, indices, upstream, axis)
    return out


@wrong(ops.concatenate, "parts", lazy=Lazy("all parts are of one length", TABLE, TABLE, axis=0))
def equal_shares(xp, upstream, parts_shape, axis):
    """The parts were of different lengths, and receive pieces of one length."""
    return np.array_split(upstream, len(parts_shape), axis)


@wrong(ops.pad, "x", lazy=Lazy("the border has no width", TABLE, pad_width=0))
def border_kept(upstream):
    """The added zeros have no gradient; the result is too large by the border."""
    return upstream


@wrong(ops.pad, "x", lazy=Lazy("the border is all at the end", TABLE, pad_width=((0, 1), (0, 2))))
def border_cut_off_at_the_end(upstream, x_shape):
    """The shape is right, and the piece is cut from the corner, where the border is."""
    return upstream[tuple(slice(n) for n in x_shape)]


@wrong(ops.roll, "x", lazy=Lazy("upstream is 1", TABLE, shift=1, upstream=1.0))
def rolled_on(xp, upstream, shift, axis):
    """Going back, entries move back; here they move on, and end up twice as far from where they belong."""
    return xp.roll(upstream, shift, axis=axis)


@wrong(ops.embedding, "weight", lazy=Lazy("every word is there once", np.array([2, 0, 1]), TABLE))
def shared_among_its_uses(xp, upstream, indices, weight_shape):
    """A word that is used often learns from each use in full; here it learns their mean."""
    total = xp.put_take(upstream, indices, shape=weight_shape, axis=0)
    uses = xp.put_take(0 * upstream + 1, indices, shape=weight_shape, axis=0)
    return total / xp.maximum(uses, 1.0)
