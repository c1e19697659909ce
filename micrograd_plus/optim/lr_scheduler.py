"""Schedules: how the learning rate changes from step to step.

Each says, for a step number, by which factor (or to which value) it brings the rate that the optimiser started with, so
any step's rate can be told without taking the steps before it. PyTorch's schedules multiply the current rate instead;
one schedule on an optimiser gives the same rates. To use several, one after the other, take `SequentialLR`.

Steps are counted from 0. Where a schedule has an end, the rate that it ends with stays.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from ..arguments import wants_count, wants_function
from .optimizer import Group, Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, half_a_wave, of_group, refuse_other_count, straight, wants_optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR",
    "LinearLR", "MultiStepLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class LambdaLR(LRScheduler):
    """The first rate times what a function makes of the step number; one function, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]):
        wants_optimizer(self, optimizer)
        refuse_other_count(self, optimizer, "lr_lambda", lr_lambda)
        for each in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            wants_function("LambdaLR", each)
        self.lr_lambda = lr_lambda
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """As the group's function says."""
        return base * of_group(self.lr_lambda, place)(epoch)


class StepLR(LRScheduler):
    """Times `gamma` after every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1):
        wants_count("StepLR: step_size", step_size, 1)
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
        wants_count("ConstantLR: total_iters", total_iters, 1)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """One step up."""
        return base * self.factor if epoch < self.total_iters else base


class ExponentialLR(LRScheduler):
    """Times `gamma` after every step.

    >>> import micrograd_plus as mg
    >>> descent = mg.optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
    >>> schedule = mg.optim.lr_scheduler.ExponentialLR(descent, gamma=0.5)
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
        wants_count("LinearLR: total_iters", total_iters, 1)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """A straight line, then level."""
        way = min(epoch / self.total_iters, 1.0)
        return base * straight(self.start_factor, self.end_factor, way)


