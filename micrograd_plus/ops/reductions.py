"""Reductions: sums, means, extremes and norms over axes.

`axis` is None (all), one axis or several, and may count from the end; `keepdims` keeps the reduced axes with length 1.
"""

from ..core.define import linear, nondifferentiable, op, real_only, wraps_op
from ..core.messages import explains, prefixes_errors


@linear(x=lambda xp, upstream, x_shape, axis, keepdims: xp.unreduce(upstream, x_shape, axis, keepdims))
def sum(xp, x, *, axis=None, keepdims=False):
    """Sum the entries, all or along axes.

    Each entry contributes directly to its sum, so each receives the whole gradient. The sum of no entries is 0.
    Returns: a tensor of the dtype of x; int64 for booleans and smaller integers.
    >>> mg.sum([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
    [4.0, 6.0]
    See: numpy.sum, torch.sum."""
    return xp.sum(x, axis=axis, keepdims=keepdims)


@linear(x=lambda xp, upstream, axis, keepdims: xp.sum(upstream, axis=axis, keepdims=keepdims), public=False)
def unreduce(xp, x, *, shape, axis=None, keepdims=False):
    """Repeat the results of a sum along the axes that it reduced: the transpose of `sum`.

    Shapes: x as returned by `sum` for an array of `shape` -> shape.
    Args:
        axis: axis or axes of the sum; None (default) for all.
        keepdims: whether x still has these axes, with length 1; default False.
    Raises: ValueError if x does not have the shape of the sum; IndexError if the axis is out of range.
    >>> mg.ops.unreduce([1.0, 2.0], shape=(2, 3), axis=1).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    See: mg.sum, numpy.broadcast_to."""
    return xp.unreduce(x, shape, axis, keepdims)


@linear(
    x=lambda xp, upstream, x_shape, axis, keepdims: xp.unreduce(
        upstream / xp.count_along(x_shape, axis), x_shape, axis, keepdims
    )
)
def mean(xp, x, *, axis=None, keepdims=False):
    """Compute the arithmetic mean of the entries, all or along axes.

    mean(x) = Σ_i x_i / n. The mean of no entries is nan.
    Returns: a tensor of the dtype of x; float64 for integers.
    >>> mg.mean([[1.0, 2.0], [3.0, 4.0]], axis=1).tolist()
    [1.5, 3.5]
    See: numpy.mean, torch.mean."""
    return xp.mean(x, axis=axis, keepdims=keepdims)


@op(public=False)
def mean_square(xp, x, *, axis=None, keepdims=False):
    """Compute the mean of the squared entries, all or along axes.

    Σ_i x_i² / n: the mean squared error if the entries are errors.
    Args:
        x: numbers; a complex number is squared itself, not its magnitude.
    >>> mg.ops.mean_square([1.0, 2.0, 3.0, 4.0]).item()
    7.5
    See: torch.nn.functional.mse_loss."""
    return xp.mean_square(x, axis=axis, keepdims=keepdims)


@mean_square.rule("x")
def _(xp, upstream, x, x_shape, axis, keepdims):
    """Twice each entry, divided by the number of entries."""
    share = upstream * 2 / xp.count_along(x_shape, axis)
    return xp.unreduce(share, x_shape, axis, keepdims) * x


@op
@real_only
@explains(axis="axis must be a whole number; for the maximum of two tensors, write mg.maximum(a, b)")
def _max(xp, x, *, axis=None, keepdims=False):
    """Compute the largest entry, over all or along axes."""
    return xp.max(x, axis=axis, keepdims=keepdims)


@wraps_op(_max)
def max(x, *, axis=None, keepdims=False):
    """Compute the largest entry, over all or along axes.

    Entries that tie share the gradient equally. If any entry is nan, the result is nan.
    Args:
        axis: axis or axes along which to take it; default None, all entries. It must be passed by name: PyTorch's
            `max(x, 1)` also returns the places.
    Raises: TypeError if x is complex, or the axis is passed by position; ValueError if x is empty; IndexError if the
        axis is out of range.
    >>> mg.max([2.0, 1.0, 2.0]).item()
    2.0
    >>> mg.grad(mg.max)(mg.tensor([2.0, 1.0, 2.0])).tolist()
    [0.5, 0.0, 0.5]
    See: numpy.max; mg.amax, mg.argmax."""
    return _max(x, axis=axis, keepdims=keepdims)


