"""Losses as modules: the functions of `nn.functional` with fixed settings.

`reduction` is "mean", "sum", or "none" for one loss per entry (or per row, where classes are concerned).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss",
    "L1Loss", "MSELoss", "NLLLoss", "SmoothL1Loss",
]  # fmt: skip


class Loss(Module):
    """Module that applies one loss of `nn.functional` with fixed settings. Tensors among them are buffers, so `to`
    moves them."""

    def __init__(self, function: Callable[..., Tensor], **settings: Any):
        self.function, self.names = function, tuple(settings)
        refuse_settings(type(self).__name__, **settings)
        for name, value in settings.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, input: Any, target: Any) -> Tensor:
        """Return the loss of the prediction."""
        return self.function(input, target, **{name: getattr(self, name) for name in self.names})


def refuse_settings(
    name: str, reduction: str = "mean", label_smoothing: float = 0.0, delta: float = 1.0, beta: float = 0.0, **_: Any
) -> None:
    """Raise for settings that no call could use."""
    words = ("none", "mean", "sum", *(("batchmean",) if name == "KLDivLoss" else ()))
    if reduction not in words:
        raise ValueError(f"{name}: reduction must be one of {', '.join(map(repr, words))}, got {reduction!r}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"{name}: label_smoothing must be between 0 and 1, got {label_smoothing}")
    if delta <= 0 or beta < 0:
        raise ValueError(f"{name}: delta must be positive, and beta not negative, got {delta if delta <= 0 else beta}")


class CrossEntropyLoss(Loss):
    """Cross-entropy: minus the log of the softmax probability of the target.

        loss = -weight_y log(exp(x_y) / Σ_j exp(x_j))

    for scores x and class y; for a target of probabilities t it is -Σ_j weight_j t_j log softmax(x)_j. With class
    numbers "mean" divides by the sum of the weights, with probabilities by the number of rows. The softmax is inside:
    the input is raw scores (logits).

    Shapes: input (N, C), (N, C, d1, d2, ...) or (C,); target (N,), (N, d1, d2, ...) or () of class numbers, or of
        probabilities in the shape of the input -> (), or with "none" the shape of class numbers.
    Args:
        weight: how much each class counts, (C,); all the same by default.
        ignore_index: targets of this number count for nothing, -100 by default; the mean of none is nan.
        reduction: "mean" (default), "sum", or "none" for one loss for each row.
        label_smoothing: the share of the target, from 0 to 1, that is spread evenly over all classes; 0 by default.
    Raises: when called, ValueError for shapes that do not fit, another reduction or a smoothing outside 0 to 1;
        IndexError for a class that there is not; TypeError for complex scores and for scores that are not a tensor.
        ValueError at once for a weight that wants a gradient.
    Example:
        >>> scores, classes = mg.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]), mg.tensor([0, 2])
        >>> round(nn.CrossEntropyLoss()(scores, classes).item(), 4)
        0.1672
        >>> mg.round(nn.CrossEntropyLoss(reduction="none")(scores, classes), 4).tolist()
        [0.2395, 0.0949]

    See: torch.nn.CrossEntropyLoss; CS231n notes, Linear classification.
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):  # fmt: skip
        super().__init__(
            functional.cross_entropy, weight=weight, ignore_index=ignore_index, reduction=reduction,
            label_smoothing=label_smoothing,
        )  # fmt: skip


class NLLLoss(Loss):
    """Negative log-likelihood: minus the log-probability of each target's class.

    For log-probabilities x and class y: loss = -weight_y x_y; "mean" divides by the sum of the weights.
    `CrossEntropyLoss` is `LogSoftmax` and this.

    Shapes: input (N, C), (N, C, d1, d2, ...) or (C,); target (N,), (N, d1, d2, ...) or () -> (), or with "none" the
        shape of the target.
    Args:
        weight: how much each class counts, (C,); all the same by default.
        ignore_index: targets of this number count for nothing, -100 by default; the mean of none is nan.
        reduction: "mean" (default), "sum", or "none" for one loss for each row.
    Raises: when called, ValueError for shapes that do not fit or another reduction; IndexError for a class that there
        is not; TypeError for classes that are no integers.
    Example:
        >>> scores = mg.log(mg.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
        >>> mg.round(nn.NLLLoss(reduction="none")(scores, mg.tensor([1, 2])), 4).tolist()
        [1.3863, 0.2231]

    See: torch.nn.NLLLoss.
    """

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"):
        super().__init__(functional.nll_loss, weight=weight, ignore_index=ignore_index, reduction=reduction)


class MSELoss(Loss):
    """Mean squared error: the mean of (input - target)².

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        reduction: "mean" (default), "sum", or "none" for each entry's square.
    Raises: when called, ValueError for shapes that differ, even if they broadcast, and for another reduction.
    Example:
        >>> nn.MSELoss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0])).item()
        2.0

    See: torch.nn.MSELoss.
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__(functional.mse_loss, reduction=reduction)


class L1Loss(Loss):
    """Mean absolute error: the mean of |input - target|.

    Where input and target are equal the slope is 0.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        reduction: "mean" (default), "sum", or "none" for each entry's difference.
    Raises: when called, ValueError for shapes that differ, even if they broadcast, and for another reduction.
    Example:
        >>> nn.L1Loss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0])).item()
        1.0

    See: torch.nn.L1Loss.
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__(functional.l1_loss, reduction=reduction)


