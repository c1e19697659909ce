"""Joining, splitting and rotating arrays, under NumPy's names; and differences of neighbours.

All are composed of other operations, which have the gradient rules.
"""

from itertools import accumulate
from math import prod

from ..backends.shapes import is_sequence, ndim, shape
from ..core.define import multilinear, wraps_op
from ..core.messages import prefixes_errors
from .arithmetic import divide, multiply, subtract
from .reductions import max as largest, mean, min as smallest, sum as added_up
from .shape import concatenate, flip, getitem, moveaxis, ravel, reshape, split, swapaxes, transpose

# Axes -----------------------


@prefixes_errors
def flatten(x, start_dim=0, end_dim=-1):
    """Merge neighbouring axes into one; by default all of them.

    Shapes: (2, 3, 4) -> (24); with start_dim=1 -> (2, 12); with end_dim=1 -> (6, 4).
    Args:
        start_dim: the first axis to merge; default 0.
        end_dim: the last axis to merge; default -1.
    Raises: IndexError if an axis is out of range; ValueError if the first comes after the last.
    >>> mg.flatten(np.ones((2, 3, 4)), 1).shape
    (2, 12)
    See: torch.flatten; mg.ravel, mg.nn.Flatten."""
    if (start_dim, end_dim) == (0, -1):
        return ravel(x)
    lengths = shape(x) or (1,)
    for axis in (start_dim, end_dim):
        if not -len(lengths) <= axis < len(lengths):
            raise IndexError(f"axis {axis} is out of range, the input has shape {shape(x)}")
    first, last = start_dim % len(lengths), end_dim % len(lengths)
    if first > last:
        raise ValueError(f"start_dim {first} comes after end_dim {last}")
    return reshape(x, (*lengths[:first], prod(lengths[first : last + 1]), *lengths[last + 1 :]))


def atleast_1d(*arrays):
    """Convert to at least one dimension.

    Shapes: () -> (1); any other -> the same.
    Args:
        *arrays: one or more arrays of numbers.
    Returns: a tensor; a tuple of tensors for several arrays.
    Raises: TypeError if an input is not numeric.
    >>> mg.atleast_1d(3.0).tolist()
    [3.0]
    See: numpy.atleast_1d; torch.atleast_1d."""
    return _each(arrays, lambda x: reshape(x, shape(x) or (1,)))


def atleast_2d(*arrays):
    """Convert to at least two dimensions; a vector becomes a matrix of one row.

    Shapes: () -> (1, 1); (n) -> (1, n); any other -> the same.
    Args:
        *arrays: one or more arrays of numbers.
    Returns: a tensor; a tuple of tensors for several arrays.
    Raises: TypeError if an input is not numeric.
    >>> mg.atleast_2d([1.0, 2.0]).tolist()
    [[1.0, 2.0]]
    See: numpy.atleast_2d; torch.atleast_2d."""
    return _each(arrays, lambda x: reshape(x, (*(1,) * (2 - ndim(x)), *shape(x))))


def atleast_3d(*arrays):
    """Convert to at least three dimensions; a matrix gets a new last axis.

    Shapes: () -> (1, 1, 1); (n) -> (1, n, 1); (m, n) -> (m, n, 1); any other -> the same.
    Args:
        *arrays: one or more arrays of numbers.
    Returns: a tensor; a tuple of tensors for several arrays.
    Raises: TypeError if an input is not numeric.
    >>> mg.atleast_3d([1.0, 2.0]).shape
    (1, 2, 1)
    See: numpy.atleast_3d; torch.atleast_3d."""
    forms = {0: lambda lengths: (1, 1, 1), 1: lambda lengths: (1, *lengths, 1), 2: lambda lengths: (*lengths, 1)}
    return _each(arrays, lambda x: reshape(x, forms.get(ndim(x), tuple)(shape(x))))


def _each(arrays, form):
    """Return one converted array, or a tuple of several."""
    formed = tuple(form(x) for x in arrays)
    return formed[0] if len(formed) == 1 else formed


