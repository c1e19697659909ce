"""A stand-in for the array library of another device: NumPy's results in arrays that NumPy cannot read.

On a GPU, an implicit copy to the host is slow or an error. Here it is always an error: an array of this library cannot
become a NumPy array, a number or a bool, and cannot be mixed with NumPy arrays. Explicit copies (`get`, `item`,
`tolist`) work, and are counted in `copies`.

It has only what CuPy has, read from `cupy_names.json`: functions, their arguments, and the loops of ufuncs. As in CuPy,
a sum is an array without axes and not a scalar, a view has its base, results of ufuncs are C-contiguous, nothing is
read-only, lists are not arrays, an array from the host can be an index, only sums and products can be running ones, and
complex numbers cannot be added at indices."""

import inspect
import json
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

copies: Counter[str] = Counter()
"""Number of copies to the host, by the method that made them."""

CUPY = json.loads(Path(__file__).with_name("cupy_names.json").read_text(encoding="utf-8"))


class Array:
    """Array of the stand-in; `base` is the array that it is a view of, or None."""

    __slots__ = ("__weakref__", "_values", "base")
    __array_ufunc__ = None  # NumPy hands an operator back to us, and refuses everything else
    __hash__ = None

    def __init__(self, values: Any, base: Any = None):
        self._values, self.base = np.asarray(values), base

    def __getattr__(self, name: str) -> Any:
        if name in CUPY["methods"]:
            return device_function(getattr(self._values, name), CUPY["methods"][name], self)
        if name in CUPY["attributes"]:
            return on_device(getattr(self._values, name), [self])
        raise AttributeError(f"an array of CuPy's has no {name}")

    @property
    def flags(self) -> Any:
        """Return the memory layout; CuPy has no flag for writing."""
        flags = self._values.flags
        return SimpleNamespace(
            c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous, owndata=self.base is None
        )

    def __repr__(self) -> str:
        return f"stand-in array of shape {self.shape}"

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return on_device(self._values[as_index(index)], [self])

    def __setitem__(self, index: Any, values: Any) -> None:
        refuse_sequences("an assignment", [values])
        self._values[as_index(index)] = at_home(values)

    def get(self) -> Any:
        """Return a copy of the entries on the host."""
        copies["get"] += 1
        return self._values.copy()

    def item(self) -> Any:
        """Return the only entry as a number of the host."""
        copies["item"] += 1
        return self._values.item()

    def tolist(self) -> Any:
        """Return the entries as lists of the host."""
        copies["tolist"] += 1
        return self._values.tolist()


def refusal(name: str) -> Any:
    """Return a method that raises an error for an implicit copy to the host."""

    def refuse(self: Array, *args: Any, **options: Any) -> Any:
        raise TypeError(f"{name}: an array on the stand-in device is not brought to the host implicitly")

    return refuse


for _name in ("__array__", "__bool__", "__buffer__", "__complex__", "__float__", "__index__", "__int__"):
    setattr(Array, _name, refusal(_name))


# Conversion between the fake library and NumPy ----------------------------------------------------


def at_home(value: Any) -> Any:
    """Return an argument for NumPy to compute with. An array of NumPy is on the wrong device."""
    if isinstance(value, Array):
        return value._values
    if isinstance(value, np.ndarray):
        raise TypeError(f"an array of NumPy's, of shape {value.shape}, beside one on the stand-in device")
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [at_home(part) for part in value] if isinstance(value, list) else tuple(map(at_home, value))
    return value


def as_index(index: Any) -> Any:
    """Return an index; arrays from the host are copied to the device."""
    if isinstance(index, tuple):
        return tuple(as_index(part) for part in index)
    return index._values if isinstance(index, Array) else index


