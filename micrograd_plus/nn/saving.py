"""Saving values to a file: `.npz`, which NumPy reads, or `.safetensors`, which many libraries read.

A state is a dict with text for keys, whose values are tensors, arrays, dicts of the same kind, or JSON values (numbers,
text, True, None, lists of these). Nothing in a file is ever run: no pickle.

In the file, keys of nested dicts are joined by "/"; the other values are text in the file's metadata.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from ..core.messages import check_mapping
from ..files import DEEPEST_NAME, FileError, atomic_file, open_regular, split_name
from ..tensor import Tensor
from . import npz, safetensors

Arrays = dict[str, np.ndarray]
Remarks = dict[str, str]

FORMATS = {".npz": npz, ".safetensors": safetensors}


def save(state: Mapping[str, Any], path: Path | str | os.PathLike[str] | BinaryIO) -> None:
    """Write a state, such as model.state_dict(), to a file.

    The file appears whole or not at all. Tuples come back as lists, and tensors and arrays as tensors on the CPU,
    without graph.

    Args:
        state: a dict with text without "/" for keys, whose values are tensors, arrays, dicts of the same kind, or what
            JSON can say: numbers, text, True, None, lists of these.
        path: where to; its name ends in .npz, which NumPy reads, or .safetensors, which many libraries read. An open
            file, such as io.BytesIO(), is written as .npz.
    Returns: None.
    Raises: ValueError if the name ends otherwise, or a key is not allowed; TypeError if state is not a dict, or the
        file format cannot hold a value; OSError if the file cannot be written.
    Example:
        >>> import tempfile
        >>> net, other = nn.Linear(2, 1), nn.Linear(2, 1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mg.save({"net": net.state_dict(), "epoch": 3}, folder + "/state.safetensors")
        ...     state = mg.load(folder + "/state.safetensors")
        >>> _ = other.load_state_dict(state["net"])
        >>> state["epoch"], other.weight.tolist() == net.weight.tolist()
        (3, True)

    See: torch.save, numpy.savez; the documentation of the safetensors format.
    """
    check_mapping("save", state, "model.state_dict()")
    arrays, remarks = flatten_state(state)
    if hasattr(path, "write"):
        npz.write(cast("BinaryIO", path), arrays, remarks)
        return
    path = cast("str | os.PathLike[str]", path)
    form = format_of(path)
    with atomic_file(path) as file:
        form.write(file, arrays, remarks)


def load(
    path: str | os.PathLike[str] | BinaryIO, map_location: str = "cpu", *, weights_only: bool = True
) -> dict[str, Any]:
    """Read the state that save wrote to a file.

    Nothing in a file is ever run. One that is damaged, or made to do harm, is refused.

    Args:
        path: where from; its name ends in .npz or .safetensors. An open file is read from its beginning, as what it is.
        map_location: accepted as in PyTorch; "cpu" (default), where tensors are. `net.to("cuda")` moves them.
        weights_only: accepted as in PyTorch; True (default), since no file can hold anything else.
    Returns: a dict as it was given to save, with tensors for arrays and lists for tuples.
    Raises: ValueError if the name ends otherwise, or for another device or weights_only=False; FileError, which is one,
        where the file is refused, with the reason; FileNotFoundError if there is none.
    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mg.save({"scale": mg.tensor([1.0, 2.0]), "sizes": (3, 4)}, folder + "/state.npz")
        ...     mg.load(folder + "/state.npz")
        {'scale': tensor([1., 2.]), 'sizes': [3, 4]}

    See: torch.load, numpy.load; the documentation of the safetensors format.
    """
    if not weights_only or str(map_location) != "cpu":
        raise ValueError("load: files have only numbers, which come to the CPU; omit map_location and weights_only")
    if hasattr(path, "read"):
        file = cast("BinaryIO", path)
        file.seek(0)
        form = npz if file.read(2) == b"PK" else safetensors
        arrays, remarks = form.read(file, "the file")
        return unflatten_state(arrays, remarks, "the file")
    path = cast("str | os.PathLike[str]", path)
    form, called = format_of(path), Path(path).name
    with open_regular(path) as file:
        arrays, remarks = form.read(file, called)
        return unflatten_state(arrays, remarks, called)


def format_of(path: str | os.PathLike[str]) -> Any:
    """Return the module that writes and reads a file of that name."""
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise ValueError(f"{Path(path).name}: a file of values ends in .npz or .safetensors, not {suffix!r}")
    return FORMATS[suffix]


def flatten_state(state: Mapping[str, Any], prefix: str = "") -> tuple[Arrays, Remarks]:
    """Flatten nested dicts into a dict of arrays and a dict of JSON text."""
    arrays: Arrays = {}
    remarks: Remarks = {}
    for key, value in state.items():
        if not isinstance(key, str) or "/" in key or not key:
            raise ValueError(f"save: the key {key!r} must be text without '/', which joins the keys of nested dicts")
        name = prefix + key
        if name.count("/") >= DEEPEST_NAME:
            raise ValueError(f"save: the state is nested more than {DEEPEST_NAME} dicts deep")
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"save: the key {key!r} is no text that can be written ({error.reason})") from None
        if isinstance(value, Mapping) and value:
            inner_arrays, inner_remarks = flatten_state(value, f"{name}/")
            arrays.update(inner_arrays)
            remarks.update(inner_remarks)
        elif isinstance(value, (Tensor, np.ndarray, np.generic)):
            arrays[name] = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
        else:
            remarks[name] = as_json(name, value)
    return arrays, remarks


def as_json(name: str, value: Any) -> str:
    """Convert a JSON value to text."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"save: {name!r} is {type(value).__name__}; a state holds tensors, arrays, dicts, and plain "
            f"numbers, text and lists ({error})"
        ) from None


def unflatten_state(arrays: Arrays, remarks: Remarks, called: str) -> dict[str, Any]:
    """Rebuild the nested dicts. Metadata of other programs that is not JSON stays text."""
    state: dict[str, Any] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "biufc":
            raise FileError(f"{called} holds {name!r} of dtype {array.dtype}: a tensor is made of numbers")
    values = {name: Tensor.of(array) for name, array in arrays.items()} | {
        name: from_json(text) for name, text in remarks.items()
    }
    for name, value in values.items():
        try:
            *above, last = split_name(name)
        except FileError as error:
            raise FileError(f"{called}: {error}") from None
        inner = state
        for key in above:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise FileError(f"{called} holds a value {key!r} and values below it, as in {name!r}: it is damaged")
        if last in inner:
            raise FileError(f"{called} holds {name!r} twice: it is damaged")
        inner[last] = value
    return state


def from_json(text: str) -> Any:
    """Convert text to a JSON value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