@prefixes_errors
def rollaxis(x, axis, start=0):
    """Move an axis before another one; `mg.moveaxis` is easier to read.

    Shapes: x (2, 3, 4), axis=2 -> (4, 2, 3).
    Args:
        axis: the axis to move.
        start: the axis is moved before this one; default 0. The number of axes moves it to the end.
    Raises: IndexError if the axis is out of range.
    >>> mg.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    See: numpy.rollaxis; numpy.moveaxis."""
    count = ndim(x)
    if not -count <= axis < count or not -count <= start <= count:
        raise IndexError(f"axis {axis} or start {start} is out of range for an array of {count} axes")
    axis, start = axis % count, start + count if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


# Joining --------------------


@prefixes_errors
def vstack(parts):
    """Stack arrays vertically, along the first axis; vectors count as rows.

    Shapes: parts (3) and (3) -> (2, 3); (2, 3) and (4, 3) -> (6, 3).
    Args:
        parts: a sequence of arrays, of equal length except along the first axis.
    Returns: a tensor of the common dtype of the parts.
    Raises: ValueError if the lengths of the other axes differ, or there is no parts.
    >>> mg.vstack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.vstack; torch.vstack."""
    return concatenate([atleast_2d(part) for part in parts], axis=0)


@prefixes_errors
def hstack(parts):
    """Stack arrays horizontally, along the second axis; vectors along their only one.

    Shapes: parts (2) and (3) -> (5); (2, 1) and (2, 3) -> (2, 4).
    Args:
        parts: a sequence of arrays, of equal length except along the axis that joins them.
    Returns: a tensor of the common dtype of the parts.
    Raises: ValueError if the lengths of the other axes differ, or there is no parts.
    >>> mg.hstack([[1.0, 2.0], [3.0]]).tolist()
    [1.0, 2.0, 3.0]
    See: numpy.hstack; torch.hstack."""
    rows = [atleast_1d(part) for part in parts]
    return concatenate(rows, axis=0 if rows and ndim(rows[0]) == 1 else 1)


@prefixes_errors
def dstack(parts):
    """Stack arrays along the third axis.

    Shapes: parts (2, 3) and (2, 3) -> (2, 3, 2); (3) and (3) -> (1, 3, 2).
    Args:
        parts: a sequence of arrays, of equal length except along the third axis.
    Returns: a tensor of the common dtype of the parts.
    Raises: ValueError if the lengths of the other axes differ, or there is no parts.
    >>> mg.dstack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[[1.0, 3.0], [2.0, 4.0]]]
    See: numpy.dstack; torch.dstack."""
    return concatenate([atleast_3d(part) for part in parts], axis=2)


@prefixes_errors
def column_stack(parts):
    """Stack vectors as the columns of a matrix; matrices side by side.

    Shapes: parts (3) and (3) -> (3, 2); (3, 2) and (3) -> (3, 3).
    Args:
        parts: a sequence of vectors and matrices with equally many rows.
    Returns: a matrix of the common dtype.
    Raises: ValueError if lengths differ, or there is no parts.
    >>> mg.column_stack([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.column_stack; torch.column_stack."""
    return concatenate([reshape(part, (-1, 1)) if ndim(part) < 2 else part for part in parts], axis=1)


@prefixes_errors
def append(x, values, axis=None):
    """Append entries to an array.

    Shapes: axis=None -> (m + n); x (2, 3), values (1, 3), axis=0 -> (3, 3).
    Args:
        values: numbers to append.
        axis: the axis along which to append; None (default) flattens both first.
    Returns: a tensor of the common dtype of x and values.
    Raises: ValueError if the lengths of the other axes differ; IndexError if the axis is out of range.
    >>> mg.append([1.0, 2.0], 3.0).tolist()
    [1.0, 2.0, 3.0]
    See: numpy.append."""
    return concatenate([x, values], axis=axis)


# Parting --------------------


