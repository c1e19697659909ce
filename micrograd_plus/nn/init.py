"""How parameters start. Each function gives a tensor new values and returns it.

Numbers are drawn by `rng`, or by the generator of `micrograd_plus.random`.

>>> from micrograd_plus import nn
>>> weight = nn.Linear(100, 100).weight
>>> nn.init.xavier_uniform_(weight) is weight
True
>>> bool(abs(weight).max() <= (6 / 200) ** 0.5)
True
"""

from __future__ import annotations

from math import erf, prod, sqrt
from typing import Any

import numpy as np

from .. import random
from ..hints import names_itself
from ..readings import vocabulary
from ..tensor import Tensor

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


Generator = np.random.Generator

GAINS = {
    **dict.fromkeys(["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "sigmoid"], 1.0),
    "tanh": 5 / 3,
    "relu": sqrt(2.0),
    "selu": 3 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much larger weights must be so that the activations behind this function keep their spread.

    `param` is the slope of leaky_relu, 0.01 unless given.
    """
    if nonlinearity == "leaky_relu":
        return sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"no gain is known for {nonlinearity!r}; there is one for {', '.join(GAINS)} and leaky_relu")
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output sees, and how many outputs an input reaches: (fan in, fan out)."""
    if tensor.ndim < 2:
        raise ValueError(f"a weight of shape {tensor.shape} has no fan in and fan out: these need two axes or more")
    window = prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


@names_itself
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Anything between `a` and `b`."""
    return _given(tensor, random.chosen(rng).uniform(a, b, tensor.shape))


@names_itself
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, rng: Generator | None = None) -> Tensor:
    """A bell curve."""
    return _given(tensor, random.chosen(rng).normal(mean, std, tensor.shape))


@names_itself
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, rng: Generator | None = None,
) -> Tensor:  # fmt: skip
    """A bell curve without its tails: what falls below `a` or above `b` is drawn again."""
    inside = (erf((b - mean) / (std * sqrt(2))) - erf((a - mean) / (std * sqrt(2)))) / 2
    if inside < 0.01:
        raise ValueError(
            f"trunc_normal_: less than 1 in 100 draws of mean {mean} and std {std} falls between {a} and "
            f"{b}; uniform_({a}, {b}) may be what is meant"
        )
    draw = random.chosen(rng).normal
    values = np.asarray(draw(mean, std, tensor.shape))
    outside = (values < a) | (values > b)
    while outside.any():
        values[outside] = draw(mean, std, int(outside.sum()))
        outside = (values < a) | (values > b)
    return _given(tensor, values)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    return _given(tensor, np.full(tensor.shape, val))


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity: a matrix with 1s on its diagonal, which leaves what it is multiplied with as it is."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_ needs a matrix, got shape {tensor.shape}")
    rows, columns = tensor.shape
    return _given(tensor, np.eye(rows, columns))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Spread that neither grows forward nor backward, on average (Glorot and Bengio 2010)."""
    bound = gain * sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, rng)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """The same, from a bell curve."""
    return normal_(tensor, 0.0, gain * sqrt(2 / sum(fans(tensor))), rng)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Tensor:
    """Spread that relu keeps (He et al. 2015): forward with "fan_in", backward with "fan_out". `a` is its slope."""
    bound = sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, rng)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Tensor:
    """The same, from a bell curve."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), rng)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', got {mode!r}")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / sqrt(fan)


def orthogonal_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """A matrix that turns without stretching (times `gain`); later axes are joined to the second.

    Rows are orthonormal, or columns where there are fewer of them (Saxe et al. 2014).
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_ needs a matrix, got shape {tensor.shape}")
    rows, columns = tensor.shape[0], prod(tensor.shape[1:])
    drawn = random.chosen(rng).normal(size=(max(rows, columns), min(rows, columns)))
    turn, triangle = np.linalg.qr(drawn)
    turn = turn * np.sign(np.diag(triangle))  # without this, qr's choice of signs would favour some turns
    return _given(tensor, gain * (turn if rows >= columns else turn.T).reshape(tensor.shape))


def _given(tensor: Tensor, values: Any) -> Tensor:
    """The tensor with new values, on its own device and in its own dtype."""
    return tensor.assign(vocabulary.device_of(tensor._data).library.asarray(values))
