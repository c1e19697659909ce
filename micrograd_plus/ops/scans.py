"""Operations along an axis whose every result depends on what came before: running sums, recurrences, sorting."""

from ..composites import composite
from ..hints import names_itself
from ..op import constant, face, linear, op, real_only
from ..readings.shapes import ndim, shape


@linear(
    x=lambda xp, upstream, x_shape, axis, exclusive, reverse: xp.reshape(
        xp.cumsum(upstream, axis=axis, exclusive=exclusive, reverse=not reverse), x_shape
    )
)
def cumsum(xp, x, *, axis=None, exclusive=False, reverse=False):
    """Running sums. An entry is part of its own and every later sum, so going back they run from the other end.

    `exclusive` leaves the entry itself out; `reverse` starts at the end. With `axis=None` the entries are taken in a
    row.
    """
    return xp.cumsum(x, axis=axis, exclusive=exclusive, reverse=reverse)


@op
def recurrence(xp, decay, drive, *, axis=-1, reverse=False):
    """A state carried along an axis: each is `decay * previous + drive`, starting from 0. The two broadcast: one decay
    may serve all along the axis."""
    return xp.recurrence(decay, drive, axis=axis, reverse=reverse)


@recurrence.rule("decay", "drive")
def _(xp, upstream, decay, out, axis, reverse):
    """The same recurrence, from the other end: a state receives its own upstream, and the next one's share through the
    next decay. A decay receives that times the state it met."""
    next_decay = xp.shift(xp.broadcast_to(decay, xp.shape(out)), axis=axis, reverse=not reverse)
    received = xp.recurrence(next_decay, upstream, axis=axis, reverse=not reverse)
    return received * xp.shift(out, axis=axis, reverse=reverse), received


@linear(x=lambda xp, upstream, axis, reverse: xp.shift(upstream, axis=axis, reverse=not reverse))
def shift(xp, x, *, axis=-1, reverse=False):
    """Every entry moved one place on along an axis, a 0 moving in; `reverse` moves it one place back."""
    return xp.shift(x, axis=axis, reverse=reverse)


@op
def cumprod(xp, x, *, axis=None, exclusive=False, reverse=False):
    """Running products; `exclusive` leaves the entry itself out, `reverse` starts at the end."""
    return xp.cumprod(x, axis=axis, exclusive=exclusive, reverse=reverse)


@cumprod.rule("x")
def _(xp, upstream, x, x_shape, axis, exclusive, reverse):
    """An entry moves every product it is part of: the product of those before it, times what the later ones make of
    it, which is a recurrence from the other end. Nothing is divided, so an entry may be 0."""
    line = xp.reshape(x, (-1,)) if axis is None else x
    along = -1 if axis is None else axis
    upstream = xp.shift(upstream, axis=along, reverse=not reverse) if exclusive else upstream
    before = xp.cumprod(line, axis=along, exclusive=True, reverse=reverse)
    later = xp.recurrence(xp.shift(line, axis=along, reverse=not reverse), upstream, axis=along, reverse=not reverse)
    return xp.reshape(before * later, x_shape)


@op(outputs=("values", "indices"))
@real_only
def cummax_with_indices(xp, x, *, axis=-1):
    """The largest entry so far, and where it stands; of several, the latest."""
    return xp.cummax_with_indices(x, axis=axis)


@cummax_with_indices.rule("x")
def _(xp, upstream, indices, x_shape, axis):
    """The gradient goes to the entry that was the largest."""
    return xp.put_along_axis_add(upstream[0], indices, shape=x_shape, axis=axis)


def cummax(x, axis=-1):
    """The largest entry so far along an axis. At a tie the latest receives the gradient."""
    return cummax_with_indices(x, axis)[0]


@op(keeps=("order",), constants=("order",))
def sort(xp, x, *, axis=-1, descending=False):
    """The entries in order. Equal entries keep the order they came in."""
    order = xp.argsort(x, axis=axis, descending=descending)
    return xp.take_along_axis(x, order, axis=axis), order


@sort.rule("x")
def _(xp, upstream, order, x_shape, axis):
    """Sorting moves entries about; the gradient moves back."""
    return xp.put_along_axis_add(upstream, order, shape=x_shape, axis=axis)


@constant
@real_only
def argsort(xp, x, *, axis=-1, descending=False):
    """The places of the entries in order; equal entries keep the order they came in."""
    return xp.argsort(x, axis=axis, descending=descending)


@op(outputs=("values", "indices"))
@real_only
def topk(xp, x, *, k, axis=-1):
    """The `k` largest entries in descending order, and where they stand."""
    return xp.topk(x, k, axis=axis)


@topk.rule("x")
def _(xp, upstream, indices, x_shape, axis):
    """Only the entries that were chosen receive anything."""
    return xp.put_along_axis_add(upstream[0], indices, shape=x_shape, axis=axis)


@composite
def _quantile(xp, x, *, q, axis=None, method="linear", keepdims=False):
    """The entry below which a share `q` of all lies, between its two neighbours in order."""
    line = xp.sort(xp.axes_to_last(x, axis=axis), axis=-1)
    low, high, weight = xp.quantile_places(xp.shape(line)[-1], q, method)
    weight = xp.numbers_beside(line, numbers=weight)
    between = line[..., low] * (1 - weight) + xp.where(weight == 0, 0.0, line[..., high] * weight)
    last = line[..., -1:] if xp.ndim(q) else line[..., -1]
    between = xp.where(xp.isnan(last), last, between)  # what is not a number is sorted last
    between = xp.moveaxis(between, -1, 0) if xp.ndim(q) else between
    return xp.reshape(between, (*xp.shape(q), *xp.reduced(xp.shape(x), axis, True))) if keepdims else between


@face(_quantile, word=True)
@names_itself
def quantile(x, q, axis=None, method="linear", keepdims=False):
    """The entry below which a share `q` of all lies, on the straight line between its two neighbours in order. Several
    shares give an axis of their own, the first. One entry that is not a number makes the result none.

    `method` says what stands in the place of the straight line, under NumPy's names: "lower", "higher", "midpoint",
    "nearest", "hazen" …

    >>> import micrograd_plus as mg
    >>> mg.quantile(mg.tensor([1.0, 2.0, 4.0, 8.0, 16.0]), [0.25, 0.9])
    tensor([ 2. , 12.8])
    """
    shares = q.tolist() if hasattr(q, "tolist") else q
    if ndim(shares) > 1:
        raise ValueError(f"quantile: q is one share or a row of them, got shape {shape(shares)}")
    return _quantile(x, q=tuple(shares) if ndim(shares) else shares, axis=axis, method=method, keepdims=keepdims)


@composite
def median(xp, x, *, axis=None, keepdims=False):
    """The entry in the middle; of an even number, the mean of the two in the middle, which receive half each."""
    return xp.quantile(x, q=0.5, axis=axis, keepdims=keepdims)


@constant
def numbers_beside(xp, x, *, numbers):
    """Plain numbers as an array where x lives, in its dtype."""
    return xp.numbers_beside(x, numbers)
