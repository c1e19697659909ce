"""A step as one picture: the graph, the sentence, the line of the program, the formula, the numbers.

As in the player, in its colours. All steps of a walk have the same size here, so that they make a film.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

from .. import layout, letters, picture, words
from ..colours import looks
from ..dot import Label, labels
from ..payload import failure
from ..picture import Look, Placing, near
from ..source import Trace
from ..walks import rings, walk_at, walks_of
from . import cards
from .cards import Block
from .told import Telling

MARGIN, GAP = 16.0, 10.0
NARROWEST, USUAL, WIDEST = 480.0, 960.0, 1200.0
TALLEST, TALLEST_VIEW = 430.0, 300.0
SMALLEST, VIEWED = 0.75, 0.92
"""A graph that would have to be drawn smaller is shown in part, as large as the second number says."""
SENTENCE, SENTENCE_LINE = 14.0, 19.0
STATES = {
    "active": "its rule sends", "receives": "receives", "accumulates": "adds to what was there (+=)",
    "done": "finished", "failed": "what failed",
}  # fmt: skip


class Sheet:
    """A walk, or a part of one, of which every step can be drawn; step 0 is the start."""

    def __init__(self, trace: Trace, width: float | None = None, dark: bool = False, whole: bool = False) -> None:
        self.trace, self.dark = trace, dark
        self.placing: Placing = layout.placed(trace)
        self.ways, self.passages, self.links = words.ways(trace), words.passages(trace), words.edges(trace)
        self.last = {node: i for i in range(len(self.ways)) for node in self.concerned(i)}
        self.error = failure(trace)
        self.count = len(trace["steps"]) + (self.error is not None)
        self.labelled = self.labels(None)
        self.ringed = rings(trace)
        needed = self.placing.width + 2 * MARGIN + 12
        natural = min(WIDEST, max(USUAL, needed))
        self.width = max(NARROWEST, needed if whole else 0.0, natural if width is None else min(width, natural))
        self.room = self.width - 2 * MARGIN
        self.scale, self.stage = self._staged(whole)

    def _staged(self, whole: bool) -> tuple[float, float]:
        """How large the graph is drawn, and how high its stage is."""
        wide, high = self.placing.width + 12, self.placing.height + 12
        fits = min(1.1, self.room / wide) if whole else min(1.1, self.room / wide, TALLEST / high)
        if fits >= SMALLEST or whole:
            return fits, max(60.0, high * fits)
        return VIEWED, min(high * VIEWED, TALLEST_VIEW)

    def resize(self, width: float, stage: float) -> None:
        """Take the size that the other parts of a film have."""
        self.width, self.room, self.stage = width, width - 2 * MARGIN, stage
        self._made.clear()

    def labels(self, k: int | None, begun: bool = False) -> list[Label]:
        """What is written in every node after k steps, with `begun` as the next begins; unless told, at the end."""
        if (k, begun) not in self._labels:
            self._labels[k, begun] = labels(self.trace, k, begun)
        return self._labels[k, begun]

    @cached_property
    def _labels(self) -> dict[tuple[int | None, bool], list[Label]]:
        return {}

    # What steps do ------------

    def travelled(self, i: int) -> list[int]:
        """The edges of step i, that of its rule last."""
        return [*self.passages[i], self.ways[i][0]]

    def concerned(self, i: int) -> set[int]:
        """The nodes at the ends of these edges."""
        return {node for edge in self.travelled(i) for node in self.links[edge][:2]}

    def finished(self, i: int) -> list[int]:
        """The nodes that no later step than i concerns, sorted."""
        return sorted(node for node in self.concerned(i) if self.last[node] == i)

    def states(self, i: int) -> dict[int, str]:
        """The nodes that step i lights, each with its state."""
        _, start, end = self.ways[i]
        return {start: "active", end: "accumulates" if self.trace["steps"][i]["accumulates"] else "receives"}

    def look(self, k: int) -> Look:
        """What k steps have made of the graph."""
        steps = min(k, len(self.ways))
        sent: dict[int, list[float]] = {}
        for i in range(walk_at(self.trace, steps).at, steps):
            for edge in self.travelled(i):
                sent.setdefault(edge, []).append(self._norm(i))
        done = {node: "done" for i in range(steps) for node in self.finished(i)}
        if k > len(self.ways):
            failed = None if self.error is None else self.error["node"]
            done |= {} if failed is None else {failed: "failed"}
        elif k:
            done |= self.states(k - 1)
        return Look(done, {edge: self.thickness(norms) for edge, norms in sent.items()})

    def thickness(self, norms: Iterable[float]) -> tuple[str, float]:
        """The state of an edge that gradients have travelled, and how thick it is: by the logarithm of the largest."""
        sizes = list(norms)
        if not all(map(math.isfinite, sizes)):
            return "done bad", 2.0
        low, high = self._ends
        norm = max(sizes)
        varies = high - low > 0.3
        return "done", (0.8 if norm == 0 else 1.2 + 4.4 * (math.log10(norm) - low) / (high - low) if varies else 2.0)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The logarithms of the least and the largest gradient of the walk."""
        norms = [self._norm(i) for i in range(len(self.ways))]
        logs = [math.log10(norm) for norm in norms if math.isfinite(norm) and norm > 0]
        return min(logs, default=0.0), max(logs, default=0.0)

    def _norm(self, i: int) -> float:
        """The norm of what step i sends; infinite where an entry is not finite."""
        place = self.trace["steps"][i]["contribution"]
        value = None if place is None else self.trace["values"][place]
        if value is None or not value["statistics"]:
            return math.inf if value and words.not_finite(value) else 0.0
        return math.inf if words.not_finite(value) else float(value["statistics"]["norm"])

    # What is drawn ------------

    def drawn(self, k: int, height: float | None = None, rolled: float | None = None) -> str:
        """The whole picture after k steps, of a height that others have too where that is told.

        With `rolled` it is the picture just before: what step k sends has rolled along so much of its edge.
        """
        inner = self.graph(k) if rolled is None else self.rolling(k, rolled)
        return self.framed(f"{inner}{self.below([k])[0]}", height or self.height_of(k), self.sentence(k))

    def framed(self, inner: str, height: float, told: str) -> str:
        """The SVG document; `told` is what it says in words."""
        style = looks("picture.css", "film.css", dark=self.dark)
        return picture.framed(self.width, height, f"<style>{style}</style>{inner}", picture.alt(self.trace), told)

    @property
    def top(self) -> float:
        """Where what stands below the graph begins."""
        return MARGIN + self.stage + GAP

    def height_of(self, *steps: int) -> float:
        """How high a picture is that has room for what these steps say."""
        return self.top + max(self._below(k).height for k in steps) + MARGIN

    def graph(self, k: int) -> str:
        """The graph after k steps, in its frame; of a large one the part round the step, and where that lies."""
        lit = self.lit(k - 1) if 0 < k <= len(self.ways) else ""
        inner = picture.body(self.trace, self.placing, k, self.look(k)) + lit
        return self.in_frame(inner, self._view(k))

    def rolling(self, k: int, rolled: float) -> str:
        """The graph while step k takes place: a bead has rolled along so much of its edge."""
        before = self.look(k - 1)
        past = {node: state for node, state in before.nodes.items() if state == "done"}
        begins = any(walk.at == k - 1 for walk in walks_of(self.trace))
        look = Look(past | self.states(k - 1), {} if begins else before.edges)
        back = words.is_back(self.trace, self.trace["steps"][k - 1])
        curve = self.placing.curves[self.ways[k - 1][0]]
        x, y = picture.along(curve, 1 - rolled if back else rolled)
        bead = f'<circle class="ball" cx="{near(x)}" cy="{near(y)}" r="5.5"/>'
        inner = picture.body(self.trace, self.placing, k - 1, look, begun=True) + self.lit(k - 1) + bead
        return self.in_frame(inner, self._view(k))

    def in_frame(self, inner: str, view: tuple[float, float] | None = None) -> str:
        """What is drawn of the graph in its frame, with that place in its upper left corner."""
        wide, high = self.room / self.scale, self.stage / self.scale
        left, upper = view or ((self.placing.width - wide) / 2, (self.placing.height - high) / 2)
        shown = f"{near(left)} {near(upper)} {near(wide)} {near(high)}"
        clip = ' overflow="visible"' if view is None else ""  # which is drawn faster
        place = f'x="{MARGIN:g}" y="{MARGIN:g}" width="{near(self.room)}" height="{near(self.stage)}"'
        return (
            f'<svg {place} viewBox="{shown}" class="graph"{clip}>{inner}</svg><rect class="stage" {place} rx="8"/>'
            + ("" if view is None else self._map(left, upper, wide, high))
        )

    def _view(self, k: int) -> tuple[float, float] | None:
        """The upper left corner of what is seen, in a graph that is seen in part: the step is in its middle."""
        wide, high = self.room / self.scale, self.stage / self.scale
        if self.placing.width + 12 <= wide + 1 and self.placing.height + 12 <= high + 1:
            return None
        nodes = sorted(self.ringed)[-1:] or [len(self.labelled) - 1]
        if 0 < k <= len(self.ways):
            nodes = list(self.states(k - 1))
        if k > len(self.ways) and self.error and self.error["node"] is not None:
            nodes = [self.error["node"]]
        boxes = [self.placing.boxes[node] for node in nodes] or [picture.Box(0, 0, 0, 0)]
        return (
            _held(sum(box.x for box in boxes) / len(boxes) - wide / 2, self.placing.width + 6 - wide),
            _held(sum(box.y for box in boxes) / len(boxes) - high / 2, self.placing.height + 6 - high),
        )

    def _map(self, left: float, upper: float, wide: float, high: float) -> str:
        """The whole graph in a corner, and the part of it that is seen."""
        scale = min(150 / self.placing.width, 50 / self.placing.height)
        width, height = self.placing.width * scale + 8, self.placing.height * scale + 8
        x, y = MARGIN + self.room - width - 5, MARGIN + self.stage - height - 5
        nodes = "".join(
            f"M{near(4 + (box.x - box.width / 2) * scale)},{near(4 + (box.y - box.height / 2) * scale)}"
            f"h{max(1.0, box.width * scale):.1f}v{max(1.0, box.height * scale):.1f}h{-max(1.0, box.width * scale):.1f}z"
            for box in self.placing.boxes
        )
        x1, y1 = max(0.0, 4 + left * scale), max(0.0, 4 + upper * scale)
        x2, y2 = min(width, 4 + (left + wide) * scale), min(height, 4 + (upper + high) * scale)
        return Block(width, height, (
            f'<rect class="map" width="{near(width)}" height="{near(height)}" rx="4"/>'
            f'<path class="map-node" d="{nodes}"/>'
            f'<rect class="map-view" x="{near(x1)}" y="{near(y1)}" width="{near(x2 - x1)}" height="{near(y2 - y1)}"/>'
        )).at(x, y)  # fmt: skip

    def lit(self, i: int) -> str:
        """What step i lights besides nodes: its edges, with an arrow the way that the gradient goes."""
        step = self.trace["steps"][i]
        back = words.is_back(self.trace, step)
        edges = self.travelled(i)
        drawn = [f'<path class="lit" d="{"".join(self.placing.curves[edge] for edge in edges)}"/>']
        drawn += [picture.arrow("lit-head", self._tip(edge, back), 0.55) for edge in edges]
        if step["accumulates"]:
            box = self.placing.boxes[self.ways[i][2]]
            x, y = box.x - box.width / 2 + 8, box.y - box.height / 2 - 3
            drawn.append(
                f'<g class="badge"><rect x="{near(x - 13)}" y="{near(y - 8)}" width="26" height="16" rx="8"/>'
                f'<text x="{near(x)}" y="{near(y + 4)}">+=</text></g>'
            )
        return "".join(drawn)

    def _tip(self, edge: int, back: bool) -> tuple[float, float, float, float]:
        """The tip and the foot of the arrow of a step along an edge."""
        if back:
            (x, y), (a, b), *_ = picture.points_of(self.placing.curves[edge])
        else:
            x, y, a, b = self.placing.heads[edge]
        far = math.hypot(a - x, b - y) or 1.0
        return x, y, x + 13 * (a - x) / far, y + 13 * (b - y) / far

    # What is said -------------

    def sentence(self, k: int) -> str:
        """What a picture after k steps says."""
        if k > len(self.ways) and self.error:
            return words.spaced(f"{self.error['say']} {self.error['kind']}: {self.error['text']}")
        if k:
            return self._sentences[k - 1]
        return words.summary(self.trace)

    @cached_property
    def _sentences(self) -> list[str]:
        return words.sentences(self.trace)

    def below(self, steps: Iterable[int]) -> list[str]:
        """What stands below the graph, for each of some steps."""
        return [self._below(k).at(MARGIN, self.top) for k in steps]

    def _below(self, k: int) -> Block:
        if k not in self._made:
            self._made[k] = cards.stacked([self._legend(k), self._said(k), *self._told(k)], gap=7)
        return self._made[k]

    @cached_property
    def _made(self) -> dict[int, Block]:
        return {}

    @cached_property
    def _telling(self) -> Telling:
        return Telling(self.trace)

    def _legend(self, k: int) -> Block:
        """What the colours mean that are seen."""
        seen = set(self.look(k).nodes.values())
        left, drawn = 0.0, []
        for state, told in STATES.items():
            if state in seen:
                drawn.append(
                    f'<g class="node {state}"><rect class="body swatch" x="{near(left + 1)}" y="1.5" width="18" '
                    f'height="11" rx="5.5"/></g>' + cards.text(told, left + 25, 11, "soft", 12)
                )
                left += 25 + letters.width(told, 12) + 16
        return Block(left, 14, f'<g class="panel">{"".join(drawn)}</g>')

    def _said(self, k: int) -> Block:
        kind = "said failed" if k > len(self.ways) else "said"
        lines = letters.wrapped(self.sentence(k), SENTENCE, self.room, bold=True)[:8]
        drawn = "".join(cards.text(line, 0, 15 + SENTENCE_LINE * i, kind, SENTENCE) for i, line in enumerate(lines))
        return Block(self.room, SENTENCE_LINE * len(lines), drawn)

    def _told(self, k: int) -> list[Block]:
        """The line of the program, and below it formula and numbers."""
        steps, telling = self.trace["steps"], self._telling
        node = None if k == 0 else steps[k - 1]["node"] if k <= len(steps) else (self.error or {})["node"]
        blocks = [] if node is None else [block for block in [telling.line(node, self.room)] if block]
        if 0 < k <= len(steps):
            blocks.append(telling.step(steps[k - 1], self.ways[k - 1][2], self.room))
        elif k == 0 and (held := telling.start(self.room)):
            blocks.append(held)
        return [Block(block.width, block.height, f'<g class="panel">{block.markup}</g>') for block in blocks]

def _held(place: float, most: float) -> float:
    """A place not before the picture's edge, nor so late that its other edge is passed."""
    return max(-6.0, min(place, most)) if most > -6.0 else (most - 6.0) / 2
