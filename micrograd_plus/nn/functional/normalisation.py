"""Normalisation: numbers brought to mean 0 and variance 1, vectors to length 1."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from ... import ops
from ...checkpointing import is_recomputing
from ...tensor import Tensor
from ...variable import no_grad
from .shapes import last_lengths

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """The last axes, of lengths `normalized_shape`, brought to mean 0 and variance 1, `* weight + bias`.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.layer_norm(mg.tensor([[1.0, 3.0], [5.0, 15.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    lengths = last_lengths("layer_norm", input, normalized_shape, weight, bias)
    return ops.layer_norm(input, weight, bias, axes=len(lengths), eps=eps)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    """The last axes, of lengths `normalized_shape`, divided by the root of their mean square, `* weight`. `eps` is the
    smallest step of the dtype unless given."""
    lengths = last_lengths("rms_norm", input, normalized_shape, weight)
    smallest = float(np.finfo(np.result_type(input.dtype, np.float16)).eps) if eps is None else eps
    return ops.rms_norm(input, weight, axes=len(lengths), eps=smallest)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """The channels of each example in groups, each brought to mean 0 and variance 1. Shape (N, channels, ...)."""
    return ops.group_norm(input, weight, bias, num_groups=num_groups, eps=eps)


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel of each example brought to mean 0 and variance 1, or measured by what is running.

    Shape (N, channels, ...). With `use_input_stats`, running statistics that are given follow the mean over examples.
    """
    if not use_input_stats:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    places = tuple(range(2, input.ndim))
    if input.ndim < 3 or prod(input.shape[2:]) < 2:
        raise ValueError(f"instance_norm: input has shape {input.shape}: one place for each channel has no variance")
    if running_mean is not None and not is_recomputing():
        with no_grad():
            follow(running_mean, ops.mean(ops.mean(input, axis=places), axis=0), momentum)
            follow(running_var, ops.mean(ops.var(input, axis=places, ddof=1), axis=0), momentum)
    return ops.instance_norm(input, weight, bias, eps=eps)


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel brought to mean 0 and variance 1: those of the batch while `training`, else those that are running.

    Shape (N, channels, ...). While training, running statistics that are given move towards the batch's by the share
    `momentum`, outside the graph; the variance among them is the unbiased one.
    """
    if not training:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    if input.shape[0] * prod(input.shape[2:]) < 2:
        raise ValueError(f"batch_norm: input has shape {input.shape}: one number for each channel has no variance")
    if running_mean is not None and not is_recomputing():
        over = (0, *range(2, input.ndim))
        with no_grad():
            follow(running_mean, ops.mean(input, axis=over), momentum)
            follow(running_var, ops.var(input, axis=over, ddof=1), momentum)
    return ops.batch_norm(input, weight, bias, eps=eps)


def follow(running: Tensor, value: Tensor, momentum: float) -> None:
    """A buffer moved towards a value by the share `momentum`."""
    running.assign(running.detach() * (1 - momentum) + value * momentum)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Vectors along `dim` divided by their length: the p-norm, at least `eps`.

    >>> import micrograd_plus as mg
    >>> mg.nn.functional.normalize(mg.tensor([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    return input / ops.maximum(length(input, p, dim), eps)


def length(x: Any, p: float, dim: int) -> Tensor:
    """The p-norm of vectors along `dim`, which stays as an axis of length 1."""
    if p == 2:
        return ops.norm(x, axis=dim, keepdims=True)
    if p == inf:
        return ops.max(ops.absolute(x), axis=dim, keepdims=True)
    return ops.linalg.p_norm(x, ord=p, axis=dim, keepdims=True)
