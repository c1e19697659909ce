"""Builder of the parts of a trace from a recorder's notes. Each part is made when someone asks for it.

The outline takes one pass over the whole record. Nodes, steps, formulas and names are made one by one, so a record of a
hundred thousand steps can be looked at page by page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from .groups import Groups
from .history import History
from .journal import Journal
from .labels import ProgramNames
from .names import NodeNames
from .nodes import Nodes
from .outline import Outline
from .parts import nodes_behind
from .recorder import Recorder
from .rules import Rules
from .steps import Steps
from .trace import Trace
from .walks import Walks


class Builder:
    """Source of the parts of a trace."""

    def __init__(self, recorder: Recorder):
        self.history = History(recorder)

    def rebuild(self) -> Builder:
        """Return a builder of the same record that has made nothing yet."""
        return Builder(self.history.recorder)

    # Makers of parts --------------------------------------

    @cached_property
    def outline(self) -> Outline:
        """The values of the record and their order."""
        roots = self.history.roots  # completes the walks, which reports progress itself
        with self.history.progress("the nodes in their order"):
            return Outline(self.history, roots)

    @cached_property
    def _program(self) -> ProgramNames:
        return ProgramNames(self.history.recorder)

    @cached_property
    def group_maker(self) -> Groups:
        """The groups, with the group of each node."""
        return Groups(self.history, self.outline, self._program)

    @cached_property
    def names(self) -> NodeNames:
        """The names and labels of nodes."""
        return NodeNames(self.history, self.outline, self._program, self.group_maker)

    @cached_property
    def journal(self) -> Journal:
        """The journal, with the leaves of each walk and the final gradients."""
        return Journal(self.history, self.outline, self.group_maker, self._program)

    @cached_property
    def walk_maker(self) -> Walks:
        """The walks and their errors."""
        return Walks(self.history, self.outline, self.group_maker, self.journal)

    @cached_property
    def rule_maker(self) -> Rules:
        """The rules, with the formula of each step."""
        return Rules(self.history, self.outline, self.names)

    @cached_property
    def step_maker(self) -> Steps:
        """The steps."""
        return Steps(self.history, self.outline, self.journal, self.rule_maker)

    @cached_property
    def node_maker(self) -> Nodes:
        """The nodes."""
        return Nodes(self.history, self.outline, self.group_maker, self.names, self.journal, build)

    # Parts of the trace -----------------------------------

    def make(self, part: str) -> Any:
        """Return a part of the trace, by the name of the trace's attribute."""
        return PARTS[part](self)

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Yield each edge as the innermost groups of its two nodes."""
        return self.group_maker.edges()

    @property
    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """How many edges lead from one group to another."""
        return self.group_maker.edge_counts

    @cached_property
    def reached_nodes(self) -> set[int]:
        """The nodes to which walks can bring a gradient."""
        roots = [walk.root for walk in self.walk_maker.walks if walk.root is not None]
        return nodes_behind(roots, self.outline.inputs_with_gradients)


PARTS: dict[str, Callable[[Builder], Any]] = {
    "walks": lambda builder: builder.walk_maker.walks,
    "error": lambda builder: builder.walk_maker.error,
    "caught": lambda builder: builder.walk_maker.caught_errors,
    "nodes": lambda builder: builder.node_maker.nodes,
    "groups": lambda builder: builder.group_maker.groups,
    "parents": lambda builder: builder.group_maker.parents,
    "steps": lambda builder: builder.step_maker.steps,
    "rules": lambda builder: builder.rule_maker.table.rules,
    "journal": lambda builder: builder.journal.entries,
    "starts": lambda builder: builder.journal.first_gradients,
    "gradients": lambda builder: builder.journal.gradients,
}
"""Functions that return each part of a trace."""


def build(recorder: Recorder) -> Trace:
    """Return the trace of a recorder's notes, including future ones."""
    return Trace(Builder(recorder))
