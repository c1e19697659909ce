"""Gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .optimizer import Group, Optimizer


class SGD(Optimizer):
    """Down the gradient: values - lr * gradient; with `momentum`, on through a running sum of gradients.

    `dampening` makes what is added to that sum smaller, `weight_decay` adds a share of the values to the gradient, and
    `nesterov` looks one step ahead along the sum.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor([1.0, -2.0], requires_grad=True)
    >>> descent = mg.optim.SGD([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> descent.step()
    >>> x
    tensor([ 0.8, -1.6], requires_grad=True)
    """

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening}
        super().__init__(params, settings | {"weight_decay": weight_decay, "nesterov": nesterov})

    def check(self, group: Group) -> None:
        """Nesterov's step looks ahead along the momentum, so there must be one."""
        super().check(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("SGD: nesterov=True needs a momentum above 0 and a dampening of 0")

    def updated(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """A step against the gradient, or against the running sum of gradients; scaled and added in two passes over
        memory."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        if group["momentum"]:
            gradient = with_momentum(gradient, state, group)
        step = gradient * -group["lr"]
        step += values
        return step


def with_momentum(gradient: Any, state: dict[str, Any], group: Group) -> Any:
    """The running sum of gradients, in which old ones fade; Nesterov's looks one step ahead (Sutskever et al. 2013)."""
    if state:
        running = state["momentum_buffer"]
        running *= group["momentum"]
        running += (1 - group["dampening"]) * gradient if group["dampening"] else gradient
    else:
        running = gradient.copy()
    state["momentum_buffer"] = running
    return gradient + group["momentum"] * running if group["nesterov"] else running
