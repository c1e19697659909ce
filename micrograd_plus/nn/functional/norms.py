"""Normalisation of layers, groups and batches, and of vectors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ... import ops
from ...core.runtime.blocks import no_grad
from ...tensor import Tensor
from ...transforms.checkpoint import is_recomputing
from .shapes import last_lengths

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Normalise the last axes of each example to mean 0 and variance 1 (layer norm).

    y = (x - mean) / √(var + eps) · weight + bias, with mean and var (ddof 0) over the last axes.

    Shapes: (..., *normalized_shape) -> the same.
    Args:
        input: a tensor, x.
        normalized_shape: the length of the last axis, or a tuple of lengths of the last axes.
        weight: a tensor of shape normalized_shape; None by default: 1.
        bias: a tensor of shape normalized_shape; None by default: 0.
        eps: added to the variance, so that equal entries become 0; 1e-5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: ValueError if input does not end in normalized_shape, or weight or bias has another shape; TypeError if
        input is not a tensor.
    Example:
        >>> F.layer_norm(mg.tensor([[1.0, 3.0], [5.0, 15.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]

    See: torch.nn.functional.layer_norm; Ba et al., Layer normalization, 2016.
    """
    lengths = last_lengths("layer_norm", input, normalized_shape, weight, bias)
    return ops.layer_norm(input, weight, bias, axes=len(lengths), eps=eps)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    """Divide the last axes by the root of their mean square (RMS norm).

    y = x / √(mean(x²) + eps) · weight, with the mean over the last axes.

    Shapes: (..., *normalized_shape) -> the same.
    Args:
        input: a tensor, x.
        normalized_shape: the length of the last axis, or a tuple of lengths of the last axes.
        weight: a tensor of shape normalized_shape; None by default: 1.
        eps: added to the mean square; None by default: the distance from 1 to the next number of the dtype.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: ValueError if input does not end in normalized_shape, or weight has another shape; TypeError if input
        is not a tensor.
    Example:
        >>> F.rms_norm(mg.tensor([[1.0, 7.0]]), 2).numpy().round(4).tolist()
        [[0.2, 1.4]]

    See: torch.nn.functional.rms_norm; Zhang and Sennrich, Root mean square layer normalization, 2019.
    """
    lengths = last_lengths("rms_norm", input, normalized_shape, weight)
    smallest = float(np.finfo(np.result_type(input.dtype, np.float16)).eps) if eps is None else eps
    return ops.rms_norm(input, weight, axes=len(lengths), eps=smallest)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Normalise groups of channels to mean 0 and variance 1 (group norm).

    y = (x - mean) / √(var + eps) · weight + bias, with mean and var (ddof 0) over the channels and places of a group; a
    group is C / num_groups neighbouring channels.

    Shapes: input (N, C, ...), weight (C,), bias (C,) -> (N, C, ...).
    Args:
        input: a tensor, x.
        num_groups: how many groups, a divisor of C.
        weight: a tensor, one number for each channel; None by default: 1.
        bias: a tensor, one number for each channel; None by default: 0.
        eps: added to the variance; 1e-5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: ValueError if num_groups does not divide C, or weight or bias does not have C entries; IndexError if input
        has fewer than two axes.
    Example:
        >>> F.group_norm(mg.tensor([[0.0, 2.0, 10.0, 30.0]]), num_groups=2, eps=0.0).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]

    See: torch.nn.functional.group_norm; Wu and He, Group normalization, 2018.
    """
    if input.ndim < 2:
        raise ValueError(f"group_norm: input has shape {input.shape}, expected (N, C, ...)")
    return ops.group_norm(input, weight, bias, num_groups=num_groups, eps=eps)


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise each channel of each example to mean 0 and variance 1 (instance norm).

    y = (x - mean) / √(var + eps) · weight + bias, with mean and var (ddof 0) over the places of a channel of an
    example. With use_input_stats, running statistics that are given follow, outside the graph:

        running_mean ← (1 - momentum) · running_mean + momentum · mean
        running_var  ← (1 - momentum) · running_var + momentum · (var with ddof 1)

    with the mean over examples of each.

    Shapes: input (N, C, *places), the others (C,) -> the shape of input.
    Args:
        input: a tensor, x, with two places or more for each channel.
        running_mean, running_var: tensors, both or neither (None, the default).
        weight: a tensor, one number for each channel; None by default: 1.
        bias: a tensor, one number for each channel; None by default: 0.
        use_input_stats: False takes running_mean and running_var for mean and var, and leaves them alone; True by
            default.
        momentum: weight of the new batch in the running statistics, from 0 to 1; 0.1 by default.
        eps: added to the variance; 1e-5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: ValueError if there is one place for each channel, or weight or bias does not have C entries; TypeError if
        input is not a tensor, or running statistics are missing.
    Example:
        >>> F.instance_norm(mg.tensor([[[1.0, 3.0], [5.0, 15.0]]]), eps=0.0).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]

    See: torch.nn.functional.instance_norm; Ulyanov et al., Instance normalization, 2016.
    """
    if not use_input_stats:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    places = tuple(range(2, input.ndim))
    if input.ndim >= 3:
        _refuse_other_channels("instance_norm", input, running_mean, running_var)
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
    """Normalise each channel to mean 0 and variance 1 over the batch (batch norm).

    y = (x - mean) / √(var + eps) · weight + bias. While training, mean and var (ddof 0) are computed for each channel
    over examples and places, and running statistics are updated outside the graph:

        running_mean ← (1 - momentum) · running_mean + momentum · mean
        running_var  ← (1 - momentum) · running_var + momentum · (var with ddof 1)

    Else mean and var are running_mean and running_var.

    Shapes: input (N, C, *places), the others (C,) -> the shape of input.
    Args:
        input: a tensor, x, while training with two numbers or more for each channel.
        running_mean, running_var: tensors, or both None, which is possible while training.
        weight: a tensor, one number for each channel; None by default: 1.
        bias: a tensor, one number for each channel; None by default: 0.
        training: whether the batch is measured by itself; False by default.
        momentum: weight of the new batch in the running statistics, from 0 to 1; 0.1 by default.
        eps: added to the variance; 1e-5 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: ValueError if training has one number for each channel, or weight or bias does not have C entries; TypeError
        if input is not a tensor, or running statistics are missing.
    Example:
        >>> mean, var = mg.tensor([0.0]), mg.tensor([1.0])
        >>> F.batch_norm(mg.tensor([[1.0], [3.0]]), mean, var, training=True, momentum=0.5, eps=0.0).tolist()
        [[-1.0], [1.0]]
        >>> mean.tolist(), var.tolist()
        ([1.0], [1.5])

    See: torch.nn.functional.batch_norm; Ioffe and Szegedy, Batch normalization, 2015; CS231n notes, Neural networks
        part 2.
    """
    if not training:
        return ops.batch_norm_inference(input, running_mean, running_var, weight, bias, eps=eps)
    _refuse_other_channels("batch_norm", input, running_mean, running_var)
    if input.shape[0] * prod(input.shape[2:]) < 2:
        raise ValueError(f"batch_norm: input has shape {input.shape}: one number for each channel has no variance")
    if running_mean is not None and not is_recomputing():
        over = (0, *range(2, input.ndim))
        with no_grad():
            follow(running_mean, ops.mean(input, axis=over), momentum)
            follow(running_var, ops.var(input, axis=over, ddof=1), momentum)
    return ops.batch_norm(input, weight, bias, eps=eps)


