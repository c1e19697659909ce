"""What a reading is, the reading on tensors, and the devices whose arrays the words of `arrays` work on.

A reading is anything with words as attributes: `xp.exp(x)` means the exponential of a number, of an array, of a tensor
or of a name, and the code that says it does not know which.
"""

from __future__ import annotations

import importlib
from functools import partial
from types import ModuleType
from typing import Any

from . import arrays, floats, shapes

tensors = ModuleType("tensors", "The reading on recorded tensors: each word is the operation of that name.")
for _word in shapes.__all__:
    setattr(tensors, _word, getattr(shapes, _word))

_composites: dict[str, Any] = {}


def define(word: str, forward: Any) -> None:
    """Make the forward of an operation a word for numbers and arrays, unless they have one of that name already."""
    _composites[word] = forward
    for words in (floats, *(known.words for known in _devices.values())):
        _add_word(words, word, forward)


def _add_word(words: Any, word: str, forward: Any) -> None:
    if word not in words.__dict__ and word not in getattr(words, "np", words).__dict__:
        setattr(words, word, partial(forward, words))
    elif words is not floats:
        words.composed[word] = partial(forward, words)


def to_device(x: Any, device: str, source: str) -> Any:
    """The word for an array brought from one device to another."""
    return device_named(device).library.asarray(x.get() if hasattr(x, "get") else x)


class Device:
    """Where arrays live: the library that makes them, and the words for them."""

    __slots__ = ("array_type", "library", "name", "words")

    def __init__(self, name: str, library: Any, words: Any):
        self.name, self.library, self.words = name, library, words
        self.array_type: type = library.ndarray
        words.to_device = to_device

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def words_of(library: Any) -> ModuleType:
    """The words of `arrays`, read with another library of NumPy's names."""
    words = ModuleType(f"{arrays.__name__}[{library.__name__}]", arrays.__doc__)
    words.__dict__.update(library=library, __package__=arrays.__package__)
    source = importlib.import_module("inspect").getsource(arrays)
    code = compile(source, arrays.__file__ or "arrays.py", "exec")
    exec(code, words.__dict__)  # noqa: S102 - the source is our own module's, read a second time
    return words


_CPU = Device("cpu", arrays.np, arrays)
_devices: dict[str, Device] = {"cpu": _CPU}


def add_device(name: str, library: Any) -> Device:
    """Make the arrays of a library with NumPy's names usable as the device `name`."""
    made = Device(name, library, words_of(library))
    for word, forward in _composites.items():
        _add_word(made.words, word, forward)
    _devices[name] = made
    return made


def device(name: Any) -> Device:
    """The device of that name; "cuda" loads CuPy the first time it is asked for."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise TypeError(f"a device is named by text, such as 'cpu' or 'cuda', got {type(name).__name__}")
    if name not in _devices and name == "cuda":
        try:
            add_device("cuda", importlib.import_module("cupy"))
        except ImportError as error:
            raise RuntimeError(
                'device "cuda" needs CuPy, which is not installed here: pip install "micrograd_plus[cuda]"'
            ) from error
    if name not in _devices:
        raise ValueError(f"there is no device {name!r}; the devices are {', '.join(sorted({*_devices, 'cuda'}))}")
    return _devices[name]


device_named = device


def several_devices() -> bool:
    """True once another device than the CPU has been asked for."""
    return len(_devices) > 1


def zeros_like(array: Any) -> Any:
    """Zeros of the same shape and dtype, where the array lives. To multiply by 0 would make nan of what is infinite."""
    return device_of(array).library.zeros_like(array)


def device_of(array: Any) -> Device:
    """Where an array lives. Numbers, and NumPy's scalars, are at home everywhere and count as "cpu"."""
    if type(array) is _CPU.array_type:
        return _CPU
    for known in _devices.values():
        if isinstance(array, known.array_type):
            return known
    return _CPU
