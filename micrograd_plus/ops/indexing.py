"""Operations that take or write entries by index. An entry that is used twice receives both gradients."""

from ..backends import devices
from ..backends.shapes import corner, ndim, shape
from ..core.define import linear, nondifferentiable, op, real_only, wraps_op
from ..core.messages import describe, explains, prefixes_errors
from .arithmetic import maximum
from .casts import astype, stop_gradient
from .comparisons import equal, isfinite, logical_or, not_equal
from .reductions import finite_max
from .scans import argsort, cummax, cumsum
from .shape import broadcast_to, getitem, roll


@linear(
    a=lambda xp, upstream, condition: xp.where(condition, upstream, 0.0),
    b=lambda xp, upstream, condition: xp.where(condition, 0.0, upstream),
)
def _where(xp, condition, a=None, b=None):
    """Choose entries from `a` where the condition is not 0, else from `b`."""
    return xp.where(condition, a, b)


@wraps_op(_where)
def where(condition, a=None, b=None):
    """Choose entries from `a` where the condition is true, else from `b`.

    Entries that were not chosen receive a gradient of 0. Since 0 times an infinite derivative is nan, the gradient of
    mg.where(x > 0, mg.log(x), 0.0) is nan at 0; that of mg.where(x > 0, mg.log(mg.where(x > 0, x, 1.0)), 0.0) is not.
    Shapes: condition, a, b of shapes that broadcast -> the broadcast shape.
    Args:
        condition: booleans; for numbers, write `condition != 0`.
        a, b: real or complex numbers; both must be given.
    Raises: ValueError if the shapes do not broadcast; TypeError if the condition is not boolean, if an input is not
        numeric, or a or b is missing.
    >>> mg.where([True, False], [1.0, 2.0], 0.0).tolist()
    [1.0, 0.0]
    See: numpy.where; torch.where."""
    if b is not None:
        _check_condition(condition)
    return _where(condition, a, b)


def _check_condition(condition):
    """Raise TypeError unless a condition is boolean. Numbers are the wrong argument where `x.where(mask, y)` of PyTorch
    becomes `where(x, mask, y)`."""
    data = condition if hasattr(condition, "dtype") else devices.device("cpu").library.asarray(condition)
    if data.dtype.kind != "b":
        raise TypeError(
            f"where: the condition must be boolean, such as x > 0, and comes first: mg.where(condition, x, y); got "
            f"{describe(condition)}; for numbers that are not 0 write condition != 0"
        )


@linear(x=lambda xp, upstream, indices, x_shape, axis: xp.put_take(upstream, indices, shape=x_shape, axis=axis))
@explains("{error}; x has shape {x}, and an axis of length n has indices from -n to n - 1")
def take(xp, x, indices, *, axis=None):
    """Take entries (or slices) by their indices along an axis.

    A repeated index adds up the gradients.
    Shapes: x (2, 3, 4), indices (k), axis=1 -> (2, k, 4); indices (j, k) -> (2, j, k, 4).
    Args:
        indices: integers from -n to n - 1, where n is the length of the axis.
    Returns: a tensor of the dtype of x.
    Raises: IndexError if an index or the axis is out of range; TypeError for indices that are not integers.
    >>> mg.take([10.0, 20.0, 30.0], [2, 0, 0]).tolist()
    [30.0, 10.0, 10.0]
    See: numpy.take, torch.index_select."""
    return xp.take(x, indices, axis=axis)


