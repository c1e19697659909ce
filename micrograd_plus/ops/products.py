"""Products of vectors, matrices and tensors. Each factor enters linearly: its gradient is upstream times the others."""

from __future__ import annotations

from typing import Any

from ..hints import names_itself
from ..op import face, joining, linear, multilinear, op
from ..readings.shapes import ndim, shape
from .elementwise import multiply
from .shape import expand_dims, reshape, squeeze


@multilinear(
    a=lambda xp, upstream, b: xp.matmul(upstream, xp.mT(b)),
    b=lambda xp, upstream, a: xp.matmul(xp.mT(a), upstream),
)
def _matmul(xp, a, b):
    """The matrix product, over any leading axes. A vector counts as a row on the left and as a column on the right."""
    return xp.matmul(a, b)


@face(_matmul, word=True)
def matmul(a, b):
    """The matrix product, over any leading axes. A vector counts as a row on the left and as a column on the right."""
    row, column = ndim(a) == 1, ndim(b) == 1
    if not row and not column:
        return _matmul(a, b)
    out = _matmul(expand_dims(a, 0) if row else a, expand_dims(b, 1) if column else b)
    return squeeze(out, axis=(-2, -1) if row and column else -2 if row else -1)


@linear(x=lambda xp, upstream, x_shape: xp.reshape(upstream, x_shape))
def _rows(xp, x):
    """All leading axes joined in one: a plain matrix of rows."""
    return xp.rows(x)


@face(_rows, word=True)
def rows(x):
    """All leading axes joined in one: a plain matrix of rows. A matrix is one already."""
    return x if ndim(x) == 2 else _rows(x)


@multilinear(
    a=lambda xp, upstream, b: xp.linear_layer(b, upstream),
    b=lambda xp, upstream, a: xp.matmul(a, upstream),
)
def sum_outer(xp, a, b):
    """The outer products of each row of `a` with that of `b`, added up over all leading axes. Shapes: a (..., m),
    b (..., n), result (m, n): what the weight of a linear layer receives."""
    return xp.sum_outer(a, b)


@op
def linear_layer(xp, x, weight, bias=None):
    """`x @ weightᵀ + bias`: rows of `weight` are compared with the last axis of `x` (PyTorch's layout: out, in)."""
    out = xp.matmul(x, xp.turned(weight))
    if bias is not None:
        out += bias
    return out


@linear_layer.rule("x")
def _(xp, upstream, weight):
    """Each output passes on its gradient along its row of the weight."""
    return xp.matmul(upstream, weight)


@linear_layer.rule("weight")
def _(xp, upstream, x):
    """Each output's row collects the inputs it saw, as strongly as it was asked to change; over all of the batch."""
    return xp.sum_outer(upstream, x)


@linear_layer.rule("bias")
def _(upstream):
    """The bias is added to every row; the engine adds the rows up."""
    return upstream


@names_itself
def outer(a, b):
    """Every entry of `a` times every entry of `b`, as a matrix."""
    return reshape(a, (-1, 1)) * reshape(b, (1, -1))


@names_itself
def dot(a, b):
    """NumPy's dot: the inner product of vectors, the matrix product of matrices, and of larger arrays the sum over the
    last axis of `a` and the last but one of `b`."""
    if ndim(a) == 0 or ndim(b) == 0:
        return multiply(a, b)
    if (ndim(a) <= 2 and ndim(b) <= 2) or ndim(b) == 1:
        return matmul(a, b)
    return tensordot(a, b, axes=((-1,), (-2,)))


@names_itself
def inner(a, b):
    """The sum over the last axis of both."""
    if ndim(a) == 0 or ndim(b) == 0:
        return multiply(a, b)
    return tensordot(a, b, axes=((-1,), (-1,)))


@names_itself
def tensordot(a, b, axes: Any = 2):
    """The sum over several axes of both: the last `axes` of `a` and first of `b`, or two lists of axes."""
    if isinstance(axes, int):
        axes = (range(ndim(a) - axes, ndim(a)), range(axes))
    of_a, of_b = _counted(a, axes[0]), _counted(b, axes[1])
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


def _counted(x, axes):
    """Axes counted from the front, in the order they were named."""
    named = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in named:
        if not -ndim(x) <= axis < ndim(x):
            raise IndexError(f"tensordot: axis {axis} is out of range for an array of {ndim(x)} axes")
    return [axis % ndim(x) for axis in named]


@joining(
    parts=lambda xp, upstream, parts, parts_shape, subscripts: _transposes(
        xp, subscripts, upstream, parts, parts_shape
    )
)
def _einsum(xp, parts, *, subscripts):
    """Products of entries, added up over every letter that the result does not name (Einstein's summation).

    Each factor's gradient is an einsum too: of upstream and the other factors, with the factor's own letters as result.
    """
    return xp.einsum(subscripts, *parts)


@face(_einsum, word=True)
@names_itself
def einsum(subscripts, *operands):
    """Products of entries, added up over every letter that the result does not name (Einstein's summation).

    >>> import micrograd_plus as mg
    >>> mg.einsum("ij,j->i", mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mg.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    return _einsum(operands, subscripts=_spelled_out(subscripts, [ndim(part) for part in operands]))


def _spelled_out(subscripts: str, ndims: list[int]) -> str:
    """Subscripts with an explicit result, and letters in the place of `...`."""
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
    """What each factor of an einsum receives: the einsum of upstream, the other factors, and what stands in for letters
    that those lack, with the factor's own letters as result."""
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
    """The letters of a factor, no two alike, and what stands in for those that neither the result nor the `lengths` of
    other factors have.

    A letter that only this factor has (at its full length) was summed away: its gradient is the same all along it, so
    ones stand for it. A letter that the factor has twice picked a diagonal: the identity puts it back.
    """
    result = subscripts.partition("->")[2]
    spare = (c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts)
    own, stand_ins = "", []
    for letter, length in zip(term, shape, strict=True):
        name = letter
        if letter in own:
            name = next(spare)
            stand_ins.append((letter + name, xp.eye_beside(upstream, length)))
        elif letter not in result and not any(each == letter and length in (n, 1) for each, n in lengths):
            stand_ins.append((letter, xp.ones_beside(upstream, (length,))))
        own += name
    return own, stand_ins
