"""Activation functions, under PyTorch's names and with its signatures.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ...tensor import Tensor

def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Continuously differentiable ELU (CELU): an elu without a corner for any alpha."""
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Exponential linear unit (ELU): x above 0, an exponential down to -alpha below."""
def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit (GELU): x times the share of a bell curve below x."""
def glu(input: Any, dim: int = -1) -> Tensor:
    """Gated linear unit: half of an axis, let through by the sigmoid of the other half."""
def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Hard shrinkage: x, or 0 where it is within lambd of 0."""
def hardsigmoid(input: Any, inplace: bool = False) -> Tensor:
    """Hard sigmoid: the sigmoid in three straight pieces."""
def hardswish(input: Any, inplace: bool = False) -> Tensor:
    """Hard swish: x times its hard sigmoid."""
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Hard tanh: x held between two bounds."""
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Leaky ReLU: x where it is positive, else a little of it."""
def log_softmax(input: Any, dim: int = -1) -> Tensor:
    """Log-softmax: the logarithm of the softmax, safe for large entries."""
def logsigmoid(input: Any) -> Tensor:
    """Logarithm of the logistic sigmoid."""
def mish(input: Any, inplace: bool = False) -> Tensor:
    """Mish: x times the tanh of its softplus."""
def prelu(input: Any, weight: Any) -> Tensor:
    """Parametric ReLU: a leaky ReLU whose slope is learned, one for all or one for each channel."""
def relu(input: Any, inplace: bool = False) -> Tensor:
    """Rectified linear unit (ReLU): x where it is positive, else 0."""
def relu6(input: Any, inplace: bool = False) -> Tensor:
    """ReLU that stops at 6."""
def selu(input: Any, inplace: bool = False) -> Tensor:
    """Scaled exponential linear unit (SELU): an elu under which mean 0 and variance 1 stay so."""
def sigmoid(input: Any) -> Tensor:
    """Logistic sigmoid: a smooth step from 0 to 1."""
def silu(input: Any, inplace: bool = False) -> Tensor:
    """Sigmoid linear unit (SiLU, also called swish): x times its sigmoid."""
def softmax(input: Any, dim: int = -1) -> Tensor:
    """Softmax: positive weights that add up to one."""
def softmin(input: Any, dim: int = -1) -> Tensor:
    """Softmin: positive weights that add up to one, the largest for the smallest entry."""
def softplus(input: Any, beta: float = 1.0, threshold: float | None = None) -> Tensor:
    """Softplus: a rounded ReLU, whose slope is the sigmoid of beta times x."""
def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Soft shrinkage (soft thresholding): x moved towards 0 by lambd, and no further."""
def softsign(input: Any) -> Tensor:
    """Softsign: a smooth step from -1 to 1 with long tails."""
def tanh(input: Any) -> Tensor:
    """Hyperbolic tangent: a smooth step from -1 to 1."""
def tanhshrink(input: Any) -> Tensor:
    """Tanhshrink: what tanh takes away from x."""
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Threshold: x where it is above the threshold, else a fixed value."""