@prefixes_errors
def amax(x, axis=None, keepdims=False):
    """Compute the largest entry, over all or along axes: `max` with the axis by position or by name.

    Raises: TypeError if x is complex; ValueError if x is empty; IndexError if the axis is out of range.
    >>> mg.amax([[4.0, 1.0], [2.0, 3.0]], 1).tolist()
    [4.0, 3.0]
    See: numpy.amax, torch.amax."""
    return _max(x, axis=axis, keepdims=keepdims)


@op
@real_only
@explains(axis="axis must be a whole number; for the minimum of two tensors, write mg.minimum(a, b)")
def _min(xp, x, *, axis=None, keepdims=False):
    """Compute the smallest entry, over all or along axes."""
    return xp.min(x, axis=axis, keepdims=keepdims)


@wraps_op(_min)
def min(x, *, axis=None, keepdims=False):
    """Compute the smallest entry, over all or along axes.

    Entries that tie share the gradient equally. If any entry is nan, the result is nan.
    Args:
        axis: axis or axes along which to take it; default None, all entries. It must be passed by name: PyTorch's
            `min(x, 1)` also returns the places.
    Raises: TypeError if x is complex, or the axis is passed by position; ValueError if x is empty; IndexError if the
        axis is out of range.
    >>> mg.min([[4.0, 1.0], [2.0, 3.0]], axis=1).tolist()
    [1.0, 2.0]
    See: numpy.min; mg.amin, mg.argmin."""
    return _min(x, axis=axis, keepdims=keepdims)


@prefixes_errors
def amin(x, axis=None, keepdims=False):
    """Compute the smallest entry, over all or along axes: `min` with the axis by position or by name.

    Raises: TypeError if x is complex; ValueError if x is empty; IndexError if the axis is out of range.
    >>> mg.amin([[4.0, 1.0], [2.0, 3.0]], 1).tolist()
    [1.0, 2.0]
    See: numpy.amin, torch.amin."""
    return _min(x, axis=axis, keepdims=keepdims)


@_max.rule("x")
@_min.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """Only entries that equal the extreme receive a gradient; entries that tie share it equally."""
    ties = xp.equal(x, xp.unreduce(out, x_shape, axis, keepdims))
    share = upstream / xp.sum(ties, axis=axis, keepdims=keepdims)
    return ties * xp.unreduce(share, x_shape, axis, keepdims)


@op
def prod(xp, x, *, axis=None, keepdims=False):
    """Multiply the entries, all or along axes.

    ∂ Π_j x_j / ∂x_i = Π_{j≠i} x_j, computed without dividing by x_i, so entries may be 0. The product of no entries is
    1.
    Returns: a tensor of the dtype of x; int64 for booleans and smaller integers.
    >>> mg.grad(mg.prod)(mg.tensor([0.0, 2.0, 3.0])).tolist()
    [6.0, 0.0, 0.0]
    See: numpy.prod, torch.prod."""
    return xp.prod(x, axis=axis, keepdims=keepdims)


@prod.rule("x")
def _(xp, upstream, x, x_shape, axis, keepdims):
    """The derivative with respect to an entry is the product of all the others, also if some are 0."""
    others = xp.product_of_others(x, axis=axis)
    others *= xp.unreduce(upstream, x_shape, axis, keepdims)
    return others


@op(public=False)
def product_of_others(xp, x, *, axis=None):
    """Compute, for each entry, the product of all the others: the gradient of `prod`.

    out_i = Π_{j≠i} x_j, as the product of the entries before i times the product of those after it.
    Args:
        axis: axis or axes along which to multiply; None (default) for all.
    Returns: a tensor of the dtype of x.
    >>> mg.ops.product_of_others([0.0, 2.0, 3.0]).tolist()
    [6.0, 0.0, 0.0]
    See: mg.prod, mg.cumprod."""
    line = xp.axes_to_last(x, axis=axis)
    before = xp.cumprod(line, axis=-1, exclusive=True)
    after = xp.cumprod(line, axis=-1, exclusive=True, reverse=True)
    return xp.axes_from_last(before * after, shape=xp.shape(x), axis=axis)


