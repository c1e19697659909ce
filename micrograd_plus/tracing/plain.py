"""A trace as plain data, whole or a stretch of its steps, in the published format."""
# pyright: reportPrivateUsage=false
# The modules of a record share what it keeps to itself.

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .finite import first_places
from .values import Values

WORDS = ("upstream", "local", "raw", "contribution", "before", "after")
MOST_GROUPS = 200
"""How many groups a part of a record lists for the sake of the whole."""


class Table:
    """What is written once, and referred to by its place."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._places: dict[Any, int] = {}
        self._of_entry: dict[int, int] = {}
        self._kept: list[Any] = []

    def place(self, entry: Any) -> int | None:
        """Where an entry stands; None for none."""
        if entry is None:
            return None
        if id(entry) not in self._of_entry:
            row = entry.to_dict()
            place = self._of_entry[id(entry)] = self._places.setdefault(tuple(row.values()), len(self.rows))
            self._kept.append(entry)
            if place == len(self.rows):
                self.rows.append(row)
        return self._of_entry[id(entry)]


def written(trace: Any, start: int = 0, length: int | None = None, insides: bool = True) -> dict[str, Any]:
    """The record, or with `length` the steps from `start` on and what they touch, under the numbers of the whole."""
    return Writing(trace, insides).written(start, length)


class Writing:
    """One record being written."""

    def __init__(self, trace: Any, insides: bool):
        self.trace, self.insides = trace, insides
        self.values, self.sites, self.formulas = Values(), Table(), Table()

    def written(self, start: int, length: int | None) -> dict[str, Any]:
        """The whole, or a part."""
        trace = self.trace
        part = length is not None and not (start == 0 and len(trace.steps) <= length and len(trace.nodes) <= 2 * length)
        if part and not 0 <= start < max(1, len(trace.steps)):
            raise ValueError(f"start is {start}, but the steps are numbered 0 to {len(trace.steps) - 1}")
        steps = trace.steps[start : start + length] if part and length is not None else trace.steps[:]
        numbers = self._touched(steps, start, length or 0) if part else list(range(len(trace.nodes)))
        nodes = [trace.nodes[number] for number in numbers]
        groups = self._groups(nodes) if part else list(range(len(trace.groups)))
        there = set(numbers)
        value = self.values.place
        rules = {step.rule for step in steps} if part else trace.rules.keys()
        applied = {step.node for step in steps}
        told_nodes = [self._node(node, there, whole=not part or node.id in applied) for node in nodes]
        return {
            "format": "micrograd_plus/trace",
            "version": 2,
            "walks": [self._walk(walk, there) for walk in trace.walks],
            "error": self._error(trace.error, there),
            "nodes": told_nodes,
            "groups": [self._group(trace.groups[number]) for number in groups],
            "steps": [self._step(step) for step in steps],
            "rules": {name: rule.to_dict() for name, rule in trace.rules.items() if name in rules},
            "formulas": self.formulas.rows,
            "gradients": [{"node": at, "value": value(held)} for at, held in trace.gradients.items() if at in there],
            "sites": self.sites.rows,
            "values": self.values.stored,
            "caught": [self._error(each, there) for each in trace.caught],
            "not_finite": [each.to_dict() for each in first_places({node.id: node for node in nodes}, steps)],
            "part": self._part(start, len(steps), groups) if part else None,
        }

    def _lines(self, lines: list[Any]) -> list[int | None]:
        return [self.sites.place(line) for line in lines]

    def _walk(self, walk: Any, there: set[int]) -> dict[str, Any]:
        value = self.values.place
        return {
            "direction": walk.direction, "root": walk.root if walk.root in there else None, "seed": value(walk.seed),
            "first": walk.first, "steps": walk.steps, "lines": self._lines(walk.lines),
            "leaves": [
                {"node": leaf.node, "value": value(leaf.value), "before": value(leaf.before),
                 "received": value(leaf.received), "after": value(leaf.after)}
                for leaf in self._leaves(walk.leaves, there)
            ],
            "error": self._error(walk.error, there),
        }  # fmt: skip

    def _leaves(self, leaves: Any, there: set[int]) -> Iterator[Any]:
        """Those of some leaves that are written; no others are made where it is known which nodes they are."""
        nodes = getattr(leaves, "nodes", None) or [leaf.node for leaf in leaves]
        return (leaves[at] for at, node in enumerate(nodes) if node in there)

    def _error(self, error: Any, there: set[int]) -> dict[str, Any] | None:
        if error is None:
            return None
        node = error.node if error.node in there else None
        return {"kind": error.kind, "text": error.text, "node": node, "input": error.input,
                "lines": self._lines(error.lines)}  # fmt: skip

    def _node(self, node: Any, there: set[int], whole: bool) -> dict[str, Any]:
        inside = self.trace.inside(node) if self.insides and node.inside is not None else None
        return {
            "id": node.id, "kind": node.kind, "op": node.op, "called": node.called, "name": node.name,
            "label": node.label, "summary": node.summary,
            "inputs": [{"name": name, "node": at} for name, at in node.inputs if whole or at in there],
            "params": node.params, "requires_grad": node.requires_grad, "value": self.values.place(node.value),
            "lines": self._lines(node.lines), "group": node.group, "failed": bool(node.failed),
            "opens": node.inside is not None, "inside": None if inside is None else inside.to_dict(),
        }  # fmt: skip

    def _group(self, group: Any) -> dict[str, Any]:
        return {
            "id": group.id, "parent": group.parent, "kind": group.kind, "name": group.name, "path": group.path,
            "of": group.of, "round": group.round, "rounds": group.rounds, "line": self.sites.place(group.line),
            "nodes": group.nodes, "steps": group.steps,
        }  # fmt: skip

    def _step(self, step: Any) -> dict[str, Any]:
        value: Callable[[Any], int | None] = self.values.place
        return {
            "index": step.index, "walk": step.walk, "node": step.node, "input": step.input, "target": step.target,
            "rule": step.rule, "formula": self.formulas.place(step.formula),
            **{word: value(getattr(step, word)) for word in WORDS[:3]}, "summed_axes": list(step.summed_axes),
            **{word: value(getattr(step, word)) for word in WORDS[3:]},
            "reads": {name: value(read) for name, read in step.reads.items()},
            "accumulates": step.accumulates, "earlier": step.earlier,
        }  # fmt: skip

    # A part -------------------

    def _touched(self, steps: list[Any], start: int, length: int) -> list[int]:
        """The nodes that steps concern, each result of several with its application; and as many of the last ones, if
        there are no steps."""
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
        return sorted(touched)

    def _groups(self, nodes: list[Any]) -> list[int]:
        """The groups of these nodes with those around them; and the others, the outer ones first, as far as there is
        room for them."""
        parents = self.trace.parents
        listed: set[int] = set()
        for node in nodes:
            at = node.group
            while at is not None and at not in listed:
                listed.add(at)
                at = parents[at]
        children: dict[int | None, list[int]] = {}
        for each, outer in enumerate(parents):
            children.setdefault(outer, []).append(each)
        level = children.get(None, [])
        while level and len(listed | set(level)) <= max(MOST_GROUPS, len(listed)):
            listed |= set(level)
            level = [below for each in level for below in children.get(each, ())]
        return sorted(listed)

    def _part(self, start: int, count: int, listed: list[int]) -> dict[str, Any]:
        trace, there = self.trace, set(listed)
        shown: dict[int | None, int | None] = {None: None}
        for at, outer in enumerate(trace.parents):
            shown[at] = at if at in there else shown[outer]
        links: Counter[tuple[int, int]] = Counter()
        for (source, target), count_of_edge in trace._edge_counts().items():
            a, b = shown[source], shown[target]
            if a is not None and b is not None and a != b:
                links[a, b] += count_of_edge
        return {
            "first": start, "steps": count, "of_steps": len(trace.steps), "of_nodes": len(trace.nodes),
            "of_groups": len(trace.groups), "links": [[a, b, number] for (a, b), number in sorted(links.items())],
        }  # fmt: skip
