"""Pictures of steps: the graph, the sentence, the source line, the formula, the numbers.

They have the player's layout and colours. All steps of a walk have the same size, so that they can make a film.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

from .. import graph_picture, layout, letters, words
from ..colours import resolve_styles
from ..dot import Label, labels
from ..graph_picture import Look, Placement, coord
from ..payload import failure
from ..trace_input import Trace
from ..walks import start_nodes, walk_at, walks_of
from . import value_cards
from .step_details import StepDetails
from .value_cards import Block

MARGIN, GAP = 16.0, 10.0
NARROWEST, USUAL, WIDEST = 480.0, 960.0, 1200.0
TALLEST, TALLEST_VIEW = 430.0, 300.0
SMALLEST, VIEWED = 0.75, 0.92
"""A graph that would be drawn at a smaller scale is shown in part, at the second scale."""
SENTENCE, SENTENCE_LINE = 14.0, 19.0
STATES = {
    "active": "its rule sends", "receives": "receives", "accumulates": "adds to what was there (+=)",
    "done": "finished", "failed": "failed here",
}  # fmt: skip


class StepPicture:
    """Picture of any step of a walk or of a part of it; step 0 is the start."""

    def __init__(self, trace: Trace, width: float | None = None, dark: bool = False, show_all: bool = False) -> None:
        self.trace, self.dark = trace, dark
        self.placement: Placement = layout.compute_placement(trace)
        self.step_edges, self.output_links, self.links = (
            words.step_edges(trace),
            words.output_links(trace),
            words.edges(trace),
        )
        self.last = {node: i for i in range(len(self.step_edges)) for node in self.nodes_of(i)}
        self.error = failure(trace)
        self.count = len(trace["steps"]) + (self.error is not None)
        self.labelled = self.labels(None)
        self.starts_of_walks = start_nodes(trace)
        needed = self.placement.width + 2 * MARGIN + 12
        natural = min(WIDEST, max(USUAL, needed))
        self.width = max(NARROWEST, needed if show_all else 0.0, natural if width is None else min(width, natural))
        self.room = self.width - 2 * MARGIN
        self.scale, self.stage = self._stage_size(show_all)

    def _stage_size(self, show_all: bool) -> tuple[float, float]:
        """Return the scale of the graph and the height of its area."""
        wide, high = self.placement.width + 12, self.placement.height + 12
        fits = min(1.1, self.room / wide) if show_all else min(1.1, self.room / wide, TALLEST / high)
        if fits >= SMALLEST or show_all:
            return fits, max(60.0, high * fits)
        return VIEWED, min(high * VIEWED, TALLEST_VIEW)

    def resize(self, width: float, stage: float) -> None:
        """Take the size of the largest part of a film."""
        self.width, self.room, self.stage = width, width - 2 * MARGIN, stage
        self._cached_blocks.clear()

    def labels(self, k: int | None, next_started: bool = False) -> list[Label]:
        """Return the text of every node after k steps, by default at the end.

        With `next_started`, the following step has begun.
        """
        if (k, next_started) not in self._labels:
            self._labels[k, next_started] = labels(self.trace, k, next_started)
        return self._labels[k, next_started]

    @cached_property
    def _labels(self) -> dict[tuple[int | None, bool], list[Label]]:
        return {}

    # Effects of steps ---------

    def edges_of(self, i: int) -> list[int]:
        """Return the edges of step i, the rule's edge last."""
        return [*self.output_links[i], self.step_edges[i][0]]

    def nodes_of(self, i: int) -> set[int]:
        """Return the nodes at the ends of the edges of step i."""
        return {node for edge in self.edges_of(i) for node in self.links[edge][:2]}

    def nodes_done_after(self, i: int) -> list[int]:
        """Return the nodes that no step after i uses, sorted."""
        return sorted(node for node in self.nodes_of(i) if self.last[node] == i)

    def states(self, i: int) -> dict[int, str]:
        """Return the states of the nodes that step i highlights."""
        _, start, end = self.step_edges[i]
        return {start: "active", end: "accumulates" if self.trace["steps"][i]["accumulates"] else "receives"}

    def look(self, k: int) -> Look:
        """Return the state of the graph after k steps."""
        steps = min(k, len(self.step_edges))
        norms_of: dict[int, list[float]] = {}
        for i in range(walk_at(self.trace, steps).at, steps):
            for edge in self.edges_of(i):
                norms_of.setdefault(edge, []).append(self._norm(i))
        done = {node: "done" for i in range(steps) for node in self.nodes_done_after(i)}
        if k > len(self.step_edges):
            failed = None if self.error is None else self.error["node"]
            done |= {} if failed is None else {failed: "failed"}
        elif k:
            done |= self.states(k - 1)
        return Look(done, {edge: self.thickness(norms) for edge, norms in norms_of.items()})

    def thickness(self, norms: Iterable[float]) -> tuple[str, float]:
        """Return the state of an edge and its width, by the logarithm of its largest gradient."""
        sizes = list(norms)
        if not all(map(math.isfinite, sizes)):
            return "done bad", 2.0
        low, high = self._ends
        norm = max(sizes)
        varies = high - low > 0.3
        return "done", (0.8 if norm == 0 else 1.2 + 4.4 * (math.log10(norm) - low) / (high - low) if varies else 2.0)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Return the logarithms of the smallest and largest gradient of the walk."""
        norms = [self._norm(i) for i in range(len(self.step_edges))]
        logs = [math.log10(norm) for norm in norms if math.isfinite(norm) and norm > 0]
        return min(logs, default=0.0), max(logs, default=0.0)

    def _norm(self, i: int) -> float:
        """Return the norm of a step's contribution, or infinity if an entry is not finite."""
        place = self.trace["steps"][i]["contribution"]
        value = None if place is None else self.trace["values"][place]
        if value is None or not value["statistics"]:
            return math.inf if value and words.not_finite(value) else 0.0
        return math.inf if words.not_finite(value) else float(value["statistics"]["norm"])

    # Drawing ------------------

    def render(self, k: int, height: float | None = None, rolled: float | None = None) -> str:
        """Return the picture after k steps.

        `height` is a common height for several pictures. With `rolled`, the marker of step k has moved along this
        fraction of its edge.
        """
        inner = self.graph(k) if rolled is None else self.graph_in_transit(k, rolled)
        return self.document(f"{inner}{self.below([k])[0]}", height or self.height_of(k), self.sentence(k))

    def document(self, inner: str, height: float, description: str) -> str:
        """Return the SVG document with its description."""
        style = resolve_styles("picture.css", "film.css", dark=self.dark)
        return graph_picture.svg_document(
            self.width, height, f"<style>{style}</style>{inner}", graph_picture.alt(self.trace), description
        )

    @property
    def top(self) -> float:
        """Return the vertical position below the graph."""
        return MARGIN + self.stage + GAP

    def height_of(self, *steps: int) -> float:
        """Return the height of a picture with room for all these steps."""
        return self.top + max(self._below(k).height for k in steps) + MARGIN

    def graph(self, k: int) -> str:
        """Return the graph after k steps. A large graph shows the part around the step, and an overview map."""
        lit = self.highlight(k - 1) if 0 < k <= len(self.step_edges) else ""
        inner = graph_picture.body(self.trace, self.placement, k, self.look(k)) + lit
        return self.in_frame(inner, self._view(k))

    def graph_in_transit(self, k: int, rolled: float) -> str:
        """Return the graph during step k, with the marker at a fraction of its edge."""
        before = self.look(k - 1)
        past = {node: state for node, state in before.nodes.items() if state == "done"}
        begins = any(walk.at == k - 1 for walk in walks_of(self.trace))
        look = Look(past | self.states(k - 1), {} if begins else before.edges)
        back = words.is_back(self.trace, self.trace["steps"][k - 1])
        curve = self.placement.curves[self.step_edges[k - 1][0]]
        x, y = graph_picture.point_along(curve, 1 - rolled if back else rolled)
        bead = f'<circle class="ball" cx="{coord(x)}" cy="{coord(y)}" r="5.5"/>'
        graph = graph_picture.body(self.trace, self.placement, k - 1, look, next_started=True)
        inner = graph + self.highlight(k - 1) + bead
        return self.in_frame(inner, self._view(k))

    def in_frame(self, inner: str, view: tuple[float, float] | None = None) -> str:
        """Return the graph in its frame, with a position in the upper left corner."""
        wide, high = self.room / self.scale, self.stage / self.scale
        left, upper = view or ((self.placement.width - wide) / 2, (self.placement.height - high) / 2)
        view_box = f"{coord(left)} {coord(upper)} {coord(wide)} {coord(high)}"
        clip = ' overflow="visible"' if view is None else ""  # faster to draw than clipping
        place = f'x="{MARGIN:g}" y="{MARGIN:g}" width="{coord(self.room)}" height="{coord(self.stage)}"'
        return (
            f'<svg {place} viewBox="{view_box}" class="graph"{clip}>{inner}</svg><rect class="stage" {place} rx="8"/>'
            + ("" if view is None else self._map(left, upper, wide, high))
        )

    def _view(self, k: int) -> tuple[float, float] | None:
        """Return the upper left corner of the visible part with the step in its centre, or None if all is visible."""
        wide, high = self.room / self.scale, self.stage / self.scale
        if self.placement.width + 12 <= wide + 1 and self.placement.height + 12 <= high + 1:
            return None
        nodes = sorted(self.starts_of_walks)[-1:] or [len(self.labelled) - 1]
        if 0 < k <= len(self.step_edges):
            nodes = list(self.states(k - 1))
        if k > len(self.step_edges) and self.error and self.error["node"] is not None:
            nodes = [self.error["node"]]
        boxes = [self.placement.boxes[node] for node in nodes] or [graph_picture.Box(0, 0, 0, 0)]
        return (
            _clamp(sum(box.x for box in boxes) / len(boxes) - wide / 2, self.placement.width + 6 - wide),
            _clamp(sum(box.y for box in boxes) / len(boxes) - high / 2, self.placement.height + 6 - high),
        )

    def _map(self, left: float, upper: float, wide: float, high: float) -> str:
        """Return an overview map of the graph with the visible part."""
        scale = min(150 / self.placement.width, 50 / self.placement.height)
        width, height = self.placement.width * scale + 8, self.placement.height * scale + 8
        x, y = MARGIN + self.room - width - 5, MARGIN + self.stage - height - 5
        nodes = "".join(
            f"M{coord(4 + (box.x - box.width / 2) * scale)},{coord(4 + (box.y - box.height / 2) * scale)}"
            f"h{max(1.0, box.width * scale):.1f}v{max(1.0, box.height * scale):.1f}h{-max(1.0, box.width * scale):.1f}z"
            for box in self.placement.boxes
        )
        x1, y1 = max(0.0, 4 + left * scale), max(0.0, 4 + upper * scale)
        x2, y2 = min(width, 4 + (left + wide) * scale), min(height, 4 + (upper + high) * scale)
        return Block(width, height, (
            f'<rect class="map" width="{coord(width)}" height="{coord(height)}" rx="4"/>'
            f'<path class="map-node" d="{nodes}"/>'
            f'<rect class="map-view" x="{coord(x1)}" y="{coord(y1)}" width="{coord(x2 - x1)}" '
            f'height="{coord(y2 - y1)}"/>'
        )).at(x, y)  # fmt: skip

    def highlight(self, i: int) -> str:
        """Return the edges of step i with arrows in the direction of the gradient."""
        step = self.trace["steps"][i]
        back = words.is_back(self.trace, step)
        edges = self.edges_of(i)
        markup = [f'<path class="lit" d="{"".join(self.placement.curves[edge] for edge in edges)}"/>']
        markup += [graph_picture.arrow("lit-head", self._tip(edge, back), 0.55) for edge in edges]
        if step["accumulates"]:
            box = self.placement.boxes[self.step_edges[i][2]]
            x, y = box.x - box.width / 2 + 8, box.y - box.height / 2 - 3
            markup.append(
                f'<g class="badge"><rect x="{coord(x - 13)}" y="{coord(y - 8)}" width="26" height="16" rx="8"/>'
                f'<text x="{coord(x)}" y="{coord(y + 4)}">+=</text></g>'
            )
        return "".join(markup)

    def _tip(self, edge: int, back: bool) -> tuple[float, float, float, float]:
        """Return the tip and the base of a step's arrow on an edge."""
        if back:
            (x, y), (a, b), *_ = graph_picture.points_of(self.placement.curves[edge])
        else:
            x, y, a, b = self.placement.heads[edge]
        far = math.hypot(a - x, b - y) or 1.0
        return x, y, x + 13 * (a - x) / far, y + 13 * (b - y) / far

    # Text ---------------------

    def sentence(self, k: int) -> str:
        """Return the sentence of the picture after k steps."""
        if k > len(self.step_edges) and self.error:
            return words.single_line(f"{self.error['say']} {self.error['kind']}: {self.error['text']}")
        if k:
            return self._sentences[k - 1]
        return words.summary(self.trace)

    @cached_property
    def _sentences(self) -> list[str]:
        return words.sentences(self.trace)

    def below(self, steps: Iterable[int]) -> list[str]:
        """Return the content below the graph for some steps."""
        return [self._below(k).at(MARGIN, self.top) for k in steps]

    def _below(self, k: int) -> Block:
        if k not in self._cached_blocks:
            self._cached_blocks[k] = value_cards.stack(
                [self._legend(k), self._caption(k), *self._detail_blocks(k)], gap=7
            )
        return self._cached_blocks[k]

    @cached_property
    def _cached_blocks(self) -> dict[int, Block]:
        return {}

    @cached_property
    def _details(self) -> StepDetails:
        return StepDetails(self.trace)

    def _legend(self, k: int) -> Block:
        """Return the legend of the visible colours."""
        seen = set(self.look(k).nodes.values())
        left, markup = 0.0, []
        for state, meaning in STATES.items():
            if state in seen:
                markup.append(
                    f'<g class="node {state}"><rect class="body swatch" x="{coord(left + 1)}" y="1.5" width="18" '
                    f'height="11" rx="5.5"/></g>' + value_cards.text(meaning, left + 25, 11, "soft", 12)
                )
                left += 25 + letters.width(meaning, 12) + 16
        return Block(left, 14, f'<g class="panel">{"".join(markup)}</g>')

    def _caption(self, k: int) -> Block:
        kind = "sentence failed" if k > len(self.step_edges) else "sentence"
        lines = letters.wrap(self.sentence(k), SENTENCE, self.room, bold=True)[:8]
        markup = "".join(
            value_cards.text(line, 0, 15 + SENTENCE_LINE * i, kind, SENTENCE) for i, line in enumerate(lines)
        )
        return Block(self.room, SENTENCE_LINE * len(lines), markup)

    def _detail_blocks(self, k: int) -> list[Block]:
        """Return the source line, and below it the formula and the numbers."""
        steps, telling = self.trace["steps"], self._details
        node = None if k == 0 else steps[k - 1]["node"] if k <= len(steps) else (self.error or {})["node"]
        blocks = [] if node is None else [block for block in [telling.line(node, self.room)] if block]
        if 0 < k <= len(steps):
            blocks.append(telling.step(steps[k - 1], self.step_edges[k - 1][2], self.room))
        elif k == 0 and (held := telling.start(self.room)):
            blocks.append(held)
        return [Block(block.width, block.height, f'<g class="panel">{block.markup}</g>') for block in blocks]

def _clamp(place: float, most: float) -> float:
    """Limit the position of the view to the picture."""
    return max(-6.0, min(place, most)) if most > -6.0 else (most - 6.0) / 2
