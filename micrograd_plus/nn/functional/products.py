"""Linear layers, and the angle between vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...readings.shapes import shape
from ...tensor import Tensor

__all__ = ["cosine_similarity", "linear"]


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """`input @ weightᵀ + bias`. Shapes: input (..., in), weight (out, in), bias (out,); the result is (..., out).

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.linear(mg.tensor([1.0, 2.0]), mg.tensor([[1.0, 1], [1, -1]]), mg.tensor([0.0, 10])).tolist()
    [3.0, 9.0]
    """
    return ops.linear_layer(input, weight, bias)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`; a length counts as at least `eps`."""
    if shape(x1) != shape(x2):
        whole = np.broadcast_shapes(shape(x1), shape(x2))
        x1, x2 = (ops.broadcast_to(each, shape=whole) for each in (x1, x2))
    together = ops.sum(ops.multiply(x1, x2), axis=dim)
    first, second = (ops.maximum(ops.norm(each, axis=dim), eps) for each in (x1, x2))
    return together / (first * second)
