"""Values as bytes: what goes into a student's process and what comes back, without pickle and without recursion to
depths that a student chooses.

A *frame* is one byte that says its kind, four bytes of length, and so many bytes. A *value* is one byte that says its
type, and what that type needs; what is none of the known types travels as the name of its type alone, so that the other
side can say what was returned without ever holding it.
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


class FrameError(Exception):
    """Bytes that are no frames, or that break a limit."""


class Refused(NamedTuple):
    """What stands for a value that does not travel: why, and the name of its type or the shape it has."""

    why: str
    """`type`: an object of a type that is no array, number, text, list, tuple or dict. `large`: an array of more bytes
    than were allowed. `deep`: lists within lists beyond the limit."""
    what: str


# Written ------------------------------------------------------------------------------------------------------------

# Taken before a student's code can put others in their places.
_tobytes, _astype, _shape = np.ndarray.tobytes, np.ndarray.astype, np.ndarray.shape.__get__  # type: ignore[attr-defined]  # a slot of C
_dtype, _size, _item = np.ndarray.dtype.__get__, np.ndarray.size.__get__, np.generic.item  # type: ignore[attr-defined]  # a slot of C
_asarray, _pack, _type, _isinstance, _bytes = np.asarray, struct.pack, type, isinstance, bytes
_count = struct.Struct("<I")
_generic, _array, _bool, _newbyteorder = np.generic, np.ndarray, np.bool_, np.dtype.newbyteorder
_scalars = {
    np.dtype(name).type for name in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c16", "c8")
}


def written(value: Any, most_bytes: int, depth: int = 0) -> bytes:
    """A value as bytes. Exactly NumPy's own arrays and Python's own types travel, no classes derived from them: what
    those answer when they are asked for their numbers is for them to choose."""
    kind = _type(value)
    if value is None:
        return b"N"
    if kind in PLAIN:
        return PLAIN[kind](value)
    if kind is _array:
        return array_written(value, most_bytes)
    if kind in _scalars:
        return b"G" + array_written(_asarray(value), most_bytes)
    if kind in (list, tuple, dict):
        return items_written(value, kind, most_bytes, depth)
    if kind is slice:
        return b"P" + items_written((value.start, value.stop, value.step), tuple, most_bytes, depth)
    if value is Ellipsis:
        return b"E"
    return b"X" + text_of(f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__name__)


def text_of(text: str) -> bytes:
    """Text as bytes, cut where it is too long."""
    data = text[:LONGEST_TEXT].encode("utf-8", "backslashreplace")
    return _pack("<I", len(data)) + data


def integer_written(value: int) -> bytes:
    """A whole number, where it fits eight bytes."""
    return b"I" + _pack("<q", value) if -(2**63) <= value < 2**63 else b"X" + text_of("int of more than 64 bits")


PLAIN = {
    float: lambda value: b"F" + _pack("<d", value),
    int: integer_written,
    bool: lambda value: b"B" + _pack("<?", value),
    str: lambda value: b"S" + text_of(value),
}


def array_written(value: np.ndarray, most_bytes: int) -> bytes:
    """An array: its dtype, its shape, and its entries, row by row, in the byte order of every machine here."""
    dtype, shape = _dtype(value), _shape(value)
    code = CODES.get(_newbyteorder(dtype, "=")) if dtype.kind in "fiubc" else None
    if code is None:
        return b"X" + text_of(f"array of dtype {dtype.kind if dtype.kind in 'VU' else dtype.name}")
    head = _pack("<BB", code, len(shape)) + _pack(f"<{len(shape)}Q", *shape)
    if math.prod(shape) * dtype.itemsize > most_bytes:
        return b"Z" + head
    return b"A" + head + _tobytes(_astype(value, DTYPES[code].newbyteorder("<")), "C")


def items_written(value: Any, kind: type, most_bytes: int, depth: int) -> bytes:
    """A list, a tuple or a dict whose keys are texts."""
    if depth == DEEPEST or len(value) > MOST_ITEMS:
        return b"Y" + text_of(kind.__name__)
    parts = [{list: b"L", tuple: b"T", dict: b"D"}[kind] + _pack("<I", len(value))]
    for each in value:
        if kind is dict:
            parts.append(text_of(each if _type(each) is str else f"a key of type {_type(each).__name__}"))
            each = value[each]
        parts.append(written(each, most_bytes, depth + 1))
    return b"".join(parts)


def frame(kind: bytes, *parts: bytes) -> bytes:
    """One frame."""
    data = b"".join(parts)
    return kind + _pack("<I", len(data)) + data


# Read ---------------------------------------------------------------------------------------------------------------


class Reader:
    """Bytes that are read from their beginning; to read beyond their end is a `FrameError`."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = memoryview(data), 0

    def take(self, count: int) -> memoryview:
        """The next bytes."""
        if count > len(self.data) - self.at:
            raise FrameError("the data ends in the middle of a value")
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        """The next numbers."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def count(self) -> int:
        """The next number of things that follow."""
        self.at += 4
        if self.at > len(self.data):
            raise FrameError("the data ends in the middle of a value")
        return _count.unpack_from(self.data, self.at - 4)[0]

    def text(self) -> str:
        """The next text."""
        count = self.count()
        if count > 4 * LONGEST_TEXT:
            raise FrameError("a text is too long")
        return bytes(self.take(count)).decode("utf-8", "backslashreplace")

    def value(self, depth: int = 0) -> Any:
        """The next value."""
        kind = bytes(self.take(1))
        if kind not in READ or depth > DEEPEST:
            raise FrameError("a value of no known type")
        return READ[kind](self, depth)

    def shape(self) -> tuple[np.dtype, tuple[int, ...]]:
        """What stands before an array's entries."""
        code, axes = self.unpack("BB")
        if code not in DTYPES or axes > MOST_AXES:
            raise FrameError("an array of no known dtype or of too many axes")
        return DTYPES[code], self.unpack(f"{axes}Q")

    def array(self) -> np.ndarray:
        """The next array, in memory of its own."""
        dtype, shape = self.shape()
        data = self.take(math.prod(shape) * dtype.itemsize)
        if dtype.kind == "b" and not set(bytes(data)) <= {0, 1}:
            raise FrameError("a truth value that is neither")
        try:
            return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
        except ValueError as error:  # a shape such as (0, 2**63)
            raise FrameError("an array of no possible shape") from error

    def items(self, depth: int) -> list[Any]:
        """The next values, so many as are announced."""
        count = self.count()
        if count > MOST_ITEMS:
            raise FrameError("a list is too long")
        return [self.value(depth + 1) for _ in range(count)]

    def named(self, depth: int) -> dict[str, Any]:
        """The next values with their names."""
        count = self.count()
        if count > MOST_ITEMS:
            raise FrameError("a dict is too long")
        return {self.text(): self.value(depth + 1) for _ in range(count)}


