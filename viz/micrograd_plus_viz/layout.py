"""Where everything lies.

Graphviz places small graphs; our own layers place large ones, and those whose many long edges would keep
Graphviz busy for seconds.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import lru_cache

from . import dot, graphviz_run, layers
from .picture import Box, Placing, near
from .source import Trace

MOST_NODES, MOST_SPANS = 300, 1200
_SVG = "{http://www.w3.org/2000/svg}"
_PAIR = re.compile(r"(-?[\d.]+(?:e-?\d+)?),(-?[\d.]+(?:e-?\d+)?)")


def placed(trace: Trace) -> Placing:
    """The places of a trace's nodes and edges. GraphvizMissingError where there is no Graphviz to ask."""
    if len(trace["nodes"]) > MOST_NODES or layers.spans(trace) > MOST_SPANS:
        return layers.place(trace)
    return _laid(dot.source(trace))


@lru_cache(maxsize=64)
def _laid(source: str) -> Placing:
    """The places of a graph; of one that is drawn again they are known."""
    return read(graphviz_run.svg(source))


def read(svg: str) -> Placing:
    """The places in a drawing of Graphviz's own making."""
    root = ET.fromstring(svg)  # noqa: S314 - Graphviz wrote it
    _, _, width, height = map(float, root.get("viewBox", "0 0 0 0").split())
    graph = root.find(f"{_SVG}g")
    if graph is None:
        return Placing(width, height, [], [], [])
    moved = re.search(r"translate\((-?[\d.]+)[ ,](-?[\d.]+)\)", graph.get("transform", ""))
    right, down = (float(moved[1]), float(moved[2])) if moved else (0.0, 0.0)
    marks = {mark.get("id"): mark for mark in graph.iter(f"{_SVG}g")}
    boxes, curves, heads = [], [], []
    while (node := marks.get(f"n{len(boxes)}")) is not None:
        boxes.append(_box(_points(_shapes(node)[0], right, down)))
    while (edge := marks.get(f"e{len(curves)}")) is not None:
        curve, head, *_ = _shapes(edge)
        curves.append(_shifted(curve, right, down))
        left, tip, other, *_ = _points(head, right, down)
        heads.append((*tip, (left[0] + other[0]) / 2, (left[1] + other[1]) / 2))
    return Placing(width, height, boxes, curves, heads)


def _shapes(mark: ET.Element) -> list[str]:
    """The coordinates of what a node or an edge is drawn with.

    A node's first shape is the inner one where its line is double; an edge is a curve and then its head.
    """
    return [c for shape in mark.iter() if (c := shape.get("points") or shape.get("d"))]


def _points(text: str, right: float, down: float) -> list[tuple[float, float]]:
    return [(float(x) + right, float(y) + down) for x, y in _PAIR.findall(text)]


def _shifted(path: str, right: float, down: float) -> str:
    return _PAIR.sub(lambda pair: f"{near(float(pair[1]) + right)},{near(float(pair[2]) + down)}", path)


def _box(points: list[tuple[float, float]]) -> Box:
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return Box((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, max(xs) - min(xs), max(ys) - min(ys))
