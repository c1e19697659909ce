"""What layers compute, under PyTorch's names. `axis` is what PyTorch calls `dim`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ... import ops, random
from ...readings import vocabulary
from ...readings.shapes import windows_along
from ...tensor import Tensor
from .shapes import constant_like, images, pair, plain

__all__ = [
    "avg_pool2d", "conv2d", "cosine_similarity", "dropout", "embedding", "fold", "layer_norm", "linear",
    "max_pool2d", "normalize", "one_hot", "pad", "unfold",
]  # fmt: skip


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """`input @ weightᵀ + bias`. Shapes: input (..., in), weight (out, in), bias (out,); the result is (...,
    out)."""
    return ops.linear_layer(input, weight, bias)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """A small image of weights compared with every window of each image.

    Shapes: input (N, C, H, W), weight (O, C / groups, kh, kw), bias (O,); the result is (N, O, H', W').
    `padding` is a number, a pair, "valid" (none), or "same" (the result is as large as the input; needs
    stride 1).
    """
    images("conv2d", input)
    if weight.ndim != 4 or input.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ValueError(
            f"conv2d: weight has shape {weight.shape}; for input {input.shape} and groups={groups} it is "
            f"(out channels, {input.shape[1]} / {groups}, kernel height, kernel width), with out channels a "
            f"multiple of groups"
        )
    stride, dilation = pair(stride, "stride"), pair(dilation, "dilation")
    if padding == "same":
        if stride != (1, 1):
            raise ValueError(f"conv2d: padding='same' needs stride 1, got {stride}")
        input, padding = _padded_to_same(input, weight.shape[-2:], dilation), 0
    padding = pair(0 if padding == "valid" else padding, "padding")
    return ops.conv2d(input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups)


def _padded_to_same(input: Any, kernel: tuple[int, ...], dilation: tuple[int, int]) -> Tensor:
    """A border so wide that there is one window for each entry; an odd one lies below and to the right."""
    whole = [step * (length - 1) for step, length in zip(dilation, kernel, strict=True)]
    return ops.pad(input, pad_width=((0, 0), (0, 0), *((each // 2, each - each // 2) for each in whole)))


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1
) -> Tensor:
    """The largest entry of each window; windows stand next to each other unless `stride` says otherwise."""
    kernel_size, stride, padding = _windows("max_pool2d", input, kernel_size, stride, padding)
    return ops.max_pool2d(
        input, kernel_size=kernel_size, stride=stride, padding=padding, dilation=pair(dilation, "dilation")
    )


def avg_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
) -> Tensor:
    """The mean of each window; `count_include_pad` says whether a border of padding counts as entries."""
    kernel_size, stride, padding = _windows("avg_pool2d", input, kernel_size, stride, padding)
    return ops.avg_pool2d(
        input, kernel_size=kernel_size, stride=stride, padding=padding, count_include_pad=count_include_pad
    )


def _windows(name: str, input: Any, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    images(name, input)
    kernel, padding = pair(kernel_size, "kernel_size"), pair(padding, "padding")
    if any(border > length // 2 for border, length in zip(padding, kernel, strict=True)):
        raise ValueError(
            f"{name}: padding {padding} is more than half of the window {kernel}: some would see nothing"
        )
    return kernel, kernel if stride is None else pair(stride, "stride"), padding


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Each window's entries as one column: (N, C, H, W) to (N, C * kernel, windows)."""
    images("unfold", input)
    return ops.unfold(
        input,
        kernel_size=pair(kernel_size, "kernel_size"),
        stride=pair(stride, "stride"),
        padding=pair(padding, "padding"),
        dilation=pair(dilation, "dilation"),
    )


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns (N, C * kernel, windows) put back where `unfold` took them from; overlapping entries add up."""
    size, kernel = pair(output_size, "output_size"), pair(kernel_size, "kernel_size")
    stride, padding, dilation = pair(stride, "stride"), pair(padding, "padding"), pair(dilation, "dilation")
    windows = prod(windows_along(size, kernel, stride, padding, dilation))
    if input.ndim != 3 or input.shape[1] % prod(kernel) or input.shape[2] != windows:
        raise ValueError(
            f"fold: input has shape {input.shape}, expected (images, channels * {prod(kernel)}, "
            f"{windows}): one column for each of {windows} windows"
        )
    return ops.fold(
        input, output_size=size, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation
    )


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """The last axes, of lengths `normalized_shape`, brought to mean 0 and variance 1, `* weight + bias`."""
    lengths = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not lengths or input.shape[-len(lengths) :] != lengths:
        raise ValueError(f"layer_norm: input has shape {input.shape}, which does not end in {lengths}")
    return ops.layer_norm(input, weight, bias, axes=len(lengths), eps=eps)


def dropout(
    input: Any, p: float = 0.5, training: bool = True, *, rng: np.random.Generator | None = None
) -> Tensor:
    """While `training`: each entry silenced with probability `p`, the others divided by 1 - p to make up for
    it."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is a probability between 0 and 1, got {p}")
    if not training or p == 0:
        return input
    kept = random.beside(input, rng).random(input.shape) >= p
    return ops.dropout(input, constant_like(kept / (1 - p) if p < 1 else kept, input))