@prefixes_errors
def array_split(x, indices_or_sections, axis=0):
    """Split into parts along an axis, possibly of unequal length.

    If the length is not divisible, the first parts are longer by one.
    Shapes: x (7, n), indices_or_sections=3 -> (3, n), (2, n) and (2, n).
    Args:
        indices_or_sections: the number of parts, or a sequence of indices at which to split.
    Returns: a tuple of tensors of the dtype of x.
    Raises: ValueError if there is less than one part; IndexError if the axis is out of range.
    >>> [part.tolist() for part in mg.array_split([1.0, 2.0, 3.0], 2)]
    [[1.0, 2.0], [3.0]]
    See: numpy.array_split; torch.tensor_split."""
    if hasattr(indices_or_sections, "__iter__"):
        return split(x, tuple(indices_or_sections), axis)
    count = indices_or_sections.__index__()
    if count < 1:
        raise ValueError(f"the number of parts must be at least 1, got {count}")
    if not -ndim(x) <= axis < ndim(x):
        raise IndexError(f"axis {axis} is out of range for an array of {ndim(x)} axes")
    each, left = divmod(shape(x)[axis], count)
    return split(x, tuple(accumulate(each + (i < left) for i in range(count - 1))), axis)


@prefixes_errors
def hsplit(x, indices_or_sections):
    """Split horizontally, along the second axis; a vector along its only one.

    Shapes: x (2, 6), indices_or_sections=3 -> three parts (2, 2).
    Args:
        x: numbers, with at least one axis.
        indices_or_sections: the number of equal parts, or a sequence of indices at which to split.
    Returns: a tuple of tensors of the dtype of x.
    Raises: ValueError if x is a single number, or cannot be split into that many equal parts.
    >>> [part.tolist() for part in mg.hsplit([1.0, 2.0, 3.0, 4.0], 2)]
    [[1.0, 2.0], [3.0, 4.0]]
    See: numpy.hsplit; torch.hsplit."""
    _wants_axes("hsplit", x, 1)
    return split(x, indices_or_sections, axis=0 if ndim(x) == 1 else 1)


@prefixes_errors
def vsplit(x, indices_or_sections):
    """Split vertically, along the first axis.

    Shapes: x (6, 2), indices_or_sections=3 -> three parts (2, 2).
    Args:
        x: numbers, with at least two axes.
        indices_or_sections: the number of equal parts, or a sequence of indices at which to split.
    Returns: a tuple of tensors of the dtype of x.
    Raises: ValueError if x has fewer than two axes, or cannot be split into that many equal parts.
    >>> [part.tolist() for part in mg.vsplit([[1.0, 2.0], [3.0, 4.0]], 2)]
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    See: numpy.vsplit; torch.vsplit."""
    _wants_axes("vsplit", x, 2)
    return split(x, indices_or_sections, axis=0)


@prefixes_errors
def dsplit(x, indices_or_sections):
    """Split along the third axis.

    Shapes: x (2, 3, 4), indices_or_sections=2 -> two parts (2, 3, 2).
    Args:
        x: numbers, with at least three axes.
        indices_or_sections: the number of equal parts, or a sequence of indices at which to split.
    Returns: a tuple of tensors of the dtype of x.
    Raises: ValueError if x has fewer than three axes, or cannot be split into that many equal parts.
    >>> [part.tolist() for part in mg.dsplit([[[1.0, 2.0]]], 2)]
    [[[[1.0]]], [[[2.0]]]]
    See: numpy.dsplit; torch.dsplit."""
    _wants_axes("dsplit", x, 3)
    return split(x, indices_or_sections, axis=2)


def _wants_axes(name, x, least):
    if ndim(x) < least:
        raise ValueError(f"{name}: x must have at least {least} axes, it has shape {shape(x)}")


# Turning --------------------


@prefixes_errors
def flipud(x):
    """Reverse the order of the rows: flip upside down.

    Shapes: any with at least one axis -> the same.
    Raises: ValueError if x is a single number.
    >>> mg.flipud([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    See: numpy.flipud; torch.flipud."""
    _wants_axes("flipud", x, 1)
    return flip(x, axis=0)


@prefixes_errors
def fliplr(x):
    """Reverse the order of the columns: flip left to right.

    Shapes: any with at least two axes -> the same.
    Raises: ValueError if x has fewer than two axes.
    >>> mg.fliplr([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[2.0, 1.0], [4.0, 3.0]]
    See: numpy.fliplr; torch.fliplr."""
    _wants_axes("fliplr", x, 2)
    return flip(x, axis=1)


