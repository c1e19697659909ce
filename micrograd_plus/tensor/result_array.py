"""Read-only array of a result, as `.data` returns it, with a message for writes into it."""

from __future__ import annotations

from typing import Any

from ..backends import devices

np = devices.device("cpu").library


class ResultArray(np.ndarray):
    """A read-only view of a result's array. Results computed from it, and copies, are ordinary arrays."""

    @staticmethod
    def of(array: Any) -> ResultArray:
        """A view of an array, not a copy."""
        view = array.view(ResultArray)
        view.flags.writeable = False
        return view

    def __setitem__(self, index: Any, value: Any) -> None:
        _refuse_writing(self)
        _plain(self)[index] = value

    def fill(self, value: Any) -> None:
        """A write to every entry."""
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any) -> Any:
        """`y.data + 1`, which gives a plain array, and `y.data += 1`, which is a write."""
        for target in inputs[:1] if method == "at" else out:
            _refuse_writing(target)
        options |= {"out": tuple(_plain(target) for target in out)} if out else {}
        return getattr(ufunc, method)(*(_plain(value) for value in inputs), **options)

    def copy(self, order: Any = "C") -> Any:
        """A plain array, which may be written into."""
        return np.array(self, order=order)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """A plain array of another dtype."""
        return _plain(self).astype(dtype, *args, **options)

    def __deepcopy__(self, memo: Any) -> Any:
        return np.array(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _plain(self).__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return repr(_plain(self))


def _plain(value: Any) -> Any:
    """A result's array as NumPy's own kind; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, ResultArray) else value


def _refuse_writing(array: Any) -> None:
    """An error where a result would be written into. A new array that NumPy gave the same kind may be."""
    if isinstance(array, ResultArray) and not array.flags.writeable:
        raise ValueError(
            "a result cannot be written into: it is what its inputs make it. Change a copy, y.numpy() or y.detach(); "
            "a tensor that you made yourself takes x.data[...] = ..."
        )
