"""Reading and writing `.safetensors`, a format that cannot run code.

A file is: 8 bytes for the length of the header (little-endian), the header in JSON, and the bytes of all tensors. The
header gives each tensor's dtype, shape, and first and last byte; "__metadata__" is a dict of text. The reader rejects
everything that the format forbids: gaps, overlaps, unused bytes, sizes that do not agree, a header over 100 MB.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import numpy as np

from ..files import FileError, count_entries, shorten

DTYPES = {
    "BOOL": np.dtype("bool"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "C64": np.dtype("<c8"),
}
WORDS = {dtype: word for word, dtype in DTYPES.items()}
METADATA = "__metadata__"
LONGEST_HEADER = 100_000_000


def write(file: BinaryIO, arrays: dict[str, np.ndarray], remarks: dict[str, str]) -> None:
    """Write arrays by name, and metadata. Each tensor starts at a multiple of its item size, the widest first."""
    header: dict[str, Any] = {METADATA: remarks} if remarks else {}
    chunks: list[bytes] = []
    start = 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        word = WORDS.get(array.dtype.newbyteorder("<"))
        if word is None or name == METADATA:
            raise TypeError(f"save: {name!r} of dtype {array.dtype} has no place in .safetensors; .npz may hold it")
        chunks.append(np.ascontiguousarray(array, DTYPES[word]).tobytes())
        header[name] = {
            "dtype": word,
            "shape": list(array.shape),
            "data_offsets": [start, start + len(chunks[-1])],
        }
        start += len(chunks[-1])
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    file.writelines(chunks)


def read(file: BinaryIO, called: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays and the metadata of a file."""
    path = called
    size = file.seek(0, 2) - 8
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 0 or length > min(size, LONGEST_HEADER):
        raise _file_error(path, f"it claims a header of {length:,} bytes")
    header = _header(path, file.read(length))
    data = file.read(size - length)
    remarks = header.pop(METADATA, {})
    if not isinstance(remarks, dict) or not all(isinstance(text, str) for text in remarks.values()):
        raise _file_error(path, f"{METADATA} is not a dict of text")
    _refuse_gaps(path, [_place(path, name, entry) for name, entry in header.items()], len(data))
    return {name: _array(entry, data) for name, entry in header.items()}, remarks


def _header(path: str, text: bytes) -> dict[str, Any]:
    """Return the header as a dict; raise for a repeated name."""
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise _file_error(path, f"its header is not JSON: {error}") from None
    if not text.startswith(b"{") or not isinstance(header, dict):
        raise _file_error(path, "its header is not a JSON object")
    return header


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands in it twice")
    return found


def _place(path: str, name: str, entry: Any) -> tuple[int, int]:
    """Return the byte range of a tensor; raise if its entry is invalid."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _file_error(path, f"{name!r} must have dtype, shape and data_offsets, and nothing else")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
        raise _file_error(path, f"{name!r} is of dtype {str(entry['dtype'])[:40]}; known are {', '.join(DTYPES)}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    try:
        needed = count_entries(shape) * DTYPES[entry["dtype"]].itemsize
    except FileError as error:
        raise _file_error(path, f"{name!r} has shape {shorten(shape)}: {error}") from None
    if not _whole_numbers(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _file_error(path, f"{name!r} has data_offsets {shorten(offsets)}, which are no two places in order")
    if offsets[1] - offsets[0] != needed:
        raise _file_error(path, f"{name!r} needs {needed} bytes and claims those from {offsets[0]} to {offsets[1]}")
    return offsets[0], offsets[1]


def _whole_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**64 for value in values)


def _refuse_gaps(path: str, places: list[tuple[int, int]], size: int) -> None:
    """Raise unless each byte belongs to exactly one tensor."""
    reached = 0
    for start, end in sorted(places):
        if start != reached:
            raise _file_error(
                path,
                f"tensors {'overlap' if start < reached else 'leave a gap'} at byte {min(start, reached)}",
            )
        reached = end
    if reached != size:
        raise _file_error(path, f"its tensors take {reached} bytes and {size} follow the header")


def _array(entry: dict[str, Any], data: bytes) -> np.ndarray:
    dtype = DTYPES[entry["dtype"]]
    start, end = entry["data_offsets"]
    array = np.frombuffer(data[start:end], dtype).reshape(entry["shape"])
    return array.astype(dtype.newbyteorder("="))


def _file_error(path: str, why: str) -> FileError:
    return FileError(f"{path} cannot be read as .safetensors: {why}")
