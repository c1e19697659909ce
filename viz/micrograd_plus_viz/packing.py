"""Compressed code and data as text inside a page: gzip in base 85, which is a fifteenth shorter than base 64.

`static/bytes.js` reads it. None of its letters is escaped in HTML, in JSON or in an attribute.
"""

from __future__ import annotations

import base64
import gzip

from .static_files import text

_PYTHONS = "".join(base64.b85encode(bytes([0, 0, 0, k]))[-1:].decode() for k in range(85))
_OURS = "".join(map(chr, range(ord("("), ord("|") + 1))).translate({ord("<"): "!", ord(">"): "%", ord("\\"): "#"})
_TO_OURS, _TO_PYTHONS = str.maketrans(_PYTHONS, _OURS), str.maketrans(_OURS, _PYTHONS)


def pack(content: str) -> str:
    """Return a text compressed. Equal texts give equal results."""
    squeezed = gzip.compress(content.encode("utf-8"), compresslevel=9, mtime=0)
    return base64.b85encode(squeezed).decode("ascii").translate(_TO_OURS)


def unpack(packed: str) -> str:
    """Return the text that `pack` compressed."""
    return gzip.decompress(base64.b85decode(packed.translate(_TO_PYTHONS))).decode("utf-8")


def unpacker() -> str:
    """Return JavaScript that defines `unzipped`, a function from packed text to a promise of the text, and `runPacked`,
    a function from packed code to a promise of what the code returns."""
    return "\n".join([text("bytes.js"), text("run_packed.js")]).replace("export ", "")
