"""Adam and AdamW: steps of about the same length for every entry, independent of the size of its gradient."""

from __future__ import annotations

from collections.abc import Iterable
from math import nextafter, sqrt
from types import MappingProxyType
from typing import Any

from ..backends import devices
from .optimizer import Group, Optimizer, is_between

ALMOST_1 = nextafter(1.0, 0.0)


class Adam(Optimizer):
    """Adam: a running mean of gradients, divided by the root of a running mean of their squares.

        m ← β₁ m + (1 - β₁) g
        v ← β₂ v + (1 - β₂) g²
        x ← x - lr · m̂ / (√v̂ + eps),  m̂ = m / (1 - β₁ᵗ),  v̂ = v / (1 - β₂ᵗ)

    at step t = 1, 2, ... Both means start at 0 and are too small at first, which the hats make up for. Steps are of
    about the length lr for every entry, whatever the size of its gradient.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        lr: the learning rate; 1e-3 by default.
        betas: how slowly the two means forget, from 0 to below 1; (0.9, 0.999) by default.
        eps: keeps the divisor away from 0; 1e-8 by default.
        weight_decay: the share of the values that is added to the gradient g, 0 by default; `AdamW` keeps it apart.
        amsgrad: whether v is the largest so far, so that the divisor never shrinks (Reddi, Kale and Kumar 2018); False
            by default.
    Raises: TypeError for a single tensor or anything that is not a tensor, and for complex parameters, whose gradients
        it squares; ValueError for no parameters, one given twice, a result instead of a leaf, an unknown setting, and a
        negative setting, and for betas that are not two numbers from 0 to below 1.
    Example:
        >>> x = mg.tensor([1.0, -200.0], requires_grad=True)
        >>> adam = optim.Adam([x], lr=0.1)
        >>> (x * x).sum().backward()
        >>> adam.step()
        >>> mg.round(x, 4).tolist()
        [0.9, -199.9]

    See: torch.optim.Adam; Kingma and Ba, Adam: a method for stochastic optimization, 2015; CS231n notes, Neural
        networks 3.
    """

    squares_gradients = True
    state_names = MappingProxyType({"step": True, "exp_avg": True, "exp_avg_sq": True, "max_exp_avg_sq": False})

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, amsgrad: bool = False,
    ):  # fmt: skip
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        super().__init__(params, settings)

    def check(self, group: Group) -> None:
        """Raise ValueError unless the decay rates are in the range from 0 up to, but excluding, 1."""
        super().check(group)
        betas, kind = group["betas"], type(self).__name__
        is_pair = isinstance(betas, (tuple, list)) and len(betas) == 2
        if not is_pair or not all(is_between(beta, 0, ALMOST_1) for beta in betas):
            raise ValueError(f"{kind}: betas must be two numbers, at least 0 and below 1; got {betas}")

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return new values by Adam; weight decay adds a share of the values to the gradient."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * values
        return self.take_step(values, gradient, state, group)

    def take_step(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return values after a step of Adam. Means that start at 0 are too small; dividing by 1 - beta**step corrects
        them."""
        if not state:
            state.update(step=0, exp_avg=devices.zeros_like(values), exp_avg_sq=devices.zeros_like(values))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        state["exp_avg"] *= beta1
        state["exp_avg"] += (1 - beta1) * gradient
        state["exp_avg_sq"] *= beta2
        state["exp_avg_sq"] += (1 - beta2) * gradient * gradient
        spread = devices.device_of(values).library.sqrt(self.squares(state, group))
        spread /= sqrt(1 - beta2 ** state["step"])
        spread += group["eps"]
        rate = group["lr"] / (1 - beta1 ** state["step"])
        return values - rate * state["exp_avg"] / spread

    def squares(self, state: dict[str, Any], group: Group) -> Any:
        """Return the running mean of squares; with amsgrad, its maximum so far."""
        if not group["amsgrad"]:
            return state["exp_avg_sq"]
        library = devices.device_of(state["exp_avg_sq"]).library
        largest = state.get("max_exp_avg_sq", state["exp_avg_sq"])
        state["max_exp_avg_sq"] = library.maximum(largest, state["exp_avg_sq"])
        return state["max_exp_avg_sq"]


class AdamW(Adam):
    """AdamW: Adam with decoupled weight decay.

        x ← x · (1 - lr · weight_decay), then the step of `Adam` by the gradient alone

    In `Adam` the decay goes through the means, and weighs less where gradients are large; here it is the same for all.

    Args:
        params: an iterable of tensors, such as `model.parameters()`, or of dicts with "params" and other settings.
        lr: the learning rate; 1e-3 by default.
        betas: how slowly the two means forget, from 0 to below 1; (0.9, 0.999) by default.
        eps: keeps the divisor away from 0; 1e-8 by default.
        weight_decay: the share, times lr, that values lose in each step; 1e-2 by default.
        amsgrad: whether v is the largest so far, as in `Adam`; False by default.
    Raises: TypeError for a single tensor or anything that is not a tensor, and for complex parameters, whose gradients
        it squares; ValueError for no parameters, one given twice, a result instead of a leaf, an unknown setting, and a
        negative setting, and for betas that are not two numbers from 0 to below 1.
    Example:
        >>> x = mg.tensor([1.0, -200.0], requires_grad=True)
        >>> adam = optim.AdamW([x], lr=0.1, weight_decay=0.1)
        >>> (x * x).sum().backward()
        >>> adam.step()
        >>> mg.round(x, 4).tolist()
        [0.89, -197.9]

    See: torch.optim.AdamW; Loshchilov and Hutter, Decoupled weight decay regularization, 2019.
    """

    implied_settings = ("decoupled_weight_decay",)

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False,
    ):  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)

    def new_values(self, values: Any, gradient: Any, state: dict[str, Any], group: Group) -> Any:
        """Return new values: shrink the values, then take Adam's step without weight decay."""
        return self.take_step(values * (1 - group["lr"] * group["weight_decay"]), gradient, state, group)
