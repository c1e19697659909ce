"""Groups of a trace: the branches of the call tree that made its nodes, with paths and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from .call_tree import Branch, CallTree
from .events import Call
from .history import History
from .labels import ProgramNames
from .outline import Outline
from .parts import Group, LazyList
from .sites import Site, site_at

NAMED_KINDS = ("module", "scope", "function")
"""The kinds of groups whose names are part of a path; rounds are not."""


class Counts(NamedTuple):
    """How many nodes and steps each group has, including the groups inside it."""

    nodes: list[int]
    steps: list[int]


class Branches(NamedTuple):
    """The branches that are groups, in order, and the innermost one of each node."""

    groups: list[Branch]
    of_nodes: list[Branch | None]


class Groups:
    """The groups of a record, and the innermost group of each node."""

    def __init__(self, history: History, outline: Outline, names: ProgramNames):
        self.history, self.outline = history, outline
        self.tree = CallTree(history.recorder, names)
        self._sites: dict[tuple[int, int], Site] = {}
        self._paths: dict[tuple[int, tuple[str, ...]], str] = {}

    @cached_property
    def _branches(self) -> Branches:
        edges = self.outline.edges
        with self.history.progress("what made them"):
            of_application = self.tree.branches(self.history.applications)
            of_node = self._branches_of_nodes(of_application, zip(*edges, strict=True))
            return Branches(self._number_groups(of_application, of_node), of_node)

    def _branches_of_nodes(
        self, of_application: list[Branch | None], edges: Iterable[tuple[int, int]]
    ) -> list[Branch | None]:
        """Return the branch of each node. A leaf belongs to the innermost branch that contains all its uses."""
        positions = self.outline.position_of_node
        of_node = [None if position is None else of_application[position] for position in positions]
        visited: set[int] = set()
        for start, end in edges:
            if positions[start] is None and positions[end] is not None:
                of_node[start] = self._join(of_node[start], of_node[end]) if start in visited else of_node[end]
                visited.add(start)
        return of_node

    def _number_groups(self, of_application: list[Branch | None], of_node: list[Branch | None]) -> list[Branch]:
        """Number the branches that have nodes, each behind those around it, and return them in that order."""
        used: set[int] = set()
        for branch in dict.fromkeys(of_node):
            for each in self.tree.lineage(branch):
                if id(each) in used:
                    break
                used.add(id(each))
        order: dict[int, Branch] = {}
        for branch in dict.fromkeys(of_application):
            chain: list[Branch] = []
            for each in self.tree.lineage(branch):
                if id(each) in order:
                    break
                chain.append(each)
            order.update((id(each), each) for each in reversed(chain))
        groups = [branch for branch in order.values() if id(branch) in used]
        for number, branch in enumerate(groups):
            branch.number = number
        return groups

    def _join(self, one: Branch | None, other: Branch | None) -> Branch | None:
        """Return the innermost branch that contains two branches."""
        if one is other or one is None:
            return one
        around_other = {id(each) for each in self.tree.lineage(other)}
        return next((each for each in self.tree.lineage(one) if id(each) in around_other), None)

    # Paths ------------------------------------------------

    @cached_property
    def module_paths(self) -> list[str | None]:
        """The path of the innermost module or scope that each node belongs to."""
        branches = self._branches.of_nodes
        paths = {branch: self._module_path(branch) for branch in dict.fromkeys(branches)}
        return [paths[branch] for branch in branches]

    def _module_path(self, branch: Branch | None) -> str | None:
        kinds = ("module", "scope")
        module = next((each for each in self.tree.lineage(branch) if each.kind in kinds), None)
        return None if module is None else self._path(module, kinds)

    def _path(self, branch: Branch, kinds: tuple[str, ...] = NAMED_KINDS) -> str:
        """Return the dotted names of a branch and of those around it that are of these kinds."""
        key = id(branch), kinds
        if key not in self._paths:
            parent = self.tree.parent(branch)
            outer = "" if parent is None else self._path(parent, kinds)
            name = branch.name if branch.kind in kinds else ""
            self._paths[key] = f"{outer}.{name}" if outer and name else outer or name
        return self._paths[key]

    # Groups -----------------------------------------------

    @cached_property
    def of_nodes(self) -> list[int | None]:
        """The number of the innermost group of each node."""
        return [None if branch is None else branch.number for branch in self._branches.of_nodes]

    @cached_property
    def parents(self) -> list[int | None]:
        """The number of the group around each group."""
        around = map(self.tree.parent, self._branches.groups)
        return [None if parent is None else parent.number for parent in around]

    @cached_property
    def _counts(self) -> Counts:
        counts = Counts([0] * len(self._branches.groups), [0] * len(self._branches.groups))
        ids, of_nodes = self.outline.ids, self.of_nodes
        of_steps = (of_nodes[ids[id(step.node)]] for step in self.history.steps)
        for in_groups, groups in ((counts.nodes, of_nodes), (counts.steps, of_steps)):
            for group, count in Counter(groups).items():
                if group is not None:
                    in_groups[group] = count
        for group in range(len(self.parents) - 1, -1, -1):
            outer = self.parents[group]
            if outer is not None:
                counts.nodes[outer] += counts.nodes[group]
                counts.steps[outer] += counts.steps[group]
        return counts

    @cached_property
    def groups(self) -> Sequence[Group]:
        """The groups. Each comes after its parent."""
        return LazyList(len(self._branches.groups), self._group)

    def _group(self, number: int) -> Group:
        branch = self._branches.groups[number]
        name, path, line = branch.name, self._path(branch), None
        if branch.loop is not None:
            name = f"round {branch.round} of {branch.loop.rounds}"
            path = f"{path} {name}".strip()
            line = self._site(self.history.calls[branch.loop.call], branch.loop.range.start)
        elif branch.call is not None:
            line = next(iter(self.lines(branch.call.parent, branch.call.instruction)), None)
        return Group(
            id=number, parent=self.parents[number], kind=branch.kind, name=name, path=path,
            of=None if branch.module is None else type(branch.module).__name__,
            round=branch.round or None, rounds=branch.loop.rounds if branch.loop else None, line=line,
            nodes=self._counts.nodes[number], steps=self._counts.steps[number],
        )  # fmt: skip

    def lines(self, call: int, instruction: int) -> list[Site]:
        """Return the lines of the program that led to an instruction, the innermost first."""
        return [self._site(each, at) for each, at in self.tree.instructions(call, instruction)]

    def _site(self, call: Call, instruction: int) -> Site:
        """Return the location of an instruction in a call; each is looked up once."""
        key = id(call.code), instruction
        if key not in self._sites:
            self._sites[key] = site_at(call.code, call.frame.f_globals, instruction)
        return self._sites[key]

    # Edges ------------------------------------------------

    def edges(self) -> Iterator[tuple[int | None, int | None]]:
        """Yield each edge as the innermost groups of its two nodes."""
        groups = self.of_nodes
        return ((groups[start], groups[end]) for start, end in zip(*self.outline.edges, strict=True))

    @cached_property
    def edge_counts(self) -> Counter[tuple[int | None, int | None]]:
        """How many edges lead from one group to another, counted once for all parts of a long record."""
        group_of = self.of_nodes.__getitem__
        edges = self.outline.edges
        return Counter(zip(map(group_of, edges.starts), map(group_of, edges.ends), strict=True))
