"""Compressed code and data as text inside a page: gzip in base 85, which is a fifteenth shorter than base 64.

`static/bytes.js` reads it. None of its letters is escaped in HTML, in JSON or in an attribute.
"""

from __future__ import annotations

import base64
import gzip

import numpy as np

from .static_files import text

_PYTHONS = "".join(base64.b85encode(bytes([0, 0, 0, k]))[-1:].decode() for k in range(85))
_OURS = "".join(map(chr, range(ord("("), ord("|") + 1))).translate({ord("<"): "!", ord(">"): "%", ord("\\"): "#"})
_TO_PYTHONS = str.maketrans(_OURS, _PYTHONS)
_LETTERS = np.frombuffer(_OURS.encode("ascii"), np.uint8)
_PLACES = 85 ** np.arange(4, -1, -1)


def to_bytes(content: str) -> bytes:
    """Return a text in UTF-8, with "?" for half a pair of surrogates, which UTF-8 lacks."""
    return content.encode("utf-8", "replace")


def pack(content: str) -> str:
    """Return a text compressed. Equal texts give equal results."""
    squeezed = gzip.compress(to_bytes(content), compresslevel=9, mtime=0)
    return _in_base_85(squeezed)


def _in_base_85(data: bytes) -> str:
    """Return bytes as text, five letters for each four bytes. Python's own function takes ten times as long."""
    missing = -len(data) % 4
    numbers = np.frombuffer(data + bytes(missing), ">u4").astype(np.int64)
    letters = _LETTERS[numbers[:, None] // _PLACES % 85].tobytes().decode("ascii")
    return letters[: len(letters) - missing]


def unpack(packed: str) -> str:
    """Return the text that `pack` compressed."""
    return gzip.decompress(base64.b85decode(packed.translate(_TO_PYTHONS))).decode("utf-8")


def unpacker() -> str:
    """Return JavaScript that defines `unzipped`, a function from packed text to a promise of the text, and `runPacked`,
    a function from packed code to a promise of what the code returns."""
    return "\n".join([text("bytes.js"), text("run_packed.js")]).replace("export ", "")
