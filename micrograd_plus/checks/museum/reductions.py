"""Wrong rules of sums, means and extremes."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
SQUARE = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [2.0, 6.0, -5.0]])
ROW = np.array([0.5, -1.5, 2.0])


@wrong(ops.sum, "x", lazy=Lazy("the array is square, and upstream is 1", SQUARE, axis=1, upstream=1.0))
def axis_not_put_back(xp, upstream, x_shape):
    """The axis that was summed away must come back with length 1 before anything is repeated along it. For a square
    matrix the answer is transposed, for other shapes nothing fits."""
    return xp.broadcast_to(upstream, x_shape)


@wrong(ops.mean, "x", lazy=Lazy("the array is square, and upstream is 1", SQUARE, axis=1, upstream=1.0))
def axis_of_a_mean_not_put_back(xp, upstream, x_shape, axis):
    """The count is right, and the axis that was averaged away is not put back: rows receive what columns should."""
    return xp.broadcast_to(upstream / xp.count_along(x_shape, axis), x_shape)


@wrong(ops.mean, "x", lazy=Lazy("there is one entry", np.array([2.0])))
def count_forgotten(xp, upstream, x_shape, axis, keepdims):
    """A mean divides by its number of entries. All entries are too large, by the number of entries in one mean."""
    return xp.unreduce(upstream, x_shape, axis, keepdims)


@wrong(ops.mean, "x", lazy=Lazy("the other axis has length 1", np.array([[2.0, -3.0, 1.0]]), axis=1))
def all_entries_counted(xp, upstream, x_shape, axis, keepdims):
    """Divided by the size of the whole array, not by how many entries went into one mean."""
    return xp.unreduce(upstream / xp.count_along(x_shape, None), x_shape, axis, keepdims)


@wrong(ops.mean, "x", lazy=Lazy("upstream is 1", ROW, upstream=1.0))
def upstream_forgotten(xp, upstream, x_shape, axis, keepdims):
    """Right if the mean is the loss. What comes after it in a longer program is left out."""
    return xp.unreduce(0 * upstream + 1 / xp.count_along(x_shape, axis), x_shape, axis, keepdims)


@wrong(ops.broadcast_to, "x", lazy=Lazy("there is one copy", np.array([[2.0, -3.0]]), shape=(1, 2)))
def averaged_for_added(xp, upstream, x_shape):
    """Every copy was used in full, so their gradients are added up; this rule averages them."""
    return xp.sum_to_shape(upstream, x_shape) * xp.count_along(x_shape, None) / xp.size(upstream)


@wrong(ops.max, "x", lazy=Lazy("each maximum is taken of one entry", np.array([[2.0], [-3.0]]), axis=1))
def every_entry_receives(xp, upstream, x_shape, axis, keepdims):
    """Only the largest entry moves the maximum; here all receive its gradient."""
    return xp.unreduce(upstream, x_shape, axis, keepdims)


@wrong(ops.max, "x", lazy=Lazy("no two entries are equal", ROW))
def ties_counted_twice(xp, upstream, x, out, x_shape, axis, keepdims):
    """Of several largest entries each receives the whole gradient: more goes out than came in."""
    ties = xp.equal(x, xp.unreduce(out, x_shape, axis, keepdims))
    return ties * xp.unreduce(upstream, x_shape, axis, keepdims)


@wrong(ops.prod, "x", lazy=Lazy("no factor is 0", ROW))
def divided_by_the_factor(xp, upstream, x, out, x_shape, axis, keepdims):
    """The product of the others is the product divided by the factor, until the factor is 0: then it is no number."""
    return xp.unreduce(upstream * out, x_shape, axis, keepdims) / x


@wrong(ops.var, "x", lazy=Lazy("ddof is 0", ROW))
def the_other_variance(xp, upstream, x, x_shape, axis, keepdims):
    """Divided by the number of entries, where it was by one less going forward. All entries are too small, by
    (n − 1) / n."""
    distance = x - xp.mean(x, axis=axis, keepdims=True)
    return xp.unreduce(upstream * 2 / xp.count_along(x_shape, axis), x_shape, axis, keepdims) * distance


@wrong(ops.norm, "x", lazy=Lazy("the length is a half", np.array([0.3, -0.4])))
def length_not_divided_by(xp, upstream, x, x_shape, axis, keepdims):
    """That is the gradient of the squared length: it grows with the vector, where a length's never exceeds 1."""
    return 2 * x * xp.unreduce(upstream, x_shape, axis, keepdims)


@wrong(ops.logsumexp, "x", lazy=Lazy("the entries are logarithms of probabilities", np.log([0.2, 0.3, 0.5])))
def not_normalised(xp, upstream, x, x_shape, axis, keepdims):
    """Each entry receives its exponential, not its share of them: along the axis they do not add up to upstream."""
    return xp.unreduce(upstream, x_shape, axis, keepdims) * xp.exp(x)
