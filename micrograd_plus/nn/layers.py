"""Layers with weights, and those that reshape, pool or silence. They start as PyTorch's do.

`dtype` is that of the parameters (float64 unless given), `device` where they live, and `rng` draws their
first values.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..tensor import Tensor, tensor
from . import functional, init
from .functional.shapes import constant_like, pair
from .module import Module

__all__ = [
    "AvgPool2d", "Conv2d", "Dropout", "Embedding", "Flatten", "Identity", "LayerNorm", "Linear",
    "MaxPool2d",
]  # fmt: skip

Generator = np.random.Generator


def parameter(shape: tuple[int, ...], dtype: Any, device: str) -> Tensor:
    """A parameter of 0s, to be given its first values."""
    return tensor(np.zeros(shape), True, float if dtype is None else dtype, device)


def start_as_linear(weight: Tensor, bias: Tensor | None, rng: Generator | None) -> None:
    """PyTorch's start of layers that add up their inputs: uniform within 1 / sqrt(fan in), weight and bias
    alike."""
    init.kaiming_uniform_(weight, a=sqrt(5), rng=rng)
    if bias is not None:
        bound = 1 / sqrt(init.fans(weight)[0])
        init.uniform_(bias, -bound, bound, rng)


class Linear(Module):
    """`x @ weightᵀ + bias`, on the last axis. Shapes: x (..., in), weight (out, in), bias (out,)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        if in_features < 1 or out_features < 1:
            raise ValueError(
                f"Linear: in_features and out_features must be at least 1, got {in_features}, {out_features}"
            )
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter((out_features, in_features), dtype, device)
        self.bias = parameter((out_features,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def forward(self, input: Any) -> Tensor:
        """Shape (..., out)."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class Conv2d(Module):
    """A small image of weights compared with every window: (N, in, H, W) to (N, out, H', W')."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"Conv2d: {in_channels} and {out_channels} channels do not part into {groups} equal groups"
            )
        self.in_channels, self.out_channels, self.kernel_size = (
            in_channels,
            out_channels,
            pair(kernel_size, "kernel_size"),
        )
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = parameter((out_channels, in_channels // groups, *self.kernel_size), dtype, device)
        self.bias = parameter((out_channels,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def forward(self, input: Any) -> Tensor:
        """Shape (N, out, H', W')."""
        return functional.conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        said = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        usual = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
        said += [
            f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value
        ]
        return ", ".join(said)


class MaxPool2d(Module):
    """The largest entry of each window of an image."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1):
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.dilation = dilation

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H', W')."""
        return functional.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation)

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """The mean of each window of an image."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
    ):
        self.kernel_size, self.stride, self.padding = kernel_size, stride or kernel_size, padding
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Tensor:
        """Shape (N, C, H', W')."""
        return functional.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, count_include_pad=self.count_include_pad
        )

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class Identity(Module):
    """Its input, unchanged."""

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class Flatten(Module):
    """The axes from `start_dim` to `end_dim` joined in one; by default all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The same entries with fewer axes."""
        first, last = self.start_dim % input.ndim, self.end_dim % input.ndim
        joined = int(np.prod(input.shape[first : last + 1]))
        return input.reshape(*input.shape[:first], joined, *input.shape[last + 1 :])

    def extra_repr(self) -> str:
        """The axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class LayerNorm(Module):
    """The last axes brought to mean 0 and variance 1, then scaled and moved by what is learned."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
    ):
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps = eps
        self.weight = parameter(self.normalized_shape, dtype, device) if elementwise_affine else None
        self.bias = parameter(self.normalized_shape, dtype, device) if elementwise_affine and bias else None
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The axes, and the number that keeps a division safe."""
        return f"{self.normalized_shape}, eps={self.eps}"


class Embedding(Module):
    """A table with one row for each word: whole numbers (...) to vectors (..., embedding_dim).

    Rows start as a bell curve. The row `padding_idx` starts as 0 and stays 0: it stands for no word.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        device: str = "cpu",
        dtype: Any = None,
        rng: Generator | None = None,
    ):
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx {padding_idx} is not one of {num_embeddings} rows")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.weight = parameter((num_embeddings, embedding_dim), dtype, device)
        init.normal_(self.weight, rng=rng)
        if self.padding_idx is not None:
            used = np.arange(num_embeddings)[:, None] != self.padding_idx
            self.weight.assign(self.weight.detach() * constant_like(used, self.weight))

    def forward(self, input: Any) -> Tensor:
        """Shape (..., embedding_dim)."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class Dropout(Module):
    """While training, each entry silenced with probability `p` and the others made up for it; else
    nothing."""

    def __init__(self, p: float = 0.5, *, rng: Generator | None = None):
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: p is a probability between 0 and 1, got {p}")
        self.p, self.rng = p, rng

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.dropout(input, self.p, self.training, rng=self.rng)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"
