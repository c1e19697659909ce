"""Functions of `xp` as students write them by hand, to make wrong variants: a later use replaces an earlier one."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ..backends import devices
from ..core.define import operations

np = devices.device("cpu").library
ENGINE = devices.device("cpu").namespace


class Namespace:
    """The engine's functions, with some replaced."""

    def __init__(self, **functions: Any):
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        return getattr(ENGINE, name)


def fold(x: Any, output_size: Any, kernel_size: Any, stride: Any = (1, 1), padding: Any = (0, 0),
         dilation: Any = (1, 1), *, first: bool = False, skip_zeros: bool = False) -> Any:  # fmt: skip
    """Put columns back to their windows. Where they overlap, the last window wins, or the first."""
    height, width = output_size
    places = 1.0 + np.arange(height * width).reshape(1, 1, height, width)  # 0 is the border
    taken = ENGINE.unfold(places, kernel_size, stride, padding, dilation)[0].astype(int)
    columns = x.reshape(len(x), -1, *taken.shape)
    out = np.zeros((*columns.shape[:2], height * width + 1), x.dtype)
    windows = range(taken.shape[1])
    for window in reversed(windows) if first else windows:
        new, old = columns[..., window], out[:, :, taken[:, window]]
        out[:, :, taken[:, window]] = np.where(new == 0, old, new) if skip_zeros else new
    return out[..., 1:].reshape(*columns.shape[:2], height, width)


def replace_fold(**how: bool) -> dict[str, Any]:
    """Return the functions of a namespace in which overlapping windows overwrite each other."""
    replaced = functools.partial(fold, **how)
    convolution = operations["conv2d_input"].forward
    return {"fold": replaced, "conv2d_input": functools.partial(convolution, Namespace(fold=replaced))}


def use_last_filter(weight: Any, sent: Any, *, groups: int = 1, **settings: Any) -> Any:
    """Return what the images of a convolution receive if each filter overwrites what the one before it has sent."""
    is_last = np.arange(1, len(weight) + 1) % (len(weight) // groups) == 0
    kept = np.where(is_last[:, None, None], sent, 0.0)
    return replace_fold()["conv2d_input"](weight, kept, groups=groups, **settings)


def put_take(x: Any, indices: Any, shape: Any, axis: Any) -> Any:
    """Put entries back to where `take` read them. The last of several uses wins."""
    out = np.zeros(shape, x.dtype)
    if axis is None:
        out.reshape(-1)[indices] = x
    else:
        out[(slice(None),) * (axis % len(shape)) + (indices,)] = x
    return out


def put_along_axis_add(x: Any, indices: Any, shape: Any, axis: int) -> Any:
    """Put entries back to where `take_along_axis` read them. The last of several uses wins."""
    out = np.zeros(shape, x.dtype)
    np.put_along_axis(out, indices, x, axis)
    return out


OVERLAP = "overlapping windows overwrite each other: one of them wins, instead of a sum"
REPEATED = "repeated entries are overwritten: the last use wins, instead of a sum"


def overwriting_namespaces() -> Iterator[tuple[str, Namespace]]:
    """Yield the title of a mistake, and the functions with which a right rule makes it."""
    for how in ({}, {"first": True}, {"skip_zeros": True}, {"first": True, "skip_zeros": True}):
        yield OVERLAP, Namespace(**replace_fold(**how))
    yield OVERLAP.replace("windows", "windows and filters"), Namespace(conv2d_input=use_last_filter)
    yield REPEATED, Namespace(put_take=put_take, put_along_axis_add=put_along_axis_add)
