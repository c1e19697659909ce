"""Two walks beside each other, stepped together from the first step in which they differ."""

from __future__ import annotations

from typing import Any

from . import notebook, page
from .window import shown


def _first(steps: int) -> str:
    """So many steps from the start, as the subject of a sentence."""
    return "The first step is" if steps == 1 else f"The first {steps} steps are"


class Beside:
    """Two walks as a notebook shows them. `said` tells where they part, `index` is the step at which they open."""

    def __init__(self, one: Any, other: Any) -> None:
        from micrograd_plus.tracing import compare

        found = compare(one, other)
        self.walks = [shown(each) for each in (one, other)]
        self.index = 0 if found.difference is None else found.steps + 1
        self.same = found.same
        self.said = (
            f"Both walks are the same, step by step: {found.steps}." if found.same
            else f"{_first(found.steps)} the same; then: {found.difference}"
        )  # fmt: skip

    def __repr__(self) -> str:
        return self.said

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.said, "text/html": notebook.pair(self.walks, self.said, self.index)}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", notebook.in_frame(self.document(), self.said)

    def document(self, title: str | None = None) -> str:
        """The two on one page of their own."""
        return page.pair(self.walks, title or self.said, self.index)
