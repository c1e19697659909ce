"""Dropout and Gumbel-softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops, random
from ...tensor import Tensor
from .shapes import check_probability, constant_like, refuse_places

__all__ = ["dropout", "dropout1d", "dropout2d", "gumbel_softmax"]


def dropout(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False, *, rng: np.random.Generator | None = None
) -> Tensor:
    """Set entries to 0 at random and scale up the others (dropout).

    out_i = input_i · m_i / (1 - p), where m_i is 0 with probability p and else 1, drawn for each entry by itself.

    Shapes: any -> the same.
    Args:
        input: a tensor of numbers.
        p: the probability that an entry is set to 0, from 0 to 1; 0.5 by default.
        training: whether to change the input at all; True by default.
        inplace: accepted as in PyTorch and ignored; no tensor is overwritten.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: a tensor of the shape of input; input itself where training is False or p is 0.
    Raises: ValueError if p is not a probability; TypeError if input is not a tensor.
    Example:
        >>> sorted(set(F.dropout(mg.tensor([1.0] * 1000), 0.75).tolist()))
        [0.0, 4.0]
        >>> F.dropout(mg.tensor([1.0, 2.0]), training=False).tolist()
        [1.0, 2.0]

    See: torch.nn.functional.dropout; Srivastava et al., Dropout, 2014.
    """
    return _drop("dropout", input, input.shape, p, training, rng)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None) -> Tensor:
    """Set whole channels of lines to 0 at random.

    out[n, c, :] = input[n, c, :] · m[n, c] / (1 - p), where m[n, c] is 0 with probability p and else 1.

    Shapes: (N, C, L) -> the same.
    Args:
        input: a tensor, N lines of C channels.
        p: the probability that an entry is set to 0, from 0 to 1; 0.5 by default.
        training: whether to change the input at all; True by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: a tensor of the shape of input; input itself where training is False or p is 0.
    Raises: ValueError if p is not a probability, or input has another number of axes; TypeError if input is not a
        tensor.
    Example:
        >>> ones = mg.tensor(np.ones((50, 2, 3)))
        >>> sorted({tuple(line) for lines in F.dropout1d(ones).tolist() for line in lines})
        [(0.0, 0.0, 0.0), (2.0, 2.0, 2.0)]

    See: torch.nn.functional.dropout1d; Tompson et al., Efficient object localization using convolutional networks,
        2015.
    """
    refuse_places("dropout1d", 1, input)
    return _drop("dropout1d", input, (*input.shape[:2], 1), p, training, rng)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None) -> Tensor:
    """Set whole channels of images to 0 at random.

    out[n, c, :, :] = input[n, c, :, :] · m[n, c] / (1 - p), where m[n, c] is 0 with probability p and else 1.

    Shapes: (N, C, H, W) -> the same.
    Args:
        input: a tensor, N images of C channels.
        p: the probability that an entry is set to 0, from 0 to 1; 0.5 by default.
        training: whether to change the input at all; True by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: a tensor of the shape of input; input itself where training is False or p is 0.
    Raises: ValueError if p is not a probability, or input has another number of axes; TypeError if input is not a
        tensor.
    Example:
        >>> out = F.dropout2d(mg.tensor(np.ones((50, 2, 3, 3))))
        >>> sorted(set(mg.sum(out, axis=(2, 3)).numpy().ravel().tolist()))
        [0.0, 18.0]

    See: torch.nn.functional.dropout2d; Tompson et al., Efficient object localization using convolutional networks,
        2015.
    """
    refuse_places("dropout2d", 2, input)
    return _drop("dropout2d", input, (*input.shape[:2], 1, 1), p, training, rng)


def _drop(name: str, input: Any, shape: tuple[int, ...], p: float, training: bool, rng: Any) -> Tensor:
    """Multiply the input by one draw for each entry of `shape`, which broadcasts: 0, or 1 / (1 - p)."""
    check_probability(f"{name}: p", p)
    if not training or p == 0:
        return input
    kept = random.beside(input, rng).random(shape) >= p
    return ops.dropout(input, constant_like(kept / (1 - p) if p < 1 else kept, input))


def gumbel_softmax(
    logits: Any, tau: float = 1.0, hard: bool = False, *, dim: int = -1, rng: np.random.Generator | None = None
) -> Tensor:
    """Draw from classes with a gradient (Gumbel-softmax).

    out = softmax((logits + g) / tau), with g drawn for each entry from the Gumbel distribution. Its largest entry is
    class i with probability softmax(logits)_i; the smaller tau, the closer the row to a single 1. With hard the row has
    a single 1, and on the way back the gradient of the soft one (straight-through).

    Shapes: any -> the same.
    Args:
        logits: a tensor of real scores.
        tau: the temperature, a positive number; 1 by default.
        hard: whether a row has a single 1; False by default.
        dim: the axis of the classes, the last by default.
        rng: draws the noise; the generator of mg.random by default.
    Returns: a tensor of the shape of logits.
    Raises: ValueError if tau is not positive; IndexError if the axis is out of range; TypeError if logits are
        complex or no tensor.
    Example:
        >>> F.gumbel_softmax(mg.tensor([0.0, 1000.0, 0.0]), hard=True).tolist()
        [0.0, 1.0, 0.0]

    See: torch.nn.functional.gumbel_softmax; Jang et al., Categorical reparameterization with Gumbel-softmax, 2017;
        Maddison et al., The concrete distribution, 2017.
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
