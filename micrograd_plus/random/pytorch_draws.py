"""Random functions under PyTorch's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.messages import check_count, prefixes_errors
from ..tensor import Tensor, tensor
from . import generator_or_default, normal, permutation, seed, uniform

__all__ = ["manual_seed", "multinomial", "rand_like", "randn_like", "randperm"]


def manual_seed(seed_number: int) -> None:
    """Seed the generators of all devices: PyTorch's name of `mg.random.seed`. The draws are not PyTorch's.

    Args:
        seed_number: an integer of at least 0.
    Returns: nothing.
    Raises: TypeError if it is not an integer, ValueError if it is negative.
    Example:
        >>> mg.manual_seed(0)
        >>> first = mg.rand(2).tolist()
        >>> mg.manual_seed(0)
        >>> mg.rand(2).tolist() == first
        True

    See: torch.manual_seed; mg.random.seed.
    """
    seed(seed_number)


@prefixes_errors
def randperm(n: int, *, rng: Any = None) -> Tensor:
    """Draw an order of the numbers from 0 to n - 1.

    Args:
        n: how many, an integer of at least 0.
        rng: a numpy.random.Generator to draw from; default None, the generator of the CPU.
    Returns: a tensor of int64 of shape (n,).
    Raises: TypeError if n is not an integer, ValueError if it is negative.
    Example:
        >>> sorted(mg.randperm(4).tolist())
        [0, 1, 2, 3]

    See: torch.randperm; numpy.random.Generator.permutation.
    """
    check_count("randperm: n", n, 0)
    return permutation(n, rng=rng)


@prefixes_errors
def randn_like(x: Any, *, rng: Any = None) -> Tensor:
    """Draw from the standard normal distribution, in the shape and dtype of a tensor.

    Args:
        x: a tensor of floats.
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor without a graph.
    Raises: TypeError if x is not a tensor of floats.
    Example:
        >>> mg.randn_like(mg.zeros(2, 3)).shape
        (2, 3)

    See: torch.randn_like; mg.random.normal.
    """
    return normal(size=x.shape, dtype=x.dtype, device=x.device, rng=rng)


@prefixes_errors
def rand_like(x: Any, *, rng: Any = None) -> Tensor:
    """Draw uniformly from 0 (included) to 1 (excluded), in the shape and dtype of a tensor.

    Args:
        x: a tensor of floats.
        rng: a numpy.random.Generator to draw from; default None, the generator of the device.
    Returns: a tensor without a graph.
    Raises: TypeError if x is not a tensor of floats.
    Example:
        >>> mg.rand_like(mg.zeros(2, 3)).shape
        (2, 3)

    See: torch.rand_like; mg.random.uniform.
    """
    return uniform(size=x.shape, dtype=x.dtype, device=x.device, rng=rng)


@prefixes_errors
def multinomial(weights: Any, num_samples: int, replacement: bool = False, *, rng: Any = None) -> Tensor:
    """Draw indices with the given weights: from one row of weights, or from each row of a matrix.

    Args:
        weights: numbers of at least 0, which need not sum to 1; a tensor of shape (n,) or (rows, n).
        num_samples: how many indices are drawn from each row.
        replacement: whether an index may be drawn again; default False.
        rng: a numpy.random.Generator to draw from; default None, the generator of the CPU.
    Returns: a tensor of int64 of shape (num_samples,) or (rows, num_samples), without a graph.
    Raises: ValueError if weights are negative or sum to 0, or if fewer than num_samples of them are above 0 and
        replacement is False; TypeError if num_samples is not an integer.
    Example:
        >>> mg.multinomial(mg.tensor([0.0, 1.0, 0.0]), 3, replacement=True).tolist()
        [1, 1, 1]

    See: torch.multinomial; mg.random.choice; mg.random.categorical, which takes logits.
    """
    check_count("multinomial: num_samples", num_samples, 1)
    table = weights.numpy() if isinstance(weights, Tensor) else np.asarray(weights, dtype=float)
    if table.ndim not in (1, 2):
        raise ValueError(f"weights have shape {table.shape}; they must be one row, or a matrix of rows")
    source, rows = generator_or_default(rng), np.atleast_2d(table.astype(float))
    totals = rows.sum(axis=1, keepdims=True)
    if (rows < 0).any() or not (totals > 0).all() or not np.isfinite(totals).all():
        raise ValueError("the weights of each row must be finite and at least 0, and their sum above 0")
    drawn = [source.choice(row.size, num_samples, replace=replacement, p=row) for row in rows / totals]
    return tensor(np.array(drawn if table.ndim == 2 else drawn[0]))
