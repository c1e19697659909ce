"""Walks as animations: self-contained SVG, and GIF, WebP or PNG frames.

The SVG is animated by CSS alone, so it plays inside an `<img>`, where scripts do not run. It plays once and stays at
the last step (an endless animation would need a pause button, WCAG 2.2.2). If the reader prefers reduced motion, it
shows the end at once.
"""

from __future__ import annotations

import io
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from .. import graph_picture, layout, letters, window, words
from ..colours import palette, resolve_styles
from ..dot import gradient_line
from ..graph_picture import LINE
from ..static_files import FONTS, SIGNS
from ..trace_input import Trace
from ..walks import NodeValue, changes, walks_of
from . import group_picture
from .step_picture import USUAL, StepPicture

SECONDS = 1.5
ARRIVAL = 0.6
"""Fraction of a step after which the contribution has arrived."""
ROLLING = 0.7
"""Fraction of a step during which markers move."""
ROLLS = 6
"""Number of frames for a moving marker."""
MOST_FRAMES = 150
MOST_DRAWN = 300
MOST_DOTS = 5e6
PATIENCE = 2.0
"""Seconds after which progress is printed."""

Scene = tuple[StepPicture, list[int]]


def scenes(
    trace: Trace, steps: Iterable[int] | None = None, *, width: float | None = None, dark: bool = False,
    show_all: bool = False,
) -> list[Scene]:  # fmt: skip
    """Return the parts of a walk that are drawn one after the other, each with its steps.

    A graph with up to 40 nodes is one part. `steps` are numbers in the full walk; 0 is the start, and one more than the
    last step is the error that ended the walk. Raises ValueError for unknown steps, and for too many.
    """
    first, count = trace["first"], len(trace["steps"])
    last = first + count + (words.walk_error(trace) is not None)
    chosen = list(range(first, last + 1)) if steps is None else sorted(set(steps))
    if unknown := [k for k in chosen if not first <= k <= last]:
        raise ValueError(window.unknown_step(trace, unknown[0]))
    if not chosen or len(chosen) > MOST_FRAMES:
        raise ValueError(
            f"a film of {len(chosen)} steps is too long (at most {MOST_FRAMES}): save the walk as .html, "
            "which holds any number, or choose steps, for example steps=range(0, 50)"
        )
    pictures: list[tuple[StepPicture, list[int]]] = []
    for start, end in window.stretches(trace):
        begin, stop = first + start, first + end
        here = [k - begin for k in chosen if (begin < k or k == first == begin) and (k <= stop or end == count)]
        if here:
            pictures.append((StepPicture(window.part(trace, start, end), width, dark, show_all), here))
    stage = max(sheet.stage for sheet, _ in pictures)
    broad = max(sheet.width for sheet, _ in pictures)
    for sheet, _ in pictures:
        sheet.resize(broad, stage)
    return pictures


def step_svg(
    trace: Trace, index: int, *, width: float | None = None, dark: bool = False
) -> tuple[str, str, StepPicture]:
    """Return the picture after `index` steps as SVG, its sentence, and its `StepPicture`.

    A large graph is shown in part.
    """
    part = window.part_around(trace, index)
    sheet = StepPicture(part, width, dark)
    k = index - part["first"]
    return sheet.render(k), sheet.sentence(k), sheet


def step_picture(trace: Trace, index: int, suffix: str, *, width: int | None = None, dark: bool = False) -> str | bytes:
    """Return the picture of a step as `.svg` or `.png`."""
    svg, _, sheet = step_svg(trace, index, width=width, dark=dark)
    zoom = 2.0 if width is None else width / sheet.width
    return svg if suffix == ".svg" else png(svg, zoom, palette(dark)["ground"])


def graph_png(trace: Trace, *, width: int | None = None, dark: bool = False) -> bytes:
    """Return the graph with every node's gradient as a PNG; more than 300 nodes appear in groups."""
    if len(trace["nodes"]) > MOST_DRAWN:
        svg, wide, high = group_picture.render(trace, dark)
    else:
        places = layout.compute_placement(trace)
        svg, wide, high = graph_picture.graph_svg(trace, places, dark), places.width, places.height
    return png(svg, sharpness(wide, high) if width is None else width / wide, palette(dark)["ground"])


