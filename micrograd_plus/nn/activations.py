"""Activations as modules: the functions of `nn.functional`, with their settings given once."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
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


WORDS = {"approximate": str}
"""The settings that are no numbers."""


class Activation(Module):
    """A function of `nn.functional` and its settings."""

    def __init__(self, function: Callable[..., Tensor], **settings: Any):
        for name, value in settings.items():
            if not isinstance(value, WORDS.get(name, Number)):
                raise TypeError(f"{type(self).__name__}: {name} must be a number, got {value!r}")
        self.function, self.settings = function, settings

    def forward(self, input: Any) -> Tensor:
        """What the function makes of the input."""
        return self.function(input, **self.settings)

    def extra_repr(self) -> str:
        """The settings."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())


class ReLU(Activation):
    """Rectified linear unit: x where it is positive, else 0.

    relu(x) = max(x, 0), entry by entry. At 0 the slope is 0.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers, which have no order.
    Example:
        >>> nn.ReLU()(mg.tensor([-1.0, 0.0, 2.0])).tolist()
        [0.0, 0.0, 2.0]

    See: torch.nn.ReLU; Nair and Hinton, Rectified linear units improve restricted Boltzmann machines, 2010.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.relu)


class ReLU6(Activation):
    """Rectified linear unit that stops at 6.

    relu6(x) = min(max(x, 0), 6), entry by entry. At 0 and at 6 the slope is 0.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.ReLU6()(mg.tensor([-1.0, 4.0, 8.0])).tolist()
        [0.0, 4.0, 6.0]

    See: torch.nn.ReLU6; Krizhevsky, Convolutional deep belief networks on CIFAR-10, 2010.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.relu6)


class SELU(Activation):
    """Scaled exponential linear unit: ELU that keeps mean 0 and variance 1.

    selu(x) = λ x where x > 0, else λ α (exp(x) - 1), with λ ≈ 1.0507 and α ≈ 1.6733: the pair for which entries of mean
    0 and variance 1 leave with the same. At 0 the slope is λ α, that of the exponential.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.SELU()(mg.tensor([-1.0, 0.0, 1.0])), 4).tolist()
        [-1.1113, 0.0, 1.0507]

    See: torch.nn.SELU; Klambauer, Unterthiner, Mayr and Hochreiter, Self-normalizing neural networks, 2017.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.selu)


class SiLU(Activation):
    """Sigmoid linear unit, also called swish: x times its sigmoid.

    silu(x) = x / (1 + exp(-x)), entry by entry: smooth, and a little below 0 left of it (at least -0.279).

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.SiLU()(mg.tensor([-1.0, 0.0, 2.0])), 4).tolist()
        [-0.2689, 0.0, 1.7616]

    See: torch.nn.SiLU; Ramachandran, Zoph and Le, Searching for activation functions, 2017.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.silu)


