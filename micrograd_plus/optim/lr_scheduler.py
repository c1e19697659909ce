"""Schedules: how the learning rate changes from step to step.

Each says, for a step number, by which factor (or to which value) it brings the rate that the optimiser started with, so
any step's rate can be told without taking the steps before it. PyTorch's schedules multiply the current rate instead;
one schedule on an optimiser gives the same rates. To use several, one after the other, take `SequentialLR`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import cos, isnan, pi
from typing import Any

from .optimizer import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR",
    "LinearLR", "MultiStepLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class LRScheduler:
    """Sets the learning rate of each group of an optimiser. A kind of schedule says in `rate` what it is.

    The first rate is set at once; `step()` sets the next one: call it after `optimizer.step()`.
    """

    def __init__(self, optimizer: Optimizer):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = 0
        self._set()

    def rate(self, base: float, epoch: int, place: int) -> float:
        """The learning rate of the group number `place` after `epoch` steps, of one that started at `base`."""
        raise NotImplementedError(f"{type(self).__name__} has no rate(base, epoch, place)")

    def step(self) -> None:
        """Go on to the next rate."""
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group, as last set."""
        return [self.rate(base, self.last_epoch, place) for place, base in enumerate(self.base_lrs)]

    def _set(self) -> None:
        for group, rate in zip(self.optimizer.param_groups, self.get_last_lr(), strict=True):
            group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later."""
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from where `state_dict` was called, and set the rate."""
        if len(state_dict["base_lrs"]) != len(self.base_lrs):
            raise ValueError(
                f"load_state_dict: the optimiser has {len(self.base_lrs)} groups, the state "
                f"{len(state_dict['base_lrs'])}"
            )
        self.last_epoch, self.base_lrs = state_dict["last_epoch"], list(state_dict["base_lrs"])
        self._set()


def at_least_one(schedule: str, name: str, steps: int) -> None:
    """Refuse a schedule of no length."""
    if steps < 1:
        raise ValueError(f"{schedule}: {name} is a number of steps, at least 1, got {steps}")


class LambdaLR(LRScheduler):
    """The first rate times what a function makes of the step number; one function, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]):
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"LambdaLR: {len(self.lr_lambdas)} functions for {groups} groups of parameters")
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """As the group's function says."""
        return base * self.lr_lambdas[place](epoch)


class StepLR(LRScheduler):
    """Times `gamma` after every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1):
        at_least_one("StepLR", "step_size", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """A staircase."""
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """A staircase whose steps lie where they were put."""
        return base * self.gamma ** bisect_right(self.milestones, epoch)


class ConstantLR(LRScheduler):
    """Times `factor` for `total_iters` steps, then the first rate."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5):
        at_least_one("ConstantLR", "total_iters", total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """One step up."""
        return base * self.factor if epoch < self.total_iters else base


class ExponentialLR(LRScheduler):
    """Times `gamma` after every step.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import optim
    >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
    >>> schedule = optim.lr_scheduler.ExponentialLR(descent, gamma=0.5)
    >>> for _ in range(3):
    ...     descent.step()
    ...     schedule.step()
    >>> descent.param_groups[0]["lr"]
    0.125
    """

    def __init__(self, optimizer: Optimizer, gamma: float):
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """A geometric series."""
        return base * self.gamma**epoch


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` times the first rate in `total_iters` steps, then no more: a warm-up."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ):
        at_least_one("LinearLR", "total_iters", total_iters)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """A straight line, then level."""
        way = min(epoch / self.total_iters, 1.0)
        return base * (self.start_factor + (self.end_factor - self.start_factor) * way)


class PolynomialLR(LRScheduler):
    """Down to 0 in `total_iters` steps, along the curve (1 - x) ** power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0):
        at_least_one("PolynomialLR", "total_iters", total_iters)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """For a power of 1 a straight line."""
        return base * (1 - min(epoch / self.total_iters, 1.0)) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Down half a wave of the cosine to `eta_min` in `T_max` steps, and up again if one goes on."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0):
        at_least_one("CosineAnnealingLR", "T_max", T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Slow at both ends, fast between (Loshchilov and Hutter 2017)."""
        return half_a_wave(base, self.eta_min, epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down half a wave of the cosine to `eta_min`, then at once up again; the first way down takes `T_0` steps, and
    each one `T_mult` times as many as the one before it."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0):
        at_least_one("CosineAnnealingWarmRestarts", "T_0", T_0)
        at_least_one("CosineAnnealingWarmRestarts", "T_mult", T_mult)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """The step number is counted from the last restart (Loshchilov and Hutter 2017)."""
        length = self.T_0
        while epoch >= length:
            epoch, length = epoch - length, length * self.T_mult
        return half_a_wave(base, self.eta_min, epoch / length)


def half_a_wave(top: float, bottom: float, way: float) -> float:
    """From the top of a cosine wave (0) to its bottom (1)."""
    return bottom + (top - bottom) * (1 + cos(pi * way)) / 2


class SequentialLR(LRScheduler):
    """One schedule after the other: the next one starts, at its own step 0, at each of the `milestones`.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import optim
    >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
    >>> warm = optim.lr_scheduler.LinearLR(descent, start_factor=0.5, total_iters=2)
    >>> cool = optim.lr_scheduler.ExponentialLR(descent, gamma=0.1)
    >>> schedule = optim.lr_scheduler.SequentialLR(descent, [warm, cool], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(descent.param_groups[0]["lr"])
    ...     schedule.step()
    >>> rates
    [0.5, 0.75, 1.0, 0.1]
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]):
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: {len(schedulers)} schedules meet at {len(schedulers) - 1} milestones, got "
                f"{len(milestones)}"
            )
        if any(schedule.optimizer is not optimizer for schedule in schedulers):
            raise ValueError("SequentialLR: all schedules must be of the same optimiser")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """As the schedule says whose turn it is."""
        turn = bisect_right(self.milestones, epoch)
        start = self.milestones[turn - 1] if turn else 0
        return self.schedulers[turn].rate(base, epoch - start, place)


class ReduceLROnPlateau:
    """Times `factor` when a figure, such as the loss on data kept apart, has not got better for more than `patience`
    steps: `step(figure)`.

    `mode` says whether a "min" or a "max" is wished for. Better means by more than `threshold`: a share of the best one
    yet ("rel"; of a negative one too, where PyTorch would call a worse one better), or a difference ("abs"). For
    `cooldown` steps after a change nothing is counted. No rate falls below `min_lr`, or changes by no more than `eps`.

    >>> import micrograd_plus as mg
    >>> from micrograd_plus import optim
    >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
    >>> schedule = optim.lr_scheduler.ReduceLROnPlateau(descent, patience=1)
    >>> for loss in (3.0, 2.0, 2.5, 2.1):
    ...     schedule.step(loss)
    >>> descent.param_groups[0]["lr"]
    0.1
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ):
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"ReduceLROnPlateau: mode is 'min' or 'max' and threshold_mode 'rel' or 'abs', got {mode!r} and "
                f"{threshold_mode!r}"
            )
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, got {factor}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best: float | None = None
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def step(self, metrics: Any) -> None:
        """Look at the figure, and lower the rates if there has been no better one for too long."""
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
        """Whether a figure is better than the best one yet, and by enough."""
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
        """The learning rate of each group, as last set."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later, but for the rates, which the optimiser keeps."""
        return {name: getattr(self, name) for name in ("best", "num_bad_epochs", "cooldown_counter", "last_epoch")}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from where `state_dict` was called."""
        self.__dict__.update(state_dict)
