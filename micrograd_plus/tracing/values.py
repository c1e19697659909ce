"""Values in a trace: in full when small, otherwise statistics, a corner and a thumbnail."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeGuard

from ..backends import devices
from ..backends.shapes import is_sequence

np = devices.device("cpu").library
MOST_IN_FULL, CORNER, CELLS, DIGITS = 64, 4, 1024, 5


def with_noun(count: int, noun: str) -> str:
    """Return a count with its noun: `1 node`, `2 nodes`."""
    return f"{count} {noun}{'s' * (count != 1)}"


# Arrays -------------------------------------------------------------------------------------------------------------


def array_of(value: Any) -> Any:
    """Return the array or number that a variable holds, and any other value unchanged."""
    return getattr(value, "_data", value)


def host_array(value: Any) -> Any:
    """Return a value as a NumPy array, copied from its device if need be."""
    value = array_of(value)
    return np.asarray(value.get() if hasattr(value, "get") else value)


def is_finite_float(value: Any) -> bool:
    """Return whether a value is a finite Python float, as most are in a network of single numbers."""
    return type(value) is float and math.isfinite(value)


def is_shown_as_value(value: Any) -> bool:
    """Return whether a step shows what its rule read as a value: an array or a number."""
    return hasattr(value, "dtype") or isinstance(value, (int, float, complex))


def has_same_entries(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal bit by bit."""
    if getattr(a, "shape", None) != getattr(b, "shape", None) or getattr(a, "dtype", None) != getattr(b, "dtype", None):
        return False
    return not hasattr(a, "tobytes") or a.tobytes() == b.tobytes()


def mute_warnings() -> AbstractContextManager[None]:
    """Return a block in which NumPy warns of no division by zero, overflow or nan."""
    return np.errstate(all="ignore")


# What rules read ----------------------------------------------------------------------------------------------------


def is_per_output(upstream: Any) -> TypeGuard[list[Any]]:
    """Return whether an upstream is a list with one entry for each output, None if nothing arrived there."""
    return isinstance(upstream, list)


def first_upstream(upstream: Any) -> Any:
    """Return an upstream; of a list, the first entry that arrived."""
    return next(part for part in upstream if part is not None) if is_per_output(upstream) else upstream


