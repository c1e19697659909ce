"""Keeping values in a file: `.npz`, which NumPy reads, or `.safetensors`, which many libraries read.

What is kept is a dict with text for keys, whose values are tensors, arrays, dicts of the same kind, or anything plain
that JSON can say (numbers, text, True, None, lists of these). Nothing in a file is ever run: no pickle.

In the file, keys of nested dicts are joined by "/"; what is not an array is text among the file's remarks.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..arguments import wants_dict
from ..tensor import Tensor
from . import npz, safetensors

Arrays = dict[str, np.ndarray]
Remarks = dict[str, str]

FORMATS = {".npz": npz, ".safetensors": safetensors}


def save(state: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a state, such as `model.state_dict()`, to a file that ends in `.npz` or `.safetensors`.

    The file appears whole or not at all. Tuples come back as lists, and tensors on the CPU without their graph.

    >>> import tempfile
    >>> import micrograd_plus as mg
    >>> net, other = mg.nn.Linear(2, 1), mg.nn.Linear(2, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mg.save({"net": net.state_dict(), "epoch": 3}, folder + "/state.safetensors")
    ...     state = mg.load(folder + "/state.safetensors")
    >>> _ = other.load_state_dict(state["net"])
    >>> state["epoch"], other.weight.tolist() == net.weight.tolist()
    (3, True)
    """
    wants_dict("save", state, "model.state_dict()")
    arrays, remarks = taken_apart(state)
    write_whole(Path(path), lambda file: format_of(path).write(file, arrays, remarks))


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `save` wrote. A file that is damaged, or made to do harm, is refused with a ValueError that says why."""
    arrays, remarks = format_of(path).read(Path(path))
    return put_together(arrays, remarks)


def format_of(path: str | os.PathLike[str]) -> Any:
    """How to write and read a file of that name."""
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise ValueError(f"{Path(path).name}: a file of values ends in .npz or .safetensors, not {suffix!r}")
    return FORMATS[suffix]


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write beside the file, and put it in its place when it is complete."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp's file is private; one that is opened in the usual way has these rights.
        mask = os.umask(0)
        os.umask(mask)
        Path(beside).chmod(0o666 & ~mask)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def taken_apart(state: Mapping[str, Any], prefix: str = "") -> tuple[Arrays, Remarks]:
    """Nested dicts as one flat dict of arrays, and one of JSON text."""
    arrays: Arrays = {}
    remarks: Remarks = {}
    for key, value in state.items():
        if not isinstance(key, str) or "/" in key or not key:
            raise ValueError(f"save: the key {key!r} must be text without '/', which joins the keys of nested dicts")
        name = prefix + key
        if isinstance(value, Mapping) and value:
            inner_arrays, inner_remarks = taken_apart(value, f"{name}/")
            arrays.update(inner_arrays)
            remarks.update(inner_remarks)
        elif isinstance(value, (Tensor, np.ndarray, np.generic)):
            arrays[name] = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
        else:
            remarks[name] = as_json(name, value)
    return arrays, remarks


def as_json(name: str, value: Any) -> str:
    """A plain value as text."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"save: {name!r} is {type(value).__name__}; a state holds tensors, arrays, dicts, and plain "
            f"numbers, text and lists ({error})"
        ) from None


def put_together(arrays: Arrays, remarks: Remarks) -> dict[str, Any]:
    """The nested dicts again. A remark that is not JSON, as other programs write them, stays text."""
    state: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "biufc":
            raise ValueError(f"the file holds {name!r} of dtype {array.dtype}: a tensor is made of numbers")
    values = {name: Tensor.of(array) for name, array in arrays.items()} | {
        name: from_json(text) for name, text in remarks.items()
    }
    for name, value in values.items():
        *above, last = name.split("/")
        inner = state
        for key in above:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise ValueError(f"the file holds a value {key!r} and values below it, as in {name!r}: it is damaged")
        if last in inner:
            raise ValueError(f"the file holds {name!r} twice: it is damaged")
        inner[last] = value
    return state


def from_json(text: str) -> Any:
    """A plain value from text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
