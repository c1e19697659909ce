"""RMSprop: a gradient measured by how large it usually is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..readings import vocabulary
from .optimizer import Group, Optimizer


class RMSprop(Optimizer):
    """The gradient, divided by the root of a running mean of its square (Hinton's lectures, 2012).

    `alpha` says how slowly the mean forgets. `centered` takes the mean gradient's square off: a variance remains.
    """

    squares_gradients = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "alpha": alpha, "eps": eps}
        super().__init__(params, settings | {"weight_decay": weight_decay, "momentum": momentum, "centered": centered})

    def check(self, group: Group) -> None:
        """A mean that forgets less than nothing is none."""
        super().check(group)
        if not 0 <= group["alpha"] <= 1:
            raise ValueError(f"RMSprop: alpha must be between 0 and 1, got {group['alpha']}")

    def updated(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """With momentum, the running sum is of steps that have been divided already."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        step = gradient / self.spread(gradient, state, group)
        if group["momentum"]:
            before = state.get("momentum_buffer", 0.0)
            step = state["momentum_buffer"] = group["momentum"] * before + step
        return values - group["lr"] * step

    def spread(self, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """The root of the running mean of squares, kept away from 0."""
        alpha = group["alpha"]
        if "square_avg" not in state:
            state["square_avg"] = vocabulary.zeros_like(gradient)
        state["square_avg"] = alpha * state["square_avg"] + (1 - alpha) * gradient * gradient
        mean_square = state["square_avg"]
        if group["centered"]:
            state["grad_avg"] = alpha * state.get("grad_avg", 0.0) + (1 - alpha) * gradient
            mean_square = mean_square - state["grad_avg"] * state["grad_avg"]
        return vocabulary.device_of(mean_square).library.sqrt(mean_square) + group["eps"]
