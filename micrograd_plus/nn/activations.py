"""Activations as modules: the functions of `nn.functional` with fixed settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor
from . import functional
from .derived import as_module
from .init import constant_
from .module import Module
from .parameters import parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmin",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


def _nonzero(name: str) -> Callable[..., str | None]:
    """Return a check that one setting is not 0."""
    return lambda **settings: f"{name} must not be 0" if settings[name] == 0 else None


def _is_known(approximate: str) -> str | None:
    """Check the name of an approximation."""
    return None if approximate in ("none", "tanh") else f"approximate must be 'none' or 'tanh', got {approximate!r}"


def _in_order(min_val: float, max_val: float) -> str | None:
    """Check that two bounds are in order."""
    return f"min_val {min_val} must not be above max_val {max_val}" if min_val > max_val else None


ReLU = as_module("ReLU", functional.relu)
ReLU6 = as_module("ReLU6", functional.relu6)
LeakyReLU = as_module("LeakyReLU", functional.leaky_relu)
ELU = as_module("ELU", functional.elu)
SELU = as_module("SELU", functional.selu)
CELU = as_module("CELU", functional.celu, check=_nonzero("alpha"))
GELU = as_module("GELU", functional.gelu, check=_is_known)
SiLU = as_module("SiLU", functional.silu)
Mish = as_module("Mish", functional.mish)
Sigmoid = as_module("Sigmoid", functional.sigmoid)
LogSigmoid = as_module("LogSigmoid", functional.logsigmoid)
Softplus = as_module("Softplus", functional.softplus, check=_nonzero("beta"))
Softsign = as_module("Softsign", functional.softsign)
Tanh = as_module("Tanh", functional.tanh)
Tanhshrink = as_module("Tanhshrink", functional.tanhshrink)
Hardtanh = as_module("Hardtanh", functional.hardtanh, check=_in_order)
Hardsigmoid = as_module("Hardsigmoid", functional.hardsigmoid)
Hardswish = as_module("Hardswish", functional.hardswish)
Hardshrink = as_module("Hardshrink", functional.hardshrink)
Softshrink = as_module("Softshrink", functional.softshrink)
Threshold = as_module("Threshold", functional.threshold)
GLU = as_module("GLU", functional.glu)
Softmax = as_module("Softmax", functional.softmax)
LogSoftmax = as_module("LogSoftmax", functional.log_softmax)
Softmin = as_module("Softmin", functional.softmin)


class PReLU(Module):
    """Parametric ReLU: a leaky ReLU whose slope is learned.

    prelu(x) = x where x > 0, else weight · x. At 0 the slope is the learned one.

    Shapes: (N, C, ...) -> the same; weight (num_parameters,). With one slope, any -> the same.
    Args:
        num_parameters: 1 (default) for one slope for all, or the number of channels C for one each (axis 1).
        init: the slope to start from; 0.25 by default.
        device: "cpu" (default) or "cuda", where the slopes live.
        dtype: of the slopes; float64 by default.
    Raises: ValueError if there are neither one nor C slopes; TypeError for complex numbers, and if the input is not a
        tensor.
    Example:
        >>> nn.PReLU()(mg.tensor([-1.0, 0.0, 2.0])).tolist()
        [-0.25, 0.0, 2.0]

    See: torch.nn.PReLU; He, Zhang, Ren and Sun, Delving deep into rectifiers, 2015.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, device: str = "cpu", dtype: Any = None):
        self.weight = constant_(parameter((num_parameters,), dtype, device), init)

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        return functional.prelu(input, self.weight)
