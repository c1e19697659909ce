"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from ..backends import devices
from .optimizer import Group, Optimizer, is_between


class RMSprop(Optimizer):
    """RMSprop: gradients divided by the root of a running mean of their squares.

        v ← alpha v + (1 - alpha) g²
        x ← x - lr · g / (√v + eps)

    With `centered` v loses the square of a running mean of gradients, so that a variance remains. With `momentum` the
    quotients are summed as gradients are in `SGD`: b ← momentum · b + g / (√v + eps), x ← x - lr · b.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        lr: the learning rate; 1e-2 by default.
        alpha: how slowly the mean forgets, from 0 to 1; 0.99 by default.
        eps: keeps the divisor away from 0; 1e-8 by default.
        weight_decay: the share of the values that is added to the gradient g; 0 by default.
        momentum: decay of the running sum from step to step; 0 by default.
        centered: whether a variance takes the place of the mean of squares; False by default.
    Raises: TypeError for a single tensor or anything that is not a tensor, and for complex parameters, whose gradients
        it squares; ValueError for no parameters, one given twice, a result instead of a leaf, an unknown setting, and a
        negative setting, and for an alpha outside 0 to 1.
    Example:
        >>> x = mg.tensor([1.0, -2.0], requires_grad=True)
        >>> descent = optim.RMSprop([x], lr=0.1, alpha=0.9)
        >>> (x * x).sum().backward()
        >>> descent.step()
        >>> mg.round(x, 4).tolist()
        [0.6838, -1.6838]

    See: torch.optim.RMSprop; Tieleman and Hinton, Lecture 6.5 of Neural networks for machine learning, 2012; CS231n
        notes, Neural networks 3.
    """

    squares_gradients = True
    state_names = MappingProxyType({"square_avg": True, "momentum_buffer": False, "grad_avg": False})

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0.0, momentum: float = 0.0, centered: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "alpha": alpha, "eps": eps}
        super().__init__(params, settings | {"weight_decay": weight_decay, "momentum": momentum, "centered": centered})

    def check(self, group: Group) -> None:
        """Raise ValueError unless the decay rate is not negative."""
        super().check(group)
        if not is_between(group["alpha"], 0, 1):
            raise ValueError(f"RMSprop: alpha must be between 0 and 1, got {group['alpha']!r}")

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return new values; with momentum, the running sum adds steps that are already divided."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        step = gradient / self.spread(gradient, state, group)
        if group["momentum"]:
            before = state.get("momentum_buffer", 0.0)
            step = state["momentum_buffer"] = group["momentum"] * before + step
        return values - group["lr"] * step

    def spread(self, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return the root of the running mean of squares plus eps."""
        alpha = group["alpha"]
        if "square_avg" not in state:
            state["square_avg"] = devices.zeros_like(gradient)
        state["square_avg"] = alpha * state["square_avg"] + (1 - alpha) * gradient * gradient
        mean_square = state["square_avg"]
        if group["centered"]:
            state["grad_avg"] = alpha * state.get("grad_avg", 0.0) + (1 - alpha) * gradient
            mean_square = mean_square - state["grad_avg"] * state["grad_avg"]
        return devices.device_of(mean_square).library.sqrt(mean_square) + group["eps"]
