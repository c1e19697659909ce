"""Wrong rules of running sums and products, recurrences and sorting."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
ROW = np.array([0.5, -1.5, 2.0])


@wrong(ops.cumsum, "x", lazy=Lazy("there is one entry", np.array([2.0]), axis=0))
def sums_from_the_same_end(xp, upstream, x_shape, axis, exclusive, reverse):
    """The first entry is part of every running sum, so it receives all; here the last one does."""
    return xp.reshape(xp.cumsum(upstream, axis=axis, exclusive=exclusive, reverse=reverse), x_shape)


@wrong(ops.cumprod, "x", lazy=Lazy("no factor is 0", ROW, axis=0))
def running_products_divided(xp, upstream, x, out, axis):
    """Every product an entry is part of, divided by it: not a number where it is 0, and wrong where the entry itself
    was left out of the product."""
    return xp.cumsum(upstream * out, axis=axis, reverse=True) / x


@wrong(ops.recurrence, "decay", "drive", lazy=Lazy("every decay is 0", np.zeros(3), ROW, axis=0))
def no_way_back_through_time(xp, upstream, out, axis, reverse):
    """Each state passes on its own upstream and nothing of its successors': the past learns only from the present."""
    return upstream * xp.shift_by_one(out, axis=axis, reverse=reverse), upstream


@wrong(ops.sort, "x", lazy=Lazy("the entries were in order already", np.array([-1.5, 0.5, 2.0])))
def not_moved_back(upstream):
    """Sorting moved the entries; their gradients stay where they were moved to."""
    return upstream
