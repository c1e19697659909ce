"""Noise that a gradient passes through: entries silenced, and draws from classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops, random
from ...tensor import Tensor
from .shapes import constant_like, refuse_places, wants_probability

__all__ = ["dropout", "dropout1d", "dropout2d", "gumbel_softmax"]


def dropout(input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None) -> Tensor:
    """While `training`: each entry silenced with probability `p`, the others divided by 1 - p to make up for it.

    >>> import micrograd_plus as mg
    >>> sorted(set(mg.nn.functional.dropout(mg.tensor([1.0] * 1000), 0.75).tolist()))
    [0.0, 4.0]
    """
    return _silenced("dropout", input, input.shape, p, training, rng)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None) -> Tensor:
    """`dropout` of whole channels of lines (N, C, L)."""
    refuse_places("dropout1d", 1, input)
    return _silenced("dropout1d", input, (*input.shape[:2], 1), p, training, rng)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None) -> Tensor:
    """`dropout` of whole channels of images (N, C, H, W)."""
    refuse_places("dropout2d", 2, input)
    return _silenced("dropout2d", input, (*input.shape[:2], 1, 1), p, training, rng)


def _silenced(name: str, input: Any, shape: tuple[int, ...], p: float, training: bool, rng: Any) -> Tensor:
    """The input times one draw for each entry of `shape`, which broadcasts to it: 0, or 1 / (1 - p)."""
    wants_probability(f"{name}: p", p)
    if not training or p == 0:
        return input
    kept = random.beside(input, rng).random(shape) >= p
    return ops.dropout(input, constant_like(kept / (1 - p) if p < 1 else kept, input))


def gumbel_softmax(
    logits: Any, tau: float = 1.0, hard: bool = False, *, dim: int = -1, rng: np.random.Generator | None = None
) -> Tensor:
    """A draw from the classes that a gradient can pass through (Jang et al. 2017, Maddison et al. 2017).

    The softmax of noisy scores, sharper for a smaller `tau`. `hard` gives a row with a single 1, and on the way back
    the gradient of the soft one (straight-through).
    """
    if not tau > 0:
        raise ValueError(f"gumbel_softmax: tau must be above 0, got {tau}")
    noise = constant_like(random.beside(logits, rng).gumbel(size=logits.shape), logits)
    soft = ops.softmax((logits + noise) / tau, axis=dim)
    if not hard:
        return soft
    # Subtracting a number from itself leaves exactly 0: the row is hard to the last bit.
    largest = soft == ops.max(soft, axis=dim, keepdims=True)
    return soft - ops.stop_gradient(soft) + ops.astype(largest, dtype=soft.dtype)
