"""Devices, and the namespaces in which operations on their arrays run.

A namespace is anything with functions as attributes: `xp.exp(x)` is the exponential of a number, an array, a tensor or
a symbol, and the code that calls it does not know which.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from . import arrays, floats
from .shared import bind_functions

_composites: dict[str, Any] = {}
_kernels: list[ModuleType] = []


def define(name: str, forward: Any) -> None:
    """Add the forward of an operation to the namespaces of numbers and arrays that have no function of that name."""
    _composites[name] = forward
    for xp in (floats, *(known.namespace for known in _devices.values())):
        _add(xp, name, forward)


def _add(xp: Any, name: str, forward: Any) -> None:
    if name not in xp.__dict__ and name not in getattr(xp, "np", xp).__dict__:
        setattr(xp, name, partial(forward, xp))
    elif xp is not floats:
        xp.composed[name] = partial(forward, xp)


def add_kernels(*modules: ModuleType) -> None:
    """Bind the functions in the `__all__` of some modules to the library of every array namespace."""
    _kernels.extend(modules)
    for known in _devices.values():
        _bind(known, modules)


def _bind(known: Device, modules: Iterable[ModuleType]) -> None:
    for module in modules:
        for name in module.__all__:
            setattr(known.namespace, name, partial(getattr(module, name), known.library))


def to_device(x: Any, device: str, source: str) -> Any:
    """Move an array from one device to another."""
    return device_named(device).library.asarray(x.get() if hasattr(x, "get") else x)


class Namespace:
    """Namespace for arrays of a library with NumPy's names: the shared functions, then the library's own."""

    def __init__(self, library: Any):
        self.np = library
        self.composed: dict[str, Any] = {}
        vars(self).update(bind_functions(self, library))

    def __getattr__(self, name: str) -> Any:
        """Return the library's function of that name, and keep it for the next access."""
        if name.startswith("__"):
            raise AttributeError(name)
        meaning = getattr(self.np, name)
        setattr(self, name, meaning)
        return meaning


class Device:
    """A device: the library that makes its arrays, and their namespace."""

    __slots__ = ("array_type", "library", "name", "namespace")

    def __init__(self, name: str, library: Any, namespace: Any):
        self.name, self.library, self.namespace = name, library, namespace
        self.array_type: type = library.ndarray
        namespace.to_device = to_device

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


_CPU = Device("cpu", arrays.np, arrays)
_devices: dict[str, Device] = {"cpu": _CPU}


def add_device(name: str, library: Any) -> Device:
    """Make the arrays of a library with NumPy's names usable as the device `name`."""
    made = Device(name, library, Namespace(library))
    _bind(made, _kernels)
    for operation, forward in _composites.items():
        _add(made.namespace, operation, forward)
    _devices[name] = made
    return made


def device(name: Any) -> Device:
    """Return the device of that name; "cuda" loads CuPy on first use."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        asked = "a device must be a string, such as 'cpu' or 'cuda'"
        raise TypeError(f"{asked}, got {type(name).__name__}; for a dtype write x.astype(dtype)")
    if name not in _devices and name == "cuda":
        add_device("cuda", _cupy())
    if name not in _devices:
        raise ValueError(f"there is no device {name!r}; the devices are {', '.join(sorted({*_devices, 'cuda'}))}")
    return _devices[name]


device_named = device


def _cupy() -> Any:
    """Return CuPy, or raise RuntimeError if it is not installed or finds no GPU."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        raise RuntimeError(
            'device "cuda" needs CuPy, which is not installed here: pip install "micrograd_plus[cuda]"'
        ) from error
    if not cupy.is_available():
        raise RuntimeError('device "cuda" needs an NVIDIA GPU and its driver; CuPy finds none here')
    return cupy


def several_devices() -> bool:
    """Return True once another device than the CPU was used."""
    return len(_devices) > 1


def zeros_like(array: Any) -> Any:
    """Return zeros of the same shape and dtype on the same device. (Multiplying by 0 would turn infinity into nan.)"""
    return device_of(array).library.zeros_like(array)


def homes(values: Sequence[Any]) -> set[str]:
    """Return the names of the devices of all arrays among some values. Numbers and NumPy scalars belong to none."""
    return {known.name for known in _devices.values() for value in values if isinstance(value, known.array_type)}


def device_of(array: Any) -> Device:
    """Return the device of an array. Numbers and NumPy scalars count as "cpu"."""
    if type(array) is _CPU.array_type:
        return _CPU
    for known in _devices.values():
        if isinstance(array, known.array_type):
            return known
    return _CPU
