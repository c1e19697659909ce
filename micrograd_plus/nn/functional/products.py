"""Linear layers, and the angle between vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...backends.shapes import shape
from ...tensor import Tensor
from .shapes import refuse_complex

__all__ = ["cosine_similarity", "linear"]


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """Apply a linear (fully connected) layer: input @ weightᵀ + bias.

    out_o = Σ_i weight_oi · input_i + bias_o.

    Shapes: input (..., in), weight (out, in), bias (out,) -> (..., out).
    Args:
        input: real or complex numbers.
        weight: the matrix, one row for each output.
        bias: added to each output; None by default.
    Returns: a tensor (..., out) of the dtype of input and weight together.
    Raises: ValueError if shapes do not fit; TypeError if any of them is not made of numbers.
    Example:
        >>> F.linear(mg.tensor([1.0, 2.0]), mg.tensor([[1.0, 1.0], [1.0, -1.0]]), mg.tensor([0.0, 10.0])).tolist()
        [3.0, 9.0]

    See: torch.nn.functional.linear; CS231n notes, Linear classification.
    """
    return ops.linear_layer(input, weight, bias)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Compute the cosine similarity: the cosine of the angle between vectors.

    cos = Σ_i x1_i · x2_i / (max(‖x1‖, eps) · max(‖x2‖, eps)), with i along dim. Beside a vector of zeros it is 0.

    Shapes: x1 and x2 broadcast to one shape -> that shape without dim.
    Args:
        x1, x2: real numbers, vectors along dim.
        dim: the axis of the vectors, of the shape that both broadcast to; 1 by default.
        eps: the least that counts as a length; 1e-8 by default.
    Returns: a tensor of the dtype of x1 and x2 together (float64 for integers).
    Raises: ValueError if shapes do not broadcast; IndexError if the axis is out of range; TypeError for complex
        numbers.
    Example:
        >>> F.cosine_similarity(mg.tensor([[1.0, 0.0]]), mg.tensor([[3.0, 4.0]])).tolist()
        [0.6]

    See: torch.nn.functional.cosine_similarity.
    """
    refuse_complex("cosine_similarity", x1, x2)
    if shape(x1) != shape(x2):
        whole = np.broadcast_shapes(shape(x1), shape(x2))
        x1, x2 = (ops.broadcast_to(each, shape=whole) for each in (x1, x2))
    together = ops.sum(ops.multiply(x1, x2), axis=dim)
    first, second = (ops.maximum(ops.norm(each, axis=dim), eps) for each in (x1, x2))
    return together / (first * second)
