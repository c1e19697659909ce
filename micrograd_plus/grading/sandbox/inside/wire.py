"""Wire format between the grader and the student's process: no pickle, bounded size and depth.

A *frame* is one byte for its kind, four bytes for its length, and its body. A *value* is one byte for its type,
followed by its data. A value of any other type is replaced by the name of its type, so the grader can report it
without loading it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

DEEPEST, LONGEST_TEXT, MOST_ITEMS = 6, 4000, 4096
DTYPES = {
    code: np.dtype(name)
    for code, name in enumerate(("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c16", "c8"))
}
CODES = {dtype: code for code, dtype in DTYPES.items()}
MOST_AXES = 16


class WireError(Exception):
    """The bytes are not valid frames or values, or they exceed a limit."""


class Placeholder(NamedTuple):
    """Replacement for a value that the wire format does not support."""

    why: str
    """`type`: not an array, number, string, list, tuple or dict. `large`: an array over the size limit. `deep`: lists
    nested too deeply, or too long."""
    what: str
    """The name of its type, or its shape."""


# Encoding -------------------------------------------------------------------------------------------------------------

# These names refer to the originals, even if student code replaces them later.
_tobytes, _astype, _shape = np.ndarray.tobytes, np.ndarray.astype, np.ndarray.shape.__get__  # type: ignore[attr-defined]  # a C slot
_dtype, _newbyteorder = np.ndarray.dtype.__get__, np.dtype.newbyteorder  # type: ignore[attr-defined]  # a C slot
_array, _asarray, _pack, _type = np.ndarray, np.asarray, struct.pack, type
_count = struct.Struct("<I")
_scalars = {dtype.type for dtype in DTYPES.values()}


def encode(value: Any, most_bytes: int, depth: int = 0) -> bytes:
    """Encode a value as bytes.

    Only NumPy arrays and Python's built-in types travel. Subclasses do not: they can override how their numbers are
    read.
    """
    kind = _type(value)
    if value is None:
        return b"N"
    if kind in ENCODERS:
        return ENCODERS[kind](value)
    if kind is _array:
        return encode_array(value, most_bytes)
    if kind in _scalars:
        return b"G" + encode_array(_asarray(value), most_bytes)
    if kind in (list, tuple, dict):
        return encode_items(value, kind, most_bytes, depth)
    if kind is slice:
        return b"P" + encode_items((value.start, value.stop, value.step), tuple, most_bytes, depth)
    if value is Ellipsis:
        return b"E"
    is_builtin = kind.__module__ == "builtins"
    return b"X" + encode_text(kind.__name__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}")


def encode_text(text: str) -> bytes:
    """Encode a string, truncated to the maximum length."""
    data = text[:LONGEST_TEXT].encode("utf-8", "backslashreplace")
    return _pack("<I", len(data)) + data


def encode_integer(value: int) -> bytes:
    """Encode an integer that fits in 64 bits."""
    return b"I" + _pack("<q", value) if -(2**63) <= value < 2**63 else b"X" + encode_text("int of more than 64 bits")


ENCODERS = {
    float: lambda value: b"F" + _pack("<d", value),
    int: encode_integer,
    bool: lambda value: b"B" + _pack("<?", value),
    str: lambda value: b"S" + encode_text(value),
}


def encode_array(value: np.ndarray, most_bytes: int) -> bytes:
    """Encode an array: its dtype, its shape, and its entries in C order, little-endian."""
    dtype, shape = _dtype(value), _shape(value)
    code = CODES.get(_newbyteorder(dtype, "=")) if dtype.kind in "fiubc" else None
    if code is None:
        return b"X" + encode_text(f"array of dtype {dtype.kind if dtype.kind in 'VU' else dtype.name}")
    head = _pack("<BB", code, len(shape)) + _pack(f"<{len(shape)}Q", *shape)
    if math.prod(shape) * dtype.itemsize > most_bytes:
        return b"Z" + head
    return b"A" + head + _tobytes(_astype(value, DTYPES[code].newbyteorder("<")), "C")


def encode_items(value: Any, kind: type, most_bytes: int, depth: int) -> bytes:
    """Encode a list, a tuple, or a dict with string keys."""
    if depth == DEEPEST or len(value) > MOST_ITEMS:
        return b"Y" + encode_text(kind.__name__)
    parts = [{list: b"L", tuple: b"T", dict: b"D"}[kind] + _pack("<I", len(value))]
    for each in value:
        if kind is dict:
            parts.append(encode_text(each if _type(each) is str else f"key of type {_type(each).__name__}"))
            each = value[each]
        parts.append(encode(each, most_bytes, depth + 1))
    return b"".join(parts)


def encode_frame(kind: bytes, *parts: bytes) -> bytes:
    """Encode one frame."""
    data = b"".join(parts)
    return kind + _pack("<I", len(data)) + data


# Decoding -------------------------------------------------------------------------------------------------------------


class Reader:
    """Reader of encoded bytes. Reading past the end raises `WireError`."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = memoryview(data), 0

    def take(self, count: int) -> memoryview:
        """Read the next `count` bytes."""
        if count > len(self.data) - self.at:
            raise WireError("the data ends in the middle of a value")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        """Read numbers in the format of `struct`."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def count(self) -> int:
        """Read a number of items."""
        self.at += 4
        if self.at > len(self.data):
            raise WireError("the data ends in the middle of a value")
        return _count.unpack_from(self.data, self.at - 4)[0]

    def text(self) -> str:
        """Read a string."""
        count = self.count()
        if count > 4 * LONGEST_TEXT:
            raise WireError("a string is too long")
        return bytes(self.take(count)).decode("utf-8", "backslashreplace")

    def value(self, depth: int = 0) -> Any:
        """Read a value."""
        kind = bytes(self.take(1))
        if kind not in DECODERS or depth > DEEPEST:
            raise WireError("unknown type of value")
        return DECODERS[kind](self, depth)

    def shape(self) -> tuple[np.dtype, tuple[int, ...]]:
        """Read the dtype and the shape of an array."""
        code, axes = self.unpack("BB")
        if code not in DTYPES or axes > MOST_AXES:
            raise WireError("unknown dtype, or too many axes")
        return DTYPES[code], self.unpack(f"{axes}Q")

    def array(self) -> np.ndarray:
        """Read an array into new memory."""
        dtype, shape = self.shape()
        data = self.take(math.prod(shape) * dtype.itemsize)
        if dtype.kind == "b" and not set(bytes(data)) <= {0, 1}:
            raise WireError("a boolean must be 0 or 1")
        try:
            return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
        except ValueError as error:  # a shape such as (0, 2**63)
            raise WireError("impossible shape") from error

    def items(self, depth: int) -> list[Any]:
        """Read a list of values."""
        count = self.count()
        if count > MOST_ITEMS:
            raise WireError("a list is too long")
        return [self.value(depth + 1) for _ in range(count)]

    def dictionary(self, depth: int) -> dict[str, Any]:
        """Read a dict of values."""
        count = self.count()
        if count > MOST_ITEMS:
            raise WireError("a dict is too long")
        return {self.text(): self.value(depth + 1) for _ in range(count)}


def as_scalar(entry: Any) -> Any:
    """Return the single entry of an array with no axes, as a NumPy scalar."""
    if type(entry) is not np.ndarray or entry.shape != ():
        raise WireError("a scalar must be an array without axes")
    return entry[()]


def as_slice(bounds: Any) -> slice:
    """Return a slice with these three bounds."""
    if type(bounds) is not tuple or len(bounds) != 3:
        raise WireError("a slice must have three bounds")
    return slice(*bounds)


DECODERS: dict[bytes, Any] = {
    b"N": lambda reader, depth: None,
    b"F": lambda reader, depth: reader.unpack("d")[0],
    b"I": lambda reader, depth: reader.unpack("q")[0],
    b"B": lambda reader, depth: reader.unpack("?")[0],
    b"S": lambda reader, depth: reader.text(),
    b"E": lambda reader, depth: Ellipsis,
    b"G": lambda reader, depth: as_scalar(reader.value(depth + 1)),
    b"P": lambda reader, depth: as_slice(reader.value(depth + 1)),
    b"A": lambda reader, depth: reader.array(),
    b"L": Reader.items,
    b"T": lambda reader, depth: tuple(reader.items(depth)),
    b"D": Reader.dictionary,
    b"X": lambda reader, depth: Placeholder("type", reader.text()),
    b"Y": lambda reader, depth: Placeholder("deep", reader.text()),
    b"Z": lambda reader, depth: Placeholder("large", str(reader.shape()[1])),
}


def read_frames(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the body of each frame, up to the first invalid one, which raises `WireError`."""
    reader = Reader(data)
    while reader.at < len(data):
        kind, count = bytes(reader.take(1)), reader.count()
        yield kind, bytes(reader.take(count))


def decode(data: bytes) -> Any:
    """Decode bytes that hold exactly one value."""
    reader = Reader(data)
    value = reader.value()
    if reader.at != len(data):
        raise WireError("there is more than one value")
    return value
