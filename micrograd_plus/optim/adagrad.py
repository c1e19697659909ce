"""Adagrad: a gradient measured by all that there have been."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..readings import vocabulary
from .optimizer import Group, Optimizer


class Adagrad(Optimizer):
    """The gradient, divided by the root of the sum of all its squares so far (Duchi, Hazan and Singer 2011).

    Entries that seldom have a gradient take long steps when they do. `lr_decay` makes the rate itself smaller from step
    to step, and `initial_accumulator_value` is what the sum starts from.
    """

    squares_gradients = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10,
    ):  # fmt: skip
        settings = {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay}
        super().__init__(params, settings | {"initial_accumulator_value": initial_accumulator_value, "eps": eps})

    def updated(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """The sum only grows, so the steps only shrink."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        if not state:
            state.update(step=0, sum=group["initial_accumulator_value"])
        state["step"] += 1
        state["sum"] += gradient * gradient
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        return values - rate * gradient / (vocabulary.device_of(values).library.sqrt(state["sum"]) + group["eps"])
