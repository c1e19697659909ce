"""Writing a trace as plain data in the published format: the complete trace, or a part of its steps."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from .finite import NotFinite, first_not_finite
from .parts import (
    Failure,
    Formula,
    Group,
    JournalEntry,
    LazyLeaves,
    LeafGradient,
    Rule,
    Step,
    TraceNode,
    TraceParts,
    Walk,
)
from .sites import Site
from .values import ValueTable

FORMAT, VERSION = "micrograd_plus/trace", 3
MOST_GROUPS = 200
"""How many groups a part lists so that the graph around it can be drawn."""
MOST_BEHIND_CUTS = 24
"""How many nodes a part lists from which no gradient goes on, so that cuts can be drawn."""

Data = dict[str, Any]
"""Plain data: what JSON can hold."""


def trace_to_dict(trace: TraceParts, start: int = 0, length: int | None = None, insides: bool = True) -> Data:
    """Return a trace as plain data, or with `length` the steps from `start` on with what they touch.

    A part has the numbers of the complete trace.
    """
    return Writer(trace, insides).write(start, length)


def fields_of(entry: Any) -> Data:
    """Return the fields of a part of a trace as a dictionary, by name in alphabetical order."""
    return {name: getattr(entry, name) for name in sorted(entry.__slots__)}


def rule_to_dict(rule: Rule) -> Data:
    """Return a rule as plain data."""
    return fields_of(rule) | {"reads": list(rule.reads)}


def not_finite_to_dict(place: NotFinite) -> Data:
    """Return a place that is not finite as plain data."""
    return fields_of(place) | {"entry": None if place.entry is None else list(place.entry)}


class Table:
    """Rows that are written once and referred to by index."""

    def __init__(self) -> None:
        self.rows: list[Data] = []
        self._indices: dict[Any, int] = {}
        self._index_of_entry: dict[int, int] = {}
        self._entries: list[Any] = []  # so that ids stay unique

    def index(self, entry: Site | Formula | None) -> int | None:
        """Return the index of an entry's row, which is added if it is new; None for None."""
        if entry is None:
            return None
        if id(entry) not in self._index_of_entry:
            row = fields_of(entry)
            index = self._index_of_entry[id(entry)] = self._indices.setdefault(tuple(row.values()), len(self.rows))
            self._entries.append(entry)
            if index == len(self.rows):
                self.rows.append(row)
        return self._index_of_entry[id(entry)]


class Moment:
    """The state of leaves where a part begins: the entries of the journal before it are carried out."""

    def __init__(self, trace: TraceParts, start: int | None, listed: set[int]):
        self.start, self.listed, self.rest = start, listed, [*trace.journal]
        self.values: dict[Any, Any] = {}
        self.gradients = {node: value for node, value in trace.starts.items() if node in listed}
        if start:
            self._carry_out(start)

    def _carry_out(self, start: int) -> None:
        """Carry out the entries before the step number `start`."""
        for at, entry in enumerate(self.rest):
            if entry.kind == "arrive" and entry.numbers.stop > start:
                while at and entry.numbers.start == start and self.rest[at - 1].kind == "recompute":
                    at -= 1
                self.rest = self.rest[at:]
                return
            if entry.of is not None and entry.kind != "hook" and entry.node in self.listed:
                (self.values if entry.of == "value" else self.gradients)[entry.node] = entry.after
        self.rest = []

    def entries(self, steps: int) -> Iterator[JournalEntry]:
        """Yield the entries of the part, which has so many steps, up to the first step behind it."""
        if self.start is None:
            yield from self.rest
            return
        end = self.start + steps
        for entry in self.rest:
            if entry.kind == "arrive":
                if entry.numbers.start >= end:
                    return
                first, stop = max(entry.numbers.start, self.start), min(entry.numbers.stop, end)
                yield replace(entry, first=first, count=stop - first)
                if stop < entry.numbers.stop:
                    return
            elif entry.node is None or entry.node in self.listed:
                yield entry


