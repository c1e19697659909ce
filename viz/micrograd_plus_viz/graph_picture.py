"""SVG of a placed graph, styled by classes only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from math import hypot
from typing import NamedTuple

from . import letters
from .colours import resolve_styles
from .dot import Label, labels
from .flow import edges_with_cuts, is_faint
from .trace_input import Trace
from .walks import start_nodes
from .words import edges

FONT = "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif"
LINE = 14.5
_PAIR = re.compile(r"(-?[\d.]+)[ ,](-?[\d.]+)")
SLANT = 0.25
"""Width of a hexagon's slanted end, relative to its width, as in Graphviz, whose edges end there."""


class Box(NamedTuple):
    """Position of a node: centre, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Placement:
    """Positions of all nodes and edges, in pixels from the upper left corner."""

    width: float
    height: float
    boxes: list[Box]
    curves: list[str]
    heads: list[tuple[float, float, float, float]]
    """For every edge, the tip of its arrow and the end of its curve."""


def coord(x: float) -> str:
    """Round a coordinate to a tenth of a pixel."""
    return f"{x:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Look:
    """State of a graph after some steps: the state of each node, and the state and width of each edge."""

    nodes: dict[int, str]
    edges: dict[int, tuple[str, float]]


PLAIN = Look({}, {})


def body(
    trace: Trace,
    placement: Placement,
    steps: int | None = None,
    look: Look = PLAIN,
    prefix: str = "",
    next_started: bool = False,
) -> str:
    """Return the elements of a picture after `steps` steps, edges below nodes, without the `<svg>` tag.

    `prefix` starts their ids, for documents with several pictures. With `next_started`, the following step has begun.
    """
    markup = []
    links = edges(trace)
    cuts = edges_with_cuts(trace, links)
    for j, (start, end, _) in enumerate(links):
        carries = not is_faint(trace, start, end)
        markup.append(_edge(f"{prefix}e{j}", carries, placement.curves[j], placement.heads[j], look.edges.get(j)))
        if j in cuts:
            markup.append(_cut_mark(placement.curves[j]))
    starts = start_nodes(trace)
    for data, box, label in zip(trace["nodes"], placement.boxes, labels(trace, steps, next_started), strict=True):
        markup.append(node(data, box, label, data["id"] in starts, look.nodes.get(data["id"], ""), prefix))
    return "".join(markup)


def graph_svg(trace: Trace, placement: Placement, dark: bool = False) -> str:
    """Return the whole picture with its background, as a file or image."""
    markup = f'<g class="graph">{body(trace, placement)}</g>'
    return svg_document(
        placement.width,
        placement.height,
        f"<style>{resolve_styles('picture.css', dark=dark)}</style>{markup}",
        alt(trace),
    )


def svg_document(width: float, height: float, inner: str, title: str, description: str = "") -> str:
    """Return an SVG document with a background, a title and a description."""
    w, h = coord(width), coord(height)
    about = f"<desc>{escape(description)}</desc>" if description else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'class="walk"><title>{escape(title)}</title>{about}'
        f'<rect class="ground" width="{w}" height="{h}" rx="6"/>{inner}</svg>'
    )


def alt(trace: Trace) -> str:
    """Return alternative text for the picture."""
    leaves = sum(n["kind"] == "leaf" for n in trace["nodes"])
    results = len(trace["nodes"]) - leaves
    return f"Graph of a program with {leaves} leaves, {results} results and {len(edges(trace))} edges"


def _edge(
    name: str, carries: bool, curve: str, head: tuple[float, float, float, float], state: tuple[str, float] | None
) -> str:
    """Return an edge: faint if no gradient can pass, thicker for larger gradients."""
    kind = "edge" if carries else "edge faint"
    done, thick = state or ("", 0.0)
    style = f' style="stroke-width:{thick:.1f}"' if thick else ""
    return f'<g id="{name}" class="{f"{kind} {done}".strip()}"><path d="{curve}"{style}/>{_arrow(head)}</g>'


def _cut_mark(curve: str) -> str:
    """Return two strokes across an edge, before its arrow."""
    (x, y), (a, b), (c, d) = (point_along(curve, part) for part in (0.8, 0.75, 0.85))
    far = hypot(c - a, d - b) or 1.0
    along, across = ((c - a) / far, (d - b) / far), (-(d - b) / far, (c - a) / far)
    strokes = ""
    for shift in (-2.0, 2.0):
        ends = [(x + shift * along[0] + by * (across[0] + 0.3 * along[0]),
                 y + shift * along[1] + by * (across[1] + 0.3 * along[1])) for by in (-6.0, 6.0)]  # fmt: skip
        strokes += "M" + "L".join(f"{coord(a)},{coord(b)}" for a, b in ends)
    return f'<path class="cut" d="{strokes}"/>'


def _arrow(head: tuple[float, float, float, float]) -> str:
    """Return a small triangle from the end of the curve to its tip."""
    return arrow("head", head, 0.38)


def arrow(name: str, head: tuple[float, float, float, float], slimness: float) -> str:
    """Return a triangle, given its tip and the middle of its base."""
    x, y, from_x, from_y = head
    across_x, across_y = (from_y - y) * slimness, (x - from_x) * slimness
    corners = ((x, y), (from_x + across_x, from_y + across_y), (from_x - across_x, from_y - across_y))
    return _polygon(name, corners)


def points_of(curve: str) -> list[tuple[float, float]]:
    """Return the points of a curve: its start, then three for each segment."""
    return [(float(x), float(y)) for x, y in _PAIR.findall(curve)]


def point_along(curve: str, part: float) -> tuple[float, float]:
    """Return the point at a fraction of a curve; all segments count equally."""
    points = points_of(curve)
    pieces = (len(points) - 1) // 3
    at = min(int(part * pieces), pieces - 1)
    t = part * pieces - at
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    piece = points[3 * at : 3 * at + 4]
    x, y = (sum(w * point[axis] for w, point in zip(weights, piece, strict=True)) for axis in (0, 1))
    return x, y


def _polygon(name: str, corners: Iterable[tuple[float, float]]) -> str:
    """Return a closed shape with straight sides."""
    return f'<path class="{name}" d="M' + "L".join(f"{coord(a)},{coord(b)}" for a, b in corners) + 'Z"/>'


def node(data: Trace, box: Box, label: Label, root: bool = False, state: str = "", prefix: str = "") -> str:
    """Return a node with its text, in the state after a step."""
    shapes = outline(data["kind"], box, "body")
    if root:
        shapes += outline(data["kind"], Box(box.x, box.y, box.width + 6, box.height + 6), "ring")
    y = first_line(box, len(label.lines()))
    for kind, text in label._asdict().items():
        if text:
            shapes += line(kind, text, box.x, y)
            y += LINE
    kinds = [data["kind"], "" if data["requires_grad"] else "constant", "dead" if data["dead"] else "", state]
    return f'<g id="{prefix}n{data["id"]}" class="node {" ".join(filter(None, kinds))}">{shapes}</g>'


def line(kind: str, text: str, x: float, y: float) -> str:
    """Return one line of a node. nan is highlighted, and so are infinite gradients; values such as masks may be
    infinite."""
    odd = text.endswith(("nan", "inf") if kind == "gradient" else "nan") and kind != "name"
    long = letters.fixed_width(text, 12, bold=True) if kind == "name" else ""
    return f'<text class="{kind}{" odd" * odd}" x="{coord(x)}" y="{coord(y)}"{long}>{escape(text)}</text>'


def first_line(box: Box, lines: int) -> float:
    """Return the baseline of a node's first line."""
    return box.y - LINE * (lines - 1) / 2 + 4


def outline(kind: str, box: Box, name: str) -> str:
    """Return the shape of a node: box, rounded box or hexagon."""
    x, y, w, h = box.x - box.width / 2, box.y - box.height / 2, box.width, box.height
    if kind == "output":
        slant = w * SLANT
        left, right, middle, bottom = x + slant, x + w - slant, y + h / 2, y + h
        return _polygon(name, ((x, middle), (left, y), (right, y), (x + w, middle), (right, bottom), (left, bottom)))
    radius = coord(min(16.0, h / 2)) if kind == "application" else "1.5"
    return f'<rect class="{name}" x="{coord(x)}" y="{coord(y)}" width="{coord(w)}" height="{coord(h)}" rx="{radius}"/>'