class Mish(Activation):
    """Mish: x times the tanh of its softplus.

    mish(x) = x tanh(log(1 + exp(x))), entry by entry.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.Mish()(mg.tensor([-1.0, 0.0, 2.0])), 4).tolist()
        [-0.3034, 0.0, 1.944]

    See: torch.nn.Mish; Misra, Mish: a self regularized non-monotonic activation function, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.mish)


class Sigmoid(Activation):
    """Logistic sigmoid: a smooth step from 0 to 1.

    sigmoid(x) = 1 / (1 + exp(-x)), entry by entry. No exponential overflows.

    Shapes: any -> the same.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.Sigmoid()(mg.tensor([-1000.0, 0.0, 2.0])), 4).tolist()
        [0.0, 0.5, 0.8808]

    See: torch.nn.Sigmoid; CS231n notes, Neural networks 1.
    """

    def __init__(self) -> None:
        super().__init__(functional.sigmoid)


class LogSigmoid(Activation):
    """Logarithm of the sigmoid, exact where the sigmoid itself rounds to 0.

    logsigmoid(x) = -log(1 + exp(-x)), entry by entry. No exponential overflows.

    Shapes: any -> the same.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.LogSigmoid()(mg.tensor([-1000.0, 0.0])), 4).tolist()
        [-1000.0, -0.6931]

    See: torch.nn.LogSigmoid.
    """

    def __init__(self) -> None:
        super().__init__(functional.logsigmoid)


class Softsign(Activation):
    """Softsign: a smooth step from -1 to 1 with long tails.

    softsign(x) = x / (1 + |x|), entry by entry. At 0 the slope is 1.

    Shapes: any -> the same.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.Softsign()(mg.tensor([-1.0, 0.0, 3.0])).tolist()
        [-0.5, 0.0, 0.75]

    See: torch.nn.Softsign; Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
        networks, 2010, who compare it with tanh.
    """

    def __init__(self) -> None:
        super().__init__(functional.softsign)


class Tanh(Activation):
    """Hyperbolic tangent: a smooth step from -1 to 1.

    tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x)), entry by entry. Complex numbers are welcome.

    Shapes: any -> the same.
    Raises: TypeError where the input is not made of numbers.
    Example:
        >>> mg.round(nn.Tanh()(mg.tensor([-1.0, 0.0, 2.0])), 4).tolist()
        [-0.7616, 0.0, 0.964]

    See: torch.nn.Tanh.
    """

    def __init__(self) -> None:
        super().__init__(functional.tanh)


class Tanhshrink(Activation):
    """What tanh takes away from x.

    tanhshrink(x) = x - tanh(x), entry by entry: about x³ / 3 near 0, and x ∓ 1 far from it.

    Shapes: any -> the same.
    Raises: TypeError where the input is not made of numbers.
    Example:
        >>> mg.round(nn.Tanhshrink()(mg.tensor([-3.0, 0.0, 3.0])), 4).tolist()
        [-2.0049, 0.0, 2.0049]

    See: torch.nn.Tanhshrink.
    """

    def __init__(self) -> None:
        super().__init__(functional.tanhshrink)


class Hardsigmoid(Activation):
    """Hard sigmoid: the sigmoid in three straight pieces.

    hardsigmoid(x) = min(max(x + 3, 0), 6) / 6, entry by entry. At the corners, -3 and 3, the slope is 0.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.Hardsigmoid()(mg.tensor([-4.0, 0.0, 1.5])).tolist()
        [0.0, 0.5, 0.75]

    See: torch.nn.Hardsigmoid; Howard et al., Searching for MobileNetV3, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.hardsigmoid)


class Hardswish(Activation):
    """Hard swish: x times its hard sigmoid, a SiLU without exponentials.

    hardswish(x) = x min(max(x + 3, 0), 6) / 6, entry by entry. At -3 the slope is 0, at 3 it is 1.

    Shapes: any -> the same.
    Args:
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.Hardswish()(mg.tensor([-4.0, -1.5, 3.0])).tolist()
        [-0.0, -0.375, 3.0]

    See: torch.nn.Hardswish; Howard et al., Searching for MobileNetV3, 2019.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(functional.hardswish)


class LeakyReLU(Activation):
    """Leaky rectified linear unit: x where it is positive, else a little of it.

    leaky_relu(x) = x where x > 0, else negative_slope · x. At 0 the slope is the small one.

    Shapes: any -> the same.
    Args:
        negative_slope: the slope left of 0; 0.01 by default. `PReLU` learns it.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.LeakyReLU(0.1)(mg.tensor([-1.0, 0.0, 2.0])).tolist()
        [-0.1, 0.0, 2.0]

    See: torch.nn.LeakyReLU; Maas, Hannun and Ng, Rectifier nonlinearities improve neural network acoustic models, 2013.
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False):
        super().__init__(functional.leaky_relu, negative_slope=negative_slope)


class ELU(Activation):
    """Exponential linear unit: x where positive, else an exponential that ends at -alpha.

    elu(x) = x where x > 0, else alpha (exp(x) - 1). At 0 the slope is alpha.

    Shapes: any -> the same.
    Args:
        alpha: how far below 0 the left side goes; 1 by default, the only value without a kink.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.ELU()(mg.tensor([-1.0, 0.0, 2.0])), 4).tolist()
        [-0.6321, 0.0, 2.0]

    See: torch.nn.ELU; Clevert, Unterthiner and Hochreiter, Fast and accurate deep network learning by exponential
        linear units (ELUs), 2016.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__(functional.elu, alpha=alpha)


class CELU(Activation):
    """Continuously differentiable ELU: its slope at 0 is 1 for every alpha.

    celu(x) = x where x > 0, else alpha (exp(x / alpha) - 1).

    Shapes: any -> the same.
    Args:
        alpha: how far below 0 the left side goes, and over what width; 1 by default, where it is `ELU`. Not 0.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.CELU(alpha=2.0)(mg.tensor([-2.0, 0.0, 2.0])), 4).tolist()
        [-1.2642, 0.0, 2.0]

    See: torch.nn.CELU; Barron, Continuously differentiable exponential linear units, 2017.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__(functional.celu, alpha=alpha)
        if alpha == 0:
            raise ValueError("CELU: alpha is a number other than 0")


