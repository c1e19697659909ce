"""Recorder of a script's last walk. It forgets earlier walks, so a long training needs no more memory than one step."""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from operator import itemgetter
from types import FrameType
from typing import Any

from ..core.backward import Part
from ..core.runtime import recorders
from ..core.runtime.recorders import record_to
from ..core.variable import Node
from .builder import build
from .changes import Change
from .recorder import RecordedWalk, Recorder, frame_at
from .trace import Trace

FEWEST = 200
"""Applications that are always kept, so that all walks of a small script are shown."""
OP, NODE, RESULT, CALL = 0, 2, 5, 6  # places in a note
WALK = Change._fields.index("walk")


class LastWalkRecorder(Recorder):
    """Recorder that keeps the last walk, the graph behind it, and what was applied since the walk before it.

    Any walk may be the last, so each is noted. When a walk begins, the notes before the last step are dropped at once
    if the walk goes back to none of them, as in a training. Otherwise each note is looked at whenever the notes have
    doubled, so a bounded number of times on average.
    """

    def __init__(self, outermost: FrameType | None = None) -> None:
        super().__init__(outermost)
        self.earlier_walks = 0
        """How many walks were forgotten."""
        self._most = self._most_known = FEWEST
        self._step_begins = self._notes_at_walk = 0
        self._latest_before_step = self._latest_at_walk = 0  # creation numbers

    def _add_walk(self, recorded: RecordedWalk) -> None:
        """Note a walk, after forgetting what no later walk is likely to need."""
        noted = self.forgotten_notes + len(self._notes)
        if noted != self._notes_at_walk:  # else it walks back through the same forward as the last walk
            self._step_begins, self._latest_before_step = self._notes_at_walk, self._latest_at_walk
            self._latest_at_walk = self._latest_creation()
        first = self._step_begins - self.forgotten_notes
        if (self.earlier_walks or noted > FEWEST) and first > 0 and recorded.since > self._latest_before_step:
            self._forget_all_before(first)
        elif len(self._notes) > self._most or len(self.walks) > self._most:
            self.forget_before(first, recorded.keys)
            self._most = 2 * max(len(self._notes), FEWEST // 2)
        self._notes_at_walk = noted
        super()._add_walk(recorded)

    def _latest_creation(self) -> int:
        """Return the largest creation number of all results so far, which is that of the last one with a graph."""
        for note in reversed(self._notes):
            numbers = [key.created for key in keys_of(note) if hasattr(key, "created")]
            if numbers:
                return max(numbers)
        return self._latest_at_walk

    def _forget_all_before(self, first: int) -> None:
        """Forget the walks and applications before note number `first`, with all that belongs to them."""
        del self._notes[:first]
        self.forgotten_notes += first
        self._named_notes = max(0, self._named_notes - first)
        self._forget_walks([walk for walk in self.walks if walk.position > self.forgotten_notes])
        self._forget_errors(self.forgotten_notes)
        if len(self.calls) + len(self._gradients) > self._most_known:
            self._forget_calls()
            self._most_known = 2 * (len(self.calls) + len(self._gradients)) + FEWEST // 10

    def forget_before(self, first: int, roots: list[Any]) -> None:
        """Forget the walks and applications before note number `first`, except those that `roots` depend on."""
        notes, base = self._notes, self.forgotten_notes
        needed = keys_behind(roots)
        for note in notes[first:]:
            for key in keys_of(note):
                needed.pop(id(key), None)
        kept = [*range(first, len(notes))]
        if any(is_result(key) for key in needed.values()):  # rarely: each round of a training makes its own graph
            kept[:0] = [number for number in range(first) if any(id(key) in needed for key in keys_of(notes[number]))]

        def number_of(position: int) -> int:
            return base + bisect_left(kept, position - base)

        walks = [walk for walk in self.walks if walk.position - base > first]
        for walk in walks:
            walk.position = number_of(walk.position)
        notes[:] = [notes[number] for number in kept]
        self._named_notes = 0
        self._forget_walks(walks)
        changes = map(Change._make, self._changes)
        self._changes[:] = [change._replace(position=number_of(change.position)) for change in changes]
        self._forget_errors(base + first)
        self._forget_calls()
        for call in self.calls.values():
            call.position = number_of(call.position)
        self._step_begins = number_of(base + first)

    def _forget_walks(self, kept: list[RecordedWalk]) -> None:
        """Forget all walks except some of the last ones, and the changes before those, which they note themselves."""
        count = len(self.walks) - len(kept)
        self.forgotten_walks += count
        self.earlier_walks += count
        self.walks[:] = kept
        del self._changes[: bisect_right(self._changes, self.forgotten_walks, key=itemgetter(WALK))]
        if self._failed_walks:
            self._failed_walks = {error: walk for error, walk in self._failed_walks.items() if walk in kept}

    def _forget_errors(self, position: int) -> None:
        """Forget the errors that the program caught before the application at a position."""
        if self.caught:
            self.caught = {key: record for key, record in self.caught.items() if record.position >= position}

    def _forget_calls(self) -> None:
        """Forget calls that have returned and that no kept note belongs to, and with them their frames, and tensors
        that are no gradient any more."""
        used = {note[CALL] for note in self._notes} | {walk.call for walk in self.walks}
        frame: FrameType | None = frame_at(1)
        while frame is not None:
            used.add(id(frame))
            frame = frame.f_back
        calls, needed = self.calls, set[int]()
        for number in used:
            while number in calls and number not in needed:
                needed.add(number)
                number = calls[number].parent
        for number, call in calls.items():  # a scope that is still open belongs to a frame that is running
            if call.scope is not None and not isinstance(call.scope, str) and id(call.frame) in needed:
                needed.add(number)
        for number in [each for each in calls if each not in needed]:
            del calls[number]
        self._running = {caller: slot for caller, slot in self._running.items() if caller in needed}
        current = {id(getattr(node, "grad", None)) for _, node in self._gradients.values()}
        self._gradients = {key: pair for key, pair in self._gradients.items() if key in current}

    def keep_last(self) -> None:
        """Forget all walks but the last one, if any walk was forgotten, and number what is left from 0."""
        if self.earlier_walks:
            self._forget_walks(self.walks[-1:])
            base, walks = self.forgotten_notes, self.forgotten_walks
            for each in (*self.walks, *self.calls.values()):
                each.position = max(0, each.position - base)
            changes = map(Change._make, self._changes)
            self._changes[:] = [
                change._replace(position=change.position - base, walk=change.walk - walks) for change in changes
            ]
            self.forgotten_notes = self.forgotten_walks = 0


def keys_of(note: Any) -> list[Any]:
    """Return the nodes and values that an application made."""
    if note[NODE] is not None:
        return [note[NODE]]
    results = note[RESULT] if note[OP].outputs and isinstance(note[RESULT], tuple) else (note[RESULT],)
    nodes = [getattr(result, "node", None) or result for result in results]
    return [node.parents[0] if type(node) is Part else node for node in nodes]


def is_result(key: Any) -> bool:
    """Return whether an operation made a node or a value; one of several outputs comes with its application."""
    is_made = getattr(key, "vjp", None) is not None or getattr(key, "made_by", None) is not None
    return is_made and type(key) is not Part


def keys_behind(roots: list[Any]) -> dict[int, Any]:
    """Return the nodes and values that some depend on, by id."""
    found: dict[int, Any] = {}
    todo = list(roots)
    while todo:
        key = todo.pop()
        if key is not None and id(key) not in found:
            found[id(key)] = key
            of_number = getattr(key, "first", None), getattr(key, "second", None)
            todo += key.parents if isinstance(key, Node) else of_number
    return found


class WalkCounter(recorders.Recorder):
    """Recorder that only counts the walks of a thread."""

    count = 0

    def begin_walk(self, root: Any, upstream: Any, can_replay: bool, held: Any, since: int = 0) -> None:
        """Count a walk."""
        self.count += 1


class LastWalk:
    """What a script did: the trace of its last walk, and the walks that the trace does not show."""

    error: BaseException | None = None
    """The error that ended the script, set by whoever ran it."""

    def __init__(self, outermost: FrameType) -> None:
        self.recorder = LastWalkRecorder(outermost)
        self.trace: Trace = build(self.recorder)
        self.elsewhere = WalkCounter()

    @property
    def earlier_walks(self) -> int:
        """How many earlier walks were forgotten."""
        return self.recorder.earlier_walks


@contextmanager
def record_last_walk(outermost: FrameType) -> Generator[LastWalk, None, None]:
    """Record the last walk of a block, and count the walks of the threads that it starts."""
    found = LastWalk(outermost)
    with count_in_threads(found.elsewhere), record_to(found.recorder):
        yield found
    found.recorder.keep_last()
    found.recorder.close(found.trace, found.error)
    found.trace.look_again()


@contextmanager
def count_in_threads(counter: WalkCounter) -> Generator[None, None, None]:
    """Let a recorder listen in each thread that starts in this block. Recording itself follows one thread."""
    blocks: list[Any] = []

    def listen(*event: Any) -> None:
        """Open a block in a thread that has just started, in place of profiling it."""
        sys.setprofile(None)
        block = record_to(counter)
        block.__enter__()
        blocks.append(block)

    before = threading.getprofile()
    threading.setprofile(listen)
    try:
        yield
    finally:
        threading.setprofile(before)  # type: ignore[arg-type]  # None, as a rule, which ends it