@prefixes_errors
def rot90(x, k=1, axes=(0, 1)):
    """Rotate by 90 degrees, k times, from the first towards the second of two axes; images turn counterclockwise.

    Shapes: x (2, 3) -> (3, 2) for an odd k, else the same.
    Args:
        x: numbers, with at least two axes.
        k: the number of quarter turns, default 1; clockwise if negative.
        axes: the two axes of the plane; default the first two.
    Raises: ValueError if `axes` are not two different axes; IndexError if one is out of range; TypeError if k is not an
        integer.
    >>> mg.rot90([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[2.0, 4.0], [1.0, 3.0]]
    See: numpy.rot90; torch.rot90."""
    count, turns = ndim(x), k.__index__() % 4
    if len(axes) != 2 or axes[0] == axes[1] or abs(axes[0] - axes[1]) == count:
        raise ValueError(f"axes must be two different axes, got {tuple(axes)}")
    if not all(-count <= axis < count for axis in axes):
        raise IndexError(f"axes {tuple(axes)} are out of range for an array of {count} axes")
    if turns == 0:
        return reshape(x, shape(x))
    if turns == 2:
        return flip(x, axis=tuple(axes))
    return flip(swapaxes(x, *axes), axis=axes[0]) if turns == 1 else swapaxes(flip(x, axis=axes[0]), *axes)


# Differences ----------------


@prefixes_errors
def diff(x, n=1, axis=-1, prepend=None, append=None):
    """Compute differences of neighbouring entries along an axis.

    out[i] = x[i + 1] - x[i], repeated n times.
    Shapes: x (..., m) -> (..., m - n).
    Args:
        x: numbers, with at least one axis.
        n: how often to take differences, default 1; 0 returns x, without what is attached.
        prepend, append: values to attach before and after x first; a single number fills one slice. Default None.
    Raises: ValueError if n is negative, or x is a single number; IndexError if the axis is out of range.
    >>> mg.diff([1.0, 4.0, 9.0]).tolist(), mg.diff([1.0, 4.0, 9.0], 2).tolist()
    ([3.0, 5.0], [2.0])
    See: numpy.diff; torch.diff."""
    _wants_axes("diff", x, 1)
    if n < 0:
        raise ValueError(f"n must not be negative, got n={n}")
    if n == 0:
        return reshape(x, shape(x))
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        one = tuple(1 if i == axis % ndim(x) else length for i, length in enumerate(shape(x)))
        x = concatenate([multiply(part, _ones(x, one)) if not ndim(part) else part for part in parts], axis=axis)
    for _ in range(n.__index__()):
        x = subtract(_slice(x, axis, 1, None), _slice(x, axis, None, -1))
    return x


def _ones(x, lengths):
    return reshape([1.0] * _product(lengths), lengths)


def _product(lengths):
    total = 1
    for length in lengths:
        total *= length
    return total


def _slice(x, axis, start, stop, step=None):
    """Return a slice along one axis."""
    if not -ndim(x) <= axis < ndim(x):
        raise IndexError(f"axis {axis} is out of range for an array of {ndim(x)} axes")
    return getitem(x, index=(slice(None),) * (axis % ndim(x)) + (slice(start, stop, step),))


@prefixes_errors
def gradient(f, *varargs, axis=None, edge_order=1):
    """Estimate the derivative along each axis by finite differences of values on a grid.

    Inside, (f[i+1] - f[i-1]) / 2h; for unequal spacings h before and k after, (h² f[i+1] + (k² - h²) f[i] - k² f[i-1])
    / (h k (h + k)). At both ends, one-sided differences. For the gradient of a program see `mg.grad`.
    Shapes: f any -> the same, for each axis.
    Args:
        f: numbers, with at least one axis.
        *varargs: spacing of the grid: nothing for 1, a number for every axis, or for each axis a number or a vector of
            coordinates.
        axis: the axis or axes; None (default) for all.
        edge_order: 1 (default) for first-order differences at the ends, 2 for second-order ones.
    Returns: a tensor for one axis; a tuple of tensors for several.
    Raises: ValueError if an axis is shorter than edge_order + 1, or edge_order is unknown; TypeError if the number of
        spacings differs from the number of axes.
    >>> mg.gradient([1.0, 4.0, 9.0, 16.0]).tolist()
    [3.0, 4.0, 6.0, 7.0]
    See: numpy.gradient; torch.gradient."""
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2, got {edge_order}")
    axes = tuple(range(ndim(f))) if axis is None else (axis,) if not is_sequence(axis) else tuple(axis)
    apart = varargs or (1.0,)
    if len(apart) == 1 and ndim(apart[0]) == 0:
        apart *= len(axes)
    if len(apart) != len(axes):
        raise TypeError(f"{len(apart)} spacings were given for {len(axes)} axes")
    slopes = tuple(_slope_along(f, each, steps, edge_order) for each, steps in zip(axes, apart, strict=True))
    return slopes if len(slopes) != 1 else slopes[0]


