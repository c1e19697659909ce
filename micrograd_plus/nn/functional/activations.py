"""Activation functions: the bends between linear layers."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...tensor import Tensor

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip


def relu(input: Any, inplace: bool = False) -> Tensor:
    """Rectified linear unit: x where it is positive, else 0.

    relu(x) = max(x, 0), entry by entry. At the kink, x = 0, the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.relu([-1.0, 0.0, 2.0]).tolist()
        [0.0, 0.0, 2.0]

    See: torch.nn.functional.relu; Nair and Hinton, Rectified linear units improve restricted Boltzmann machines, 2010.
    """
    return ops.relu(input)


def relu6(input: Any, inplace: bool = False) -> Tensor:
    """ReLU that stops at 6.

    relu6(x) = min(max(x, 0), 6), entry by entry. At both kinks, 0 and 6, the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.relu6([-1.0, 3.0, 8.0]).tolist()
        [0.0, 3.0, 6.0]

    See: torch.nn.functional.relu6; Krizhevsky, Convolutional deep belief networks on CIFAR-10, 2010.
    """
    return ops.relu6(input)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Leaky ReLU: x where it is positive, else a little of it.

    leaky_relu(x) = x where x > 0, else negative_slope · x. At the kink, x = 0, the slope is taken to be negative_slope.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        negative_slope: slope below 0, a number; 0.01 by default.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers, or the setting is no number.
    Example:
        >>> F.leaky_relu([-2.0, 2.0], negative_slope=0.1).tolist()
        [-0.2, 2.0]

    See: torch.nn.functional.leaky_relu; Maas et al., Rectifier nonlinearities improve neural network acoustic models,
        2013.
    """
    return ops.leaky_relu(input, slope=negative_slope)


def prelu(input: Any, weight: Any) -> Tensor:
    """Parametric ReLU: a leaky ReLU whose slope is learned, one for all or one for each channel.

    prelu(x) = x where x > 0, else weight · x. At the kink, x = 0, the slope is taken to be weight.

    Shapes: input (N, C, ...) and weight (C,); input (C,) and weight (C,); or any input and weight () or (1,) -> that of
        input.
    Args:
        input: a tensor of real numbers, x.
        weight: a tensor, the slope below 0: one for all, or one for each channel (axis 1).
    Returns: a tensor of the shape of input.
    Raises: ValueError where weight holds neither one slope nor one for each channel; TypeError where input is complex
        or no tensor.
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


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Exponential linear unit: x where positive, else an exponential that levels off at -alpha.

    elu(x) = x where x > 0, else alpha · (exp(x) - 1). At x = 0 the slope is taken to be alpha; unless alpha is 1, there
    is a kink.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        alpha: how far below 0 it levels off, a number; 1 by default.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers, or the setting is no number.
    Example:
        >>> F.elu([-1.0, 2.0]).tolist()
        [-0.6321205588285577, 2.0]

    See: torch.nn.functional.elu; Clevert et al., Fast and accurate deep network learning by exponential linear units,
        2016.
    """
    return ops.elu(input, alpha=alpha)