@op
def var(xp, x, *, axis=None, ddof=0, keepdims=False):
    """Compute the variance: the mean squared distance from the mean.

    var(x) = Σ_i |x_i - mean(x)|² / (n - ddof). As in NumPy the default is ddof=0; PyTorch's default is 1.
    Returns: a real tensor of x's precision; float64 for integers. nan where n = ddof = 1.
    Raises: IndexError if the axis is out of range; TypeError if ddof is not a number.
    >>> mg.var([1.0, 2.0, 3.0, 4.0]).item()
    1.25
    >>> round(mg.var([1.0, 2.0, 3.0, 4.0], ddof=1).item(), 4)
    1.6667
    See: numpy.var, torch.var."""
    return xp.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


@var.rule("x")
def _(xp, upstream, x, x_shape, axis, ddof, keepdims):
    """Twice the distance from the mean. The gradient through the mean itself is 0, since the distances add up to 0."""
    distance = x - xp.mean(x, axis=axis, keepdims=True)
    count = xp.count_along(x_shape, axis) - ddof
    return xp.unreduce(upstream * 2 / count, x_shape, axis, keepdims) * distance


@op
def std(xp, x, *, axis=None, ddof=0, keepdims=False):
    """Compute the standard deviation: the square root of the variance.

    std(x) = √(Σ_i |x_i - mean(x)|² / (n - ddof)). If all entries are equal, the gradient is defined as 0.
    Returns: a real tensor of the precision of x; float64 for integers.
    Raises: IndexError if the axis is out of range; TypeError if ddof is not a number.
    >>> mg.std([1.0, 1.0, 3.0, 3.0]).item()
    1.0
    See: numpy.std, torch.std."""
    return xp.std(x, axis=axis, ddof=ddof, keepdims=keepdims)


@std.rule("x")
def _(xp, upstream, x, out, x_shape, axis, ddof, keepdims):
    """The variance's rule, times the derivative of the square root. The mean is subtracted twice: for equal entries,
    rounding would leave an error as large as the root."""
    rough = x - xp.mean(x, axis=axis, keepdims=True)
    distance = rough - xp.mean(rough, axis=axis, keepdims=True)
    count = xp.count_along(x_shape, axis) - ddof
    share = xp.where(out == 0, 0.0, upstream / (count * xp.where(out == 0, 1.0, out)))
    return xp.unreduce(share, x_shape, axis, keepdims) * distance


@prefixes_errors
def std_mean(x, axis=None, ddof=0, keepdims=False):
    """Compute the standard deviation and the mean, as a pair.

    Shapes: x (2, 3), axis=0 -> (3) twice; with keepdims -> (1, 3).
    Args:
        x: numbers, real or complex.
    Returns: a pair of tensors.
    Raises: IndexError if the axis is out of range; TypeError if ddof is not a number.
    >>> [each.item() for each in mg.std_mean([1.0, 1.0, 3.0, 3.0])]
    [1.0, 2.0]
    See: torch.std_mean; `mg.std`."""
    return std(x, axis=axis, ddof=ddof, keepdims=keepdims), mean(x, axis=axis, keepdims=keepdims)


@prefixes_errors
def var_mean(x, axis=None, ddof=0, keepdims=False):
    """Compute the variance and the mean, as a pair.

    Shapes: x (2, 3), axis=0 -> (3) twice; with keepdims -> (1, 3).
    Args:
        x: numbers, real or complex.
    Returns: a pair of tensors.
    Raises: IndexError if the axis is out of range; TypeError if ddof is not a number.
    >>> [each.item() for each in mg.var_mean([1.0, 1.0, 5.0, 5.0])]
    [4.0, 3.0]
    See: torch.var_mean; `mg.var`."""
    return var(x, axis=axis, ddof=ddof, keepdims=keepdims), mean(x, axis=axis, keepdims=keepdims)


@op
def norm(xp, x, *, axis=None, keepdims=False):
    """Compute the Euclidean (L2) norm of a vector.

    ‖x‖ = √(Σ_i |x_i|²). The gradient is x / ‖x‖, and defined as 0 at the origin. Other norms are in `mg.linalg`.
    Returns: a real tensor of the precision of x; float64 for integers.
    >>> mg.norm([3.0, 4.0]).item()
    5.0
    See: numpy.linalg.norm, torch.linalg.vector_norm."""
    return xp.sqrt(xp.sum(xp.square(abs(x)), axis=axis, keepdims=keepdims))


