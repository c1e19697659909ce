"""Learning rate schedules.

Each computes the rate from the step number and the rate that the optimiser started with, so the rate of any step is
known without the steps before it. PyTorch's schedules multiply the current rate instead; one schedule on an optimiser
gives the same rates. Use `SequentialLR` for several schedules, one after the other.

Steps are counted from 0. After its end, a schedule keeps its last rate.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from ..core.messages import check_count, check_function, missing_name
from .optimizer import Group, Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, check_optimizer, half_a_wave, of_group, refuse_other_count, straight

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LRScheduler", "LambdaLR",
    "LinearLR", "MultiStepLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


class LambdaLR(LRScheduler):
    """Learning rate as a function of the step number.

        lr_t = lr_0 · lr_lambda(t)

    Args:
        optimizer: the optimiser whose learning rates it sets.
        lr_lambda: a function of the step number t, or a list with one for each group.
    Raises: TypeError if `optimizer` is not an optimiser or a factor is not a function; ValueError for more or fewer
        functions than groups.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.LambdaLR(descent, lambda step: 1 / (1 + step))
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 0.5, 0.3333, 0.25, 0.2, 0.1667]

    See: torch.optim.lr_scheduler.LambdaLR.
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]):
        check_optimizer(self, optimizer)
        refuse_other_count(self, optimizer, "lr_lambda", lr_lambda)
        for each in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            check_function("LambdaLR", each)
        self.lr_lambda = lr_lambda
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the initial rate times the group's function."""
        return base * of_group(self.lr_lambda, place)(epoch)


class StepLR(LRScheduler):
    """Step decay: the learning rate times `gamma` after every `step_size` steps.

        lr_t = lr_0 · gamma ^ ⌊t / step_size⌋

    Args:
        optimizer: the optimiser whose learning rates it sets.
        step_size: how many steps one rate lasts, at least 1.
        gamma: factor of the rate; 0.1 by default.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for a step_size below
        1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.StepLR(descent, step_size=2)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 1.0, 0.1, 0.1, 0.01, 0.01]

    See: torch.optim.lr_scheduler.StepLR; CS231n notes, Neural networks 3.
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1):
        check_count("StepLR: step_size", step_size, 1)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate of a staircase with equal steps."""
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Multi-step decay: the learning rate times `gamma` at each of the `milestones`.

        lr_t = lr_0 · gamma ^ (how many milestones are at most t)

    Args:
        optimizer: the optimiser whose learning rates it sets.
        milestones: step numbers, in any order; a repeated one counts twice.
        gamma: factor of the rate; 0.1 by default.
    Raises: TypeError if `optimizer` is not an optimiser, or milestones that are not an iterable.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.MultiStepLR(descent, milestones=[2, 5])
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 1.0, 0.1, 0.1, 0.1, 0.01]

    See: torch.optim.lr_scheduler.MultiStepLR.
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate of a staircase with its steps at the milestones."""
        return base * self.gamma ** bisect_right(self.milestones, epoch)


class ConstantLR(LRScheduler):
    """Constant factor: a smaller learning rate for the first steps, then the full one.

        lr_t = lr_0 · factor for t < total_iters, then lr_0

    Args:
        optimizer: the optimiser whose learning rates it sets.
        factor: factor of the rate at first; 1/3 by default.
        total_iters: for how many steps, at least 1; 5 by default.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for total_iters below
        1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ConstantLR(descent, factor=0.5, total_iters=3)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]

    See: torch.optim.lr_scheduler.ConstantLR.
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5):
        check_count("ConstantLR: total_iters", total_iters, 1)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate before or after the one step."""
        return base * self.factor if epoch < self.total_iters else base


class ExponentialLR(LRScheduler):
    """Exponential decay: the learning rate times `gamma` after every step.

        lr_t = lr_0 · gamma ^ t

    Args:
        optimizer: the optimiser whose learning rates it sets.
        gamma: factor of the rate.
    Raises: TypeError if `optimizer` is not an optimiser.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.ExponentialLR(descent, gamma=0.5)
        >>> for _ in range(3):
        ...     descent.step()
        ...     schedule.step()
        >>> descent.param_groups[0]["lr"]
        0.125

    See: torch.optim.lr_scheduler.ExponentialLR; CS231n notes, Neural networks 3.
    """

    def __init__(self, optimizer: Optimizer, gamma: float):
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate in a geometric series."""
        return base * self.gamma**epoch