def animate(
    trace: Trace, *, width: float | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False,
) -> str:  # fmt: skip
    """Return the walk as an SVG that plays once."""
    chosen = range(trace["first"] + bool(trace["steps"]), trace["first"] + len(trace["steps"]) + (
        words.walk_error(trace) is not None) + 1) if steps is None else steps  # fmt: skip
    parts = scenes(trace, chosen, width=width, dark=dark, show_all=True)
    slot, rules, bodies = 0, [resolve_styles("picture.css", "film.css", "motion.css", dark=dark)], []
    total = sum(len(indices) for _, indices in parts)
    for j, (sheet, indices) in enumerate(parts):
        motion = _Motion(sheet, indices, slot, total, pace, f"p{j}")
        rules += motion.rules
        stop = slot + len(indices)
        alone = len(parts) == 1
        bodies.append(motion.markup if alone else motion.during(motion.markup, slot, stop if stop < total else None))
        slot = stop
    height = max(sheet.height_of(*indices) for sheet, indices in parts)
    last_sentence = parts[-1][0].sentence(parts[-1][1][-1])
    inner = f"<style>{''.join(rules)}</style>{''.join(bodies)}"
    return graph_picture.svg_document(
        parts[0][0].width, height, inner, graph_picture.alt(trace), f"{words.summary(trace)}. {last_sentence}"
    )


