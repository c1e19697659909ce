"""The parameters of layers, and the values that they start from, as in PyTorch.

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


def wants_sizes(layer: Module, **sizes: int) -> None:
    """Refuse a layer of no width: each size is an integer of at least 1."""
    for name, size in sizes.items():
        check_count(f"{type(layer).__name__}: {name}", size, 1)


def parameter(shape: tuple[int, ...], dtype: Any, device: str) -> Tensor:
    """A parameter of 0s, to be given its first values."""
    return tensor(np.zeros(shape), True, float if dtype is None else dtype, device)


def scale_and_shift(
    shape: tuple[int, ...], affine: bool, bias: bool, dtype: Any, device: str
) -> tuple[Tensor | None, Tensor | None]:
    """What follows a normalisation: a weight of 1s and a bias of 0s, or None for what is not wanted."""
    weight = init.ones_(parameter(shape, dtype, device)) if affine else None
    return weight, parameter(shape, dtype, device) if affine and bias else None


def start_as_linear(weight: Tensor, bias: Tensor | None, rng: Generator | None) -> None:
    """The start of layers that add up their inputs: uniform within 1 / sqrt(fan in), weight and bias alike."""
    init.kaiming_uniform_(weight, a=sqrt(5), rng=rng)
    if bias is not None:
        bound = 1 / sqrt(init.fans(weight)[0])
        init.uniform_(bias, -bound, bound, rng)


def start_by_hidden_size(module: Module, hidden_size: int, rng: Generator | None) -> None:
    """The start of recurrent networks: every parameter uniform within 1 / sqrt(H)."""
    bound = 1 / sqrt(hidden_size)
    for each in module.parameters():
        init.uniform_(each, -bound, bound, rng)
