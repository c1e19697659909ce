"""Operations that move entries about without changing them. Going back, each entry moves back to where it was."""

from ..core.define import linear, op, variadic, wraps_op

# Axes -----------------------


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def reshape(xp, x, *, shape):
    """The same entries in the same order, in another shape.

    Entries are read row by row, the last axis fastest.
    Shapes: any -> shape, with as many entries.
    Args:
        shape: the length of each axis; one may be -1, and is then what the others leave.
    Raises: ValueError if the lengths do not multiply to the number of entries; TypeError for a length that is not an
        integer.
    >>> mg.reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, -1)).tolist()
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    See: numpy.reshape."""
    return xp.reshape(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def ravel(xp, x):
    """All entries in one row (flattening).

    Shapes: any -> (n), n being the number of entries.
    Returns: a tensor of one axis and of x's dtype.
    Raises: TypeError if x is not numeric; ValueError for a nested list with rows of unequal length.
    >>> mg.ravel([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 2.0, 3.0, 4.0]
    See: numpy.ravel, mg.flatten."""
    return xp.reshape(x, (-1,))


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def squeeze(xp, x, *, axis=None):
    """Axes of length 1 left out.

    Shapes: x (2, 1, 3) -> (2, 3).
    Args:
        axis: the axis or axes to leave out; None (default) for every axis of length 1.
    Returns: a tensor of the same entries and dtype.
    Raises: ValueError for an axis that is longer than 1; IndexError if it is out of range.
    >>> mg.squeeze([[[1.0], [2.0]]]).tolist()
    [1.0, 2.0]
    See: numpy.squeeze."""
    return xp.squeeze(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def squeeze_axes(xp, x, *, axis=None):
    """The axes that a reduction kept with length 1, left out.

    Unlike `squeeze`, None stands for all axes, not for those that happen to have length 1.
    Shapes: x (2, 1, 3), axis=1 -> (2, 3).
    Args:
        axis: the reduced axis or axes, each of length 1; None (default) for all.
    Returns: a tensor of the same entries and dtype.
    Raises: ValueError for an axis that is longer than 1; IndexError if it is out of range.
    >>> mg.ops.squeeze_axes([[1.0], [2.0]], axis=1).tolist()
    [1.0, 2.0]
    See: numpy.squeeze, mg.ops.expand_axes."""
    return xp.squeeze_axes(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def expand_dims(xp, x, *, axis):
    """New axes of length 1 (torch's unsqueeze).

    Shapes: x (2, 3), axis=1 -> (2, 1, 3).
    Args:
        axis: the place or places that the new axes have in the result; negative ones count from its end.
    Returns: a tensor of the same entries and dtype.
    Raises: IndexError for a place that the result has not; ValueError if it is repeated.
    >>> mg.expand_dims([1.0, 2.0], axis=1).tolist()
    [[1.0], [2.0]]
    See: numpy.expand_dims, torch.unsqueeze."""
    return xp.expand_dims(x, axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def expand_axes(xp, x, *, shape, axis=None):
    """The axes that a reduction took away, put back with length 1.

    Shapes: x (2, 3), shape=(2, 5, 3), axis=1 -> (2, 1, 3).
    Args:
        x: the result of a reduction.
        shape: the shape of the array that was reduced.
        axis: the axis or axes that it was reduced along; None (default) for all.
    Returns: a tensor of the same entries and dtype.
    Raises: ValueError if x does not have the lengths that `shape` leaves; IndexError if the axis is out of range.
    >>> mg.ops.expand_axes([6.0, 15.0], shape=(2, 3), axis=1).tolist()
    [[6.0], [15.0]]
    See: numpy.expand_dims, mg.ops.squeeze_axes."""
    return xp.expand_axes(x, shape=shape, axis=axis)


@linear(x=lambda xp, upstream, axes: xp.transpose(upstream, xp.inverse_order(axes)))
def transpose(xp, x, *, axes=None):
    """The axes in another order: of a matrix, rows and columns exchanged.

    out[i_axes[0], i_axes[1], …] = x[i_0, i_1, …]. Going back takes the inverse order.
    Shapes: x (2, 3, 4), axes=(2, 0, 1) -> (4, 2, 3).
    Args:
        axes: every axis of x once, in their new order; None (default) reverses them.
    Raises: ValueError if `axes` does not name each axis once; IndexError if it is out of range.
    >>> mg.transpose([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    See: numpy.transpose, torch.permute."""
    return xp.transpose(x, axes)


@linear(x=lambda xp, upstream: xp.mT(upstream))
def mT(xp, x):
    """The transpose of each matrix: the last two axes exchanged.

    Shapes: x (..., m, n) -> (..., n, m).
    Args:
        x: numbers, with two axes or more.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.mT([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.matrix_transpose, torch.Tensor.mT."""
    return xp.mT(x)


@linear(x=lambda xp, upstream: xp.mH(upstream))
def mH(xp, x):
    """The adjoint of each matrix (conjugate transpose): of real matrices the transpose.

    xᴴ[i, j] = conj(x[j, i]).
    Shapes: x (..., m, n) -> (..., n, m).
    Args:
        x: real or complex numbers, with two axes or more.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.mH([[1 + 2j, 3 + 0j]]).tolist()
    [[(1-2j)], [(3-0j)]]
    See: torch.Tensor.mH."""
    return xp.mH(x)


@linear(x=lambda xp, upstream, axis1, axis2: xp.swapaxes(upstream, axis1, axis2))
def swapaxes(xp, x, *, axis1, axis2):
    """Two axes exchanged.

    Shapes: x (2, 3, 4), axis1=0, axis2=2 -> (4, 3, 2).
    Args:
        axis1, axis2: the two axes.
    Raises: IndexError if the axis is out of range.
    >>> mg.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    See: numpy.swapaxes, torch.transpose."""
    return xp.swapaxes(x, axis1, axis2)


@linear(x=lambda xp, upstream, source, destination: xp.moveaxis(upstream, destination, source))
def moveaxis(xp, x, *, source, destination):
    """Axes moved to other places; the others keep their order.

    Shapes: x (2, 3, 4), source=0, destination=-1 -> (3, 4, 2).
    Args:
        source: the axis or axes to move.
        destination: the place of each in the result.
    Raises: ValueError if the two do not name equally many axes, each once; IndexError if the axis is out of range.
    >>> mg.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    See: numpy.moveaxis."""
    return xp.moveaxis(x, source, destination)


@linear(x=lambda xp, upstream, x_shape, axis: xp.axes_from_last(upstream, shape=x_shape, axis=axis), public=False)
def axes_to_last(xp, x, *, axis=None):
    """Several axes joined in one, at the end: what `quantile` and `product_of_others` run along.

    Shapes: x (2, 3, 4), axis=(0, 2) -> (3, 8).
    Args:
        axis: the axis or axes to join, taken in the order they have in x; None (default) for all.
    >>> mg.ops.axes_to_last([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.moveaxis, mg.ops.axes_from_last."""
    return xp.axes_to_last(x, axis=axis)


@linear(x=lambda xp, upstream, axis: xp.axes_to_last(upstream, axis=axis), public=False)
def axes_from_last(xp, x, *, shape, axis=None):
    """The last axis taken apart again into the axes that `axes_to_last` joined.

    Shapes: x (3, 8), shape=(2, 3, 4), axis=(0, 2) -> (2, 3, 4).
    Args:
        axis: the axes of the result that x's last one holds; None (default) for all.
    Raises: ValueError if x does not have the lengths for it; IndexError if the axis is out of range.
    >>> mg.ops.axes_from_last([[1.0, 3.0], [2.0, 4.0]], shape=(2, 2), axis=0).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    See: mg.ops.axes_to_last."""
    return xp.axes_from_last(x, shape=shape, axis=axis)


# Repetition -----------------


@linear(x=lambda xp, upstream, x_shape: xp.sum_to_shape(upstream, x_shape))
def broadcast_to(xp, x, *, shape):
    """Broadcasting: repeated along new axes in front and along axes of length 1.

    Every copy moves the one original, so its gradient is the sum of theirs (`sum_to_shape`).
    Shapes: x (3) or (1, 3), shape=(2, 3) -> (2, 3).
    Args:
        shape: the shape of the result; counted from the end, its lengths are x's wherever those are not 1.
    Raises: ValueError if broadcasting cannot make that shape of x; TypeError for a length that is not an integer.
    >>> mg.broadcast_to([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    See: numpy.broadcast_to, torch.broadcast_to."""
    return xp.broadcast_to(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape), public=False)
def sum_to_shape(xp, x, *, shape):
    """Added up over everything that broadcasting had repeated: the transpose of `broadcast_to`.

    Shapes: x (2, 3), shape=(3,) -> (3); shape=(2, 1) -> (2, 1).
    Args:
        shape: the shape from before broadcasting.
    Raises: ValueError if x does not have a shape that broadcasting makes of `shape`.
    >>> mg.ops.sum_to_shape([[1.0, 2.0], [3.0, 4.0]], (2,)).tolist()
    [4.0, 6.0]
    See: torch.Tensor.sum_to_size."""
    return xp.sum_to_shape(x, shape)


@linear(x=lambda xp, upstream, x_shape, repeats, axis: xp.sum_repeats(upstream, x_shape, repeats, axis))
def _repeat(xp, x, *, repeats, axis=None):
    """Each entry several times in a row."""
    return xp.repeat(x, repeats, axis)


@wraps_op(_repeat, namespace=True)
def repeat(x, repeats, axis=None):
    """Each entry several times in a row.

    Shapes: x (n), repeats=2 -> (2 n); x (2, 3), repeats=(1, 4), axis=0 -> (5, 3).
    Args:
        repeats: how often each is repeated, or a sequence: how often at each place along the axis. 0 leaves it out.
        axis: the axis along which slices are repeated; None (default) takes all entries in one row.
    Raises: ValueError for a negative number, or a sequence that is not as long as the axis; TypeError for a number that
        is not an integer; IndexError if the axis is out of range.
    >>> mg.repeat([1.0, 2.0, 3.0], [1, 0, 2]).tolist()
    [1.0, 3.0, 3.0]
    See: numpy.repeat, torch.repeat_interleave."""
    return _repeat(x, repeats=tuple(repeats) if hasattr(repeats, "__iter__") else repeats, axis=axis)


@linear(x=lambda xp, upstream, repeats, axis: xp.repeat(upstream, repeats, axis), public=False)
def sum_repeats(xp, x, *, shape, repeats, axis=None):
    """The copies that `repeat` made of each entry, added up: its transpose.

    Shapes: x of the shape that `repeat` makes of `shape` -> shape.
    Args:
        shape: the shape from before `repeat`.
        repeats: as given to `repeat`: a number, or a tuple of one for each place along the axis.
        axis: as given to `repeat`; None by default.
    Raises: ValueError if x does not have the shape that `repeat` makes; IndexError if the axis is out of range.
    >>> mg.ops.sum_repeats([1.0, 10.0, 100.0], shape=(2,), repeats=(1, 2)).tolist()
    [1.0, 110.0]
    See: mg.repeat, torch.segment_reduce."""
    return xp.sum_repeats(x, shape, repeats, axis)


@linear(x=lambda xp, upstream, x_shape, reps: xp.sum_tiles(upstream, x_shape, reps))
def tile(xp, x, *, reps):
    """The whole array several times along each axis.

    Shapes: x (n), reps=2 -> (2 n); x (2, 3), reps=(2, 2) -> (4, 6).
    Args:
        reps: how often along each axis, counted from the last; more numbers than x has axes give new ones in front.
    Raises: ValueError for a negative number; TypeError for one that is not an integer.
    >>> mg.tile([1.0, 2.0], (2, 2)).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    See: numpy.tile, torch.tile."""
    return xp.tile(x, reps)


@linear(x=lambda xp, upstream, reps: xp.tile(upstream, reps), public=False)
def sum_tiles(xp, x, *, shape, reps):
    """The tiles that `tile` made of an array, added up: its transpose.

    Shapes: x of the shape that `tile` makes of `shape` -> shape.
    Args:
        shape: the shape from before `tile`.
        reps: as given to `tile`.
    Raises: ValueError if x does not have the shape that `tile` makes.
    >>> mg.ops.sum_tiles([1.0, 2.0, 10.0, 20.0], shape=(2,), reps=2).tolist()
    [11.0, 22.0]
    See: mg.tile."""
    return xp.sum_tiles(x, shape, reps)


# Parts ----------------------


@linear(x=lambda xp, upstream, x_shape, index: xp.put_add(upstream, shape=x_shape, index=index), public=False)
def getitem(xp, x, *, index):
    """Indexing and slicing: `x[index]`, with NumPy's indices.

    An entry that is picked twice receives both gradients, one that is not picked receives 0.
    Shapes: as in NumPy: x (3, 4), index (0, slice(2)) -> (2).
    Args:
        index: integers, slices, None, `...`, arrays of integers, masks of True and False, or a tuple of them.
    Raises: IndexError for a place that x has not, for more indices than axes, or for what is no index.
    >>> mg.tensor([1.0, 2.0, 3.0])[[0, 0, 2]].tolist()
    [1.0, 1.0, 3.0]
    See: the page "Indexing on ndarrays" of NumPy's user guide."""
    return x[index]


@linear(x=lambda upstream, index: upstream[index], public=False)
def put_add(xp, x, *, shape, index):
    """Zeros with the entries of x added at an index: the transpose of `getitem`.

    Places that the index names twice receive both.
    Shapes: x has that of what `index` picks of an array of `shape`.
    Args:
        index: as of `getitem`.
    Raises: ValueError if x does not have the shape of what is picked; IndexError for a place that `shape` has not.
    >>> mg.ops.put_add([1.0, 2.0, 3.0], shape=(3,), index=[0, 0, 2]).tolist()
    [3.0, 0.0, 3.0]
    See: numpy.add.at, torch.Tensor.index_put_ with accumulate=True."""
    return xp.put_add(xp.shaped_like(x, xp.new_zeros(x, shape)[index]), shape=shape, index=index)


@variadic(parts=lambda xp, upstream, parts_shape, axis: xp.split(upstream, xp.cuts(parts_shape, axis), axis=axis))
def _concatenate(xp, parts, *, axis=0):
    """Concatenation: arrays one behind the other along an axis they have (torch's cat)."""
    return xp.concatenate(parts, axis=axis)


@wraps_op(_concatenate, namespace=True)
def concatenate(parts, axis=0):
    """Concatenation: arrays one behind the other along an axis they have (torch's cat).

    Shapes: parts (2, 3) and (4, 3), axis=0 -> (6, 3).
    Args:
        parts: a sequence of one array or more, equally long but along `axis`.
        axis: the axis that joins them, 0 by default; None joins all their entries in one row.
    Returns: a tensor of the common dtype (NumPy's promotion).
    Raises: ValueError if the other lengths differ, or there is no part; IndexError if the axis is out of range.
    >>> mg.concatenate([mg.tensor([1.0, 2.0]), mg.tensor([3.0])])
    tensor([1., 2., 3.])
    See: numpy.concatenate, torch.cat."""
    return _concatenate([ravel(part) for part in parts], axis=0) if axis is None else _concatenate(parts, axis=axis)


@variadic(parts=lambda xp, upstream, parts_shape, axis: xp.unstack(upstream, axis=axis))
def stack(xp, parts, *, axis=0):
    """Arrays of one shape side by side along a new axis.

    Shapes: k parts (2, 3), axis=0 -> (k, 2, 3); axis=-1 -> (2, 3, k).
    Args:
        parts: a sequence of one array or more, all of one shape.
        axis: the place of the new axis in the result, 0 by default.
    Returns: a tensor of the common dtype.
    Raises: ValueError if shapes differ, or there is no part; IndexError for a place that the result has not.
    >>> mg.stack([[1.0, 2.0], [3.0, 4.0]], axis=-1).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.stack, torch.stack."""
    return xp.stack(parts, axis=axis)


@op(outputs=("parts",))
def unstack(xp, x, *, axis=0):
    """The slices along an axis, as a tuple: what `for row in x` goes through.

    Shapes: x (k, n), axis=0 -> k slices (n).
    Args:
        x: numbers, with one axis or more.
        axis: the axis that is left out, 0 by default.
    Returns: a tuple of as many tensors as the axis is long, of x's dtype.
    Raises: IndexError if the axis is out of range; TypeError for a single number, which has none.
    >>> [row.tolist() for row in mg.unstack([[1.0, 2.0], [3.0, 4.0]])]
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.unstack, torch.unbind."""
    return xp.unstack(x, axis=axis)


@unstack.rule("x")
def _(xp, upstream, axis):
    """The gradients of the slices, side by side again."""
    return xp.stack(upstream, axis=axis)


@op(outputs=("parts",))
def split(xp, x, *, indices_or_sections, axis=0):
    """Cut into parts along an axis.

    Shapes: x (6, n), indices_or_sections=3 -> three parts (2, n); (1, 4) -> (1, n), (3, n) and (2, n).
    Args:
        indices_or_sections: into the number of equal parts; or a sequence of the places to cut at.
    Returns: a tuple of tensors of x's dtype.
    Raises: ValueError if the axis does not divide into so many equal parts; IndexError if the axis is out of range.
    >>> [part.tolist() for part in mg.split([1.0, 2.0, 3.0], (1,))]
    [[1.0], [2.0, 3.0]]
    See: numpy.split."""
    return xp.split(x, indices_or_sections, axis=axis)


@split.rule("x")
def _(xp, upstream, axis):
    """The gradients of the parts, one behind the other again."""
    return xp.concatenate(upstream, axis=axis)


@op
def pad(xp, x, *, pad_width, mode="constant", constant_values=0.0):
    """Padding: a border of constants, outermost entries, a mirror image or the other side.

    With the entries 1 2 3 and a width of 2 each `mode` gives
        "constant":  0 0 [1 2 3] 0 0
        "edge":      1 1 [1 2 3] 3 3
        "reflect":   3 2 [1 2 3] 2 1
        "symmetric": 2 1 [1 2 3] 3 2
        "wrap":      2 3 [1 2 3] 1 2
    An entry that stands in the border too receives from there too.
    Shapes: x (h, w), pad_width=((a, b), (c, d)) -> (a + h + b, c + w + d).
    Args:
        pad_width: one width for every side, a pair (before, after) for every axis, or a pair for each axis.
        mode: "constant" (default), "edge", "reflect", "symmetric" or "wrap".
        constant_values: what a constant border consists of, 0 by default; it is brought to x's dtype.
    Returns: a tensor of the dtype of x.
    Raises: ValueError for a negative width, or pairs for more or fewer axes than x has; TypeError for a width that is
        not an integer.
    >>> mg.pad([1.0, 2.0, 3.0], (1, 2), mode="reflect").tolist()
    [2.0, 1.0, 2.0, 3.0, 2.0, 1.0]
    See: numpy.pad, torch.nn.functional.pad."""
    return xp.pad(x, pad_width, mode, constant_values)


@pad.rule("x")
def _(xp, upstream, x_shape, pad_width, mode):
    """What the border received is folded back onto the entries it was made of; a constant border is cut off."""
    return xp.unpad(upstream, x_shape, pad_width, mode)


@linear(x=lambda xp, upstream, pad_width, mode: xp.pad(upstream, pad_width, mode), public=False)
def unpad(xp, x, *, shape, pad_width, mode="constant"):
    """A border folded back onto the entries that it was made of: the transpose of `pad`.

    A constant border was made of none, and is cut off.
    Shapes: x of the shape that `pad` makes of `shape` -> shape.
    Args:
        shape: the shape from before `pad`.
        pad_width: as given to `pad`.
        mode: as given to `pad`; "constant" by default.
    Raises: ValueError for another mode; IndexError if x does not have the shape that `pad` makes.
    >>> mg.ops.unpad([1.0, 2.0, 3.0, 4.0], shape=(2,), pad_width=1, mode="edge").tolist()
    [3.0, 7.0]
    See: mg.pad."""
    return xp.unpad(x, shape, pad_width, mode)


@linear(x=lambda xp, upstream, axis: xp.flip(upstream, axis=axis))
def flip(xp, x, *, axis=None):
    """The entries in reverse order along an axis.

    Args:
        axis: the axis or axes to reverse; None (default) for all.
    >>> mg.flip([[1.0, 2.0], [3.0, 4.0]], axis=1).tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    See: numpy.flip, torch.flip."""
    return xp.flip(x, axis=axis)


@linear(x=lambda xp, upstream, shift, axis: xp.roll(upstream, xp.opposite(shift), axis=axis))
def roll(xp, x, *, shift, axis=None):
    """A circular shift: the entries moved along; what falls off the end comes in at the start.

    out[i] = x[(i - shift) mod n].
    Args:
        shift: by the number of places, backwards if negative; a tuple of one for each axis.
        axis: the axis or axes; None (default) rolls all entries as one row.
    Raises: TypeError for a shift that is not an integer; IndexError if the axis is out of range; ValueError if there
        are more shifts than axes.
    >>> mg.roll([1.0, 2.0, 3.0], 1).tolist()
    [3.0, 1.0, 2.0]
    See: numpy.roll, torch.roll."""
    return xp.roll(x, shift, axis=axis)


@linear(x=lambda xp, upstream, k: xp.tril(upstream, k))
def tril(xp, x, *, k=0):
    """The lower triangle of each matrix, zeros above its diagonal.

    out[i, j] = x[i, j] if j - i ≤ k, else 0.
    Shapes: x (..., m, n) -> the same; a row (n) counts as n equal rows.
    Args:
        k: the last diagonal that is kept: 0 (default) the main one, 1 that above it, -1 that below it.
    Raises: TypeError if x is a single number.
    >>> mg.tril([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    See: numpy.tril, torch.tril."""
    return xp.tril(x, k)


@linear(x=lambda xp, upstream, k: xp.triu(upstream, k))
def triu(xp, x, *, k=0):
    """The upper triangle of each matrix, zeros below its diagonal.

    out[i, j] = x[i, j] if j - i ≥ k, else 0.
    Shapes: x (..., m, n) -> the same; a row (n) counts as n equal rows.
    Args:
        k: the first diagonal that is kept: 0 (default) the main one, 1 that above it, -1 that below it.
    Raises: TypeError if x is a single number.
    >>> mg.triu([[1.0, 2.0], [3.0, 4.0]], k=1).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    See: numpy.triu, torch.triu."""
    return xp.triu(x, k)


@linear(x=lambda xp, upstream, x_shape, offset, axis1, axis2: xp.put_diagonal(upstream, x_shape, offset, axis1, axis2))
def diagonal(xp, x, *, offset=0, axis1=0, axis2=1):
    """The diagonal of the matrices on two axes, as the last axis.

    out[..., i] = x[..., i, i + offset].
    Shapes: x (m, n, ...) -> (..., min(m, n)) for offset=0.
    Args:
        x: numbers, with two axes or more.
        offset: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
        axis1, axis2: the axes of rows and of columns, 0 and 1 by default.
    Raises: ValueError if x has no two axes, or both are the same; IndexError if the axis is out of range; TypeError for
        an offset that is not an integer.
    >>> mg.diagonal([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    See: numpy.diagonal, torch.diagonal."""
    return xp.diagonal(x, offset, axis1, axis2)


@linear(x=lambda xp, upstream, offset, axis1, axis2: xp.diagonal(upstream, offset, axis1, axis2), public=False)
def put_diagonal(xp, x, *, shape, offset=0, axis1=0, axis2=1):
    """Zeros with x on the diagonal of two axes: the transpose of `diagonal`.

    Shapes: x of the shape that `diagonal` makes of `shape` -> shape.
    Args:
        x: the entries of the diagonal, along the last axis.
        offset: which diagonal, as of `diagonal`; 0 by default.
        axis1, axis2: the axes of rows and of columns in the result, 0 and 1 by default.
    Raises: ValueError if x does not have the shape of that diagonal; IndexError if the axis is out of range.
    >>> mg.ops.put_diagonal([1.0, 2.0], shape=(2, 2)).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    See: torch.diag_embed."""
    return xp.put_diagonal(x, shape, offset, axis1, axis2)


@linear(x=lambda xp, upstream, x_shape, k: xp.undiag(upstream, x_shape, k))
def diag(xp, x, *, k=0):
    """A diagonal matrix of a row; of a matrix, its diagonal.

    Shapes: x (n) -> (n + |k|, n + |k|); x (m, n) -> (min(m, n)) for k=0.
    Args:
        x: a row or a matrix.
        k: which diagonal: 0 (default) the main one, above it if positive, below it if negative.
    Raises: ValueError if x is no row and no matrix; TypeError if k is not an integer.
    >>> mg.diag([1.0, 2.0]).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    >>> mg.diag([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    See: numpy.diag, torch.diag."""
    return xp.diag(x, k)


@linear(x=lambda xp, upstream, k: xp.diag(upstream, k), public=False)
def undiag(xp, x, *, shape, k=0):
    """The transpose of `diag`: a diagonal put back into zeros, or read off.

    Shapes: x of the shape that `diag` makes of `shape` -> shape.
    Args:
        shape: the shape from before `diag`: of a row or of a matrix.
        k: which diagonal, as given to `diag`; 0 by default.
    Raises: ValueError if x does not have the shape that `diag` makes.
    >>> mg.ops.undiag([1.0, 2.0], shape=(2, 3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    See: mg.diag."""
    return xp.undiag(x, shape, k)


@linear(x=lambda xp, upstream: xp.positive(upstream))
def ascontiguousarray(xp, x):
    """The same entries, next to each other in memory.

    Shapes: any -> the same; a single number () -> (1), as in NumPy.
    Returns: a tensor of the dtype of x, laid out row by row.
    >>> mg.ascontiguousarray(np.ones((2, 3)).T).data.flags.c_contiguous
    True
    See: numpy.ascontiguousarray, torch.Tensor.contiguous."""
    return xp.ascontiguousarray(x)


@linear(x=lambda xp, upstream, device, source: xp.to_device(upstream, device=source, source=device))
def _to_device(xp, x, *, device, source):
    """The same entries on another device; the gradient travels back."""
    return xp.to_device(x, device=device, source=source)


@wraps_op(_to_device, namespace=True)
def to_device(x, device, source):
    """The same entries on another device; the gradient travels back.

    `x.to(device)` knows the source by itself.
    Args:
        device: where to: "cpu" or "cuda".
        source: where x is.
    Returns: a tensor of the dtype of x on that device.
    Raises: ValueError for the name of no device; RuntimeError for "cuda" where CuPy or a GPU is missing.
    >>> mg.to_device([1.0, 2.0], "cpu", "cpu").device
    'cpu'
    See: torch.Tensor.to."""
    return _to_device(x, device=device, source=source)


_to_device.op.can_compile = False  # what is written out stays where it is
