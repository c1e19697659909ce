"""Text width in the fonts of this package, which have the widths of Arial; code has a monospaced font.

The widths come from the font files: the tables `cmap` (glyph of a letter) and `hmtx` (width of a glyph).
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import accumulate
from pathlib import Path
from unicodedata import combining, east_asian_width

from .static_files import FONTS, MONO, SIGNS


def width(text: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Return the width of a text in pixels."""
    fonts = (MONO,) if mono else (FONTS[bold], SIGNS)
    return size * sum(_letter(letter, fonts) for letter in text)


def fixed_width(text: str, size: float, bold: bool = False, mono: bool = False) -> str:
    """Return SVG attributes that keep a text at its measured width if the viewer substitutes a font."""
    wide = width(text, size, bold, mono)
    return f' textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""


def wrap(text: str, size: float, room: float, bold: bool = False) -> list[str]:
    """Wrap a text to lines of at most `room` pixels, breaking words that are too long."""
    lines, line, used, space = [], [], 0.0, width(" ", size, bold)
    for word in text.split(" "):
        *beginnings, end = split_word(word, size, room, bold)
        needed = width(end, size, bold)
        if line not in ([], [""]) and (beginnings or used + space + needed > room):
            lines.append(" ".join(line))
            line = []
        lines += beginnings
        if line in ([], [""]):
            line, used = [end], needed
        else:
            line.append(end)
            used += space + needed
    return [*lines, " ".join(line)]


def split_word(word: str, size: float, room: float, bold: bool = False, mono: bool = False) -> list[str]:
    """Split a word into pieces of at most `room` pixels, each with at least one letter."""
    pieces, start, used = [], 0, 0.0
    for place, letter in enumerate(word):
        needed = width(letter, size, bold, mono)
        if used + needed > room and place > start:
            pieces.append(word[start:place])
            start, used = place, 0.0
        used += needed
    return [*pieces, word[start:]]


def clip_to_width(text: str, size: float, room: float, bold: bool = False, mono: bool = False) -> str:
    """Cut a text to `room` pixels, ending in an ellipsis if anything was cut."""
    if width(text, size, bold, mono) <= room:
        return text
    ends = accumulate((width(letter, size, bold, mono) for letter in text), initial=width("…", size, bold, mono))
    return text[: max(0, sum(1 for end in ends if end <= room) - 1)] + "…"


def has_glyphs(text: str) -> bool:
    """Return whether the bundled fonts have every letter of a text."""
    available = _widths(FONTS[0]).keys() | _widths(SIGNS).keys()
    return all(ord(letter) in available for letter in set(text) if letter > " ")


@cache
def _letter(letter: str, fonts: tuple[str, ...]) -> float:
    """Return the width of a letter relative to the font size, estimated if none of the fonts has it."""
    for font in fonts:
        if (letter_width := _widths(font).get(ord(letter))) is not None:
            return letter_width
    return 0.0 if combining(letter) else 1.0 if east_asian_width(letter) in "WF" else 0.62


@cache
def _widths(font: str) -> dict[int, float]:
    """Return the width of every letter of a font, by code point."""
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
    """Return the glyph of every letter in the Basic Multilingual Plane, from a table of format 4."""
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
