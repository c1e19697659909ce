"""The namespace `xp` of a student's rule: NumPy functions, and a few for shapes.

>>> xp = Namespace(["exp", "mT"])
>>> xp.mT(np.ones((2, 3))).shape
(3, 2)
"""

# ruff: noqa: N802 - mT is NumPy's name

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def mT(x: Any) -> Any:
    """Swap the last two axes."""
    return np.swapaxes(x, -1, -2)


def rows(x: Any) -> Any:
    """Flatten all axes except the last into one."""
    return np.reshape(x, (-1, x.shape[-1]))


def normalize_axes(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """Return an axis, several axes, or None (all axes) as a tuple of non-negative integers."""
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(each % len(shape) for each in axes) if shape else ()


def count_along(shape: tuple[int, ...], axis: Any = None) -> int:
    """Count the entries along one axis, along several, or in the whole array."""
    return int(np.prod([shape[each] for each in normalize_axes(shape, axis)], dtype=int))


def last_axes(count: int) -> tuple[int, ...]:
    """Return the last `count` axes as negative integers."""
    return tuple(range(-count, 0))


def unreduce(x: Any, shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> Any:
    """Repeat the result of a reduction along `axis`, so that it has the shape before the reduction again."""
    reduced = tuple(1 if i in normalize_axes(shape, axis) else n for i, n in enumerate(shape))
    return np.broadcast_to(np.reshape(x, reduced), shape)


def sum_to_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum over every axis that broadcasting has added or repeated."""
    x = np.sum(x, axis=tuple(range(np.ndim(x) - len(shape))))
    return np.sum(x, axis=tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Return a row for each index: 1 at the index, 0 elsewhere."""
    return 1.0 * (np.expand_dims(indices, -1) == np.arange(num_classes))


def sigmoid(x: Any) -> Any:
    """Return the logistic function, computed without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


OWN_FUNCTIONS = (mT, rows, count_along, last_axes, unreduce, sum_to_shape, one_hot, sigmoid)
NUMPY_FUNCTIONS = [
    "abs", "absolute", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax",
    "argmin", "argsort", "array", "asarray", "broadcast_to", "cbrt", "ceil", "clip", "concatenate", "copysign", "cos",
    "cosh", "cumprod", "cumsum", "diag", "diagonal", "divide", "dot", "einsum", "empty_like", "equal", "exp",
    "expand_dims", "expm1", "eye", "flip", "floor", "full", "full_like", "greater", "greater_equal", "hypot",
    "isfinite", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
    "logical_or", "matmul", "max", "maximum", "mean", "min", "minimum", "moveaxis", "multiply", "ndim", "negative",
    "not_equal", "ones", "ones_like", "outer", "power", "prod", "put_along_axis", "reciprocal", "repeat", "reshape",
    "roll", "round", "shape", "sign", "sin", "sinh", "size", "split", "sqrt", "square", "squeeze", "stack",
    "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "transpose", "tril", "triu", "trunc",
    "where", "zeros", "zeros_like",
]  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in NUMPY_FUNCTIONS}
FUNCTIONS |= {function.__name__: function for function in OWN_FUNCTIONS}
"""Every function that an exercise can offer, by name."""


class Namespace:
    """The functions of one exercise as attributes. Any other name raises AttributeError."""

    def __init__(self, names: Iterable[str]):
        self.__dict__.update({name: FUNCTIONS[name] for name in names})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"xp has no function {name!r} in this exercise")

    def __dir__(self) -> list[str]:
        return sorted(self.__dict__)

    def __repr__(self) -> str:
        return f"<xp: {', '.join(sorted(self.__dict__))}>"
