"""Schedule that depends on the progress of training instead of the number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan
from typing import Any

from .optimizer import Optimizer, is_between
from .schedule import check_count, check_optimizer, check_state_of


class ReduceLROnPlateau:
    """Reduction on plateau: the learning rate times `factor` when a metric stops improving.

    Its `step(figure)` is given, say, the loss on data kept apart. When for more than `patience` steps there was none
    better than the best one yet, rates are lowered. Better means by more than `threshold`: a share of the best one
    ("rel"; of a negative one too, where PyTorch would call a worse one better), or a difference ("abs").

    Args:
        optimizer: the optimiser whose learning rates it sets.
        mode: "min" (default) where small figures are wished for, "max" where large ones are.
        factor: what rates are multiplied by, below 1; 0.1 by default.
        patience: how many steps without a better figure are borne; 10 by default.
        threshold: by how much better counts; 1e-4 by default.
        threshold_mode: "rel" (default) or "abs".
        cooldown: for how many steps after a change nothing is counted; 0 by default.
        min_lr: below which no rate falls; 0 by default.
        eps: no rate changes by as little as this; 1e-8 by default.
    Raises: TypeError if `optimizer` is not an optimiser; ValueError for another mode or threshold_mode, or a factor
        that is not below 1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ReduceLROnPlateau(descent, patience=1)
        >>> for loss in (3.0, 2.0, 2.5, 2.1):
        ...     schedule.step(loss)
        >>> descent.param_groups[0]["lr"]
        0.1

    See: torch.optim.lr_scheduler.ReduceLROnPlateau.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0.0, eps: float = 1e-8,
    ):  # fmt: skip
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"ReduceLROnPlateau: mode must be 'min' or 'max', and threshold_mode 'rel' or 'abs', got {mode!r} and "
                f"{threshold_mode!r}"
            )
        check_optimizer(self, optimizer)
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, got {factor}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best: float | None = None
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def step(self, metrics: Any) -> None:
        """Compare the metric with the best one, and reduce the rates after too many steps without improvement.

        Args:
            metrics: the figure, a number or a tensor with one.
        """
        self.last_epoch += 1
        if self.is_better(float(metrics)):
            self.best, self.num_bad_epochs = float(metrics), 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            self._lower()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def is_better(self, figure: float) -> bool:
        """Return whether a metric improves on the best one by more than the threshold."""
        if self.best is None:
            return not isnan(figure)
        gained = self.best - figure if self.mode == "min" else figure - self.best
        return gained > self.threshold * (abs(self.best) if self.threshold_mode == "rel" else 1)

    def _lower(self) -> None:
        for group in self.optimizer.param_groups:
            lower = max(group["lr"] * self.factor, self.min_lr)
            if group["lr"] - lower > self.eps:
                group["lr"] = lower

    def get_last_lr(self) -> list[float]:
        """Return the current learning rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return the state needed to continue later, except the rates, which the optimiser keeps."""
        return {name: getattr(self, name) for name in ("best", "num_bad_epochs", "cooldown_counter", "last_epoch")}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state saved by `state_dict`."""
        check_state_of(self, state_dict)
        best = state_dict["best"]
        if best is not None and not is_between(best, -inf, inf):
            raise TypeError(f"load_state_dict: best must be a number or None, got {best!r}")
        for name in ("num_bad_epochs", "cooldown_counter", "last_epoch"):
            check_count(name, state_dict[name])
        self.__dict__.update(state_dict)
