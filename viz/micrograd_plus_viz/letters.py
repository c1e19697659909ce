"""How wide a text is in the letters that come with this package, which are as wide as Arial's.

Read from the font files themselves: their tables `cmap` (which glyph a letter has) and `hmtx` (how wide each is).
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from unicodedata import combining, east_asian_width

from .static_files import FONTS, SIGNS


def width(said: str, size: float, bold: bool = False) -> float:
    """How many pixels wide a text of that size is."""
    return size * sum(_letter(letter, bold) for letter in said)


def held(said: str, size: float, bold: bool = False) -> str:
    """The attributes that keep a text as wide as it was measured, where a reader has letters of another width."""
    return f' textLength="{width(said, size, bold):.1f}" lengthAdjust="spacingAndGlyphs"' if len(said) > 1 else ""


def wrapped(said: str, size: float, room: float, bold: bool = False) -> list[str]:
    """A text in lines of at most `room` pixels; a word that is too long for one is parted."""
    lines, line = [], ""
    for word in said.split(" "):
        while width(word, size, bold) > room and len(word) > 1:
            fits = max(1, sum(1 for k in range(1, len(word)) if width(word[:k], size, bold) <= room))
            lines += [line] if line else []
            lines, line, word = [*lines, word[:fits]], "", word[fits:]
        longer = f"{line} {word}" if line else word
        if line and width(longer, size, bold) > room:
            lines, longer = [*lines, line], word
        line = longer
    return [*lines, line]


def clipped(said: str, size: float, room: float, bold: bool = False) -> str:
    """A text cut to `room` pixels, with an ellipsis where something was left out."""
    if width(said, size, bold) <= room:
        return said
    while said and width(said + "…", size, bold) > room:
        said = said[:-1]
    return said + "…"


def has_all(said: str) -> bool:
    """Whether the fonts that come along have every letter of a text."""
    known = _widths(FONTS[0]).keys() | _widths(SIGNS).keys()
    return all(ord(letter) in known for letter in set(said) if letter > " ")


@cache
def _letter(letter: str, bold: bool) -> float:
    """The width of a letter as a part of the size of the text; where neither font has it, about what others have."""
    for font in (FONTS[bold], SIGNS):
        if (found := _widths(font).get(ord(letter))) is not None:
            return found
    return 0.0 if combining(letter) else 1.0 if east_asian_width(letter) in "WF" else 0.62


@cache
def _widths(font: str) -> dict[int, float]:
    """The width of every letter of a font, by its code point."""
    data = Path(font).read_bytes()
    tables = {
        data[at : at + 4]: struct.unpack_from(">I", data, at + 8)[0]
        for at in range(12, 12 + 16 * struct.unpack_from(">H", data, 4)[0], 16)
    }
    (units,) = struct.unpack_from(">H", data, tables[b"head"] + 18)
    (measured,) = struct.unpack_from(">H", data, tables[b"hhea"] + 34)
    at = tables[b"hmtx"]
    advances = [struct.unpack_from(">H", data, at + 4 * glyph)[0] for glyph in range(measured)]
    return {
        code: advances[min(glyph, measured - 1)] / units for code, glyph in _glyphs(data, tables[b"cmap"]).items()
    }


def _glyphs(data: bytes, table: int) -> dict[int, int]:
    """The glyph of every letter of the first sixteen bits, from the segments of a table of format 4."""
    (count,) = struct.unpack_from(">H", data, table + 2)
    starts = [table + struct.unpack_from(">I", data, table + 4 + 8 * k + 4)[0] for k in range(count)]
    at = next(start for start in starts if struct.unpack_from(">H", data, start)[0] == 4)
    (twice,) = struct.unpack_from(">H", data, at + 6)
    columns = [at + 14, at + 16 + twice, at + 16 + 2 * twice, at + 16 + 3 * twice]
    glyphs: dict[int, int] = {}
    for k in range(0, twice, 2):
        last, first, delta, offset = (struct.unpack_from(">H", data, column + k)[0] for column in columns)
        for code in range(first, last + 1 if last < 0xFFFF else last):
            glyph = code
            if offset:
                (glyph,) = struct.unpack_from(">H", data, columns[3] + k + offset + 2 * (code - first))
            glyphs[code] = (glyph + delta) % 65536 if glyph or not offset else 0
    return glyphs
