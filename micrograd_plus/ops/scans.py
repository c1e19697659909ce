"""Operations along an axis: cumulative sums, recurrences and sorting."""

from ..backends.shapes import ndim, shape
from ..core.composite import composite
from ..core.define import linear, nondifferentiable, op, real_only, wraps_op
from ..core.messages import explains, prefixes_errors
from .arithmetic import negative


@linear(
    x=lambda xp, upstream, x_shape, axis, exclusive, reverse: xp.reshape(
        xp.cumsum(upstream, axis=axis, exclusive=exclusive, reverse=not reverse), x_shape
    )
)
def cumsum(xp, x, *, axis=None, exclusive=False, reverse=False):
    """Compute the cumulative sum along an axis.

    out_i = Σ_{j≤i} x_j. The sums from an entry on contain it, so the gradient is a cumulative sum from the other end.
    Shapes: any -> the same; with axis=None -> (n), for n entries.
    Args:
        exclusive: whether to exclude an entry from its sum (j < i); default False.
        reverse: whether to sum from the end (j ≥ i); default False.
    Returns: a tensor of the dtype of x; int64 for booleans and smaller integers.
    Raises: IndexError if the axis is out of range; ValueError if axis is a tuple.
    >>> mg.cumsum([1.0, 2.0, 3.0]).tolist()
    [1.0, 3.0, 6.0]
    >>> mg.cumsum([1.0, 2.0, 3.0], exclusive=True, reverse=True).tolist()
    [5.0, 3.0, 0.0]
    See: numpy.cumsum, torch.cumsum, jax.lax.cumsum."""
    return xp.cumsum(x, axis=axis, exclusive=exclusive, reverse=reverse)


@op
@explains("decay {decay} and drive {drive} must have shapes that broadcast")
def recurrence(xp, decay, drive, *, axis=-1, reverse=False):
    """Compute a first-order linear recurrence along an axis.

    state_t = decay_t * state_{t-1} + drive_t, starting from 0.
    Shapes: decay, drive of shapes that broadcast -> the broadcast shape.
    Args:
        decay: factor of the state at each step; real or complex numbers.
        drive: numbers to add at each step.
        reverse: whether to start at the end; default False.
    >>> mg.recurrence(0.5, [1.0, 1.0, 1.0]).tolist()
    [1.0, 1.5, 1.75]
    See: scipy.signal.lfilter; G. E. Blelloch, "Prefix sums and their applications", 1990."""
    return xp.recurrence(decay, drive, axis=axis, reverse=reverse)


@recurrence.rule("decay", "drive")
def _(xp, upstream, decay, out, axis, reverse):
    """The same recurrence, from the other end: a state receives its own upstream, and the gradient of the next state
    times the next decay. A decay receives this times the state that it multiplied."""
    next_decay = xp.shift_by_one(xp.broadcast_to(decay, xp.shape(out)), axis=axis, reverse=not reverse)
    received = xp.recurrence(next_decay, upstream, axis=axis, reverse=not reverse)
    return received * xp.shift_by_one(out, axis=axis, reverse=reverse), received


@linear(x=lambda xp, upstream, axis, reverse: xp.shift_by_one(upstream, axis=axis, reverse=not reverse), public=False)
def shift_by_one(xp, x, *, axis=-1, reverse=False):
    """Move the entries one place along an axis, filling with 0.

    out_i = x_{i-1}, out_0 = 0.
    Args:
        reverse: whether to move back instead: out_i = x_{i+1}; default False.
    >>> mg.ops.shift_by_one([1.0, 2.0, 3.0]).tolist()
    [0.0, 1.0, 2.0]
    See: numpy.roll, whose last entry comes in at the start."""
    return xp.shift_by_one(x, axis=axis, reverse=reverse)


