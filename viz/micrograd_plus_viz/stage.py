"""The stage of a walk without a browser: the drawing that the page shows, as SVG."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import javascript
from .svg import coord

OVERVIEW, OVERVIEW_GAP = (150.0, 56.0), 4.0
_numbers = itertools.count()
_closed: list[str] = []
"""Stages that no one needs any more. The next one that opens closes them: garbage may be collected at any moment."""


class View(NamedTuple):
    """What the stage shows at a moment."""

    parts: list[tuple[str, str]]
    """Its parts in the order in which they are painted: the key of each, and its markup."""
    event: str
    transform: str
    """The camera: where the parts are on the stage."""
    overview: dict[str, Any] | None
    program: dict[str, Any] | None
    """The lines of the program beside the stage and the values of its names."""

    @property
    def camera(self) -> tuple[Any, ...]:
        """What the camera sees of the drawing."""
        return self.transform, self.overview


class Stage:
    """The stage of a walk, given the data of its page, at a size in pixels.

    Without a size, it is as large as the whole graph is with all its texts. `details` are the levels of detail that its
    nodes may have.
    """

    def __init__(
        self, data: dict[str, Any], size: tuple[float, float] | None = None, details: Sequence[str] = ()
    ) -> None:
        self._name = f"stage {next(_numbers)}"
        width, height = size or NATURAL
        options: dict[str, Any] = {"width": width, "height": height, "natural": size is None}
        if details:
            options["details"] = [*details]
        closed, _closed[:] = [*_closed], []
        self.width, self.height = javascript.call("openStill", self._name, data, options, closed)
        weakref.finalize(self, _closed.append, self._name)

    def show(self, k: int, t: float = 1.0) -> View:
        """Return the view after k steps, the event of the last one at a time `t` from 0 to 1."""
        return _view(javascript.call("showStill", self._name, k, t))

    def animate(self, k: int, start: float, length: float) -> View:
        """Return the view of step k whose event the viewer of an SVG moves by itself, for `length` seconds."""
        return _view(javascript.call("animateStill", self._name, k, start, length))

    def frame(self, view: View) -> str:
        """Return the markup of a view."""
        parts = "".join(markup for _, markup in view.parts)
        return self.in_frame(view, f'<g class="world" transform="{view.transform}">{parts}</g>{event_layer(view)}')

    def in_frame(self, view: View, inner: str) -> str:
        """Return the parts of a view inside the stage, with the overview of a graph that is not wholly in view."""
        overview = "" if view.overview is None else self._overview(view.overview)
        return f'<g class="graph"><g class="drawing">{inner}</g>{overview}</g>'

    def _overview(self, overview: dict[str, Any]) -> str:
        width, height = OVERVIEW
        x = OVERVIEW_GAP if overview["left"] else self.width - width - OVERVIEW_GAP
        y = OVERVIEW_GAP if overview["top"] else self.height - height - OVERVIEW_GAP
        place = f'x="{coord(x)}" y="{coord(y)}" width="{coord(width)}" height="{coord(height)}"'
        return (
            f'<rect class="map" {place} rx="5"/><svg {place} viewBox="{overview["view"]}" class="overview">'
            f'{overview["inner"]}</svg>'
        )


NATURAL = (1240.0, 900.0)
"""The room in which a graph is folded whose picture may have any size."""


def event_layer(view: View) -> str:
    """Return the event of a view as it lies over the graph."""
    return f'<g class="event">{view.event}</g>' if view.event else ""


def tile_picture(value: dict[str, Any]) -> dict[str, Any]:
    """Return one value as a tile: its markup, width and height, and the caption with its shape and scale."""
    return javascript.call("pictureOf", value)


def _view(made: dict[str, Any]) -> View:
    parts = [(key, markup) for key, markup in made["world"]]
    return View(parts, made["event"], made["transform"], made["overview"], made["program"])
