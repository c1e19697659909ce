"""Values in a trace: whole when small, else statistics, a corner and a thumbnail."""

from __future__ import annotations

import math
from typing import Any

from ..readings import vocabulary

np = vocabulary.device("cpu").library
WHOLE, CORNER, THUMBNAIL = 64, 4, 16


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

    __slots__ = ("shape", "dtype", "device", "data", "corner", "thumbnail", "statistics")  # noqa: RUF023 - as in files

    shape: tuple[int, ...]
    dtype: str
    device: str
    data: list[Any] | None
    corner: dict[str, Any] | None
    thumbnail: dict[str, Any] | None
    statistics: dict[str, Any] | None

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
    device = vocabulary.device_of(value).name
    array = np.asarray(value.get() if hasattr(value, "get") else value)
    whole = array.size <= WHOLE
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "device": device,
        "data": plain(array) if whole else None,
        "corner": None if whole else _matrix(corner(array)),
        "thumbnail": None if whole else _matrix(thumbnail(array)),
        "statistics": statistics(array),
    }


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
    """A picture of at most 16 by 16 cells, each the mean of its part of the array, seen as rows of its last axis."""
    matrix = np.abs(array) if array.dtype.kind == "c" else array
    matrix = np.atleast_2d(matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim > 1 else matrix).astype(float)
    for axis in (0, 1):
        length = matrix.shape[axis]
        if length > THUMBNAIL:
            edges = np.linspace(0, length, THUMBNAIL + 1).astype(int)
            sums = np.add.reduceat(matrix, edges[:-1], axis=axis)
            widths = np.diff(edges)
            matrix = sums / (widths[:, None] if axis == 0 else widths)
    return matrix


def statistics(array: Any) -> dict[str, float] | None:
    """Least, largest, mean and length of the entries that are finite."""
    sizes = np.abs(array) if array.dtype.kind == "c" else array
    finite = sizes[np.isfinite(sizes)].astype(float) if sizes.size else sizes
    if not finite.size:
        return None
    top = float(np.abs(finite).max())
    length = float(np.linalg.norm(finite / top) * top) if top else 0.0
    numbers = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "norm": length}
    return {name: _entry(float(number)) for name, number in numbers.items()}