@op
def cumprod(xp, x, *, axis=None, exclusive=False, reverse=False):
    """Compute the cumulative product along an axis.

    out_i = Π_{j≤i} x_j. Its gradient does not divide by entries, so they may be 0.
    Shapes: any -> the same; with axis=None -> (n), for n entries.
    Args:
        exclusive: whether to exclude an entry from its product (j < i); default False.
        reverse: whether to multiply from the end (j ≥ i); default False.
    Returns: a tensor of the dtype of x; int64 for booleans and smaller integers.
    Raises: IndexError if the axis is out of range; ValueError if axis is a tuple.
    >>> mg.cumprod([1.0, 2.0, 3.0, 4.0]).tolist()
    [1.0, 2.0, 6.0, 24.0]
    See: numpy.cumprod, torch.cumprod, jax.lax.cumprod."""
    return xp.cumprod(x, axis=axis, exclusive=exclusive, reverse=reverse)


@cumprod.rule("x")
def _(xp, upstream, x, x_shape, axis, exclusive, reverse):
    """An entry is a factor of every product from its own on: its gradient is the product of the entries before it,
    times a recurrence over the later ones from the other end. Nothing is divided, so an entry may be 0."""
    line = xp.reshape(x, (-1,)) if axis is None else x
    along = -1 if axis is None else axis
    upstream = xp.shift_by_one(upstream, axis=along, reverse=not reverse) if exclusive else upstream
    before = xp.cumprod(line, axis=along, exclusive=True, reverse=reverse)
    decay = xp.shift_by_one(line, axis=along, reverse=not reverse)
    later = xp.recurrence(decay, upstream, axis=along, reverse=not reverse)
    return xp.reshape(before * later, x_shape)


@op(outputs=("values", "indices"), public=False)
@real_only
def cummax_with_indices(xp, x, *, axis=-1):
    """Compute the cumulative maximum along an axis, and its indices.

    values_i = max_{j≤i} x_j. At a tie the last entry is chosen and receives the gradient. From a nan on, all results
    are nan.
    Shapes: any -> two results of the same shape.
    Returns: a pair of tensors: values, of the dtype of x, and indices, of int64.
    >>> values, indices = mg.ops.cummax_with_indices([2.0, 1.0, 2.0])
    >>> values.tolist(), indices.tolist()
    ([2.0, 2.0, 2.0], [0, 0, 2])
    See: torch.cummax."""
    return xp.cummax_with_indices(x, axis=axis)


@cummax_with_indices.rule("x")
def _(xp, upstream, indices, x_shape, axis):
    """The gradient goes to the entry that was the largest."""
    return xp.put_along_axis_add(upstream[0], indices, shape=x_shape, axis=axis)


@prefixes_errors
def cummax(x, *, axis=-1):
    """Compute the cumulative maximum along an axis.

    out_i = max_{j≤i} x_j. At a tie the last entry receives the gradient.
    Args:
        x: real numbers.
        axis: axis along which to compute it; default -1, the last. It must be passed by name: PyTorch's function also
            returns the places.
    Raises: TypeError if x is complex, or the axis is passed by position; IndexError if the axis is out of range.
    >>> mg.cummax([1.0, 3.0, 2.0, 5.0]).tolist()
    [1.0, 3.0, 3.0, 5.0]
    See: numpy.maximum.accumulate, jax.lax.cummax; mg.ops.cummax_with_indices."""
    return cummax_with_indices(x, axis)[0]


@prefixes_errors
def cummin(x, *, axis=-1):
    """Compute the cumulative minimum along an axis.

    out_i = min_{j≤i} x_j. At a tie the last entry receives the gradient.
    Args:
        x: real numbers.
        axis: axis along which to compute it; default -1, the last. It must be passed by name: PyTorch's function also
            returns the places.
    Raises: TypeError if x is complex, or the axis is passed by position; IndexError if the axis is out of range.
    >>> mg.cummin([5.0, 3.0, 4.0, 1.0]).tolist()
    [5.0, 3.0, 3.0, 1.0]
    See: numpy.minimum.accumulate, torch.cummin; mg.cummax."""
    return negative(cummax_with_indices(negative(x), axis)[0])


