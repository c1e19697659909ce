"""The walk as a film: an animated SVG that needs nothing, and frames of it as GIF, WebP or PNG.

The SVG moves by CSS alone, so it plays inside an `<img>`, where no script may run. It plays once and rests on
the last step (a film that never ends would need a pause button, WCAG 2.2.2); where the reader asks for less
motion it shows the end at once.
"""

from __future__ import annotations

import io
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from .. import layout, letters, picture, window, words
from ..colours import looks, named
from ..dot import gradient_line
from ..picture import LINE
from ..source import Trace
from ..static_files import FONTS, SIGNS
from ..walks import Held, changes, walks_of
from . import outline
from .sheet import USUAL, Sheet

SECONDS = 1.5
ARRIVAL = 0.6
"""When within a step the contribution has arrived, as a part of the step."""
ROLLING = 0.7
"""How long within a step beads roll, likewise."""
ROLLS = 6
"""With motion, how many places a bead has on its edge."""
MOST_FRAMES = 150
MOST_DRAWN = 300
MOST_DOTS = 5e6
PATIENCE = 2.0
"""After so many seconds a line says how far the work has come."""

Scene = tuple[Sheet, list[int]]


def scenes(
    trace: Trace, steps: Iterable[int] | None = None, *, width: float | None = None, dark: bool = False,
    whole: bool = False,
) -> list[Scene]:  # fmt: skip
    """The parts of a walk that are drawn one after the other, each with the steps that it shows, counted in the part.

    A graph of up to 40 nodes is one part. `steps` are numbers in the whole walk; 0 is the start, and one more than
    there are is the error that broke it off. ValueError for a step that there is none of, and for too many.
    """
    first, count = trace["first"], len(trace["steps"])
    last = first + count + (words.broke_off(trace) is not None)
    chosen = list(range(first, last + 1)) if steps is None else sorted(set(steps))
    if unknown := [k for k in chosen if not first <= k <= last]:
        raise ValueError(window.unknown_step(trace, unknown[0]))
    if not chosen or len(chosen) > MOST_FRAMES:
        raise ValueError(
            f"a film of {len(chosen)} steps is too long (at most {MOST_FRAMES}): save the walk as .html, "
            "which holds any number, or name steps=, as in steps=range(0, 50)"
        )
    made: list[tuple[Sheet, list[int]]] = []
    for start, end in window.stretches(trace):
        begin, stop = first + start, first + end
        here = [k - begin for k in chosen if (begin < k or k == first == begin) and (k <= stop or end == count)]
        if here:
            made.append((Sheet(window.part(trace, start, end), width, dark, whole), here))
    stage = max(sheet.stage for sheet, _ in made)
    broad = max(sheet.width for sheet, _ in made)
    for sheet, _ in made:
        sheet.resize(broad, stage)
    return made


def still(trace: Trace, index: int, *, width: float | None = None, dark: bool = False) -> tuple[str, str, Sheet]:
    """The picture after `index` steps of the whole walk as SVG, what it says, and its sheet; of a large graph the part
    near that step."""
    part = window.around(trace, index)
    sheet = Sheet(part, width, dark)
    k = index - part["first"]
    return sheet.drawn(k), sheet.sentence(k), sheet


def step(trace: Trace, index: int, suffix: str, *, width: int | None = None, dark: bool = False) -> str | bytes:
    """The picture of a step, as `.svg` or `.png`."""
    svg, _, sheet = still(trace, index, width=width, dark=dark)
    zoom = 2.0 if width is None else width / sheet.width
    return svg if suffix == ".svg" else png(svg, zoom, named(dark)["ground"])


def graph(trace: Trace, *, width: int | None = None, dark: bool = False) -> bytes:
    """The graph with what every node received, as a PNG; one of more than 300 nodes in groups."""
    if len(trace["nodes"]) > MOST_DRAWN:
        svg, wide, high = outline.drawn(trace, dark)
    else:
        places = layout.placed(trace)
        svg, wide, high = picture.still(trace, places, dark), places.width, places.height
    return png(svg, sharpness(wide, high) if width is None else width / wide, named(dark)["ground"])