class GELU(Activation):
    """Gaussian error linear unit: x times the share of a bell curve below x.

    gelu(x) = x Φ(x) = x (1 + erf(x / √2)) / 2. The approximation is x (1 + tanh(√(2 / π) (x + 0.044715 x³))) / 2; the
    two differ by up to 5e-4.

    Shapes: any -> the same.
    Args:
        approximate: "none" (default) for the exact function, "tanh" for the approximation.
    Raises: ValueError for another `approximate`, when it is called; TypeError for complex numbers.
    Example:
        >>> mg.round(nn.GELU()(mg.tensor([-1.0, 0.0, 2.0])), 4).tolist()
        [-0.1587, 0.0, 1.9545]

    See: torch.nn.GELU; Hendrycks and Gimpel, Gaussian error linear units (GELUs), 2016.
    """

    def __init__(self, approximate: str = "none"):
        super().__init__(functional.gelu, approximate=approximate)
        if approximate not in ("none", "tanh"):
            raise ValueError(f"GELU: approximate must be 'none' or 'tanh', got {approximate!r}")


class Softplus(Activation):
    """Softplus: a rounded relu, whose slope is the sigmoid.

    softplus(x) = log(1 + exp(beta x)) / beta, entry by entry. No exponential overflows, so that PyTorch's `threshold`
    is not needed.

    Shapes: any -> the same.
    Args:
        beta: how sharp the bend is; 1 by default. For large values it is relu.
        threshold: from which beta · x on the result is x itself; None (default) for nowhere.
    Raises: TypeError for complex numbers.
    Example:
        >>> mg.round(nn.Softplus()(mg.tensor([-1.0, 0.0, 1000.0])), 4).tolist()
        [0.3133, 0.6931, 1000.0]

    See: torch.nn.Softplus; Dugas et al., Incorporating second-order functional knowledge for better option pricing,
        2001.
    """

    def __init__(self, beta: float = 1.0, threshold: float | None = None):
        super().__init__(functional.softplus, beta=beta, **({} if threshold is None else {"threshold": threshold}))
        if beta == 0:
            raise ValueError("Softplus: beta is a number other than 0")


class Hardtanh(Activation):
    """Hard tanh: x held between two bounds.

    hardtanh(x) = min(max(x, min_val), max_val), entry by entry. At the bounds the slope is 0, where that of `mg.clip`
    is 1.

    Shapes: any -> the same.
    Args:
        min_val, max_val: the bounds; -1 and 1 by default.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.Hardtanh()(mg.tensor([-3.0, 0.5, 2.0])).tolist()
        [-1.0, 0.5, 1.0]

    See: torch.nn.Hardtanh.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False):
        super().__init__(functional.hardtanh, min_val=min_val, max_val=max_val)
        if min_val > max_val:
            raise ValueError(f"Hardtanh: min_val {min_val} is above max_val {max_val}")


class Hardshrink(Activation):
    """Hard shrinkage: x, or 0 where it is within `lambd` of 0.

    hardshrink(x) = x where |x| > lambd, else 0. At both edges the slope is 0.

    Shapes: any -> the same.
    Args:
        lambd: the distance from 0; 0.5 by default.
    Raises: TypeError where the input is not made of numbers.
    Example:
        >>> nn.Hardshrink()(mg.tensor([-2.0, 0.5, 0.75])).tolist()
        [-2.0, 0.0, 0.75]

    See: torch.nn.Hardshrink; Donoho and Johnstone, Ideal spatial adaptation by wavelet shrinkage, 1994.
    """

    def __init__(self, lambd: float = 0.5):
        super().__init__(functional.hardshrink, lambd=lambd)


class Softshrink(Activation):
    """Soft shrinkage: x moved towards 0 by `lambd`, and 0 where it would pass it.

    softshrink(x) = x - lambd where x > lambd, x + lambd where x < -lambd, else 0. At both edges the slope is 0.

    Shapes: any -> the same.
    Args:
        lambd: how far entries move; 0.5 by default.
    Raises: TypeError for complex numbers.
    Example:
        >>> nn.Softshrink()(mg.tensor([-2.0, 0.25, 0.75])).tolist()
        [-1.5, 0.0, 0.25]

    See: torch.nn.Softshrink; Donoho, De-noising by soft-thresholding, 1995.
    """

    def __init__(self, lambd: float = 0.5):
        super().__init__(functional.softshrink, lambd=lambd)


class Threshold(Activation):
    """Threshold: x where it is above a bound, else a fixed value.

    threshold(x) = x where x > threshold, else value. At the bound the slope is 0.

    Shapes: any -> the same.
    Args:
        threshold: the bound.
        value: what takes the place of entries at the bound or below it.
        inplace: as in PyTorch, and without effect: a tensor that a rule may read is never written over.
    Raises: TypeError for complex numbers, and for what is not a tensor.
    Example:
        >>> nn.Threshold(0.5, 9.0)(mg.tensor([0.0, 0.5, 1.0])).tolist()
        [9.0, 9.0, 1.0]

    See: torch.nn.Threshold.
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__(functional.threshold, threshold=threshold, value=value)


