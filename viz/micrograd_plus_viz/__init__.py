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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import dot, live, notebook, page, picture, window
from .comparison import Beside
from .exploring import explore as _explore
from .exports import film, solution
from .figure import Figure
from .layout import placed
from .quizzes import TOLERANCE, Quiz, quiz as _quiz
from .source import Trace, trace_data, with_insides
from .window import MOST_ON_A_PAGE, MOST_STEPS

__all__ = [
    "Beside", "Drawing", "Figure", "Quiz", "Shown", "compare", "described", "draw", "explore", "quiz", "save", "show",
    "widget",
]  # fmt: skip
SUFFIXES = (".html", ".svg", ".png", ".gif", ".webp", ".md", ".tex", ".json", ".dot")


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
    """A still picture: the graph with every value and what each node received, or one step with its numbers."""

    def __init__(self, trace: Any, index: int | None = None, dark: bool = False) -> None:
        if index is None:
            trace, rest = window.shown(trace, 0, window.MOST_PICTURED)
            self.svg = picture.still(trace, placed(trace), dark)
            self.alt = picture.alt(trace)
            if rest:
                self.alt += f": steps 1 to {len(trace['steps'])} of {trace['total']}, and the nodes that they touch"
        else:
            trace, _ = window.holding(trace, [index])
            self.svg, self.alt, _ = film.still(trace, index, dark=dark)
        self.dot = dot.source(trace)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def show(trace: Any, start: int = 0, index: int = 0) -> Shown:
    """The player for a notebook, after `index` steps. A walk of more than 1000 steps is shown from step `start` on."""
    return Shown(trace, start, index)


def draw(trace: Any, index: int | None = None, dark: bool = False) -> Drawing:
    """The graph as a still picture, the answer to micrograd's `draw_dot`; with `index` the picture of that step.

    Of a walk of more than 4000 steps it is the graph of the first ones; the alternative text says so.
    A step's picture has its sentence, formula and numbers, as the player that `show(trace, index=index)` opens.
    """
    return Drawing(trace, index, dark)


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


def quiz(
    trace: Any,
    step: int | Sequence[int] | None = None,
    kind: str | Sequence[str] | None = None,
    *,
    find: str | None = None,
    rule: Any = None,
    candidates: Sequence[Mapping[str, Any]] = (),
    questions: int = 5,
    tolerance: float = TOLERANCE,
    show_me: bool = True,
    seed: int = 0,
    start: int = 0,
) -> Quiz:
    """A walk that asks: a step is hidden until its question is answered. `viz.save(quiz, "quiz.html")` is a page of it.

    `step` is the number of a step as it is printed, or several; without any, at most `questions` that say most are
    chosen. `kind` is what is asked, or several of which the best for a step is taken: "gradient" (what the receiver
    holds then: a number, or one entry of an array), "shape", "sign", "order" (whose rule is next), "adds" (to what is
    there, or the first), "formula" and "picture" (one of four). Numbers within `tolerance` of their size are right.
    `candidates` are wrong answers with what is said to them: `{"answer": 3.0, "hint": "What was there before?"}`, for
    one of several steps with its "step" as well; the quiz has plain hints of its own. Without `show_me` only the right
    answer leads on.

    With `find="wrong rule"` the walk is made again with a wrong rule, and its first wrong step is to be marked: `rule`
    is an exhibit of the museum or its name, a dictionary as `{"tanh.x": lambda out: 1 - out}`, or a mistake that
    `tracing.replay` knows; without it, an exhibit that fits is chosen by `seed`. The engine has to be there for that.
    ValueError where there is nothing to ask.
    """
    return _quiz(
        trace, step, kind, find=find, rule=rule, candidates=candidates, questions=questions, tolerance=tolerance,
        show_me=show_me, seed=seed, start=start,
    )  # fmt: skip


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
    length: int = MOST_ON_A_PAGE,
    index: int | None = None,
    width: int | None = None,
    steps: Iterable[int] | None = None,
    pace: float = film.SECONDS,
    dark: bool = False,
    loop: bool = False,
    motion: bool = False,
) -> Path:
    """Write the walk to a file, by its suffix, and return the path.

    `.html` is the player on one page that needs nothing else; `.svg` a film that plays by itself; `.gif` and
    `.webp` the same as images; `.png` the graph with what every node received; `.md` and `.tex` the walk worked out
    on paper; `.dot` the graph for Graphviz; `.json` the trace itself. With `index` an `.svg` or `.png` is the picture
    of that step, and a page opens there. Of a walk longer than `length` steps the part from step `start` on is written,
    but `.json` always holds all of it; a page goes on from one thousand steps to the next.

    Pictures are `width` pixels wide, and `dark` ones are for dark pages. Films have a frame for each of `steps`, `pace`
    seconds long; those in pixels play for ever with `loop`, and with `motion` a bead rolls along each edge. ValueError
    for any other suffix, and for a film or a picture that would be too large.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"cannot save a walk as {path.name!r}: the suffix says what is written, one of " + ", ".join(SUFFIXES)
        )
    if isinstance(trace, Quiz):
        return trace.save(path, title)
    if isinstance(trace, Beside):
        if suffix != ".html":
            raise ValueError(f"two walks beside each other are saved as .html, not as {path.name!r}")
        return _written(path, trace.document(title))
    if suffix == ".json":
        return _written(path, json.dumps(with_insides(trace_data(trace)), ensure_ascii=False, allow_nan=False))
    if suffix == ".html":
        (shown, note), *more = window.parts(trace, start, length)
        return _written(path, page.document(shown, title, note, index or 0, more))
    looks = {"width": width, "dark": dark}
    if suffix in (".svg", ".png") and index is not None:
        return _written(path, film.step(window.holding(trace, [index])[0], index, suffix, **looks))
    wanted = [index] if steps is None and index is not None else None if steps is None else list(steps)
    if suffix in (".md", ".tex"):
        shown, _ = window.holding(trace, wanted or [], start, min(length, solution.MOST_STEPS))
        return _written(path, solution.written(shown, suffix, title, wanted))
    shown, _ = window.holding(trace, wanted or [], start, min(length, MOST_STEPS))
    film_of = {"steps": wanted, "pace": pace, "loop": loop, "motion": motion} | looks
    return _written(path, _drawn(shown, suffix, film_of, looks))


def _drawn(shown: Trace, suffix: str, film_of: dict[str, Any], looks: dict[str, Any]) -> str | bytes:
    """A whole walk as a picture, or as a film."""
    if suffix == ".dot":
        return dot.source(shown)
    if suffix == ".png":
        return film.graph(shown, **looks)
    if suffix == ".svg":
        return film.animated(shown, steps=film_of["steps"], pace=film_of["pace"], **looks)
    return film.frames(shown, suffix[1:].upper(), **film_of)


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

    Trace.set_display(
        lambda trace: show(trace, index=getattr(trace, "opens_at", 0))._repr_mimebundle_(),
        marimo=lambda trace: show(trace, index=getattr(trace, "opens_at", 0))._mime_(),
    )


_register()
