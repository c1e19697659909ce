"""Normalisation layers, with a learned scale and shift.

`device` and `dtype` are those of `parameters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor, tensor
from ..transforms.checkpoint import is_recomputing
from . import functional
from .functional.shapes import each_length
from .module import Module
from .parameters import check_sizes, scale_and_shift

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "LayerNorm", "RMSNorm",
]  # fmt: skip


class LayerNorm(Module):
    """Layer normalisation: normalises the last axes to mean 0 and variance 1.

    y = (x - mean) / √(variance + eps) · weight + bias, mean and variance over the last axes of each example; the
    variance is the biased one (ddof 0). Weight starts as 1, bias as 0.

    Shapes: (..., *normalized_shape) -> the same; weight and bias normalized_shape.
    Args:
        normalized_shape: the lengths of the last axes, or the length of the last one.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        elementwise_affine: whether to learn a scale and a shift; True by default.
        bias: whether the shift is; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for an input that does not end in these lengths; TypeError if the input is not a
        tensor.
    Example:
        >>> nn.LayerNorm(2, eps=0.0)(mg.tensor([[1.0, 3.0], [5.0, 15.0]])).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]

    See: torch.nn.LayerNorm; Ba, Kiros and Hinton, Layer normalization, 2016.
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True, *,
        device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        self.normalized_shape, self.eps = each_length(normalized_shape), eps
        self.weight, self.bias = scale_and_shift(self.normalized_shape, elementwise_affine, bias, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Root mean square normalisation: the last axes divided by the root of their mean square.

    y = x / √(mean(x²) + eps) · weight, the mean over the last axes of each example. Weight starts as 1.

    Shapes: (..., *normalized_shape) -> the same; weight normalized_shape.
    Args:
        normalized_shape: the lengths of the last axes, or the length of the last one.
        eps: added to the mean; by default the smallest step of the input's dtype at 1.
        elementwise_affine: whether a scale is learned; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for an input that does not end in these lengths; TypeError if the input is not a
        tensor.
    Example:
        >>> mg.round(nn.RMSNorm(2)(mg.tensor([[3.0, 4.0], [30.0, 40.0]])), 4).tolist()
        [[0.8485, 1.1314], [0.8485, 1.1314]]

    See: torch.nn.RMSNorm; Zhang and Sennrich, Root mean square layer normalization, 2019.
    """

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, *, device: str = "cpu",
        dtype: Any = None,
    ):  # fmt: skip
        self.normalized_shape, self.eps = each_length(normalized_shape), eps
        self.weight, _ = scale_and_shift(self.normalized_shape, elementwise_affine, False, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """Group normalisation: normalises groups of channels to mean 0 and variance 1.

    y = (x - mean) / √(variance + eps) · weight + bias, mean and variance (ddof 0) over the channels of a group and all
    places of one example; weight and bias belong to the channel.

    Shapes: (N, C, ...) -> the same; weight and bias (C,).
    Args:
        num_groups: how many groups, a divisor of the channels.
        num_channels: C, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        affine: whether to learn a scale and a shift; True by default.
        bias: whether the shift is; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: ValueError for channels that the groups do not divide, and when called for an input of other channels;
        IndexError for one without an axis of channels.
    Example:
        >>> nn.GroupNorm(2, 4, eps=0.0)(mg.tensor([[1.0, 3.0, 5.0, 15.0]])).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]

    See: torch.nn.GroupNorm; Wu and He, Group normalization, 2018.
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, bias: bool = True,
        device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        check_sizes(self, num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not part into {num_groups} equal groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight, self.bias = scale_and_shift((num_channels,), affine, bias, dtype, device)

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _ByChannel(Module):
    """Base class of normalisations with running statistics, which are buffers: saved, not trained."""

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
        check_sizes(self, num_features=num_features)
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
    """Base class of batch normalisations: by the statistics of the batch during training, else by the running ones."""

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        self._refuse_shape(input)
        by_batch = self.training or self.running_mean is None
        share = self._share() if self.training and self.num_batches_tracked is not None else 0.0
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, share, self.eps
        )

    def _share(self) -> float:
        """Return the share by which running statistics move: `momentum`, or with None one over the number of
        batches."""
        if not is_recomputing():
            self.num_batches_tracked.assign(self.num_batches_tracked.detach() + 1)
        return 1 / self.num_batches_tracked.item() if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    """Batch normalisation: normalises each channel of a batch to mean 0 and variance 1.

    While training y = (x - mean) / √(variance + eps) · weight + bias, with the batch's mean and variance (ddof 0) of
    each channel, and the running ones follow: running ← (1 - momentum) running + momentum · (the batch's, with ddof 1).
    After `eval()` the running ones take their place. They start as 0 and 1, and are buffers: saved, not trained.

    Shapes: (N, C) or (N, C, L) -> the same; weight, bias and running statistics (C,).
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; None for the mean of all batches so
            far.
        affine: whether to learn a scale and a shift; True by default.
        track_running_stats: whether to keep running statistics; without them the batch's are always used. True by
            default.
        bias: whether the shift is learned; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and, while training, for a single number for each
        channel, which has no variance; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.BatchNorm1d(1, eps=0.0)
        >>> layer(mg.tensor([[1.0], [3.0]])).tolist()
        [[-1.0], [1.0]]
        >>> layer.running_mean.tolist(), layer.running_var.tolist()
        ([0.2], [1.1])
        >>> mg.round(layer.eval()(mg.tensor([[0.2]])), 4).tolist()
        [[0.0]]

    See: torch.nn.BatchNorm1d; Ioffe and Szegedy, Batch normalization: accelerating deep network training by reducing
        internal covariate shift, 2015; CS231n notes, Neural networks 2.
    """

    ndims, examples = (2, 3), "(N, C) or (N, C, L)"


