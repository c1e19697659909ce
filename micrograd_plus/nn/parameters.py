"""Parameters of layers, and their initial values, as in PyTorch.

In every layer `device` says where they live, `dtype` what they are made of (float64 unless given), and `rng` draws
their first values (the generator of `micrograd_plus.random` unless given).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..core.messages import check_count
from ..tensor import Tensor, tensor
from . import init
from .module import Module

Generator = np.random.Generator


def check_sizes(layer: Module, **sizes: int) -> None:
    """Raise unless each size of a layer is an integer of at least 1."""
    for name, size in sizes.items():
        check_count(f"{type(layer).__name__}: {name}", size, 1)


def parameter(shape: tuple[int, ...], dtype: Any, device: str) -> Tensor:
    """Return a parameter of zeros, to be initialised."""
    return tensor(np.zeros(shape), True, float if dtype is None else dtype, device)


def scale_and_shift(
    shape: tuple[int, ...], affine: bool, bias: bool, dtype: Any, device: str
) -> tuple[Tensor | None, Tensor | None]:
    """Return a weight of ones and a bias of zeros, or None for either that is disabled."""
    weight = init.ones_(parameter(shape, dtype, device)) if affine else None
    return weight, parameter(shape, dtype, device) if affine and bias else None


def start_as_linear(weight: Tensor, bias: Tensor | None, rng: Generator | None) -> None:
    """Initialise weight and bias uniformly within 1 / sqrt(fan in)."""
    init.kaiming_uniform_(weight, a=sqrt(5), rng=rng)
    if bias is not None:
        bound = 1 / sqrt(init.fans(weight)[0])
        init.uniform_(bias, -bound, bound, rng)


def start_by_hidden_size(module: Module, hidden_size: int, rng: Generator | None) -> None:
    """Initialise every parameter uniformly within 1 / sqrt(H)."""
    bound = 1 / sqrt(hidden_size)
    for each in module.parameters():
        init.uniform_(each, -bound, bound, rng)
