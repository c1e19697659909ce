"""Base class of schedules: parameter groups, step number and state."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, inf, pi
from typing import Any

from ..core.messages import check_mapping
from .optimizer import Group, Optimizer, is_between


class LRScheduler:
    """Base class of learning rate schedules, which set the rate of each group of an optimiser.

    A kind of schedule says in `rate(base, epoch, place)` what the rate is. The first one is set at once; `step()` sets
    the next one: call it after `optimizer.step()`.

    Args:
        optimizer: the optimiser whose learning rates it sets.
    Raises: TypeError if `optimizer` is not an optimiser; NotImplementedError if there is no `rate`.
    Example:
        >>> class Halves(optim.lr_scheduler.LRScheduler):
        ...     def rate(self, base, epoch, place):
        ...         return base / 2**epoch
        >>> descent = optim.SGD([mg.tensor(1.0, requires_grad=True)], lr=1.0)
        >>> schedule = Halves(descent)
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]

    See: torch.optim.lr_scheduler.LRScheduler.
    """

    def __init__(self, optimizer: Optimizer):
        check_optimizer(self, optimizer)
        self.optimizer = optimizer
        self.last_epoch = 0
        self._set()

    @property
    def base_lrs(self) -> list[float]:
        """Return the initial learning rate of each group."""
        return [group.setdefault("initial_lr", group["lr"]) for group in self.optimizer.param_groups]

    def rate(self, base: float, epoch: int, place: int) -> float:
        """Return the learning rate of one group at a step; each subclass defines it.

        Args:
            base: the rate that the group started with.
            epoch: how many steps there have been.
            place: the number of the group.
        Returns: the rate, a float.
        """
        raise NotImplementedError(f"{type(self).__name__} has no rate(base, epoch, place)")

    def step(self) -> None:
        """Set the next rate."""
        self.last_epoch += 1
        self._set()

    def settings(self, group: Group, base: float, epoch: int, place: int) -> Group:
        """Return the settings of a group: its rate, and others that a subclass changes."""
        return {"lr": self.rate(base, epoch, place)}

    def get_last_lr(self) -> list[float]:
        """Return the current learning rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def _set(self) -> None:
        for place, (group, base) in enumerate(zip(self.optimizer.param_groups, self.base_lrs, strict=True)):
            group.update(self.settings(group, base, self.last_epoch, place))

    def state_dict(self) -> dict[str, Any]:
        """Return the state needed to continue later."""
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state saved by `state_dict`, and set the rate."""
        check_state_of(self, state_dict)
        bases, epoch = state_dict["base_lrs"], state_dict["last_epoch"]
        if not isinstance(bases, (list, tuple)) or not all(is_between(base, 0, inf) for base in bases):
            raise TypeError(f"load_state_dict: base_lrs must be a list of rates that are not negative, got {bases!r}")
        if len(bases) != len(self.base_lrs):
            raise ValueError(f"load_state_dict: the optimiser has {len(self.base_lrs)} groups, the state {len(bases)}")
        check_count("last_epoch", epoch)
        groups = self.optimizer.param_groups
        settings = [self.settings(group, base, epoch, place)
                    for place, (group, base) in enumerate(zip(groups, bases, strict=True))]  # fmt: skip
        self.last_epoch = epoch
        for group, base, new in zip(groups, bases, settings, strict=True):
            group.update(new, initial_lr=base)


def check_optimizer(schedule: Any, optimizer: Any) -> None:
    """Raise TypeError unless the argument is an optimiser."""
    if not isinstance(optimizer, Optimizer):
        got = type(optimizer).__name__
        raise TypeError(f"{type(schedule).__name__} expects an optimiser, got {got}")


def check_state_of(schedule: Any, state: Any) -> None:
    """Raise unless a state belongs to this kind of schedule."""
    check_mapping("load_state_dict", state, "state_dict() returns")
    if state.keys() != schedule.state_dict().keys():
        kind, kept = type(schedule).__name__, ", ".join(schedule.state_dict())
        raise ValueError(f"load_state_dict: {kind} keeps {kept}; this state holds {', '.join(state) or 'nothing'}")


def check_count(name: str, value: Any) -> None:
    """Raise TypeError unless a value in a state is a whole number that is not negative."""
    if type(value) is not int or value < 0:
        raise TypeError(f"load_state_dict: {name} must be a whole number that is not negative, got {value!r}")


def refuse_other_count(schedule: Any, optimizer: Optimizer, name: str, given: Any) -> None:
    """Raise ValueError unless a list has one setting for each group."""
    groups = len(optimizer.param_groups)
    if isinstance(given, (list, tuple)) and len(given) != groups:
        raise ValueError(f"{type(schedule).__name__}: {len(given)} times {name} for {groups} groups of parameters")


def of_group(given: Any, place: int) -> Any:
    """Return the setting of a group, or the common one."""
    return given[place] if isinstance(given, (list, tuple)) else given


def straight(start: float, end: float, way: float) -> float:
    """Interpolate linearly between a start (0) and an end (1)."""
    return start + (end - start) * way


def half_a_wave(top: float, bottom: float, way: float) -> float:
    """Interpolate along a cosine wave between a start (0) and an end (1)."""
    return bottom + (top - bottom) * (1 + cos(pi * way)) / 2
