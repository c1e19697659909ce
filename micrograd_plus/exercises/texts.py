"""Text for a notebook's output: wrapped lines, shortened numbers, and escaped control characters."""

from __future__ import annotations

import textwrap
import unicodedata

WIDEST = 96
"""The largest number of characters in a line."""


class Text(str):
    """A string that a notebook shows without quotation marks, in wrapped lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(line for each in str(self).splitlines() for line in wrap_line(each))


def wrap_line(line: str, hanging: int = 0) -> list[str]:
    """Wrap a line between words. A notebook would break it anywhere."""
    return textwrap.wrap(line, WIDEST, subsequent_indent=" " * hanging, break_long_words=False, drop_whitespace=True,
                         replace_whitespace=False, break_on_hyphens=False) or [line]  # fmt: skip


def format_points(points: float) -> str:
    """Return a number of points with at most two decimals."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def escape(text: str) -> str:
    """Return a student's text with control characters, and marks that change the writing direction, as escapes."""
    hidden = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in hidden else c for c in text)
