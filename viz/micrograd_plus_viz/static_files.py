"""Files in `static/`: style sheets, the player's code, fonts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
FONTS = [str(STATIC / "fonts" / f"Arimo-{weight}.ttf") for weight in ("Regular", "Bold")]
MONO = str(STATIC / "fonts" / "DejaVuSansMono.ttf")
"""Font of code."""
SIGNS = str(STATIC / "fonts" / "DejaVuSigns.ttf")
"""Font with mathematical signs and Cyrillic letters, which Arimo's subset lacks."""


@cache
def text(name: str) -> str:
    """Return the text of a file."""
    return (STATIC / name).read_text(encoding="utf-8")


def style(name: str) -> str:
    """Return a style sheet in one line."""
    return " ".join(text(name).split())
