"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from .optimizer import Group, Optimizer


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

        g ← gradient + weight_decay · x
        v ← momentum · v + (1 - dampening) · g,  at the first step v ← g
        x ← x - lr · v

    Without momentum v is g; with `nesterov` the step is along g + momentum · v, a look ahead.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        lr: the learning rate, the length of a step; 1e-3 by default.
        momentum: decay of the running sum of gradients from step to step; 0 by default.
        dampening: reduction of the gradient that is added to that sum; 0 by default.
        weight_decay: the share of the values that is added to the gradient, an L2 penalty; 0 by default.
        nesterov: whether the step looks ahead, False by default; it needs a momentum and no dampening.
    Raises: TypeError for a single tensor or anything that is not a tensor; ValueError for no parameters, one given
        twice, a result instead of a leaf, an unknown setting, and a negative lr, momentum, dampening or weight_decay,
        and for nesterov without momentum or with dampening.
    Example:
        >>> x = mg.tensor([1.0, -2.0], requires_grad=True)
        >>> descent = optim.SGD([x], lr=0.1)
        >>> (x * x).sum().backward()
        >>> descent.step()
        >>> mg.round(x, 4).tolist()
        [0.8, -1.6]

    See: torch.optim.SGD; Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep
        learning, 2013; CS231n notes, Neural networks 3.
    """

    state_names = MappingProxyType({"momentum_buffer": True})

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening}
        super().__init__(params, settings | {"weight_decay": weight_decay, "nesterov": nesterov})

    def check(self, group: Group) -> None:
        """Raise ValueError for Nesterov's method without momentum."""
        super().check(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("SGD: nesterov=True needs a momentum above 0 and a dampening of 0")

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return new values after a step against the gradient or the running sum, in two passes over memory."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        if group["momentum"]:
            gradient = with_momentum(gradient, state, group)
        step = gradient * -group["lr"]
        step += values
        return step


def with_momentum(gradient: Any, state: dict[str, Any], group: Group) -> Any:
    """Return the decaying sum of gradients; Nesterov's looks one step ahead (Sutskever et al. 2013)."""
    if state:
        running = state["momentum_buffer"]
        running *= group["momentum"]
        running += (1 - group["dampening"]) * gradient if group["dampening"] else gradient
    else:
        running = gradient.copy()
    state["momentum_buffer"] = running
    return gradient + group["momentum"] * running if group["nesterov"] else running