class LinearLR(LRScheduler):
    """Linear learning rate, such as a warm-up, which then stays.

        lr_t = lr_0 · (start_factor + (end_factor - start_factor) · min(t / total_iters, 1))

    Args:
        optimizer: the optimiser whose learning rates it sets.
        start_factor: factor of the first rate; 1/3 by default.
        end_factor: factor of the last rate; 1 by default.
        total_iters: number of steps between them, at least 1; 5 by default.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for total_iters below
        1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.LinearLR(descent, start_factor=0.2, total_iters=4)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]

    See: torch.optim.lr_scheduler.LinearLR; Goyal et al., Accurate, large minibatch SGD: training ImageNet in 1 hour,
        2017.
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ):
        check_count("LinearLR: total_iters", total_iters, 1)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate on a straight line, then the last one."""
        way = min(epoch / self.total_iters, 1.0)
        return base * straight(self.start_factor, self.end_factor, way)


class PolynomialLR(LRScheduler):
    """Polynomial decay of the learning rate to 0.

        lr_t = lr_0 · (1 - min(t / total_iters, 1)) ^ power

    Args:
        optimizer: the optimiser whose learning rates it sets.
        total_iters: after how many steps the rate is 0, at least 1; 5 by default.
        power: 1 (default) for a straight line, more for a curve that is steep at first.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for total_iters below
        1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.PolynomialLR(descent, power=2.0)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 0.64, 0.36, 0.16, 0.04, 0.0]

    See: torch.optim.lr_scheduler.PolynomialLR.
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0):
        check_count("PolynomialLR: total_iters", total_iters, 1)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate; with power 1 it is on a straight line."""
        return base * (1 - min(epoch / self.total_iters, 1.0)) ** self.power


