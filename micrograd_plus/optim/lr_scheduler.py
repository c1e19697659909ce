"""Schedules: how the learning rate changes from step to step.

Each says, for a step number, by which factor (or to which value) it brings the rate that the optimiser started with, so
any step's rate can be told without taking the steps before it. PyTorch's schedules multiply the current rate instead;
one schedule on an optimiser gives the same rates. To use several, one after the other, take `SequentialLR`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from math import cos, pi
from typing import Any

from .optimizer import Optimizer


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


class ExponentialLR(LRScheduler):
    """Times `gamma` after every step."""

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


class CosineAnnealingLR(LRScheduler):
    """Down half a wave of the cosine to `eta_min` in `T_max` steps, and up again if one goes on."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0):
        at_least_one("CosineAnnealingLR", "T_max", T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Slow at both ends, fast between (Loshchilov and Hutter 2017)."""
        return self.eta_min + (base - self.eta_min) * (1 + cos(pi * epoch / self.T_max)) / 2


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
