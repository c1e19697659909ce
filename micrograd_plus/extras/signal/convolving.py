"""Convolution of signals, as in mathematics. Public as `mg.signal`.

The layers of networks move the kernel without turning it: see `mg.conv2d`.
"""

from itertools import product

from ...backends.shapes import ndim, shape
from ...core.define import multilinear, wraps_op
from ...core.messages import prefixes_errors
from ...ops.products import tensordot
from ...ops.shape import flip, getitem, moveaxis, pad


def _inner(of, kernel):
    """Return where, in a full convolution, the positions of the longer input are."""
    return tuple(slice(k - 1, k - 1 + n) for n, k in zip(of, kernel, strict=True))


@multilinear(
    a=lambda xp, upstream, b, a_shape, b_shape: xp.convolve(upstream, xp.flip(b))[_inner(a_shape, b_shape)],
    b=lambda xp, upstream, a, a_shape, b_shape: xp.convolve(upstream, xp.flip(a))[_inner(b_shape, a_shape)],
)
def _convolve(xp, a, b):
    """Compute the full convolution."""
    return xp.convolve(a, b)


@wraps_op(_convolve, namespace=True)
@prefixes_errors
def convolve(a, b, mode="full", axes=None, dot_axes=((), ())):
    """Convolve two arrays.

    out[i] = Σ_k a[k] b[i - k], along every axis.
    Shapes: a (m), b (n), mode="full" -> (m + n - 1); "same" -> (m); "valid" -> (m - n + 1).
    Args:
        a, b: numbers, with equally many axes unless `axes` is given.
        mode: "full" (default) for all positions where the two overlap, "same" for the middle ones, as many as a has,
            "valid" for positions where one is completely inside the other.
        axes: the axes to convolve along, as a pair of lists, one for a and one for b; None (default) for all.
        dot_axes: with `axes`, the axes to sum the products over, as such a pair. Axes in neither list
            come first in the result, a's before b's.
    Raises: ValueError if mode is unknown, axes do not pair up, an array is empty, or with "valid" if neither fits
        inside the other.
    >>> mg.signal.convolve([1.0, 2.0, 3.0], [1.0, 10.0]).tolist()
    [1.0, 12.0, 23.0, 30.0]
    See: scipy.signal.convolve, numpy.convolve; `autograd.scipy.signal.convolve`, which has the axes."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be 'full', 'same' or 'valid', got {mode!r}")
    if axes is None:
        if ndim(a) != ndim(b):
            raise ValueError(f"a and b must have the same number of axes, got {ndim(a)} and {ndim(b)}")
        return _cut(_convolve(a, b), shape(a), shape(b), mode)
    moved = tuple(tuple(i % ndim(x) for i in each) for each, x in zip(axes, (a, b), strict=True))
    dotted = tuple(tuple(i % ndim(x) for i in each) for each, x in zip(dot_axes, (a, b), strict=True))
    if len(moved[0]) != len(moved[1]) or len(dotted[0]) != len(dotted[1]):
        raise ValueError(f"axes {axes} and dot_axes {dot_axes} pair up axes of a with axes of b")
    return _along(a, b, moved, dotted, mode)


def _cut(whole, of, kernel, mode):
    """Return the part of a convolution, along its last axes, that a mode keeps."""
    if mode == "full":
        return whole
    lengths = of
    if mode == "valid":
        if not all(m >= n for m, n in zip(of, kernel, strict=True)) and not all(
            m <= n for m, n in zip(of, kernel, strict=True)
        ):
            raise ValueError(f"neither {of} lies within {kernel} nor the other way round")
        lengths = tuple(abs(m - n) + 1 for m, n in zip(of, kernel, strict=True))
    starts = [(m + n - 1 - length) // 2 for m, n, length in zip(of, kernel, lengths, strict=True)]
    places = tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))
    return getitem(whole, index=(..., *places))


def _along(a, b, moved, dotted, mode):
    """Convolve along some axes, and sum over or keep the others: one product for each position of the kernel."""
    of, kernel = (tuple(shape(x)[i] for i in each) for x, each in zip((a, b), moved, strict=True))
    if mode == "valid" and any(m < n for m, n in zip(of, kernel, strict=True)):
        raise ValueError(f"b {kernel} does not lie within a {of}, along the axes that move")
    borders = [(kernel[moved[0].index(i)] - 1,) * 2 if i in moved[0] else (0, 0) for i in range(ndim(a))]
    wide, turned, total = pad(a, tuple(borders)) if mode != "valid" else a, flip(b, axis=moved[1]), 0.0
    lengths = [n - k + 1 for n, k in zip([shape(wide)[i] for i in moved[0]], kernel, strict=True)]
    kept = [i for i in range(ndim(a)) if i not in dotted[0]]
    for place in product(*map(range, kernel)):
        stretch, entry = [slice(None)] * ndim(a), [slice(None)] * ndim(b)
        for i, j, start, length in zip(*moved, place, lengths, strict=True):
            stretch[i], entry[j] = slice(start, start + length), slice(start, start + 1)
        factor = getitem(turned, index=tuple(entry))
        part = tensordot(getitem(wide, index=tuple(stretch)), factor, axes=dotted)
        left = [j for j in range(ndim(b)) if j not in dotted[1]]
        part = getitem(part, index=(*(slice(None),) * len(kept), *(0 if j in moved[1] else slice(None) for j in left)))
        total = total + part
    total = moveaxis(total, tuple(kept.index(i) for i in moved[0]), tuple(range(-len(of), 0)))
    return total if mode == "valid" else _cut(total, of, kernel, mode)