@op
@real_only
def logcumsumexp(xp, x, *, axis=-1):
    """Compute the logarithm of the cumulative sum of exponentials.

    out_i = log Σ_{j≤i} exp(x_j), without overflow.
    >>> mg.logcumsumexp([0.0, 0.0, 1000.0]).round(4).tolist()
    [0.0, 0.6931, 1000.0]
    See: torch.logcumsumexp, jax.lax.cumlogsumexp."""
    return xp.logcumsumexp(x, axis=axis)


@logcumsumexp.rule("x")
def _(xp, upstream, x, out, axis):
    """Each entry has a share of every sum from its position on. From one sum to the next, the shares shrink as much as
    the sum grows."""
    later = xp.shift_by_one(out, axis=axis, reverse=True)
    shrinks = xp.exp(xp.where(xp.equal(out, later), 0.0, xp.minimum(out - later, 0.0)))
    return xp.exp(x - xp.where(xp.isfinite(out), out, 0.0)) * xp.recurrence(shrinks, upstream, axis=axis, reverse=True)


@op(residuals=("order",), constants=("order",))
def _sort(xp, x, *, axis=-1, descending=False):
    """Sort the entries along an axis."""
    order = xp.argsort(x, axis=axis, descending=descending)
    return xp.take_along_axis(x, order, axis=axis), order


@wraps_op(_sort)
def sort(x, *, axis=-1, descending=False):
    """Sort the entries in ascending order along an axis.

    The sort is stable: equal entries keep their order, and each receives the gradient of its position. nan counts
    as larger than all other numbers.
    Shapes: any -> the same; with axis=None -> (n), for n entries.
    Args:
        axis: axis along which to sort; default -1, the last; None flattens x first. It must be passed by name:
            PyTorch's `sort(x, 1)` also returns the order.
        descending: whether to sort in descending order; default False.
    Raises: TypeError if the axis is passed by position; IndexError if it is out of range.
    >>> mg.sort([3.0, 1.0, 2.0]).tolist()
    [1.0, 2.0, 3.0]
    See: numpy.sort; mg.argsort."""
    return _sort(x, axis=axis, descending=descending)


@_sort.rule("x")
def _(xp, upstream, order, x_shape, axis):
    """Sorting permutes the entries; the gradient is permuted back."""
    return xp.put_along_axis_add(upstream, order, shape=x_shape, axis=axis)


@nondifferentiable
@real_only
def argsort(xp, x, *, axis=-1, descending=False):
    """Return the indices that sort the entries along an axis.

    The sort is stable: equal entries keep their order, in descending order, too.
    Shapes: any -> the same; with axis=None -> (n), for n entries.
    Args:
        axis: axis along which to sort; default -1, the last; None flattens x first.
        descending: whether to sort in descending order; default False.
    Returns: a tensor of int64, without a graph.
    >>> mg.argsort([3.0, 1.0, 2.0]).tolist()
    [1, 2, 0]
    See: numpy.argsort, torch.argsort."""
    return xp.argsort(x, axis=axis, descending=descending)


@op(outputs=("values", "indices"))
@real_only
def topk(xp, x, *, k, axis=-1):
    """Return the k largest entries along an axis in descending order, and their indices.

    At a tie the first entry comes first. Only the chosen entries receive a gradient.
    Shapes: x (..., n) -> (..., k) twice.
    Args:
        k: the number of entries, from 0 to the length of the axis.
    Returns: a pair of tensors: values, of the dtype of x, and indices, of int64.
    Raises: ValueError if k is negative or larger than the axis; TypeError if x is complex or k is not an integer;
        IndexError if the axis is out of range.
    >>> values, indices = mg.topk([2.0, 9.0, 4.0], 2)
    >>> values.tolist(), indices.tolist()
    ([9.0, 4.0], [1, 2])
    See: torch.topk, jax.lax.top_k."""
    return xp.topk(x, k, axis=axis)


@topk.rule("x")
def _(xp, upstream, indices, x_shape, axis):
    """Only the entries that were chosen receive a gradient."""
    return xp.put_along_axis_add(upstream[0], indices, shape=x_shape, axis=axis)


