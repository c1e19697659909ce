"""A stand-in for the array library of another device: NumPy's sums in arrays that NumPy may not see into.

On a GPU an array that is silently brought home is slow, or an error. Here it is always an error: an array of
this library refuses to become a NumPy array, a number or a truth, and to be mixed with NumPy's arrays. What
is asked for by name (`get`, `item`, `tolist`) is given, and counted in `copies`. As in CuPy, a sum is an
array of no axes and never a scalar, an array from the host may be an index, and only sums and products can be
running ones.
"""

import operator
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np

copies: Counter[str] = Counter()
"""How often each way home was taken."""


class Array:
    """An array of the stand-in's own."""

    __slots__ = ("__weakref__", "_values")
    __array_ufunc__ = None  # NumPy hands an operator back to us, and refuses everything else
    __hash__ = None

    def __init__(self, values: Any):
        self._values = np.asarray(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._values, name)
        return device_function(found) if callable(found) else on_device(found)

    def __repr__(self) -> str:
        return f"stand-in array of shape {self.shape}"

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        return map(on_device, self._values)

    def __getitem__(self, index: Any) -> Any:
        return on_device(self._values[as_index(index)])

    def __setitem__(self, index: Any, values: Any) -> None:
        self._values[as_index(index)] = at_home(values)

    def get(self) -> Any:
        """The entries, copied to the host."""
        copies["get"] += 1
        return self._values.copy()

    def item(self) -> Any:
        """The only entry, copied to the host."""
        copies["item"] += 1
        return self._values.item()

    def tolist(self) -> Any:
        """The entries as lists, copied to the host."""
        copies["tolist"] += 1
        return self._values.tolist()


def refusal(name: str) -> Any:
    """A method by which Python or NumPy would bring an array home without being asked."""

    def refuse(self: Array, *args: Any, **options: Any) -> Any:
        raise TypeError(f"{name}: an array on the stand-in device is not brought to the host implicitly")

    return refuse


for _name in ("__array__", "__bool__", "__buffer__", "__complex__", "__float__", "__index__", "__int__"):
    setattr(Array, _name, refusal(_name))


def binary(word: str, *, swapped: bool = False) -> Any:
    """An operator between two arrays of the stand-in's, or one and a number."""
    apply = getattr(operator, f"__{word}__")

    def method(self: Array, other: Any) -> Any:
        mine, others = self._values, at_home(other)
        return on_device(apply(others, mine) if swapped else apply(mine, others))

    return method


def in_place(word: str) -> Any:
    """An operator that writes into its array."""
    apply = getattr(operator, f"__i{word}__")

    def method(self: Array, other: Any) -> Any:
        apply(self._values, at_home(other))
        return self

    return method


def unary(word: str) -> Any:
    """An operator on one array."""
    apply = getattr(operator, f"__{word}__")
    return lambda self: on_device(apply(self._values))


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
              "lshift", "rshift"):  # fmt: skip
    setattr(Array, f"__{_word}__", binary(_word))
    setattr(Array, f"__r{_word}__", binary(_word, swapped=True))
    setattr(Array, f"__i{_word}__", in_place(_word))
for _word in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_word}__", binary(_word))
for _word in ("neg", "pos", "abs", "invert"):
    setattr(Array, f"__{_word}__", unary(_word))


# Between the library and NumPy --------------------------------------------------------------------


def at_home(value: Any) -> Any:
    """An argument as NumPy may compute with it; an array of NumPy's own is on the wrong device."""
    if isinstance(value, Array):
        return value._values
    if isinstance(value, np.ndarray):
        raise TypeError(f"an array of NumPy's, of shape {value.shape}, beside one on the stand-in device")
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [at_home(part) for part in value] if isinstance(value, list) else tuple(map(at_home, value))
    return value


def as_index(index: Any) -> Any:
    """An index; arrays from the host are sent along."""
    if isinstance(index, tuple):
        return tuple(as_index(part) for part in index)
    return index._values if isinstance(index, Array) else index


def on_device(value: Any) -> Any:
    """A result of NumPy's as the library gives it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(value)
    if isinstance(value, (list, tuple)) and any(isinstance(part, (np.ndarray, np.generic)) for part in value):
        return list(map(on_device, value)) if isinstance(value, list) else tuple(map(on_device, value))
    return value


def device_function(function: Any) -> Any:
    """A function of NumPy's between arrays of the library."""

    def call(*args: Any, **options: Any) -> Any:
        options = {name: at_home(value) for name, value in options.items()}
        return on_device(function(*map(at_home, args), **options))

    return call


class Ufunc:
    """A ufunc: called, or one of its methods that CuPy has too."""

    def __init__(self, function: Any):
        self.__name__ = function.__name__
        self._function = function

    def __call__(self, *args: Any, **options: Any) -> Any:
        return device_function(self._function)(*args, **options)

    def at(self, x: Array, index: Any, *values: Any) -> None:
        """The function applied in place, once for each place that the index names."""
        self._function.at(x._values, as_index(index), *map(at_home, values))

    def reduce(self, *args: Any, **options: Any) -> Any:
        """Sums and products."""
        return self._sums_and_products("reduce")(*args, **options)

    def accumulate(self, *args: Any, **options: Any) -> Any:
        """Running sums and products."""
        return self._sums_and_products("accumulate")(*args, **options)

    def _sums_and_products(self, method: str) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"{self.__name__}.{method} is not there on the stand-in device")
        return device_function(getattr(self._function, method))


class Grid:
    """`ogrid[...]` and its like: a library's object that is indexed to make arrays."""

    def __init__(self, grid: Any):
        self._grid = grid

    def __getitem__(self, index: Any) -> Any:
        return on_device(self._grid[index])


class Library(ModuleType):
    """A module with NumPy's names, whose functions take and return the stand-in's arrays."""

    def __init__(self, name: str, source: Any):
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._source, name)
        if isinstance(found, np.ufunc):
            return Ufunc(found)
        if isinstance(found, ModuleType):
            return Library(f"{self.__name__}.{name}", found)
        if hasattr(found, "__getitem__") and not isinstance(found, type):
            return Grid(found)
        return found if isinstance(found, type) or not callable(found) else device_function(found)


library = Library("stand_in", np)
library.ndarray = Array


def _from_anywhere(values: Any, dtype: Any = None, copy: bool = True) -> Array:
    home = values._values if isinstance(values, Array) else values
    return Array(np.array(home, dtype, copy=copy or None))


library.array = _from_anywhere
library.asarray = lambda values, dtype=None: _from_anywhere(values, dtype, copy=False)
