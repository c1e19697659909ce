"""Two walks in one graph, or below each other, stepped together from the first step that differs."""

from __future__ import annotations

from html import escape
from typing import Any

from . import notebook, page
from .pairs import join_walks
from .timeline import load_film
from .window import load_window
from .words import join_words


def _first_steps(steps: int) -> str:
    """Return the subject of a sentence about the first steps."""
    return "The first step is" if steps == 1 else f"The first {steps} steps are"


BESIDE = "Two numbers, one | other, are shown where the walks differ."


class WalkComparison:
    """Notebook output with two walks. `summary` describes the first difference; `index` is the step where they open.

    Walks of equal programs share one graph, `joined`. It is None for others, which are shown below each other.
    """

    def __init__(self, one: Any, other: Any) -> None:
        from micrograd_plus.tracing import compare

        result = compare(one, other)
        films: list[Any] = [load_film(each) for each in (one, other)]
        both = films if all(films) else [load_window(each)[0] for each in (one, other)]
        self.joined = join_walks(both[0], both[1])
        self.walks = [] if self.joined else [load_window(each) for each in (one, other)]
        self.index = 0 if result.difference is None else result.steps + 1
        self.same = result.same
        # Hooks at the end of a walk, clipping and clearing change gradients after all steps.
        others = [each.name for each in result.gradients if not each.close]
        afterwards = f" Afterwards, the gradients of {join_words(others)} differ." if result.same and others else ""
        self.summary = (
            f"Both walks are the same, step by step: {result.steps}.{afterwards}" if result.same
            else f"{_first_steps(result.steps)} the same; then: {result.difference}"
        )  # fmt: skip

    def __repr__(self) -> str:
        return self.summary

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        if self.joined:
            html = f"<p>{escape(self.summary)}</p>{notebook.html(self.joined, BESIDE, self.index)}"
        else:
            html = notebook.pair_html(self.walks, self.summary, self.index)
        return {"text/plain": self.summary, "text/html": html}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", notebook.in_frame(self.document(), self.summary)

    def document(self, title: str | None = None) -> str:
        """Return a page with both walks."""
        if self.joined:
            return page.document(self.joined, title or self.summary, BESIDE, self.index)
        return page.pair_page(self.walks, title or self.summary, self.index)
