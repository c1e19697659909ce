"""A large graph in one picture: its groups as boxes, as the player opens it, and the edges between them."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from .. import layout, letters, picture, words
from ..colours import looks
from ..groups import grouped
from ..picture import near
from ..source import Trace

ROOM, SIZE = 16.0, 12.0


def drawn(trace: Trace, dark: bool = False) -> tuple[str, float, float]:
    """The picture as SVG, with its width and its height."""
    told = _trace_of_parts(trace)
    placing = layout.placed(told)
    said = _sentence(trace, len(told["nodes"]))
    lines = letters.wrapped(said, SIZE, max(300.0, placing.width - 2 * ROOM))
    width, height = max(332.0, placing.width), placing.height + 17 * len(lines) + 10
    below = "".join(
        f'<text x="{ROOM:g}" y="{near(placing.height + 12 + 17 * k)}" font-size="{SIZE:g}"{letters.held(line, SIZE)}>'
        f"{escape(line)}</text>"
        for k, line in enumerate(lines)
    )
    style = f"<style>{looks('picture.css', dark=dark)}</style>"
    graph = f'<g class="graph">{picture.body(told, placing)}</g>'
    return picture.framed(width, height, style + graph + below, said), width, height


def _sentence(trace: Trace, parts: int) -> str:
    count = len(trace["nodes"])
    if trace["part"]:
        first = trace["first"]
        steps = f"Steps {first + 1} to {first + len(trace['steps'])} of {trace['total']}"
        return f"{steps}, and the {count} nodes that they touch, in {parts} parts."
    return f"{words.summary(trace)}. The {count} nodes stand here in {parts} parts."


def _trace_of_parts(trace: Trace) -> Trace:
    """A trace whose nodes are the groups that are closed at first, and the nodes that lie in none of these."""
    groups = grouped(trace)
    if groups is None:
        return trace
    parts = [_part(groups, i) for i in range(len(trace["nodes"]))]
    place: dict[Any, int] = {}
    for part in parts:
        place.setdefault(part, len(place))
    read: dict[Any, dict[int, None]] = {part: {} for part in place}
    for start, end, _ in words.edges(trace):
        if parts[start] != parts[end]:
            read[parts[end]].setdefault(place[parts[start]])
    called = words.names(trace)
    nodes = [_node(trace, groups, called, part, at) | {
        "inputs": [{"name": str(k), "node": start} for k, start in enumerate(read[part])]} for part, at in place.items()
    ]  # fmt: skip
    root = trace["walk"]["root"]
    found = None if root is None or parts[root][0] == "group" else place[parts[root]]
    walk = trace["walk"] | {"root": found}
    return trace | {"nodes": nodes, "steps": [], "gradients": [], "walk": walk, "walks": [walk], "groups": []}


def _part(groups: dict[str, Any], i: int) -> tuple[str, int]:
    """What stands for a node: itself, or the outermost closed group that it lies in."""
    part, group = ("node", i), groups["of"][i]
    while group > 0:
        if group not in groups["open"]:
            part = ("group", group)
        group = groups["parents"][group]
    return part


def _node(trace: Trace, groups: dict[str, Any], called: list[str], part: tuple[str, int], at: int) -> Trace:
    kind, i = part
    if kind == "node":
        return trace["nodes"][i] | {"id": at, "label": called[i], "name": called[i]}
    own = re.sub(r"[. ]?\d+ nodes$", "", words.spaced(groups["names"][i])) or "a group"
    name = f"{words.clipped(own, 20)}: {words.counted_as(groups['counts'][i], 'node')}"
    return trace["nodes"][0] | {
        "id": at, "kind": "application", "op": None, "label": name, "name": name, "value": None, "site": None,
        "requires_grad": True,
    }  # fmt: skip
