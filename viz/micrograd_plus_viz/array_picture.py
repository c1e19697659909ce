"""A picture of one array, as the player draws it."""

from __future__ import annotations

import math
from typing import Any

from . import cells, letters, notebook, words
from .colours import resolve_styles
from .digits import number
from .stage import tile_picture
from .svg import coord, document, text
from .trace_input import Trace

MARGIN, HEAD, FOOT = 10.0, 22.0, 20.0
TITLE, CAPTION = 13.0, 12.0
MOST_TOLD = 64


class ArrayPicture:
    """Picture of an array for a notebook. `svg` is the picture, `alt` its alternative text."""

    def __init__(self, array: Any, name: str = "", dark: bool = False) -> None:
        from micrograd_plus.tracing.values import value_to_dict

        if not isinstance(name, str):
            raise TypeError(f"name must be a text, got {name!r}")
        try:
            value = cells.page_value(value_to_dict(array))
            is_numeric = not value["dtype"].startswith(("object", "datetime", "timedelta"))
        except (TypeError, ValueError):
            is_numeric = False
        if not is_numeric:
            raise TypeError(f"a picture needs an array of numbers whose rows have the same length, got {array!r:.80}")
        name = words.single_line(name)
        self.alt = alt(name, value)
        self.svg = _draw(value, name, self.alt, dark)

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def _draw(value: Trace, name: str, described: str, dark: bool) -> str:
    """Return the picture: the name above the tile, its shape and scale below."""
    tile = tile_picture(value)
    head = HEAD if name else 0.0
    caption = tile["caption"] if value["shape"] else ""
    widths = (tile["width"], letters.width(name, TITLE, bold=True), letters.width(caption, CAPTION))
    width = max(widths) + 2 * MARGIN
    height = head + tile["height"] + (FOOT if caption else 0.0) + 2 * MARGIN
    inner = (
        (text(name, MARGIN, MARGIN + 12, TITLE, "sentence", bold=True) if name else "")
        + f'<g class="graph" transform="translate({coord(MARGIN)} {coord(MARGIN + head)})">{tile["markup"]}</g>'
        + (text(caption, MARGIN, height - MARGIN - 3, CAPTION, "soft") if caption else "")
    )
    return document(width, height, resolve_styles("stage.css", "picture.css", dark=dark), inner, described)


def alt(name: str, value: Trace) -> str:
    """Return a picture in words: its numbers row by row, or their count and the largest."""
    about = f"{name} of shape {words.shape(value)}" if name else f"a {words.shape(value)} array"
    if value["data"] is None or len(value["data"]) > MOST_TOLD:
        entries = value["data"] or value.get("cells", {"data": []})["data"]
        largest = max(filter(math.isfinite, map(cells.size, entries)), default=0.0)
        return f"{about}, entries up to {number(largest)} in size"
    columns = value["shape"][-1] if value["shape"] else 1
    numbers = [number(each) for each in value["data"]]
    rows = [", ".join(numbers[k : k + columns]) for k in range(0, len(numbers), columns or 1)]
    return f"{about}: {'; '.join(rows)}"