def _slope_along(f, axis, steps, edge_order):
    """Return the finite differences along one axis."""
    if not -ndim(f) <= axis < ndim(f):
        raise IndexError(f"axis {axis} is out of range for an array of {ndim(f)} axes")
    length, axis = shape(f)[axis], axis % ndim(f)
    if length < edge_order + 1:
        raise ValueError(f"axis {axis} has {length} entries; slopes with edge_order={edge_order} want {edge_order + 1}")
    if ndim(steps) and shape(steps) != (length,):
        raise ValueError(f"axis {axis} has {length} places, {shape(steps)} were given")
    behind = (1,) * (ndim(f) - axis - 1)
    between = reshape(diff(steps), (-1, *behind)) if ndim(steps) else multiply(_ones(f, (length - 1, *behind)), steps)

    def at(start, stop=None):
        return _slice(f, axis, start, stop)

    def step(start, stop=None):
        return getitem(between, index=(slice(start, stop),))

    h, k = step(None, -1), step(1)
    inside = divide(
        h * h * at(2) + (k * k - h * h) * at(1, -1) - k * k * at(None, -2), h * k * (h + k)
    ) if length > 2 else at(0, 0)  # fmt: skip
    first, last = divide(at(1, 2) - at(0, 1), step(0, 1)), divide(at(-1) - at(-2, -1), step(-1))
    if edge_order == 2:
        first = _parabola(at(0, 1), at(1, 2), at(2, 3), step(0, 1), step(1, 2))
        last = _parabola(at(-1), at(-2, -1), at(-3, -2), -step(-1), -step(-2, -1))
    return concatenate([first, inside, last], axis=axis)


def _parabola(a, b, c, h, k):
    """Return the derivative at `a` of the parabola through three points with spacings `h` and `k`."""
    return divide(-(2 * h + k), h * (h + k)) * a + divide(h + k, h * k) * b - divide(h, k * (h + k)) * c


# Means and extremes ---------


@prefixes_errors
def average(x, axis=None, weights=None, returned=False, keepdims=False):
    """Compute the weighted mean of the entries, all or along axes.

    Σ_i w_i x_i / Σ_i w_i; without weights the mean.
    Shapes: x (2, 3), axis=0 -> (3); weights of the shape of x, or (2) for that axis.
    Args:
        weights: weight of each entry; None (default) for equal weights.
        returned: whether to return the sum of the weights, too; default False.
    Returns: a tensor; with `returned` a pair of it and the sums of the weights.
    Raises: ValueError if the weights have the wrong shape or sum to 0; IndexError if the axis is out of range.
    >>> mg.average([1.0, 2.0, 4.0], weights=[1.0, 1.0, 2.0]).item()
    2.75
    See: numpy.average."""
    if weights is None:
        out = mean(x, axis=axis, keepdims=keepdims)
        count = _product(shape(x)) / _product(shape(out)) if _product(shape(out)) else 0.0
        return (out, multiply(_like_ones(out), count)) if returned else out
    if shape(weights) != shape(x):
        if ndim(weights) != 1 or is_sequence(axis) or axis is None or shape(weights) != (shape(x)[axis],):
            raise ValueError(f"weights must have the shape {shape(x)}, or be a row for one axis; got {shape(weights)}")
        weights = reshape(weights, (-1, *(1,) * (ndim(x) - axis % ndim(x) - 1)))
        weights = multiply(weights, _ones(x, shape(x)))
    total = added_up(weights, axis=axis, keepdims=keepdims)
    if bool((total == 0).any()):
        raise ValueError("the weights add up to 0, and nothing can be divided by it")
    out = divide(added_up(multiply(x, weights), axis=axis, keepdims=keepdims), total)
    return (out, total) if returned else out