@linear(x=lambda xp, upstream, indices, axis: xp.take(upstream, indices, axis=axis), public=False)
def put_take(xp, x, indices, *, shape, axis=None):
    """Add slices of x into zeros at their indices along an axis: the transpose of `take`.

    Shapes: x as returned by `take` for an array of `shape` -> shape.
    Args:
        indices: as in `take`; they may repeat.
        axis: as in `take`; default None.
    Returns: a tensor of the dtype of x.
    Raises: ValueError if x does not have the shape of the selection; IndexError if an index or the axis is out of
        range.
    >>> mg.ops.put_take([1.0, 2.0, 3.0], [2, 0, 0], shape=(3,)).tolist()
    [5.0, 0.0, 1.0]
    See: mg.take, torch.Tensor.index_add_."""
    picked = xp.take(xp.new_zeros(x, shape), indices, axis=axis)
    return xp.put_take(xp.shaped_like(x, picked), indices, shape=shape, axis=axis)


@linear(
    x=lambda xp, upstream, indices, x_shape, axis: xp.put_along_axis_add(upstream, indices, shape=x_shape, axis=axis)
)
@explains("{error}; indices must have as many axes as x {x}, and must exist along its axis")
def take_along_axis(xp, x, indices, *, axis=-1):
    """Take, for each position of `indices`, the entry of x at that index along the axis (torch's gather).

    For two axes and axis=1: out[i, j] = x[i, indices[i, j]]. A repeated index adds up the gradients.
    Shapes: x (m, n), indices (m, k), axis=1 -> (m, k).
    Args:
        indices: integers, with equally many axes as x; their other lengths must equal the lengths of x, or be 1.
        axis: the axis along which to index, by default the last; None flattens x first.
    Returns: a tensor of the dtype of x.
    Raises: ValueError if `indices` has more or fewer axes than x; IndexError if an index or the axis is out of range,
        or for indices that are not integers.
    >>> mg.take_along_axis([[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1).tolist()
    [[2.0], [3.0]]
    See: numpy.take_along_axis, torch.gather."""
    return xp.take_along_axis(x, indices, axis)


@linear(x=lambda xp, upstream, indices, axis: xp.take_along_axis(upstream, indices, axis=axis), public=False)
def put_along_axis_add(xp, x, indices, *, shape, axis=-1):
    """Add entries of x into zeros at their indices: the transpose of `take_along_axis`.

    For two axes and axis=1: out[i, indices[i, j]] += x[i, j].
    Shapes: x as returned by `take_along_axis` for an array of `shape` -> shape.
    Args:
        indices: as in `take_along_axis`; they may repeat.
        axis: as in `take_along_axis`; default -1, the last.
    Returns: a tensor of the dtype of x.
    Raises: ValueError if x does not have the shape of the selection; IndexError if an index or the axis is out of
        range.
    >>> mg.ops.put_along_axis_add([[1.0, 2.0]], [[2, 2]], shape=(1, 3), axis=1).tolist()
    [[0.0, 0.0, 3.0]]
    See: numpy.put_along_axis, which overwrites; torch.Tensor.scatter_add_."""
    picked = xp.take_along_axis(xp.new_zeros(x, shape), indices, axis=axis)
    return xp.put_along_axis_add(xp.shaped_like(x, picked), indices, shape=shape, axis=axis)


@linear(
    x=lambda upstream: upstream,
    src=lambda xp, upstream, index, index_shape, axis: xp.take_along_axis(
        upstream[xp.corner(index_shape, axis)], index, axis=axis
    ),
)
@explains("{error}; index and src must have the same shape, and the indices must exist along the axis of x {x}")
def _scatter_add(xp, x, index, src, *, axis=-1):
    """Add entries of another array at their indices along an axis."""
    return xp.scatter_add(x, index, src, axis=axis)


@wraps_op(_scatter_add)
def scatter_add(x, axis, index, src):
    """Add entries of another array at their indices along an axis.

    For two axes and axis=1: out = x, then out[i, index[i, j]] += src[i, j]. Indices may repeat.
    Shapes: x (m, n), index and src (m, k), axis=1 -> (m, n).
    Args:
        x: numbers to add to, in a copy.
        axis: the axis along which to index.
        index: integers, one for each entry of `src`.
        src: the numbers to add.
    Returns: a tensor of the shape of x, with the common dtype of x and src.
    Raises: IndexError if an index or the axis is out of range, or an index is not an integer; ValueError if `src` does
        not have the shape of `index`.
    >>> mg.scatter_add([0.0, 0.0, 0.0], 0, [2, 0, 2], [1.0, 2.0, 3.0]).tolist()
    [2.0, 0.0, 4.0]
    See: torch.scatter_add."""
    return _scatter_add(x, index, src, axis=axis)


