"""Losses between a prediction and a target of the same shape.

`reduction` is "mean" (over all entries), "sum", or "none" for one loss per entry.
"""

from __future__ import annotations

from math import exp
from typing import Any

from ... import ops
from ...tensor import Tensor
from .shapes import both, plain, refuse_complex

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "smooth_l1_loss",
]  # fmt: skip

SMALLEST_PROBABILITY = exp(-100)  # PyTorch's bound: the log of a probability is at least -100


def reduce_loss(name: str, each: Tensor, reduction: str) -> Tensor:
    """Reduce a loss to its mean or its sum, or not at all."""
    if reduction == "mean":
        return ops.mean(each)
    if reduction == "sum":
        return ops.sum(each)
    if reduction != "none":
        raise ValueError(f"{name}: reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    return each


def multiply_by_weight(each: Tensor, weight: Any) -> Tensor:
    """Multiply each loss by its weight."""
    return each if weight is None else each * weight


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute the mean squared error.

    loss_i = (input_i - target_i)².

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real numbers, the prediction.
        target: a tensor of real numbers, what it should be.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, or reduction is another; TypeError if either is not made of numbers.
    Example:
        >>> F.mse_loss(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0])).item()
        2.0

    See: torch.nn.functional.mse_loss.
    """
    input, target = both("mse_loss", input, target)
    refuse_complex("mse_loss", input, target)
    if reduction == "mean":
        return ops.mse(input, target)
    return reduce_loss("mse_loss", ops.square(ops.subtract(input, target)), reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Compute the mean absolute error (L1 loss).

    loss_i = |input_i - target_i|. Where they are equal the derivative is 0.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real or complex numbers, the prediction.
        target: a tensor of numbers, what it should be.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, or reduction is another; TypeError if either is not made of numbers.
    Example:
        >>> F.l1_loss(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0])).item()
        1.0

    See: torch.nn.functional.l1_loss.
    """
    input, target = both("l1_loss", input, target)
    return reduce_loss("l1_loss", ops.absolute(ops.subtract(input, target)), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Compute the Huber loss: squared up to delta, linear beyond it.

    With d = input_i - target_i: loss_i = d² / 2 where |d| ≤ delta, else delta · (|d| - delta / 2). Outliers pull with
    no more than delta.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real numbers, the prediction.
        target: a tensor of real numbers, what it should be.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
        delta: where the line begins, a positive number; 1 by default.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, delta is not positive, or reduction is another; TypeError if either
        is complex or not made of numbers.
    Example:
        >>> F.huber_loss(mg.tensor([1.0, 4.0]), mg.tensor([2.0, 1.0]), reduction="none").tolist()
        [0.5, 2.5]

    See: torch.nn.functional.huber_loss; Huber, Robust estimation of a location parameter, 1964.
    """
    input, target = both("huber_loss", input, target)
    refuse_complex("huber_loss", input, target)
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta}")
    difference = ops.subtract(input, target)
    near = ops.clip(difference, -delta, delta)
    return reduce_loss("huber_loss", near * (difference - 0.5 * near), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Compute the smooth L1 loss: the absolute difference, quadratic within beta of 0.

    With d = input_i - target_i: loss_i = d² / (2 · beta) where |d| ≤ beta, else |d| - beta / 2. It is huber_loss
    divided by beta.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real numbers, the prediction.
        target: a tensor of real numbers, what it should be.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
        beta: where the line begins, not negative; 1 by default, and 0 is l1_loss.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, beta is negative, or reduction is another; TypeError if either is
        complex (unless beta is 0) or not made of numbers.
    Example:
        >>> F.smooth_l1_loss(mg.tensor([1.0, 4.0]), mg.tensor([2.0, 1.0]), reduction="none", beta=2.0).tolist()
        [0.25, 2.0]

    See: torch.nn.functional.smooth_l1_loss; Girshick, Fast R-CNN, 2015.
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    input, target = both("smooth_l1_loss", input, target)
    refuse_complex("smooth_l1_loss", input, target)
    return huber_loss(input, target, reduction, delta=beta) / beta


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Compute the binary cross-entropy of probabilities with targets 1 and 0.

    loss_i = -weight_i · (t · log(p) + (1 - t) · log(1 - p)), with p = input_i and t = target_i. A logarithm counts as
    at least -100, as in PyTorch, and no longer changes there. From scores rather than probabilities,
    binary_cross_entropy_with_logits is exact everywhere.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of probabilities, p, from 0 to 1.
        target: a tensor, 1 for a yes, 0 for a no, or anything between, t.
        weight: a tensor that broadcasts to input, how much each entry counts; None by default: each 1.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, input is not a probability, or reduction is another; TypeError if input
        is complex, or neither is a tensor.
    Example:
        >>> p, yes = mg.tensor([0.5, 0.0]), mg.tensor([1.0, 1.0])
        >>> F.binary_cross_entropy(p, yes, reduction="none").numpy().round(4).tolist()
        [0.6931, 100.0]

    See: torch.nn.functional.binary_cross_entropy.
    """
    input, target = both("binary_cross_entropy", input, target)
    if not ((plain(input) >= 0) & (plain(input) <= 1)).all().item():
        raise ValueError(
            "binary_cross_entropy: input must lie between 0 and 1: these are probabilities; of scores take "
            "binary_cross_entropy_with_logits"
        )
    each = -(target * _bounded_log(input) + (1 - target) * _bounded_log(ops.subtract(1, input)))
    return reduce_loss("binary_cross_entropy", multiply_by_weight(each, weight), reduction)


def _bounded_log(probability: Any) -> Tensor:
    """Return log(p), or -100 if it is less; there the derivative is 0."""
    enough = probability > SMALLEST_PROBABILITY
    return ops.where(enough, ops.log(ops.where(enough, probability, 1.0)), -100.0)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Tensor:
    """Compute the binary cross-entropy of scores with targets 1 and 0.

    loss_i = weight_i · (pos_weight · t · log(1 + exp(-x)) + (1 - t) · log(1 + exp(x))), with x = input_i and t =
    target_i: binary_cross_entropy of the sigmoid of x, but safe for large scores of either sign. Its slope by x is
    sigmoid(x) - t where both weights are 1.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real scores (logits), x.
        target: a tensor, 1 for a yes, 0 for a no, or anything between, t.
        weight: a tensor that broadcasts to input, how much each entry counts; None by default: each 1.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
        pos_weight: how much more a yes counts than a no, a number or a tensor that broadcasts, such as one for each
            entry of the last axis; None by default: 1.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, or reduction is another; TypeError if either is complex or not made
        of numbers.
    Example:
        >>> x, yes = mg.tensor([0.0, -1000.0]), mg.tensor([1.0, 1.0])
        >>> F.binary_cross_entropy_with_logits(x, yes, reduction="none").numpy().round(4).tolist()
        [0.6931, 1000.0]

    See: torch.nn.functional.binary_cross_entropy_with_logits.
    """
    input, target = both("binary_cross_entropy_with_logits", input, target)
    if pos_weight is None:
        each = ops.binary_cross_entropy_with_logits(input, target)
    else:
        yes, no = ops.softplus(ops.negative(input)), ops.softplus(input)
        each = pos_weight * target * yes + (1 - target) * no
    return reduce_loss("binary_cross_entropy_with_logits", multiply_by_weight(each, weight), reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Compute the Kullback-Leibler divergence of target probabilities from log-probabilities.

    loss_i = t · (log(t) - x), with x = input_i, a log-probability, and t = target_i; 0 · log(0) counts as 0.
    "batchmean" divides the sum by the length of the first axis, which is the divergence of mathematics when each row is
    a distribution; "mean" divides by all entries.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of log-probabilities, x.
        target: a tensor of probabilities, t, or of their logarithms.
        reduction: "mean" (the default), "batchmean", "sum", or "none" for one number each.
        log_target: whether target holds logarithms; False by default.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, or reduction is another; TypeError if neither is a tensor.
    Example:
        >>> x = mg.log(mg.tensor([[0.5, 0.5]]))
        >>> F.kl_div(x, mg.tensor([[1.0, 0.0]]), reduction="batchmean").numpy().round(4).tolist()
        0.6931

    See: torch.nn.functional.kl_div, scipy.special.rel_entr; Kullback and Leibler, On information and sufficiency, 1951.
    """
    input, target = both("kl_div", input, target)
    if log_target:
        each = ops.exp(target) * (target - input)
    else:
        # 0 log 0 is 0: the log of 1 is used instead.
        each = target * (ops.log(ops.where(target > 0, target, 1.0)) - input)
    if reduction == "batchmean":
        return ops.sum(each) / (each.shape[0] if each.ndim else 1)
    return reduce_loss("kl_div", each, reduction)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Compute the hinge embedding loss: the distance of similar pairs (1), the closeness of dissimilar ones (-1).

    loss_i = input_i where target_i is 1; max(0, margin - input_i) where it is -1. At the kink, input_i = margin, the
    derivative is 0.

    Shapes: input and target of the same shape -> (), or with reduction "none" that shape.
    Args:
        input: a tensor of real numbers, distances.
        target: a tensor of 1 and -1.
        margin: least distance of dissimilar pairs; 1 by default.
        reduction: "mean" (the default) over all entries, "sum", or "none" for one loss each.
    Returns: a tensor of one number, or with reduction "none" of the shape of input.
    Raises: ValueError if the shapes differ, target holds another number, or reduction is another; TypeError if
        input is complex.
    Example:
        >>> F.hinge_embedding_loss(mg.tensor([0.25, 0.25]), mg.tensor([1, -1]), reduction="none").tolist()
        [0.25, 0.75]

    See: torch.nn.functional.hinge_embedding_loss; Hadsell et al., Dimensionality reduction by learning an invariant
        mapping, 2006.
    """
    input, target = both("hinge_embedding_loss", input, target)
    if not (abs(plain(target)) == 1).all().item():
        raise ValueError("hinge_embedding_loss: every target must be 1 (alike) or -1 (unlike)")
    each = ops.where(target == 1, input, ops.relu(ops.subtract(margin, input)))
    return reduce_loss("hinge_embedding_loss", each, reduction)
