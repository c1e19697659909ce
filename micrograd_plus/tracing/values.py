"""Values in a trace: whole when small, else statistics, a corner and a thumbnail."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from ..backends import devices
from ..backends.shapes import is_sequence

np = devices.device("cpu").library
WHOLE, CORNER, CELLS, DIGITS = 64, 4, 1024, 5


def counted(count: int, word: str) -> str:
    """So many: `1 node`, `2 nodes`."""
    return f"{count} {word}{'s' * (count != 1)}"


class Fields:
    """What consists of fields that its slots name; those that are not given are None."""

    __slots__ = ()

    def __init__(self, **fields: Any):
        for name in self.__slots__:
            setattr(self, name, fields.get(name))

    def to_dict(self) -> dict[str, Any]:
        """The fields, as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


class Stored(Fields):
    """A value of a loaded trace: its shape and dtype, what is known of its entries, and `data` when it is whole."""

    __slots__ = ("shape", "dtype", "device", "data", "corner", "thumbnail", "statistics", "nan", "inf")  # noqa: RUF023 - as in files

    shape: tuple[int, ...]
    dtype: str
    device: str
    data: list[Any] | None
    corner: dict[str, Any] | None
    thumbnail: dict[str, Any] | None
    statistics: dict[str, Any] | None
    nan: int
    inf: int

    def __init__(self, fields: dict[str, Any]):
        super().__init__(**fields)
        self.shape = tuple(self.shape)

    def to_dict(self) -> dict[str, Any]:
        """The fields, as plain data."""
        return super().to_dict() | {"shape": list(self.shape)}

    def numpy(self) -> Any:
        """The value as an array; only a whole one has all its entries."""
        if self.data is None:
            raise ValueError(f"this trace keeps only a summary of its value of shape {self.shape}")
        return entries(self.data, self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<value {self.shape} {self.dtype}>"


class Values:
    """The values of a trace, each written once; `place` says where."""

    def __init__(self) -> None:
        self.stored: list[dict[str, Any]] = []
        self._places: dict[Any, int] = {}
        self._kept: list[Any] = []

    def place(self, value: Any) -> int | None:
        """Where a value stands, or None for one that was not recorded."""
        if value is None:
            return None
        value = getattr(value, "_data", value)
        key = (type(value).__name__, repr(value)) if isinstance(value, (int, float, complex)) else id(value)
        if key not in self._places:
            self._places[key] = len(self.stored)
            self._kept.append(value)
            self.stored.append(value.to_dict() if isinstance(value, Stored) else described(value))
        return self._places[key]


def described(value: Any) -> dict[str, Any]:
    """A value as plain data. Entries in row-major order; what is not finite is spelled in letters."""
    if is_plain_number(value):
        return _of_number(value)
    device = devices.device_of(value).name
    array = np.asarray(value.get() if hasattr(value, "get") else value)
    whole = array.size <= WHOLE
    with np.errstate(all="ignore"):
        nan, inf = (int(test(array).sum()) if array.dtype.kind in "fc" else 0 for test in (np.isnan, np.isinf))
        told = statistics(array, nan or inf)
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "device": device,
        "data": plain(array) if whole else None,
        "corner": None if whole else _matrix(corner(array)),
        "thumbnail": None if whole else _matrix(thumbnail(array)),
        "statistics": told,
        "nan": nan,
        "inf": inf,
    }


def is_plain_number(value: Any) -> bool:
    """Whether a value is a number of Python's own, and finite: most are, where a network is made of single numbers."""
    return type(value) is float and math.isfinite(value)


def _of_number(value: float) -> dict[str, Any]:
    """A single number as plain data, at a tenth of what NumPy takes to find its statistics."""
    told = {"min": value, "max": value, "mean": value + 0.0, "norm": abs(value)}  # a mean is never -0
    return {"shape": [], "dtype": "float64", "device": "cpu", "data": [value], "corner": None, "thumbnail": None,
            "statistics": told, "nan": 0, "inf": 0}  # fmt: skip


def plain(array: Any) -> list[Any]:
    """The entries of an array as JSON can hold them."""
    return [_entry(number) for number in array.reshape(-1).tolist()]


def _entry(number: Any) -> Any:
    if isinstance(number, complex):
        return [_entry(number.real), _entry(number.imag)]
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def entries(data: list[Any], dtype: str) -> Any:
    """The reverse of `plain`: a flat array of the entries."""
    return np.array([_number(entry) for entry in data], dtype=dtype)


def _number(entry: float | str | list[float | str]) -> complex:
    if isinstance(entry, list):
        return complex(float(entry[0]), float(entry[1]))
    return float(entry) if isinstance(entry, str) else entry