def separate_arrays(reads: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    """Split up each list of arrays that a rule read, under the names of formulas: `parts[0]`; of long lists, the first
    `most` arrays."""
    separate: dict[str, Any] = {}
    for name, value in reads.items():
        if is_sequence(value) and all(hasattr(each, "dtype") for each in value[:most]):
            separate |= {f"{name}[{i}]": each for i, each in enumerate(value[:most])}
        else:
            separate[name] = value
    return separate


def param_text(value: Any) -> str:
    """Return a parameter as Python prints it, and an array by its shape."""
    if hasattr(value, "shape") and getattr(value, "ndim", 0):
        return f"array of shape {tuple(value.shape)}"
    return getattr(value, "__name__", None) or str(value)


def number_text(number: complex) -> str:
    """Return a number with all its digits if there are at most six, otherwise with four, as the player has it."""
    if isinstance(number, complex):
        return f"{number:.4g}"
    six, four = float(f"{number:.6g}"), float(f"{number:.4g}")
    return f"{six if abs(six - number) <= 1e-12 * abs(number) else four:.6g}"


# Plain data ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Stored:
    """A value of a loaded trace: its shape and dtype, its `data` if the file has it, otherwise a summary."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    data: list[Any] | None
    corner: dict[str, Any] | None
    thumbnail: dict[str, Any] | None
    statistics: dict[str, Any] | None
    nan: int
    inf: int

    def __post_init__(self) -> None:
        self.shape = tuple(self.shape)

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain data, as it was in the file."""
        return {name: getattr(self, name) for name in self.__slots__} | {"shape": list(self.shape)}

    def numpy(self) -> Any:
        """Return the value as an array; ValueError if the file has only a summary."""
        if self.data is None:
            raise ValueError(f"this trace keeps only a summary of its value of shape {self.shape}")
        return np.array([_parse_entry(entry) for entry in self.data], dtype=self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return f"<value {self.shape} {self.dtype}>"


class ValueTable:
    """The values of a trace as plain data, each written once."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._indices: dict[Any, int] = {}
        self._references: list[Any] = []  # so that ids stay unique

    def index(self, value: Any) -> int | None:
        """Return the index of a value's row, which is added if it is new; None for a value that was not recorded."""
        if value is None:
            return None
        value = array_of(value)
        key = (type(value).__name__, repr(value)) if isinstance(value, (int, float, complex)) else id(value)
        if key not in self._indices:
            self._indices[key] = len(self.rows)
            self._references.append(value)
            self.rows.append(value.to_dict() if isinstance(value, Stored) else value_to_dict(value))
        return self._indices[key]


def count_not_finite(array: Any) -> tuple[int, int]:
    """Return how many entries are nan, and how many are infinite: complex ones by their size."""
    sizes = np.abs(array) if array.dtype.kind == "c" else array
    return (int(np.isnan(sizes).sum()), int(np.isinf(sizes).sum())) if sizes.dtype.kind == "f" else (0, 0)


def value_to_dict(value: Any) -> dict[str, Any]:
    """Return a value as plain data: entries in row-major order, with nan and infinity as text."""
    if is_finite_float(value):
        return _float_to_dict(value)
    device = devices.device_of(value).name
    array = host_array(value)
    in_full = array.size <= MOST_IN_FULL
    with mute_warnings():
        nan, inf = count_not_finite(array)
        summary = statistics(array, nan or inf)
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "device": device,
        "data": json_entries(array) if in_full else None,
        "corner": None if in_full else _matrix_to_dict(corner(array)),
        "thumbnail": None if in_full else _matrix_to_dict(thumbnail(array)),
        "statistics": summary,
        "nan": nan,
        "inf": inf,
    }


def _float_to_dict(value: float) -> dict[str, Any]:
    """Return a finite number as plain data, ten times as fast as through NumPy's statistics."""
    summary = {"min": value, "max": value, "mean": value + 0.0, "norm": abs(value)}  # a mean is never -0
    return {"shape": [], "dtype": "float64", "device": "cpu", "data": [value], "corner": None, "thumbnail": None,
            "statistics": summary, "nan": 0, "inf": 0}  # fmt: skip


def json_entries(array: Any) -> list[Any]:
    """Return the entries of an array as JSON can hold them."""
    entries = array.reshape(-1).tolist()
    needs_no_text = array.dtype.kind in "biu" or (array.dtype.kind == "f" and np.isfinite(array).all())
    return entries if needs_no_text else [_json_entry(entry) for entry in entries]


def _json_entry(number: Any) -> Any:
    if isinstance(number, complex):
        return [_json_entry(number.real), _json_entry(number.imag)]
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def _parse_entry(entry: float | str | list[float | str]) -> complex:
    """Return the number that an entry of a file stands for; the reverse of `_json_entry`."""
    if isinstance(entry, list):
        real, imaginary = map(float, entry)
        return complex(real, imaginary)
    return float(entry) if isinstance(entry, str) else entry


# Summaries ----------------------------------------------------------------------------------------------------------


def _matrix_to_dict(array: Any) -> dict[str, Any]:
    array = np.atleast_2d(array)
    return {"shape": list(array.shape), "data": json_entries(array)}


def corner(array: Any) -> Any:
    """Return the first rows and columns of the first matrix in an array."""
    return array[(0,) * max(array.ndim - 2, 0)][(slice(CORNER),) * min(array.ndim, 2)]


def thumbnail(array: Any) -> Any:
    """Return a small picture of an array, seen as a matrix of rows of its last axis.

    It has every entry of an array of up to 1,024 entries. A larger array is divided into at most 1,024 blocks, and the
    picture has the entry of largest size in each. For complex numbers it shows absolute values.
    """
    matrix = np.abs(array) if array.dtype.kind == "c" else array
    matrix = np.atleast_2d(matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim > 1 else matrix)
    matrix = matrix if matrix.dtype.kind == "b" else matrix.astype(float)
    rows, columns = matrix.shape
    if matrix.dtype.kind == "b":
        matrix = matrix if matrix.size <= CELLS else matrix.astype(float)
    if matrix.size <= CELLS:
        return round_to_digits(matrix)
    few = int(CELLS**0.5)
    cells = (rows, CELLS // rows) if rows <= few else (CELLS // columns, columns) if columns <= few else (few, few)
    for axis in (0, 1):
        if matrix.shape[axis] > cells[axis]:
            matrix = largest_in_blocks(matrix, axis, cells[axis])
    return round_to_digits(matrix)


def round_to_digits(matrix: Any) -> Any:
    """Round numbers to five digits: more than a picture shows, and a quarter of their length in a file."""
    if matrix.dtype.kind == "b":
        return matrix
    with mute_warnings():
        powers = np.clip(DIGITS - 1 - np.floor(np.log10(np.abs(matrix))), -290, 290)
        scale = 10.0 ** np.where(np.isfinite(powers), powers, 0.0)
        short = np.round(matrix * scale) / scale
    return np.where(np.isfinite(short) & (short != 0), short, matrix)


def largest_in_blocks(matrix: Any, axis: int, blocks: int) -> Any:
    """Return the entry of largest size in each block of an axis; nan for a block that contains nan."""
    starts = np.linspace(0, matrix.shape[axis], blocks + 1).astype(int)[:-1]
    high = np.maximum.reduceat(matrix, starts, axis=axis)
    low = np.minimum.reduceat(matrix, starts, axis=axis)
    return np.where(-low > high, low, high)


def statistics(array: Any, has_others: Any = True) -> dict[str, float] | None:
    """Return the minimum, maximum, mean and norm of the finite entries; None if there are none.

    `has_others` says whether some entries may not be finite.
    """
    sizes = np.abs(array) if array.dtype.kind == "c" else array
    finite = sizes[np.isfinite(sizes)] if has_others and sizes.size else sizes
    if not finite.size:
        return None
    finite = finite.astype(float)
    top = float(np.abs(finite).max())
    norm = float(np.linalg.norm(finite / top) * top) if top else 0.0
    numbers = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "norm": norm}
    return {name: _json_entry(float(number)) for name, number in numbers.items()}