def selu(input: Any, inplace: bool = False) -> Tensor:
    """Scaled exponential linear unit: an ELU that keeps activations of mean 0 and variance 1 so.

    selu(x) = λ · x where x > 0, else λ · α · (exp(x) - 1), with λ = 1.0507... and α = 1.6733... At the kink, x = 0, the
    slope is taken to be λ · α.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.selu([-1.0, 1.0]).numpy().round(4).tolist()
        [-1.1113, 1.0507]

    See: torch.nn.functional.selu; Klambauer et al., Self-normalizing neural networks, 2017.
    """
    return ops.selu(input)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Continuously differentiable ELU: its slope at 0 is 1 for every alpha.

    celu(x) = x where x > 0, else alpha · (exp(x / alpha) - 1).

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        alpha: how far below 0 it levels off, a number other than 0; 1 by default.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers, or the setting is no number.
    Example:
        >>> F.celu([-2.0, 2.0], alpha=2.0).tolist()
        [-1.2642411176571153, 2.0]

    See: torch.nn.functional.celu; Barron, Continuously differentiable exponential linear units, 2017.
    """
    return ops.celu(input, alpha=alpha)


def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit: x times the share of a bell curve below x.

        "none":  gelu(x) = x · Φ(x),  Φ(x) = (1 + erf(x / √2)) / 2, the normal distribution
        "tanh":  gelu(x) = x · (1 + tanh(√(2 / π) · (x + 0.044715 · x³))) / 2

    The two differ by less than 5e-4, and each has its own slope.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        approximate: "none" for the exact one (the default), or "tanh".
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: ValueError where approximate is another; TypeError where input is complex or not made of numbers.
    Example:
        >>> F.gelu([-1.0, 1.0]).numpy().round(4).tolist()
        [-0.1587, 0.8413]
        >>> F.gelu([-1.0, 1.0], approximate="tanh").numpy().round(4).tolist()
        [-0.1588, 0.8412]

    See: torch.nn.functional.gelu; Hendrycks and Gimpel, Gaussian error linear units, 2016.
    """
    return ops.gelu(input, approximate)


def silu(input: Any, inplace: bool = False) -> Tensor:
    """Sigmoid linear unit (swish): x times its sigmoid.

    silu(x) = x · σ(x) = x / (1 + exp(-x)), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.silu([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.7311]

    See: torch.nn.functional.silu; Ramachandran et al., Searching for activation functions, 2017.
    """
    return ops.silu(input)


def mish(input: Any, inplace: bool = False) -> Tensor:
    """Mish: x times the tanh of its softplus.

    mish(x) = x · tanh(log(1 + exp(x))), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.mish([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.8651]

    See: torch.nn.functional.mish; Misra, Mish: a self regularized non-monotonic activation function, 2019.
    """
    return ops.mish(input)


def sigmoid(input: Any) -> Tensor:
    """Logistic sigmoid: a smooth step from 0 to 1.

    σ(x) = 1 / (1 + exp(-x)), entry by entry. No exponential overflows.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.sigmoid([-1000.0, 0.0, 2.0]).numpy().round(4).tolist()
        [0.0, 0.5, 0.8808]

    See: torch.nn.functional.sigmoid, scipy.special.expit.
    """
    return ops.sigmoid(input)


def logsigmoid(input: Any) -> Tensor:
    """Logarithm of the sigmoid, safe for large entries.

    logsigmoid(x) = log(1 / (1 + exp(-x))) = -log(1 + exp(-x)), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.logsigmoid([-1000.0, 0.0]).numpy().round(4).tolist()
        [-1000.0, -0.6931]

    See: torch.nn.functional.logsigmoid, scipy.special.log_expit.
    """
    return ops.logsigmoid(input)


def softplus(input: Any, beta: float = 1.0, threshold: float | None = None) -> Tensor:
    """Softplus: a rounded ReLU, whose slope is the sigmoid of beta times x.

    softplus(x) = log(1 + exp(beta · x)) / beta, entry by entry. It is exact for large x, so that the
    straight line beyond a threshold, which PyTorch has from 20 on, is needed only by who wants its numbers to the last.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        beta: how sharp the bend is, a number other than 0; 1 by default.
        threshold: from which beta · x on the result is x itself; None (default) for nowhere.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers, or a setting is no number; ValueError where beta is
        0.
    Example:
        >>> F.softplus([-1000.0, 0.0, 1000.0]).numpy().round(4).tolist()
        [0.0, 0.6931, 1000.0]

    See: torch.nn.functional.softplus; Dugas et al., Incorporating second-order functional knowledge for better option
        pricing, 2000.
    """
    if beta == 0:
        raise ValueError("softplus: beta is a number other than 0")
    scaled = input if beta == 1 else ops.multiply(input, beta)
    bent = ops.softplus(scaled) if beta == 1 else ops.softplus(scaled) / beta
    return bent if threshold is None else ops.where(ops.greater(scaled, threshold), input, bent)


