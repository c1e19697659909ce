"""Captures: tensors that a function reads from its closure, not from its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.runtime.recorders import Recorder
from ..core.variable import Node


class Captures(Recorder):
    """Recorder that collects, in `found`, the tensors with a graph that were created before it started."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.found: dict[Node, Any] = {}

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Collect the captured inputs of one application."""
        self.meet(inputs)

    def meet(self, values: Iterable[Any]) -> None:
        """Collect the captured tensors among some values."""
        for value in values:
            node = getattr(value, "node", None)
            if node is not None and node.created < self.start:
                self.found.setdefault(node, value)
