"""A stand-in for the array library of another device: NumPy's sums in arrays that NumPy may not see into.

On a GPU an array that is silently brought home is slow, or an error. Here it is always an error: an array of
this library refuses to become a NumPy array, a number or a truth, and to be mixed with NumPy's arrays. What
is asked for by name (`get`, `item`, `tolist`) is given, and counted in `copies`.

It has what CuPy has and no more, read from `cupy_names.json`: functions, their arguments, the loops of ufuncs and
what comes out of them. As in CuPy a sum is an array of no axes and never a scalar, a view knows the array whose memory
it looks into, results of ufuncs lie in C order, nothing is read-only, lists are no arrays, an array from the host may
be an index, only sums and products can be running ones, and complex numbers cannot be added at places.
"""

import inspect
import json
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

copies: Counter[str] = Counter()
"""How often each way home was taken."""

CUPY = json.loads(Path(__file__).with_name("cupy_names.json").read_text(encoding="utf-8"))


class Array:
    """An array of the stand-in's own; `base` is the array whose memory it looks into, or None."""

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
        """How the entries lie in memory; whether they may be written is not among it."""
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


def on_device(value: Any, sources: Any = ()) -> Any:
    """A result of NumPy's as the library gives it: one of the `sources` itself, a view of one, or a new array."""
    if isinstance(value, (np.ndarray, np.generic)):
        for each in sources:
            if value is each._values:
                return each
            if isinstance(value, np.ndarray) and np.may_share_memory(value, each._values):
                return each if whole(value, each._values) else Array(value, each if each.base is None else each.base)
        return Array(value)
    if isinstance(value, (list, tuple)) and any(isinstance(part, (np.ndarray, np.generic)) for part in value):
        parts = [on_device(part, sources) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def whole(view: Any, array: Any) -> bool:
    """Whether a view is all of an array, as it lies there: some of CuPy's functions then give the array itself."""
    return view.__array_interface__ == array.__array_interface__


def arrays_in(values: Any) -> list[Array]:
    """The arrays among some arguments, and in lists and tuples of them."""
    found: list[Array] = []
    for value in values:
        found += [value] if isinstance(value, Array) else arrays_in(value) if isinstance(value, (list, tuple)) else []
    return found


def refuse_sequences(name: str, values: Any) -> None:
    """CuPy makes no array of a list by itself."""
    if any(isinstance(value, (list, tuple)) for value in values):
        raise TypeError(f"{name} was given a list, which CuPy makes no array of")


@cache
def arguments(said: str) -> inspect.Signature:
    """Which arguments a function of CuPy's takes, from how they are written."""
    return inspect.signature(eval(f"lambda {said}: None"))  # noqa: S307 - our own list


ARRAY_FIRST = {"a", "A", "M", "array", "ary", "condition", "m", "prototype", "v", "val", "x", "z"}
"""What CuPy calls a first argument that has to be an array of its own, and no number."""


def device_function(function: Any, said: str, owner: Array | None = None) -> Any:
    """A function of NumPy's between arrays of the library, with the arguments that CuPy has."""
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
    """The dtype of a ufunc's result: of its first loop that takes all arguments, as CuPy looks for it. `given` has the
    dtypes of arrays, and the types of plain numbers, which fit beside every array of their kind or a higher one."""
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
    """Whether a loop over one dtype takes an argument."""
    if isinstance(given, np.dtype):
        return np.can_cast(given, letter)
    return isinstance(given, type) and letter != "?" and np.result_type(given(0), letter) == letter


def type_of(value: Any) -> Any:
    """The dtype of an array or of a NumPy scalar, the type of a plain number; a truth has a dtype."""
    return type(value) if type(value) in (int, float, complex) else np.result_type(at_home(value))


class Ufunc:
    """A ufunc: called, or one of its methods that CuPy has too."""

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
        """The function applied in place, once for each place that the index names."""
        if self.__name__ != "add" or x.dtype.char not in SCATTERED:
            raise TypeError(f"{self.__name__}.at is not there for {x.dtype} on the stand-in device")
        self._function.at(x._values, as_index(index), at_home(values))

    def reduce(self, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        """Sums and products."""
        return self._sums_and_products("reduce", array, axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def accumulate(self, array: Array, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Running sums and products."""
        return self._sums_and_products("accumulate", array, axis=axis, dtype=dtype, out=out)

    def _sums_and_products(self, method: str, array: Array, **options: Any) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"{self.__name__}.{method} is not there on the stand-in device")
        options = {name: at_home(value) for name, value in options.items()}
        return on_device(getattr(self._function, method)(array._values, **options), [array])


def binary(word: str, *, swapped: bool = False) -> Any:
    """An operator between two arrays of the stand-in's, or one and a number."""
    return lambda self, other: named(word)(other, self) if swapped else named(word)(self, other)


def in_place(word: str) -> Any:
    """An operator that writes into its array."""
    return lambda self, other: named(word)(self, other, out=self)


def named(word: str) -> Any:
    """The function of the library that an operator stands for."""
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
    setattr(Array, f"__{_word}__", lambda self, _function=_function: named(_function)(self))


# The library --------------------------------------------------------------------------------------


class Grid:
    """`ogrid[...]` and its like: a library's object that is indexed to make arrays."""

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


def library_named(name: str) -> Library:
    """The library, under a name of its own."""
    made = Library(name, np)
    made.ndarray = Array
    made.array = _from_anywhere
    made.asarray = lambda values, dtype=None: _from_anywhere(values, dtype, copy=False)
    return made


def _from_anywhere(values: Any, dtype: Any = None, copy: bool = True) -> Array:
    if isinstance(values, Array):
        return values.astype(dtype or values.dtype, copy=copy)
    return Array(np.array(values, dtype))


library = library_named("stand_in")