def animated(
    trace: Trace, *, width: float | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False,
) -> str:  # fmt: skip
    """The walk as one SVG that plays by itself, once."""
    chosen = range(trace["first"] + bool(trace["steps"]), trace["first"] + len(trace["steps"]) + (
        words.broke_off(trace) is not None) + 1) if steps is None else steps  # fmt: skip
    parts = scenes(trace, chosen, width=width, dark=dark, whole=True)
    slot, rules, drawn = 0, [looks("picture.css", "film.css", "motion.css", dark=dark)], []
    total = sum(len(shown) for _, shown in parts)
    for j, (sheet, shown) in enumerate(parts):
        motion = _Motion(sheet, shown, slot, total, pace, f"p{j}")
        rules += motion.rules
        stop = slot + len(shown)
        alone = len(parts) == 1
        drawn.append(motion.markup if alone else motion.during(motion.markup, slot, stop if stop < total else None))
        slot = stop
    height = max(sheet.height_of(*shown) for sheet, shown in parts)
    told = parts[-1][0].sentence(parts[-1][1][-1])
    inner = f"<style>{''.join(rules)}</style>{''.join(drawn)}"
    return picture.framed(parts[0][0].width, height, inner, picture.alt(trace), f"{words.summary(trace)}. {told}")


class _Motion:
    """One part of a moving picture: its graph, what each step lights and says, and the rules that move it."""

    def __init__(self, sheet: Sheet, shown: list[int], slot: int, total: int, pace: float, name: str) -> None:
        self.sheet, self.pace, self.name, self.total = sheet, pace, name, total
        self.rules: list[str] = []
        self.timings: dict[str, list[str]] = {}
        self.starts = {k: slot + j for j, k in enumerate(shown)}
        self.slots = [self._slot(i) for i in range(min(len(sheet.ways), max(shown)))]
        moving, below = [], sheet.below(shown)
        for (_k, start), said in zip(self.starts.items(), below, strict=True):
            stop = start + 1 if start + 1 < total else None
            moving.append(self.during(said, start, stop))
        graph = [picture.body(sheet.trace, sheet.placing, max(shown), prefix=name)]
        begins = {walk.at for walk in walks_of(sheet.trace)[1:]}
        for i, at in enumerate(self.slots):
            if i in begins:
                self._begin_anew(i, at)
            self._travel(i, at)
            if i + 1 in self.starts:
                graph.append(self._lit(i, at))
        for node, times in self._held().items():
            if len(times) > 1:
                self.rules.append(f"#{name}n{node} .gradient{{animation:from .3s {self._time(times[-1][0])}s both}}")
                graph.insert(1, "".join(self._passing(node, times)))
        if failed := [start for k, start in self.starts.items() if k > len(sheet.ways)]:
            node = (sheet.error or {"node": None})["node"]
            if node is not None:
                graph.append(self.during(self._node(node, len(sheet.ways), "failed"), failed[0], None))
        self.rules += [f"#{name}{what}{{animation:{','.join(times)}}}" for what, times in self.timings.items()]
        self.markup = sheet.in_frame("".join(graph)) + "".join(moving)

    @property
    def _named(self) -> dict[str, str]:
        return named(self.sheet.dark)

    def _colour(self, kind: str) -> str:
        return self._named["sent"] if kind == "done" else ("#ffb3a7" if self.sheet.dark else "#a3160a")

    def _slot(self, i: int) -> int:
        """When step i takes place: in its own time, or where it is not shown in that of the next that is."""
        return min(start for k, start in self.starts.items() if k > i)

    def _time(self, slots: float) -> str:
        return f"{slots * self.pace:.2f}"

    def _travel(self, i: int, at: int) -> None:
        """The edges that step i travels, and the nodes that are finished then."""
        look = self.sheet.look(i + 1).edges
        for edge in self.sheet.travelled(i):
            kind, thick = look[edge]
            self._change(f"e{edge} path:first-child", f"stroke:{self._colour(kind)};stroke-width:{thick:.1f}", at)
            self._change(f"e{edge} .head", f"fill:{self._colour(kind)}", at)
        for node in self.sheet.finished(i):
            self._change(f"n{node} .body", f"fill:{self._named['done-fill']};stroke:{self._named['sent']}", at + 1)

    def _begin_anew(self, i: int, at: int) -> None:
        """The edges that the walk before step i has travelled, as they were before it."""
        for edge in self.sheet.look(i).edges:
            self._change(f"e{edge} path:first-child", f"stroke:{self._named['edge']};stroke-width:1.3", at)
            self._change(f"e{edge} .head", f"fill:{self._named['edge']}", at)

    def _change(self, what: str, declarations: str, at: float) -> None:
        """A change that stays from a time on, or until the next one of the same."""
        name = f"{self.name}{len(self.rules)}"
        self.rules.append(f"@keyframes {name}{{100%{{{declarations}}}}}")
        self.timings.setdefault(what, []).append(f"{name} .3s {self._time(at)}s forwards")

    def during(self, markup: str, start: float, stop: float | None) -> str:
        """Markup that is seen from one time to another; or from a time on, also where nothing moves."""
        if stop is None:
            return f'<g style="animation:from .01s {self._time(start)}s both">{markup}</g>'
        timing = f"animation-duration:{self._time(stop - start)}s;animation-delay:{self._time(start)}s"
        return f'<g class="during" style="{timing}">{markup}</g>'

    def _node(self, i: int, k: int, state: str, begun: bool = False) -> str:
        sheet = self.sheet
        told, ringed = sheet.trace["nodes"][i], i in sheet.ringed
        return picture.node(told, sheet.placing.boxes[i], sheet.labels(k, begun)[i], ringed, state, f"{self.name}s{k}")

    def _lit(self, i: int, at: int) -> str:
        """What a step lights, and the beads that roll meanwhile."""
        stop = at + 1 if at + 1 < self.total else None
        states = self.sheet.states(i)
        before = "".join(self._node(node, i, state, begun=True) for node, state in states.items())
        after = "".join(self._node(node, i + 1, state) for node, state in states.items())
        return (
            self.during(self.sheet.lit(i), at, stop) + self.during(before, at, at + ARRIVAL)
            + self.during(after, at + ARRIVAL, stop) + "".join(self._beads(i, at))
        )  # fmt: skip

    def _beads(self, i: int, at: int) -> list[str]:
        """What rolls in step i: along the edges without a rule first, all at once, then along the rule's own."""
        back = words.is_back(self.sheet.trace, self.sheet.trace["steps"][i])
        legs = [leg for leg in (self.sheet.passages[i], [self.sheet.ways[i][0]]) if leg]
        share = ROLLING / len(legs)
        return [
            self._bead(self.sheet.placing.curves[edge], at + k * share, share, back)
            for k, leg in enumerate(legs) for edge in leg
        ]  # fmt: skip

    def _bead(self, curve: str, start: float, share: float, back: bool) -> str:
        """A dot that rolls along an edge: a dash of no length with round ends, its offset moving."""
        ends = (-1, 0) if back else (0, -1)
        timing = f"roll {self._time(share)}s {self._time(start)}s"
        marks = f"--a:{ends[0]};--b:{ends[1]};animation:{timing}"
        return f'<path class="bead" d="{curve}" pathLength="1" style="{marks}"/>'

    def _held(self) -> dict[int, list[tuple[float, Held | None]]]:
        """What every node holds as time goes on, and from when."""
        first = float(min(self.starts.values()))
        found: dict[int, list[tuple[float, Held | None]]] = {}
        for change in changes(self.sheet.trace):
            if change.step < len(self.slots):
                at = self.slots[change.step] + ARRIVAL if change.arrives else self.slots[change.step]
                found.setdefault(change.node, [(first, None)]).append((at if change.arrives or change.step else first,
                                                                       change.holds))  # fmt: skip
        return found

    def _passing(self, node: int, times: list[tuple[float, Held | None]]) -> list[str]:
        """The gradient lines that a node shows before its last one."""
        sheet = self.sheet
        box, count = sheet.placing.boxes[node], len(sheet.labelled[node].lines())
        y = picture.first_line(box, count) + LINE * (count - 1)
        return [
            self.during(picture.line("gradient", gradient_line(sheet.trace, holds), box.x, y), start, stop)
            for (start, holds), (stop, _) in pairwise(times)
            if holds is not None and stop > start
        ]


