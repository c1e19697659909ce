"""Walks of a trace, and the gradients that leaves received in them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .failures import ErrorRecord
from .groups import Groups
from .history import History
from .outline import Outline
from .parts import Failure, LazyLeaves, LeafGradient, Walk
from .recorder import RecordedForwardWalk, RecordedWalk
from .sites import site_at
from .values import array_of


class Walks:
    """The walks of a record, what each leaf held before and after them, and the errors that ended them."""

    def __init__(self, history: History, outline: Outline, groups: Groups):
        self.history, self.outline, self.groups = history, outline, groups

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

    # Leaves -----------------------------------------------

    @cached_property
    def arrivals(self) -> list[dict[int, Any]]:
        """What each walk brought to each leaf, by node; for a forward walk the tangents that it began with."""
        ids = self.outline.ids
        received: list[dict[int, Any]] = []
        for recorded in self.history.walks:
            if isinstance(recorded, RecordedForwardWalk):
                received.append({ids[id(key)]: tangent for key, tangent in recorded.starts.items()})
            else:
                leaf_steps = (step for step in recorded.steps if step.reaches_leaf)
                received.append({ids[id(step.receiver)]: array_of(step.after) for step in leaf_steps})
        return received

    @cached_property
    def _after(self) -> list[dict[int, Any]]:
        """The gradient of each leaf after each walk, by node. A forward walk leaves none."""
        gradients: list[dict[int, Any]] = []
        for recorded, received in zip(self.history.walks, self.arrivals, strict=True):
            after: dict[int, Any] = {}
            for node, gradient in received.items() if recorded.direction == "backward" else ():
                before = self.gradient_before(recorded, node)
                after[node] = gradient if before is None else before + gradient
            gradients.append(after)
        return gradients

    def gradient_before(self, recorded: RecordedWalk, node: int) -> Any:
        """Return the gradient that a leaf held when a walk began."""
        return array_of(recorded.held.get(self.outline.keys[node]))

    def _leaves(self, number: int) -> LazyLeaves:
        recorded, received, after = self.history.walks[number], self.arrivals[number], self._after[number]

        def leaf(node: int) -> LeafGradient:
            value = self.outline.value_before(self.outline.keys[node], recorded.position)
            before = self.gradient_before(recorded, node)
            return LeafGradient(node=node, value=value, before=before, received=received[node], after=after.get(node))

        return LazyLeaves([*received], leaf)

    @cached_property
    def gradients(self) -> dict[int, Any]:
        """The gradient of each leaf after all backward walks, by node."""
        gradients: dict[int, Any] = {}
        for after in self._after:
            gradients |= after
        return gradients

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
        lines = [site_at(*location) for location in error.locations]
        return Failure(kind=error.kind, text=error.text, node=self.outline.ids.get(id(key)), lines=lines)
