"""Losses as modules: the functions of `nn.functional`, with their settings given once.

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
    """A loss of `nn.functional` and its settings. Settings that are tensors are buffers, so that they move along."""

    def __init__(self, function: Callable[..., Tensor], **settings: Any):
        self.function, self.names = function, tuple(settings)
        for name, value in settings.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, input: Any, target: Any) -> Tensor:
        """What the prediction loses against the target."""
        return self.function(input, target, **{name: getattr(self, name) for name in self.names})


class CrossEntropyLoss(Loss):
    """Minus the log of the probability that the softmax of scores gives to the target.

    Shapes: input (N, classes), or (N, classes, d1, d2 ...), or (classes,); target the same without the axis of classes
    for class numbers, or the same shape for probabilities.

    >>> import micrograd_plus as mg
    >>> scores, classes = mg.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]), mg.tensor([0, 2])
    >>> round(mg.nn.CrossEntropyLoss()(scores, classes).item(), 4)
    0.1672
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
    """Minus the log-probability of each target's class."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"):
        super().__init__(functional.nll_loss, weight=weight, ignore_index=ignore_index, reduction=reduction)


class MSELoss(Loss):
    """Squared differences. Input and target have the same shape.

    >>> import micrograd_plus as mg
    >>> mg.nn.MSELoss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0])).item()
    2.0
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__(functional.mse_loss, reduction=reduction)


class L1Loss(Loss):
    """Absolute differences."""

    def __init__(self, reduction: str = "mean"):
        super().__init__(functional.l1_loss, reduction=reduction)


class HuberLoss(Loss):
    """Half the squared difference up to `delta`, and beyond it a straight line of that slope."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(functional.huber_loss, reduction=reduction, delta=delta)


class SmoothL1Loss(Loss):
    """The absolute difference, rounded within `beta` of 0."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0):
        super().__init__(functional.smooth_l1_loss, reduction=reduction, beta=beta)


class BCELoss(Loss):
    """What a probability makes of a yes (1) or no (0)."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean"):
        super().__init__(functional.binary_cross_entropy, weight=weight, reduction=reduction)


class BCEWithLogitsLoss(Loss):
    """What a score makes of a yes (1) or no (0), safe for large scores of either sign."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None):
        super().__init__(
            functional.binary_cross_entropy_with_logits, weight=weight, reduction=reduction, pos_weight=pos_weight
        )


class KLDivLoss(Loss):
    """How far the probabilities of the target are from those whose logarithms are the input."""

    def __init__(self, reduction: str = "mean", log_target: bool = False):
        super().__init__(functional.kl_div, reduction=reduction, log_target=log_target)


class HingeEmbeddingLoss(Loss):
    """A distance where the target is 1; where it is -1, what the distance lacks to `margin`."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean"):
        super().__init__(functional.hinge_embedding_loss, margin=margin, reduction=reduction)
