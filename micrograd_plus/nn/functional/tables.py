"""Embedding lookup and one-hot encoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...backends import devices
from ...core.runtime.blocks import no_grad
from ...tensor import Tensor
from .norms import length
from .shapes import plain

__all__ = ["embedding", "one_hot"]


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0
) -> Tensor:
    """Look up rows of a table by number (embedding).

    out[...] = weight[input[...]]. The gradient of a row is the sum over all places where it was looked up.

    Shapes: input (...), weight (words, width) -> (..., width).
    Args:
        input: integers from 0 to words - 1.
        weight: a tensor, the table.
        padding_idx: a row that stands for nothing and receives no gradient, counted from the end where negative; None
            by default.
        max_norm: how long rows may be; those looked up that are longer are shortened in the table first, outside the
            graph. None by default: any length.
        norm_type: the p of the norm that measures them; 2 by default.
    Returns: a tensor of the dtype of weight.
    Raises: IndexError if a number is no row; TypeError if input holds no integers, or weight is not a tensor;
        ValueError if weight is no matrix, or padding_idx no row.
    Example:
        >>> F.embedding([2, 0], mg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist()
        [[5.0, 6.0], [1.0, 2.0]]

    See: torch.nn.functional.embedding, numpy.take; Bengio et al., A neural probabilistic language model, 2003.
    """
    library = devices.device_of(plain(weight)).library
    numbers = library.asarray(list_to_array(input)) if isinstance(input, (int, list, tuple)) else input
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
    """Shorten rows of a table to the length `max_norm`, outside the graph."""
    with no_grad():
        lengths = length(weight[rows], norm_type, -1)
        # PyTorch's guard: a row that was shortened once is not found too long again, by rounding
        weight[rows] = weight[rows] * ops.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1.0)


def one_hot(input: Any, num_classes: int = -1) -> Tensor:
    """Encode numbers as one-hot rows: zeros with a single 1.

    out[..., c] = 1 where c = input[...], else 0. The result holds integers, as in PyTorch: `.astype(float)` makes
    probabilities of them.

    Shapes: (...) -> (..., num_classes).
    Args:
        input: integers from 0 to num_classes - 1.
        num_classes: how long rows are; -1, the default, takes as many as are needed.
    Returns: a tensor of integers, without gradient.
    Raises: IndexError if a number is no class; TypeError if input holds no integers.
    Example:
        >>> F.one_hot([2, 0]).tolist()
        [[0, 0, 1], [1, 0, 0]]

    See: torch.nn.functional.one_hot.
    """
    numbers = np.asarray(list_to_array(input)) if isinstance(input, (int, list, tuple)) else input
    if num_classes == -1:
        num_classes = plain(numbers).max().item() + 1 if plain(numbers).size else 0
    _in_range("one_hot", numbers, num_classes)
    return ops.one_hot(numbers, num_classes=num_classes)


def list_to_array(numbers: Any) -> Any:
    """Return the numbers of a list as an array; an empty list gives integers."""
    given = np.asarray(numbers)
    return given if given.size else given.astype(int)


def _in_range(name: str, numbers: Any, count: int) -> None:
    """Raise for a negative index and for one that is not an integer."""
    values = plain(numbers)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {values.dtype}")
    is_wrong = (values < 0) | (values >= count)
    if is_wrong.any().item():
        raise IndexError(f"{name}: {values[is_wrong][0].item()} is out of range: numbers run from 0 to {count - 1}")