class BatchNorm2d(_BatchNorm):
    """Batch normalisation: normalises each channel of a batch of images to mean 0 and variance 1.

    As `BatchNorm1d`: while training by the batch's own statistics, which the running ones follow; after `eval()` by the
    running ones.

    Shapes: (N, C, H, W) -> the same; weight, bias and running statistics (C,).
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; None for the mean of all batches so
            far.
        affine: whether to learn a scale and a shift; True by default.
        track_running_stats: whether to keep running statistics; without them the batch's are always used. True by
            default.
        bias: whether the shift is learned; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and, while training, for a single number for each
        channel, which has no variance; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.BatchNorm2d(1, eps=0.0)
        >>> layer(mg.tensor([[[[1.0, 3.0]]], [[[5.0, 7.0]]]])).mean().item()
        0.0

    See: torch.nn.BatchNorm2d; Ioffe and Szegedy, Batch normalization: accelerating deep network training by reducing
        internal covariate shift, 2015; CS231n notes, Neural networks 2.
    """

    ndims, examples = (4,), "(N, C, H, W)"


class BatchNorm3d(_BatchNorm):
    """Batch normalisation: normalises each channel of a batch of volumes to mean 0 and variance 1.

    As `BatchNorm1d`: while training by the batch's own statistics, which the running ones follow; after `eval()` by the
    running ones.

    Shapes: (N, C, D, H, W) -> the same; weight, bias and running statistics (C,).
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; None for the mean of all batches so
            far.
        affine: whether to learn a scale and a shift; True by default.
        track_running_stats: whether to keep running statistics; without them the batch's are always used. True by
            default.
        bias: whether the shift is learned; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and, while training, for a single number for each
        channel, which has no variance; TypeError if the input is not a tensor.
    Example:
        >>> layer = nn.BatchNorm3d(2)
        >>> layer(mg.random.normal(size=(4, 2, 3, 3, 3))).shape
        (4, 2, 3, 3, 3)

    See: torch.nn.BatchNorm3d; Ioffe and Szegedy, Batch normalization: accelerating deep network training by reducing
        internal covariate shift, 2015.
    """

    ndims, examples = (5,), "(N, C, D, H, W)"


