"""The walk as a film: an animated SVG that needs nothing, and frames of it as GIF, WebP or PNG.

The SVG moves by CSS alone, so it plays inside an `<img>`, where no script may run. It plays once and rests on
the last step (a film that never ends would need a pause button, WCAG 2.2.2); where the reader asks for less
motion it shows the end at once.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable
from html import escape
from typing import Any

from . import layout, picture, words
from .dot import gradient_line, labels
from .picture import LINE, Placing, near
from .source import Trace
from .static_files import FONTS, style

SECONDS = 1.5
ARRIVAL = 0.6
"""When within a step the contribution has arrived, as a part of the step."""
ROLLING = 0.7
"""How long within a step beads roll, likewise."""
CAPTION_LINE = 17.0
NARROWEST = 430.0
MOST_FRAMES = 400
MOST_DRAWN = 300
MOST_DOTS = 12e6


class Scenes:
    """A trace laid out, with what a film asks about every step."""

    def __init__(self, trace: Trace, placing: Placing) -> None:
        self.trace, self.placing = trace, placing
        self.ways, self.passages, self.links = words.ways(trace), words.passages(trace), words.edges(trace)
        self.labels, self.started = labels(trace), words.started(trace)
        self.last = {node: i for i in range(len(self.ways)) for node in self.concerned(i)}
        self.width = max(self.placing.width, NARROWEST)
        longest = int((self.width - 24) / 6.4)
        self.captions = [textwrap.wrap(sentence, longest) for sentence in words.sentences(trace)]
        most = max((len(lines) for lines in self.captions), default=1)
        self.height = self.placing.height + most * CAPTION_LINE + 14

    def travelled(self, i: int) -> list[int]:
        """The edges of step i, that of its rule last."""
        return [*self.passages[i], self.ways[i][0]]

    def concerned(self, i: int) -> set[int]:
        """The nodes at the ends of these edges."""
        return {node for edge in self.travelled(i) for node in self.links[edge][:2]}

    def finished(self, i: int) -> list[int]:
        """The nodes that no later step than i concerns, sorted."""
        return sorted(node for node in self.concerned(i) if self.last[node] == i)

    def lit(self, i: int) -> str:
        """What step i lights: its edges, the node whose rule is applied and the one that receives."""
        _, start, end = self.ways[i]
        kind = "accumulates" if self.trace["steps"][i]["accumulates"] else "receives"
        around = [
            picture.outline(self.trace["nodes"][node]["kind"], self.placing.boxes[node], f"{name} over")
            for node, name in ((start, "active"), (end, kind))
        ]
        curves = "".join(self.placing.curves[edge] for edge in self.travelled(i))
        return "".join(around) + f'<path class="lit" d="{curves}"/>'

    def beads(self, i: int) -> list[str]:
        """What rolls in step i: along the edges without a rule first, all at once, then along the rule's own."""
        back = self.trace["walk"]["direction"] == "backward"
        legs = [leg for leg in (self.passages[i], [self.ways[i][0]]) if leg]
        share = ROLLING / len(legs)
        return [
            _bead(self.placing.curves[edge], i + k * share, share, back) for k, leg in enumerate(legs) for edge in leg
        ]

    def said(self, lines: list[str]) -> str:
        """A caption's lines below the picture."""
        first = self.placing.height + 16
        return "".join(
            f'<text class="caption" x="12" y="{near(first + k * CAPTION_LINE)}">{escape(line)}</text>'
            for k, line in enumerate(lines)
        )

    def framed(self, inner: str) -> str:
        """The SVG document of this film's size."""
        return picture.framed(self.width, self.height, inner, picture.alt(self.trace))

    def passing_lines(self, node: int, times: list[int]) -> list[str]:
        """The gradient lines a node shows before its last one; it receives at the steps `times`."""
        box, count = self.placing.boxes[node], len(self.labels[node].lines())
        y = picture.first_line(box, count) + LINE * (count - 1)
        held = [self.started[node], *(self.trace["steps"][i]["after"] for i in times[:-1])]
        since = [0.0, *(i + ARRIVAL for i in times)]
        return [
            _during(picture.line("gradient", gradient_line(self.trace, value), box.x, y), start, stop)
            for value, start, stop in zip(held, since[:-1], since[1:], strict=True)
            if value is not None
        ]


def animated(trace: Trace, placing: Placing | None = None) -> str:
    """The whole walk as one SVG that plays by itself, once."""
    scenes = Scenes(trace, placing or layout.placed(trace))
    looks = [style("picture.css"), style("film.css"), style("motion.css")]
    moving, arrivals = [], {}
    for i, (_, _, end) in enumerate(scenes.ways):
        stop = i + 1 if i + 1 < len(scenes.ways) else None
        moving += [_during(scenes.lit(i), i, i + 1), _during(scenes.said(scenes.captions[i]), i, stop)]
        moving += scenes.beads(i)
        for edge in scenes.travelled(i):
            looks += [_at(f"#e{edge} path:first-child", "line", i + 1), _at(f"#e{edge} .head", "head", i + 1)]
        looks += [_at(f"#n{node} .body", "fill", i + 1) for node in scenes.finished(i)]
        arrivals.setdefault(end, []).append(i)
    for node, times in arrivals.items():
        looks.append(_at(f"#n{node} .gradient", "from", times[-1] + ARRIVAL))
        moving += scenes.passing_lines(node, times)
    return scenes.framed(f"<style>{''.join(looks)}</style>{picture.body(trace, scenes.placing)}{''.join(moving)}")