def _matrix(array: Any) -> dict[str, Any]:
    array = np.atleast_2d(array)
    return {"shape": list(array.shape), "data": plain(array)}


def corner(array: Any) -> Any:
    """The first rows and columns of the first matrix in an array."""
    return array[(0,) * max(array.ndim - 2, 0)][(slice(CORNER),) * min(array.ndim, 2)]


def thumbnail(array: Any) -> Any:
    """A picture of the array, seen as rows of its last axis: every entry of up to 1,024, else at most so many cells,
    each with the entry of largest size in its part of the array. Of complex numbers, their sizes."""
    matrix = np.abs(array) if array.dtype.kind == "c" else array
    matrix = np.atleast_2d(matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim > 1 else matrix)
    matrix = matrix if matrix.dtype.kind == "b" else matrix.astype(float)
    rows, columns = matrix.shape
    if matrix.dtype.kind == "b":
        matrix = matrix if matrix.size <= CELLS else matrix.astype(float)
    if matrix.size <= CELLS:
        return shortened(matrix)
    few = int(CELLS**0.5)
    cells = (rows, CELLS // rows) if rows <= few else (CELLS // columns, columns) if columns <= few else (few, few)
    for axis in (0, 1):
        if matrix.shape[axis] > cells[axis]:
            matrix = largest(matrix, axis, cells[axis])
    return shortened(matrix)


def shortened(matrix: Any) -> Any:
    """Numbers to five digits, which is more than a picture shows, and a quarter of what they would take in a file."""
    if matrix.dtype.kind == "b":
        return matrix
    with np.errstate(all="ignore"):
        powers = np.clip(DIGITS - 1 - np.floor(np.log10(np.abs(matrix))), -290, 290)
        scale = 10.0 ** np.where(np.isfinite(powers), powers, 0.0)
        short = np.round(matrix * scale) / scale
    return np.where(np.isfinite(short) & (short != 0), short, matrix)


def largest(matrix: Any, axis: int, cells: int) -> Any:
    """Along an axis, the entry of largest size in each of so many parts; a part with a nan is nan."""
    begins = np.linspace(0, matrix.shape[axis], cells + 1).astype(int)[:-1]
    high = np.maximum.reduceat(matrix, begins, axis=axis)
    low = np.minimum.reduceat(matrix, begins, axis=axis)
    return np.where(-low > high, low, high)


def statistics(array: Any, some_are_not_finite: Any = True) -> dict[str, float] | None:
    """Least, largest, mean and length of the entries that are finite."""
    sizes = np.abs(array) if array.dtype.kind == "c" else array
    finite = sizes[np.isfinite(sizes)] if some_are_not_finite and sizes.size else sizes
    if not finite.size:
        return None
    finite = finite.astype(float)
    top = float(np.abs(finite).max())
    length = float(np.linalg.norm(finite / top) * top) if top else 0.0
    numbers = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "norm": length}
    return {name: _entry(float(number)) for name, number in numbers.items()}


# What the record is told ----


def bare(value: Any) -> Any:
    """The array or number itself."""
    return getattr(value, "_data", value)


def of_outputs(upstream: Any) -> TypeGuard[list[Any]]:
    """Whether an upstream is a list: one for each of several outputs, None where nothing arrived."""
    return isinstance(upstream, list)


def first_of(upstream: Any) -> Any:
    """An upstream; of several the first that arrived."""
    return next(part for part in upstream if part is not None) if of_outputs(upstream) else upstream


def same_entries(a: Any, b: Any) -> bool:
    """Whether two arrays hold the same, bit by bit."""
    if getattr(a, "shape", None) != getattr(b, "shape", None) or getattr(a, "dtype", None) != getattr(b, "dtype", None):
        return False
    return not hasattr(a, "tobytes") or a.tobytes() == b.tobytes()


def spelled(value: Any) -> str:
    """A parameter as Python would print it; arrays by shape."""
    if hasattr(value, "shape") and getattr(value, "ndim", 0):
        return f"array of shape {tuple(value.shape)}"
    return getattr(value, "__name__", None) or str(value)


def one_by_one(reads: dict[str, Any]) -> dict[str, Any]:
    """What a rule read, a list of arrays one by one, under the names that formulas have for them: `parts[0]`."""
    named: dict[str, Any] = {}
    for name, value in reads.items():
        if is_sequence(value) and all(hasattr(each, "dtype") for each in value):
            named |= {f"{name}[{i}]": each for i, each in enumerate(value)}
        else:
            named[name] = value
    return named
