"""Losses for classification: cross-entropy and negative log-likelihood.

PyTorch's layout: input (classes), (N, classes), or (N, classes, d1, d2 ...); a target of class numbers has the same
shape without the axis of classes, a target of probabilities the same shape.
"""

from __future__ import annotations

from typing import Any

from ... import ops
from ...backends.shapes import float_dtype
from ...tensor import Tensor
from .elementwise_losses import reduce_loss
from .shapes import constant_like, plain

__all__ = ["cross_entropy", "nll_loss"]


def cross_entropy(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Compute the cross-entropy: minus the log of the softmax probability of the target.

        class numbers y:   loss_n = -w_y · log(exp(x_n,y) / Σ_c exp(x_n,c)),   mean = Σ_n loss_n / Σ_n w_y
        probabilities p:   loss_n = -Σ_c w_c · p_n,c · log(exp(x_n,c) / Σ_k exp(x_n,k)),   mean = Σ_n loss_n / N

    The weight of a class number that is ignored is 0. With label smoothing s, the target becomes (1 - s) · target + s /
    C. In nats; safe for large scores.

    Shapes: input (C,), (N, C) or (N, C, d1, ...), target () or (N,) or (N, d1, ...) of class numbers, or the shape of
        input -> (), or with reduction "none" the shape of class numbers.
    Args:
        input: a tensor of real scores, x, with C classes along axis 1 (axis 0 of a single row).
        target: class numbers, integers from 0 to C - 1; or probabilities, floats.
        weight: a tensor (C,), how much each class counts, w; None by default: each 1. It gets no gradient.
        ignore_index: a class number that counts for nothing, -100 by default; not for probabilities.
        reduction: "mean" (the default), "sum" or "none". The mean of nothing is nan.
        label_smoothing: the share s of the target that is spread evenly over the classes, from 0 (the default) to 1.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if shapes do not fit, or a setting is not allowed; IndexError if there is no such class;
        TypeError if input is complex or not a tensor; RuntimeError if weight wants a gradient.
    Example:
        >>> scores = mg.tensor([[0.0, 0.0], [0.0, 2.0]])
        >>> F.cross_entropy(scores, [0, 1], reduction="none").numpy().round(4).tolist()
        [0.6931, 0.1269]
        >>> F.cross_entropy(scores, mg.tensor([[0.5, 0.5], [0.5, 0.5]])).numpy().round(4).tolist()
        0.91

    See: torch.nn.functional.cross_entropy; Szegedy et al., Rethinking the Inception architecture, 2016 (label
        smoothing).
    """
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"cross_entropy: label_smoothing must be between 0 and 1, got {label_smoothing}")
    target = _as_tensor(target)
    if target.dtype.kind == "f":
        return _cross_entropy_of_probabilities(input, target, weight, reduction, label_smoothing)
    importance = _importance("cross_entropy", input, target, weight, ignore_index)
    if importance is None and input.ndim == 2 and reduction == "mean" and label_smoothing == 0:
        return ops.mean_class_cross_entropy(input, target)
    log_weights = ops.log_softmax(_classes_last(input), axis=-1)
    each = _at_classes(log_weights, target, importance)
    if label_smoothing:
        spread = _evenly(log_weights, weight, target, ignore_index)
        each = (1 - label_smoothing) * each + label_smoothing * spread
    return _reduce_weighted("cross_entropy", each, importance, reduction)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Compute the negative log-likelihood: minus the log-probability of each target's class.

    loss_n = -w_y · x_n,y, with y the class of row n; mean = Σ_n loss_n / Σ_n w_y. The weight of a class that is ignored
    is 0.

    Shapes: input (C,), (N, C) or (N, C, d1, ...), target () or (N,) or (N, d1, ...) -> (), or with reduction "none" the
        shape of target.
    Args:
        input: a tensor of log-probabilities, x, as log_softmax gives them, with C classes along axis 1 (axis 0 of a
            single row).
        target: class numbers, integers from 0 to C - 1.
        weight: a tensor (C,), how much each class counts, w; None by default: each 1. It gets no gradient.
        ignore_index: a class number that counts for nothing, -100 by default.
        reduction: "mean" (the default), "sum" or "none". The mean of nothing is nan.
    Returns: a tensor of the dtype of input.
    Raises: ValueError if shapes do not fit, or reduction is another; IndexError if there is no such class;
        TypeError if target holds no integers, or input is not a tensor; RuntimeError if weight wants a gradient.
    Example:
        >>> F.nll_loss(mg.tensor([[-1.0, -2.0], [-3.0, -4.0]]), [1, 0]).item()
        2.5

    See: torch.nn.functional.nll_loss.
    """
    target = _as_tensor(target)
    importance = _importance("nll_loss", input, target, weight, ignore_index)
    return _reduce_weighted("nll_loss", _at_classes(_classes_last(input), target, importance), importance, reduction)


def _as_tensor(target: Any) -> Tensor:
    return target if isinstance(target, Tensor) else Tensor.constant(target, "target")


def _cross_entropy_of_probabilities(
    input: Any, target: Tensor, weight: Any, reduction: str, label_smoothing: float
) -> Tensor:
    """Return the cross-entropy for targets that are distributions; the mean is over rows, whatever their weights."""
    if input.shape != target.shape:
        raise ValueError(
            f"cross_entropy: a target of probabilities has the shape of input {input.shape}, got "
            f"{target.shape}; class numbers must be integers"
        )
    rows, wanted = _classes_last(input), _classes_last(target)
    if label_smoothing:
        wanted = (1 - label_smoothing) * wanted + label_smoothing / rows.shape[-1]
    if weight is not None:
        wanted = wanted * constant_like(_class_weights("cross_entropy", weight, rows.shape[-1]), input)
    return reduce_loss("cross_entropy", ops.softmax_cross_entropy(rows, wanted), reduction)


def _importance(name: str, input: Any, target: Any, weight: Any, ignore_index: int) -> Any:
    """Return the weight of each target, or None if all are 1; raise for shapes and classes that do not fit."""
    classes = plain(target)
    count = input.shape[min(input.ndim - 1, 1)] if input.ndim else 0
    expected = input.shape[:1] * (input.ndim > 1) + input.shape[2:]
    if input.ndim == 0 or classes.shape != expected:
        raise ValueError(
            f"{name}: input has shape {input.shape} (classes along axis {min(input.ndim - 1, 1)}), so class "
            f"numbers have shape {expected}, got {classes.shape}"
        )
    if classes.dtype.kind not in "iu":
        raise TypeError(f"{name}: class numbers must be integers, got {classes.dtype}")
    # seen as unsigned a negative number is larger than any class, so one look finds both kinds of wrong ones
    unsigned = classes.view(f"u{classes.itemsize}")
    if classes.size == 0 or (weight is None and ignore_index < 0 and unsigned.max().item() < count):
        return None
    counts = classes != ignore_index
    is_wrong = counts & ((classes < 0) | (classes >= count))
    if is_wrong.any().item():
        wrong = classes[is_wrong][0].item()
        raise IndexError(f"{name}: class {wrong} is out of range: there are {count}, from 0 to {count - 1}")
    if weight is None:
        return counts.astype(float_dtype(input))
    return (counts * _class_weights(name, weight, count)[classes * counts]).astype(float_dtype(input))


def _class_weights(name: str, weight: Any, count: int) -> Any:
    """Return the class weights as an array; raise unless there is one for each class and none needs a gradient."""
    if getattr(weight, "requires_grad", False):
        raise RuntimeError(f"{name}: weight is a setting and gets no gradient; pass weight.detach()")
    if weight.shape != (count,):
        raise ValueError(f"{name}: weight has shape {weight.shape}, expected one number for each of {count} classes")
    return plain(weight).copy()


def _classes_last(x: Any) -> Any:
    """Move the axis of classes from its position in PyTorch's layout to the end."""
    return ops.moveaxis(x, source=1, destination=-1) if x.ndim > 2 else x


def _at_classes(log_weights: Any, target: Any, importance: Any) -> Tensor:
    """Return minus the entry of each row at its class, times its weight; 0 for an ignored row."""
    classes = plain(target)
    if importance is None:
        return -ops.squeeze(ops.take_along_axis(log_weights, classes[..., None], axis=-1), axis=-1)
    counts = importance != 0
    generator_or_default = ops.take_along_axis(log_weights, (classes * counts)[..., None], axis=-1)
    return ops.where(counts, -ops.squeeze(generator_or_default, axis=-1) * importance, 0.0)


def _evenly(log_weights: Tensor, weight: Any, target: Any, ignore_index: int) -> Tensor:
    """Return the loss of each row for a uniform target; 0 for an ignored row."""
    if weight is not None:
        log_weights = log_weights * constant_like(plain(weight).copy(), log_weights)
    counts = plain(target) != ignore_index
    return ops.where(counts, -ops.mean(log_weights, axis=-1), 0.0)


def _reduce_weighted(name: str, each: Tensor, importance: Any, reduction: str) -> Tensor:
    """Reduce a loss; the mean is weighted by the weight of each target."""
    if reduction == "mean" and importance is not None:
        return ops.sum(each) / importance.sum()
    return reduce_loss(name, each, reduction)
