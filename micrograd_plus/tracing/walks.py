"""Walks of a trace, with the leaves that they reached and the errors that ended them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .failures import ErrorRecord
from .groups import Groups
from .history import History
from .journal import Journal
from .outline import Outline
from .parts import Failure, LazyLeaves, LeafGradient, Walk
from .sites import USER, kind_of, site_at
from .values import array_of


class Walks:
    """The walks of a record and the errors that ended them. The journal says what leaves held before and after."""

    def __init__(self, history: History, outline: Outline, groups: Groups, journal: Journal):
        self.history, self.outline, self.groups, self.journal = history, outline, groups, journal

    @cached_property
    def walks(self) -> list[Walk]:
        """The walks, in order."""
        walks: list[Walk] = []
        first = 0
        for number, recorded in enumerate(self.history.walks):
            error = None
            if recorded.error is not None:
                in_record = id(recorded.error.node) in self.outline.ids
                error = self._failure(recorded.error, recorded.error.node if in_record else recorded.key)
            walks.append(
                Walk(
                    direction=recorded.direction,
                    root=self.outline.ids.get(id(recorded.key)),
                    seed=array_of(recorded.seed),
                    first=first,
                    steps=len(recorded.steps),
                    lines=self.groups.lines(recorded.call, recorded.instruction) or (error.lines if error else []),
                    leaves=self._leaves(number),
                    error=error,
                )
            )
            first += len(recorded.steps)
        return walks

    def _leaves(self, number: int) -> LazyLeaves:
        states = self.journal.leaves[number]
        return LazyLeaves([*states], lambda node: LeafGradient(node=node, **states[node]._asdict()))

    # Errors -----------------------------------------------

    @cached_property
    def error(self) -> Failure | None:
        """The error that ended the program outside of a walk."""
        error, failed = self.history.recorder.error, self.history.failed_application
        return None if error is None else self._failure(error, None if failed is None else failed.result)

    @cached_property
    def caught_errors(self) -> list[Failure]:
        """The errors of operations that failed while the program continued."""
        return [self._failure(each, None) for each in self.history.recorder.caught.values()]

    def _failure(self, error: ErrorRecord, key: Any) -> Failure:
        lines = [site_at(*location) for location in error.locations if kind_of(location.code) is USER]
        return Failure(kind=error.kind, text=error.text, node=self.outline.ids.get(id(key)), lines=lines)