class CosineAnnealingLR(LRScheduler):
    """Cosine annealing: the learning rate falls along half a cosine wave.

        lr_t = eta_min + (lr_0 - eta_min) · (1 + cos(π t / T_max)) / 2

    Slow at both ends, fast between. After T_max steps it goes up again.

    Args:
        optimizer: the optimiser whose learning rates it sets.
        T_max: how many steps the way down takes, at least 1.
        eta_min: the lowest rate; 0 by default.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for a T_max below 1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.CosineAnnealingLR(descent, T_max=4)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 0.8536, 0.5, 0.1464, 0.0, 0.1464]

    See: torch.optim.lr_scheduler.CosineAnnealingLR; Loshchilov and Hutter, SGDR: stochastic gradient descent with warm
        restarts, 2017.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0):
        check_count("CosineAnnealingLR: T_max", T_max, 1)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate on a cosine wave (Loshchilov and Hutter 2017)."""
        return half_a_wave(base, self.eta_min, epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing with warm restarts: half a cosine wave, again and again.

        lr_t = eta_min + (lr_0 - eta_min) · (1 + cos(π s / T)) / 2

    with s the steps since the last restart and T the length of this way down: T_0, T_0 · T_mult, T_0 · T_mult², ...

    Args:
        optimizer: the optimiser whose learning rates it sets.
        T_0: how many steps the first way down takes, at least 1.
        T_mult: how many times as long each way is as the one before it, at least 1 (default).
        eta_min: the lowest rate, never quite reached; 0 by default.
    Raises: TypeError if `optimizer` is not an optimiser or a count is not an integer; ValueError for a T_0 or T_mult
        below 1.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = optim.lr_scheduler.CosineAnnealingWarmRestarts(descent, T_0=2, T_mult=2)
        >>> [round(schedule.rate(1.0, step, 0), 4) for step in range(6)]
        [1.0, 0.5, 1.0, 0.8536, 0.5, 0.1464]

    See: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts; Loshchilov and Hutter, SGDR: stochastic gradient descent
        with warm restarts, 2017.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0):
        check_count("CosineAnnealingWarmRestarts: T_0", T_0, 1)
        check_count("CosineAnnealingWarmRestarts: T_mult", T_mult, 1)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer)

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the rate, with steps counted from the last restart (Loshchilov and Hutter 2017)."""
        length = self.T_0
        while epoch >= length:
            epoch, length = epoch - length, length * self.T_mult
        return half_a_wave(base, self.eta_min, epoch / length)


class OneCycleLR(LRScheduler):
    """One-cycle policy: the learning rate rises to `max_lr`, then falls far below the start.

    From max_lr / div_factor it rises until step pct_start · total_steps - 1, where it is max_lr, and falls until the
    last step to the share 1 / final_div_factor of its start, where it stays; with `three_phase` it comes back to its
    start first, as steeply as it went up. The momentum (of Adam the first of `betas`) goes the other way. The
    optimiser's initial rate is not used.

    Args:
        optimizer: the optimiser whose learning rates it sets.
        max_lr: the highest rate, or a list with one for each group.
        total_steps: how many steps there are, at least 1.
        epochs, steps_per_epoch: their product is used if `total_steps` is not given.
        pct_start: the share of steps, from 0 to 1, in which the rate rises; 0.3 by default.
        anneal_strategy: "cos" (default) for half a wave of the cosine each way, "linear" for straight lines.
        cycle_momentum: whether the momentum moves; True by default.
        base_momentum, max_momentum: the momentum at the highest rate and at both ends, or lists; 0.85 and 0.95 by
            default.
        div_factor: how many times smaller the first rate is than the highest; 25 by default.
        final_div_factor: how many times smaller the last rate is than the first; 1e4 by default.
        three_phase: whether the way down has two parts; False by default.
    Raises: TypeError if `optimizer` is not an optimiser; ValueError for no number of steps, a share outside 0 to 1,
        another strategy, a momentum that the optimiser does not have, and lists of another length than there are
        groups.
    Example:
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], momentum=0.9)
        >>> schedule = optim.lr_scheduler.OneCycleLR(descent, max_lr=1.0, total_steps=5, pct_start=0.4, div_factor=4)
        >>> for _ in range(5):
        ...     print(round(descent.param_groups[0]["lr"], 3), round(descent.param_groups[0]["momentum"], 3))
        ...     schedule.step()
        0.25 0.95
        1.0 0.85
        0.75 0.875
        0.25 0.925
        0.0 0.95

    See: torch.optim.lr_scheduler.OneCycleLR; Smith and Topin, Super-convergence: very fast training of neural networks
        using large learning rates, 2019.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
        anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False,
    ):  # fmt: skip
        check_optimizer(self, optimizer)
        steps = (epochs or 0) * (steps_per_epoch or 0) if total_steps is None else total_steps
        check_count("OneCycleLR: total_steps, or epochs * steps_per_epoch,", steps, 1)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: pct_start must be between 0 and 1, got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
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
        """Return the rate; the optimiser's initial rate is not used."""
        highest = of_group(self.max_lr, place)
        start = highest / self.div_factor
        return self._on_the_way(epoch, start, highest, start / self.final_div_factor)

    def settings(self, group: Group, base: float, epoch: int, place: int) -> Group:
        """Return the rate and the momentum."""
        settings = super().settings(group, base, epoch, place)
        if not self.cycle_momentum:
            return settings
        lowest, highest = of_group(self.base_momentum, place), of_group(self.max_momentum, place)
        momentum = self._on_the_way(epoch, highest, lowest, highest)
        return settings | ({"betas": (momentum, group["betas"][1])} if "betas" in group else {"momentum": momentum})

    def _on_the_way(self, epoch: int, start: float, turn: float, end: float) -> float:
        """Interpolate a setting at a step, from the start to the peak (with `three_phase` back to the start) and to the
        end."""
        up, last = self.pct_start * self.total_steps - 1, self.total_steps - 1
        stops = [0, up, 2 * up, last] if self.three_phase else [0, up, last]
        heights = [start, turn, start, end] if self.three_phase else [start, turn, end]
        leg = min(bisect_left(stops, epoch, 1), len(stops) - 1)
        steps = stops[leg] - stops[leg - 1]
        way = min((epoch - stops[leg - 1]) / steps, 1.0) if steps else 1.0
        return self.between(heights[leg - 1], heights[leg], way)


class SequentialLR(LRScheduler):
    """Sequence of schedules: at each of the `milestones` the next one starts.

    Each counts its own steps from 0, and rates from the one that the optimiser started with.

    Args:
        optimizer: the optimiser whose learning rates it sets.
        schedulers: schedules of this optimiser, in order.
        milestones: the steps at which the next one starts, in order; one fewer than schedules.
    Raises: ValueError for another number of milestones, and for a schedule of another optimiser.
    Example:
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

    See: torch.optim.lr_scheduler.SequentialLR.
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]):
        if len(schedulers) != len(milestones) + 1:
            raise ValueError(
                f"SequentialLR: {len(milestones)} milestones need {len(milestones) + 1} schedulers, got "
                f"{len(schedulers)}"
            )
        if any(schedule.optimizer is not optimizer for schedule in schedulers):
            raise ValueError("SequentialLR: all schedules must be of the same optimiser")
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer)

    def settings(self, group: Group, base: float, epoch: int, place: int) -> Group:
        """Return the settings of the active schedule."""
        turn = bisect_right(self.milestones, epoch)
        start = self.milestones[turn - 1] if turn else 0
        return self.schedulers[turn].settings(group, base, epoch - start, place)