class Writer:
    """Writer of one trace, with its tables of values, sites and formulas."""

    def __init__(self, trace: TraceParts, insides: bool):
        self.trace, self.insides = trace, insides
        self.values, self.sites, self.formulas = ValueTable(), Table(), Table()

    def write(self, start: int, length: int | None) -> Data:
        """Return the data of the complete trace, or of a part."""
        trace = self.trace
        is_all = start == 0 and length is not None and len(trace.steps) <= length and len(trace.nodes) <= 2 * length
        if length is None or is_all:
            numbers, groups = range(len(trace.nodes)), range(len(trace.groups))
            return self._write(trace.steps[:], numbers, trace.rules.keys(), groups, None)
        if not 0 <= start < max(1, len(trace.steps)):
            raise ValueError(f"start is {start}, but the steps are numbered 0 to {len(trace.steps) - 1}")
        steps = trace.steps[start : start + length]
        numbers = self._nodes_of_part(steps, start, length)
        groups = self._groups_of_part([trace.nodes[number] for number in numbers])
        return self._write(steps, numbers, {step.rule for step in steps}, groups, start)

    def _write(
        self, steps: Sequence[Step], numbers: Sequence[int], rules: Any, groups: Sequence[int], start: int | None
    ) -> Data:
        """Return the data of these steps, nodes, rules and groups. `start` is None for the complete trace."""
        trace, listed = self.trace, set(numbers)
        nodes = [trace.nodes[number] for number in numbers]
        applied = {step.node for step in steps}
        index = self.values.index
        moment = Moment(trace, start, listed)
        node_rows = [
            self._node_row(node, listed, moment, all_inputs=start is None or node.id in applied) for node in nodes
        ]
        return {
            "format": FORMAT,
            "version": VERSION,
            "walks": [self._walk_row(walk, listed) for walk in trace.walks],
            "error": self._failure_row(trace.error, listed),
            "nodes": node_rows,
            "groups": [self._group_row(trace.groups[number]) for number in groups],
            "steps": [self._step_row(step) for step in steps],
            "rules": {name: rule_to_dict(rule) for name, rule in trace.rules.items() if name in rules},
            "formulas": self.formulas.rows,
            "starts": [{"node": node, "value": index(value)} for node, value in moment.gradients.items()],
            "journal": [*map(self._entry_row, moment.entries(len(steps)))],
            "gradients": [{"node": node, "value": index(value)} for node, value in trace.gradients.items()
                          if node in listed],
            "sites": self.sites.rows,
            "values": self.values.rows,
            "caught": [self._failure_row(each, listed) for each in trace.caught],
            "not_finite": [*map(not_finite_to_dict, first_not_finite({node.id: node for node in nodes}, steps))],
            "part": None if start is None else self._part(start, len(steps), groups, nodes),
        }  # fmt: skip

    def _lines(self, lines: list[Site]) -> list[int | None]:
        return [self.sites.index(line) for line in lines]

    def _walk_row(self, walk: Walk, listed: set[int]) -> Data:
        index = self.values.index
        return {
            "direction": walk.direction, "root": walk.root if walk.root in listed else None, "seed": index(walk.seed),
            "first": walk.first, "steps": walk.steps, "lines": self._lines(walk.lines),
            "leaves": [
                {"node": leaf.node, "value": index(leaf.value), "before": index(leaf.before),
                 "received": index(leaf.received), "after": index(leaf.after)}
                for leaf in self._leaves_of(walk.leaves, listed)
            ],
            "error": self._failure_row(walk.error, listed),
        }  # fmt: skip

    def _leaves_of(self, leaves: Sequence[LeafGradient], listed: set[int]) -> Iterator[LeafGradient]:
        """Yield the leaves whose nodes are listed. Of lazy leaves no others are made."""
        nodes = leaves.nodes if isinstance(leaves, LazyLeaves) else [leaf.node for leaf in leaves]
        return (leaves[at] for at, node in enumerate(nodes) if node in listed)

    def _failure_row(self, failure: Failure | None, listed: set[int]) -> Data | None:
        if failure is None:
            return None
        node = failure.node if failure.node in listed else None
        return {"kind": failure.kind, "text": failure.text, "node": node, "input": failure.input,
                "lines": self._lines(failure.lines)}  # fmt: skip

    def _node_row(self, node: TraceNode, listed: set[int], moment: Moment, *, all_inputs: bool) -> Data:
        inside = self.trace.inside(node) if self.insides and node.inside is not None else None
        value = moment.values.get(node.id, node.value)
        return {
            "id": node.id, "kind": node.kind, "op": node.op, "called": node.called, "name": node.name,
            "label": node.label, "expression": node.expression, "title": node.title, "cut": node.cut,
            "summary": node.summary,
            "inputs": [{"name": name, "node": at} for name, at in node.inputs if all_inputs or at in listed],
            "params": node.params, "requires_grad": node.requires_grad, "value": self.values.index(value),
            "lines": self._lines(node.lines), "group": node.group, "failed": node.failed,
            "opens": node.inside is not None, "inside": None if inside is None else inside.to_dict(),
        }  # fmt: skip

    def _entry_row(self, entry: JournalEntry) -> Data:
        index = self.values.index
        return {
            "kind": entry.kind, "of": entry.of, "node": entry.node, "name": entry.name, "before": index(entry.before),
            "after": index(entry.after), "by": entry.by, "first": entry.first, "count": entry.count,
            "walk": entry.walk, "lines": self._lines(entry.lines),
        }  # fmt: skip

    def _group_row(self, group: Group) -> Data:
        return {
            "id": group.id, "parent": group.parent, "kind": group.kind, "name": group.name, "path": group.path,
            "of": group.of, "round": group.round, "rounds": group.rounds, "line": self.sites.index(group.line),
            "nodes": group.nodes, "steps": group.steps,
        }  # fmt: skip

    def _step_row(self, step: Step) -> Data:
        index = self.values.index
        return {
            "index": step.index, "walk": step.walk, "node": step.node, "input": step.input, "target": step.target,
            "rule": step.rule, "formula": self.formulas.index(step.formula),
            "upstream": index(step.upstream), "local": index(step.local), "raw": index(step.raw),
            "summed_axes": list(step.summed_axes), "contribution": index(step.contribution),
            "before": index(step.before), "after": index(step.after),
            "reads": {name: index(value) for name, value in step.reads.items()},
            "accumulates": step.accumulates, "earlier": step.earlier,
        }  # fmt: skip

    # A part -------------------

    def _nodes_of_part(self, steps: Sequence[Step], start: int, length: int) -> list[int]:
        """Return the ids of the nodes that steps touch; without steps, of the first nodes.

        One of several outputs comes with its application. So do the nodes where walks begin and end in the part.
        """
        nodes = self.trace.nodes
        touched = {step.target for step in steps}
        for step in steps:
            touched |= {step.node, *(at for _, at in nodes[step.node].inputs)}
        if not steps:
            touched |= set(range(min(len(nodes), 2 * length)))
        for walk in self.trace.walks:
            if walk.root is not None and start <= walk.first < start + max(length, 1):
                touched.add(walk.root)
            if walk.error and walk.error.node is not None and start <= walk.first + walk.steps <= start + length:
                touched.add(walk.error.node)
        if self.trace.error and self.trace.error.node is not None:
            touched |= {self.trace.error.node, *(at for _, at in nodes[self.trace.error.node].inputs)}
        touched |= {at for number in touched if nodes[number].kind == "output" for _, at in nodes[number].inputs}
        return sorted(touched | self._nodes_behind_cuts(touched))

    def _nodes_behind_cuts(self, touched: set[int]) -> set[int]:
        """Return what some nodes were computed from that no gradient goes back to, nearest first, up to a limit, and
        constants last."""
        nodes, behind, constants = self.trace.nodes, set[int](), set[int]()
        todo = deque(number for number in sorted(touched) if _is_cut_off(nodes[number]))
        while todo and len(behind) < MOST_BEHIND_CUTS:
            found = {at for _, at in nodes[todo.popleft()].inputs} - touched - behind
            plain = {at for at in found if nodes[at].kind == "leaf" and not nodes[at].requires_grad}
            constants |= plain
            behind |= found - plain
            todo += sorted(found - plain)
        return behind | set(sorted(constants)[: max(0, MOST_BEHIND_CUTS - len(behind))])

    def _groups_of_part(self, nodes: list[TraceNode]) -> list[int]:
        """Return the numbers of the groups of these nodes, of those around them, and of others from the outside in, as
        long as there is room."""
        parents = self.trace.parents
        listed: set[int] = set()
        for node in nodes:
            group = node.group
            while group is not None and group not in listed:
                listed.add(group)
                group = parents[group]
        children: dict[int | None, list[int]] = {}
        for group, parent in enumerate(parents):
            children.setdefault(parent, []).append(group)
        level = children.get(None, [])
        while level and len(listed | set(level)) <= max(MOST_GROUPS, len(listed)):
            listed |= set(level)
            level = [child for group in level for child in children.get(group, ())]
        return sorted(listed)

    def _part(self, start: int, count: int, groups: Sequence[int], nodes: list[TraceNode]) -> Data:
        """Return which part this is, and what only the complete trace knows about its groups and nodes."""
        trace, listed = self.trace, set(groups)
        shown: dict[int | None, int | None] = {None: None}
        for group, parent in enumerate(trace.parents):
            shown[group] = group if group in listed else shown[parent]
        links: Counter[tuple[int, int]] = Counter()
        for (source, target), edges in trace.edge_counts().items():
            a, b = shown[source], shown[target]
            if a is not None and b is not None and a != b:
                links[a, b] += edges
        return {
            "first": start, "steps": count, "of_steps": len(trace.steps), "of_nodes": len(trace.nodes),
            "of_groups": len(trace.groups), "links": [[a, b, number] for (a, b), number in sorted(links.items())],
            "unreached": self._find_unreached(nodes),
        }  # fmt: skip

    def _find_unreached(self, nodes: list[TraceNode]) -> list[int]:
        """Return the nodes that require a gradient, though no walk of the complete trace can bring one. In a part, only
        those behind a cut can be."""
        walks = self.trace.walks
        is_unknown = self.trace.error or any(walk.root is None or walk.error for walk in walks)
        if not walks or is_unknown or not any(map(_is_cut_off, nodes)):
            return []
        reached = self.trace.reached_nodes()
        return [node.id for node in nodes if node.requires_grad and node.id not in reached]


def _is_cut_off(node: TraceNode) -> bool:
    """Return whether a node is a result that no gradient goes back from."""
    return node.kind != "leaf" and not node.requires_grad
