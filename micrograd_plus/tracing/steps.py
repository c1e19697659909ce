"""Steps of a trace, each made when someone looks at it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..core.runtime.recorders import Push
from .events import AppliedRule, name_of_input
from .history import History
from .journal import Journal
from .outline import Outline
from .parts import LazyList, Step
from .rules import Rules
from .values import array_of, is_per_output, is_shown_as_value, mute_warnings, separate_arrays

MOST_PARTS = 64
"""How many parts of a list that its rule read a step shows. Each part of the list has a step, so all would be a square.
"""


class Steps:
    """The steps of all walks of a record."""

    def __init__(self, history: History, outline: Outline, journal: Journal, rules: Rules):
        self.history, self.outline, self.journal, self.rules = history, outline, journal, rules

    @cached_property
    def steps(self) -> Sequence[Step]:
        """The steps, in order."""
        return LazyList(len(self.history.steps), self.step)

    def step(self, index: int) -> Step:
        """Return one step of the trace."""
        with mute_warnings():
            applied = self.history.steps[index]
            contribution = applied.contribution
            walk = bisect_right(self.history.walk_ends, index)
            target = self.outline.ids[id(applied.receiver)]
            upstream, reads = self._upstream_and_reads(applied)
            before, after = array_of(applied.before), array_of(applied.after)
            held = None
            if target in self.journal.leaves[walk] and not isinstance(contribution, Push):
                held = self.journal.leaves[walk][target].before
            if held is not None:
                before, after = held if before is None else held + before, held + after
            return Step(
                index=index,
                walk=walk,
                node=self.outline.ids[id(applied.node)],
                input=name_of_input(contribution.rule.op, contribution.index),
                target=target,
                rule=self.rules.table.names[index],
                formula=self.rules.formula(index),
                upstream=upstream,
                local=array_of(contribution.local),
                raw=array_of(contribution.raw),
                summed_axes=contribution.summed_axes,
                contribution=array_of(contribution.value),
                before=before,
                after=after,
                reads={name: value for name, value in reads.items() if is_shown_as_value(value)},
                accumulates=before is not None,
                earlier=held is not None,
            )

    def _upstream_and_reads(self, applied: AppliedRule) -> tuple[Any, dict[str, Any]]:
        """Return the upstream of a step and what else its rule read.

        For several outputs the upstream is the first that arrived, and the reads have each: `upstream[1]`.
        """
        separate = separate_arrays(self.rules.reads(applied), MOST_PARTS)
        reads = {name: array_of(value) for name, value in separate.items()}
        upstream = array_of(applied.upstream)
        if not is_per_output(upstream):
            return upstream, reads
        parts = {f"upstream[{i}]": array_of(part) for i, part in enumerate(upstream) if part is not None}
        return next(iter(parts.values())), {**reads, **parts}
