"""Operations that change shape and order of entries. In the backward pass the entries are moved back."""

from ..core.define import linear, op, variadic, wraps_op
from ..core.messages import explains

# Axes -----------------------


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
@explains(
    "x {x} has {x_size} entries, which do not fill {shape}: the lengths must be whole numbers whose product is "
    "{x_size}; one of them may be -1"
)
def reshape(xp, x, *, shape):
    """Change the shape without changing the entries or their order.

    Entries are read in row-major order: the last axis varies fastest.
    Shapes: any -> shape, with the same number of entries.
    Args:
        shape: the length of each axis; one may be -1, and is then determined by the others.
    Raises: ValueError if the product of the lengths is not the number of entries; TypeError if a length is not an
        integer.
    >>> mg.reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, -1)).tolist()
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    See: numpy.reshape."""
    return xp.reshape(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def ravel(xp, x):
    """Flatten to one axis.

    Shapes: any -> (n), for n entries.
    Raises: TypeError if x is not numeric; ValueError if it is a nested list with rows of unequal length.
    >>> mg.ravel([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    See: numpy.ravel, mg.flatten."""
    return xp.reshape(x, (-1,))


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
@explains("only axes of length 1 can be removed; x has shape {x}")
def squeeze(xp, x, *, axis=None):
    """Remove axes of length 1.

    Shapes: x (2, 1, 3) -> (2, 3).
    Args:
        axis: axis or axes to remove; None (default) for every axis of length 1.
    Raises: ValueError if an axis is longer than 1; IndexError if an axis is out of range.
    >>> mg.squeeze([[[1.0], [2.0]]]).tolist()
    [1.0, 2.0]
    See: numpy.squeeze."""
    return xp.squeeze(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def squeeze_axes(xp, x, *, axis=None):
    """Remove the axes that a reduction kept with length 1.

    Unlike in `squeeze`, None means all axes, not just axes of length 1.
    Shapes: x (2, 1, 3), axis=1 -> (2, 3).
    Args:
        axis: axis or axes to remove, each of length 1; None (default) for all.
    Raises: ValueError if an axis is longer than 1; IndexError if an axis is out of range.
    >>> mg.ops.squeeze_axes([[1.0], [2.0]], axis=1).tolist()
    [1.0, 2.0]
    See: numpy.squeeze, mg.ops.expand_axes."""
    return xp.squeeze_axes(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
@explains(new_axes=True)
def expand_dims(xp, x, *, axis):
    """Insert new axes of length 1 (torch's unsqueeze).

    Shapes: x (2, 3), axis=1 -> (2, 1, 3).
    Args:
        axis: position or positions of the new axes in the result.
    Raises: IndexError if the axis is out of range; ValueError if it is repeated.
    >>> mg.expand_dims([1.0, 2.0], axis=1).tolist()
    [[1.0], [2.0]]
    See: numpy.expand_dims, torch.unsqueeze."""
    return xp.expand_dims(x, axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def expand_axes(xp, x, *, shape, axis=None):
    """Insert with length 1 the axes that a reduction removed.

    Shapes: x (2, 3), shape=(2, 5, 3), axis=1 -> (2, 1, 3).
    Args:
        x: the result of a reduction.
        shape: the shape before the reduction.
        axis: axis or axes of the reduction; None (default) for all.
    Raises: ValueError if the lengths of x do not match `shape`; IndexError if the axis is out of range.
    >>> mg.ops.expand_axes([6.0, 15.0], shape=(2, 3), axis=1).tolist()
    [[6.0], [15.0]]
    See: numpy.expand_dims, mg.ops.squeeze_axes."""
    return xp.expand_axes(x, shape=shape, axis=axis)


@linear(x=lambda xp, upstream, axes: xp.transpose(upstream, xp.inverse_order(axes)))
@explains("axes must name each of the {x_ndim} axes of x {x} exactly once")
def _transpose(xp, x, *, axes=None):
    """Permute the axes."""
    return xp.transpose(x, axes)


@wraps_op(_transpose)
def transpose(x, axes=None):
    """Permute the axes; for a matrix, exchange rows and columns.

    out[i_axes[0], i_axes[1], …] = x[i_0, i_1, …]. The gradient is permuted with the inverse order.
    Shapes: x (2, 3, 4), axes=(2, 0, 1) -> (4, 2, 3).
    Args:
        axes: all axes of x in their new order, as a tuple; None (default) reverses them.
    Raises: TypeError for `transpose(x, 0, 1)`; ValueError if `axes` does not contain each axis once; IndexError if an
        axis is out of range.
    >>> mg.transpose([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    See: numpy.transpose, torch.permute."""
    return _transpose(x, axes=axes)


@linear(x=lambda xp, upstream: xp.mT(upstream))
def mT(xp, x):
    """Transpose each matrix: exchange the last two axes.

    Shapes: x (..., m, n) -> (..., n, m).
    Args:
        x: numbers, with at least two axes.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.mT([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.matrix_transpose, torch.Tensor.mT."""
    return xp.mT(x)


@linear(x=lambda xp, upstream: xp.mH(upstream))
def mH(xp, x):
    """Compute the conjugate transpose of each matrix; for real matrices the transpose.

    xᴴ[i, j] = conj(x[j, i]).
    Shapes: x (..., m, n) -> (..., n, m).
    Args:
        x: real or complex numbers, with at least two axes.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.mH([[1 + 2j, 3 + 0j]]).tolist()
    [[(1-2j)], [(3-0j)]]
    See: torch.Tensor.mH."""
    return xp.mH(x)


@linear(x=lambda xp, upstream, axis1, axis2: xp.swapaxes(upstream, axis1, axis2))
def swapaxes(xp, x, *, axis1, axis2):
    """Exchange two axes.

    Shapes: x (2, 3, 4), axis1=0, axis2=2 -> (4, 3, 2).
    Args:
        axis1, axis2: the two axes.
    Raises: IndexError if the axis is out of range.
    >>> mg.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    See: numpy.swapaxes, torch.transpose."""
    return xp.swapaxes(x, axis1, axis2)


@linear(x=lambda xp, upstream, source, destination: xp.moveaxis(upstream, destination, source))
@explains("source and destination must name the same number of axes of x {x}, each of them once")
def moveaxis(xp, x, *, source, destination):
    """Move axes to other positions; the others keep their order.

    Shapes: x (2, 3, 4), source=0, destination=-1 -> (3, 4, 2).
    Args:
        source: the axis or axes to move.
        destination: the new position of each.
    Raises: ValueError if source and destination differ in length or repeat an axis; IndexError if an axis is out of
        range.
    >>> mg.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    See: numpy.moveaxis."""
    return xp.moveaxis(x, source, destination)


@linear(x=lambda xp, upstream, x_shape, axis: xp.axes_from_last(upstream, shape=x_shape, axis=axis), public=False)
def axes_to_last(xp, x, *, axis=None):
    """Merge several axes into one, at the end.

    `quantile` and `product_of_others` work along the merged axis.
    Shapes: x (2, 3, 4), axis=(0, 2) -> (3, 8).
    Args:
        axis: axis or axes to merge, in the order of x; None (default) for all.
    >>> mg.ops.axes_to_last([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.moveaxis, mg.ops.axes_from_last."""
    return xp.axes_to_last(x, axis=axis)


@linear(x=lambda xp, upstream, axis: xp.axes_to_last(upstream, axis=axis), public=False)
def axes_from_last(xp, x, *, shape, axis=None):
    """Split the last axis into the axes that `axes_to_last` merged.

    Shapes: x (3, 8), shape=(2, 3, 4), axis=(0, 2) -> (2, 3, 4).
    Args:
        axis: the axes of the result that the last axis of x contains; None (default) for all.
    Raises: ValueError if the lengths of x do not match; IndexError if the axis is out of range.
    >>> mg.ops.axes_from_last([[1.0, 3.0], [2.0, 4.0]], shape=(2, 2), axis=0).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    See: mg.ops.axes_to_last."""
    return xp.axes_from_last(x, shape=shape, axis=axis)


# Repetition -----------------


@linear(x=lambda xp, upstream, x_shape: xp.sum_to_shape(upstream, x_shape))
@explains("x {x} cannot be broadcast to {shape}: only axes of length 1 and new axes in front can be repeated")
def broadcast_to(xp, x, *, shape):
    """Broadcast to a shape: repeat along new leading axes and along axes of length 1.

    Each entry receives the sum of the gradients of its copies (`sum_to_shape`).
    Shapes: x (3) or (1, 3), shape=(2, 3) -> (2, 3).
    Args:
        shape: the shape of the result; counted from the end, its lengths must equal the lengths of x unless these are
        1.
    Raises: ValueError if x does not broadcast to that shape; TypeError if a length is not an integer.
    >>> mg.broadcast_to([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    See: numpy.broadcast_to, torch.broadcast_to."""
    return xp.broadcast_to(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape), public=False)
def sum_to_shape(xp, x, *, shape):
    """Sum over the axes that broadcasting repeated: the transpose of `broadcast_to`.

    Shapes: x (2, 3), shape=(3,) -> (3); shape=(2, 1) -> (2, 1).
    Args:
        shape: the shape before broadcasting.
    Raises: ValueError if `shape` does not broadcast to the shape of x.
    >>> mg.ops.sum_to_shape([[1.0, 2.0], [3.0, 4.0]], (2,)).tolist()
    [4.0, 6.0]
    See: torch.Tensor.sum_to_size."""
    return xp.sum_to_shape(x, shape)


@linear(x=lambda xp, upstream, x_shape, repeats, axis: xp.sum_repeats(upstream, x_shape, repeats, axis))
@explains("repeats must be a whole number that is not negative, or one for each entry along the axis; x has shape {x}")
def _repeat(xp, x, *, repeats, axis=None):
    """Repeat each entry along an axis."""
    return xp.repeat(x, repeats, axis)


@wraps_op(_repeat, namespace=True)
def repeat(x, repeats, axis=None):
    """Repeat each entry along an axis.

    Shapes: x (n), repeats=2 -> (2 n); x (2, 3), repeats=(1, 4), axis=0 -> (5, 3).
    Args:
        repeats: how often to repeat each entry, or a sequence with a number for each position along the axis. 0 drops
            it.
    Raises: ValueError if a number is negative, or the sequence has the wrong length; TypeError if a number is not an
        integer; IndexError if the axis is out of range.
    >>> mg.repeat([1.0, 2.0, 3.0], [1, 0, 2]).tolist()
    [1.0, 3.0, 3.0]
    See: numpy.repeat, torch.repeat_interleave."""
    return _repeat(x, repeats=tuple(repeats) if hasattr(repeats, "__iter__") else repeats, axis=axis)


@linear(x=lambda xp, upstream, repeats, axis: xp.repeat(upstream, repeats, axis), public=False)
def sum_repeats(xp, x, *, shape, repeats, axis=None):
    """Add up the copies that `repeat` made of each entry: its transpose.

    Shapes: x as returned by `repeat` for an array of `shape` -> shape.
    Args:
        repeats: as in `repeat`: a number, or a tuple with a number for each position along the axis.
        axis: as in `repeat`; default None.
    Raises: ValueError if x does not have the shape that `repeat` returns; IndexError if the axis is out of range.
    >>> mg.ops.sum_repeats([1.0, 10.0, 100.0], shape=(2,), repeats=(1, 2)).tolist()
    [1.0, 110.0]
    See: mg.repeat, torch.segment_reduce."""
    return xp.sum_repeats(x, shape, repeats, axis)


@linear(x=lambda xp, upstream, x_shape, reps: xp.sum_tiles(upstream, x_shape, reps))
@explains("reps must be whole numbers that are not negative")
def _tile(xp, x, *, reps):
    """Repeat the whole array along each axis."""
    return xp.tile(x, reps)


@wraps_op(_tile)
def tile(x, reps):
    """Repeat the whole array along each axis.

    Shapes: x (n), reps=2 -> (2 n); x (2, 3), reps=(2, 2) -> (4, 6).
    Args:
        reps: how often to repeat along each axis, counted from the last; additional numbers create new leading axes.
    Raises: ValueError if a number is negative; TypeError if one is not an integer.
    >>> mg.tile([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    See: numpy.tile, torch.tile."""
    return _tile(x, reps=reps)


@linear(x=lambda xp, upstream, reps: xp.tile(upstream, reps), public=False)
def sum_tiles(xp, x, *, shape, reps):
    """Add up the copies that `tile` made of an array: its transpose.

    Shapes: x as returned by `tile` for an array of `shape` -> shape.
    Args:
        reps: as in `tile`.
    Raises: ValueError if x does not have the shape that `tile` returns.
    >>> mg.ops.sum_tiles([1.0, 2.0, 10.0, 20.0], shape=(2,), reps=2).tolist()
    [11.0, 22.0]
    See: mg.tile."""
    return xp.sum_tiles(x, shape, reps)


# Parts ----------------------


@linear(x=lambda xp, upstream, x_shape, index: xp.put_add(upstream, shape=x_shape, index=index), public=False)
@explains("{error}; x has shape {x}, and an axis of length n has indices from -n to n - 1")
def getitem(xp, x, *, index):
    """Index or slice: `x[index]`, with NumPy's indices.

    An entry that is selected twice receives both gradients; one that is not selected receives 0.
    Shapes: as in NumPy: x (3, 4), index (0, slice(2)) -> (2).
    Args:
        index: integers, slices, None, `...`, arrays of integers, boolean masks, or a tuple of them.
    Raises: IndexError if the index is out of range, has too many parts, or is not a valid index.
    >>> mg.tensor([1.0, 2.0, 3.0])[[0, 0, 2]].tolist()
    [1.0, 1.0, 3.0]
    See: the page "Indexing on ndarrays" of NumPy's user guide."""
    return x[index]


@linear(x=lambda upstream, index: upstream[index], public=False)
def put_add(xp, x, *, shape, index):
    """Add the entries of x into zeros at an index: the transpose of `getitem`.

    If the index names a position twice, both entries are added.
    Shapes: x as returned by `getitem` for an array of `shape` -> shape.
    Args:
        index: as in `getitem`.
    Raises: ValueError if x does not have the shape of the selection; IndexError if the index is out of range.
    >>> mg.ops.put_add([1.0, 2.0, 3.0], shape=(3,), index=[0, 0, 2]).tolist()
    [3.0, 0.0, 3.0]
    See: numpy.add.at, torch.Tensor.index_put_ with accumulate=True."""
    return xp.put_add(xp.shaped_like(x, xp.new_zeros(x, shape)[index]), shape=shape, index=index)


@variadic(parts=lambda xp, upstream, parts_shape, axis: xp.split(upstream, xp.cuts(parts_shape, axis), axis=axis))
@explains(
    "all parts must have the same shape except along `axis`, and there must be at least one, in a list: "
    "mg.concatenate([a, b], axis=0); mg.stack joins along a new axis"
)
def _concatenate(xp, parts, *, axis=0):
    """Concatenate arrays along an existing axis (torch's cat)."""
    return xp.concatenate(parts, axis=axis)


@wraps_op(_concatenate, namespace=True)
def concatenate(parts, axis=0):
    """Concatenate arrays along an existing axis (torch's cat).

    Shapes: parts (2, 3) and (4, 3), axis=0 -> (6, 3).
    Args:
        parts: a sequence of at least one array; all must have the same shape except along `axis`.
        axis: the axis along which to concatenate; default 0; None flattens the parts first.
    Returns: a tensor of the common dtype of the parts.
    Raises: ValueError if the parts differ in shape except along the axis, or there are none; IndexError if the axis is
        out of range.
    >>> mg.concatenate([mg.tensor([1.0, 2.0]), mg.tensor([3.0])])
    tensor([1., 2., 3.])
    See: numpy.concatenate, torch.cat."""
    return _concatenate([ravel(part) for part in parts], axis=0) if axis is None else _concatenate(parts, axis=axis)


cat = concat = concatenate


@variadic(parts=lambda xp, upstream, parts_shape, axis: xp.unstack(upstream, axis=axis))
@explains(
    "all parts must have the same shape, and there must be at least one; mg.concatenate joins along an existing axis",
    new_axes=True,
)
def stack(xp, parts, *, axis=0):
    """Stack arrays of equal shape along a new axis.

    Shapes: k parts (2, 3), axis=0 -> (k, 2, 3); axis=-1 -> (2, 3, k).
    Args:
        parts: a sequence of at least one array, all of the same shape.
        axis: the position of the new axis in the result; default 0.
    Raises: ValueError if the shapes differ, or there are no parts; IndexError if the axis is out of range.
    >>> mg.stack([[1.0, 2.0], [3.0, 4.0]], axis=-1).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.stack, torch.stack."""
    return xp.stack(parts, axis=axis)


_concatenate.op.combines_as = stack.op.combines_as = "join"


@op(outputs=("parts",))
def unstack(xp, x, *, axis=0):
    """Split into the slices along an axis, as a tuple.

    Shapes: x (k, n), axis=0 -> k slices (n).
    Args:
        x: numbers, with at least one axis.
        axis: the axis to split along; default 0.
    Returns: a tuple of tensors of the dtype of x, one for each slice.
    Raises: IndexError if the axis is out of range; TypeError if x is a single number.
    >>> [row.tolist() for row in mg.unstack([[1.0, 2.0], [3.0, 4.0]])]
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.unstack, torch.unbind."""
    return xp.unstack(x, axis=axis)


@unstack.rule("x")
def _(xp, upstream, axis):
    """The gradients of the slices, stacked again."""
    return xp.stack(upstream, axis=axis)


@op(outputs=("parts",))
def split(xp, x, *, indices_or_sections, axis=0):
    """Split into parts along an axis.

    Shapes: x (6, n), indices_or_sections=3 -> three parts (2, n); (1, 4) -> (1, n), (3, n) and (2, n).
    Args:
        indices_or_sections: the number of equal parts, or a sequence of indices at which to split.
    Returns: a tuple of tensors of the dtype of x.
    Raises: ValueError if the axis cannot be split into that many equal parts; IndexError if the axis is out of range.
    >>> [part.tolist() for part in mg.split([1.0, 2.0, 3.0], (1,))]
    [[1.0], [2.0, 3.0]]
    See: numpy.split."""
    return xp.split(x, indices_or_sections, axis=axis)


@split.rule("x")
def _(xp, upstream, axis):
    """The gradients of the parts, concatenated again."""
    return xp.concatenate(upstream, axis=axis)


@op
@explains(
    "{error}; pad_width must be a number that is not negative, a pair (before, after), or a pair for each of the "
    "{x_ndim} axes of x {x}"
)
def pad(xp, x, *, pad_width, mode="constant", constant_values=0.0):
    """Pad with constants, edge values, a reflection or the opposite side.

    With the entries 1 2 3 and a width of 2, the modes give:

        "constant":  0 0 [1 2 3] 0 0
        "edge":      1 1 [1 2 3] 3 3
        "reflect":   3 2 [1 2 3] 2 1
        "symmetric": 2 1 [1 2 3] 3 2
        "wrap":      2 3 [1 2 3] 1 2

    An entry that is copied into the border also receives the gradient of its copies.
    Shapes: x (h, w), pad_width=((a, b), (c, d)) -> (a + h + b, c + w + d).
    Args:
        pad_width: one width for every side, a pair (before, after) for every axis, or a pair for each axis.
        mode: "constant" (default), "edge", "reflect", "symmetric" or "wrap".
        constant_values: the value of a constant border; default 0. It is converted to the dtype of x.
    Raises: ValueError if a width is negative, or the number of pairs does not match; TypeError if a width is not an
        integer.
    >>> mg.pad([1.0, 2.0, 3.0], (1, 2), mode="reflect").tolist()
    [2.0, 1.0, 2.0, 3.0, 2.0, 1.0]
    See: numpy.pad, torch.nn.functional.pad."""
    return xp.pad(x, pad_width, mode, constant_values)


@pad.rule("x")
def _(xp, upstream, x_shape, pad_width, mode):
    """The gradient of the border is added to the entries that it copies; a constant border copies none."""
    return xp.unpad(upstream, x_shape, pad_width, mode)


@linear(x=lambda xp, upstream, pad_width, mode: xp.pad(upstream, pad_width, mode), public=False)
def unpad(xp, x, *, shape, pad_width, mode="constant"):
    """Fold a border back onto the entries that it copies: the transpose of `pad`.

    A constant border copies no entries and is dropped.
    Shapes: x as returned by `pad` for an array of `shape` -> shape.
    Args:
        pad_width: as in `pad`.
        mode: as in `pad`; default "constant".
    Raises: ValueError if mode is unknown; IndexError if x does not have the shape that `pad` returns.
    >>> mg.ops.unpad([1.0, 2.0, 3.0, 4.0], shape=(2,), pad_width=1, mode="edge").tolist()
    [3.0, 7.0]
    See: mg.pad."""
    return xp.unpad(x, shape, pad_width, mode)


@linear(x=lambda xp, upstream, axis: xp.flip(upstream, axis=axis))
def flip(xp, x, *, axis=None):
    """Reverse the order of the entries along an axis.

    Args:
        axis: axis or axes to reverse; None (default) for all.
    >>> mg.flip([[1.0, 2.0], [3.0, 4.0]], axis=1).tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    See: numpy.flip, torch.flip."""
    return xp.flip(x, axis=axis)


@linear(x=lambda xp, upstream, shift, axis: xp.roll(upstream, xp.opposite(shift), axis=axis))
def roll(xp, x, *, shift, axis=None):
    """Shift the entries circularly along an axis.

    out[i] = x[(i - shift) mod n].
    Args:
        shift: the number of positions, backwards if negative; or a tuple with one number for each axis.
        axis: axis or axes; None (default) rolls the flattened array.
    Raises: TypeError if a shift is not an integer; IndexError if the axis is out of range; ValueError if there are more
        shifts than axes.
    >>> mg.roll([1.0, 2.0, 3.0], 1).tolist()
    [3.0, 1.0, 2.0]
    See: numpy.roll, torch.roll."""
    return xp.roll(x, shift, axis=axis)


@linear(x=lambda xp, upstream, k: xp.tril(upstream, k))
@explains("x must have at least one axis, got shape {x}")
def tril(xp, x, *, k=0):
    """Return the lower triangle of each matrix, with zeros above its diagonal.

    out[i, j] = x[i, j] if j - i ≤ k, else 0.
    Shapes: x (..., m, n) -> the same; a vector (n) counts as n equal rows.
    Args:
        k: the last diagonal to keep: 0 (default) the main one, 1 the one above it, -1 the one below it.
    Raises: TypeError if x is a single number.
    >>> mg.tril([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    See: numpy.tril, torch.tril."""
    return xp.tril(x, k)


@linear(x=lambda xp, upstream, k: xp.triu(upstream, k))
@explains("x must have at least one axis, got shape {x}")
def triu(xp, x, *, k=0):
    """Return the upper triangle of each matrix, with zeros below its diagonal.

    out[i, j] = x[i, j] if j - i ≥ k, else 0.
    Shapes: x (..., m, n) -> the same; a vector (n) counts as n equal rows.
    Args:
        k: the first diagonal to keep: 0 (default) the main one, 1 the one above it, -1 the one below it.
    Raises: TypeError if x is a single number.
    >>> mg.triu([[1.0, 2.0], [3.0, 4.0]], k=1).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    See: numpy.triu, torch.triu."""
    return xp.triu(x, k)


@linear(x=lambda xp, upstream, x_shape, offset, axis1, axis2: xp.put_diagonal(upstream, x_shape, offset, axis1, axis2))
@explains("x {x} must have at least two axes, and axis1 and axis2 must differ")
def diagonal(xp, x, *, offset=0, axis1=0, axis2=1):
    """Return the diagonal of matrices as the last axis.

    out[..., i] = x[..., i, i + offset].
    Shapes: x (m, n, ...) -> (..., min(m, n)) for offset=0.
    Args:
        x: numbers, with at least two axes.
        offset: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
    Raises: ValueError if x has fewer than two axes, or both axes are the same; IndexError if an axis is out of range;
        TypeError if offset is not an integer.
    >>> mg.diagonal([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    See: numpy.diagonal, torch.diagonal."""
    return xp.diagonal(x, offset, axis1, axis2)


@linear(x=lambda xp, upstream, offset, axis1, axis2: xp.diagonal(upstream, offset, axis1, axis2), public=False)
def put_diagonal(xp, x, *, shape, offset=0, axis1=0, axis2=1):
    """Put x on the diagonal of zero matrices: the transpose of `diagonal`.

    Shapes: x as returned by `diagonal` for an array of `shape` -> shape.
    Args:
        x: the entries of the diagonal, along the last axis.
        offset: the diagonal, as in `diagonal`; default 0.
    Raises: ValueError if x does not have the shape of that diagonal; IndexError if the axis is out of range.
    >>> mg.ops.put_diagonal([1.0, 2.0], shape=(2, 2)).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    See: torch.diag_embed."""
    return xp.put_diagonal(x, shape, offset, axis1, axis2)


@linear(x=lambda xp, upstream, x_shape, k: xp.undiag(upstream, x_shape, k))
@explains("x must have one or two axes, got shape {x}")
def diag(xp, x, *, k=0):
    """Build a diagonal matrix from a vector, or return the diagonal of a matrix.

    Shapes: x (n) -> (n + |k|, n + |k|); x (m, n) -> (min(m, n)) for k=0.
    Args:
        x: a vector or a matrix.
        k: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
    Raises: ValueError if x does not have one or two axes; TypeError if k is not an integer.
    >>> mg.diag([1.0, 2.0]).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    >>> mg.diag([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    See: numpy.diag, torch.diag."""
    return xp.diag(x, k)


@linear(x=lambda xp, upstream, k: xp.diag(upstream, k), public=False)
def undiag(xp, x, *, shape, k=0):
    """Compute the transpose of `diag`.

    Shapes: x as returned by `diag` for an array of `shape` -> shape.
    Args:
        shape: the shape before `diag`.
        k: the diagonal, as in `diag`; default 0.
    Raises: ValueError if x does not have the shape that `diag` returns.
    >>> mg.ops.undiag([1.0, 2.0], shape=(2, 3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    See: mg.diag."""
    return xp.undiag(x, shape, k)


@linear(x=lambda xp, upstream: xp.positive(upstream))
def ascontiguousarray(xp, x):
    """Return the same entries in contiguous memory.

    Shapes: any -> the same; a single number () -> (1), as in NumPy.
    Returns: a tensor of the dtype of x, in row-major order.
    >>> mg.ascontiguousarray(np.ones((2, 3)).T).data.flags.c_contiguous
    True
    See: numpy.ascontiguousarray, torch.Tensor.contiguous."""
    return xp.ascontiguousarray(x)


@linear(x=lambda xp, upstream, device, source: xp.to_device(upstream, device=source, source=device))
def _to_device(xp, x, *, device, source):
    """Copy to another device; the gradient is copied back."""
    return xp.to_device(x, device=device, source=source)


@wraps_op(_to_device, namespace=True)
def to_device(x, device, source):
    """Copy to another device; the gradient is copied back.

    `x.to(device)` determines the source itself.
    Args:
        device: the target device, "cpu" or "cuda".
        source: the device of x.
    Returns: a tensor of the dtype of x on that device.
    Raises: ValueError if the device is unknown; RuntimeError for "cuda" if CuPy or a GPU is missing.
    >>> mg.to_device([1.0, 2.0], "cpu", "cpu").device
    'cpu'
    See: torch.Tensor.to."""
    return _to_device(x, device=device, source=source)


_to_device.op.can_compile = False  # what is written out stays where it is