def scalar(entry: Any) -> Any:
    """The one entry of an array, as NumPy's number."""
    if type(entry) is not np.ndarray or entry.shape != ():
        raise FrameError("a number that is none")
    return entry[()]


def sliced(bounds: Any) -> slice:
    """A slice of its three bounds."""
    if type(bounds) is not tuple or len(bounds) != 3:
        raise FrameError("a slice without three bounds")
    return slice(*bounds)


READ: dict[bytes, Any] = {
    b"N": lambda reader, depth: None,
    b"F": lambda reader, depth: reader.unpack("d")[0],
    b"I": lambda reader, depth: reader.unpack("q")[0],
    b"B": lambda reader, depth: reader.unpack("?")[0],
    b"S": lambda reader, depth: reader.text(),
    b"E": lambda reader, depth: Ellipsis,
    b"G": lambda reader, depth: scalar(reader.value(depth + 1)),
    b"P": lambda reader, depth: sliced(reader.value(depth + 1)),
    b"A": lambda reader, depth: reader.array(),
    b"L": Reader.items,
    b"T": lambda reader, depth: tuple(reader.items(depth)),
    b"D": Reader.named,
    b"X": lambda reader, depth: Refused("type", reader.text()),
    b"Y": lambda reader, depth: Refused("deep", reader.text()),
    b"Z": lambda reader, depth: Refused("large", str(reader.shape()[1])),
}


def frames(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The frames in some bytes, each with its kind; a `FrameError` where they are none, once those before are out."""
    reader = Reader(data)
    while reader.at < len(data):
        kind, count = bytes(reader.take(1)), reader.count()
        yield kind, bytes(reader.take(count))


def read(data: bytes) -> Any:
    """The value in some bytes, which hold nothing else."""
    reader = Reader(data)
    value = reader.value()
    if reader.at != len(data):
        raise FrameError("there is more than one value")
    return value
