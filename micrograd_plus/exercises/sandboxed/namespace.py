"""The words of `xp` that a student's rule may use: NumPy's own functions, and a few for shapes.

>>> xp = Words(["exp", "mT"])
>>> xp.mT(np.ones((2, 3))).shape
(3, 2)
"""

# ruff: noqa: N802 - mT is NumPy's word

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def mT(x: Any) -> Any:
    """The last two axes swapped."""
    return np.swapaxes(x, -1, -2)


def rows(x: Any) -> Any:
    """All axes but the last as one."""
    return np.reshape(x, (-1, x.shape[-1]))


def axes_of(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """An axis, several, or None for all, counted from the front."""
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(each % len(shape) for each in axes) if shape else ()


def count_along(shape: tuple[int, ...], axis: Any = None) -> int:
    """How many entries lie along an axis, along several, or in all."""
    return int(np.prod([shape[each] for each in axes_of(shape, axis)], dtype=int))


def last_axes(count: int) -> tuple[int, ...]:
    """So many axes, counted from the end."""
    return tuple(range(-count, 0))


def unreduce(x: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """What a reduction along `axis` left, repeated along it again."""
    kept = tuple(1 if i in axes_of(shape, axis) else n for i, n in enumerate(shape))
    return np.broadcast_to(np.reshape(x, kept), shape)


def sum_to_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """The sum over everything that broadcasting had repeated."""
    x = np.sum(x, axis=tuple(range(np.ndim(x) - len(shape))))
    return np.sum(x, axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


def one_hot(indices: Any, num_classes: int) -> Any:
    """A row of zeros for each index, with a 1 at its place."""
    return 1.0 * (np.expand_dims(indices, -1) == np.arange(num_classes))


def sigmoid(x: Any) -> Any:
    """The logistic function, without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


OWN = (mT, rows, count_along, last_axes, unreduce, sum_to_shape, one_hot, sigmoid)
NUMPYS = [
    "abs",
    "absolute",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "array",
    "asarray",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "concatenate",
    "copysign",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "diag",
    "diagonal",
    "divide",
    "dot",
    "einsum",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "flip",
    "floor",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "isfinite",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "ndim",
    "negative",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "power",
    "prod",
    "put_along_axis",
    "reciprocal",
    "repeat",
    "reshape",
    "roll",
    "round",
    "shape",
    "sign",
    "sin",
    "sinh",
    "size",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "where",
    "zeros",
    "zeros_like",
]
ALL: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in NUMPYS} | {f.__name__: f for f in OWN}
"""Every word that an exercise can allow."""


class Words:
    """The words of one exercise, as attributes; any other is refused with a sentence."""

    def __init__(self, names: Iterable[str]):
        self.__dict__.update({name: ALL[name] for name in names})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"xp has no word {name!r} in this exercise")

    def __repr__(self) -> str:
        return f"<xp: {', '.join(sorted(self.__dict__))}>"
