"""Reading and writing `.npz`: a zip file of NumPy's `.npy` entries, uncompressed, as `numpy.savez` writes it."""

from __future__ import annotations

import json
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from ..files import FileError, count_entries, shorten

REMARKS = "__metadata__"  # safetensors' name for the same


def write(file: BinaryIO, arrays: dict[str, np.ndarray], remarks: dict[str, str]) -> None:
    """Write arrays by name, and metadata as one entry of text."""
    entries: dict[str, Any] = dict(arrays)
    if remarks:
        entries[REMARKS] = np.array(json.dumps(remarks))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in entries.items():
            if array.dtype.hasobject:
                raise TypeError(f"save: {name!r} holds Python objects, which would need pickle; save numbers")
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def read(file: BinaryIO, called: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays and the metadata of a file, after checking every size that it states."""
    arrays: dict[str, np.ndarray] = {}
    try:
        size = file.seek(0, 2)
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > size:
                raise ValueError(
                    "its entries claim more bytes than it has: they overlap, or are compressed, and a small "
                    "file could unpack to more than memory holds; if you trust it, numpy.load reads it"
                )
            for entry in archive.infolist():
                name = entry.filename.removesuffix(".npy")
                if name in arrays:
                    raise ValueError(f"it holds {name!r} twice")
                arrays[name] = _array(archive, entry)
        remarks = arrays.pop(REMARKS, None)
        return arrays, {} if remarks is None else _remarks(remarks)
    except Exception as error:  # noqa: BLE001 - damage makes zipfile, NumPy and Python's own parser raise anything
        said = str(error) or type(error).__name__
        raise FileError(f"{called} cannot be read as .npz: {said}") from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    """Return one entry. Its header must state exactly the number of bytes that follow it."""
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{entry.filename!r} is compressed; what is kept here is not")
    with archive.open(entry) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{entry.filename!r} is of an unknown version {version}")
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, in_columns, dtype = read_header(file)
        if dtype.hasobject:
            raise ValueError(f"{entry.filename!r} holds Python objects, which could run code when loaded")
        try:
            claimed = count_entries(shape)
        except FileError as error:
            raise ValueError(f"{entry.filename!r} claims the shape {shorten(shape)}: {error}") from None
        data = file.read()
    array = np.ndarray(0, dtype) if not data else np.frombuffer(data, dtype)
    if array.size != claimed:
        raise ValueError(f"{entry.filename!r} claims {claimed} entries and holds {array.size}")
    return array.reshape(shape, order="F" if in_columns else "C").copy()


def _remarks(entry: np.ndarray) -> dict[str, str]:
    try:
        remarks = json.loads(str(entry))
    except (ValueError, RecursionError):
        remarks = None
    if not isinstance(remarks, dict) or not all(isinstance(text, str) for text in remarks.values()):
        raise ValueError("its remarks are not a dict of text")
    return remarks
