"""The walks of a trace: their directions, their start values, and the value of each node over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .journal import WalkState, walk_states
from .trace_input import Trace
from .words import step_edges, values_differ

TRAVELS = {"backward": "gradient", "forward": "tangent"}
"""Name of the quantity that a walk sends."""
IN_A_NODE = {"backward": "grad", "forward": "tangent"}
"""Short name of the quantity, for the text in a node."""


class Walk(NamedTuple):
    """Visible part of a walk; `at` is the index of its first step, `stop` the index after its last."""

    at: int
    stop: int
    direction: str
    root: int | None
    seed: int | None

    @property
    def word(self) -> str:
        """Return "gradient" or "tangent"."""
        return TRAVELS[self.direction]

    @property
    def way(self) -> str:
        """Return the direction for a heading: "back" or "forward"."""
        return "back" if self.direction == "backward" else "forward"


class NodeValue(NamedTuple):
    """Gradient or tangent of a node: index of its value, and direction of the walk that sent it."""

    place: int
    direction: str


def walks_of(trace: Trace) -> list[Walk]:
    """Return the walks that have visible steps; without steps, the trace's main walk."""
    steps, walks = trace["steps"], trace["walks"]
    numbers = [step["walk"] for step in steps]
    begins = [i for i, number in enumerate(numbers) if i == 0 or number != numbers[i - 1]] or [0]
    walks_found = []
    for at, stop in zip(begins, [*begins[1:], len(steps)], strict=True):
        walk = walks[numbers[at]] if at else trace["walk"]
        walks_found.append(Walk(at, stop, walk["direction"], walk["root"], walk["seed"]))
    return walks_found


def ends_of_walks(trace: Trace) -> set[int]:
    """Return the nodes that keep their gradients from walk to walk: leaves, and results that a walk reaches but does
    not leave. A `Value` that was computed under `no_grad` is one."""
    reached = {step["target"] for step in trace["steps"]}
    nodes = trace["nodes"]
    return {node["id"] for node in nodes if node["kind"] == "leaf" or (node["cut"] and node["id"] in reached)}


def values_at_start(trace: Trace, edges_taken: list[tuple[int, int, int]] | None = None) -> list[dict[int, int | None]]:
    """Return for every walk what each node holds before the walk's first step.

    The journal says what leaves hold. A part that begins inside a walk shows what its first steps found.
    An application with several outputs holds nothing; its outputs do. `edges_taken` may pass the trace's `step_edges`
    if they are known.
    """
    edges_taken = edges_taken or step_edges(trace)
    leaves = ends_of_walks(trace)
    several = {e["node"]: None for node in trace["nodes"] if node["kind"] == "output" for e in node["inputs"]}
    result: list[dict[int, int | None]] = []
    states = walk_states(trace)
    for walk in walks_of(trace):
        back = walk.direction == "backward"
        arrived: dict[int, int | None] = {} if walk.root is None or not back else {walk.root: walk.seed}
        arrived |= several
        is_whole = not trace["steps"] or trace["first"] + walk.at <= trace["walks"][_number(trace, walk)]["first"]
        state = states.get(_number(trace, walk))
        if back and is_whole and state is not None:
            arrived |= {
                node: place for node, place in state.starts.items() if node in leaves or not trace["walks"]
            }
        for step, (_, start, end) in zip(trace["steps"][walk.at : walk.stop], edges_taken[walk.at :], strict=False):
            arrived.setdefault(start, step["upstream"])
            arrived.setdefault(end, step["before"])
        result.append(arrived)
    return result


def _number(trace: Trace, walk: Walk) -> int:
    """Return the number of a visible walk in the trace."""
    return trace["steps"][walk.at]["walk"] if trace["steps"] else 0


def ends_of(trace: Trace, walk: Walk, states: dict[int, WalkState]) -> dict[int, int | None]:
    """Return the gradients at the end of a visible walk that differ from what its last steps left, as after a hook, or
    in a leaf that keeps none."""
    if not trace["walks"] or walk.stop == walk.at:
        return {}
    number = _number(trace, walk)
    of_walk = trace["walks"][number]
    if trace["first"] + walk.stop < of_walk["first"] + of_walk["steps"] or number not in states:
        return {}
    last = {step["target"]: step["after"] for step in trace["steps"][walk.at : walk.stop]}
    return {
        node: place for node, place in states[number].ends.items()
        if node in last and (place is None or values_differ(trace, last[node], place))
    }


class Change(NamedTuple):
    """What a node holds from a moment on, or None if it is empty."""

    node: int
    holds: NodeValue | None


def changes(trace: Trace) -> Iterator[Change]:
    """Yield all changes of node values in order. Each walk starts with empty nodes, and leaves with their gradients; a
    forward walk leaves these as they are. A node that sends has what it sends, which a hook may have changed."""
    edges_taken = step_edges(trace)
    leaves = ends_of_walks(trace)
    now: dict[int, NodeValue] = {}
    states = walk_states(trace)
    for walk, begins in zip(walks_of(trace), values_at_start(trace, edges_taken), strict=True):
        arrived = {node: NodeValue(place, walk.direction) for node, place in begins.items() if place is not None}
        for node, each in list(now.items()):
            if node not in arrived and not (node in leaves and each.direction == "backward" != walk.direction):
                yield Change(node, None)
                del now[node]
        for node, each in arrived.items():
            now[node] = each
            yield Change(node, each)
        for i in range(walk.at, walk.stop):
            _, start, end = edges_taken[i]
            upstream = trace["steps"][i]["upstream"]
            if start in now and upstream is not None and now[start].place != upstream:
                now[start] = NodeValue(upstream, walk.direction)
                yield Change(start, now[start])
            if (after := trace["steps"][i]["after"]) is not None:
                now[end] = NodeValue(after, walk.direction)
                yield Change(end, now[end])
        for node, place in ends_of(trace, walk, states).items():
            yield Change(node, None if place is None else NodeValue(place, walk.direction))
            now.pop(node, None)
            if place is not None:
                now[node] = NodeValue(place, walk.direction)


def start_nodes(trace: Trace) -> set[int]:
    """Return the nodes where walks start: the root of a backward walk, the inputs of a forward walk."""
    nodes: set[int] = set()
    for walk, begins in zip(walks_of(trace), values_at_start(trace), strict=True):
        moves = {node for node, place in begins.items() if place is not None}
        nodes |= moves if walk.direction == "forward" else set() if walk.root is None else {walk.root}
    return nodes


def final_values(trace: Trace) -> tuple[str, list[tuple[int, int | None]]]:
    """Return the name and the values of the result: leaf gradients, or the tangent of the result if all walks are
    forward."""
    walks = trace["walks"] or [trace["walk"]]
    if any(walk["direction"] == "backward" for walk in walks):
        left = {each["node"]: each["value"] for each in trace["gradients"]}
        for state in walk_states(trace).values():  # an optimiser's zero_grad may have cleared what the walks left
            left |= {node: place for node, place in state.ends.items() if node in left}
        return "gradient", list(left.items())
    left = [(step["target"], step["after"]) for step in trace["steps"] if step["target"] == walks[-1]["root"]][-1:]
    return "tangent", left
