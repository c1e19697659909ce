"""A layered layout of our own for graphs too large for Graphviz, linear in nodes and edges.

A node's layer is the length of the longest path that leads to it; a few sweeps put every node near the
average of its neighbours, first in order, then in height. The method is that of Sugiyama, Tagawa and Toda
(1981), but an edge over several layers is one curve instead of being cut at every layer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from .dot import last_and_broadest
from .picture import LINE, Box, Placing, near
from .source import Trace
from .words import edges

GAP_ACROSS, GAP_DOWN, MARGIN, HEAD, LOWEST_ARC = 44.0, 16.0, 12.0, 7.0, 90.0
SWEEPS = 4


def place(trace: Trace) -> Placing:
    """Every node and edge of a trace in layers from left to right."""
    links = [(start, end) for start, end, _ in edges(trace)]
    told = zip(trace["nodes"], *last_and_broadest(trace), strict=True)
    sizes = [_size(node["kind"], broadest, len(label.lines())) for node, label, broadest in told]
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
    hanging = 0.75 * max((_drop(*pair) for pair in ends), default=0.0)
    width, height = left - GAP_ACROSS + MARGIN, lowest + hanging + MARGIN
    return Placing(width, height, boxes, [_curve(*pair) for pair in ends], [_head(end) for _, end in ends])


def _size(kind: str, broadest: float, lines: int) -> tuple[float, float]:
    """The width and height of a node with so many lines, the broadest as wide as so many digits.

    The slanted ends of a hexagon leave its first and last line less than two thirds of its width.
    """
    width = 6.6 * broadest + 20
    return width * 1.6 if kind == "output" else width, LINE * lines + 12


def spans(trace: Trace) -> int:
    """How many layers all edges cross together, which is what Graphviz's time grows with."""
    links = [(start, end) for start, end, _ in edges(trace)]
    layer_of = {n: i for i, layer in enumerate(_layers(len(trace["nodes"]), links)) for n in layer}
    return sum(layer_of[end] - layer_of[start] for start, end in links)


def _layers(count: int, links: list[tuple[int, int]]) -> list[list[int]]:
    """The nodes of every layer; a node without inputs stands right before the first that reads it."""
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
    """Sort every layer by the average rank of its nodes' neighbours, so that fewer edges cross."""
    rank = {n: i - len(layer) / 2 for layer in layers for i, n in enumerate(layer)}
    for layer in reversed(layers) if backwards else layers:
        wish = dict(zip(layer, _averages(layer, neighbours, rank), strict=True))
        layer.sort(key=wish.__getitem__)
        for i, n in enumerate(layer):
            rank[n] = i - len(layer) / 2


def _averages(layer: list[int], neighbours: list[list[int]], place: Any) -> list[float]:
    """For every node of a layer the average place of its neighbours; its own where it has none."""
    around = [neighbours[n] or [n] for n in layer]
    return [sum(place[m] for m in nodes) / len(nodes) for nodes in around]


def _heights(
    layers: list[list[int]], before: list[list[int]], after: list[list[int]], sizes: list[tuple[float, float]]
) -> list[float]:
    """The height of every node's centre: near its neighbours, in its layer's order, none over another."""
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
    """Give every node the height nearest to its wish that keeps the order and the gaps.

    Nodes that would overlap are joined to a block, which moves to the average of its members' wishes.
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
    """How far a long edge hangs down, like a rope, so as not to hide behind the nodes between."""
    return min(LOWEST_ARC, max(0.0, end.x - start.x - (end.width + start.width) / 2 - GAP_ACROSS) / 8)


def _curve(start: Box, end: Box) -> str:
    """The curve from one node's right side to the foot of the arrow at another's left."""
    x, foot, drop = start.x + start.width / 2, _head(end)[2], _drop(start, end)
    bend = max(18.0, (foot - x) / 2)
    points = (x + bend, start.y + drop), (foot - bend, end.y + drop), (foot, end.y)
    return f"M{near(x)},{near(start.y)}C" + " ".join(f"{near(a)},{near(b)}" for a, b in points)


def _head(end: Box) -> tuple[float, float, float, float]:
    """The tip of the arrow at a node's left side, and its foot."""
    tip = end.x - end.width / 2
    return tip, end.y, tip - HEAD, end.y