@norm.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """The length grows fastest straight outward, at the rate 1."""
    share = xp.where(out == 0, 0.0, upstream / xp.where(out == 0, 1.0, out))
    return xp.unreduce(share, x_shape, axis, keepdims) * x


@op
def logsumexp(xp, x, *, axis=None, keepdims=False):
    """Compute the logarithm of the sum of exponentials.

    logsumexp(x) = log Σ_j exp(x_j) = m + log Σ_j exp(x_j - m), where m is the largest entry, so that nothing overflows.
    Its gradient is softmax(x). For no entries it is -inf.
    >>> round(mg.logsumexp([1000.0, 1000.0]).item(), 4)
    1000.6931
    See: scipy.special.logsumexp, torch.logsumexp."""
    top = xp.finite_max(x, axis=axis)
    total = xp.log(xp.sum(xp.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else xp.squeeze_axes(total, axis=axis)


@logsumexp.rule("x")
def _(xp, upstream, x, out, x_shape, axis, keepdims):
    """The gradient is shared in proportion to the exponentials: their softmax."""
    return xp.unreduce(upstream, x_shape, axis, keepdims) * xp.exp(x - xp.unreduce(out, x_shape, axis, keepdims))


# Answers without a graph ----


@nondifferentiable(public=False)
def finite_max(xp, x, *, axis=-1):
    """Return the largest entry along axes with length 1, to be subtracted before exponentials.

    Results that subtract it do not depend on it, so there is no gradient. Returns 0 if the maximum is infinite or
    the input is empty. Complex numbers are compared by real part, then imaginary part.
    Shapes: x (2, 3), axis=-1 -> (2, 1).
    Args:
        axis: axis or axes to reduce; default -1, the last; None reduces all.
    Returns: a tensor of the dtype of x, without a graph.
    >>> mg.ops.finite_max([[1.0, 3.0], [2.0, float("inf")]]).tolist()
    [[3.0], [0.0]]
    See: mg.logsumexp, mg.softmax."""
    return xp.finite_max(x, axis)


@nondifferentiable
def any(xp, x, *, axis=None, keepdims=False):
    """Return whether at least one entry is true (not 0), over all or along axes.

    False for no entries.
    >>> mg.any([[0.0, 2.0], [0.0, 0.0]], axis=1).tolist()
    [True, False]
    See: numpy.any, torch.any."""
    return xp.any(x, axis=axis, keepdims=keepdims)


@nondifferentiable
def all(xp, x, *, axis=None, keepdims=False):
    """Return whether every entry is true (not 0), over all or along axes.

    True for no entries.
    >>> mg.all([[1.0, 2.0], [0.0, 3.0]], axis=1).tolist()
    [True, False]
    See: numpy.all, torch.all."""
    return xp.all(x, axis=axis, keepdims=keepdims)


@nondifferentiable
@real_only
def argmax(xp, x, *, axis=None, keepdims=False):
    """Return the index of the largest entry; the first one at a tie.

    An entry that is nan counts as the largest.
    Returns: a tensor of int64, without a graph.
    Raises: TypeError if x is complex, or axis is a tuple; ValueError if x is empty; IndexError if the axis is out of
        range.
    >>> mg.argmax([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]], axis=1).tolist()
    [1, 0]
    See: numpy.argmax, torch.argmax."""
    return xp.argmax(x, axis=axis, keepdims=keepdims)


@nondifferentiable
@real_only
def argmin(xp, x, *, axis=None, keepdims=False):
    """Return the index of the smallest entry; the first one at a tie.

    An entry that is nan counts as the smallest.
    Returns: a tensor of int64, without a graph.
    Raises: TypeError if x is complex, or axis is a tuple; ValueError if x is empty; IndexError if the axis is out of
        range.
    >>> mg.argmin([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]], axis=1).tolist()
    [0, 1]
    See: numpy.argmin, torch.argmin."""
    return xp.argmin(x, axis=axis, keepdims=keepdims)


@nondifferentiable
def count_nonzero(xp, x, *, axis=None, keepdims=False):
    """Count the entries that are not 0, over all or along axes.

    Returns: a tensor of int64, without a graph.
    >>> mg.count_nonzero([[0.0, 2.0], [3.0, 4.0]], axis=0).tolist()
    [1, 2]
    See: numpy.count_nonzero, torch.count_nonzero."""
    return xp.sum(x != 0, axis=axis, keepdims=keepdims)
