"""Conversion of values, dtypes and indices that tensors take, with messages for all others."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

from typing import Any

from ..backends import devices
from ..core.messages import MIXED_GRAPH, NONE_HINT
from ..core.variable import Variable

np = devices.device("cpu").library
_ORDINARY = (np.ndarray, np.generic)


class Count(int):
    """Number of entries: `x.size`, as in NumPy. Called, as in PyTorch, it returns the shape or a length."""

    shape: tuple[int, ...]

    def __new__(cls, array: Any) -> Count:
        """Return the number of entries of an array."""
        count = super().__new__(cls, array.size)
        count.shape = array.shape
        return count

    def __call__(self, dim: int | None = None) -> Any:
        """Return the shape, or the length of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def __reduce__(self) -> Any:
        return int, (int(self),)


def numbers(data: Any, dtype: Any, name: str) -> Any:
    """Return values as an array of numbers, or raise TypeError or ValueError."""
    if isinstance(data, Variable):
        data = data._data
    if data is None:
        raise TypeError(f"{name}: expected numbers, {NONE_HINT}")
    if devices.device_of(data).name == "cpu" and not isinstance(data, _ORDINARY):
        if isinstance(data, (list, tuple)) and any(isinstance(part, Variable) for part in data):
            raise TypeError(f"{name}: a list of tensors is joined by mg.stack (a new axis) or mg.concatenate")
        if any(hasattr(part, "made_by") for part in (data if isinstance(data, (list, tuple)) else (data,))):
            raise TypeError(f"{name}: {MIXED_GRAPH}")
        try:
            data = np.array(data)
        except ValueError as error:
            raise ValueError(f"{name}: all rows of a nested list must have the same length") from error
    _check_numbers(data.dtype, name)
    if not data.dtype.isnative:  # in the byte order of another machine
        data = data.astype(data.dtype.type)
    return data if dtype is None else cast(data, as_dtype(dtype, name), name)


def _check_numbers(dtype: Any, name: str) -> None:
    if dtype.kind not in "biufc":
        kind = {"U": "text", "S": "bytes", "O": "objects", "M": "dates", "m": "times"}.get(dtype.kind, "records")
        raise TypeError(f"{name}: expected numbers, got {kind} (dtype {dtype}); convert them first, e.g. with float()")


def as_dtype(dtype: Any, name: str) -> Any:
    """Return a dtype of numbers, by any of its names."""
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        instead = "write float, complex, int, bool, or e.g. 'float32'"
        raise TypeError(f"{name}: there is no dtype {dtype!r}; {instead}") from None
    _check_numbers(wanted, name)
    return np.dtype(wanted.type)  # NumPy's own object in the order of this machine: others compare it by `is`


def cast(data: Any, dtype: Any, name: str) -> Any:
    """Return a copy in another dtype; complex numbers do not silently lose their imaginary parts."""
    if data.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{name}: {data.dtype} as {dtype} would lose the imaginary parts; take x.real first")
    return data.astype(dtype)


def array_index(index: Any) -> Any:
    """Return an index with tensors converted to arrays; an operation that saves it takes a copy."""
    if type(index) is int or type(index) is slice:  # as nearly always
        return index
    if isinstance(index, tuple):
        return tuple([part if type(part) in (int, slice) else array_index(part) for part in index])
    if isinstance(index, list):
        return numbers([array_index(part) for part in index], None if index else int, "an index")
    return index._data if isinstance(index, Variable) else index


def refuse_other_device(where: Any, given: Any) -> None:
    """Raise ValueError for an upstream gradient on another device than its tensor, except on the host."""
    found = devices.device_of(given).name
    if found not in ("cpu", where.device):
        wanted = where.device
        raise RuntimeError(f"the upstream gradient is on {found}, the tensor on {wanted}: gradient.to({wanted!r})")
