"""Operations that move entries about without changing them. Going back, each entry moves back to where it was."""

from ..op import face, joining, linear, op

# Axes -----------------------


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def reshape(xp, x, *, shape):
    """The same entries in the same order, in another shape; one length may be -1."""
    return xp.reshape(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def ravel(xp, x):
    """All entries in one row."""
    return xp.reshape(x, (-1,))


flatten = ravel


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def squeeze(xp, x, *, axis=None):
    """Axes of length 1 left out: those named, or all."""
    return xp.squeeze(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def squeeze_axes(xp, x, *, axis=None):
    """The axes that a reduction kept with length 1, left out: those named; with None all of them."""
    return xp.squeeze_axes(x, axis=axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def expand_dims(xp, x, *, axis):
    """New axes of length 1, at the places they have in the result."""
    return xp.expand_dims(x, axis)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def expand_axes(xp, x, *, shape, axis=None):
    """The axes that a reduction of an array of `shape` took away, put back with length 1."""
    return xp.expand_axes(x, shape=shape, axis=axis)


@linear(x=lambda xp, upstream, axes: xp.transpose(upstream, xp.inverse_order(axes)))
def transpose(xp, x, *, axes=None):
    """The axes in another order, reversed if none is given. Going back takes the inverse order."""
    return xp.transpose(x, axes)


@linear(x=lambda xp, upstream: xp.mT(upstream))
def mT(xp, x):
    """The last two axes exchanged: the transpose of each matrix."""
    return xp.mT(x)


@linear(x=lambda xp, upstream: xp.mH(upstream))
def mH(xp, x):
    """The adjoint of each matrix: its transpose, conjugated. Of real matrices it is the transpose."""
    return xp.mH(x)


@linear(x=lambda xp, upstream, axis1, axis2: xp.swapaxes(upstream, axis1, axis2))
def swapaxes(xp, x, *, axis1, axis2):
    """Two axes exchanged."""
    return xp.swapaxes(x, axis1, axis2)


@linear(x=lambda xp, upstream, source, destination: xp.moveaxis(upstream, destination, source))
def moveaxis(xp, x, *, source, destination):
    """Axes moved to other places; the others keep their order."""
    return xp.moveaxis(x, source, destination)


@linear(x=lambda xp, upstream, x_shape, axis: xp.axes_from_last(upstream, shape=x_shape, axis=axis))
def axes_to_last(xp, x, *, axis=None):
    """The named axes (all with None) joined in one, at the end."""
    return xp.axes_to_last(x, axis=axis)


@linear(x=lambda xp, upstream, axis: xp.axes_to_last(upstream, axis=axis))
def axes_from_last(xp, x, *, shape, axis=None):
    """The last axis taken apart again into the named axes of `shape`."""
    return xp.axes_from_last(x, shape=shape, axis=axis)


# Repetition -----------------


@linear(x=lambda xp, upstream, x_shape: xp.unbroadcast(upstream, x_shape))
def broadcast_to(xp, x, *, shape):
    """Repeated along new axes and axes of length 1, to a given shape. Every copy moves the one original."""
    return xp.broadcast_to(x, shape)


@linear(x=lambda xp, upstream, x_shape: xp.broadcast_to(upstream, x_shape))
def unbroadcast(xp, x, *, shape):
    """Added up over everything that broadcasting had repeated, to the shape from before."""
    return xp.unbroadcast(x, shape)


@linear(x=lambda xp, upstream, x_shape, repeats, axis: xp.sum_repeats(upstream, x_shape, repeats, axis))
def _repeat(xp, x, *, repeats, axis=None):
    """Each entry several times in a row."""
    return xp.repeat(x, repeats, axis)


@face(_repeat, word=True)
def repeat(x, repeats, axis=None):
    """Each entry several times in a row: all equally often, or each as often as its place in `repeats` says."""
    return _repeat(x, repeats=tuple(repeats) if hasattr(repeats, "__iter__") else repeats, axis=axis)


@linear(x=lambda xp, upstream, repeats, axis: xp.repeat(upstream, repeats, axis))
def sum_repeats(xp, x, *, shape, repeats, axis=None):
    """The copies that `repeat` made of each entry of an array of `shape`, added up."""
    return xp.sum_repeats(x, shape, repeats, axis)


@linear(x=lambda xp, upstream, x_shape, reps: xp.sum_tiles(upstream, x_shape, reps))
def tile(xp, x, *, reps):
    """The whole array several times along each axis."""
    return xp.tile(x, reps)


@linear(x=lambda xp, upstream, reps: xp.tile(upstream, reps))
def sum_tiles(xp, x, *, shape, reps):
    """The tiles that `tile` made of an array of `shape`, added up."""
    return xp.sum_tiles(x, shape, reps)


# Parts ----------------------


@linear(x=lambda xp, upstream, x_shape, index: xp.put_add(upstream, shape=x_shape, index=index))
def getitem(xp, x, *, index):
    """`x[index]`, with NumPy's indices. An entry that is picked twice receives both gradients, one not picked none."""
    return x[index]


@linear(x=lambda upstream, index: upstream[index])
def put_add(xp, x, *, shape, index):
    """Zeros of `shape` with `x` added at `index`: the reverse of `getitem`.

    Shapes: x has that of what `index` picks of an array of `shape`.
    """
    return xp.put_add(xp.shaped_like(x, xp.zeros_beside(x, shape)[index]), shape=shape, index=index)


@joining(parts=lambda xp, upstream, parts_shape, axis: xp.split(upstream, xp.cuts(parts_shape, axis), axis=axis))
def _concatenate(xp, parts, *, axis=0):
    """Arrays one behind the other along an axis. Each receives the piece that it gave."""
    return xp.concatenate(parts, axis=axis)


@face(_concatenate, word=True)
def concatenate(parts, axis=0):
    """Arrays one behind the other along an axis; with `axis=None`, all their entries in one row.

    >>> import micrograd_plus as mg
    >>> mg.concatenate([mg.tensor([1.0, 2.0]), mg.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    return _concatenate([ravel(part) for part in parts], axis=0) if axis is None else _concatenate(parts, axis=axis)


@joining(parts=lambda xp, upstream, parts_shape, axis: xp.unstack(upstream, axis=axis))
def stack(xp, parts, *, axis=0):
    """Arrays of equal shape side by side along a new axis."""
    return xp.stack(parts, axis=axis)


@op(outputs=("parts",))
def unstack(xp, x, *, axis=0):
    """The slices along an axis, as a tuple: what `for row in x` goes through."""
    return xp.unstack(x, axis=axis)


@unstack.rule("x")
def _(xp, upstream, axis):
    """The gradients of the slices, side by side again."""
    return xp.stack(upstream, axis=axis)


@op(outputs=("parts",))
def split(xp, x, *, indices_or_sections, axis=0):
    """Cut along an axis: into so many equal parts, or at the places given in a tuple."""
    return xp.split(x, indices_or_sections, axis=axis)


@split.rule("x")
def _(xp, upstream, axis):
    """The gradients of the parts, one behind the other again."""
    return xp.concatenate(upstream, axis=axis)


@op
def pad(xp, x, *, pad_width, mode="constant", constant_values=0.0):
    """A border: of `constant_values` ("constant"), of the outermost entries ("edge"), or of the array's own entries in
    a mirror ("reflect") or from the other side ("wrap"). Entries that stand in the border too receive from there too.

    `pad_width` is one width for every side, a pair (before, after) for every axis, or a pair for each.
    """
    return xp.pad(x, pad_width, mode, constant_values)


@pad.rule("x")
def _(xp, upstream, x_shape, pad_width, mode):
    """What the border received is folded back onto the entries it was made of; a constant border is cut off."""
    return xp.unpad(upstream, x_shape, pad_width, mode)


@linear(x=lambda xp, upstream, pad_width, mode: xp.pad(upstream, pad_width, mode))
def unpad(xp, x, *, shape, pad_width, mode="constant"):
    """The border folded back onto the entries of an array of `shape` that it was made of."""
    return xp.unpad(x, shape, pad_width, mode)


@linear(x=lambda xp, upstream, axis: xp.flip(upstream, axis=axis))
def flip(xp, x, *, axis=None):
    """The entries in reverse order along the axes named, or all."""
    return xp.flip(x, axis=axis)


@linear(x=lambda xp, upstream, shift, axis: xp.roll(upstream, xp.opposite(shift), axis=axis))
def roll(xp, x, *, shift, axis=None):
    """The entries moved along; what falls off the end comes in at the start."""
    return xp.roll(x, shift, axis=axis)


@linear(x=lambda xp, upstream, k: xp.tril(upstream, k))
def tril(xp, x, *, k=0):
    """The lower triangle of each matrix, zeros above the k-th diagonal."""
    return xp.tril(x, k)


@linear(x=lambda xp, upstream, k: xp.triu(upstream, k))
def triu(xp, x, *, k=0):
    """The upper triangle of each matrix, zeros below the k-th diagonal."""
    return xp.triu(x, k)


@linear(x=lambda xp, upstream, x_shape, offset, axis1, axis2: xp.put_diagonal(upstream, x_shape, offset, axis1, axis2))
def diagonal(xp, x, *, offset=0, axis1=0, axis2=1):
    """The diagonal of the matrices on two axes, as the last axis."""
    return xp.diagonal(x, offset, axis1, axis2)


@linear(x=lambda xp, upstream, offset, axis1, axis2: xp.diagonal(upstream, offset, axis1, axis2))
def put_diagonal(xp, x, *, shape, offset=0, axis1=0, axis2=1):
    """Zeros of `shape` with `x` on the diagonal of two axes."""
    return xp.put_diagonal(x, shape, offset, axis1, axis2)


@linear(x=lambda xp, upstream, x_shape, k: xp.undiag(upstream, x_shape, k))
def diag(xp, x, *, k=0):
    """A row as the k-th diagonal of a matrix of zeros; of a matrix, its k-th diagonal."""
    return xp.diag(x, k)


@linear(x=lambda xp, upstream, k: xp.diag(upstream, k))
def undiag(xp, x, *, shape, k=0):
    """The reverse of `diag` of an array of `shape`."""
    return xp.undiag(x, shape, k)


@linear(x=lambda xp, upstream: xp.positive(upstream))
def ascontiguousarray(xp, x):
    """The same entries, next to each other in memory."""
    return xp.ascontiguousarray(x)


@linear(x=lambda xp, upstream, device, source: xp.to_device(upstream, device=source, source=device))
def _to_device(xp, x, *, device, source):
    """The same entries, brought from the device `source` to another; the gradient travels back."""
    return xp.to_device(x, device=device, source=source)


@face(_to_device, word=True)
def to_device(x, device, source):
    """The same entries, brought from the device `source` to another; the gradient travels back."""
    return _to_device.op.apply(x, device=device, source=source)  # by name: what is written out stays where it is