@linear(
    x=lambda xp, upstream, index: xp.setitem(upstream, xp.new_zeros(upstream, ()), index=index),
    values=lambda upstream, index: upstream[index],
    public=False,
)
def setitem(xp, x, values, *, index):
    """Return a copy with new values at an index: `x[index] = values` as a function.

    out = x, then out[index] = values. Overwritten entries receive no gradient. `x[index] = values` calls this when a
    gradient is needed.
    Shapes: values broadcast to x[index]: x (3, 4), index (0, slice(2)), values (2) or () -> (3, 4).
    Args:
        x: numbers; they are copied.
        values: the numbers to write.
        index: integers, slices, None, `...`, arrays of integers, boolean masks, or a tuple of them; no position twice.
    Returns: a tensor of the shape of x, with the common dtype of x and values.
    Raises: IndexError if the index is out of range; ValueError if `values` does not broadcast, or a position is
        repeated.
    >>> mg.ops.setitem([1.0, 2.0, 3.0], 9.0, index=slice(0, 2)).tolist()
    [9.0, 9.0, 3.0]
    See: torch.Tensor.index_put, jax.numpy.ndarray.at."""
    return xp.setitem(x, values, index)


@linear(
    x=lambda xp, upstream, index, axis: xp.zero_at(upstream, index, axis=axis),
    src=lambda xp, upstream, index, index_shape, axis: xp.take_along_axis(
        upstream[xp.corner(index_shape, axis)], index, axis=axis
    ),
)
def _scatter(xp, x, index, src, *, axis=-1):
    """Write entries of another array at their indices along an axis."""
    return xp.scatter(x, index, src, axis=axis)


@wraps_op(_scatter)
@prefixes_errors
def scatter(x, axis, index, src):
    """Write entries of another array at their indices along an axis.

    For two axes and axis=1: out = x, then out[i, index[i, j]] = src[i, j]. Overwritten entries receive no gradient. An
    index must not repeat a position, since the result would not be determined.
    Shapes: x (m, n), index and src (m, k), axis=1 -> (m, n); src may be a single number.
    Args:
        x: numbers to overwrite in a copy.
        axis: the axis along which to index.
        index: integers, one for each entry of `src`.
        src: the numbers to write.
    Returns: a tensor of the shape of x, with the common dtype of x and src.
    Raises: IndexError if an index or the axis is out of range, or an index is not an integer; ValueError if `src` does
        not have the shape of `index`, or a position is repeated.
    >>> mg.scatter([0.0, 0.0, 0.0], 0, [2, 0], [1.0, 2.0]).tolist()
    [2.0, 0.0, 1.0]
    See: torch.scatter, numpy.put_along_axis."""
    return _scatter(x, index, broadcast_to(src, shape(index)) if not ndim(src) else src, axis=axis)


@linear(x=lambda xp, upstream, index, axis: xp.zero_at(upstream, index, axis=axis), public=False)
def zero_at(xp, x, index, *, axis=-1):
    """Set the entries at indices along an axis to 0.

    Shapes: x (m, n), index (m, k), axis=1 -> (m, n).
    Args:
        index: integers, with as many axes as x.
    Returns: a tensor of the dtype of x.
    Raises: IndexError if an index or the axis is out of range; ValueError if the number of axes differs.
    >>> mg.ops.zero_at([1.0, 2.0, 3.0], [2, 0]).tolist()
    [0.0, 2.0, 0.0]
    See: mg.scatter, whose rule it is."""
    return xp.zero_at(x, index, axis=axis)


