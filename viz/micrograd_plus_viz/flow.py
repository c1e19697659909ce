"""Where no gradient flows: cuts by `detach` and `no_grad`, and the branches that lead only to them."""

from __future__ import annotations

from typing import Any

Trace = dict[str, Any]

WORDS_OF_CUTS = {"detach": "detached here", "no_grad": "under no_grad", "no rule": "has no gradient"}
"""What a picture says at a result that no gradient can leave."""


def mark_dead_nodes(trace: Trace) -> None:
    """Set `dead` of every node: whether no walk of the trace can bring a gradient there, although an input of the
    program requires it.

    A constant is not dead: no one asked for its gradient. In a part of a trace only results that are cut are dead,
    since the other uses of a node can be in another part.
    """
    nodes, reached = trace["nodes"], _nodes_behind_roots(trace)
    for node in nodes:
        parents = [nodes[each["node"]] for each in node["inputs"]]
        is_cut = node["cut"] is not None or (
            node["kind"] != "leaf" and not node["requires_grad"] and any(parent["dead"] for parent in parents)
        )
        node["dead"] = is_cut or (node["requires_grad"] and reached is not None and node["id"] not in reached)


def _nodes_behind_roots(trace: Trace) -> set[int] | None:
    """Return the nodes behind the roots of walks, without what is behind a cut; None if that is unknown."""
    roots = [walk["root"] for walk in trace["walks"]]
    if trace["part"] or not roots or None in roots or trace["error"] or any(walk["error"] for walk in trace["walks"]):
        return None
    todo = [*roots, *(step["node"] for step in trace["steps"]), *(step["target"] for step in trace["steps"])]
    reached = set(todo)
    while todo:
        node = trace["nodes"][todo.pop()]
        if node["cut"] is None:
            behind = {each["node"] for each in node["inputs"]} - reached
            reached |= behind
            todo += behind
    return reached


def words_of_cut(node: Trace) -> str | None:
    """Return the words for a node's cut; None without one."""
    return node["cut"] and WORDS_OF_CUTS[node["cut"]]
