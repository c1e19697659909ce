"""Picture of a large graph: its groups as boxes, as the player opens it, and the edges between them."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from .. import graph_picture, layout, letters, words
from ..colours import resolve_styles
from ..graph_picture import coord
from ..groups import build_groups
from ..trace_input import Trace

ROOM, SIZE = 16.0, 12.0


def render(trace: Trace, dark: bool = False) -> tuple[str, float, float]:
    """Return the picture as SVG, with its width and height."""
    small_trace = _trace_of_parts(trace)
    placement = layout.compute_placement(small_trace)
    sentence = _sentence(trace, len(small_trace["nodes"]))
    lines = letters.wrap(sentence, SIZE, max(300.0, placement.width - 2 * ROOM))
    width, height = max(332.0, placement.width), placement.height + 17 * len(lines) + 10
    below = "".join(
        f'<text x="{ROOM:g}" y="{coord(placement.height + 12 + 17 * k)}" font-size="{SIZE:g}"'
        f"{letters.fixed_width(line, SIZE)}>"
        f"{escape(line)}</text>"
        for k, line in enumerate(lines)
    )
    style = f"<style>{resolve_styles('picture.css', dark=dark)}</style>"
    graph = f'<g class="graph">{graph_picture.body(small_trace, placement)}</g>'
    return graph_picture.svg_document(width, height, style + graph + below, sentence), width, height


def _sentence(trace: Trace, parts: int) -> str:
    count = len(trace["nodes"])
    if trace["part"]:
        first = trace["first"]
        steps = f"Steps {first + 1} to {first + len(trace['steps'])} of {trace['total']}"
        return f"{steps}, and the {count} nodes that they use, in {parts} parts."
    return f"{words.summary(trace)}. The {count} nodes are drawn in {parts} parts."


def _trace_of_parts(trace: Trace) -> Trace:
    """Return a trace whose nodes are the closed groups, and the nodes outside them."""
    groups = build_groups(trace)
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
    node_names = words.names(trace)
    nodes = [_node(trace, groups, node_names, part, at) | {
        "inputs": [{"name": str(k), "node": start} for k, start in enumerate(read[part])]} for part, at in place.items()
    ]  # fmt: skip
    root = trace["walk"]["root"]
    root_part = None if root is None or parts[root][0] == "group" else place[parts[root]]
    walk = trace["walk"] | {"root": root_part}
    empty: Trace = {name: [] for name in ("steps", "journal", "starts", "gradients", "groups")}
    return trace | empty | {"nodes": nodes, "walk": walk, "walks": [walk]}


def _part(groups: dict[str, Any], i: int) -> tuple[str, int]:
    """Return the part that represents a node: the node, or the outermost closed group around it."""
    part, group = ("node", i), groups["of"][i]
    while group > 0:
        if group not in groups["open"]:
            part = ("group", group)
        group = groups["parents"][group]
    return part


def _node(trace: Trace, groups: dict[str, Any], node_names: list[str], part: tuple[str, int], at: int) -> Trace:
    kind, i = part
    if kind == "node":
        return trace["nodes"][i] | {"id": at, "label": node_names[i], "title": node_names[i]}
    own = re.sub(r"[. ]?\d+ nodes$", "", words.single_line(groups["names"][i])) or "a group"
    name = f"{words.truncate(own, 20)}: {words.pluralize(groups['counts'][i], 'node')}"
    return trace["nodes"][0] | {
        "id": at, "kind": "application", "op": None, "label": name, "title": name, "value": None, "site": None,
        "requires_grad": True, "cut": None, "dead": False,
    }  # fmt: skip