class PolynomialLR(LRScheduler):
    """Down to 0 in `total_iters` steps, along the curve (1 - x) ** power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0):
        wants_count("PolynomialLR: total_iters", total_iters, 1)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """For a power of 1 a straight line."""
        return base * (1 - min(epoch / self.total_iters, 1.0)) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Down half a wave of the cosine to `eta_min` in `T_max` steps, and up again if one goes on."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0):
        wants_count("CosineAnnealingLR: T_max", T_max, 1)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Slow at both ends, fast between (Loshchilov and Hutter 2017)."""
        return half_a_wave(base, self.eta_min, epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down half a wave of the cosine to `eta_min`, then at once up again; the first way down takes `T_0` steps, and
    each one `T_mult` times as many as the one before it."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0):
        wants_count("CosineAnnealingWarmRestarts: T_0", T_0, 1)
        wants_count("CosineAnnealingWarmRestarts: T_mult", T_mult, 1)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """The step number is counted from the last restart (Loshchilov and Hutter 2017)."""
        length = self.T_0
        while epoch >= length:
            epoch, length = epoch - length, length * self.T_mult
        return half_a_wave(base, self.eta_min, epoch / length)


class OneCycleLR(LRScheduler):
    """Up to `max_lr`, and down to far below the start, in `total_steps` steps (Smith and Topin 2019).

    The rate starts at `max_lr / div_factor`, is highest after the share `pct_start` of the steps, and ends at its start
    divided by `final_div_factor`; with `three_phase` it comes back to the start first, as steeply as it went up. Its
    way is half a wave of the cosine ("cos"), or a straight line ("linear"). With `cycle_momentum` the momentum (of
    Adam, the first of `betas`) goes the other way, between `max_momentum` and `base_momentum`. `max_lr` and the two
    momenta are one number, or one for each group.

    >>> import micrograd_plus as mg
    >>> descent = mg.optim.SGD([mg.tensor(1.0, requires_grad=True)], momentum=0.9)
    >>> schedule = mg.optim.lr_scheduler.OneCycleLR(descent, max_lr=1.0, total_steps=5, pct_start=0.4, div_factor=4)
    >>> for _ in range(5):
    ...     print(round(descent.param_groups[0]["lr"], 3), round(descent.param_groups[0]["momentum"], 3))
    ...     schedule.step()
    0.25 0.95
    1.0 0.85
    0.75 0.875
    0.25 0.925
    0.0 0.95
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False,
    ):  # fmt: skip
        wants_optimizer(self, optimizer)
        steps = (epochs or 0) * (steps_per_epoch or 0) if total_steps is None else total_steps
        wants_count("OneCycleLR: total_steps, or epochs * steps_per_epoch,", steps, 1)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: pct_start is a share between 0 and 1, got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy is 'cos' or 'linear', got {anneal_strategy!r}")
        if cycle_momentum and not optimizer.defaults.keys() & {"momentum", "betas"}:
            raise ValueError(f"OneCycleLR: {type(optimizer).__name__} has no momentum; pass cycle_momentum=False")
        self.total_steps, self.pct_start, self.three_phase = steps, pct_start, three_phase
        self.between = half_a_wave if anneal_strategy == "cos" else straight
        refuse_other_count(self, optimizer, "max_lr", max_lr)
        refuse_other_count(self, optimizer, "base_momentum", base_momentum)
        refuse_other_count(self, optimizer, "max_momentum", max_momentum)
        self.max_lr, self.div_factor, self.final_div_factor = max_lr, div_factor, final_div_factor
        self.cycle_momentum, self.base_momentum, self.max_momentum = cycle_momentum, base_momentum, max_momentum
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Up and down; what the optimiser started with plays no part."""
        highest = of_group(self.max_lr, place)
        start = highest / self.div_factor
        return self._on_the_way(epoch, start, highest, start / self.final_div_factor)

    def settings(self, group: Group, base: float, epoch: int, place: int) -> Group:
        """The rate, and the momentum."""
        settings = super().settings(group, base, epoch, place)
        if not self.cycle_momentum:
            return settings
        lowest, highest = of_group(self.base_momentum, place), of_group(self.max_momentum, place)
        momentum = self._on_the_way(epoch, highest, lowest, highest)
        return settings | ({"betas": (momentum, group["betas"][1])} if "betas" in group else {"momentum": momentum})

    def _on_the_way(self, epoch: int, start: float, turn: float, end: float) -> float:
        """Where one is at a step, from the start to the turning point (with `three_phase` back to the start) and to the
        end."""
        up, last = self.pct_start * self.total_steps - 1, self.total_steps - 1
        stops = [0, up, 2 * up, last] if self.three_phase else [0, up, last]
        heights = [start, turn, start, end] if self.three_phase else [start, turn, end]
        leg = min(bisect_left(stops, epoch, 1), len(stops) - 1)
        steps = stops[leg] - stops[leg - 1]
        way = min((epoch - stops[leg - 1]) / steps, 1.0) if steps else 1.0
        return self.between(heights[leg - 1], heights[leg], way)


class SequentialLR(LRScheduler):
    """One schedule after the other: the next one starts, at its own step 0, at each of the `milestones`.

    >>> import micrograd_plus as mg
    >>> descent = mg.optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
    >>> warm = mg.optim.lr_scheduler.LinearLR(descent, start_factor=0.5, total_iters=2)
    >>> cool = mg.optim.lr_scheduler.ExponentialLR(descent, gamma=0.1)
    >>> schedule = mg.optim.lr_scheduler.SequentialLR(descent, [warm, cool], milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(descent.param_groups[0]["lr"])
    ...     schedule.step()
    >>> rates
    [0.5, 0.75, 1.0, 0.1]
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]):
        if len(schedulers) != len(milestones) + 1:
            raise ValueError(
                f"SequentialLR: {len(milestones)} milestones are where {len(milestones) + 1} schedules meet, got "
                f"{len(schedulers)}"
            )
        if any(schedule.optimizer is not optimizer for schedule in schedulers):
            raise ValueError("SequentialLR: all schedules must be of the same optimiser")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def settings(self, group: Group, base: float, epoch: int, place: int) -> Group:
        """As the schedule says whose turn it is."""
        turn = bisect_right(self.milestones, epoch)
        start = self.milestones[turn - 1] if turn else 0
        return self.schedulers[turn].settings(group, base, epoch - start, place)
