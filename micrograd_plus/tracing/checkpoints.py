"""Checkpoints of a record: which nodes the function under each computed, and where a walk would compute them again.

While a program is recorded, such a function runs once, and the record has its graph. Without the record the engine
drops the graph, and a walk that arrives at a result runs the function again, before the first step from its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from .changes import Change
from .events import AppliedRule, maker_of
from .outline import Outline
from .recorder import RecordedWalk

CHECKPOINT = "checkpoint"
"""The operation that a checkpoint is without a record. A walk through it runs the function again."""


class Span(NamedTuple):
    """What one checkpoint computed: its applications, by their positions, and the change that notes its end."""

    positions: range
    end: Change


class Checkpoints:
    """The spans of the checkpoints of a record, and the spans that each walk would compute again."""

    def __init__(self, outline: Outline, changes: list[Change]):
        self._positions = outline.positions
        self.spans: dict[int, Span] = {}
        """The span of each checkpoint that ended, by the id of its change."""
        self._around: dict[int, list[Span]] = defaultdict(list)
        self._derived: dict[int, list[Span]] = defaultdict(list)
        """The spans whose rules computed an application in a walk. Without the record its graph leads to the nodes of
        the second run, so a walk that arrives through it computes nothing again."""
        begins: dict[int, int] = {}
        for change in changes:
            if change.kind == "checkpoint" and id(change.subject) in begins:
                self._add(Span(range(begins[id(change.subject)], change.position), change))
            elif change.kind == "checkpoint":
                begins[id(change.subject)] = change.position

    def _add(self, span: Span) -> None:
        if span.positions:
            self.spans[id(span.end)] = span
            for position in span.positions:
                self._around[position].append(span)

    def second_runs(self, walk: RecordedWalk) -> Iterator[tuple[int, Span]]:
        """Yield the spans that a walk would compute again, each with the number of the next step. The caller asks about
        the walks in order."""
        root = self._positions.get(id(maker_of(walk.key)), -1)
        reached = {(id(span), root) for span in self._spans_around(root, walk)}
        done: set[int] = set()
        for number, step in enumerate(walk.steps if self.spans else ()):
            sender, target = self._ends_of(step)
            inside, derived = self._spans_around(sender, walk), self._derived.get(sender, [])
            for span in reversed(inside):  # the outermost first
                if (id(span), sender) in reached and id(span) not in done:
                    done.add(id(span))
                    yield number, span
            for span in self._spans_around(target, walk):
                is_arrival = (id(span), sender) in reached if span in inside else span not in derived
                reached |= {(id(span), target)} if is_arrival else set()
            for position in _results_of_step(walk, number) if inside or derived else ():
                self._derived[position] += [*inside, *derived]

    def _spans_around(self, position: int, walk: RecordedWalk) -> list[Span]:
        """Return the spans around an application that had ended when a walk began."""
        return [span for span in self._around.get(position, []) if span.positions.stop <= walk.position]

    def _ends_of(self, step: AppliedRule) -> tuple[int, int]:
        """Return the positions of the applications between which a step goes; -1 for a leaf."""
        sender: Any = step.node
        return self._positions.get(id(sender), -1), self._positions.get(id(maker_of(step.receiver)), -1)


def _results_of_step(walk: RecordedWalk, number: int) -> range:
    """Return the positions of the applications that the rule of a step made, in a walk that made a graph."""
    if not walk.positions:
        return range(0)
    return range(walk.positions[number - 1] if number else walk.position, walk.positions[number])