def softsign(input: Any) -> Tensor:
    """Softsign: a step from -1 to 1 with long tails.

    softsign(x) = x / (1 + |x|), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.softsign([-3.0, 1.0]).tolist()
        [-0.75, 0.5]

    See: torch.nn.functional.softsign.
    """
    return ops.softsign(input)


def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent: a smooth step from -1 to 1.

    tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is not made of numbers.
    Example:
        >>> F.tanh([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.7616]

    See: torch.nn.functional.tanh, numpy.tanh.
    """
    return ops.tanh(input)


def tanhshrink(input: Any) -> Tensor:
    """Tanhshrink: what tanh takes away from x.

    tanhshrink(x) = x - tanh(x), entry by entry.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is not made of numbers.
    Example:
        >>> F.tanhshrink([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.2384]

    See: torch.nn.functional.tanhshrink.
    """
    return ops.subtract(input, ops.tanh(input))


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Hard tanh: x held between two bounds.

    hardtanh(x) = min(max(x, min_val), max_val), entry by entry. At the bounds the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        min_val: the lower bound, -1 by default.
        max_val: the upper bound, 1 by default; it wins where it lies below the lower one.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex, or any of them is not made of numbers.
    Example:
        >>> F.hardtanh([-3.0, 0.5, 3.0]).tolist()
        [-1.0, 0.5, 1.0]

    See: torch.nn.functional.hardtanh, numpy.clip.
    """
    return ops.hardtanh(input, low=min_val, high=max_val)


def hardsigmoid(input: Any, inplace: bool = False) -> Tensor:
    """Hard sigmoid: the sigmoid in three straight pieces.

    hardsigmoid(x) = min(max(x + 3, 0), 6) / 6, entry by entry. At the corners, -3 and 3, the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.hardsigmoid([-4.0, 0.0, 1.5]).tolist()
        [0.0, 0.5, 0.75]

    See: torch.nn.functional.hardsigmoid; Howard et al., Searching for MobileNetV3, 2019.
    """
    return ops.hardsigmoid(input)


def hardswish(input: Any, inplace: bool = False) -> Tensor:
    """Hard swish: x times its hard sigmoid.

    hardswish(x) = x · min(max(x + 3, 0), 6) / 6, entry by entry. The slope is taken to be 0 at the corner -3 and 1 at
    3.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.hardswish([-1.5, 0.0, 4.0]).tolist()
        [-0.375, 0.0, 4.0]

    See: torch.nn.functional.hardswish; Howard et al., Searching for MobileNetV3, 2019.
    """
    return ops.hardswish(input)


def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Hard shrinkage: x, or 0 where it is within lambd of 0.

    hardshrink(x) = x where |x| > lambd, else 0. At ±lambd, where it jumps, the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
        lambd: the largest size that is sent to 0; 0.5 by default.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is not made of numbers.
    Example:
        >>> F.hardshrink([-1.0, 0.25, 0.5, 1.0]).tolist()
        [-1.0, 0.0, 0.0, 1.0]

    See: torch.nn.functional.hardshrink; Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, 1994.
    """
    return ops.where(ops.absolute(input) > lambd, input, 0.0)


def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Soft shrinkage (soft thresholding): x moved towards 0 by lambd, and no further.

    softshrink(x) = x - lambd where x > lambd, x + lambd where x < -lambd, else 0. At the kinks, ±lambd, the slope is
    taken to be 0.

    Shapes: any -> the same.
    Args:
        input: real numbers, x.
        lambd: how far x moves, not negative; 0.5 by default.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: TypeError where input is complex or not made of numbers.
    Example:
        >>> F.softshrink([-1.0, 0.25, 2.0]).tolist()
        [-0.5, 0.0, 1.5]

    See: torch.nn.functional.softshrink; Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, 1994.
    """
    return ops.subtract(input, ops.clip(input, min=-lambd, max=lambd))


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Threshold: x where it is above the threshold, else a fixed value.

    threshold(x) = x where x > threshold, else value. At the threshold itself the slope is taken to be 0.

    Shapes: any -> the same.
    Args:
        input: a tensor of real numbers, x.
        threshold: what x must exceed to pass.
        value: what stands where it does not.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Returns: a tensor of the shape of input.
    Raises: TypeError where input is complex or no tensor.
    Example:
        >>> F.threshold(mg.tensor([0.5, 1.0, 2.0]), threshold=1.0, value=-1.0).tolist()
        [-1.0, -1.0, 2.0]

    See: torch.nn.functional.threshold.
    """
    return ops.where(input > threshold, input, value)


def glu(input: Any, dim: int = -1) -> Tensor:
    """Gated linear unit: half of an axis, let through by the sigmoid of the other half.

    glu(x) = a · σ(b), where a and b are the halves of x along dim.

    Shapes: (..., 2 n, ...) -> (..., n, ...), 2 n along dim.
    Args:
        input: a tensor of real numbers, x.
        dim: the axis that is cut in two, the last by default; its length is even.
    Returns: a tensor of the dtype of input, half as long along dim.
    Raises: ValueError where the axis is odd; IndexError where there is no such axis; TypeError where input is complex
        or no tensor.
    Example:
        >>> F.glu(mg.tensor([4.0, 6.0, 0.0, 1000.0])).tolist()
        [2.0, 6.0]

    See: torch.nn.functional.glu; Dauphin et al., Language modeling with gated convolutional networks, 2017.
    """
    if input.shape[dim] % 2:
        raise ValueError(f"glu: the axis is cut in two halves, but axis {dim} of {input.shape} is odd")
    first, second = ops.split(input, indices_or_sections=2, axis=dim)
    return first * ops.sigmoid(second)


def softmax(input: Any, dim: int = -1) -> Tensor:
    """Softmax: positive weights along an axis that add up to one.

    softmax(x)_i = exp(x_i) / Σ_j exp(x_j). The largest entry is taken out before the exponentials, so none overflows.

    Shapes: any -> the same.
    Args:
        input: real numbers, x; an empty axis stays empty.
        dim: the axis that j runs over, the last by default.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: IndexError where there is no such axis; TypeError where input is complex or not made of numbers.
    Example:
        >>> F.softmax([0.0, 1.0, 1000.0]).tolist()
        [0.0, 0.0, 1.0]
        >>> F.softmax([0.0, 1.0]).numpy().round(4).tolist()
        [0.2689, 0.7311]

    See: torch.nn.functional.softmax, scipy.special.softmax; CS231n notes, Linear classification.
    """
    return ops.softmax(input, axis=dim)


def log_softmax(input: Any, dim: int = -1) -> Tensor:
    """Logarithm of the softmax, safe for large entries.

    log_softmax(x)_i = x_i - log(Σ_j exp(x_j)). The largest entry is taken out before the exponentials.

    Shapes: any -> the same.
    Args:
        input: real numbers, x; an empty axis stays empty.
        dim: the axis that j runs over, the last by default.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: IndexError where there is no such axis; TypeError where input is complex or not made of numbers.
    Example:
        >>> F.log_softmax([0.0, 0.0, -1000.0]).numpy().round(4).tolist()
        [-0.6931, -0.6931, -1000.6931]

    See: torch.nn.functional.log_softmax, scipy.special.log_softmax.
    """
    return ops.log_softmax(input, axis=dim)


def softmin(input: Any, dim: int = -1) -> Tensor:
    """Softmin: positive weights that add up to one, the largest for the smallest entry.

    softmin(x)_i = exp(-x_i) / Σ_j exp(-x_j), the softmax of -x.

    Shapes: any -> the same.
    Args:
        input: real numbers, x; an empty axis stays empty.
        dim: the axis that j runs over, the last by default.
    Returns: a tensor of the shape and dtype of input (float64 of whole numbers).
    Raises: IndexError where there is no such axis; TypeError where input is complex or not made of numbers.
    Example:
        >>> F.softmin([0.0, 1.0]).numpy().round(4).tolist()
        [0.7311, 0.2689]

    See: torch.nn.functional.softmin.
    """
    return ops.softmax(ops.negative(input), axis=dim)