def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Tensor:
    """Rows of the table `weight`, looked up by number.

    Shapes: input (...), weight (words, width), result (..., width). The row `padding_idx` stands for nothing:
    it receives no gradient.
    """
    library = vocabulary.device_of(plain(weight)).library
    numbers = library.asarray(input) if isinstance(input, (int, list, tuple)) else input
    words = weight.shape[0]
    if padding_idx is not None and not -words <= padding_idx < words:
        raise ValueError(f"embedding: padding_idx {padding_idx} is not one of the {words} rows")
    _in_range("embedding", numbers, words)
    row = None if padding_idx is None else padding_idx % words
    return ops.embedding(numbers, weight, padding_idx=row)


def one_hot(input: Any, num_classes: int = -1) -> Tensor:
    """A row of zeros with a single 1 for each number; -1 takes as many classes as are needed.

    The result holds whole numbers, as in PyTorch: `.astype(float)` makes probabilities of them.
    """
    numbers = np.asarray(input) if isinstance(input, (int, list, tuple)) else input
    if num_classes == -1:
        num_classes = plain(numbers).max().item() + 1 if plain(numbers).size else 0
    _in_range("one_hot", numbers, num_classes)
    return ops.astype(ops.one_hot(numbers, num_classes=num_classes), dtype=np.dtype(int))


def _in_range(name: str, numbers: Any, count: int) -> None:
    """Refuse a number that NumPy would count from the end, or that is no whole number."""
    values = plain(numbers)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected whole numbers, got {values.dtype}")
    wrong = values[(values < 0) | (values >= count)]
    if wrong.size:
        raise IndexError(f"{name}: {wrong[0].item()} is out of range: numbers run from 0 to {count - 1}")


def normalize(input: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """Vectors along `axis`, divided by their length (the p-norm, at least `eps`)."""
    return input / ops.maximum(_length(input, p, axis), eps)


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `axis`; a length counts as at least `eps`."""
    together = ops.sum(ops.multiply(x1, x2), axis=axis)
    first, second = (ops.maximum(ops.norm(each, axis=axis), eps) for each in (x1, x2))
    return together / (first * second)


def _length(x: Any, p: float, axis: int) -> Tensor:
    if p == 2:
        return ops.norm(x, axis=axis, keepdims=True)
    if p == float("inf"):
        return ops.max(ops.absolute(x), axis=axis, keepdims=True)
    return ops.sum(ops.absolute(x) ** p, axis=axis, keepdims=True) ** (1 / p)


_MODES = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "circular": "wrap"}


def pad(input: Any, pad: tuple[int, ...], mode: str = "constant", value: float = 0.0) -> Tensor:
    """A border in PyTorch's form: `pad` is (before, after) of the last axis, then of the one before it, and
    so on.

    `mode` is "constant" (of `value`), "replicate", "reflect" or "circular". NumPy's form is `mg.pad`.
    """
    if mode not in _MODES:
        raise ValueError(f"pad: mode is one of {', '.join(map(repr, _MODES))}, got {mode!r}")
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise ValueError(
            f"pad: expected a pair (before, after) for some last axes of {input.shape}, got {pad}"
        )
    named = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    width = (*((0, 0) for _ in range(input.ndim - len(named))), *reversed(named))
    return ops.pad(input, pad_width=width, mode=_MODES[mode], constant_values=value)
