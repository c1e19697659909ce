"""Normalisation under PyTorch's names. `device` and `dtype` are those of `layers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor, tensor
from . import functional, init
from .layers import parameter
from .module import Module

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "RMSNorm",
]  # fmt: skip


class RMSNorm(Module):
    """The last axes divided by the root of their mean square, then scaled by what is learned."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
    ):
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.weight = parameter(shape, dtype, device) if elementwise_affine else None
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The axes, and the number that keeps a division safe."""
        return f"{self.normalized_shape}, eps={self.eps}"


class GroupNorm(Module):
    """The channels of each example in groups, each brought to mean 0 and variance 1, then scaled and moved."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
    ):
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not part into {num_groups} equal groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = channel_parameters(num_channels, affine, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}"


def channel_parameters(channels: int, affine: bool, dtype: Any, device: str) -> tuple[Tensor | None, Tensor | None]:
    """A weight of 1s and a bias of 0s, or neither."""
    if not affine:
        return None, None
    weight, bias = parameter((channels,), dtype, device), parameter((channels,), dtype, device)
    init.ones_(weight)
    return weight, bias


class _ByChannel(Module):
    """What normalisations with running statistics share. The statistics are buffers: they are saved, not trained."""

    ndims: tuple[int, ...]
    examples: str
    momentum: Any
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        device: str = "cpu",
        dtype: Any = None,
    ):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight, self.bias = channel_parameters(num_features, affine, dtype, device)
        kind = float if dtype is None else dtype
        start = [np.zeros(num_features), np.ones(num_features)]
        mean, variance = (tensor(x, dtype=kind, device=device) if track_running_stats else None for x in start)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", variance)
        self.register_buffer("num_batches_tracked", tensor(0, device=device) if track_running_stats else None)

    def _refuse_shape(self, input: Any) -> None:
        if input.ndim not in self.ndims or input.shape[1] != self.num_features:
            raise ValueError(
                f"{type(self).__name__}: input has shape {input.shape}, expected {self.examples} with "
                f"{self.num_features} channels"
            )

    def extra_repr(self) -> str:
        """The number of channels, and how far a batch moves what is running."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class _BatchNorm(_ByChannel):
    """Each channel brought to mean 0 and variance 1: those of the batch while training, else those that are running."""

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        self._refuse_shape(input)
        by_batch = self.training or self.running_mean is None
        share = self._share() if self.training and self.num_batches_tracked is not None else 0.0
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, share, self.eps
        )

    def _share(self) -> float:
        """How far running statistics move: `momentum`, or with None as a mean of all batches so far."""
        self.num_batches_tracked.assign(self.num_batches_tracked.detach() + 1)
        return 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) brought to mean 0 and variance 1, then scaled and moved by what is learned.

    While training by the batch's own statistics, which the running ones follow; then by the running ones.
    """

    ndims, examples = (2, 3), "(N, C) or (N, C, L)"


class BatchNorm2d(_BatchNorm):
    """Each channel of images (N, C, H, W) brought to mean 0 and variance 1, as in `BatchNorm1d`."""

    ndims, examples = (4,), "(N, C, H, W)"


class _InstanceNorm(_ByChannel):
    """Each channel of each example brought to mean 0 and variance 1."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        device: str = "cpu",
        dtype: Any = None,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        self._refuse_shape(input)
        by_example = self.training or self.running_mean is None
        return functional.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_example, self.momentum, self.eps
        )


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each line (N, C, L) brought to mean 0 and variance 1."""

    ndims, examples = (3,), "(N, C, L)"


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each image (N, C, H, W) brought to mean 0 and variance 1."""

    ndims, examples = (4,), "(N, C, H, W)"
