"""Activations as modules: the functions of `nn.functional`, with their settings given once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .init import constant_
from .module import Module
from .parameters import parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmin",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class Activation(Module):
    """A function of `nn.functional` and its settings."""

    def __init__(self, function: Callable[..., Tensor], **settings: Any):
        self.function, self.settings = function, settings

    def forward(self, input: Any) -> Tensor:
        """What the function makes of the input."""
        return self.function(input, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class ReLU(Activation):
    """x where it is positive, else 0.

    >>> import micrograd_plus as mg
    >>> mg.nn.ReLU()(mg.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self) -> None:
        super().__init__(functional.relu)


class ReLU6(Activation):
    """relu that stops at 6."""

    def __init__(self) -> None:
        super().__init__(functional.relu6)


class SELU(Activation):
    """elu scaled so that activations of mean 0 and variance 1 stay so."""

    def __init__(self) -> None:
        super().__init__(functional.selu)


class SiLU(Activation):
    """x times its sigmoid, also called swish."""

    def __init__(self) -> None:
        super().__init__(functional.silu)


class Mish(Activation):
    """x times the tanh of its softplus."""

    def __init__(self) -> None:
        super().__init__(functional.mish)


class Sigmoid(Activation):
    """A smooth step from 0 to 1."""

    def __init__(self) -> None:
        super().__init__(functional.sigmoid)


class LogSigmoid(Activation):
    """The logarithm of the sigmoid."""

    def __init__(self) -> None:
        super().__init__(functional.logsigmoid)


class Softsign(Activation):
    """x / (1 + |x|): a step from -1 to 1 with long tails."""

    def __init__(self) -> None:
        super().__init__(functional.softsign)


class Tanh(Activation):
    """A smooth step from -1 to 1."""

    def __init__(self) -> None:
        super().__init__(functional.tanh)


class Tanhshrink(Activation):
    """What tanh takes away from x."""

    def __init__(self) -> None:
        super().__init__(functional.tanhshrink)


class Hardsigmoid(Activation):
    """The sigmoid in three straight pieces."""

    def __init__(self) -> None:
        super().__init__(functional.hardsigmoid)


class Hardswish(Activation):
    """x times its hard sigmoid."""

    def __init__(self) -> None:
        super().__init__(functional.hardswish)


class LeakyReLU(Activation):
    """x where it is positive, else `negative_slope * x`."""

    def __init__(self, negative_slope: float = 0.01):
        super().__init__(functional.leaky_relu, negative_slope=negative_slope)


class ELU(Activation):
    """x where it is positive, else an exponential that levels off at -alpha."""

    def __init__(self, alpha: float = 1.0):
        super().__init__(functional.elu, alpha=alpha)


class CELU(Activation):
    """elu whose slope at 0 is 1 for every alpha."""

    def __init__(self, alpha: float = 1.0):
        super().__init__(functional.celu, alpha=alpha)


class GELU(Activation):
    """x times the share of a bell curve below x: exactly ("none"), or as first published ("tanh")."""

    def __init__(self, approximate: str = "none"):
        super().__init__(functional.gelu, approximate=approximate)


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta: a rounded relu."""

    def __init__(self, beta: float = 1.0):
        super().__init__(functional.softplus, beta=beta)


class Hardtanh(Activation):
    """x held between two bounds."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0):
        super().__init__(functional.hardtanh, min_val=min_val, max_val=max_val)


class Hardshrink(Activation):
    """x, or 0 where it is within `lambd` of 0."""

    def __init__(self, lambd: float = 0.5):
        super().__init__(functional.hardshrink, lambd=lambd)


class Softshrink(Activation):
    """x moved towards 0 by `lambd`, and 0 where it would pass it."""

    def __init__(self, lambd: float = 0.5):
        super().__init__(functional.softshrink, lambd=lambd)


class Threshold(Activation):
    """x where it is above the threshold, else `value`."""

    def __init__(self, threshold: float, value: float):
        super().__init__(functional.threshold, threshold=threshold, value=value)


class GLU(Activation):
    """The first half of an axis, let through by the sigmoid of the second half."""

    def __init__(self, dim: int = -1):
        super().__init__(functional.glu, dim=dim)


class Softmax(Activation):
    """Positive weights along `dim` that add up to one; the last axis unless told otherwise.

    >>> import micrograd_plus as mg
    >>> mg.nn.Softmax(dim=0)(mg.tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """

    def __init__(self, dim: int = -1):
        super().__init__(functional.softmax, dim=dim)


class LogSoftmax(Activation):
    """The logarithm of the softmax, safe for large entries."""

    def __init__(self, dim: int = -1):
        super().__init__(functional.log_softmax, dim=dim)


class Softmin(Activation):
    """Positive weights that add up to one, the largest for the smallest entry."""

    def __init__(self, dim: int = -1):
        super().__init__(functional.softmin, dim=dim)


class PReLU(Module):
    """leaky_relu whose slope is learned: one for all, or one for each of `num_parameters` channels (axis 1)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, device: str = "cpu", dtype: Any = None):
        self.weight = constant_(parameter((num_parameters,), dtype, device), init)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.prelu(input, self.weight)