def _refuse_other_channels(name: str, input: Any, *running: Any) -> None:
    """Raise ValueError for running statistics of another length, which would broadcast."""
    for each in running:
        if each is not None and each.shape != input.shape[1:2]:
            wanted = f"running statistics must have one number for each channel of an input {input.shape}"
            raise ValueError(f"{name}: {wanted}, got {each.shape}")


def follow(running: Tensor, value: Tensor, momentum: float) -> None:
    """Move a buffer towards a value by the share `momentum`."""
    running.assign(running.detach() * (1 - momentum) + value * momentum)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Normalise vectors to length 1: divide them by their p-norm.

    y = x / max(‖x‖_p, eps), with ‖x‖_p = (Σ |x_i|^p)^(1/p) along dim. A vector of zeros stays one.

    Shapes: any -> the same.
    Args:
        input: real or complex numbers, x.
        p: the exponent of the norm; 2 by default. inf is the largest size, -inf the smallest, and 0 counts the entries
            that are not 0.
        dim: the axis of the vectors; 1 by default.
        eps: the least that counts as a length; 1e-12 by default.
    Returns: a tensor of the shape and dtype of input (float64 for integers).
    Raises: IndexError if the axis is out of range.
    Example:
        >>> F.normalize(mg.tensor([[3.0, 4.0]])).tolist()
        [[0.6, 0.8]]

    See: torch.nn.functional.normalize.
    """
    return input / ops.maximum(length(input, p, dim), eps)


def length(x: Any, p: float, dim: int) -> Tensor:
    """Return the p-norm of vectors along `dim`, which stays as an axis of length 1."""
    return ops.linalg.vector_norm(x, axis=dim, keepdims=True, ord=p)
