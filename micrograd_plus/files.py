"""Reading of untrusted files: sizes are bounded, and every fault raises a FileError."""

from __future__ import annotations

import os
import stat
from typing import Any, BinaryIO

MOST_AXES, LONGEST_AXIS = 64, 2**63 - 1
DEEPEST_NAME = 64
LONGEST_MESSAGE = 600
"""Longest error message, since names and shapes in a file may have any length."""


class FileError(ValueError):
    """Error for a damaged or malicious file; it names the file, the position in it, and the fault.

    `mg.load` and `mg.load_trace` raise it for every file that they reject; a missing file raises Python's
    FileNotFoundError.

    Args:
        message: the fault, with the file and the position.
    Raises: nothing.
    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = folder + "/weights.npz"
        ...     _ = open(path, "wb").write(b"no archive")
        ...     try:
        ...         mg.load(path)
        ...     except mg.FileError as error:
        ...         print(error)
        weights.npz cannot be read as .npz: File is not a zip file

    See: the documentation of the safetensors format, on files that a reader must reject.
    """

    def __init__(self, message: str):
        said = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        super().__init__(said.encode("utf-8", "backslashreplace").decode())  # printable, whatever the file contains


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading. A device would never end, and a pipe would wait for a writer."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except IsADirectoryError:
        raise FileError(f"{os.fspath(path)} is a folder") from None
    except ValueError as error:
        raise FileError(f"{os.fspath(path)!r} is no path: {error}") from None
    file = os.fdopen(handle, "rb") if stat.S_ISREG(os.fstat(handle).st_mode) else None
    if file is None:
        os.close(handle)
        raise FileError(f"{os.fspath(path)} is no regular file")
    return file


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a file of at most `most` bytes."""
    with open_regular(path) as file:
        content = file.read(most + 1)
        size = max(os.fstat(file.fileno()).st_size, len(content))
    if size > most:
        raise FileError(f"{os.fspath(path)} has {size} bytes; {most} are the most")
    return content


def count_entries(shape: Any) -> int:
    """Return the number of entries of a claimed shape; unbounded lengths are rejected."""
    if not isinstance(shape, (list, tuple)) or len(shape) > MOST_AXES:
        raise FileError(f"a shape must be a list of at most {MOST_AXES} lengths, got {shorten(shape)}")
    for length in shape:
        if type(length) is not int or not 0 <= length <= LONGEST_AXIS:
            raise FileError(f"a length must be a whole number from 0 to 2**63 - 1, got {shorten(length)}")
    count = 0 if 0 in shape else 1
    for length in shape:
        count *= length
        if count > LONGEST_AXIS:
            raise FileError(f"the shape {shorten(shape)} has more entries than there can be")
    return count


def split_name(name: str) -> list[str]:
    """Split a name at "/"; names that are too deep or cannot be encoded are rejected."""
    if name.count("/") >= DEEPEST_NAME:
        raise FileError(f"the name {shorten(name)} is nested more than {DEEPEST_NAME} deep")
    check_text(name)
    return name.split("/")


def check_text(text: str) -> None:
    """Raise FileError for text that cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileError(f"{shorten(text)} holds half of a pair of surrogates, which is no character") from None


def shorten(value: Any) -> str:
    """Format a value for an error message, shortened; Python refuses to print numbers of thousands of digits."""
    if type(value) is int:
        return str(value) if value.bit_length() < 200 else f"a number of {value.bit_length()} bits"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(shorten, value[:8])) + (", ..." if len(value) > 8 else "")
        return f"[{shown}]" if isinstance(value, list) else f"({shown}{',' if len(value) == 1 else ''})"
    said = repr(value)
    return said if len(said) < 100 else f"{said[:100]} ..."
