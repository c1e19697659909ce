"""The walks of a record, one after the other: which way each goes, where it begins, and what nodes hold meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .source import Trace
from .words import ways

TRAVELS = {"backward": "gradient", "forward": "tangent"}
"""What a walk sends from node to node."""
IN_A_NODE = {"backward": "grad", "forward": "tangent"}
"""The same, as short as it stands in a node."""


class Walk(NamedTuple):
    """One walk, as far as its steps are shown: the places of its first step and of the one behind its last."""

    at: int
    stop: int
    direction: str
    root: int | None
    seed: int | None

    @property
    def word(self) -> str:
        """What it sends: gradients, or tangents."""
        return TRAVELS[self.direction]

    @property
    def way(self) -> str:
        """Which way it goes, as a heading says it."""
        return "back" if self.direction == "backward" else "forward"


class Held(NamedTuple):
    """What a node holds: a place among the values, and the direction of the walk that brought it there."""

    place: int
    direction: str


def walks_of(trace: Trace) -> list[Walk]:
    """The walks that have steps here, or where there are no steps the one that the record is about."""
    steps, walks = trace["steps"], trace.get("walks") or [trace["walk"]]
    numbers = [step.get("walk", 0) for step in steps]
    begins = [i for i, number in enumerate(numbers) if i == 0 or number != numbers[i - 1]] or [0]
    found = []
    for at, stop in zip(begins, [*begins[1:], len(steps)], strict=True):
        walk = walks[numbers[at]] if at else trace["walk"]
        found.append(Walk(at, stop, walk["direction"], walk["root"], walk["seed"]))
    return found


def walk_at(trace: Trace, steps: int | None = None) -> Walk:
    """The walk that a number of steps (unless told, all) has led into; before the first step that is the first one."""
    walks = walks_of(trace)
    return next((walk for walk in walks if steps is not None and steps <= walk.stop), walks[-1])


def starts(trace: Trace, travelled: list[tuple[int, int, int]] | None = None) -> list[dict[int, int | None]]:
    """For every walk what nodes hold as it begins: what has arrived there when a step of it first meets them.

    What leaves hold as the first walk back begins stands there alone: they keep it, and what is added to it. An
    application with several outputs holds nothing: its gradients arrive at the outputs. `travelled` are the trace's
    `ways`, where they are known already.
    """
    travelled = travelled or ways(trace)
    leaves = {node["id"] for node in trace["nodes"] if node["kind"] == "leaf"}
    several = {e["node"]: None for node in trace["nodes"] if node["kind"] == "output" for e in node["inputs"]}
    found: list[dict[int, int | None]] = []
    first_before: dict[int, int | None] = {}
    first_back = None
    for walk in walks_of(trace):
        back = walk.direction == "backward"
        held = {} if walk.root is None or not back else {walk.root: walk.seed}
        held |= several
        for step, (_, start, end) in zip(trace["steps"][walk.at : walk.stop], travelled[walk.at :], strict=False):
            held.setdefault(start, step["upstream"])
            (first_before if back and end in leaves else held).setdefault(end, step["before"])
        found.append(held)
        first_back = held if back and first_back is None else first_back
    if first_back is not None:
        first_back |= {leaf: place for leaf, place in first_before.items() if leaf not in first_back}
    return found


class Change(NamedTuple):
    """What a node holds from a time on: as the step at a place begins, or where it `arrives`, when that is done."""

    step: int
    arrives: bool
    node: int
    holds: Held | None


def changes(trace: Trace) -> Iterator[Change]:
    """Everything that any node comes to hold, in order. With each walk nodes begin anew, but leaves keep their
    gradients."""
    travelled = ways(trace)
    leaves = {node["id"] for node in trace["nodes"] if node["kind"] == "leaf"}
    now: dict[int, Held] = {}
    for walk, begins in zip(walks_of(trace), starts(trace, travelled), strict=True):
        arrived = {node: Held(place, walk.direction) for node, place in begins.items() if place is not None}
        for node, each in list(now.items()):
            if node not in arrived and not (node in leaves and each.direction == "backward"):
                yield Change(walk.at, False, node, None)
                del now[node]
        for node, each in arrived.items():
            now[node] = each
            yield Change(walk.at, False, node, each)
        for i in range(walk.at, walk.stop):
            if (after := trace["steps"][i]["after"]) is not None:
                end = travelled[i][2]
                now[end] = Held(after, walk.direction)
                yield Change(i, True, end, now[end])


def held(
    trace: Trace, steps: int | None = None, begun: bool = False, every: Iterable[Change] | None = None
) -> dict[int, Held]:
    """What every node holds after a number of steps (unless told, all), where anything arrived; with `begun` as the
    step that follows begins, which may begin a walk. `every` are the trace's `changes`, where they are known."""
    count = len(trace["steps"]) if steps is None else steps
    before = (each for each in (changes(trace) if every is None else every) if each.step < (
        count if each.arrives or not (begun or count == 0) else count + 1))  # fmt: skip
    now = {each.node: each.holds for each in before}
    return {node: holds for node, holds in now.items() if holds is not None}


def rings(trace: Trace) -> set[int]:
    """The nodes where walks start: the result that a walk back begins at, and what moves to begin with."""
    found: set[int] = set()
    for walk, begins in zip(walks_of(trace), starts(trace), strict=True):
        moves = {node for node, place in begins.items() if place is not None}
        found |= moves if walk.direction == "forward" else set() if walk.root is None else {walk.root}
    return found


def left_behind(trace: Trace) -> tuple[str, list[tuple[int, int | None]]]:
    """What is left after the last step, and by which word: the gradients of leaves, or where all walks went forward,
    the result's tangent."""
    walks = trace.get("walks") or [trace["walk"]]
    if any(walk["direction"] == "backward" for walk in walks):
        return "gradient", [(each["node"], each["value"]) for each in trace["gradients"]]
    left = [(step["target"], step["after"]) for step in trace["steps"] if step["target"] == walks[-1]["root"]][-1:]
    return "tangent", left
