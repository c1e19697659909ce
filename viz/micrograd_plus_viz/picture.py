"""A laid-out graph as SVG, written by us whoever laid it out, and styled by classes alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from . import letters
from .colours import looks
from .dot import Label, labels
from .source import Trace
from .walks import rings
from .words import edges

FONT = "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif"
LINE = 14.5
_PAIR = re.compile(r"(-?[\d.]+)[ ,](-?[\d.]+)")
SLANT = 0.25
"""How much of a hexagon's width each of its slanted ends takes: as Graphviz has it, which leads edges up to them."""


class Box(NamedTuple):
    """A node's place: its centre, its width and its height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Placing:
    """Where everything lies, in pixels from the upper left corner."""

    width: float
    height: float
    boxes: list[Box]
    curves: list[str]
    heads: list[tuple[float, float, float, float]]
    """For every edge the tip of its arrow and the point where the curve ends before it."""


def near(x: float) -> str:
    """A coordinate to a tenth of a pixel."""
    return f"{x:.1f}".removesuffix(".0")


@dataclass(frozen=True)
class Look:
    """What a step has made of a graph: the state of nodes, and of edges with how thick they are."""

    nodes: dict[int, str]
    edges: dict[int, tuple[str, float]]


PLAIN = Look({}, {})


def body(
    trace: Trace, placing: Placing, steps: int | None = None, look: Look = PLAIN, prefix: str = "", begun: bool = False
) -> str:
    """The picture's elements after a number of steps, edges below nodes, without the `<svg>` around them.

    `prefix` begins their ids, where one document holds several pictures; with `begun` the step that follows has begun.
    """
    drawn = []
    for j, (start, _, _) in enumerate(edges(trace)):
        carries = trace["nodes"][start]["requires_grad"]
        drawn.append(_edge(f"{prefix}e{j}", carries, placing.curves[j], placing.heads[j], look.edges.get(j)))
    ringed = rings(trace)
    for told, box, label in zip(trace["nodes"], placing.boxes, labels(trace, steps, begun), strict=True):
        drawn.append(node(told, box, label, told["id"] in ringed, look.nodes.get(told["id"], ""), prefix))
    return "".join(drawn)


def still(trace: Trace, placing: Placing, dark: bool = False) -> str:
    """The whole picture, on its own ground, as a file or an image."""
    drawn = f'<g class="graph">{body(trace, placing)}</g>'
    return framed(placing.width, placing.height, f"<style>{looks('picture.css', dark=dark)}</style>{drawn}", alt(trace))


def framed(width: float, height: float, inner: str, title: str, told: str = "") -> str:
    """An SVG document on a ground of its own, with words for who cannot see it."""
    w, h = near(width), near(height)
    about = f"<desc>{escape(told)}</desc>" if told else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'class="walk"><title>{escape(title)}</title>{about}'
        f'<rect class="ground" width="{w}" height="{h}" rx="6"/>{inner}</svg>'
    )


def alt(trace: Trace) -> str:
    """What the picture shows, for who cannot see it."""
    leaves = sum(n["kind"] == "leaf" for n in trace["nodes"])
    results = len(trace["nodes"]) - leaves
    return f"Graph of a program with {leaves} leaves, {results} results and {len(edges(trace))} edges"


def _edge(
    name: str, carries: bool, curve: str, head: tuple[float, float, float, float], state: tuple[str, float] | None
) -> str:
    """An edge, drawn faintly where no gradient can ever travel it, and thick where a large one has."""
    kind = "edge" if carries else "edge faint"
    done, thick = state or ("", 0.0)
    style = f' style="stroke-width:{thick:.1f}"' if thick else ""
    return f'<g id="{name}" class="{f"{kind} {done}".strip()}"><path d="{curve}"{style}/>{_arrow(head)}</g>'


def _arrow(head: tuple[float, float, float, float]) -> str:
    """A small triangle from where the curve ends to its tip."""
    return arrow("head", head, 0.38)


def arrow(name: str, head: tuple[float, float, float, float], slimness: float) -> str:
    """A triangle with its tip and the middle of its foot at given places."""
    x, y, from_x, from_y = head
    across_x, across_y = (from_y - y) * slimness, (x - from_x) * slimness
    corners = ((x, y), (from_x + across_x, from_y + across_y), (from_x - across_x, from_y - across_y))
    return _closed(name, corners)


def points_of(curve: str) -> list[tuple[float, float]]:
    """The points of a curve: its start, then three for each piece."""
    return [(float(x), float(y)) for x, y in _PAIR.findall(curve)]


def along(curve: str, part: float) -> tuple[float, float]:
    """The point where so much of a curve lies behind; its pieces count alike."""
    points = points_of(curve)
    pieces = (len(points) - 1) // 3
    at = min(int(part * pieces), pieces - 1)
    t = part * pieces - at
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    piece = points[3 * at : 3 * at + 4]
    x, y = (sum(w * point[axis] for w, point in zip(weights, piece, strict=True)) for axis in (0, 1))
    return x, y


def _closed(name: str, corners: Iterable[tuple[float, float]]) -> str:
    """A shape with straight sides."""
    return f'<path class="{name}" d="M' + "L".join(f"{near(a)},{near(b)}" for a, b in corners) + 'Z"/>'


def node(told: Trace, box: Box, label: Label, root: bool = False, state: str = "", prefix: str = "") -> str:
    """A node with its lines, in a state that a step has brought it into."""
    shown = outline(told["kind"], box, "body")
    if root:
        shown += outline(told["kind"], Box(box.x, box.y, box.width + 6, box.height + 6), "ring")
    y = first_line(box, len(label.lines()))
    for kind, text in label._asdict().items():
        if text:
            shown += line(kind, text, box.x, y)
            y += LINE
    kinds = [told["kind"], *(["constant"] * (not told["requires_grad"])), *([state] if state else [])]
    return f'<g id="{prefix}n{told["id"]}" class="node {" ".join(kinds)}">{shown}</g>'


def line(kind: str, text: str, x: float, y: float) -> str:
    """One line of a node. A nan stands out, and so does an infinite gradient; a mask may well hold infinite values."""
    odd = text.endswith(("nan", "inf") if kind == "gradient" else "nan") and kind != "name"
    long = letters.held(text, 12, bold=True) if kind == "name" else ""
    return f'<text class="{kind}{" odd" * odd}" x="{near(x)}" y="{near(y)}"{long}>{escape(text)}</text>'


def first_line(box: Box, lines: int) -> float:
    """The base line of the first of a node's lines."""
    return box.y - LINE * (lines - 1) / 2 + 4


def outline(kind: str, box: Box, name: str) -> str:
    """The shape that tells a node's kind: a box, a rounded box, or a hexagon."""
    x, y, w, h = box.x - box.width / 2, box.y - box.height / 2, box.width, box.height
    if kind == "output":
        slant = w * SLANT
        left, right, middle, bottom = x + slant, x + w - slant, y + h / 2, y + h
        return _closed(name, ((x, middle), (left, y), (right, y), (x + w, middle), (right, bottom), (left, bottom)))
    radius = near(min(16.0, h / 2)) if kind == "application" else "1.5"
    return f'<rect class="{name}" x="{near(x)}" y="{near(y)}" width="{near(w)}" height="{near(h)}" rx="{radius}"/>'
