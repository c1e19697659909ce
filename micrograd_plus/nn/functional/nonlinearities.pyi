"""Activation functions, under PyTorch's names and with its signatures.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ...tensor import Tensor

def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the continuously differentiable ELU (CELU), which has no kink for any alpha."""
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the exponential linear unit (ELU): x above 0, an exponential that falls to -alpha below."""
def gelu(input: Any, approximate: str = "none") -> Tensor:
    """Compute the Gaussian error linear unit (GELU): x times the normal distribution function at x."""
def glu(input: Any, dim: int = -1) -> Tensor:
    """Compute the gated linear unit: half of an axis times the sigmoid of the other half."""
def hardshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Compute the hard shrinkage: x, or 0 if |x| ≤ lambd."""
def hardsigmoid(input: Any, inplace: bool = False) -> Tensor:
    """Compute the hard sigmoid, a piecewise linear approximation of the sigmoid."""
def hardswish(input: Any, inplace: bool = False) -> Tensor:
    """Compute the hard swish: x times its hard sigmoid."""
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Compute the hard tanh: x limited to the range from `min_val` to `max_val`."""
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Compute the leaky ReLU: x if positive, else a small multiple of x."""
def log_softmax(input: Any, dim: int = -1) -> Tensor:
    """Compute the logarithm of the softmax, accurately for large entries."""
def logsigmoid(input: Any) -> Tensor:
    """Compute the logarithm of the logistic sigmoid."""
def mish(input: Any, inplace: bool = False) -> Tensor:
    """Compute the mish: x times the tanh of its softplus."""
def prelu(input: Any, weight: Any) -> Tensor:
    """Compute the parametric ReLU, a leaky ReLU with one learned slope or one for each channel."""
def relu(input: Any, inplace: bool = False) -> Tensor:
    """Compute the rectified linear unit (ReLU): x if positive, else 0."""
def relu6(input: Any, inplace: bool = False) -> Tensor:
    """Compute the ReLU with an upper bound of 6."""
def selu(input: Any, inplace: bool = False) -> Tensor:
    """Compute the scaled exponential linear unit (SELU), which preserves mean 0 and variance 1."""
def sigmoid(input: Any) -> Tensor:
    """Compute the logistic sigmoid, a smooth step from 0 to 1."""
def silu(input: Any, inplace: bool = False) -> Tensor:
    """Compute the sigmoid linear unit (SiLU, or swish): x times its sigmoid."""
def softmax(input: Any, dim: int = -1) -> Tensor:
    """Compute the softmax: positive weights that sum to one."""
def softmin(input: Any, dim: int = -1) -> Tensor:
    """Compute the softmin: positive weights that sum to one, the largest for the smallest entry."""
def softplus(input: Any, beta: float = 1.0, threshold: float | None = None) -> Tensor:
    """Compute the softplus, a smooth ReLU whose derivative is the sigmoid of beta times x."""
def softshrink(input: Any, lambd: float = 0.5) -> Tensor:
    """Compute the soft shrinkage (soft thresholding): move x towards 0 by at most lambd."""
def softsign(input: Any) -> Tensor:
    """Compute the softsign, a smooth step from -1 to 1 with long tails."""
def tanh(input: Any) -> Tensor:
    """Compute the hyperbolic tangent, a smooth step from -1 to 1."""
def tanhshrink(input: Any) -> Tensor:
    """Compute the tanhshrink, x - tanh(x)."""
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Compute the threshold: x if it exceeds the threshold, else a fixed value."""
