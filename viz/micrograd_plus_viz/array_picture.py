"""A picture of one array, as the player draws it."""

from __future__ import annotations

from typing import Any

from . import cells, notebook, words
from .colours import resolve_styles
from .digits import number
from .exports import value_cards
from .graph_picture import svg_document
from .trace_input import Trace

ROOM = (420.0, 300.0)
MARGIN = 8.0
MOST_TOLD = 64


class ArrayPicture:
    """Picture of an array for a notebook. `svg` is the picture, `alt` its alternative text."""

    def __init__(self, array: Any, name: str = "", dark: bool = False) -> None:
        from micrograd_plus.tracing.values import value_to_dict

        value = cells.page_value(value_to_dict(array))
        largest = value_cards.largest_of([value])
        is_drawn = not (value_cards.is_scalar(value) or value_cards.is_written(value))
        legend = value_cards.scale(largest) if is_drawn else None
        card = value_cards.card(words.single_line(name), value, largest, ROOM)
        block = value_cards.stack([each for each in (card, legend) if each], 6.0)
        self.alt = alt(words.single_line(name), value)
        style = resolve_styles("picture.css", "film.css", dark=dark)
        inner = f'<style>{style}</style><g class="panel">{block.at(MARGIN, MARGIN)}</g>'
        self.svg = svg_document(block.width + 2 * MARGIN, block.height + 2 * MARGIN, inner, self.alt)

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def alt(name: str, value: Trace) -> str:
    """Return a picture in words: its numbers row by row, or their count and the largest."""
    about = f"{name or 'an array'} of shape {words.shape(value)}"
    if value["data"] is None or len(value["data"]) > MOST_TOLD:
        return f"{about}, entries up to {number(value_cards.largest_of([value]))} in size"
    columns = value["shape"][-1] if value["shape"] else 1
    told = [number(each) for each in value["data"]]
    rows = [", ".join(told[k : k + columns]) for k in range(0, len(told), columns or 1)]
    return f"{about}: {'; '.join(rows)}"