@composite
def _quantile(xp, x, *, q, axis=None, method="linear", keepdims=False):
    """Compute quantiles along axes."""
    line = xp.sort(xp.axes_to_last(x, axis=axis), axis=-1)
    low, high, weight = xp.quantile_places(xp.shape(line)[-1], q, method)
    weight = xp.new_array(line, numbers=weight)
    between = line[..., low] * (1 - weight) + xp.where(weight == 0, 0.0, line[..., high] * weight)
    last = line[..., -1:] if xp.ndim(q) else line[..., -1]
    between = xp.where(xp.isnan(last), last, between)  # nan is sorted last
    between = xp.moveaxis(between, -1, 0) if xp.ndim(q) else between
    return xp.reshape(between, (*xp.shape(q), *xp.reduced_shape(xp.shape(x), axis, True))) if keepdims else between


@wraps_op(_quantile, namespace=True)
@prefixes_errors
def quantile(x, q, axis=None, method="linear", keepdims=False):
    """Compute quantiles along axes.

    With the n entries in order, x_0 ≤ … ≤ x_{n-1}, the quantile is at position h = q (n - 1). By default it is
    interpolated linearly: (1 - w) x_i + w x_{i+1}, with i = ⌊h⌋ and w = h - i. The two entries share the gradient with
    the same weights. If any entry is nan, the result is nan.
    Shapes: x (2, 3), q () and axis=1 -> (2); q (k) -> (k, 2).
    Args:
        q: a number from 0 to 1, or a vector of k numbers, which become the first axis of the result.
        method: the interpolation: "linear" (default), "lower", "higher", "midpoint", "nearest", or another of NumPy's
            names: "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf",
            "inverted_cdf", "averaged_inverted_cdf", "closest_observation".
    Raises: ValueError if q is outside 0 to 1 or has several axes, method is unknown, or x is empty; TypeError if x is
        complex or q requires a gradient; IndexError if the axis is out of range.
    >>> mg.quantile([1.0, 2.0, 4.0, 8.0, 16.0], [0.25, 0.9])
    tensor([ 2. , 12.8])
    See: numpy.quantile, torch.quantile; R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996."""
    if getattr(q, "requires_grad", False):
        raise TypeError("quantile: no gradient reaches q; write q.detach()")
    shares = q.tolist() if hasattr(q, "tolist") else q
    if ndim(shares) > 1:
        raise ValueError(f"quantile: q must be one number or a row of numbers, got shape {shape(shares)}")
    return _quantile(x, q=tuple(shares) if ndim(shares) else shares, axis=axis, method=method, keepdims=keepdims)


@composite
def _median(xp, x, *, axis=None, keepdims=False):
    """Compute the median along axes."""
    return xp.quantile(x, q=0.5, axis=axis, keepdims=keepdims)


@wraps_op(_median)
def median(x, *, axis=None, keepdims=False):
    """Compute the median along axes.

    For an even number of entries it is the mean of the two in the middle, and each receives half of the gradient. If
    any entry is nan, the result is nan.
    Args:
        axis: axis or axes along which to take it; default None, all entries. It must be passed by name: PyTorch's
            `median(x, 1)` also returns the places.
    Raises: TypeError if x is complex, or the axis is passed by position; ValueError if x is empty; IndexError if the
        axis is out of range.
    >>> mg.median([1.0, 9.0, 2.0, 4.0]).item()
    3.0
    See: numpy.median; torch.median, which takes the lower of two."""
    return _median(x, axis=axis, keepdims=keepdims)


@nondifferentiable(public=False)
def new_array(xp, x, *, numbers):
    """Return numbers as an array with the device and the dtype of another.

    Shapes: x any, numbers (n) -> (n).
    Args:
        x: an array that determines device and dtype.
        numbers: a number or a nested list.
    Returns: a tensor of the dtype of x; float64 for integers; without a graph.
    Raises: ValueError if an entry is not a number, or rows have unequal lengths.
    >>> mg.ops.new_array(mg.tensor([0.0], dtype="float32"), [1, 2])
    tensor([1., 2.], dtype=float32)
    See: torch.Tensor.new_tensor."""
    return xp.new_array(x, numbers)
