"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from ..backends import devices
from .optimizer import Group, Optimizer


class Adagrad(Optimizer):
    """Adagrad: gradients divided by the root of the sum of all their squares so far.

        s ← s + g²
        x ← x - lr / (1 + (t - 1) · lr_decay) · g / (√s + eps),  at step t = 1, 2, ...

    Entries that seldom have a gradient take long steps when they do. The sum only grows, so that steps only shrink.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        lr: the learning rate; 1e-2 by default.
        lr_decay: how fast the rate itself shrinks; 0 by default.
        weight_decay: the share of the values that is added to the gradient g; 0 by default.
        initial_accumulator_value: the initial value of the sum s; 0 by default.
        eps: keeps the divisor away from 0; 1e-10 by default.
    Raises: TypeError for a single tensor or anything that is not a tensor, and for complex parameters, whose gradients
        it squares; ValueError for no parameters, one given twice, a result instead of a leaf, an unknown setting, and a
        negative setting.
    Example:
        >>> x = mg.tensor([1.0, -2.0], requires_grad=True)
        >>> descent = optim.Adagrad([x], lr=0.1)
        >>> (x * x).sum().backward()
        >>> descent.step()
        >>> mg.round(x, 4).tolist()
        [0.9, -1.9]

    See: torch.optim.Adagrad; Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
        optimization, 2011.
    """

    squares_gradients = True
    state_names = MappingProxyType({"step": True, "sum": True})

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10,
    ):  # fmt: skip
        settings = {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay}
        super().__init__(params, settings | {"initial_accumulator_value": initial_accumulator_value, "eps": eps})

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return new values; the sum only grows, so the steps only shrink."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        if not state:
            state.update(step=0, sum=group["initial_accumulator_value"])
        state["step"] += 1
        state["sum"] += gradient * gradient
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        return values - rate * gradient / (devices.device_of(values).library.sqrt(state["sum"]) + group["eps"])
