"""Products of vectors, matrices and tensors. They are linear in each factor, whose gradient is upstream times the
others."""

from __future__ import annotations

from typing import Any

from ..backends.shapes import is_sequence, ndim, shape
from ..core.define import linear, multilinear, op, variadic, wraps_op
from ..core.messages import explains, prefixes_errors
from .arithmetic import multiply
from .shape import expand_dims, reshape, squeeze


@multilinear(
    a=lambda xp, upstream, b: xp.matmul(upstream, xp.mT(b)),
    b=lambda xp, upstream, a, b_shape: xp.contract_rows(a, upstream, b_shape),
)
@explains(
    "the last axis of a {a} must be as long as the second to last axis of b {b}, and the axes before must broadcast; "
    "is a transpose missing (b.mT)?"
)
def _matmul(xp, a, b):
    """Multiply matrices, over any leading axes."""
    return xp.matmul(a, b)


@wraps_op(_matmul, namespace=True)
def matmul(a, b):
    """Multiply matrices, over any leading axes.

    (a @ b)[i, j] = Σ_k a[i, k] b[k, j]. A vector counts as a row on the left and as a column on the right, and its axis
    is dropped from the result. The gradients are upstream @ bᵀ for a, and aᵀ @ upstream for b.
    Shapes: a (..., m, k), b (..., k, n) -> (..., m, n); a (k), b (k) -> (). Leading axes broadcast.
    Args:
        a, b: numbers, each with at least one axis.
    Raises: ValueError if the lengths do not match, or one of them is a single number.
    >>> mg.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).tolist()
    [21.0, 43.0]
    See: numpy.matmul, torch.matmul."""
    row, column = ndim(a) == 1, ndim(b) == 1
    if not row and not column:
        return _matmul(a, b)
    out = _matmul(expand_dims(a, 0) if row else a, expand_dims(b, 1) if column else b)
    return squeeze(out, axis=(-2, -1) if row and column else -2 if row else -1)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape), public=False)
def _rows(xp, x):
    """Merge all leading axes into one, which gives a matrix of rows."""
    return xp.rows(x)


@wraps_op(_rows, namespace=True)
def rows(x):
    """Merge all leading axes into one, which gives a matrix of rows.

    Shapes: x (..., n) -> (rows, n); a vector (n) -> (1, n).
    Args:
        x: numbers, with at least one axis; a matrix is returned unchanged.
    Returns: a matrix of the same entries and dtype.
    Raises: IndexError if x is a single number.
    >>> mg.ops.rows(np.zeros((2, 3, 4))).shape
    (6, 4)
    See: numpy.reshape."""
    return x if ndim(x) == 2 else _rows(x)


@multilinear(
    a=lambda xp, upstream, b: xp.linear_layer(b, upstream),
    b=lambda xp, upstream, a: xp.matmul(a, upstream),
    public=False,
)
def sum_outer(xp, a, b):
    """Sum the outer products of rows: the gradient of a linear layer's weight.

    out[i, j] = Σ a[..., i] b[..., j], summed over all leading axes.
    Shapes: a (..., m), b (..., n) -> (m, n).
    Args:
        a, b: numbers, with the same leading axes.
    Returns: a matrix of the common dtype.
    Raises: ValueError if the number of rows differs; IndexError if an input is a single number.
    >>> mg.ops.sum_outer([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]]).tolist()
    [[31.0], [42.0]]
    See: mg.linear_layer, numpy.outer."""
    return xp.sum_outer(a, b)


@op
@explains("x {x} and weight {weight} must agree in their last axis, and bias must have one entry per row of weight")
def linear_layer(xp, x, weight, bias=None):
    """Compute a linear (fully connected, dense) layer: x @ weightᵀ + bias.

    out[..., o] = Σ_i x[..., i] weight[o, i] + bias[o].
    Shapes: x (..., I), weight (O, I), bias (O) -> (..., O).
    Args:
        x: the inputs.
        weight: one row for each output (PyTorch's layout: out, in).
        bias: one number for each output; default none.
    Raises: ValueError if x and weight differ in their last length, weight is not a matrix, or bias does not broadcast
        to the result.
    >>> mg.linear_layer([1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]], [0.5, 0.5]).tolist()
    [11.5, 17.5]
    See: torch.nn.functional.linear; CS231n notes, "Neural Networks Part 1"."""
    out = xp.matmul(x, xp.transpose_weight(weight))
    if bias is not None:
        out += bias
    return out


@linear_layer.rule("x")
def _(xp, upstream, weight):
    """Each output passes its gradient on along its row of the weight."""
    return xp.matmul(upstream, weight)


@linear_layer.rule("weight")
def _(xp, upstream, x):
    """Each row of the weight receives the inputs times the upstream of its output, summed over the batch."""
    return xp.sum_outer(upstream, x)


@linear_layer.rule("bias")
def _(upstream):
    """The bias is added to every row; the engine sums over the rows."""
    return upstream


