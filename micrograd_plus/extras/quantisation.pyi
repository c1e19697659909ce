"""Quantisation: numbers as a few whole ones, `round(x / scale + zero_point)` from `low` to `high`, and back.

Written by `make reference`, for editors and type checkers; Python itself never reads it.
"""

from typing import Any

from ..tensor import Tensor

def dequantize(q: Any, scale: Any, zero_point: Any = 0, *, axis: Any = None) -> Tensor:
    """Dequantisation: what whole numbers stand for, (q - zero_point) * scale."""
def dequantize_blocks(codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Stored weights as numbers, each block of them with a scale of its own."""
def dequantize_grouped_matmul(
    x: Any, codes: Any, scale: Any, experts: Any, zero_point: Any = None, block: Any = 32,
) -> Tensor:
    """Grouped matrix product with stored weights: each row times that of its expert."""
def dequantize_matmul(x: Any, codes: Any, scale: Any, zero_point: Any = None, block: Any = 32) -> Tensor:
    """Matrix product with stored weights: x @ dequantize_blocks(codes, scale, zero_point)."""
def fake_quantize(
    x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None,
    estimator: Any = "clipped",
) -> Tensor:
    """Fake quantisation: rounded as it would be stored, and brought back."""
def fake_quantize_lsq(
    x: Any, step: Any, *, low: Any = -128, high: Any = 127, axis: Any = None, grad_factor: Any = 1.0,
) -> Tensor:
    """Fake quantisation with a step that is learned (LSQ)."""
def quantize(x: Any, scale: Any, zero_point: Any = 0, *, low: Any = -128, high: Any = 127, axis: Any = None) -> Tensor:
    """Quantisation: the nearest whole number of steps, from low to high, still as floats."""
def quantized_conv2d(
    x: Any, weight: Any, x_scale: Any, weight_scale: Any, x_zero_point: Any = 0, bias: Any = None, *,
    stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: Any = 1, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """2-D convolution of images and filters that are rounded first, over whole numbers."""
def quantized_matmul(
    a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero_point: Any = 0, b_zero_point: Any = 0, *, low: Any = -128,
    high: Any = 127,
) -> Tensor:
    """Matrix product of two matrices that are rounded first, and multiplied as whole numbers."""
