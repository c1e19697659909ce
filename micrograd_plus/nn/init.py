"""Initialisation of parameters. Each function gives a tensor new values and returns it.

Numbers are drawn by `rng`, or by the generator of `micrograd_plus.random`.

>>> from micrograd_plus import nn
>>> weight = nn.Linear(100, 100).weight
>>> nn.init.xavier_uniform_(weight) is weight
True
>>> bool(abs(weight).max() <= (6 / 200) ** 0.5)
True
"""

from __future__ import annotations

from functools import wraps
from math import erf, prod, sqrt
from typing import Any, NoReturn

import numpy as np

from .. import random
from ..backends import devices
from ..core.messages import expected_tensor_error, missing_name, prefixes_errors
from ..tensor import Tensor

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    raise missing_name(__name__, name, __all__)


Generator = np.random.Generator

GAINS = {
    **dict.fromkeys(["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "sigmoid"], 1.0),
    "tanh": 5 / 3,
    "relu": sqrt(2.0),
    "selu": 3 / 4,
}


def _of_a_tensor(function: Any) -> Any:
    """Decorator for a function that initialises a tensor: raises TypeError for anything else."""

    @wraps(function)
    def call(tensor: Any, *args: Any, **options: Any) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise expected_tensor_error(function.__name__, tensor)
        return function(tensor, *args, **options)

    return call


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain: the factor of weights with which activations keep their variance.

        linear, conv..., sigmoid    1
        tanh                        5 / 3
        relu                        √2
        leaky_relu                  √(2 / (1 + param²))
        selu                        3 / 4

    Shapes: none: from a name to a number.
    Args:
        nonlinearity: the name of the function behind the weights, as above; "conv..." is conv1d, conv2d, conv3d,
            conv_transpose1d or conv_transpose2d.
        param: the slope of leaky_relu below 0; 0.01 unless given. Others ignore it.
    Returns: a float.
    Raises: ValueError if no gain is known for the name.
    Example:
        >>> nn.init.calculate_gain("leaky_relu", 1.0)
        1.0

    See: torch.nn.init.calculate_gain; He et al., Delving deep into rectifiers, 2015.
    """
    if nonlinearity == "leaky_relu":
        return sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"no gain is known for {nonlinearity!r}; there is one for {', '.join(GAINS)} and leaky_relu")
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """Return (fan in, fan out): the inputs of an output, and the outputs of an input."""
    if tensor.ndim < 2:
        raise ValueError(f"a weight of shape {tensor.shape} has no fan in and fan out: these need two axes or more")
    window = prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


@_of_a_tensor
@prefixes_errors
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Fill a tensor from a uniform distribution between two bounds.

    tensor_i ~ U(a, b).

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
        a: the lower bound; 0 by default.
        b: the upper bound; 1 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if b is less than a; TypeError if tensor is not a tensor, or rng no generator.
    Example:
        >>> weight = nn.init.uniform_(mg.tensor(np.empty(1000)), -2.0, 2.0)
        >>> bool(mg.max(mg.abs(weight)) <= 2.0)
        True

    See: torch.nn.init.uniform_, numpy.random.Generator.uniform.
    """
    return _assign(tensor, random.generator_or_default(rng).uniform(a, b, tensor.shape))


@_of_a_tensor
@prefixes_errors
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Fill a tensor from a normal (Gaussian) distribution.

    tensor_i ~ N(mean, std²).

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
        mean: mean of the distribution; 0 by default.
        std: how wide it is, the standard deviation, not negative; 1 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if std is negative; TypeError if tensor is not a tensor, or rng no generator.
    Example:
        >>> weight = nn.init.normal_(mg.tensor(np.empty(10000)), std=3.0, rng=np.random.default_rng(0))
        >>> round(mg.std(weight).item(), 1)
        3.0

    See: torch.nn.init.normal_, numpy.random.Generator.normal.
    """
    return _assign(tensor, random.generator_or_default(rng).normal(mean, std, tensor.shape))


@_of_a_tensor
@prefixes_errors
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, rng: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Fill a tensor from a normal distribution without its tails.

    tensor_i ~ N(mean, std²); what falls below a or above b is drawn again.

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
        mean: mean of the distribution; 0 by default.
        std: how wide it would be with its tails, positive; 1 by default.
        a: the lower bound; -2 by default.
        b: the upper bound; 2 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if std is 0, or less than 1 in 100 draws would fall between a and b; TypeError if tensor is not a
        tensor, or rng no generator.
    Example:
        >>> weight = nn.init.trunc_normal_(mg.tensor(np.empty(1000)), std=3.0)
        >>> bool(mg.max(mg.abs(weight)) <= 2.0)
        True

    See: torch.nn.init.trunc_normal_, scipy.stats.truncnorm.
    """
    inside = (erf((b - mean) / (std * sqrt(2))) - erf((a - mean) / (std * sqrt(2)))) / 2
    if inside < 0.01:
        raise ValueError(
            f"trunc_normal_: less than 1 in 100 draws of mean {mean} and std {std} falls between {a} and "
            f"{b}; uniform_({a}, {b}) may be what is meant"
        )
    draw = random.generator_or_default(rng).normal
    values = np.asarray(draw(mean, std, tensor.shape))
    outside = (values < a) | (values > b)
    while outside.any():
        values[outside] = draw(mean, std, int(outside.sum()))
        outside = (values < a) | (values > b)
    return _assign(tensor, values)


@_of_a_tensor
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one number.

    tensor_i = val.

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
        val: the number.
    Returns: the tensor itself, with its dtype.
    Raises: TypeError if val is not made of numbers, or complex beside a real tensor.
    Example:
        >>> nn.init.constant_(mg.tensor([1.0, 2.0]), 3.0).tolist()
        [3.0, 3.0]

    See: torch.nn.init.constant_, numpy.full.
    """
    return _assign(tensor, np.full(tensor.shape, val))


@_of_a_tensor
def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    tensor_i = 0: what biases begin with. Weights that begin so learn nothing that tells them apart.

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
    Returns: the tensor itself, with its dtype.
    Raises: AttributeError if tensor is not a tensor.
    Example:
        >>> nn.init.zeros_(mg.tensor([1.0, 2.0])).tolist()
        [0.0, 0.0]

    See: torch.nn.init.zeros_, numpy.zeros; CS231n notes, Neural networks part 2.
    """
    return constant_(tensor, 0.0)


@_of_a_tensor
def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    tensor_i = 1: the usual start of the weights of normalisation.

    Shapes: any -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
    Returns: the tensor itself, with its dtype.
    Raises: AttributeError if tensor is not a tensor.
    Example:
        >>> nn.init.ones_(mg.tensor([1.0, 2.0])).tolist()
        [1.0, 1.0]

    See: torch.nn.init.ones_, numpy.ones.
    """
    return constant_(tensor, 1.0)


@_of_a_tensor
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: 1 on the diagonal, else 0.

    tensor_ij = 1 where i = j, else 0: a linear layer with it leaves its input as it is.

    Shapes: (m, n) -> the same.
    Args:
        tensor: the tensor that gets new values, in place.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor is no matrix.
    Example:
        >>> nn.init.eye_(mg.tensor([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]])).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]

    See: torch.nn.init.eye_, numpy.eye.
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_ expects a matrix, got shape {tensor.shape}")
    rows, columns = tensor.shape
    return _assign(tensor, np.eye(rows, columns))


@_of_a_tensor
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Fill a tensor from a uniform distribution by Xavier (Glorot) initialisation.

    tensor_i ~ U(-b, b), b = gain · √(6 / (fan_in + fan_out)). The spread of what passes through neither grows nor
    shrinks, on the average of forward and backward.

    Shapes: (out, in, *window) -> the same; fan_in = in · Π window, fan_out = out · Π window.
    Args:
        tensor: the tensor that gets new values, in place.
        gain: factor for the activation that follows, see `calculate_gain`; 1 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor has fewer than two axes; TypeError if rng is no generator.
    Example:
        >>> weight = nn.init.xavier_uniform_(mg.tensor(np.empty((100, 50))))
        >>> bool(mg.max(mg.abs(weight)) <= (6 / 150) ** 0.5)
        True

    See: torch.nn.init.xavier_uniform_; Glorot and Bengio, Understanding the difficulty of training deep feedforward
        neural networks, 2010.
    """
    bound = gain * sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, rng)


@_of_a_tensor
def xavier_normal_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Fill a tensor from a normal distribution by Xavier (Glorot) initialisation.

    tensor_i ~ N(0, std²), std = gain · √(2 / (fan_in + fan_out)): as wide as xavier_uniform_.

    Shapes: (out, in, *window) -> the same; fan_in = in · Π window, fan_out = out · Π window.
    Args:
        tensor: the tensor that gets new values, in place.
        gain: factor for the activation that follows, see `calculate_gain`; 1 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor has fewer than two axes; TypeError if rng is no generator.
    Example:
        >>> weight = nn.init.xavier_normal_(mg.tensor(np.empty((100, 100))), rng=np.random.default_rng(0))
        >>> round(mg.std(weight).item(), 2)
        0.1

    See: torch.nn.init.xavier_normal_; Glorot and Bengio, Understanding the difficulty of training deep feedforward
        neural networks, 2010.
    """
    return normal_(tensor, 0.0, gain * sqrt(2 / sum(fans(tensor))), rng)


@_of_a_tensor
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Tensor:
    """Fill a tensor from a uniform distribution by Kaiming (He) initialisation.

    tensor_i ~ U(-b, b), b = gain · √(3 / fan), with the gain of calculate_gain. Activations keep their spread through
    layers with relu.

    Shapes: (out, in, *window) -> the same; fan_in = in · Π window, fan_out = out · Π window.
    Args:
        tensor: the tensor that gets new values, in place.
        a: the slope of leaky_relu below 0; 0 by default, which is relu.
        mode: "fan_in" (the default) keeps the spread forward, "fan_out" backward.
        nonlinearity: the function behind, a name that calculate_gain knows; "leaky_relu" by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor has fewer than two axes, mode is another, or no gain is known for nonlinearity;
        TypeError if rng is no generator.
    Example:
        >>> weight = nn.init.kaiming_uniform_(mg.tensor(np.empty((100, 50))))
        >>> bool(mg.max(mg.abs(weight)) <= (6 / 50) ** 0.5)
        True

    See: torch.nn.init.kaiming_uniform_; He et al., Delving deep into rectifiers, 2015; CS231n notes, Neural networks
        part 2.
    """
    bound = sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, rng)


@_of_a_tensor
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Tensor:
    """Fill a tensor from a normal distribution by Kaiming (He) initialisation.

    tensor_i ~ N(0, std²), std = gain / √fan, with the gain of calculate_gain: as wide as kaiming_uniform_.

    Shapes: (out, in, *window) -> the same; fan_in = in · Π window, fan_out = out · Π window.
    Args:
        tensor: the tensor that gets new values, in place.
        a: the slope of leaky_relu below 0; 0 by default, which is relu.
        mode: "fan_in" (the default) keeps the spread forward, "fan_out" backward.
        nonlinearity: the function behind, a name that calculate_gain knows; "leaky_relu" by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor has fewer than two axes, mode is another, or no gain is known for nonlinearity;
        TypeError if rng is no generator.
    Example:
        >>> weight = nn.init.kaiming_normal_(mg.tensor(np.empty((100, 50))), rng=np.random.default_rng(0))
        >>> round(mg.std(weight).item(), 1)
        0.2

    See: torch.nn.init.kaiming_normal_; He et al., Delving deep into rectifiers, 2015.
    """
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), rng)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got {mode!r}")
    fan = fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / sqrt(fan)


@_of_a_tensor
def orthogonal_(tensor: Tensor, gain: float = 1.0, rng: Generator | None = None) -> Tensor:
    """Fill a tensor with an orthogonal matrix.

    The rows are orthonormal, or the columns where there are fewer of them, times gain. It is the q of a QR
    factorisation of normal draws, with the signs of the diagonal of r, so that each turn is equally likely.

    Shapes: (m, *rest) -> the same; the other axes are treated as one.
    Args:
        tensor: the tensor that gets new values, in place.
        gain: how long the rows or columns are; 1 by default.
        rng: generator of the draws; the generator of mg.random by default.
    Returns: the tensor itself, with its dtype.
    Raises: ValueError if tensor has fewer than two axes; TypeError if rng is no generator.
    Example:
        >>> weight = nn.init.orthogonal_(mg.tensor(np.empty((2, 3))))
        >>> np.allclose(weight @ weight.T, np.eye(2))
        True

    See: torch.nn.init.orthogonal_; Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear
        neural networks, 2014.
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_ expects a matrix, got shape {tensor.shape}")
    rows, columns = tensor.shape[0], prod(tensor.shape[1:])
    drawn = random.generator_or_default(rng).normal(size=(max(rows, columns), min(rows, columns)))
    turn, triangle = np.linalg.qr(drawn)
    turn = turn * np.sign(np.diag(triangle))  # without this, qr's choice of signs would favour some turns
    return _assign(tensor, gain * (turn if rows >= columns else turn.T).reshape(tensor.shape))


def _assign(tensor: Tensor, values: Any) -> Tensor:
    """Assign new values to a tensor, on its device and in its dtype, and return it."""
    return tensor.assign(devices.device_of(tensor._data).library.asarray(values))
