"""Read-only array of a result, as `.data` returns it, with a message for writes into it."""

from __future__ import annotations

from typing import Any, NoReturn

from ..backends import devices

np = devices.device("cpu").library


class ResultArray(np.ndarray):
    """A read-only view of a result's array. Results computed from it, and copies, are ordinary arrays."""

    @staticmethod
    def of(array: Any) -> ResultArray:
        """Return a read-only view of an array."""
        view = array.view(ResultArray)
        view.flags.writeable = False
        return view

    def __setitem__(self, index: Any, value: Any) -> None:
        _refuse_writing(self)
        _plain(self)[index] = value

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"y.data is an array of NumPy's, which has no {name!r}; call it on the tensor: y.{name}")

    def fill(self, value: Any) -> None:
        """Raise ValueError: the array is read-only."""
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any) -> Any:
        """Compute with ordinary arrays; raise ValueError for writes such as `y.data += 1`."""
        for target in inputs[:1] if method == "at" else out:
            _refuse_writing(target)
        options |= {"out": tuple(_plain(target) for target in out)} if out else {}
        return getattr(ufunc, method)(*(_plain(value) for value in inputs), **options)

    def copy(self, order: Any = "C") -> Any:
        """Return an ordinary, writable array."""
        return np.array(self, order=order)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """Return an ordinary array of another dtype."""
        return _plain(self).astype(dtype, *args, **options)

    def __deepcopy__(self, memo: Any) -> Any:
        return np.array(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _plain(self).__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return repr(_plain(self))


def _plain(value: Any) -> Any:
    """Return a result's array as an ordinary array, anything else unchanged."""
    return value.view(np.ndarray) if isinstance(value, ResultArray) else value


def _refuse_writing(array: Any) -> None:
    """Raise ValueError for a write into a result's array."""
    if isinstance(array, ResultArray) and not array.flags.writeable:
        raise ValueError(
            "a result cannot be written into: it is what its inputs make it. Change a copy, y.numpy() or y.detach(); "
            "a tensor that you made yourself takes x.data[...] = ..."
        )
