"""Captures: tensors that a function reads from outside, without their being among its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.runtime.recorders import Recorder
from ..core.variable import Node


class Captures(Recorder):
    """A recorder of the tensors with a graph that were created before it began: `found`, each by its node."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.found: dict[Node, Any] = {}

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note inputs from outside."""
        self.meet(inputs)

    def meet(self, values: Iterable[Any]) -> None:
        """Note those of some values that come from outside."""
        for value in values:
            node = getattr(value, "node", None)
            if node is not None and node.created < self.start:
                self.found.setdefault(node, value)
