"""Builder: makes the parts of a trace from what a recorder noted, each when someone asks for it.

The outline takes one pass over the whole record. Nodes, steps, formulas and names are made one by one, so a record of a
hundred thousand steps can be looked at page by page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from .groups import Groups
from .history import History
from .labels import ProgramNames
from .names import NodeNames
from .nodes import Nodes
from .outline import Outline
from .parts import Failure, Group, Rule, Step, TraceNode, Walk
from .recorder import Recorder
from .rules import Rules
from .steps import Steps
from .trace import Trace
from .walks import Walks


class Builder:
    """Source of the parts of a trace."""

    def __init__(self, recorder: Recorder):
        self.history = History(recorder)
        self._program = ProgramNames(recorder)

    def rebuild(self) -> Builder:
        """Return a builder of the same record that has made nothing yet."""
        return Builder(self.history.recorder)

    # Makers of parts --------------------------------------

    @cached_property
    def outline(self) -> Outline:
        """The values of the record and their order."""
        roots = self.history.roots  # completes the walks, which is reported as a task of its own
        with self.history.progress("the nodes in their order"):
            return Outline(self.history, roots)

    @cached_property
    def group_maker(self) -> Groups:
        """The groups, with the group of each node."""
        return Groups(self.history, self.outline, self._program)

    @cached_property
    def names(self) -> NodeNames:
        """The names and labels of nodes."""
        return NodeNames(self.history, self.outline, self._program, self.group_maker)

    @cached_property
    def walk_maker(self) -> Walks:
        """The walks, with gradients and errors."""
        return Walks(self.history, self.outline, self.group_maker)

    @cached_property
    def rule_maker(self) -> Rules:
        """The rules, with the formula of each step."""
        return Rules(self.history, self.outline, self.names)

    @cached_property
    def step_maker(self) -> Steps:
        """The steps."""
        return Steps(self.history, self.outline, self.walk_maker, self.rule_maker)

    @cached_property
    def node_maker(self) -> Nodes:
        """The nodes."""
        return Nodes(self.history, self.outline, self.group_maker, self.names, build)

    # Parts of the trace -----------------------------------

    @property
    def walks(self) -> list[Walk]:
        """The walks."""
        return self.walk_maker.walks

    @property
    def gradients(self) -> dict[int, Any]:
        """The gradient of each leaf after all backward walks, by node."""
        return self.walk_maker.gradients

    @property
    def error(self) -> Failure | None:
        """The error that ended the program."""
        return self.walk_maker.error

    @property
    def caught(self) -> list[Failure]:
        """The errors that the program caught."""
        return self.walk_maker.caught

    @property
    def nodes(self) -> Sequence[TraceNode]:
        """The nodes."""
        return self.node_maker.nodes

    @property
    def groups(self) -> Sequence[Group]:
        """The groups."""
        return self.group_maker.groups

    @property
    def parents(self) -> list[int | None]:
        """The number of the group around each group."""
        return self.group_maker.parents

    @property
    def steps(self) -> Sequence[Step]:
        """The steps."""
        return self.step_maker.steps

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules, by name."""
        return self.rule_maker.applied.rules

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Yield each edge as the innermost groups of its two nodes."""
        return self.group_maker.edges()

    @property
    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """How many edges lead from one group to another."""
        return self.group_maker.edge_counts


def build(recorder: Recorder) -> Trace:
    """Return the trace of what a recorder noted or will note."""
    return Trace(Builder(recorder))
