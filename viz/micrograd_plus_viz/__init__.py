"""Players, pictures and files made from recorded walks.

    import micrograd_plus_viz as viz

    trace                           # the last line of a notebook's cell, once this package is imported: the player
    viz.draw(trace)                 # a still picture of the graph
    viz.save(trace, "walk.html")    # the player on one page, which needs no network

A trace is a recording, its data as a dictionary (docs/trace.md), or the path of its JSON file. Showing saved walks does
not need micrograd_plus.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from . import dot, graphviz_run, live_widgets, notebook, packing, page, payload, timeline, window, words
from .array_picture import ArrayPicture
from .comparison import WalkComparison
from .exports import film, worked_solution
from .figure import Figure
from .quizzes import TOLERANCE, Card, Progress, Quiz, ask as _ask, quiz as _quiz
from .quizzes.folded_texts import unfold as _unfold
from .quizzes.output import SealedOutput
from .sliders import explore as _explore
from .trace_input import Trace, trace_data, with_insides
from .window import MOST_ON_A_PAGE, MOST_STEPS

__all__ = [
    "ArrayPicture", "Card", "Drawing", "Figure", "GraphvizDrawing", "Progress", "Quiz", "WalkComparison", "WalkPlayer",
    "ask", "compare", "describe", "digraph", "draw", "explore", "picture", "progress", "quiz", "save", "show", "unfold",
    "widget",
]  # fmt: skip
SUFFIXES = (".html", ".svg", ".png", ".gif", ".webp", ".mp4", ".md", ".tex", ".json", ".dot", ".dot.svg")


class WalkPlayer:
    """Notebook output that shows a walk as a player."""

    def __init__(self, trace: Any, start: int = 0, index: int = 0, program: Any = None) -> None:
        self.index = window.check_index(index)
        loop = timeline.load_film(trace) if start == 0 else None
        self.trace, self.note = (loop, None) if loop else window.load_window(trace, start)
        if program is not None:
            self.trace = self.trace | {"written": str(getattr(program, "source", program))}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return notebook.mimebundle(self.trace, self.note, self.index)

    def _mime_(self) -> tuple[str, str]:
        return notebook.marimo(self.trace, self.note, self.index)

    def __repr__(self) -> str:
        return notebook.plain_text(self.trace)


class Drawing:
    """Still picture of the whole graph with its values and gradients, or of one step with its numbers."""

    def __init__(self, trace: Any, index: int | None = None, dark: bool = False) -> None:
        if index is None:
            trace, rest = window.load_window(trace, 0, window.MOST_PICTURED)
            drawn = payload.payload(trace)
            self.svg, self.alt = film.graph_svg(drawn, dark)[0], drawn["alt"]
            if rest:
                self.alt += f": steps 1 to {len(trace['steps'])} of {trace['total']}, and the nodes that they use"
        else:
            index = window.check_index(index)
            trace, _ = window.load_steps(trace, [index])
            self.svg, self.alt = film.step_svg(trace, index, dark=dark)
        self.dot = dot.source(trace)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


class GraphvizDrawing:
    """Graph of a walk as Graphviz draws it. `source` is its DOT text, `svg` the drawing."""

    def __init__(self, trace: Any) -> None:
        visible, _ = window.load_window(trace, 0, window.MOST_PICTURED)
        self.source, self.alt = dot.source(visible), words.graph_alt(visible)

    @cached_property
    def svg(self) -> str:
        """Return the drawing. Raises GraphvizMissingError without Graphviz."""
        return graphviz_run.svg(self.source)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.alt, "text/html": notebook.image(self.svg, self.alt)}


def show(trace: Any, start: int = 0, index: int = 0, *, program: Any = None) -> WalkPlayer:
    """Return the player for a notebook, opened after `index` steps.

    If the walk has more than 1000 steps, the player starts at step `start`. `program` is the same step as
    `mg.written_out` or `mg.compile` has written it. The player shows its text, and lights the lines of each step.
    """
    return WalkPlayer(trace, start, index, program)


def draw(trace: Any, index: int | None = None, dark: bool = False) -> Drawing:
    """Return a still picture of the graph, like micrograd's `draw_dot`.

    With `index`, return a picture of that step with its sentence, formula and numbers, as in the player that
    `show(trace, index=index)` opens. If the walk has more than 4000 steps, the picture shows the graph of the first
    4000, and the alternative text says so.
    """
    return Drawing(trace, index, dark)


def digraph(trace: Any) -> GraphvizDrawing:
    """Return the graph as Graphviz draws it, with the final value and gradient of every node.

    Its `source` is DOT text for other programs. No system binary is needed.
    """
    return GraphvizDrawing(trace)


def describe(figure: Any, description: str) -> Figure:
    """Return a matplotlib figure with alternative text, to be the last line of a cell or an argument of `display`."""
    return Figure(figure, description)


def widget(trace: Any, index: int = 0, synced: bool = True) -> Any:
    """Return a live widget. Setting its `index` moves the walk, and moving the walk sets `index` if `synced`."""
    return live_widgets.widget(trace, index, synced)


def compare(one: Any, other: Any) -> WalkComparison:
    """Return two walks that are stepped together. They open at the first step that differs.

    Walks of one program share a graph, with two numbers where they differ. Others are below each other.

    `viz.save(viz.compare(one, other), "walks.html")` writes both to one page. The comparison needs micrograd_plus.
    """
    return WalkComparison(one, other)


def quiz(
    trace: Any,
    step: int | str | tuple[str, str] | Sequence[Any] | None = None,
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
    say: str = "",
    why: str = "",
    entry: int | tuple[int, ...] | None = None,
) -> Quiz:
    """Return a quiz about a walk. Each step stays hidden until the student answers its question.

    `viz.save(quiz, "quiz.html")` writes it as a page.

    `step` is the number of a step as printed, or several numbers. `"w"` is the last step that reaches `w`, and
    `("matmul", "w")` the last one from a product. Without it, the quiz chooses up to `questions`
    instructive steps. `kind` is the kind of question, or several kinds to choose from: "gradient" (the receiver's
    gradient after the step, or one entry of it), "shape", "sign", "order" (which rule is applied next), "adds" (is the
    value added to an earlier one), "formula", "picture" (one of four), and "cell" (press the entry that gets the most).
    A number is right if its relative error is at most `tolerance`.

    `candidates` are wrong answers with hints: `{"answer": 3.0, "hint": "What was there before?"}`. If there
    are several steps, each candidate also needs its "step". The quiz has hints for common mistakes. Without
    `show_me`, students must find the answer themselves. With one step, `say` words the question, `why` is shown after
    the right answer, and `entry` chooses the entry of an array that is asked for.

    With `find="wrong rule"`, the walk is replayed with a wrong rule, and students mark the first wrong step. `rule` is
    an exhibit of the museum or its name, a dictionary such as `{"tanh.x": lambda out: 1 - out}`, or the name of a
    mistake in `tracing.replay`. Without it, `seed` selects an exhibit that applies to the walk. This needs
    micrograd_plus. Raises ValueError if no question is possible.
    """
    return _quiz(
        trace, step, kind, find=find, rule=rule, candidates=candidates, questions=questions, tolerance=tolerance,
        show_me=show_me, seed=seed, start=start, say=say, why=why, entry=entry,
    )  # fmt: skip


def ask(
    say: str,
    right: Any,
    *,
    wrong: Mapping[Any, str] | None = None,
    why: str = "",
    choices: Sequence[str] | None = None,
    picture: Any = None,
    tolerance: float = TOLERANCE,
    show_me: bool = True,
) -> Card:
    """Return a question card, which the page answers without a kernel.

    For example `ask("What is the slope of x² at 3?", right=6, wrong={9: "That is x² itself."}, why="It is 2x.")`.

    The form of the answer follows from `right`: a number; a list or array of numbers, compared to three digits; a
    shape, which is a tuple; `True` or `False`; a text, which is one of `choices` or of the texts in `wrong`; a set of
    texts, if several of `choices` are right. With `picture`, an array of one or two axes, `right` is the index of the
    entry to press, a list of indices of which each is right, or a set of indices that must all be pressed.

    `wrong` maps wrong answers to hints, and `None` to the hint for all others, which stands in the page unsealed. If
    several choices are right, the card says itself how many are missing or too many, and then the hint. `why` is shown
    after the right answer. Texts may have `code` in backticks.
    Answers, hints and `why` are sealed: the page holds none of them as text. A number is right if its relative error is
    at most `tolerance`. Without `show_me`, students must find the answer themselves. Raises ValueError or TypeError for
    a question that cannot be asked, such as a wrong answer that is right.
    """
    return _ask(
        say, right, wrong=wrong, why=why, choices=choices, picture=picture, tolerance=tolerance, show_me=show_me
    )


def progress() -> Progress:
    """Return a line that counts the answered questions of the page, without a kernel."""
    return Progress()


def unfold(text: str) -> Any:
    """Return an answer, a reason or hints that the notebook of a lesson keeps folded, or raise ValueError.

    `make lessons` folds them, so that nobody reads an answer by accident: `viz.ask("…", **viz.unfold("…"))`.
    """
    return _unfold(text)


def picture(array: Any, name: str = "", dark: bool = False) -> ArrayPicture:
    """Return a picture of an array as the player draws it: numbers if there are few, otherwise cells with a scale.

    `name` stands above it, beside the shape. The alternative text has the numbers, or their range. `.svg` is the
    picture itself.
    """
    return ArrayPicture(array, name, dark)


def explore(program: Callable[..., Any], *, places: int | None = None, **inputs: Any) -> Any:
    """Return a player with sliders for a program's inputs.

    For example `explore(lambda a, b: a * b + a, a=(-2.0, 2.0), b=3.0)`. A pair makes a slider between two ends; a
    number makes a text box. When an input changes, the program and its backward walk are recorded again, and the player
    stays at its step. Needs a kernel and ipywidgets.

    With `places`, the program is recorded now for as many positions of its only slider: the result needs no kernel, and
    `viz.save` writes it as a page. Then one input is a pair, and all others are numbers.
    """
    return _explore(program, places, inputs)


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
    """Write the walk to a file in the format of its suffix, and return the path.

    `.html` is a self-contained page with the player; `.svg` an animation; `.gif`, `.webp` and `.mp4` the same as films;
    `.png` the graph with every node's gradient; `.md` and `.tex` a worked solution; `.dot` the graph for Graphviz and
    `.dot.svg` its drawing; `.json` the trace itself. With `index`, `.svg` and `.png` show that step, and a page opens
    there. If the walk has more than `length` steps, the file holds `length` steps from `start` on; `.json` always holds
    all. A page loads long walks in parts of one thousand steps.

    `width` is in pixels; `dark` chooses colours for dark pages. Animations have one frame for each of `steps`, each
    `pace` seconds long. In a film, `motion` shows the rule of each step at work, and `loop` repeats it (not in `.mp4`).
    Raises ValueError for any other suffix, and if an animation or picture would be too large.
    """
    path = Path(path)
    suffix = ".dot.svg" if path.name.lower().endswith(".dot.svg") else path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"cannot save a walk as {path.name!r}: the suffix must be one of " + ", ".join(SUFFIXES)
        )
    if isinstance(trace, SealedOutput):
        return trace.save(path, title)
    if isinstance(trace, WalkComparison):
        if suffix != ".html":
            raise ValueError(f"a comparison of two walks can only be saved as .html, not as {path.name!r}")
        return _write(path, trace.document(title))
    if suffix == ".json":
        whole = json.dumps(with_insides(trace_data(trace)), ensure_ascii=False, allow_nan=False)
        return _write(path, packing.to_bytes(whole))
    index = None if index is None else window.check_index(index)
    if suffix == ".html":
        if start == 0 and (whole := timeline.load_film(trace)):
            return _write(path, page.document(whole, title, None, index or 0))
        (visible, note), *more = window.load_parts(trace, start, length)
        return _write(path, page.document(visible, title, note, index or 0, more))
    looks = {"width": width, "dark": dark}
    if suffix in (".svg", ".png") and index is not None:
        return _write(path, film.step_picture(window.load_steps(trace, [index])[0], index, suffix, **looks))
    wanted = [index] if steps is None and index is not None else None if steps is None else list(steps)
    if suffix in (".md", ".tex"):
        visible, _ = window.load_steps(trace, wanted or [], start, min(length, worked_solution.MOST_STEPS))
        return _write(path, worked_solution.write_solution(visible, suffix, title, wanted))
    visible, _ = window.load_steps(trace, wanted or [], start, min(length, MOST_STEPS))
    film_of = {"steps": wanted, "pace": pace, "loop": loop, "motion": motion} | looks
    return _write(path, _render(visible, suffix, film_of, looks))


def _render(visible: Trace, suffix: str, film_of: dict[str, Any], looks: dict[str, Any]) -> str | bytes:
    """Return the graph of a walk as a picture, or the walk as an animation."""
    if suffix.startswith(".dot"):
        return dot.source(visible) if suffix == ".dot" else graphviz_run.svg(dot.source(visible))
    if suffix == ".png":
        return film.graph_png(visible, **looks)
    if suffix == ".svg":
        return film.animate(visible, steps=film_of["steps"], pace=film_of["pace"], **looks)
    return film.frames(visible, suffix[1:].upper(), **film_of)


def __dir__() -> list[str]:
    return sorted(__all__)


def _write(path: Path, content: str | bytes) -> Path:
    """Write a file completely or not at all."""
    from micrograd_plus.files import write_file

    write_file(path, content)
    return path


def _register() -> None:
    """Register the player with the engine, if the engine is installed."""
    if importlib.util.find_spec("micrograd_plus") is None:
        return
    from micrograd_plus.tracing import Trace

    Trace.set_display(
        lambda trace: show(trace, index=getattr(trace, "opens_at", 0))._repr_mimebundle_(),
        marimo=lambda trace: show(trace, index=getattr(trace, "opens_at", 0))._mime_(),
    )


_register()
