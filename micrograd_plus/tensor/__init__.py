"""Tensor: what users hold."""

from .gradients import forget_gradient, in_dtype, upstream_of
from .tensor import Tensor, tensor

__all__ = ["Tensor", "forget_gradient", "in_dtype", "tensor", "upstream_of"]
