"""Where no gradient flows: cuts by `detach` and `no_grad`, and the branches that lead only to them."""

from __future__ import annotations

from typing import Any

Trace = dict[str, Any]

WORDS_OF_CUTS = {"detach": "detached here", "no_grad": "under no_grad", "no rule": "has no gradient"}
"""What a picture says at a result that no gradient can leave."""


def mark_dead_nodes(trace: Trace) -> None:
    """Set `dead` of every node: whether no walk of the trace can bring a gradient there, although an input of the
    program requires it.

    A constant is not dead: no one asked for its gradient. A part of a trace lists its dead nodes that require
    one, since the other uses of a node can be in another part.
    """
    nodes, unreached = trace["nodes"], _find_unreached(trace)
    for node in nodes:
        parents = [nodes[each["node"]] for each in node["inputs"]]
        is_cut = node["cut"] is not None or (
            node["kind"] != "leaf" and not node["requires_grad"] and any(parent["dead"] for parent in parents)
        )
        node["dead"] = is_cut or node["id"] in unreached


def _find_unreached(trace: Trace) -> set[int]:
    """Return the nodes that require a gradient, but are not behind the root of a walk, or only behind a cut; none if
    that is unknown."""
    roots = [walk["root"] for walk in trace["walks"]]
    if trace["part"]:
        return set(trace["part"]["unreached"])
    if not roots or None in roots or trace["error"] or any(walk["error"] for walk in trace["walks"]):
        return set()
    reached = {*roots, *(step[end] for step in trace["steps"] for end in ("node", "target"))}
    todo = [*reached]
    while todo:
        node = trace["nodes"][todo.pop()]
        if node["cut"] is None:
            behind = {each["node"] for each in node["inputs"]} - reached
            reached |= behind
            todo += behind
    return {node["id"] for node in trace["nodes"] if node["requires_grad"]} - reached


def words_of_cut(node: Trace) -> str | None:
    """Return the words for a node's cut; None without one."""
    return node["cut"] and WORDS_OF_CUTS[node["cut"]]
