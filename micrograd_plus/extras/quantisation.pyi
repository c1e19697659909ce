"""Quantisation: integers `round(x / scale + zero_point)` from `low` to `high`, and back.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

__all__: list[str]

def dequantize(q: Any, scale: Any, zero_point: Any = 0, *, axis: Any = None) -> Tensor:
    """Convert quantised integers back to real numbers: (q - zero_point) * scale."""
def dequantize_blocks(codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Convert stored weights to real numbers; each block of them has its own scale."""
def dequantize_grouped_matmul(
    x: Any, codes: Any, scale: Any, experts: Any, zero_point: Any = None, block: Any = 32,
) -> Tensor:
    """Multiply each row by the stored weights of its expert."""
def dequantize_matmul(x: Any, codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Multiply by stored weights: x @ dequantize_blocks(codes, scale, zero_point)."""
def fake_quantize(
    x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None,
    estimator: Any = "clipped",
) -> Tensor:
    """Quantise and convert back, to train with quantisation errors."""
def fake_quantize_lsq(
    x: Any, step: Any, *, low: Any = -128, high: Any = 127, axis: Any = None, grad_factor: Any = 1.0,
) -> Tensor:
    """Quantise and convert back, with a learned step (LSQ)."""
def quantize(x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None) -> Tensor:
    """Quantise to an integer number of steps, limited to the range from `low` to `high`, stored as floats."""
def quantized_conv2d(
    x: Any, weight: Any, x_scale: Any, weight_scale: Any, x_zero_point: Any = 0, bias: Any = None, *,
    stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """Quantise images and filters and convolve them as integers."""
def quantized_matmul(
    a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero_point: Any = 0, b_zero_point: Any = 0, *, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """Quantise two matrices and multiply them as integers."""
