"""Placement of nodes and edges.

Graphviz places small graphs. `layers` places large ones, and graphs with many long edges, which would take Graphviz
seconds.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import lru_cache

from . import dot, graphviz_run, layers
from .graph_picture import Box, Placement, coord
from .trace_input import Trace

MOST_NODES, MOST_SPANS = 300, 1200
_SVG = "{http://www.w3.org/2000/svg}"
_PAIR = re.compile(r"(-?[\d.]+(?:e-?\d+)?),(-?[\d.]+(?:e-?\d+)?)")


def compute_placement(trace: Trace) -> Placement:
    """Return the positions of a trace's nodes and edges. Raises GraphvizMissingError without Graphviz."""
    if len(trace["nodes"]) > MOST_NODES or layers.count_crossings_of_layers(trace) > MOST_SPANS:
        return layers.place_in_layers(trace)
    return _graphviz_placement(dot.source(trace))


@lru_cache(maxsize=64)
def _graphviz_placement(source: str) -> Placement:
    """Return Graphviz's placement of a graph, cached."""
    return read_graphviz_svg(graphviz_run.svg(source))


def read_graphviz_svg(svg: str) -> Placement:
    """Return the positions in an SVG that Graphviz wrote."""
    root = ET.fromstring(svg)  # noqa: S314 - Graphviz wrote it
    _, _, width, height = map(float, root.get("viewBox", "0 0 0 0").split())
    graph = root.find(f"{_SVG}g")
    if graph is None:
        return Placement(width, height, [], [], [])
    moved = re.search(r"translate\((-?[\d.]+)[ ,](-?[\d.]+)\)", graph.get("transform", ""))
    right, down = (float(moved[1]), float(moved[2])) if moved else (0.0, 0.0)
    marks = {mark.get("id"): mark for mark in graph.iter(f"{_SVG}g")}
    boxes, curves, heads = [], [], []
    while (node := marks.get(f"n{len(boxes)}")) is not None:
        boxes.append(_box(_points(_shapes(node)[0], right, down)))
    while (edge := marks.get(f"e{len(curves)}")) is not None:
        curve, head, *_ = _shapes(edge)
        curves.append(_shift(curve, right, down))
        left, tip, other, *_ = _points(head, right, down)
        heads.append((*tip, (left[0] + other[0]) / 2, (left[1] + other[1]) / 2))
    return Placement(width, height, boxes, curves, heads)


def _shapes(mark: ET.Element) -> list[str]:
    """Return the coordinates of the shapes of a node or an edge.

    With a double line, the first shape of a node is the inner one; an edge is a curve, then its head.
    """
    return [c for shape in mark.iter() if (c := shape.get("points") or shape.get("d"))]


def _points(text: str, right: float, down: float) -> list[tuple[float, float]]:
    return [(float(x) + right, float(y) + down) for x, y in _PAIR.findall(text)]


def _shift(path: str, right: float, down: float) -> str:
    return _PAIR.sub(lambda pair: f"{coord(float(pair[1]) + right)},{coord(float(pair[2]) + down)}", path)


def _box(points: list[tuple[float, float]]) -> Box:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return Box((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, max(xs) - min(xs), max(ys) - min(ys))
