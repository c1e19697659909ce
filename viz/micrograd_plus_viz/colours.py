"""The player's own colours, for pictures that no style sheet of a page reaches.

They are read from `static/player.css`, so that a picture and the player never differ. A picture has plain colours:
what opens files outside a browser knows neither variables nor `light-dark()`.
"""

from __future__ import annotations

import re
from functools import cache

from .static_files import style, text

_NAMED = re.compile(r"--([\w-]+):[^;]*?light-dark\((#\w+), (#\w+)\)")
_LEVEL = re.compile(r"^\.([hnp]\d) \{ background: light-dark\((#\w+), (#\w+)\)", re.MULTILINE)


@cache
def named(dark: bool = False) -> dict[str, str]:
    """Every colour of the player by its name."""
    return {name: night if dark else day for name, day, night in _NAMED.findall(text("player.css"))}


@cache
def levels(dark: bool = False) -> dict[str, str]:
    """The colours of cells: blank, four of positive numbers and four of negative ones."""
    return {name: night if dark else day for name, day, night in _LEVEL.findall(text("player.css"))}


@cache
def looks(*sheets: str, dark: bool = False) -> str:
    """Style sheets of `static/` in one line, with plain colours in the places of the player's names for them."""
    named_here = named(dark)
    sheet = " ".join(map(style, sheets))
    sheet = re.sub(r"light-dark\((#\w+), (#\w+)\)", r"\2" if dark else r"\1", sheet)
    cells = "".join(f".{name}{{fill:{colour}}}" for name, colour in levels(dark).items())
    return re.sub(r"var\(--([\w-]+)\)", lambda each: named_here.get(each[1], each[0]), sheet) + cells
