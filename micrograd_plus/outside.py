"""Tensors that a function reads from outside, without their being among its arguments: what Python's closures hide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .variable import Node, Recorder


class Outside(Recorder):
    """A recorder of the tensors with a graph that were born before it began: `found`, each by its node."""

    def __init__(self, birth: int) -> None:
        self.birth = birth
        self.found: dict[Node, Any] = {}

    def applied(self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        """Note inputs from outside."""
        self.meet(inputs)

    def meet(self, values: Iterable[Any]) -> None:
        """Note those of some values that come from outside."""
        for value in values:
            node = getattr(value, "node", None)
            if node is not None and node.serial < self.birth:
                self.found.setdefault(node, value)
