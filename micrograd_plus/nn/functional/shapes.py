"""What the functions of this package ask of shapes, and the constants that they make."""

from __future__ import annotations

from typing import Any

from ...application import shape_of
from ...readings import vocabulary
from ...tensor import Tensor


def pair(value: Any, name: str) -> tuple[int, int]:
    """A whole number for both, or one along the height and one along the width."""
    both = (value, value) if isinstance(value, int) else tuple(value)
    if len(both) != 2:
        raise ValueError(f"{name} is one number, or two (along the height and the width), got {value}")
    return both


def constant_like(values: Any, x: Any) -> Tensor:
    """An array as a tensor without graph, with the dtype of `x` and on its device."""
    library = vocabulary.device_of(getattr(x, "_data", x)).library
    return Tensor.of(library.asarray(values).astype(x.dtype, copy=False))


def plain(x: Any) -> Any:
    """The array of a tensor; an array as it is."""
    return x._data if isinstance(x, Tensor) else x


def same_shape(name: str, input: Any, target: Any) -> None:
    """Refuse shapes that would silently broadcast: (n, 1) against (n,) compares everything with
    everything."""
    if type(input) is Tensor is type(target) and input._data.shape == target._data.shape:
        return
    if shape_of(input) != shape_of(target):
        raise ValueError(
            f"{name}: input has shape {shape_of(input)} and target {shape_of(target)}; they must be equal, "
            f"because broadcasting would compare entries that do not belong together: reshape one of them"
        )


def images(name: str, x: Any) -> None:
    """Refuse what is not a batch of images."""
    if x.ndim != 4:
        raise ValueError(f"{name}: input has shape {x.shape}, expected (images, channels, height, width)")
