"""Wrong rules of products."""

from ... import ops
from ...backends import devices
from .exhibit import Lazy, wrong

np = devices.device("cpu").library
SYMMETRIC = np.array([[1.0, 2.0], [2.0, -3.0]])
WIDE = np.array([[1.0, 2.0, 0.5], [4.0, -3.0, 1.5]])
ONE = np.array([[2.0]])


@wrong(ops.matmul, "a", lazy=Lazy("b is square and symmetric", WIDE.T, SYMMETRIC))
def transpose_forgotten(xp, upstream, b):
    """Upstream runs through b the wrong way. On other shapes than squares nothing fits."""
    return xp.matmul(upstream, b)


@wrong(ops.matmul, "b", lazy=Lazy("both matrices are 1 by 1", ONE, ONE))
def order_swapped(xp, upstream, a):
    """The factors are swapped, so the result is the exact transpose of the right one."""
    return xp.matmul(xp.mT(upstream), a)


@wrong(ops.matmul, "a", lazy=Lazy("there are two axes", WIDE, WIDE.T))
def all_axes_turned_round(xp, upstream, b):
    """A stack of matrices is transposed in its last two axes. To reverse all of them mixes the stack into the rows."""
    return xp.matmul(upstream, xp.transpose(b))


@wrong(ops.linear_layer, "weight", lazy=Lazy("there is one row", WIDE[:1], WIDE))
def averaged_over_the_batch(xp, upstream, x):
    """The gradients of all rows must be added; if the loss is a mean, the loss itself divides."""
    return xp.matmul(xp.mT(xp.rows(upstream)), xp.rows(x)) / xp.shape(xp.rows(x))[0]


@wrong(ops.linalg.solve, "a", "b", lazy=Lazy("a is symmetric", SYMMETRIC, WIDE))
def solved_without_the_transpose(xp, upstream, a, out):
    """The way back solves with the transpose of a; here it solves with a again."""
    to_b = xp.solve(a, upstream)
    return -xp.matmul(to_b, xp.mT(out)), to_b


@wrong(ops.linalg.inv, "a", lazy=None)
def inverse_grows(xp, upstream, out):
    """As a grows its inverse shrinks. Every entry has the right size and the wrong sign."""
    return xp.matmul(xp.mT(out), xp.matmul(upstream, xp.mT(out)))
