"""Dual numbers: arrays that carry a tangent, the rate at which every entry changes, through NumPy's functions.

A rule can send the right numbers and still cut them off from its inputs; the gradient of its gradient is then wrong.
Run on dual numbers, a rule shows how fast its result changes. Plain numbers that it made on the way have the tangent 0.

>>> x = Dual(np.array([3.0]), np.array([1.0]))
>>> (x * x).tangent.round(6)
array([6.])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-4
"""The distance between the points at which a function is sampled. Five points give tangents of 10 digits."""
CUTS_TANGENT = ("stop_gradient",)
"""Functions of `xp` that are meant to drop the tangent."""
PLAIN_METHODS = ("item", "tolist", "tobytes")


class Dual(np.lib.mixins.NDArrayOperatorsMixin):
    """An array and its tangent."""

    __slots__ = ("tangent", "value")
    __array_priority__ = 1000

    def __init__(self, value: Any, tangent: Any):
        self.value, self.tangent = value, tangent

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method == "at":
            self._add_at(ufunc, *inputs)
            return None
        result = lift(getattr(ufunc, method))(*inputs, **options)
        if out is None:
            return result
        (target,) = out
        target[...] = result if isinstance(target, Dual) else without_tangents(result)
        return target

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        function = np.zeros_like if function is np.empty_like else function
        return lift(function)(*arguments, **options)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.value, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.value, name)
        if callable(attribute) and name not in PLAIN_METHODS:
            method = lift(lambda array, *arguments, **options: getattr(array, name)(*arguments, **options))
            return lambda *arguments, **options: method(self, *arguments, **options)
        return lift(operator.attrgetter(name))(self) if isinstance(attribute, np.ndarray) else attribute

    def __getitem__(self, index: Any) -> Any:
        return lift(operator.getitem)(self, index)

    def __setitem__(self, index: Any, values: Any) -> None:
        index = without_tangents(index)
        self.value[index], self.tangent[index] = without_tangents(values), tangent_of(values)

    def _add_at(self, ufunc: Any, array: Any, index: Any, values: Any) -> None:
        """Run `np.add.at`. A plain array that it writes to cannot hold a tangent."""
        index = without_tangents(index)
        ufunc.at(without_tangents(array), index, without_tangents(values))
        if isinstance(array, Dual):
            ufunc.at(array.tangent, index, tangent_of(values))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.value)))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"dual({self.value!r})"


def shift(data: Any, step: float) -> Any:
    """Replace every dual array in nested plain data by the array `value + step * tangent`."""
    if isinstance(data, Dual):
        return data.value + step * data.tangent if step else data.value
    if isinstance(data, (list, tuple)):
        return type(data)(shift(each, step) for each in data)
    if isinstance(data, dict):
        return {name: shift(each, step) for name, each in data.items()}
    return data


def without_tangents(data: Any) -> Any:
    """Replace every dual array in nested plain data by its value."""
    return shift(data, 0)


def tangent_of(array: Any) -> Any:
    """Return the tangent of an array; zeros for a plain array."""
    return array.tangent if isinstance(array, Dual) else np.zeros(np.shape(array))


def has_dual(data: Any) -> bool:
    """Return whether nested plain data contains a dual array."""
    if isinstance(data, dict):
        return any(map(has_dual, data.values()))
    return any(map(has_dual, data)) if isinstance(data, (list, tuple)) else isinstance(data, Dual)


def lift(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function of arrays into a function of dual arrays."""

    def on_duals(*arguments: Any, **options: Any) -> Any:
        if not has_dual((arguments, options)):
            return function(*arguments, **options)
        return from_samples(*[
            function(*shift(arguments, step * STEP), **shift(options, step * STEP)) for step in (0, 1, -1, 2, -2)
        ])

    return on_duals


def from_samples(here: Any, after: Any, before: Any, two_after: Any, two_before: Any) -> Any:
    """Return the dual array of a function that was sampled at five points (a central difference of fourth order)."""
    if isinstance(here, (list, tuple)):
        return type(here)(from_samples(*each) for each in zip(here, after, before, two_after, two_before, strict=True))
    if not isinstance(here, (float, np.floating, np.ndarray)) or np.asarray(here).dtype.kind not in "fc":
        return here
    with np.errstate(all="ignore"):
        tangent = (8 * (after - before) - (two_after - two_before)) / (12 * STEP)
    return Dual(np.array(here), np.array(tangent))


def attach_tangents(data: Any, tangents: Any) -> Any:
    """Return nested plain data in which every array with a tangent is a dual array."""
    if isinstance(data, np.ndarray):
        return data if tangents is None else Dual(data, tangents)
    if isinstance(data, (list, tuple)) and isinstance(tangents, (list, tuple)):
        return type(data)(attach_tangents(*each) for each in zip(data, tangents, strict=True))
    return data


class DualNamespace:
    """A namespace whose functions accept dual arrays."""

    def __init__(self, xp: Any):
        self.xp = xp

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.xp, name)
        if name in CUTS_TANGENT:
            return lambda x, *rest, **options: function(without_tangents(x), *rest, **options)
        return lift(function) if callable(function) else function