@prefixes_errors
def scatter_reduce(x, axis, index, src, reduce, include_self=True):
    """Reduce entries of another array at their indices along an axis: by sum, product, mean, maximum or minimum.

    Entries that tie for an extreme share the gradient equally.
    Shapes: x (m, n), index and src (m, k), axis=1 -> (m, n).
    Args:
        x: numbers to reduce into, in a copy.
        axis: the axis along which to index.
        index: integers, one for each entry of `src`; they may repeat.
        src: the numbers to gather.
        reduce: "sum", "prod", "mean", "amax" or "amin".
        include_self: whether to include the entries of x (default); where nothing is gathered they always stay.
    Returns: a tensor of the shape of x, with the common dtype of x and src.
    Raises: ValueError if reduce is unknown, or `src` does not have the shape of `index`; IndexError if an index or the
        axis is out of range.
    >>> mg.scatter_reduce([0.0, 5.0], 0, [0, 0, 1], [1.0, 2.0, 3.0], "amax").tolist()
    [2.0, 5.0]
    See: torch.scatter_reduce."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ValueError(f"reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    counts = scatter_add(0 * stop_gradient(x), axis, index, 0 * stop_gradient(src) + 1)
    if reduce in ("amax", "amin"):
        return _extremes(x, axis, index, src, reduce, include_self, counts)
    if reduce == "prod":
        return _products(where(counts > 0, 1, x) if not include_self else x, axis, index, src)
    kept = x if include_self else where(counts > 0, 0, x)
    total = scatter_add(kept, axis, index, src)
    shares = counts + 1 if include_self else maximum(counts, 1)
    return total if reduce == "sum" else total / shares


def _extremes(x, axis, index, src, reduce, include_self, counts):
    """Return the largest, or smallest, of the entries gathered at each position. The value comes from comparisons;
    entries that tie share the gradient equally."""
    extreme = scatter_extreme(x, index, src, axis=axis, largest=reduce == "amax", include_self=include_self)
    if extreme.dtype.kind not in "fc":
        return extreme
    own = equal(x, extreme) if include_self else equal(counts, 0)
    met = equal(src, take_along_axis(_corner(extreme, index, axis), index, axis))
    tied = scatter_add(astype(own, dtype=extreme.dtype), axis, index, astype(met, dtype=extreme.dtype))
    shares = 1 / tied
    mine, theirs = where(own, x, 0.0), where(met, src, 0.0)
    moving = scatter_add(mine, axis, index, theirs) * shares
    return where(isfinite(extreme), stop_gradient(extreme) + moving - stop_gradient(moving), extreme)


def _products(x, axis, index, src):
    """Multiply each entry by those gathered at its position. It works in rounds, each with at most one factor per
    position: dividing a product again would fail for zeros."""
    rounds = _earlier(index, axis)
    nothing = 0 * stop_gradient(x)
    for number in range(int(finite_max(rounds, axis=None).item()) + 1):
        chosen = equal(rounds, number)
        met = scatter_add(nothing, axis, index, where(chosen, 1, 0))
        x = x * where(equal(met, 0), 1, scatter_add(nothing, axis, index, where(chosen, src, 0)))
    return x


def _earlier(index, axis):
    """Return, for each index along an axis, how many equal indices come before it."""
    order = argsort(index, axis=axis)
    following = take_along_axis(index, order, axis)
    places = cumsum(0 * following + 1, axis=axis) - 1
    begins = logical_or(equal(places, 0), not_equal(following, roll(following, 1, axis)))
    return scatter(0 * places, axis, order, places - cummax(where(begins, places, 0), axis=axis))


def _corner(x, index, axis):
    """Return the part of an array that an index with fewer rows can reach."""
    return getitem(x, index=corner(shape(index), axis))


@nondifferentiable(public=False)
@real_only
def scatter_extreme(xp, x, index, src, *, axis=-1, largest=True, include_self=True):
    """Return the largest or smallest of the entries gathered at each position.

    Its gradient is in `scatter_reduce`.
    Shapes: x (m, n), index and src (m, k), axis=1 -> (m, n).
    Args:
        index: integers, one for each entry of `src`.
        src: the numbers to gather.
        largest: whether the largest (default) or the smallest.
        include_self: whether to include the entries of x; default True.
    Returns: a tensor of the shape of x, without a graph.
    Raises: IndexError if an index or the axis is out of range; ValueError if `src` does not have the shape of `index`;
        TypeError if an input is complex.
    >>> mg.ops.scatter_extreme([0.0, 5.0], [0, 0, 1], [1.0, 2.0, 3.0], axis=0).tolist()
    [2.0, 5.0]
    See: mg.scatter_reduce."""
    return xp.scatter_extreme(x, index, src, axis, largest, include_self)


@op
@explains("{error}; indices must be whole numbers of rows of weight {weight}")
def embedding(xp, indices, weight, *, padding_idx=None):
    """Look up rows of a table by index, one vector for each token.

    out[...] = weight[indices[...]]. A row that is used several times receives the sum of the gradients.
    Shapes: indices (...), weight (V, D) -> (..., D).
    Args:
        indices: integers from 0 to V - 1; negative ones count from the end.
        weight: the table, one row of D numbers for each of V tokens.
        padding_idx: the row for padding, which receives no gradient; None (default) for no such row.
    Returns: a tensor of weight's dtype.
    Raises: IndexError if an index is out of range; TypeError if indices are not integers; ValueError if weight does not
        have two axes.
    >>> mg.embedding([1, 0, 1], [[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    See: torch.nn.functional.embedding; T. Mikolov et al., "Efficient estimation of word representations in vector
        space", 2013."""
    return xp.take(xp.as_table(weight), indices, axis=0)


@embedding.rule("weight")
def _(xp, upstream, indices, weight_shape, padding_idx):
    """Each row receives the sum of the gradients from all its uses."""
    if padding_idx is not None:
        used = xp.expand_dims(xp.not_equal(indices, padding_idx), -1)
        upstream = xp.where(used, upstream, 0.0)
    return xp.put_take(upstream, indices, shape=weight_shape, axis=0)


@nondifferentiable
def one_hot(xp, indices, *, num_classes):
    """Encode integers as one-hot vectors: a row of zeros with a single 1.

    Shapes: indices (...), num_classes=C -> (..., C).
    Args:
        indices: integers from 0 to C - 1; negative ones count from the end.
        num_classes: C, the number of classes, at least 0.
    Returns: a tensor of int64, so that products count without overflow; without a graph.
    Raises: IndexError if a number is out of range or not an integer; ValueError if C is negative.
    >>> mg.one_hot([0, 2], 3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    See: torch.nn.functional.one_hot, jax.nn.one_hot."""
    return xp.one_hot(indices, num_classes, "int64")


@nondifferentiable
@real_only
def searchsorted(xp, a, v, *, side="left"):
    """Return the index at which each value would be inserted into a sorted vector.

    side="left": the first i with v ≤ a_i; side="right": the first i with v < a_i; n if there is none.
    Shapes: a (n), v any -> the shape of v.
    Args:
        a: real numbers in ascending order.
        v: the real numbers to insert.
        side: whether to insert before ("left", default) or after ("right") equal entries.
    Returns: a tensor of int64, without a graph.
    Raises: ValueError if side is unknown, or `a` has several axes; TypeError if an input is complex.
    >>> mg.searchsorted([1.0, 2.0, 2.0, 3.0], [2.0, 9.0]).tolist()
    [1, 4]
    See: numpy.searchsorted, torch.searchsorted."""
    return xp.searchsorted(a, v, side=side)
