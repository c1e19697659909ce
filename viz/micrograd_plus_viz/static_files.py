"""What lies in `static/`: style sheets, the player's code, a font."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
FONTS = [str(STATIC / "fonts" / f"Arimo-{weight}.ttf") for weight in ("Regular", "Bold")]
SIGNS = str(STATIC / "fonts" / "DejaVuSigns.ttf")
"""Signs of mathematics, and Cyrillic letters, which the others do not have."""


@cache
def text(name: str) -> str:
    """A file's text."""
    return (STATIC / name).read_text(encoding="utf-8")


def style(name: str) -> str:
    """A style sheet in one line."""
    return " ".join(text(name).split())