class _InstanceNorm(_ByChannel):
    """Base class of instance normalisations."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
        track_running_stats: bool = False, *, bias: bool = True, device: str = "cpu", dtype: Any = None,
    ):  # fmt: skip
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias=bias, **place)

    def forward(self, input: Any) -> Tensor:
        """Return a tensor with the shape of the input."""
        self._refuse_shape(input)
        by_example = self.training or self.running_mean is None
        share = self.momentum or 0.0
        return functional.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_example, share, self.eps
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation: normalises each channel of each line to mean 0 and variance 1.

    y = (x - mean) / √(variance + eps), and with `affine` y · weight + bias; mean and variance (ddof 0) are over the
    places of one channel of one example, while training and after. With running statistics, these follow the mean over
    examples while training, and take their place after `eval()`.

    Shapes: (N, C, L) -> the same; weight, bias and running statistics (C,), where there are any.
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; with None they stay, as in PyTorch.
        affine: whether to learn a scale and a shift; False by default.
        track_running_stats: whether to keep running statistics; False by default.
        bias: whether the shift is learned, with `affine`; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and for a single place, which has no variance; TypeError
        if the input is not a tensor.
    Example:
        >>> nn.InstanceNorm1d(1, eps=0.0)(mg.tensor([[[1.0, 3.0]], [[5.0, 15.0]]])).tolist()
        [[[-1.0, 1.0]], [[-1.0, 1.0]]]

    See: torch.nn.InstanceNorm1d; Ulyanov, Vedaldi and Lempitsky, Instance normalization: the missing ingredient for
        fast stylization, 2016.
    """

    ndims, examples = (3,), "(N, C, L)"


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation: normalises each channel of each image to mean 0 and variance 1.

    As `InstanceNorm1d`, by the places of one channel of one example alone.

    Shapes: (N, C, H, W) -> the same; weight, bias and running statistics (C,), where there are any.
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; with None they stay, as in PyTorch.
        affine: whether to learn a scale and a shift; False by default.
        track_running_stats: whether to keep running statistics; False by default.
        bias: whether the shift is learned, with `affine`; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and for a single place, which has no variance; TypeError
        if the input is not a tensor.
    Example:
        >>> nn.InstanceNorm2d(1, eps=0.0)(mg.tensor([[[[1.0], [3.0]]], [[[5.0], [15.0]]]])).tolist()
        [[[[-1.0], [1.0]]], [[[-1.0], [1.0]]]]

    See: torch.nn.InstanceNorm2d; Ulyanov, Vedaldi and Lempitsky, Instance normalization: the missing ingredient for
        fast stylization, 2016.
    """

    ndims, examples = (4,), "(N, C, H, W)"


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation: normalises each channel of each volume to mean 0 and variance 1.

    As `InstanceNorm1d`, by the places of one channel of one example alone.

    Shapes: (N, C, D, H, W) -> the same; weight, bias and running statistics (C,), where there are any.
    Args:
        num_features: C, the number of channels, at least 1.
        eps: added to the variance, so that it is never 0; 1e-5 by default.
        momentum: weight of the new batch in the running statistics, 0.1 by default; with None they stay, as in PyTorch.
        affine: whether to learn a scale and a shift; False by default.
        track_running_stats: whether to keep running statistics; False by default.
        bias: whether the shift is learned, with `affine`; True by default.
        device: "cpu" (default) or "cuda", the device of the parameters.
        dtype: of the parameters; float64 by default.
    Raises: when called, ValueError for other axes or channels and for a single place, which has no variance; TypeError
        if the input is not a tensor.
    Example:
        >>> nn.InstanceNorm3d(2)(mg.random.normal(size=(4, 2, 3, 3, 3))).shape
        (4, 2, 3, 3, 3)

    See: torch.nn.InstanceNorm3d; Ulyanov, Vedaldi and Lempitsky, Instance normalization: the missing ingredient for
        fast stylization, 2016.
    """

    ndims, examples = (5,), "(N, C, D, H, W)"
