"""The player's colours, for pictures outside a page.

They are read from `static/player.css`, so pictures and player always agree. A picture has plain colour values, because
image viewers support neither CSS variables nor `light-dark()`.
"""

from __future__ import annotations

import re
from functools import cache

from .static_files import style, text

_NAMED = re.compile(r"--([\w-]+):[^;]*?light-dark\((#\w+), (#\w+)\)")
_LEVEL = re.compile(r"^\.([hnpc]\d) \{ background: light-dark\((#\w+), (#\w+)\)", re.MULTILINE)


@cache
def palette(dark: bool = False) -> dict[str, str]:
    """Return the player's colours by name."""
    return {name: night if dark else day for name, day, night in _NAMED.findall(text("player.css"))}


@cache
def levels(dark: bool = False) -> dict[str, str]:
    """Return the colours of cells: blank, four for positive and four for negative numbers."""
    return {name: night if dark else day for name, day, night in _LEVEL.findall(text("player.css"))}


@cache
def resolve_styles(*sheets: str, dark: bool = False) -> str:
    """Return style sheets of `static/` in one line, with colour values instead of CSS variables."""
    named_here = palette(dark)
    sheet = " ".join(map(style, sheets))
    sheet = re.sub(r"light-dark\((#\w+), (#\w+)\)", r"\2" if dark else r"\1", sheet)
    cells = "".join(f".{name}{{fill:{colour}}}" for name, colour in levels(dark).items())
    return re.sub(r"var\(--([\w-]+)\)", lambda each: named_here.get(each[1], each[0]), sheet) + cells
