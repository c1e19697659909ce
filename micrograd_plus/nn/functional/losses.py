"""Losses between a prediction and a target of the same shape, under PyTorch's names.

`reduction` is "mean" (over all entries), "sum", or "none" for one loss per entry.
"""

from __future__ import annotations

from math import exp
from typing import Any

from ... import ops
from ...tensor import Tensor
from .shapes import plain, same_shape

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "smooth_l1_loss",
]  # fmt: skip

SMALLEST_PROBABILITY = exp(-100)  # PyTorch's bound: no log of a probability is taken to be below -100


def reduced(name: str, each: Tensor, reduction: str) -> Tensor:
    """One loss for all, or each by itself."""
    if reduction == "mean":
        return ops.mean(each)
    if reduction == "sum":
        return ops.sum(each)
    if reduction != "none":
        raise ValueError(f"{name}: reduction is 'none', 'mean' or 'sum', got {reduction!r}")
    return each


def weighed(each: Tensor, weight: Any) -> Tensor:
    """Each loss times its weight."""
    return each if weight is None else each * weight


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Squared differences.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.mse_loss(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(2.)
    """
    same_shape("mse_loss", input, target)
    if reduction == "mean":
        return ops.mse(input, target)
    return reduced("mse_loss", ops.square(ops.subtract(input, target)), reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Absolute differences. Where there is none the slope is taken to be 0."""
    same_shape("l1_loss", input, target)
    return reduced("l1_loss", ops.absolute(ops.subtract(input, target)), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the squared difference up to `delta`, and beyond it a straight line of that slope."""
    same_shape("huber_loss", input, target)
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta}")
    difference = ops.subtract(input, target)
    near = ops.clip(difference, -delta, delta)
    return reduced("huber_loss", near * (difference - 0.5 * near), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """The absolute difference, rounded within `beta` of 0: huber_loss divided by beta."""
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    same_shape("smooth_l1_loss", input, target)
    return huber_loss(input, target, reduction, delta=beta) / beta


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """What a probability makes of a yes (1) or no (0), or of anything between.

    The log of a probability of 0 counts as -100, as in PyTorch. From scores rather than probabilities,
    `binary_cross_entropy_with_logits` is exact everywhere.
    """
    same_shape("binary_cross_entropy", input, target)
    if not ((plain(input) >= 0) & (plain(input) <= 1)).all().item():
        raise ValueError(
            "binary_cross_entropy: input must lie between 0 and 1: these are probabilities; of scores take "
            "binary_cross_entropy_with_logits"
        )
    each = -(target * _bounded_log(input) + (1 - target) * _bounded_log(ops.subtract(1, input)))
    return reduced("binary_cross_entropy", weighed(each, weight), reduction)


def _bounded_log(probability: Any) -> Tensor:
    """log(p), and -100 where it would be less; there it no longer changes."""
    enough = probability > SMALLEST_PROBABILITY
    return ops.where(enough, ops.log(ops.where(enough, probability, 1.0)), -100.0)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """What a score makes of a yes (1) or no (0), safe for large scores of either sign.

    `pos_weight` is how much more a yes counts than a no; it is broadcast: one for each entry of the last axis, say.
    """
    same_shape("binary_cross_entropy_with_logits", input, target)
    if pos_weight is None:
        each = ops.binary_cross_entropy_with_logits(input, target)
    else:
        yes, no = ops.softplus(ops.negative(input)), ops.softplus(input)
        each = pos_weight * target * yes + (1 - target) * no
    return reduced("binary_cross_entropy_with_logits", weighed(each, weight), reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """How far the probabilities of `target` are from those whose logarithms are `input`.

    "batchmean" divides the sum by the length of the first axis, which is the divergence of mathematics when each row is
    a distribution; "mean" divides by all entries.
    """
    same_shape("kl_div", input, target)
    if log_target:
        each = ops.exp(target) * (target - input)
    else:
        # 0 log 0 is 0: the log of 1 stands in for it.
        each = target * (ops.log(ops.where(target > 0, target, 1.0)) - input)
    if reduction == "batchmean":
        return ops.sum(each) / (each.shape[0] if each.ndim else 1)
    return reduced("kl_div", each, reduction)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """A distance where the target is 1; where it is -1, what the distance lacks to `margin`."""
    same_shape("hinge_embedding_loss", input, target)
    if not (abs(plain(target)) == 1).all().item():
        raise ValueError("hinge_embedding_loss: every target must be 1 (alike) or -1 (unlike)")
    each = ops.where(target == 1, input, ops.relu(ops.subtract(margin, input)))
    return reduced("hinge_embedding_loss", each, reduction)
