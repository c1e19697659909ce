"""Linear layer, and layers that only reshape."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional
from .module import Module
from .parameters import Generator, check_sizes, parameter, start_as_linear

__all__ = ["Flatten", "Identity", "Linear", "Unflatten"]


class Linear(Module):
    """Linear (dense, fully connected) layer: x @ weightᵀ + bias.

    Each output is a weighted sum of the last axis of x. Weight and bias start uniform within ± 1 / √in_features.

    Shapes: x (..., in_features), weight (out_features, in_features), bias (out_features,) -> (..., out_features).
    Args:
        in_features, out_features: lengths of the last axis before and after, integers of at least 1.
        bias: whether there is one; True by default, else `bias` is None.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
        rng: NumPy generator for the initial values; the generator of `mg.random` by default.
    Raises: ValueError for a size below 1, and for an input of another width; TypeError for a size that is not an
        integer, or a dtype of integers.
    Example:
        >>> layer = nn.Linear(3, 2)
        >>> layer
        Linear(in_features=3, out_features=2): weight (2, 3), bias (2,); 8 parameters
        >>> layer(mg.random.normal(size=(5, 3))).shape
        (5, 2)

    See: torch.nn.Linear; CS231n notes, Linear classification.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, device: str = "cpu", dtype: Any = None,
        rng: Generator | None = None,
    ):  # fmt: skip
        check_sizes(self, in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter((out_features, in_features), dtype, device)
        self.bias = parameter((out_features,), dtype, device) if bias else None
        start_as_linear(self.weight, self.bias, rng)

    def forward(self, input: Any) -> Tensor:
        """Return images of shape (..., out)."""
        return functional.linear(input, self.weight, self.bias)


class Identity(Module):
    """Identity: returns its input unchanged, as a placeholder in a network.

    Shapes: any -> the same.
    Args:
        *args, **kwargs: anything; the arguments of the replaced layer may stay.
    Raises: nothing.
    Example:
        >>> nn.Identity()(mg.tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]

    See: torch.nn.Identity.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        """Ignore all arguments, so that it can replace any layer."""

    def forward(self, input: Any) -> Any:
        """Return the input."""
        return input


class Flatten(Module):
    """Flatten: joins neighbouring axes, by default all except the first.

    Shapes: (N, d1, d2, ...) -> (N, d1 · d2 · ...).
    Args:
        start_dim: the first axis to be joined; 1 by default, after the axis of examples.
        end_dim: the last axis to be joined; -1 by default.
    Raises: IndexError if the axis is out of range; ValueError if the first comes after the last; TypeError if the input
        is not a tensor.
    Example:
        >>> nn.Flatten()(mg.random.normal(size=(10, 3, 4, 4))).shape
        (10, 48)

    See: torch.nn.Flatten.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the same entries with fewer axes."""
        return ops.flatten(input, self.start_dim, self.end_dim)


class Unflatten(Module):
    """Unflatten: splits one axis into several, the inverse of `Flatten`.

    Shapes: (..., d1 · d2 · ..., ...) -> (..., d1, d2, ..., ...).
    Args:
        dim: the axis to be parted.
        unflattened_size: the lengths of the new axes, whose product is the old length; one of them may be -1, to be
            inferred.
    Raises: IndexError if the axis is out of range; ValueError for lengths that do not fill it; TypeError if the input
        is not a tensor.
    Example:
        >>> nn.Unflatten(1, (3, 4, -1))(mg.random.normal(size=(10, 48))).shape
        (10, 3, 4, 4)

    See: torch.nn.Unflatten.
    """

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]):
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return the same entries with more axes."""
        if not -input.ndim <= self.dim < input.ndim:
            raise IndexError(f"Unflatten: axis {self.dim} is out of range, the input has shape {input.shape}")
        dim = self.dim % input.ndim
        return input.reshape(*input.shape[:dim], *self.unflattened_size, *input.shape[dim + 1 :])