class _Motion:
    """One part of an animation: its graph, the highlights of each step, and its CSS rules."""

    def __init__(self, sheet: StepPicture, indices: list[int], slot: int, total: int, pace: float, name: str) -> None:
        self.sheet, self.pace, self.name, self.total = sheet, pace, name, total
        self.rules: list[str] = []
        self.timings: dict[str, list[str]] = {}
        self.starts = {k: slot + j for j, k in enumerate(indices)}
        self.slots = [self._slot(i) for i in range(min(len(sheet.step_edges), max(indices)))]
        moving, below = [], sheet.below(indices)
        for (_k, start), block in zip(self.starts.items(), below, strict=True):
            stop = start + 1 if start + 1 < total else None
            moving.append(self.during(block, start, stop))
        graph = [graph_picture.body(sheet.trace, sheet.placement, max(indices), prefix=name)]
        begins = {walk.at for walk in walks_of(sheet.trace)[1:]}
        for i, at in enumerate(self.slots):
            if i in begins:
                self._reset_edges(i, at)
            self._travel(i, at)
            if i + 1 in self.starts:
                graph.append(self._highlight(i, at))
        for node, times in self._node_history().items():
            if len(times) > 1:
                self.rules.append(f"#{name}n{node} .gradient{{animation:from .3s {self._time(times[-1][0])}s both}}")
                graph.insert(1, "".join(self._earlier_gradient_lines(node, times)))
        if failed := [start for k, start in self.starts.items() if k > len(sheet.step_edges)]:
            node = (sheet.error or {"node": None})["node"]
            if node is not None:
                graph.append(self.during(self._node(node, len(sheet.step_edges), "failed"), failed[0], None))
        self.rules += [f"#{name}{what}{{animation:{','.join(times)}}}" for what, times in self.timings.items()]
        self.markup = sheet.in_frame("".join(graph)) + "".join(moving)

    @property
    def _palette(self) -> dict[str, str]:
        return palette(self.sheet.dark)

    def _colour(self, kind: str) -> str:
        return self._palette["sent"] if kind == "done" else ("#ffb3a7" if self.sheet.dark else "#a3160a")

    def _slot(self, i: int) -> int:
        """Return the time slot of a step; a hidden step shares the slot of the next visible one."""
        return min(start for k, start in self.starts.items() if k > i)

    def _time(self, slots: float) -> str:
        return f"{slots * self.pace:.2f}"

    def _travel(self, i: int, at: int) -> None:
        """Animate the edges that step i uses, and the nodes that are finished after it."""
        look = self.sheet.look(i + 1).edges
        for edge in self.sheet.edges_of(i):
            kind, thick = look[edge]
            self._change(f"e{edge} path:first-child", f"stroke:{self._colour(kind)};stroke-width:{thick:.1f}", at)
            self._change(f"e{edge} .head", f"fill:{self._colour(kind)}", at)
        for node in self.sheet.nodes_done_after(i):
            self._change(f"n{node} .body", f"fill:{self._palette['done-fill']};stroke:{self._palette['sent']}", at + 1)

    def _reset_edges(self, i: int, at: int) -> None:
        """Animate the edges of the previous walk back to their initial state."""
        for edge in self.sheet.look(i).edges:
            self._change(f"e{edge} path:first-child", f"stroke:{self._palette['edge']};stroke-width:1.3", at)
            self._change(f"e{edge} .head", f"fill:{self._palette['edge']}", at)

    def _change(self, what: str, declarations: str, at: float) -> None:
        """Add a change that lasts until the next change of the same element."""
        name = f"{self.name}{len(self.rules)}"
        self.rules.append(f"@keyframes {name}{{100%{{{declarations}}}}}")
        self.timings.setdefault(what, []).append(f"{name} .3s {self._time(at)}s forwards")

    def during(self, markup: str, start: float, stop: float | None) -> str:
        """Return markup that is visible in an interval, or from a time on; the latter also without motion."""
        if stop is None:
            return f'<g style="animation:from .01s {self._time(start)}s both">{markup}</g>'
        timing = f"animation-duration:{self._time(stop - start)}s;animation-delay:{self._time(start)}s"
        return f'<g class="during" style="{timing}">{markup}</g>'

    def _node(self, i: int, k: int, state: str, next_started: bool = False) -> str:
        sheet = self.sheet
        data, starts = sheet.trace["nodes"][i], i in sheet.starts_of_walks
        return graph_picture.node(
            data, sheet.placement.boxes[i], sheet.labels(k, next_started)[i], starts, state, f"{self.name}s{k}"
        )

    def _highlight(self, i: int, at: int) -> str:
        """Return the highlights of a step and its moving markers."""
        stop = at + 1 if at + 1 < self.total else None
        states = self.sheet.states(i)
        before = "".join(self._node(node, i, state, next_started=True) for node, state in states.items())
        after = "".join(self._node(node, i + 1, state) for node, state in states.items())
        return (
            self.during(self.sheet.highlight(i), at, stop) + self.during(before, at, at + ARRIVAL)
            + self.during(after, at + ARRIVAL, stop) + "".join(self._markers(i, at))
        )  # fmt: skip

    def _markers(self, i: int, at: int) -> list[str]:
        """Return the moving markers of step i: first on all edges without a rule, then on the rule's edge."""
        back = words.is_back(self.sheet.trace, self.sheet.trace["steps"][i])
        legs = [leg for leg in (self.sheet.output_links[i], [self.sheet.step_edges[i][0]]) if leg]
        share = ROLLING / len(legs)
        return [
            self._marker(self.sheet.placement.curves[edge], at + k * share, share, back)
            for k, leg in enumerate(legs) for edge in leg
        ]  # fmt: skip

    def _marker(self, curve: str, start: float, share: float, back: bool) -> str:
        """Return a dot that moves along an edge: a dash of no length with round ends and a moving offset."""
        ends = (-1, 0) if back else (0, -1)
        timing = f"roll {self._time(share)}s {self._time(start)}s"
        marks = f"--a:{ends[0]};--b:{ends[1]};animation:{timing}"
        return f'<path class="marker" d="{curve}" pathLength="1" style="{marks}"/>'

    def _node_history(self) -> dict[int, list[tuple[float, NodeValue | None]]]:
        """Return the values of every node over time."""
        first = float(min(self.starts.values()))
        history: dict[int, list[tuple[float, NodeValue | None]]] = {}
        for change in changes(self.sheet.trace):
            if change.step < len(self.slots):
                at = self.slots[change.step] + ARRIVAL if change.arrives else self.slots[change.step]
                history.setdefault(change.node, [(first, None)]).append((at if change.arrives or change.step else first,
                                                                       change.holds))  # fmt: skip
        return history

    def _earlier_gradient_lines(self, node: int, times: list[tuple[float, NodeValue | None]]) -> list[str]:
        """Return the gradient lines that a node shows before its last one."""
        sheet = self.sheet
        box, count = sheet.placement.boxes[node], len(sheet.labelled[node].lines())
        y = graph_picture.first_line(box, count) + LINE * (count - 1)
        return [
            self.during(graph_picture.line("gradient", gradient_line(sheet.trace, holds), box.x, y), start, stop)
            for (start, holds), (stop, _) in pairwise(times)
            if holds is not None and stop > start
        ]


