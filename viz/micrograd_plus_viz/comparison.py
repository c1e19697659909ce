"""Two walks side by side, stepped together from the first step that differs."""

from __future__ import annotations

from typing import Any

from . import notebook, page
from .window import load_window


def _first_steps(steps: int) -> str:
    """Return the subject of a sentence about the first steps."""
    return "The first step is" if steps == 1 else f"The first {steps} steps are"


class WalkComparison:
    """Notebook output with two walks. `summary` describes the first difference; `index` is the step where they open."""

    def __init__(self, one: Any, other: Any) -> None:
        from micrograd_plus.tracing import compare

        result = compare(one, other)
        self.walks = [load_window(each) for each in (one, other)]
        self.index = 0 if result.difference is None else result.steps + 1
        self.same = result.same
        self.summary = (
            f"Both walks are the same, step by step: {result.steps}." if result.same
            else f"{_first_steps(result.steps)} the same; then: {result.difference}"
        )  # fmt: skip

    def __repr__(self) -> str:
        return self.summary

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.summary, "text/html": notebook.pair_html(self.walks, self.summary, self.index)}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", notebook.in_frame(self.document(), self.summary)

    def document(self, title: str | None = None) -> str:
        """Return a page with both walks."""
        return page.pair_page(self.walks, title or self.summary, self.index)
