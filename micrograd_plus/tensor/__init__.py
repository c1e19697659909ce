"""Tensor: what users hold."""

from .tensor import Tensor, forget_gradient, in_dtype, tensor, upstream_of

__all__ = ["Tensor", "forget_gradient", "in_dtype", "tensor", "upstream_of"]