def on_device(value: Any, sources: Any = ()) -> Any:
    """Return a result of NumPy as an array of the library: one of the `sources`, a view of one, or a new array."""
    if isinstance(value, (np.ndarray, np.generic)):
        for each in sources:
            if value is each._values:
                return each
            if isinstance(value, np.ndarray) and np.may_share_memory(value, each._values):
                base = each if each.base is None else each.base
                return each if is_whole_view(value, each._values) else Array(value, base)
        return Array(value)
    if isinstance(value, (list, tuple)) and any(isinstance(part, (np.ndarray, np.generic)) for part in value):
        parts = [on_device(part, sources) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def is_whole_view(view: Any, array: Any) -> bool:
    """Return True if a view is all of an array in the same order; CuPy then may return the array itself."""
    return view.__array_interface__ == array.__array_interface__


def arrays_in(values: Any) -> list[Array]:
    """Yield the arrays among some arguments, and in lists and tuples of them."""
    found: list[Array] = []
    for value in values:
        found += [value] if isinstance(value, Array) else arrays_in(value) if isinstance(value, (list, tuple)) else []
    return found


def refuse_sequences(name: str, values: Any) -> None:
    """Raise TypeError for a list, which CuPy does not convert."""
    if any(isinstance(value, (list, tuple)) for value in values):
        raise TypeError(f"{name} was given a list, which CuPy makes no array of")


@cache
def arguments(said: str) -> inspect.Signature:
    """Return the arguments of a CuPy function, from its signature."""
    return inspect.signature(eval(f"lambda {said}: None"))  # noqa: S307 - our own list


ARRAY_FIRST = {"a", "A", "M", "array", "ary", "condition", "m", "prototype", "v", "val", "x", "z"}
"""CuPy's names for a first argument that must be an array, not a number."""


def device_function(function: Any, said: str, owner: Array | None = None) -> Any:
    """Return a NumPy function on arrays of the library, with the arguments that CuPy has."""
    expected = arguments(said)

    def call(*args: Any, **options: Any) -> Any:
        given = expected.bind(*args, **options).arguments
        first = next(iter(given), None)
        if owner is None and first in ARRAY_FIRST and not isinstance(given[first], Array):
            raise TypeError(f"{function.__name__}: {first} must be an array of the library's, got {type(given[first])}")
        sources = arrays_in((owner, *args, *options.values()))
        options = {name: at_home(value) for name, value in options.items()}
        return on_device(function(*map(at_home, args), **options), sources)

    return call


# Ufuncs -------------------------------------------------------------------------------------------

SCATTERED = "efdilqILQ"
"""The dtypes that CuPy can add at places."""

KINDS = {bool: 0, int: 1, float: 2, complex: 3, "b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


@cache
def loop_for(name: str, given: tuple[Any, ...]) -> str:
    """Return the dtype of a ufunc's result: of its first loop that takes all arguments, as in CuPy.

    `given` has the dtypes of arrays and the types of numbers.
    """
    arrays = [KINDS[each.kind] for each in given if isinstance(each, np.dtype)]
    numbers = [KINDS[each] for each in given if isinstance(each, type)]
    if not arrays or (numbers and max(arrays) < max(numbers)):
        given = tuple(map(np.dtype, given))
    for loop in CUPY["ufuncs"][name]:
        taken, made = loop.split("->")
        if all(map(takes, taken, given)):
            return made
    raise TypeError(f"CuPy's {name} takes no {', '.join(map(str, given))}")


def takes(letter: str, given: Any) -> bool:
    """Return True if a loop over one dtype takes an argument."""
    if isinstance(given, np.dtype):
        return np.can_cast(given, letter)
    return isinstance(given, type) and letter != "?" and np.result_type(given(0), letter) == letter


def type_of(value: Any) -> Any:
    """Return the dtype of an array or NumPy scalar, or the type of a number; a bool has a dtype."""
    return type(value) if type(value) in (int, float, complex) else np.result_type(at_home(value))


class Ufunc:
    """A ufunc, with the methods that CuPy has."""

    def __init__(self, name: str, function: Any):
        self.__name__, self._function = name, function

    def __call__(self, *args: Any, out: Any = None) -> Any:
        refuse_sequences(self.__name__, args)
        made = loop_for(self.__name__, tuple(map(type_of, args)))
        values = self._function(*map(at_home, args))
        if out is None:
            return Array(np.array(values, made, order="C", copy=None))
        np.copyto(out._values, np.asarray(values).astype(made, copy=False), casting="same_kind")
        return out

    def at(self, x: Array, index: Any, values: Array) -> None:
        """Apply the function in place, once for each index."""
        if self.__name__ != "add" or x.dtype.char not in SCATTERED:
            raise TypeError(f"{self.__name__}.at is not there for {x.dtype} on the stand-in device")
        self._function.at(x._values, as_index(index), at_home(values))

    def reduce(self, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        """Return sums or products."""
        return self._sums_and_products("reduce", array, axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def accumulate(self, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Return running sums or products."""
        return self._sums_and_products("accumulate", array, axis=axis, dtype=dtype, out=out)

    def _sums_and_products(self, method: str, array: Array, **options: Any) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"{self.__name__}.{method} is not there on the stand-in device")
        options = {name: at_home(value) for name, value in options.items()}
        return on_device(getattr(self._function, method)(array._values, **options), [array])


def binary(word: str, *, swapped: bool = False) -> Any:
    """Return an operator between two arrays of the stand-in, or one and a number."""
    return lambda self, other: operator_function(word)(other, self) if swapped else operator_function(word)(self, other)


def in_place(word: str) -> Any:
    """Return an operator that writes into its array."""
    return lambda self, other: operator_function(word)(self, other, out=self)


def operator_function(word: str) -> Any:
    """Return the function of the library that an operator stands for."""
    return getattr(library, word)


OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
for _word, _function in OPERATORS.items():
    setattr(Array, f"__{_word}__", binary(_function))
    setattr(Array, f"__r{_word}__", binary(_function, swapped=True))
    setattr(Array, f"__i{_word}__", in_place(_function))
for _word, _function in COMPARISONS.items():
    setattr(Array, f"__{_word}__", binary(_function))
for _word, _function in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(Array, f"__{_word}__", lambda self, _function=_function: operator_function(_function)(self))


# The library --------------------------------------------------------------------------------------


class Grid:
    """`ogrid[...]` and similar objects that are indexed to make arrays."""

    def __init__(self, grid: Any):
        self._grid = grid

    def __getitem__(self, index: Any) -> Any:
        return on_device(self._grid[index])


class Library(ModuleType):
    """A module with CuPy's names, whose functions take and return the stand-in's arrays."""

    def __init__(self, name: str, source: Any):
        super().__init__(name)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found, full = getattr(self._source, name), f"{self.__name__}.{name}".partition(".")[2]
        if full in CUPY["ufuncs"]:
            return Ufunc(full, found)
        if full in CUPY["functions"]:
            return device_function(found, CUPY["functions"][full])
        if isinstance(found, ModuleType):
            return Library(f"{self.__name__}.{name}", found)
        if full not in CUPY["values"]:
            raise AttributeError(f"CuPy {CUPY['version']} has no {full}")
        return Grid(found) if hasattr(found, "__getitem__") and not isinstance(found, type) else found


def library_with_name(name: str) -> Library:
    """Return the library under another name."""
    made = Library(name, np)
    made.ndarray = Array
    made.array = _from_anywhere
    made.asarray = lambda values, dtype=None: _from_anywhere(values, dtype, copy=False)
    return made


def _from_anywhere(values: Any, dtype: Any = None, copy: bool = True) -> Array:
    if isinstance(values, Array):
        return values.astype(dtype or values.dtype, copy=copy)
    return Array(np.array(values, dtype))


library = library_with_name("stand_in")
