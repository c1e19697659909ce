"""Activation functions, under PyTorch's names and with its signatures.

A function that is one operation has the operation's docstring; `nn.activations` makes a module of each function.
"""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor
from ..derived import as_function

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


@as_function(ops.relu)
def relu(input: Any, inplace: bool = False) -> Tensor:
    return ops.relu(input)


@as_function(ops.relu6)
def relu6(input: Any, inplace: bool = False) -> Tensor:
    return ops.relu6(input)


@as_function(ops.leaky_relu, slope="negative_slope")
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    return ops.leaky_relu(input, slope=negative_slope)


def prelu(input: Any, weight: Any) -> Tensor:
    """Compute the parametric ReLU, a leaky ReLU with one learned slope or one for each channel.

    prelu(x) = x where x > 0, else weight · x. At x = 0 the derivative is weight.

    Shapes: input (N, C, ...) and weight (C,); input (C,) and weight (C,); or any input and weight () or (1,) -> the
        shape of input.
    Args:
        input: a tensor of real numbers, x.
        weight: a tensor, the slope below 0: one for all, or one for each channel (axis 1).
    Returns: a tensor of the shape of input.
    Raises: ValueError if weight holds neither one slope nor one for each channel; TypeError if input is complex or not
        a tensor.
    Example:
        >>> F.prelu(mg.tensor([[-2.0, -2.0]]), mg.tensor([0.5, 0.25])).tolist()
        [[-1.0, -0.5]]

    See: torch.nn.functional.prelu; He et al., Delving deep into rectifiers, 2015.
    """
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


@as_function(ops.elu)
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return ops.elu(input, alpha=alpha)


@as_function(ops.selu)
def selu(input: Any, inplace: bool = False) -> Tensor:
    return ops.selu(input)


@as_function(ops.celu)
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return ops.celu(input, alpha=alpha)


@as_function(ops.gelu)
def gelu(input: Any, approximate: str = "none") -> Tensor:
    return ops.gelu(input, approximate)


@as_function(ops.silu)
def silu(input: Any, inplace: bool = False) -> Tensor:
    return ops.silu(input)


@as_function(ops.mish)
def mish(input: Any, inplace: bool = False) -> Tensor:
    return ops.mish(input)


@as_function(ops.sigmoid)
def sigmoid(input: Any) -> Tensor:
    return ops.sigmoid(input)


@as_function(ops.logsigmoid)
def logsigmoid(input: Any) -> Tensor:
    return ops.logsigmoid(input)


def softplus(input: Any, beta: float = 1.0, threshold: float | None = None) -> Tensor:
    """Compute the softplus, a smooth ReLU whose derivative is the sigmoid of beta times x.

    softplus(x) = log(1 + exp(beta · x)) / beta, entry by entry. It is exact for large x, so the straight line that
    PyTorch uses beyond a threshold of 20 is needed only to reproduce its digits.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        beta: how sharp the bend is, a number other than 0; 1 by default.
        threshold: from which beta · x on the result is x itself; None (default) for nowhere.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: TypeError if input is complex or not made of numbers, or a setting is not a number; ValueError if beta is
        0.
    Example:
        >>> F.softplus([-1000.0, 0.0, 1000.0]).numpy().round(4).tolist()
        [0.0, 0.6931, 1000.0]

    See: torch.nn.functional.softplus; Dugas et al., Incorporating second-order functional knowledge for better option
        pricing, 2000.
    """
    if beta == 0:
        raise ValueError("softplus: beta must not be 0")
    scaled = input if beta == 1 else ops.multiply(input, beta)
    bent = ops.softplus(scaled) if beta == 1 else ops.softplus(scaled) / beta
    return bent if threshold is None else ops.where(ops.greater(scaled, threshold), input, bent)


@as_function(ops.softsign)
def softsign(input: Any) -> Tensor:
    return ops.softsign(input)


@as_function(ops.tanh)
def tanh(input: Any) -> Tensor:
    return ops.tanh(input)


def tanhshrink(input: Any) -> Tensor:
    """Compute the tanhshrink, x - tanh(x).

    tanhshrink(x) = x - tanh(x), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: TypeError if input is not made of numbers.
    Example:
        >>> F.tanhshrink([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.2384]

    See: torch.nn.functional.tanhshrink.
    """
    return ops.subtract(input, ops.tanh(input))


@as_function(ops.hardtanh, low="min_val", high="max_val")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    return ops.hardtanh(input, low=min_val, high=max_val)


