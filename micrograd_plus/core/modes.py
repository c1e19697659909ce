"""Modes: what is so inside a block. Whether gradients are wanted, whether composites are unfused, who records.

A block keeps its mode on by being there: the mode belongs to an object that only the block holds, and ends with it. So
it is off once the block is gone, in whatever order blocks close and however one is left, by Ctrl-C in the middle of
`__exit__` too. `Mode.open` has the blocks of all threads, and while it is empty nobody asks anything else.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import Any
from weakref import ref


class Mode:
    """What the innermost open block of this thread and task says; without one, the default."""

    __slots__ = ("_blocks", "default", "open")

    def __init__(self, name: str, default: Any):
        self.default = default
        self.open: set[ref[Opened]] = set()
        self._blocks: ContextVar[tuple[ref[Opened], ...]] = ContextVar(name, default=())
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_a_child)

    def _in_a_child(self) -> None:
        """Forget the blocks of other threads, which are not in a forked child."""
        self.open.intersection_update([block for block in self._blocks.get() if block() is not None])

    def __call__(self) -> Any:
        """What is so here and now."""
        for block in reversed(self._blocks.get()):
            opened = block()
            if opened is not None:
                return opened.value
        return self.default

    def all(self) -> list[Any]:
        """What every open block of this thread and task says, from the outermost on."""
        return [opened.value for block in self._blocks.get() if (opened := block()) is not None]

    def begin(self, value: Any) -> Opened:
        """Open a block; it stays open for as long as what this returns is held."""
        opened = Opened(value)
        block = ref(opened)
        if value != self.default:
            block = ref(opened, self.open.discard)  # the interpreter itself calls this, so that no signal comes between
            self.open.add(block)
        self._blocks.set((*(each for each in self._blocks.get() if each() is not None), block))
        return opened


class Opened:
    """An open block. The mode is on for as long as somebody holds this."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Any):
        self.value = value


gradients_wanted = Mode("gradients_wanted", True)
"""Whether what is computed has a graph."""
unfused = Mode("unfused", False)
"""Whether composites run as the operations that they are made of."""
recording = Mode("recording", None)
