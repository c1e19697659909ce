"""Operations that look entries up by number. An entry that is looked up twice receives both gradients."""

from ..op import constant, face, linear, op, real_only


@linear(x=lambda xp, upstream, indices, x_shape, axis: xp.put_take(upstream, indices, shape=x_shape, axis=axis))
def take(xp, x, indices, *, axis=None):
    """The entries (or slices) of the given numbers along one axis; with `axis=None`, of all entries in a row."""
    return xp.take(x, indices, axis=axis)


@linear(x=lambda xp, upstream, indices, axis: xp.take(upstream, indices, axis=axis))
def put_take(xp, x, indices, *, shape, axis=None):
    """Zeros of `shape` with each slice of `x` added at its number along an axis: the reverse of `take`.

    Shapes: x has that of what `take` picks of an array of `shape`.
    """
    picked = xp.take(xp.zeros_beside(x, shape), indices, axis=axis)
    return xp.put_take(xp.shaped_like(x, picked), indices, shape=shape, axis=axis)


@linear(
    x=lambda xp, upstream, indices, x_shape, axis: xp.put_along_axis_add(upstream, indices, shape=x_shape, axis=axis)
)
def take_along_axis(xp, x, indices, *, axis=-1):
    """For each place of `indices`, the entry of that number along the axis."""
    return xp.take_along_axis(x, indices, axis)


@linear(x=lambda xp, upstream, indices, axis: xp.take_along_axis(upstream, indices, axis=axis))
def put_along_axis_add(xp, x, indices, *, shape, axis=-1):
    """Zeros of `shape` with each entry of `x` added at its number along the axis: the reverse of `take_along_axis`.

    Shapes: x has that of what `take_along_axis` picks of an array of `shape`.
    """
    picked = xp.take_along_axis(xp.zeros_beside(x, shape), indices, axis=axis)
    return xp.put_along_axis_add(xp.shaped_like(x, picked), indices, shape=shape, axis=axis)


@linear(
    x=lambda upstream: upstream,
    src=lambda xp, upstream, index, index_shape, axis: xp.take_along_axis(
        upstream[xp.corner(index_shape, axis)], index, axis=axis
    ),
)
def _scatter_add(xp, x, index, src, *, axis=-1):
    """`x` with each entry of `src` added at its number along the axis. Going back, each entry looks up what arrived."""
    return xp.scatter_add(x, index, src, axis=axis)


@face(_scatter_add)
def scatter_add(x, axis, index, src):
    """`x` with each entry of `src` added along `axis` at its number in `index`; numbers may repeat.

    >>> import micrograd_plus as mg
    >>> mg.scatter_add(mg.tensor([0.0, 0.0, 0.0]), 0, mg.tensor([2, 0, 2]), mg.tensor([1.0, 2.0, 3.0]))
    tensor([2., 0., 4.])
    """
    return _scatter_add(x, index, src, axis=axis)


@op
def embedding(xp, indices, weight, *, padding_idx=None):
    """Rows of a table, looked up by number: one vector for each word. A row that is used often learns from each use;
    the row `padding_idx` stands for nothing and learns nothing."""
    return xp.take(weight, indices, axis=0)


@embedding.rule("weight")
def _(xp, upstream, indices, weight_shape, padding_idx):
    """Each row receives the sum of what its uses received."""
    if padding_idx is not None:
        used = xp.expand_dims(xp.not_equal(indices, padding_idx), -1)
        upstream = xp.where(used, upstream, 0.0)
    return xp.put_take(upstream, indices, shape=weight_shape, axis=0)


@constant
def one_hot(xp, indices, *, num_classes):
    """A row of zeros with a single 1, for each number: small whole numbers, beside which any dtype stays as it is."""
    return xp.one_hot(indices, num_classes)


@constant
@real_only
def searchsorted(xp, a, v, *, side="left"):
    """Where each entry of `v` would be inserted into the ordered row `a`: left or right of those equal to it."""
    return xp.searchsorted(a, v, side=side)