@prefixes_errors
def outer(a, b):
    """Compute the outer product: every entry of a times every entry of b.

    out[i, j] = a_i b_j. Inputs with more axes are flattened.
    Shapes: a (m), b (n) -> (m, n).
    Args:
        a, b: numbers.
    Returns: a matrix of the common dtype.
    Raises: TypeError if an input is not numeric; ValueError if it is a nested list with rows of unequal length.
    >>> mg.outer([1.0, 2.0], [3.0, 4.0]).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    See: numpy.outer, torch.outer."""
    return reshape(a, (-1, 1)) * reshape(b, (1, -1))


@prefixes_errors
def dot(a, b):
    """Compute the dot product of vectors or the matrix product of matrices, as NumPy's dot.

    For more axes it sums over the last axis of a and the second to last of b; a single number multiplies.
    Shapes: a (n), b (n) -> (); a (m, k), b (k, n) -> (m, n); a (..., k), b (..., k, n) -> a's axes, then b's, without
        k.
    Args:
        a, b: numbers.
    Returns: a tensor of the common dtype of a and b.
    Raises: ValueError if the lengths do not fit; TypeError if an input is not numeric.
    >>> mg.dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).item()
    32.0
    See: numpy.dot, torch.dot."""
    if ndim(a) == 0 or ndim(b) == 0:
        return multiply(a, b)
    if (ndim(a) <= 2 and ndim(b) <= 2) or ndim(b) == 1:
        return matmul(a, b)
    return tensordot(a, b, axes=((-1,), (-2,)))


@prefixes_errors
def inner(a, b):
    """Compute the inner product: sum the products over the last axis of both inputs.

    out[i, j] = Σ_k a[i, k] b[j, k]; nothing is conjugated. A single number multiplies.
    Shapes: a (..., k), b (..., k) -> a's axes, then b's, without k.
    Args:
        a, b: numbers.
    Returns: a tensor of the common dtype of a and b.
    Raises: ValueError if the last axes differ in length; TypeError if an input is not numeric.
    >>> mg.inner([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).tolist()
    [21.0, 43.0]
    See: numpy.inner, torch.inner."""
    if ndim(a) == 0 or ndim(b) == 0:
        return multiply(a, b)
    return tensordot(a, b, axes=((-1,), (-1,)))


@prefixes_errors
def tensordot(a, b, axes: Any = 2):
    """Contract two tensors: sum the products over several axes of both.

    Shapes: a (2, 3, 4), b (3, 4, 5), axes=2 -> (2, 5): the remaining axes of a, then of b.
    Args:
        a, b: numbers.
        axes: the number of axes to sum over, the last of a with the first of b; default 2. 0 gives the outer product.
            Or a pair of axes or of lists of axes, one for a and one for b.
    Returns: a tensor of the common dtype of a and b.
    Raises: ValueError if axes do not pair up or differ in length; IndexError if an axis is out of range.
    >>> mg.tensordot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 10.0], [100.0, 1000.0]]).item()
    4321.0
    See: numpy.tensordot, torch.tensordot."""
    if hasattr(axes, "__index__"):
        if not 0 <= axes <= min(ndim(a), ndim(b)):
            raise ValueError(f"tensordot: axes={axes} is more than a {shape(a)} and b {shape(b)} have, or less than 0")
        axes = (range(ndim(a) - axes, ndim(a)), range(axes))
    if not hasattr(axes, "__len__") or len(axes) != 2:
        raise TypeError(f"tensordot: axes must be a whole number, or a pair of axes or of lists of axes; got {axes!r}")
    of_a, of_b = _axes_from_front(a, axes[0]), _axes_from_front(b, axes[1])
    if len(of_a) != len(of_b):
        raise ValueError(f"tensordot: axes {axes[0]} of a and {axes[1]} of b do not pair up")
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    left, right = [next(letters) for _ in range(ndim(a))], [next(letters) for _ in range(ndim(b))]
    for i, j in zip(of_a, of_b, strict=True):
        if shape(a)[i] != shape(b)[j]:
            raise ValueError(f"axis {i} of a {shape(a)} is not as long as axis {j} of b {shape(b)}")
        right[j] = left[i]
    kept = [letter for i, letter in enumerate(left) if i not in of_a]
    kept += [letter for j, letter in enumerate(right) if j not in of_b]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)


def _axes_from_front(x, axes):
    """Return axes counted from the front, in the order given."""
    named = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in named:
        if not -ndim(x) <= axis < ndim(x):
            raise IndexError(f"tensordot: axis {axis} is out of range for an array of {ndim(x)} axes")
    return [axis % ndim(x) for axis in named]


@variadic(
    parts=lambda xp, upstream, parts, parts_shape, subscripts: _transposes(
        xp, subscripts, upstream, parts, parts_shape
    )
)
@explains(
    "{error}; a letter in {subscripts!r} stands for one length, wherever it occurs; the operands have shapes {shapes}"
)
def _einsum(xp, parts, *, subscripts):
    """Sum products of entries by Einstein's convention.

    The gradient of each factor is again an einsum: of upstream and the other factors, with the factor's own letters as
    the result."""
    return xp.einsum(subscripts, *parts)