def frame(trace: Trace, steps: int) -> str:
    """The picture after a number of steps, as a still SVG with the last step's sentence below it."""
    return _frame(Scenes(trace, layout.placed(trace)), steps)


def _frame(scenes: Scenes, steps: int) -> str:
    looks = [style("picture.css"), style("film.css")]
    for i in range(steps):
        looks += [
            f"#e{edge} path{{stroke:#0072b2}}#e{edge} .head{{fill:#0072b2;stroke:none}}" for edge in scenes.travelled(i)
        ]
        looks += [f"#n{node} .body{{fill:#d8edfa;stroke:#0072b2}}" for node in scenes.finished(i)]
    lit = scenes.lit(steps - 1) if steps else ""
    said = scenes.said(scenes.captions[steps - 1] if steps else [words.summary(scenes.trace)])
    body = picture.body(scenes.trace, scenes.placing, steps)
    return scenes.framed(f"<style>{''.join(looks)}</style>{body}{lit}{said}")


def png(svg: str, zoom: float = 2.0) -> bytes:
    """An SVG of ours as a PNG, set in the font that comes with this package.

    ModuleNotFoundError with what to install where the rasteriser is missing.
    """
    try:
        import resvg_py
    except ModuleNotFoundError as missing:
        said = 'a picture in pixels needs resvg_py and pillow: pip install "micrograd_plus[film]"'
        raise ModuleNotFoundError(said) from missing
    fonts = {"font_files": FONTS, "font_family": "Arimo", "sans_serif_family": "Arimo"}
    set_in_ours = svg.replace(picture.FONT, "Arimo")
    return bytes(resvg_py.svg_to_bytes(svg_string=set_in_ours, dpi=96, zoom=zoom, background="#ffffff", **fonts))


def sharpness(width: float, height: float) -> float:
    """How many dots a pixel gets: two, or fewer where the picture would have more than can be made in seconds."""
    return min(2.0, math.sqrt(MOST_DOTS / (width * height)))


def frames(
    trace: Trace, kind: str, *, width: int | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS
) -> bytes:
    """The walk as an animated image, `kind` GIF or WEBP: a frame for each of the `steps` (unless told, all and the
    start), each for `pace` seconds, `width` pixels wide, played once.

    ValueError for more than 400 frames or a step that there is none of, ModuleNotFoundError where the film extra is
    missing.
    """
    count = len(trace["steps"])
    chosen = list(range(count + 1)) if steps is None else list(steps)
    if unknown := [k for k in chosen if not 0 <= k <= count]:
        raise ValueError(f"there is no step {unknown[0]}: steps are numbered 1 to {count}, and 0 is the start")
    if not chosen or len(chosen) > MOST_FRAMES:
        raise ValueError(
            f"a film of {len(chosen)} steps is too long (at most {MOST_FRAMES}): save the walk as .html, "
            "which holds any number, or name steps=, or a part with start= and length="
        )
    too_large(trace)
    scenes = Scenes(trace, layout.placed(trace))
    zoom = 1.0 if width is None else width / scenes.width
    shots = [png(_frame(scenes, k), zoom) for k in chosen]
    from PIL import Image

    images = [Image.open(io.BytesIO(shot)).convert("RGB") for shot in shots]
    if kind == "GIF":
        images = [image.quantize(64, dither=Image.Dither.NONE) for image in images]
    step = int(pace * 1000)
    options: dict[str, Any] = {"lossless": True, "loop": 1} if kind == "WEBP" else {}
    film = io.BytesIO()
    durations = [step] * (len(images) - 1) + [3 * step]
    images[0].save(film, kind, save_all=True, append_images=images[1:], duration=durations, **options)
    return film.getvalue()


def too_large(trace: Trace) -> None:
    """ValueError for a graph of which a still picture could not be read."""
    if len(trace["nodes"]) > MOST_DRAWN:
        raise ValueError(
            f"a picture of {len(trace['nodes'])} nodes could not be read (at most {MOST_DRAWN}): save the walk as "
            ".html, where they stand in groups, or name a part with start= and length="
        )


def _bead(curve: str, start: float, share: float, back: bool) -> str:
    """A dot that rolls along an edge for a share of a step: a dash of no length with round ends, its offset moving."""
    ends = (-1, 0) if back else (0, -1)
    timing = f"roll {SECONDS * share:.2f}s {start * SECONDS:.2f}s"
    marks = f"--a:{ends[0]};--b:{ends[1]};animation:{timing}"
    return f'<path class="bead" d="{curve}" pathLength="1" style="{marks}"/>'


def _during(markup: str, start: float, stop: float | None) -> str:
    """Markup that is seen from one step to another; or from a step on, also where nothing moves."""
    if stop is None:
        return f'<g style="animation:from .01s {start * SECONDS:.2f}s both">{markup}</g>'
    timing = f"animation-duration:{(stop - start) * SECONDS:.2f}s;animation-delay:{start * SECONDS:.2f}s"
    return f'<g class="during" style="{timing}">{markup}</g>'


def _at(selector: str, keyframes: str, i: float) -> str:
    """The rule that changes something when step i begins."""
    return f"{selector}{{animation:{keyframes} .3s {i * SECONDS:.2f}s both}}"
