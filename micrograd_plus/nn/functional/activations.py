"""Activations: the bends between linear layers."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def relu(input: Any) -> Tensor:
    """x where it is positive, else 0."""
    return ops.relu(input)


def relu6(input: Any) -> Tensor:
    """relu that stops at 6."""
    return ops.relu6(input)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Tensor:
    """x where it is positive, else `negative_slope * x`."""
    return ops.leaky_relu(input, slope=negative_slope)


def prelu(input: Any, weight: Any) -> Tensor:
    """leaky_relu whose slope is learned: one for all, or one for each channel (axis 1)."""
    if weight.shape not in ((), (1,)):
        channels = input.shape[1] if input.ndim > 1 else input.shape[0]
        if weight.shape != (channels,):
            raise ValueError(
                f"prelu: weight has shape {weight.shape}; it holds one slope, or one for each of {channels} channels"
            )
        weight = ops.reshape(weight, shape=(-1,) + (1,) * max(input.ndim - 2, 0))
    elif input.ndim == 0:
        weight = ops.reshape(weight, shape=())
    return ops.where(input > 0, input, weight * input)


def elu(input: Any, alpha: float = 1.0) -> Tensor:
    """x where it is positive, else an exponential that levels off at -alpha."""
    return ops.elu(input, alpha=alpha)


def selu(input: Any) -> Tensor:
    """elu scaled so that activations of mean 0 and variance 1 stay so."""
    return ops.selu(input)


def celu(input: Any, alpha: float = 1.0) -> Tensor:
    """elu whose slope at 0 is 1 for every alpha."""
    return ops.celu(input, alpha=alpha)


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """x times the share of a bell curve below x: exactly ("none"), or as first published ("tanh")."""
    return ops.gelu(input, approximate)


def silu(input: Any) -> Tensor:
    """x times its sigmoid, also called swish."""
    return ops.silu(input)


def mish(input: Any) -> Tensor:
    """x times the tanh of its softplus."""
    return ops.mish(input)


def sigmoid(input: Any) -> Tensor:
    """A smooth step from 0 to 1."""
    return ops.sigmoid(input)


def logsigmoid(input: Any) -> Tensor:
    """The logarithm of the sigmoid."""
    return ops.logsigmoid(input)


def softplus(input: Any, beta: float = 1.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta: a rounded relu.

    PyTorch's `threshold`, beyond which it returns x itself, is not needed: this is exact for large x.
    """
    return ops.softplus(input) if beta == 1 else ops.softplus(input * beta) / beta


def softsign(input: Any) -> Tensor:
    """x / (1 + |x|): a step from -1 to 1 with long tails."""
    return ops.softsign(input)


def tanh(input: Any) -> Tensor:
    """A smooth step from -1 to 1."""
    return ops.tanh(input)


def tanhshrink(input: Any) -> Tensor:
    """What tanh takes away from x."""
    return ops.subtract(input, ops.tanh(input))


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x held between two bounds."""
    return ops.hardtanh(input, low=min_val, high=max_val)


def hardsigmoid(input: Any) -> Tensor:
    """The sigmoid in three straight pieces."""
    return ops.hardsigmoid(input)


def hardswish(input: Any) -> Tensor:
    """x times its hard sigmoid."""
    return ops.hardswish(input)


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """x, or 0 where it is within `lambd` of 0."""
    return ops.where(ops.absolute(input) > lambd, input, 0.0)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by `lambd`, and 0 where it would pass it."""
    return ops.subtract(input, ops.clip(input, min=-lambd, max=lambd))


def threshold(input: Any, threshold: float, value: float) -> Tensor:
    """x where it is above the threshold, else `value`."""
    return ops.where(input > threshold, input, value)


def glu(input: Any, dim: int = -1) -> Tensor:
    """The first half of an axis, let through by the sigmoid of the second half (Dauphin et al. 2017)."""
    if input.shape[dim] % 2:
        raise ValueError(f"glu: the axis is cut in two halves, but axis {dim} of {input.shape} is odd")
    first, second = ops.split(input, indices_or_sections=2, axis=dim)
    return first * ops.sigmoid(second)


def softmax(input: Any, dim: int = -1) -> Tensor:
    """Positive weights along `dim` that add up to one."""
    return ops.softmax(input, axis=dim)


def log_softmax(input: Any, dim: int = -1) -> Tensor:
    """The logarithm of the softmax, safe for large entries."""
    return ops.log_softmax(input, axis=dim)


def softmin(input: Any, dim: int = -1) -> Tensor:
    """Positive weights that add up to one, the largest for the smallest entry."""
    return ops.softmax(ops.negative(input), axis=dim)
