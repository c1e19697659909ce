"""Activations as modules: the functions of `nn.functional` with fixed settings.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from .derived import Activation
from .module import Module

class CELU(Activation):
    """Continuously differentiable ELU (CELU), which has no kink for any alpha."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...

class ELU(Activation):
    """Exponential linear unit (ELU): x above 0, an exponential that falls to -alpha below."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...

class GELU(Activation):
    """Gaussian error linear unit (GELU): x times the normal distribution function at x."""

    def __init__(self, approximate: str = "none") -> None: ...

class GLU(Activation):
    """Gated linear unit: half of an axis times the sigmoid of the other half."""

    def __init__(self, dim: int = -1) -> None: ...

class SELU(Activation):
    """Scaled exponential linear unit (SELU), which preserves mean 0 and variance 1."""

    def __init__(self, inplace: bool = False) -> None: ...

class Hardshrink(Activation):
    """Hard shrinkage: x, or 0 if |x| ≤ lambd."""

    def __init__(self, lambd: float = 0.5) -> None: ...

class Hardsigmoid(Activation):
    """Hard sigmoid, a piecewise linear approximation of the sigmoid."""

    def __init__(self, inplace: bool = False) -> None: ...

class Hardswish(Activation):
    """Hard swish: x times its hard sigmoid."""

    def __init__(self, inplace: bool = False) -> None: ...

class Hardtanh(Activation):
    """Hard tanh: x limited to the range from `min_val` to `max_val`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None: ...

class LeakyReLU(Activation):
    """Leaky ReLU: x if positive, else a small multiple of x."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None: ...

class LogSigmoid(Activation):
    """Logarithm of the logistic sigmoid."""

    def __init__(self) -> None: ...

class LogSoftmax(Activation):
    """Logarithm of the softmax, accurately for large entries."""

    def __init__(self, dim: int = -1) -> None: ...

class Mish(Activation):
    """Mish: x times the tanh of its softplus."""

    def __init__(self, inplace: bool = False) -> None: ...

class PReLU(Module):
    """Parametric ReLU: a leaky ReLU whose slope is learned."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, *, device: str = "cpu", dtype: Any = None
    ) -> None: ...

class ReLU(Activation):
    """Rectified linear unit (ReLU): x if positive, else 0."""

    def __init__(self, inplace: bool = False) -> None: ...

class ReLU6(Activation):
    """ReLU with an upper bound of 6."""

    def __init__(self, inplace: bool = False) -> None: ...

class SiLU(Activation):
    """Sigmoid linear unit (SiLU, or swish): x times its sigmoid."""

    def __init__(self, inplace: bool = False) -> None: ...

class Sigmoid(Activation):
    """Logistic sigmoid, a smooth step from 0 to 1."""

    def __init__(self) -> None: ...

class Softmax(Activation):
    """Softmax: positive weights that sum to one."""

    def __init__(self, dim: int = -1) -> None: ...

class Softmin(Activation):
    """Softmin: positive weights that sum to one, the largest for the smallest entry."""

    def __init__(self, dim: int = -1) -> None: ...

class Softplus(Activation):
    """Softplus, a smooth ReLU whose derivative is the sigmoid of beta times x."""

    def __init__(self, beta: float = 1.0, threshold: float | None = None) -> None: ...

class Softshrink(Activation):
    """Soft shrinkage (soft thresholding): move x towards 0 by at most lambd."""

    def __init__(self, lambd: float = 0.5) -> None: ...

class Softsign(Activation):
    """Softsign, a smooth step from -1 to 1 with long tails."""

    def __init__(self) -> None: ...

class Tanh(Activation):
    """Hyperbolic tangent, a smooth step from -1 to 1."""

    def __init__(self) -> None: ...

class Tanhshrink(Activation):
    """Tanhshrink, x - tanh(x)."""

    def __init__(self) -> None: ...

class Threshold(Activation):
    """Threshold: x if it exceeds the threshold, else a fixed value."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None: ...