def png(svg: str, zoom: float = 2.0, ground: str = "#ffffff") -> bytes:
    """An SVG of ours as a PNG, set in the fonts that come with this package.

    The system's fonts are read only for letters that these do not have. ModuleNotFoundError with what to install where
    the rasteriser is missing.
    """
    try:
        import resvg_py
    except ModuleNotFoundError as missing:
        said = 'a picture in pixels needs resvg_py and pillow: pip install "micrograd_plus[film]"'
        raise ModuleNotFoundError(said) from missing
    fonts = {"font_files": [*FONTS, SIGNS], "font_family": "Arimo", "sans_serif_family": "Arimo"}
    own = letters.has_all(svg)
    set_in_ours = svg.replace(picture.FONT, "Arimo")
    return bytes(resvg_py.svg_to_bytes(
        svg_string=set_in_ours, dpi=96, zoom=zoom, background=ground, skip_system_fonts=own, **fonts))  # fmt: skip


def sharpness(width: float, height: float) -> float:
    """How many dots a pixel gets: two, or fewer where the picture would have more than can be made in seconds."""
    return min(2.0, math.sqrt(MOST_DOTS / (width * height)))


def frames(
    trace: Trace, kind: str, *, width: int | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False, loop: bool = False, motion: bool = False,
) -> bytes:  # fmt: skip
    """The walk as an animated image, `kind` GIF or WEBP: a frame for each of the `steps` (unless told, all and the
    start), each for `pace` seconds, `width` pixels wide, played once or, with `loop`, for ever.

    With `motion` what a step sends rolls along its edge before it arrives, in frames of their own. ValueError for more
    than 150 steps or one that there is none of, ModuleNotFoundError where the film extra is missing.
    """
    parts = scenes(trace, steps, width=min(width or USUAL, USUAL), dark=dark)
    height = max(sheet.height_of(*shown) for sheet, shown in parts)
    zoom = 1.0 if width is None else width / parts[0][0].width
    shots = [shot for sheet, shown in parts for k in shown for shot in _shots(sheet, k, height, pace, motion)]
    shots[-1] = (shots[-1][0], 2 * pace + shots[-1][1])
    try:
        from PIL import Image
    except ModuleNotFoundError as missing:
        said = 'a film needs pillow and resvg_py: pip install "micrograd_plus[film]"'
        raise ModuleNotFoundError(said) from missing
    ground = named(dark)["ground"]
    tell = _teller(len(shots))
    images = []
    for k, (svg, _) in enumerate(shots):
        images.append(Image.open(io.BytesIO(png(svg, zoom, ground))).convert("RGB"))
        tell(k + 1)
    durations = [round(1000 * seconds) for _, seconds in shots]
    options: dict[str, Any] = {"loop": 0} if loop else {"loop": 1} if kind == "WEBP" else {}
    images = _one_palette(images)
    if kind == "WEBP":
        images = [image.convert("RGB") for image in images]
        options |= {"lossless": True, "method": 4}
    film = io.BytesIO()
    images[0].save(film, kind, save_all=True, append_images=images[1:], duration=durations, **options)
    return film.getvalue()