_einsum.op.combines_as = "product"


@wraps_op(_einsum, namespace=True)
@prefixes_errors
def einsum(subscripts, *operands):
    """Sum products of entries by Einstein's convention: over each letter that the result does not have.

    "ij,jk->ik" is the matrix product Σ_j a[i, j] b[j, k]; "ij->ji" the transpose; "ii" the trace; "i,j->ij" the outer
    product. The gradient of each factor is again an einsum, of upstream and the other factors.
    Shapes: one letter for each axis of each operand; equal letters have equal lengths.
    Args:
        subscripts: a term of letters for each operand, separated by commas, then "->" and the letters of the result;
            `...` stands for axes that broadcast. Without "->" the result has the letters that occur once, in
            alphabetical order. NumPy's other form also works: each operand followed by a list of its axes, as integers,
            and then a list of the axes of the result.
        *operands: numbers, one array for each term.
    Raises: ValueError if terms and operands do not match in number, axes or lengths, or a letter of the result occurs
        in no term.
    >>> mg.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).tolist()
    [21.0, 43.0]
    See: numpy.einsum, torch.einsum."""
    if not isinstance(subscripts, str):
        subscripts, operands = _to_letters((subscripts, *operands))
    return _einsum(operands, subscripts=_explicit_subscripts(subscripts, [ndim(part) for part in operands]))


def _to_letters(given):
    """Convert operands that are each followed by a list of axes to operands and letters."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def term(axes):
        if not is_sequence(axes) or not all(axis is Ellipsis or -1 < axis < len(letters) for axis in axes):
            asked = "each operand must be followed by a list of its axes, whole numbers below 52"
            raise ValueError(f"einsum: {asked}; got {axes!r}")
        return "".join("..." if axis is Ellipsis else letters[axis] for axis in axes)

    pairs = len(given) // 2
    subscripts = ",".join(term(axes) for axes in given[1 : 2 * pairs : 2])
    result = f"->{term(given[-1])}" if len(given) % 2 else ""
    return subscripts + result, given[0 : 2 * pairs : 2]


def _explicit_subscripts(subscripts: str, ndims: list[int]) -> str:
    """Return the subscripts with an explicit result, and with letters instead of `...`."""
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != len(ndims):
        raise ValueError(f"einsum({subscripts!r}) names {len(terms)} operands, {len(ndims)} were given")
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
    longest = max((n - len(term) + 3 for term, n in zip(terms, ndims, strict=True) if "..." in term), default=0)
    dots = "".join(spare[:longest])
    terms = [
        term.replace("...", dots[longest - (n - len(term) + 3) :]) for term, n in zip(terms, ndims, strict=True)
    ]
    for term, n in zip(terms, ndims, strict=True):
        if len(term) != n:
            raise ValueError(f"einsum({subscripts!r}): {term!r} names {len(term)} axes of an operand that has {n}")
    if not arrow:
        letters = "".join(terms)
        result = "..." * bool(dots) + "".join(sorted({c for c in letters if letters.count(c) == 1 and c not in dots}))
    return f"{','.join(terms)}->{result.replace('...', dots)}"


def _transposes(xp, subscripts, upstream, parts, shapes):
    """Return the gradient of each factor of an einsum: an einsum of upstream, the other factors, and stand-ins for
    letters that these lack, with the factor's own letters as the result."""
    *terms, result = subscripts.replace("->", ",").split(",")
    received = []
    for place, (term, each) in enumerate(zip(terms, shapes, strict=True)):
        others = [i for i in range(len(terms)) if i != place]
        lengths = {pair for i in others for pair in zip(terms[i], shapes[i], strict=True)}
        own, stand_ins = _stand_ins(xp, upstream, subscripts, term, each, lengths)
        factors = [(result, upstream), *((terms[i], parts[i]) for i in others), *stand_ins]
        letters, given = zip(*factors, strict=True)
        received.append(xp.einsum(f"{','.join(letters)}->{own}", *given))
    return received


def _stand_ins(xp, upstream, subscripts, term, shape, lengths):
    """Return the letters of a factor without repetition, and stand-ins for letters that neither the result nor the
    `lengths` of other factors have.

    A letter that only this factor has was summed over: its gradient is constant along it, so ones replace it. A
    letter that the factor has twice selected a diagonal: an identity matrix puts it back."""
    result = subscripts.partition("->")[2]
    spare = (c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts)
    own, stand_ins = "", []
    for letter, length in zip(term, shape, strict=True):
        name = letter
        if letter in own:
            name = next(spare)
            stand_ins.append((letter + name, xp.new_eye(upstream, length)))
        elif letter not in result and not any(each == letter and length in (n, 1) for each, n in lengths):
            stand_ins.append((letter, xp.new_ones(upstream, (length,))))
        own += name
    return own, stand_ins