def _like_ones(x):
    return _ones(x, shape(x))


@prefixes_errors
def ptp(x, axis=None, keepdims=False):
    """Compute the range ("peak to peak"): the largest entry minus the smallest, over all or along axes.

    Entries that tie share the gradient equally.
    Args:
        x: real numbers.
    Raises: ValueError if there are no entries; TypeError if x is complex; IndexError if the axis is out of range.
    >>> mg.ptp([3.0, 9.0, 4.0]).item()
    6.0
    See: numpy.ptp."""
    return subtract(largest(x, axis=axis, keepdims=keepdims), smallest(x, axis=axis, keepdims=keepdims))


# Products -------------------


@multilinear(a=lambda xp, upstream, b: xp.cross(b, upstream), b=lambda xp, upstream, a: xp.cross(upstream, a))
def _cross(xp, a, b):
    """Compute the cross product of two vectors."""
    return xp.cross(a, b)


@wraps_op(_cross, namespace=True)
@prefixes_errors
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Compute the cross product of two vectors.

    (a × b)₁ = a₂ b₃ - a₃ b₂, and so on cyclically. For vectors in the plane only the third entry, a₁ b₂ - a₂ b₁.
    Shapes: a (..., 3), b (..., 3) -> (..., 3); a (..., 2), b (..., 2) -> (...).
    Args:
        axisa, axisb, axisc: the axis of the vectors in a, in b and in the result; default the last.
        axis: the axis of the vectors in all three; overrides the others if given.
    Raises: ValueError if the vectors do not have two or three entries, or the other axes do not broadcast; IndexError
        if an axis is out of range.
    >>> mg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    See: numpy.cross; torch.linalg.cross."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    _wants_axes("cross", a, 1)
    _wants_axes("cross", b, 1)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    lengths = (shape(a)[-1], shape(b)[-1])
    if not {*lengths} <= {2, 3}:
        raise ValueError(f"vectors must have two or three entries, got {lengths[0]} and {lengths[1]}")
    if lengths == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = (x if shape(x)[-1] == 3 else concatenate([x, 0 * x[..., :1]], axis=-1) for x in (a, b))
    return moveaxis(_cross(a, b), -1, axisc)


@prefixes_errors
def kron(a, b):
    """Compute the Kronecker product: each entry of a times all of b, arranged in blocks.

    Shapes: a (m, n), b (p, q) -> (m p, n q).
    Args:
        a, b: numbers; the one with fewer axes gets leading axes of length 1.
    Returns: a tensor of the common dtype of a and b.
    Raises: TypeError if an input is not numeric.
    >>> mg.kron([1.0, 10.0], [1.0, 2.0, 3.0]).tolist()
    [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]
    See: numpy.kron; torch.kron."""
    count = max(ndim(a), ndim(b))
    of_a = (1,) * (count - ndim(a)) + shape(a)
    of_b = (1,) * (count - ndim(b)) + shape(b)
    blocks = [length for n in of_a for length in (n, 1)], [length for n in of_b for length in (1, n)]
    product = multiply(reshape(a, tuple(blocks[0])), reshape(b, tuple(blocks[1])))
    return reshape(product, tuple(m * n for m, n in zip(of_a, of_b, strict=True)))


def matrix_transpose(x):
    """Transpose each matrix: exchange the last two axes.

    Shapes: x (..., m, n) -> (..., n, m).
    Args:
        x: numbers, with at least two axes.
    Raises: IndexError if x has fewer than two axes.
    >>> mg.matrix_transpose([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    See: numpy.matrix_transpose; `mg.mT`."""
    return transpose(x) if ndim(x) == 2 else swapaxes(x, -2, -1)