def _shots(sheet: Sheet, k: int, height: float, pace: float, motion: bool) -> list[tuple[str, float]]:
    """The frames of a step, and for how many seconds each is seen."""
    if not motion or not 0 < k <= len(sheet.ways):
        return [(sheet.drawn(k, height), pace)]
    each = ARRIVAL * pace / (ROLLS + 1)
    rolls = [(sheet.drawn(k, height, roll / ROLLS), each) for roll in range(1, ROLLS)]
    return [*rolls, (sheet.drawn(k, height), pace - each * len(rolls))]


def _one_palette(images: Sequence[Any]) -> list[Any]:
    """The frames in the same few colours, the commonest, so that a frame need only hold what changes."""
    from PIL import Image

    some = images[:: max(1, len(images) // 8)]
    width, height = some[0].size
    beside = Image.new("RGB", (width, height * len(some)))
    for k, image in enumerate(some):
        beside.paste(image, (0, k * height))
    colours: list[Any] = []
    counted: list[Any] = beside.getcolors(width * height * len(some)) or []
    for _, colour in sorted(counted, reverse=True)[:4000]:
        if len(colours) < 256 and all(max(map(_apart, colour, other)) >= 12 for other in colours):
            colours.append(colour)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in colours for part in colour])
    return [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]


def _apart(one: int, other: int) -> int:
    return abs(one - other)


def _teller(total: int) -> Callable[[int], None]:
    """A function that says on one line, where the work takes long, how much of it is done."""
    began = time.monotonic()
    said = [0.0]

    def tell(done: int) -> None:
        now = time.monotonic() - began
        if now > PATIENCE and (now - said[0] > 0.5 or done == total):
            said[0] = now
            sys.stderr.write(f"\rframe {done} of {total}" + "\n" * (done == total))
            sys.stderr.flush()

    return tell