class GLU(Activation):
    """Gated linear unit: half of an axis, let through by the sigmoid of the other half.

    glu(a, b) = a · sigmoid(b), entry by entry, where a is the first half and b the second.

    Shapes: (..., 2 n, ...) -> (..., n, ...), along `dim`.
    Args:
        dim: the axis that is halved; the last one by default.
    Raises: ValueError where the axis is odd; IndexError where there is no such axis; TypeError for what is not a
        tensor.
    Example:
        >>> nn.GLU()(mg.tensor([2.0, 4.0, 0.0, 1000.0])).tolist()
        [1.0, 4.0]

    See: torch.nn.GLU; Dauphin, Fan, Auli and Grangier, Language modeling with gated convolutional networks, 2017.
    """

    def __init__(self, dim: int = -1):
        super().__init__(functional.glu, dim=dim)


class Softmax(Activation):
    """Softmax: positive weights along an axis that add up to one.

    softmax(x)_i = exp(x_i) / Σ_j exp(x_j). The largest entry is subtracted first, so that no exponential overflows.

    Shapes: any -> the same.
    Args:
        dim: the axis whose entries are weighed against each other; the last one by default.
    Raises: IndexError where there is no such axis; TypeError for complex numbers.
    Example:
        >>> nn.Softmax(dim=0)(mg.tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
        >>> mg.round(nn.Softmax()(mg.tensor([1000.0, 1001.0])), 4).tolist()
        [0.2689, 0.7311]

    See: torch.nn.Softmax; CS231n notes, Linear classification.
    """

    def __init__(self, dim: int = -1):
        super().__init__(functional.softmax, dim=dim)


class LogSoftmax(Activation):
    """Logarithm of the softmax, safe for large entries.

    log_softmax(x)_i = x_i - log Σ_j exp(x_j), exact where the softmax itself rounds to 0.

    Shapes: any -> the same.
    Args:
        dim: the axis whose entries are weighed against each other; the last one by default.
    Raises: IndexError where there is no such axis; TypeError for complex numbers.
    Example:
        >>> nn.LogSoftmax()(mg.tensor([0.0, 1000.0])).tolist()
        [-1000.0, 0.0]

    See: torch.nn.LogSoftmax.
    """

    def __init__(self, dim: int = -1):
        super().__init__(functional.log_softmax, dim=dim)


class Softmin(Activation):
    """Softmin: positive weights that add up to one, the largest for the smallest entry.

    softmin(x)_i = exp(-x_i) / Σ_j exp(-x_j).

    Shapes: any -> the same.
    Args:
        dim: the axis whose entries are weighed against each other; the last one by default.
    Raises: IndexError where there is no such axis; TypeError for complex numbers.
    Example:
        >>> mg.round(nn.Softmin()(mg.tensor([1.0, 2.0, 3.0])), 4).tolist()
        [0.6652, 0.2447, 0.09]

    See: torch.nn.Softmin.
    """

    def __init__(self, dim: int = -1):
        super().__init__(functional.softmin, dim=dim)


class PReLU(Module):
    """Parametric ReLU: a leaky ReLU whose slope is learned.

    prelu(x) = x where x > 0, else weight · x. At 0 the slope is the learned one.

    Shapes: (N, C, ...) -> the same; weight (num_parameters,). With one slope, any -> the same.
    Args:
        num_parameters: 1 (default) for one slope for all, or the number of channels C for one each (axis 1).
        init: the slope to start from; 0.25 by default.
        device: "cpu" (default) or "cuda", where the slopes live.
        dtype: of the slopes; float64 by default.
    Raises: ValueError where there are neither one nor C slopes; TypeError for complex numbers, and for what is not a
        tensor.
    Example:
        >>> nn.PReLU()(mg.tensor([-1.0, 0.0, 2.0])).tolist()
        [-0.25, 0.0, 2.0]

    See: torch.nn.PReLU; He, Zhang, Ren and Sun, Delving deep into rectifiers, 2015.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, device: str = "cpu", dtype: Any = None):
        self.weight = constant_(parameter((num_parameters,), dtype, device), init)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.prelu(input, self.weight)