class HuberLoss(Loss):
    """Huber loss: half the squared difference up to `delta`, linear beyond it.

    With d = |input - target|: d² / 2 where d ≤ delta, else delta (d - delta / 2). The derivative is at most the slope
    of the line.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        reduction: "mean" (default), "sum", or "none" for one loss for each entry.
        delta: where the line begins, and its slope; positive, 1 by default.
    Raises: when called, ValueError for shapes that differ, another reduction or a delta that is not positive; TypeError
        for complex numbers.
    Example:
        >>> nn.HuberLoss(reduction="none")(mg.tensor([0.5, 3.0]), mg.tensor([0.0, 0.0])).tolist()
        [0.125, 2.5]

    See: torch.nn.HuberLoss; Huber, Robust estimation of a location parameter, 1964.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(functional.huber_loss, reduction=reduction, delta=delta)


class SmoothL1Loss(Loss):
    """Smooth L1 loss: the absolute difference, quadratic within `beta` of 0.

    With d = |input - target|: d² / (2 beta) where d < beta, else d - beta / 2. It is `HuberLoss` divided by beta.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        reduction: "mean" (default), "sum", or "none" for one loss for each entry.
        beta: how far the rounding goes, 1 by default; 0 gives `L1Loss`.
    Raises: when called, ValueError for shapes that differ, another reduction or a negative beta; TypeError for complex
        numbers.
    Example:
        >>> nn.SmoothL1Loss(reduction="none", beta=2.0)(mg.tensor([1.0, 3.0]), mg.tensor([0.0, 0.0])).tolist()
        [0.25, 2.0]

    See: torch.nn.SmoothL1Loss; Girshick, Fast R-CNN, 2015.
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0):
        super().__init__(functional.smooth_l1_loss, reduction=reduction, beta=beta)


class BCELoss(Loss):
    """Binary cross-entropy of probabilities with targets 1 and 0.

    loss = -weight (t log(p) + (1 - t) log(1 - p)), for a target t from 0 to 1. No logarithm counts as less than -100.
    From scores take `BCEWithLogitsLoss`, which is exact everywhere.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        weight: how much each entry counts, broadcast to them; all the same by default.
        reduction: "mean" (default), "sum", or "none" for one loss for each entry.
    Raises: when called, ValueError for an input outside 0 to 1, shapes that differ, or another reduction.
    Example:
        >>> mg.round(nn.BCELoss(reduction="none")(mg.tensor([0.9, 0.1, 0.0]), mg.tensor([1.0, 1.0, 1.0])), 4).tolist()
        [0.1054, 2.3026, 100.0]

    See: torch.nn.BCELoss.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean"):
        super().__init__(functional.binary_cross_entropy, weight=weight, reduction=reduction)


class BCEWithLogitsLoss(Loss):
    """Binary cross-entropy of scores (logits) with targets 1 and 0, safe for large scores.

    loss = -weight (pos_weight t log σ(x) + (1 - t) log(1 - σ(x))), with σ the sigmoid and a target t from 0 to 1. The
    logarithms are computed with softplus, so that none overflows.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        weight: how much each entry counts, broadcast to them; all the same by default.
        reduction: "mean" (default), "sum", or "none" for one loss for each entry.
        pos_weight: how much more a yes counts than a no, broadcast: one for each entry of the last axis, say; 1 by
            default.
    Raises: when called, ValueError for shapes that differ or weights that do not broadcast, or another reduction;
        TypeError for complex numbers.
    Example:
        >>> scores, yes = mg.tensor([2.0, -1000.0]), mg.tensor([1.0, 1.0])
        >>> mg.round(nn.BCEWithLogitsLoss(reduction="none")(scores, yes), 4).tolist()
        [0.1269, 1000.0]

    See: torch.nn.BCEWithLogitsLoss.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None):
        super().__init__(
            functional.binary_cross_entropy_with_logits, weight=weight, reduction=reduction, pos_weight=pos_weight
        )


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of target probabilities from predicted ones.

    loss = t (log t - x), entry by entry, with x the logarithm of the predicted probability and t the target; 0 log 0 is
    0. With rows of distributions "batchmean" is the divergence of mathematics; "mean" divides by the classes too.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        reduction: "mean" (default) over all entries, "batchmean" (the sum divided by the length of the first axis),
            "sum", or "none".
        log_target: whether the target holds logarithms as well; False by default.
    Raises: when called, ValueError for shapes that differ or another reduction.
    Example:
        >>> predicted, target = mg.tensor([[0.5, 0.5]]), mg.tensor([[0.75, 0.25]])
        >>> round(nn.KLDivLoss(reduction="batchmean")(mg.log(predicted), target).item(), 4)
        0.1308

    See: torch.nn.KLDivLoss; Kullback and Leibler, On information and sufficiency, 1951.
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False):
        super().__init__(functional.kl_div, reduction=reduction, log_target=log_target)


class HingeEmbeddingLoss(Loss):
    """Hinge embedding loss: distance of similar pairs, closeness of others within `margin`.

    loss = x where the target is 1, max(0, margin - x) where it is -1.

    Shapes: input and target the same -> (), or with "none" the same.
    Args:
        margin: how far apart those should be that are unlike; 1 by default.
        reduction: "mean" (default), "sum", or "none" for one loss for each entry.
    Raises: when called, ValueError for a target other than 1 and -1, shapes that differ, or another reduction;
        TypeError for complex numbers.
    Example:
        >>> nn.HingeEmbeddingLoss(reduction="none")(mg.tensor([0.25, 0.25, 2.0]), mg.tensor([1, -1, -1])).tolist()
        [0.25, 0.75, 0.0]

    See: torch.nn.HingeEmbeddingLoss; Hadsell, Chopra and LeCun, Dimensionality reduction by learning an invariant
        mapping, 2006, where it is squared.
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean"):
        super().__init__(functional.hinge_embedding_loss, margin=margin, reduction=reduction)
