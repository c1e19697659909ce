"""The linear layer, and layers that only lay entries out anew."""

from __future__ import annotations

from math import prod
from typing import Any

from ..tensor import Tensor
from . import functional
from .module import Module
from .parameters import Generator, parameter, start_as_linear, wants_sizes

__all__ = ["Flatten", "Identity", "Linear", "Unflatten"]


class Linear(Module):
    """`x @ weightᵀ + bias`, on the last axis. Shapes: x (..., in), weight (out, in), bias (out,).

    >>> import micrograd_plus as mg
    >>> layer = mg.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2): weight (2, 3), bias (2,); 8 parameters
    >>> layer(mg.random.normal(size=(5, 3))).shape
    (5, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        wants_sizes(self, in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter((out_features, in_features), dtype, device)
        self.bias = parameter((out_features,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def forward(self, input: Any) -> Tensor:
        """Shape (..., out)."""
        return functional.linear(input, self.weight, self.bias)


class Identity(Module):
    """Its input, unchanged: it keeps a place free, or takes that of a layer. It may be given anything to start with."""

    def __init__(self, *args: Any, **kwargs: Any):
        """Whatever the layer was given whose place it takes."""

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class Flatten(Module):
    """The axes from `start_dim` to `end_dim` joined in one; by default all but the first.

    >>> import micrograd_plus as mg
    >>> mg.nn.Flatten()(mg.random.normal(size=(10, 3, 4, 4))).shape
    (10, 48)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The same entries with fewer axes."""
        for dim in (self.start_dim, self.end_dim):
            if not -input.ndim <= dim < input.ndim:
                raise IndexError(f"Flatten: axis {dim} is out of range, the input has shape {input.shape}")
        first, last = self.start_dim % input.ndim, self.end_dim % input.ndim
        if first > last:
            raise ValueError(f"Flatten: start_dim {first} comes after end_dim {last}")
        joined = prod(input.shape[first : last + 1])
        return input.reshape(*input.shape[:first], joined, *input.shape[last + 1 :])


class Unflatten(Module):
    """The axis `dim` parted into several, of lengths `unflattened_size`; one of them may be -1.

    >>> import micrograd_plus as mg
    >>> mg.nn.Unflatten(1, (3, 4, -1))(mg.random.normal(size=(10, 48))).shape
    (10, 3, 4, 4)
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]):
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """The same entries with more axes."""
        if not -input.ndim <= self.dim < input.ndim:
            raise IndexError(f"Unflatten: axis {self.dim} is out of range, the input has shape {input.shape}")
        dim = self.dim % input.ndim
        return input.reshape(*input.shape[:dim], *self.unflattened_size, *input.shape[dim + 1 :])