@as_function(ops.hardsigmoid)
def hardsigmoid(input: Any, inplace: bool = False) -> Tensor:
    return ops.hardsigmoid(input)


@as_function(ops.hardswish)
def hardswish(input: Any, inplace: bool = False) -> Tensor:
    return ops.hardswish(input)


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Compute the hard shrinkage: x, or 0 if |x| ≤ lambd.

    hardshrink(x) = x where |x| > lambd, else 0. At ±lambd, where it jumps, the derivative is 0.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
        lambd: the largest absolute value that becomes 0; 0.5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: TypeError if input is not made of numbers.
    Example:
        >>> F.hardshrink([-1.0, 0.25, 0.5, 1.0]).tolist()
        [-1.0, 0.0, 0.0, 1.0]

    See: torch.nn.functional.hardshrink; Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, 1994.
    """
    return ops.where(ops.absolute(input) <= lambd, 0.0, input)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Compute the soft shrinkage (soft thresholding): move x towards 0 by at most lambd.

    softshrink(x) = x - lambd where x > lambd, x + lambd where x < -lambd, else 0. At the kinks, ±lambd, the derivative
    is 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        lambd: how far x moves, not negative; 0.5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: TypeError if input is complex or not made of numbers.
    Example:
        >>> F.softshrink([-1.0, 0.25, 2.0]).tolist()
        [-0.5, 0.0, 1.5]

    See: torch.nn.functional.softshrink; Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, 1994.
    """
    return ops.subtract(input, ops.clip(input, min=-lambd, max=lambd))


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Compute the threshold: x if it exceeds the threshold, else a fixed value.

    threshold(x) = x where x > threshold, else value. At the threshold itself the derivative is 0.

    Shapes: any -> the same.
    Args:
        input: a tensor of real numbers, x.
        threshold: x must exceed it to pass.
        value: the result elsewhere.
        inplace: accepted as in PyTorch and ignored; no tensor is overwritten.
    Returns: a tensor of the shape of input.
    Raises: TypeError if input is complex or not a tensor.
    Example:
        >>> F.threshold(mg.tensor([0.5, 1.0, 2.0]), threshold=1.0, value=-1.0).tolist()
        [-1.0, -1.0, 2.0]

    See: torch.nn.functional.threshold.
    """
    return ops.where(input <= threshold, value, input)


def glu(input: Any, dim: int = -1) -> Tensor:
    """Compute the gated linear unit: half of an axis times the sigmoid of the other half.

    glu(x) = a · σ(b), where a and b are the halves of x along dim.

    Shapes: (..., 2 n, ...) -> (..., n, ...), 2 n along dim.
    Args:
        input: a tensor of real numbers, x.
        dim: the axis that is cut in two, the last by default; its length is even.
    Returns: a tensor of the dtype of input, half as long along dim.
    Raises: ValueError if the axis is odd; IndexError if the axis is out of range; TypeError if input is complex or not
        a tensor.
    Example:
        >>> F.glu(mg.tensor([4.0, 6.0, 0.0, 1000.0])).tolist()
        [2.0, 6.0]

    See: torch.nn.functional.glu; Dauphin et al., Language modeling with gated convolutional networks, 2017.
    """
    if input.shape[dim] % 2:
        raise ValueError(f"glu: the axis is cut in two halves, but axis {dim} of {input.shape} is odd")
    first, second = ops.split(input, indices_or_sections=2, axis=dim)
    return first * ops.sigmoid(second)


@as_function(ops.softmax, axis="dim")
def softmax(input: Any, dim: int = -1) -> Tensor:
    return ops.softmax(input, axis=dim)


@as_function(ops.log_softmax, axis="dim")
def log_softmax(input: Any, dim: int = -1) -> Tensor:
    return ops.log_softmax(input, axis=dim)


def softmin(input: Any, dim: int = -1) -> Tensor:
    """Compute the softmin: positive weights that sum to one, the largest for the smallest entry.

    softmin(x)_i = exp(-x_i) / Σ_j exp(-x_j), the softmax of -x.

    Shapes: any -> the same.
    Args:
        input: real numbers, x; an empty axis stays empty.
        dim: the axis that j runs over, the last by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: IndexError if the axis is out of range; TypeError if input is complex or not made of numbers.
    Example:
        >>> F.softmin([0.0, 1.0]).numpy().round(4).tolist()
        [0.7311, 0.2689]

    See: torch.nn.functional.softmin.
    """
    return ops.softmax(ops.negative(input), axis=dim)
