"""Adam and AdamW: steps of about the same length for every entry, whatever the size of its gradient."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Any

from ..readings import vocabulary
from .optimizer import Group, Optimizer


class Adam(Optimizer):
    """A running mean of gradients, divided by the root of a running mean of their squares (Kingma and Ba 2015).

    `betas` say how slowly the two means forget. With `amsgrad` the divisor never shrinks (Reddi et al. 2018).
    `weight_decay` adds a share of the values to the gradient; `AdamW` keeps it apart.

    >>> import micrograd_plus as mg
    >>> x = mg.tensor([1.0, -200.0], requires_grad=True)
    >>> adam = mg.optim.Adam([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> adam.step()
    >>> x
    tensor([   0.9, -199.9], requires_grad=True)
    """

    squares_gradients = True

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, amsgrad: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(params, settings)

    def check(self, group: Group) -> None:
        """A mean that forgets nothing, or more than everything, is none."""
        super().check(group)
        betas, kind = group["betas"], type(self).__name__
        if not isinstance(betas, (tuple, list)) or len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"{kind}: betas are two numbers, at least 0 and below 1; got {betas}")

    def updated(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """A step of Adam by the gradient, with a share of the values added to it if weights decay."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        return self.stepped(values, gradient, state, group)

    def stepped(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Means that start at 0 are too small at first; dividing by 1 - beta**step makes up for it."""
        if not state:
            state.update(step=0, exp_avg=vocabulary.zeros_like(values), exp_avg_sq=vocabulary.zeros_like(values))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        state["exp_avg"] *= beta1
        state["exp_avg"] += (1 - beta1) * gradient
        state["exp_avg_sq"] *= beta2
        state["exp_avg_sq"] += (1 - beta2) * gradient * gradient
        spread = vocabulary.device_of(values).library.sqrt(self.squares(state, group))
        spread /= sqrt(1 - beta2 ** state["step"])
        spread += group["eps"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        return values - rate * state["exp_avg"] / spread

    def squares(self, state: dict[str, Any], group: Group) -> Any:
        """The running mean of squares; with amsgrad, the largest there has been."""
        if not group["amsgrad"]:
            return state["exp_avg_sq"]
        library = vocabulary.device_of(state["exp_avg_sq"]).library
        largest = state.get("max_exp_avg_sq", state["exp_avg_sq"])
        state["max_exp_avg_sq"] = library.maximum(largest, state["exp_avg_sq"])
        return state["max_exp_avg_sq"]


class AdamW(Adam):
    """Adam whose weight decay shrinks the values themselves, by lr * weight_decay (Loshchilov and Hutter 2019)."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False,
    ):  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)

    def updated(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """First the values shrink, then Adam takes its step, knowing nothing of it."""
        return self.stepped(values * (1 - group["lr"] * group["weight_decay"]), gradient, state, group)
