"""Normalisation: numbers brought to mean 0 and variance 1, then scaled and moved by what is learned.

`device` and `dtype` are those of `parameters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checkpointing import is_recomputing
from ..tensor import Tensor, tensor
from . import functional
from .functional.shapes import each_length
from .module import Module
from .parameters import scale_and_shift, wants_sizes

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "LayerNorm", "RMSNorm",
]  # fmt: skip


class LayerNorm(Module):
    """The last axes brought to mean 0 and variance 1, then scaled and moved by what is learned.

    >>> import micrograd_plus as mg
    >>> mg.nn.LayerNorm(2, eps=0.0)(mg.tensor([[1.0, 3.0], [5.0, 15.0]])).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True, *,
        device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        self.normalized_shape, self.eps = each_length(normalized_shape), eps
        self.weight, self.bias = scale_and_shift(self.normalized_shape, elementwise_affine, bias, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """The last axes divided by the root of their mean square, then scaled by what is learned (Zhang and Sennrich
    2019)."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, *, device: str = "cpu",
        dtype: Any = None,
    ):  # fmt: skip
        self.normalized_shape, self.eps = each_length(normalized_shape), eps
        self.weight, _ = scale_and_shift(self.normalized_shape, elementwise_affine, False, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """The channels of each example in groups, each brought to mean 0 and variance 1, then scaled and moved by what is
    learned (Wu and He 2018). Shape (N, channels, ...)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, bias: bool = True,
        device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        wants_sizes(self, num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not part into {num_groups} equal groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = scale_and_shift((num_channels,), affine, bias, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """The shape of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _ByChannel(Module):
    """What normalisations with running statistics share. The statistics are buffers: they are saved, not trained."""

    ndims: tuple[int, ...]
    examples: str
    momentum: Any
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Any

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, *, bias: bool = True, device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        wants_sizes(self, num_features=num_features)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight, self.bias = scale_and_shift((num_features,), affine, bias, dtype, device)
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
        if not is_recomputing():
            self.num_batches_tracked.assign(self.num_batches_tracked.detach() + 1)
        return 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) brought to mean 0 and variance 1, then scaled and moved by what is learned.

    While training by the batch's own statistics, which the running ones follow; in use by the running ones (Ioffe and
    Szegedy 2015).

    >>> import micrograd_plus as mg
    >>> layer = mg.nn.BatchNorm1d(1, eps=0.0)
    >>> layer(mg.tensor([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    >>> layer.running_mean.tolist()
    [0.2]
    """

    ndims, examples = (2, 3), "(N, C) or (N, C, L)"


class BatchNorm2d(_BatchNorm):
    """Each channel of images (N, C, H, W) brought to mean 0 and variance 1, as in `BatchNorm1d`."""

    ndims, examples = (4,), "(N, C, H, W)"


class BatchNorm3d(_BatchNorm):
    """Each channel of volumes (N, C, D, H, W) brought to mean 0 and variance 1, as in `BatchNorm1d`."""

    ndims, examples = (5,), "(N, C, D, H, W)"


class _InstanceNorm(_ByChannel):
    """Each channel of each example brought to mean 0 and variance 1."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, *, bias: bool = True, device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias=bias, **place)

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


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each volume (N, C, D, H, W) brought to mean 0 and variance 1."""

    ndims, examples = (5,), "(N, C, D, H, W)"
