"""Tensor: what users hold."""

from .gradients import forget_gradients, in_dtype, set_gradients, upstream_of
from .tensor import Tensor, tensor

__all__ = ["Tensor", "forget_gradients", "in_dtype", "set_gradients", "tensor", "upstream_of"]
