"""Recorded walks as pictures, players and files.

    import micrograd_plus_viz as viz

    trace                           # the last line of a notebook's cell, once this package is imported: the player
    viz.draw(trace)                 # a still picture of the graph
    viz.save(trace, "walk.html")    # the player on one page, which needs no network

A trace is one that was just recorded, its data (docs/trace.md), or the path of its JSON file: whoever only shows
walks need not have micrograd_plus installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from . import dot, film, live, notebook, page, picture
from .figure import Figure
from .layout import placed
from .source import Trace, trace_data
from .window import MOST_STEPS, window

__all__ = ["Drawing", "Figure", "Shown", "described", "draw", "save", "show", "widget"]
SUFFIXES = (".html", ".svg", ".png", ".gif", ".webp", ".json", ".dot")


class Shown:
    """A walk that a notebook shows as a player."""

    def __init__(self, trace: Trace, start: int = 0) -> None:
        self.trace, self.start = trace, start

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return notebook.mimebundle(self.trace, self.start)

    def _mime_(self) -> tuple[str, str]:
        return notebook.marimo(self.trace, self.start)

    def __repr__(self) -> str:
        return notebook.plain(self.trace)


class Drawing:
    """A still picture of the graph with every value and the gradient each node ends with."""

    def __init__(self, trace: Trace) -> None:
        self.dot = dot.source(trace)
        self.svg = picture.still(trace, placed(trace))
        self.alt = picture.alt(trace)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def show(trace: Any, start: int = 0) -> Shown:
    """The player for a notebook. A walk of more than 3000 steps is shown from step `start` on."""
    return Shown(trace_data(trace), start)


def draw(trace: Any) -> Drawing:
    """The graph as a still picture, the answer to micrograd's `draw_dot`."""
    return Drawing(trace_data(trace))


def described(figure: Any, description: str) -> Figure:
    """A figure of matplotlib's with alternative text, as the last line of a cell or handed to `display`."""
    return Figure(figure, description)


def widget(trace: Any, index: int = 0, synced: bool = False) -> Any:
    """A live widget: setting its `index` moves the walk, and with `synced` the walk sets `index`."""
    return live.widget(trace_data(trace), index, synced)


def save(
    trace: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    start: int = 0,
    length: int = MOST_STEPS,
) -> Path:
    """Write the walk to a file, by its suffix, and return the path.

    `.html` is the player on one page that needs nothing else; `.svg` a film that plays by itself; `.gif` and
    `.webp` the same as images; `.png` the graph with what every node received; `.dot` the graph for Graphviz;
    `.json` the trace itself. Of a walk longer than `length` steps the part from step `start` on is
    written, but `.json` always holds all of it. ValueError for any other suffix.
    """
    path, trace = Path(path), trace_data(trace)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _written(path, json.dumps(trace, ensure_ascii=False, allow_nan=False))
    shown, note = window(trace, start, length)
    if suffix == ".html":
        return _written(path, page.document(shown, title, note))
    if suffix == ".svg":
        return _written(path, film.animated(shown))
    if suffix == ".dot":
        return _written(path, dot.source(shown))
    if suffix == ".png":
        return _written(path, film.png(picture.still(shown, placed(shown))))
    if suffix in (".gif", ".webp"):
        return _written(path, film.frames(shown, suffix[1:].upper()))
    raise ValueError(
        f"cannot save a walk as {path.name!r}: the suffix says what is written, one of " + ", ".join(SUFFIXES)
    )


def __dir__() -> list[str]:
    return sorted(__all__)


def _written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def _register() -> None:
    """Tell the engine how its traces are shown, where the engine is installed."""
    if importlib.util.find_spec("micrograd_plus") is None:
        return
    from micrograd_plus.trace import Trace

    Trace.shown_by(
        lambda trace: notebook.mimebundle(trace_data(trace)),
        marimo=lambda trace: notebook.marimo(trace_data(trace)),
    )


_register()
