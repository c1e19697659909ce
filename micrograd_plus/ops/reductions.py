"""Operations that make one number of many: sums, means, extremes, norms.

`axis` is None (all), one axis or several, and may count from the end; `keepdims` keeps the reduced axes with length 1.
"""

from ..op import constant, linear, op, real_only


@linear(x=lambda xp, upstream, x_shape, axis, keepdims: xp.spread(upstream, x_shape, axis, keepdims))
def sum(xp, x, *, axis=None, keepdims=False):
    """Entries added up. Each of them moves its sum by as much as itself."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


@linear(x=lambda xp, upstream, axis, keepdims: xp.sum(upstream, axis=axis, keepdims=keepdims))
def spread(xp, x, *, shape, axis=None, keepdims=False):
    """The reverse of a sum: the reduced axes are put back, and each result repeated along them."""
    return xp.spread(x, shape, axis, keepdims)


@linear(
    x=lambda xp, upstream, x_shape, axis, keepdims: xp.spread(
        upstream / xp.count_along(x_shape, axis), x_shape, axis, keepdims
    )
)
def mean(xp, x, *, axis=None, keepdims=False):
    """The sum, shared out among the entries."""
    return xp.mean(x, axis=axis, keepdims=keepdims)


@op
def mean_square(xp, x, *, axis=None, keepdims=False):
    """The mean of squares."""
    return xp.mean_square(x, axis=axis, keepdims=keepdims)


@mean_square.rule("x")
def _(xp, upstream, x, x_shape, axis, keepdims):
    """Twice each entry, shared out among them."""
    share = upstream * 2 / xp.count_along(x_shape, axis)
    return xp.spread(share, x_shape, axis, keepdims) * x


@op
@real_only
def max(xp, x, *, axis=None, keepdims=False):
    """The largest entry. Entries that tie for it share its gradient equally."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@op
@real_only
def min(xp, x, *, axis=None, keepdims=False):
    """The smallest entry. Entries that tie for it share its gradient equally."""
    return xp.min(x, axis=axis, keepdims=keepdims)


@max.rule("x")
@min.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """Only an entry that is the extreme moves it; of several, none is more so than the others."""
    ties = xp.equal(x, xp.spread(out, x_shape, axis, keepdims))
    share = upstream / xp.sum(ties, axis=axis, keepdims=keepdims)
    return ties * xp.spread(share, x_shape, axis, keepdims)


@op
def prod(xp, x, *, axis=None, keepdims=False):
    """Entries multiplied."""
    return xp.prod(x, axis=axis, keepdims=keepdims)


@prod.rule("x")
def _(xp, upstream, x, x_shape, axis, keepdims):
    """An entry moves the product by the product of all the others, which is right when some are 0."""
    others = xp.product_of_others(x, axis=axis)
    others *= xp.spread(upstream, x_shape, axis, keepdims)
    return others


@op
def product_of_others(xp, x, *, axis=None):
    """For each entry, the product of all the others along the axes: those before it times those after it."""
    line = xp.axes_to_last(x, axis=axis)
    before = xp.cumprod(line, axis=-1, exclusive=True)
    after = xp.cumprod(line, axis=-1, exclusive=True, reverse=True)
    return xp.axes_from_last(before * after, shape=xp.shape(x), axis=axis)


@op
def var(xp, x, *, axis=None, ddof=0, keepdims=False):
    """The mean of squared distances from the mean; `ddof=1` divides by one less than the number of entries."""
    return xp.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


@var.rule("x")
def _(xp, upstream, x, x_shape, axis, ddof, keepdims):
    """Twice the distance from the mean. That the mean moves too makes no difference: distances from it add up to 0."""
    distance = x - xp.mean(x, axis=axis, keepdims=True)
    count = xp.count_along(x_shape, axis) - ddof
    return xp.spread(upstream * 2 / count, x_shape, axis, keepdims) * distance


@op
def std(xp, x, *, axis=None, ddof=0, keepdims=False):
    """The root of the variance. Where all entries are equal its slope is taken to be 0."""
    return xp.std(x, axis=axis, ddof=ddof, keepdims=keepdims)


@std.rule("x")
def _(xp, upstream, x, out, x_shape, axis, ddof, keepdims):
    """The variance's rule, and half a reciprocal for the root."""
    distance = x - xp.mean(x, axis=axis, keepdims=True)
    count = xp.count_along(x_shape, axis) - ddof
    share = xp.where(out == 0, 0.0, upstream / (count * xp.where(out == 0, 1.0, out)))
    return xp.spread(share, x_shape, axis, keepdims) * distance


@op
def norm(xp, x, *, axis=None, keepdims=False):
    """The length of a vector: the root of the sum of squares. At the origin the gradient is taken to be 0."""
    return xp.sqrt(xp.sum(xp.square(abs(x)), axis=axis, keepdims=keepdims))


@norm.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """Length grows fastest straight outward, at the rate 1."""
    share = xp.where(out == 0, 0.0, upstream / xp.where(out == 0, 1.0, out))
    return xp.spread(share, x_shape, axis, keepdims) * x


@op
def logsumexp(xp, x, *, axis=None, keepdims=False):
    """log(sum(exp(x))), safe for large entries: the largest is taken out first."""
    top = xp.top(x, axis=axis)
    total = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else xp.squeeze_axes(total, axis=axis)


@logsumexp.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """Each entry receives its share of the sum of exponentials: their softmax."""
    return xp.spread(upstream, x_shape, axis, keepdims) * xp.exp(x - xp.spread(out, x_shape, axis, keepdims))


# Answers without a graph ----


@constant
def top(xp, x, *, axis=-1):
    """The largest entry, its axes kept with length 1: what is taken out before exponentials, and makes no difference
    after them. Of no entries at all, and in the place of an infinite one, 0."""
    return xp.top(x, axis)


@constant
def any(xp, x, *, axis=None, keepdims=False):
    """Whether at least one entry holds."""
    return xp.any(x, axis=axis, keepdims=keepdims)


@constant
def all(xp, x, *, axis=None, keepdims=False):
    """Whether every entry holds."""
    return xp.all(x, axis=axis, keepdims=keepdims)


@constant
@real_only
def argmax(xp, x, *, axis=None, keepdims=False):
    """Where the largest entry stands; the first of several."""
    return xp.argmax(x, axis=axis, keepdims=keepdims)


@constant
@real_only
def argmin(xp, x, *, axis=None, keepdims=False):
    """Where the smallest entry stands; the first of several."""
    return xp.argmin(x, axis=axis, keepdims=keepdims)


@constant
def count_nonzero(xp, x, *, axis=None, keepdims=False):
    """How many entries are not 0."""
    return xp.sum(x != 0, axis=axis, keepdims=keepdims)
