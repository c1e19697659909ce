"""Rows looked up by number: tables of words, and rows with a single 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...readings import vocabulary
from ...tensor import Tensor
from ...variable import no_grad
from .normalisation import length
from .shapes import plain

__all__ = ["embedding", "one_hot"]


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0
) -> Tensor:
    """Rows of the table `weight`, looked up by number.

    Shapes: input (...), weight (words, width), result (..., width). The row `padding_idx` stands for nothing: it
    receives no gradient. With `max_norm`, rows of a greater `norm_type`-norm are shortened in the table first.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.embedding([2, 0], mg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """
    library = vocabulary.device_of(plain(weight)).library
    numbers = library.asarray(input) if isinstance(input, (int, list, tuple)) else input
    if weight.ndim != 2:
        raise ValueError(f"embedding: weight has shape {weight.shape}, expected (words, width)")
    words = weight.shape[0]
    if padding_idx is not None and not -words <= padding_idx < words:
        raise ValueError(f"embedding: padding_idx {padding_idx} is not one of the {words} rows")
    _in_range("embedding", numbers, words)
    if max_norm is not None:
        _shorten(weight, library.unique(plain(numbers)), max_norm, norm_type)
    row = None if padding_idx is None else padding_idx % words
    return ops.embedding(numbers, weight, padding_idx=row)


def _shorten(weight: Tensor, rows: Any, max_norm: float, norm_type: float) -> None:
    """Rows of a table made at most `max_norm` long, outside the graph."""
    with no_grad():
        lengths = length(weight[rows], norm_type, -1)
        # PyTorch's guard: a row that was shortened once is not found too long again, by rounding
        weight[rows] = weight[rows] * ops.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1.0)


def one_hot(input: Any, num_classes: int = -1) -> Tensor:
    """A row of zeros with a single 1 for each number; -1 takes as many classes as are needed.

    The result holds whole numbers, as in PyTorch: `.astype(float)` makes probabilities of them.

    >>> from micrograd_plus.nn import functional as F
    >>> F.one_hot([2, 0]).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    numbers = np.asarray(input) if isinstance(input, (int, list, tuple)) else input
    if num_classes == -1:
        num_classes = plain(numbers).max().item() + 1 if plain(numbers).size else 0
    _in_range("one_hot", numbers, num_classes)
    return ops.astype(ops.one_hot(numbers, num_classes=num_classes), dtype=np.dtype(int))


def _in_range(name: str, numbers: Any, count: int) -> None:
    """Refuse a number that NumPy would count from the end, or that is no whole number."""
    values = plain(numbers)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {values.dtype}")
    wrong = values[(values < 0) | (values >= count)]
    if wrong.size:
        raise IndexError(f"{name}: {wrong[0].item()} is out of range: numbers run from 0 to {count - 1}")
