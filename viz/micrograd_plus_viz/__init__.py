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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from . import dot, film, live, notebook, page, picture, window
from .comparison import Beside
from .exploring import explore as _explore
from .figure import Figure
from .layout import placed
from .source import normal, trace_data, with_insides
from .window import MOST_STEPS

__all__ = ["Beside", "Drawing", "Figure", "Shown", "compare", "described", "draw", "explore", "save", "show", "widget"]
SUFFIXES = (".html", ".svg", ".png", ".gif", ".webp", ".json", ".dot")


class Shown:
    """A walk that a notebook shows as a player."""

    def __init__(self, trace: Any, start: int = 0, index: int = 0) -> None:
        (self.trace, self.note), self.index = window.shown(trace, start), index

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return notebook.mimebundle(self.trace, self.note, self.index)

    def _mime_(self) -> tuple[str, str]:
        return notebook.marimo(self.trace, self.note, self.index)

    def __repr__(self) -> str:
        return notebook.plain(self.trace)


class Drawing:
    """A still picture of the graph with every value and the gradient each node ends with."""

    def __init__(self, trace: Any) -> None:
        trace = normal(trace_data(trace))
        self.dot = dot.source(trace)
        self.svg = picture.still(trace, placed(trace))
        self.alt = picture.alt(trace)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def show(trace: Any, start: int = 0, index: int = 0) -> Shown:
    """The player for a notebook, after `index` steps. A walk of more than 1000 steps is shown from step `start` on."""
    return Shown(trace, start, index)


def draw(trace: Any) -> Drawing:
    """The graph as a still picture, the answer to micrograd's `draw_dot`."""
    return Drawing(trace)


def described(figure: Any, description: str) -> Figure:
    """A figure of matplotlib's with alternative text, as the last line of a cell or handed to `display`."""
    return Figure(figure, description)


def widget(trace: Any, index: int = 0, synced: bool = False) -> Any:
    """A live widget: setting its `index` moves the walk, and with `synced` the walk sets `index`."""
    return live.widget(trace, index, synced)


def compare(one: Any, other: Any) -> Beside:
    """Two walks beside each other, stepped together; they open at the first step in which they differ.

    `viz.save(viz.compare(one, other), "walks.html")` is a page of the two. The engine compares them, so it has to be
    there.
    """
    return Beside(one, other)


def explore(program: Callable[..., Any], **inputs: Any) -> Any:
    """Sliders for a program's inputs, as in `explore(lambda a, b: a * b + a, a=(-2.0, 2.0), b=3.0)`.

    A pair is a slider between two ends, a number a box to type in. Whenever one moves the program is recorded anew with
    the walk back from what it returns, and the player stays at its step. It needs a kernel and ipywidgets.
    """
    return _explore(program, **inputs)


def save(
    trace: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    start: int = 0,
    length: int = MOST_STEPS,
    index: int = 0,
    width: int | None = None,
    steps: Iterable[int] | None = None,
    pace: float = film.SECONDS,
) -> Path:
    """Write the walk to a file, by its suffix, and return the path.

    `.html` is the player on one page that needs nothing else; `.svg` a film that plays by itself; `.gif` and
    `.webp` the same as images; `.png` the graph with what every node received; `.dot` the graph for Graphviz;
    `.json` the trace itself. Of a walk longer than `length` steps the part from step `start` on is
    written, but `.json` always holds all of it. A page opens after `index` steps. Pictures in pixels are `width` pixels
    wide; films have a frame for each of `steps`, `pace` seconds long. ValueError for any other suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if isinstance(trace, Beside):
        if suffix != ".html":
            raise ValueError(f"two walks beside each other are saved as .html, not as {path.name!r}")
        return _written(path, trace.document(title))
    if suffix == ".json":
        return _written(path, json.dumps(with_insides(trace_data(trace)), ensure_ascii=False, allow_nan=False))
    shown, note = window.shown(trace, start, length)
    if suffix == ".html":
        return _written(path, page.document(shown, title, note, index))
    if suffix == ".svg":
        return _written(path, film.animated(shown))
    if suffix == ".dot":
        return _written(path, dot.source(shown))
    if suffix == ".png":
        film.too_large(shown)
        places = placed(shown)
        zoom = film.sharpness(places.width, places.height) if width is None else width / places.width
        return _written(path, film.png(picture.still(shown, places), zoom))
    if suffix in (".gif", ".webp"):
        return _written(path, film.frames(shown, suffix[1:].upper(), width=width, steps=steps, pace=pace))
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
    from micrograd_plus.tracing import Trace

    Trace.shown_by(
        lambda trace: show(trace)._repr_mimebundle_(),
        marimo=lambda trace: show(trace)._mime_(),
    )


_register()