def png(svg: str, zoom: float = 2.0, ground: str = "#ffffff") -> bytes:
    """Return an SVG as a PNG, set in the fonts of this package.

    System fonts supply only missing letters. Raises ModuleNotFoundError if the rasterizer is missing.
    """
    try:
        import resvg_py
    except ModuleNotFoundError as missing:
        message = 'a picture in pixels needs resvg_py and pillow: pip install "micrograd_plus[film]"'
        raise ModuleNotFoundError(message) from missing
    fonts = {"font_files": [*FONTS, SIGNS], "font_family": "Arimo", "sans_serif_family": "Arimo"}
    own = letters.has_glyphs(svg)
    set_in_ours = svg.replace(graph_picture.FONT, "Arimo")
    return bytes(resvg_py.svg_to_bytes(
        svg_string=set_in_ours, dpi=96, zoom=zoom, background=ground, skip_system_fonts=own, **fonts))  # fmt: skip


def sharpness(width: float, height: float) -> float:
    """Return image pixels for each pixel: two, or fewer if the image would take too long."""
    return min(2.0, math.sqrt(MOST_DOTS / (width * height)))


def frames(
    trace: Trace, kind: str, *, width: int | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False, loop: bool = False, motion: bool = False,
) -> bytes:  # fmt: skip
    """Return the walk as an animated GIF or WEBP.

    There is a frame for each of `steps` (by default the start and all steps), each for `pace` seconds, `width` pixels
    wide. It plays once, or repeats with `loop`. With `motion`, extra frames move a marker along each edge. Raises
    ValueError for more than 150 steps or an unknown step, ModuleNotFoundError if the film extra is missing.
    """
    parts = scenes(trace, steps, width=min(width or USUAL, USUAL), dark=dark)
    height = max(sheet.height_of(*indices) for sheet, indices in parts)
    zoom = 1.0 if width is None else width / parts[0][0].width
    shots = [shot for sheet, indices in parts for k in indices for shot in _step_frames(sheet, k, height, pace, motion)]
    shots[-1] = (shots[-1][0], 2 * pace + shots[-1][1])
    try:
        from PIL import Image
    except ModuleNotFoundError as missing:
        message = 'a film needs pillow and resvg_py: pip install "micrograd_plus[film]"'
        raise ModuleNotFoundError(message) from missing
    ground = palette(dark)["ground"]
    report = _progress_reporter(len(shots))
    images = []
    for k, (svg, _) in enumerate(shots):
        images.append(Image.open(io.BytesIO(png(svg, zoom, ground))).convert("RGB"))
        report(k + 1)
    durations = [round(1000 * seconds) for _, seconds in shots]
    options: dict[str, Any] = {"loop": 0} if loop else {"loop": 1} if kind == "WEBP" else {}
    images = _one_palette(images)
    if kind == "WEBP":
        images = [image.convert("RGB") for image in images]
        options |= {"lossless": True, "method": 4}
    film = io.BytesIO()
    images[0].save(film, kind, save_all=True, append_images=images[1:], duration=durations, **options)
    return film.getvalue()


def _step_frames(sheet: StepPicture, k: int, height: float, pace: float, motion: bool) -> list[tuple[str, float]]:
    """Return the frames of a step, with their durations in seconds."""
    if not motion or not 0 < k <= len(sheet.step_edges):
        return [(sheet.render(k, height), pace)]
    each = ARRIVAL * pace / (ROLLS + 1)
    rolls = [(sheet.render(k, height, roll / ROLLS), each) for roll in range(1, ROLLS)]
    return [*rolls, (sheet.render(k, height), pace - each * len(rolls))]


def _one_palette(images: Sequence[Any]) -> list[Any]:
    """Return the frames with one palette of the most common colours, so that each frame stores only changes."""
    from PIL import Image

    some = images[:: max(1, len(images) // 8)]
    width, height = some[0].size
    beside = Image.new("RGB", (width, height * len(some)))
    for k, image in enumerate(some):
        beside.paste(image, (0, k * height))
    colours: list[Any] = []
    counted: list[Any] = beside.getcolors(width * height * len(some)) or []
    for _, colour in sorted(counted, reverse=True)[:4000]:
        if len(colours) < 256 and all(max(map(_colour_distance, colour, other)) >= 12 for other in colours):
            colours.append(colour)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in colours for part in colour])
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


def _colour_distance(one: int, other: int) -> int:
    return abs(one - other)


def _progress_reporter(total: int) -> Callable[[int], None]:
    """Return a function that prints progress on one line if the work takes long."""
    began = time.monotonic()
    last_report = [0.0]

    def report(done: int) -> None:
        now = time.monotonic() - began
        if now > PATIENCE and (now - last_report[0] > 0.5 or done == total):
            last_report[0] = now
            sys.stderr.write(f"\rframe {done} of {total}" + "\n" * (done == total))
            sys.stderr.flush()

    return report
