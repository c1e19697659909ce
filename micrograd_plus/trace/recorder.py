"""The recorder: while its block is open it notes what happens, as cheaply as it can; the trace is built when somebody
looks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from types import CodeType, FrameType
from typing import Any

from .. import variable
from ..backward import replay
from ..rule import Contribution
from .sites import is_ours, ours
from .trace import Trace

Told = tuple[Any, Sequence[Any], Sequence[Any], dict[str, Any], Any, int, int]
"""One application: operation, inputs, their arrays, parameters, result, and the frame (by number) and instruction that
asked for it."""

Scope = tuple[CodeType, dict[str, Any], dict[str, Any]]
"""What a frame of the user's ran, and what it called its values: its own variables, and the module's."""


class Walk:
    """One walk: where it began, the frame (by number) that asked for it, and its steps; those of a walk that can be
    replayed are had when they are asked for."""

    def __init__(self, root: Any, seed: Any, can_replay: bool, frame: int):
        self.root, self.seed, self.can_replay, self.frame = root, seed, can_replay, frame
        self.broke_off = False
        self.kept: dict[Any, Any] = {}
        self.steps: list[tuple[Any, Contribution, Any, Any, Any]] = []

    def __call__(self, node: Any, contribution: Contribution, upstream: Any, before: Any, after: Any) -> None:
        """Note a step."""
        self.steps.append((node, contribution, upstream, before, after))

    def complete(self) -> None:
        """Walk again what was not watched. What rules had saved cannot have changed, so it is the same walk; where it
        broke off in an error, which its user has seen, so does this one."""
        if self.can_replay:
            with suppress(Exception) if self.broke_off else nullcontext():
                replay(self.root.node, self.seed, [self], self.kept)
            self.can_replay = False
            self.kept.clear()


class Recorder(variable.Recorder):
    """References to everything that happened; no array is copied.

    Places are those of the user's program, or, to tell a composite from inside, those `within` its forward.
    """

    def __init__(self, within: CodeType | None = None) -> None:
        self.within = within
        self.applications: list[Told] = []
        self.walks: list[Walk] = []
        self.frames: dict[int, FrameType] = {}
        self.scopes: dict[int, Scope] = {}

    def applied(self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        """Note an application, and which instruction of the user's asked for it."""
        frame = self._asker(sys._getframe(3))  # pyright: ignore[reportPrivateUsage] - behind `tell`, and what applied it
        instruction = -1 if frame is None else frame.f_lasti
        self.applications.append((op, inputs, data, params, result, id(frame), instruction))

    def _asker(self, frame: Any) -> Any:
        """The frame of the user's program in or behind a frame; noted, so that it stays."""
        if self.within is None:
            while frame is not None and (ours.get(id(frame.f_code)) or is_ours(frame.f_code))[0]:
                frame = frame.f_back
        else:
            while frame is not None and frame.f_code is not self.within:
                frame = frame.f_back
        if frame is not None:
            self.frames[id(frame)] = frame
        return frame

    def observer(self, root: Any, upstream: Any, can_replay: bool) -> Walk | None:
        """Note a walk, and who asked for it; it is watched now only where it could not be had again."""
        frame = self._asker(sys._getframe(1))  # pyright: ignore[reportPrivateUsage] - whoever called this
        walk = Walk(root, upstream.copy() if can_replay else upstream, can_replay, id(frame))
        self.walks.append(walk)
        return None if can_replay else walk

    def broke_off(self) -> None:
        """Note that the last walk ended in an error."""
        for walk in self.walks[-1:]:
            walk.broke_off = True

    def will_free(self, order: Sequence[Any]) -> None:
        """Keep what the last walk's nodes saved, if it is still to be replayed."""
        self.walks[-1].kept.update((node, node.saved) for node in order)

    def close(self, trace: Trace) -> None:
        """Note what the user's program calls its values, before it goes on and calls them otherwise; then let go of it.

        The trace itself is one of them. It must not be held, or a loop that records every step would leave its garbage
        to the collector.
        """
        for place, frame in self.frames.items():
            own = {name: value for name, value in frame.f_locals.items() if value is not trace}
            self.scopes[place] = (frame.f_code, own, frame.f_globals)
        self.frames.clear()
