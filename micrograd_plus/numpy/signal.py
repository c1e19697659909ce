"""Signals: autograd's `convolve`, along chosen axes, with sums over others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from .. import ops
from ..core.variable import shape_of
from .dispatch import has_tensors


def convolve(
    A: Any,
    B: Any,
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] = ((), ()),
    mode: str = "full",
) -> Any:
    """Convolve along `axes` (of A, of B); along `dot_axes` entries are multiplied and summed.

    The result begins with the other axes of A, then of B. "full" has every overlap, "valid" only positions where the
    shorter one fits inside.
    """
    xp: Any = ops if has_tensors((A, B)) else np
    ndims = len(shape_of(A)), len(shape_of(B))
    along = [[i % n for i in each] for each, n in zip(axes or [range(ndims[0]), range(ndims[1])], ndims, strict=True)]
    summed = [[i % n for i in each] for each, n in zip(dot_axes, ndims, strict=True)]
    free = [[i for i in range(n) if i not in a and i not in s] for n, a, s in zip(ndims, along, summed, strict=True)]
    # Each as (its own axes, summed axes, convolved axes).
    a, b = (
        xp.transpose(value, axes=(*f, *s, *w)) for value, f, s, w in zip((A, B), free, summed, along, strict=True)
    )
    count, dots = len(along[0]), len(summed[0])
    if mode == "valid" and any(m < n for m, n in zip(shape_of(a)[-count:], shape_of(b)[-count:], strict=True)):
        return convolve(B, A, axes and axes[::-1], dot_axes[::-1], mode)
    own = len(free[0]), len(free[1])
    sizes = shape_of(b)[-count:] if count else ()
    if mode == "full":
        a = xp.pad(a, [(0, 0)] * (own[0] + dots) + [(n - 1, n - 1) for n in sizes])
    elif mode != "valid":
        raise ValueError(f"convolve: mode must be 'full' or 'valid', got {mode!r}")
    lengths = [m - n + 1 for m, n in zip(shape_of(a)[len(shape_of(a)) - count :], sizes, strict=True)]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of_a, of_b, of_dots, of_places = ("".join(next(letters) for _ in range(n)) for n in (*own, dots, count))
    subscripts = f"{of_a}{of_dots}{of_places},{of_b}{of_dots}->{of_a}{of_b}{of_places}"
    total: Any = None
    for shift in product(*map(range, sizes)):
        window = a[(..., *(slice(s, s + n) for s, n in zip(shift, lengths, strict=True)))]
        part = xp.einsum(subscripts, window, b[(..., *(n - 1 - s for s, n in zip(shift, sizes, strict=True)))])
        total = part if total is None else total + part
    return total
