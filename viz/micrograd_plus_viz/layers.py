"""Layered layout for graphs too large for Graphviz, linear in nodes and edges.

A node's layer is the length of the longest path to it. A few sweeps move each node near the average of its neighbours,
first in order, then in height. The method comes from Sugiyama, Tagawa and Toda (1981), except that an edge over several
layers is one curve.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from .dot import final_labels_and_widths
from .graph_picture import LINE, Box, Placement, coord
from .trace_input import Trace
from .words import edges

GAP_ACROSS, GAP_DOWN, MARGIN, HEAD, LOWEST_ARC = 44.0, 16.0, 12.0, 7.0, 90.0
SWEEPS = 4


def place_in_layers(trace: Trace) -> Placement:
    """Place every node and edge of a trace in layers from left to right."""
    links = [(start, end) for start, end, _ in edges(trace)]
    nodes_with_labels = zip(trace["nodes"], *final_labels_and_widths(trace), strict=True)
    sizes = [_size(node["kind"], broadest, len(label.lines())) for node, label, broadest in nodes_with_labels]
    layers = _layers(len(sizes), links)
    before, after = _neighbours(len(sizes), links)
    for sweep in range(SWEEPS):
        _sort_by_average(layers, before if sweep % 2 == 0 else after, sweep % 2 == 1)
    heights = _heights(layers, before, after, sizes)
    down = MARGIN + max((size[1] for size in sizes), default=0.0) / 2 - min(heights, default=0.0)
    boxes = [Box(0, 0, 0, 0)] * len(sizes)
    left = MARGIN
    for layer in layers:
        wide = max(sizes[n][0] for n in layer)
        for n in layer:
            boxes[n] = Box(left + wide / 2, heights[n] + down, *sizes[n])
        left += wide + GAP_ACROSS
    ends = [(boxes[start], boxes[end]) for start, end in links]
    lowest = max((b.y + b.height / 2 for b in boxes), default=0.0)
    sag = 0.75 * max((_drop(*pair) for pair in ends), default=0.0)
    width, height = left - GAP_ACROSS + MARGIN, lowest + sag + MARGIN
    return Placement(width, height, boxes, [_curve(*pair) for pair in ends], [_head(end) for _, end in ends])


def _size(kind: str, broadest: float, lines: int) -> tuple[float, float]:
    """Return the width and height of a node.

    The slanted ends of a hexagon leave less than two thirds of its width for the first and last line.
    """
    width = 6.6 * broadest + 20
    return width * 1.6 if kind == "output" else width, LINE * lines + 12


def count_crossings_of_layers(trace: Trace) -> int:
    """Return how many layers all edges cross together. Graphviz's running time grows with this number."""
    links = [(start, end) for start, end, _ in edges(trace)]
    layer_of = {n: i for i, layer in enumerate(_layers(len(trace["nodes"]), links)) for n in layer}
    return sum(layer_of[end] - layer_of[start] for start, end in links)


def _layers(count: int, links: list[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes of every layer. A node without inputs is placed directly before its first reader."""
    depth, first_reader, has_input = [0] * count, [count] * count, [False] * count
    for start, end in links:
        depth[end] = max(depth[end], depth[start] + 1)
        has_input[end] = True
    for start, end in links:
        first_reader[start] = min(first_reader[start], depth[end] - 1)
    layers: defaultdict[int, list[int]] = defaultdict(list)
    for n in range(count):
        layers[depth[n] if has_input[n] or first_reader[n] == count else first_reader[n]].append(n)
    return [layers[d] for d in sorted(layers)]


def _neighbours(count: int, links: list[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for start, end in links:
        after[start].append(end)
        before[end].append(start)
    return before, after


def _sort_by_average(layers: list[list[int]], neighbours: list[list[int]], backwards: bool) -> None:
    """Sort each layer by the average rank of its nodes' neighbours, so that fewer edges cross."""
    rank = {n: i - len(layer) / 2 for layer in layers for i, n in enumerate(layer)}
    for layer in reversed(layers) if backwards else layers:
        wish = dict(zip(layer, _averages(layer, neighbours, rank), strict=True))
        layer.sort(key=wish.__getitem__)
        for i, n in enumerate(layer):
            rank[n] = i - len(layer) / 2


def _averages(layer: list[int], neighbours: list[list[int]], place: Any) -> list[float]:
    """Return the average position of each node's neighbours, or its own if it has none."""
    around = [neighbours[n] or [n] for n in layer]
    return [sum(place[m] for m in nodes) / len(nodes) for nodes in around]


def _heights(
    layers: list[list[int]], before: list[list[int]], after: list[list[int]], sizes: list[tuple[float, float]]
) -> list[float]:
    """Return the vertical centre of every node: near its neighbours, in order, without overlap."""
    height = [0.0] * len(sizes)
    for layer in layers:
        _spread(layer, [0.0] * len(layer), sizes, height.__setitem__)
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _spread(layer, _averages(layer, neighbours, height), sizes, height.__setitem__)
    return height


def _spread(
    layer: list[int], wishes: list[float], sizes: list[tuple[float, float]], put: Callable[[int, float], None]
) -> None:
    """Move each node as near to its wish as the order and the gaps allow.

    Nodes that would overlap form a block, which moves to the average of their wishes.
    """
    offsets, total = [], 0.0
    for i, n in enumerate(layer):
        total += (sizes[layer[i - 1]][1] + sizes[n][1]) / 2 + GAP_DOWN if i else 0.0
        offsets.append(total)
    blocks: list[tuple[float, int]] = []
    for wish, offset in zip(wishes, offsets, strict=True):
        start, members = wish - offset, 1
        while blocks and blocks[-1][0] > start:
            other, more = blocks.pop()
            start, members = (start * members + other * more) / (members + more), members + more
        blocks.append((start, members))
    i = 0
    for start, members in blocks:
        for _ in range(members):
            put(layer[i], start + offsets[i])
            i += 1


def _drop(start: Box, end: Box) -> float:
    """Return how far a long edge sags, so that it is visible between nodes."""
    return min(LOWEST_ARC, max(0.0, end.x - start.x - (end.width + start.width) / 2 - GAP_ACROSS) / 8)


def _curve(start: Box, end: Box) -> str:
    """Return the curve from the right side of one node to the arrow at the left side of another."""
    x, foot, drop = start.x + start.width / 2, _head(end)[2], _drop(start, end)
    bend = max(18.0, (foot - x) / 2)
    points = (x + bend, start.y + drop), (foot - bend, end.y + drop), (foot, end.y)
    return f"M{coord(x)},{coord(start.y)}C" + " ".join(f"{coord(a)},{coord(b)}" for a, b in points)


def _head(end: Box) -> tuple[float, float, float, float]:
    """Return the tip and the base of the arrow at a node's left side."""
    tip = end.x - end.width / 2
    return tip, end.y, tip - HEAD, end.y
