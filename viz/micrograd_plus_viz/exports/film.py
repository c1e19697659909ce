"""Walks as films and pictures: frames as GIF, WebP or MP4, still pictures as PNG or SVG, and an SVG that moves.

The SVG is animated by CSS alone, so it plays inside an `<img>`, where scripts do not run. It plays once and stays at
the last step (an endless animation would need a pause button, WCAG 2.2.2). If the reader prefers reduced motion, it
shows the end at once.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import letters, window, words
from ..colours import levels, palette, resolve_styles, used_rules
from ..payload import payload
from ..stage import Stage, View, event_layer
from ..static_files import FONTS, MONO, SIGNS
from ..svg import FONT, MONO_FONT, Block, document, text
from ..trace_input import Trace
from .step_picture import StepPictures

SECONDS = 1.5
EVENT_PART = 0.86
"""Fraction of a step's time in which its event happens, as `static/clock.js` has it."""
ARRIVAL = 0.95
"""When the contribution has arrived in an event, from 0 to 1."""
MOMENTS = (0.08, 0.16, 0.24, 0.4, 0.55, 0.76, 0.82, 0.88, 0.94)
"""When the frames of a moving event are, from 0 to 1: mostly while tiles travel."""
MOST_FRAMES = 150
MOST_DRAWN = 300
"""Number of nodes that a picture shows one by one; in larger graphs groups are closed."""
MOST_DOTS = 5e6
MARGIN, SENTENCE = 12.0, 12.0
PATIENCE = 2.0
"""Seconds after which progress is printed."""
MP4_RATE = 30
PIXELS = {".png", ".gif", ".webp", ".mp4"}
NO_PIXELS = 'pictures in pixels need pillow and resvg_py: pip install "micrograd_plus[film]"'
NO_ENCODER = (
    'a film as .mp4 needs the program ffmpeg: pip install "micrograd_plus[mp4]", or install ffmpeg on your system; '
    ".webp and .gif need neither"
)


def check_packages(suffix: str) -> None:
    """Raise ModuleNotFoundError, with the cure, if a file of this format needs something that is missing."""
    if suffix in PIXELS and not (importlib.util.find_spec("resvg_py") and importlib.util.find_spec("PIL")):
        raise ModuleNotFoundError(NO_PIXELS)
    if suffix == ".mp4":
        _find_encoder()


def choose_steps(trace: Trace, steps: Iterable[int] | None = None) -> list[int]:
    """Return the steps of a film, relative to the trace's part of the walk: all that are asked for, in order.

    `steps` are numbers in the full walk; 0 is the start, and one more than the last step is the error that ended the
    walk. Raises ValueError for unknown steps, and for too many.
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
    return [k - first for k in chosen]


def step_svg(trace: Trace, index: int, *, width: float | None = None, dark: bool = False) -> tuple[str, str]:
    """Return the picture after `index` steps as SVG, and its sentence. Raises ValueError for an unknown step."""
    (k,) = choose_steps(trace, [index])
    pictures = StepPictures(trace, [k], width, dark)
    return pictures.render(k), pictures.sentence(k)


def step_picture(trace: Trace, index: int, suffix: str, *, width: int | None = None, dark: bool = False) -> str | bytes:
    """Return the picture of a step as `.svg` or `.png`."""
    (k,) = choose_steps(trace, [index])
    pictures = StepPictures(trace, [k], width, dark)
    svg = pictures.render(k)
    zoom = sharpness(pictures.width, pictures.height) if width is None else width / pictures.width
    return svg if suffix == ".svg" else png(svg, zoom, palette(dark)["ground"])


def graph_svg(data: dict[str, Any], dark: bool = False, details: Sequence[str] = ()) -> tuple[str, float, float]:
    """Return the whole graph of a page's data after its last step as SVG, and its width and height.

    More than 300 nodes appear in groups, as the page opens them. `details` are the levels of detail of nodes.
    """
    if len(data["nodes"]) <= MOST_DRAWN:
        data = data | {"groups": None}
    stage = Stage(data, details=details)
    view = stage.show(len(data["steps"]) + (data["error"] is not None))
    inner = f'<g transform="translate({MARGIN:g} {MARGIN:g})">{stage.frame(view)}</g>'
    width, height = stage.width + 2 * MARGIN, stage.height + 2 * MARGIN
    below = _sentence_of_part(data, stage.width)
    inner += below.at(MARGIN, height)
    height += below.height
    style = used_rules(resolve_styles("stage.css", "picture.css", dark=dark), f'<rect class="walk ground">{inner}')
    return document(width, height, style, inner, data["alt"]), width, height


def _sentence_of_part(data: dict[str, Any], room: float) -> Block:
    """Return the sentence below the picture of a part of a walk, or nothing."""
    first, count = data["first"], len(data["steps"])
    if count == data["total"]:
        return Block(0, 0, "")
    sentence = (
        f"Steps {first + 1} to {first + count} of {data['total']}, and the {len(data['nodes'])} nodes that they use."
    )
    lines = letters.wrap(sentence, SENTENCE, room)
    return Block(room, 17.0 * len(lines) + MARGIN, "".join(
        text(line, 0, 12 + 17 * k, SENTENCE, "soft") for k, line in enumerate(lines)
    ))  # fmt: skip


def graph_png(trace: Trace, *, width: int | None = None, dark: bool = False) -> bytes:
    """Return the graph with every node's gradient as a PNG; more than 300 nodes appear in groups."""
    svg, wide, high = graph_svg(payload(trace), dark)
    return png(svg, sharpness(wide, high) if width is None else width / wide, palette(dark)["ground"])


# The moving SVG -----------


def animate(
    trace: Trace, *, width: float | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False,
) -> str:  # fmt: skip
    """Return the walk as an SVG that plays once."""
    first = trace["first"] + bool(trace["steps"])
    last = trace["first"] + len(trace["steps"]) + (words.walk_error(trace) is not None)
    chosen = choose_steps(trace, range(first, last + 1) if steps is None else steps)
    pictures = StepPictures(trace, chosen, width, dark)
    stage, shots = pictures.stage, list[_Shot]()
    events, around = list[Moment](), list[Moment]()
    for slot, k in enumerate(chosen):
        start, stop = slot * pace, (slot + 1) * pace if slot + 1 < len(chosen) else None
        arrives = start + ARRIVAL * EVENT_PART * pace
        for begin, end, t in ((start, arrives, 0.0), (arrives, stop, 1.0)):
            view = stage.show(k, t)
            if not shots or shots[-1].view.camera != view.camera:
                shots.append(_Shot(view, []))
            shots[-1].moments.append((begin, end, [(key, without_ids(markup)) for key, markup in view.parts]))
        event = event_layer(stage.animate(k, start, EVENT_PART * pace))
        events.append((start, stop, [("event", event)]))
        caption = pictures.caption(k).at(MARGIN, pictures.below)
        around.append((start, stop, [("program", pictures.program(view)), ("caption", caption)]))
    graph = "".join(shot.markup(stage, alone=len(shots) == 1) for shot in shots)
    over = stage.in_frame(view._replace(overview=None), _merge(events))
    inner = pictures.around(graph + over) + _merge(around)
    style = pictures.style + resolve_styles("motion.css")
    sentence = f"{pictures.data['summary']}. {pictures.sentence(chosen[-1])}"
    return document(pictures.width, pictures.height, style, inner, pictures.data["alt"], sentence)


Moment = tuple[float, float | None, list[tuple[str, str]]]
"""A time from which and until which parts of a picture look as they do; the last one has no end."""


class _Shot(NamedTuple):
    """Moments that the camera sees from one place."""

    view: View
    moments: list[Moment]

    def markup(self, stage: Stage, alone: bool) -> str:
        inner = f'<g class="world" transform="{self.view.transform}">{_merge(self.moments)}</g>'
        framed = stage.in_frame(self.view, inner)
        return framed if alone else _during(framed, self.moments[0][0], self.moments[-1][1])


def _merge(moments: list[Moment]) -> str:
    """Return the parts of several moments, each drawn once for as long as it looks the same."""
    order: list[str] = []
    runs: dict[str, list[list[Any]]] = {}
    for begin, end, parts in moments:
        before = -1
        for key, markup in parts:
            if key not in runs:
                order.insert(before + 1, key)
                runs[key] = []
            before = order.index(key, before + 1) if key in order[before + 1 :] else order.index(key)
            if runs[key] and runs[key][-1][0] == markup and runs[key][-1][2] == begin:
                runs[key][-1][2] = end
            else:
                runs[key].append([markup, begin, end])
    whole = (moments[0][0], moments[-1][1])
    return "".join(
        markup if (begin, end) == whole else _during(markup, begin, end)
        for key in order for markup, begin, end in runs[key] if markup
    )  # fmt: skip


def _during(markup: str, start: float, stop: float | None) -> str:
    """Return markup that is visible in an interval, or from a time on; the latter also without motion."""
    if stop is None:
        return f'<g style="animation:from .01s {start:.2f}s both">{markup}</g>'
    timing = f"animation-duration:{stop - start:.2f}s;animation-delay:{start:.2f}s"
    return f'<g class="during" style="{timing}">{markup}</g>'


def without_ids(markup: str) -> str:
    """Return markup that a document may hold several times."""
    return re.sub(r' id="[^"]*"', "", markup)


# Frames -------------------


def png(svg: str, zoom: float = 2.0, ground: str = "#ffffff") -> bytes:
    """Return an SVG as a PNG, set in the fonts of this package.

    System fonts supply only missing letters. Raises ModuleNotFoundError if the rasterizer is missing.
    """
    check_packages(".png")
    import resvg_py

    fonts = {"font_files": [*FONTS, SIGNS, MONO], "font_family": "Arimo", "sans_serif_family": "Arimo"}
    own = letters.has_glyphs(svg)
    set_in_ours = svg.replace(FONT, "Arimo").replace(MONO_FONT, "DejaVu Sans Mono")
    return bytes(resvg_py.svg_to_bytes(
        svg_string=set_in_ours, dpi=96, zoom=zoom, background=ground, skip_system_fonts=own, **fonts))  # fmt: skip


def sharpness(width: float, height: float) -> float:
    """Return image pixels for each pixel: two, or fewer if the image would take too long."""
    return min(2.0, math.sqrt(MOST_DOTS / (width * height)))


def frames(
    trace: Trace, kind: str, *, width: int | None = None, steps: Iterable[int] | None = None, pace: float = SECONDS,
    dark: bool = False, loop: bool = False, motion: bool = False,
) -> bytes:  # fmt: skip
    """Return the walk as a GIF, WEBP or MP4.

    There is a frame for each of `steps` (by default the start and all steps), each for `pace` seconds, `width` pixels
    wide. It plays once, or repeats with `loop`. With `motion`, further frames show the rule of each step at work.
    Raises ValueError for more than 150 steps or an unknown step, ModuleNotFoundError if the film extra or, for MP4, an
    encoder is missing.
    """
    check_packages(f".{kind.lower()}")
    from PIL import Image

    chosen = choose_steps(trace, steps)
    pictures = StepPictures(trace, chosen, width, dark)
    zoom = 1.0 if width is None else width / pictures.width
    shots = [shot for k in chosen for shot in _moments_of(pictures, k, pace, motion)]
    shots[-1] = (*shots[-1][:2], 2 * pace + shots[-1][2])
    ground = palette(dark)["ground"]
    report = _progress_reporter(len(shots))
    images = []
    for done, (k, t, _) in enumerate(shots, start=1):
        images.append(Image.open(io.BytesIO(png(pictures.render(k, t), zoom, ground))).convert("RGB"))
        report(done)
    seconds = [seconds for _, _, seconds in shots]
    if kind == "MP4":
        return _encode_mp4(_find_encoder(), images, seconds)
    images = _one_palette(images, dark)
    options: dict[str, Any] = {"loop": 0} if loop else {"loop": 1} if kind == "WEBP" else {}
    if kind == "WEBP":
        images = [image.convert("RGB") for image in images]
        options |= {"lossless": True, "method": 4}
    film = io.BytesIO()
    durations = [round(1000 * each) for each in seconds]
    images[0].save(film, kind, save_all=True, append_images=images[1:], duration=durations, **options)
    return film.getvalue()


def _moments_of(pictures: StepPictures, k: int, pace: float, motion: bool) -> list[tuple[int, float, float]]:
    """Return the frames of a step: the moment of its event that each shows, and for how many seconds."""
    if not motion or not 0 < k <= len(pictures.data["steps"]):
        return [(k, 1.0, pace)]
    starts = [0.0, *(moment * EVENT_PART * pace for moment in MOMENTS[1:]), ARRIVAL * EVENT_PART * pace]
    shown = [*MOMENTS, 1.0]
    stops = [*starts[1:], pace]
    return [(k, t, stop - start) for t, start, stop in zip(shown, starts, stops, strict=True)]


def _find_encoder() -> str:
    """Return the path of ffmpeg. Raises ModuleNotFoundError without it."""
    if importlib.util.find_spec("imageio_ffmpeg"):
        import imageio_ffmpeg  # pyright: ignore[reportMissingImports] - films as MP4

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    if found := shutil.which("ffmpeg"):
        return found
    raise ModuleNotFoundError(NO_ENCODER)


def _encode_mp4(encoder: str, images: Sequence[Any], seconds: list[float]) -> bytes:
    """Return frames as MP4 with H.264, which every browser and slide program plays.

    Raises RuntimeError, with ffmpeg's own message, if it stops early: some systems have it without H.264.
    """
    width, height = (side - side % 2 for side in images[0].size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        command = [
            encoder, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
            "-r", str(MP4_RATE), "-i", "-", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
            str(path),
        ]  # fmt: skip
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) as running,  # noqa: S603 - our own command
        ):
            assert running.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # then it has ended, and the exit code says so
                for image, each in zip(images, seconds, strict=True):
                    raw = image.crop((0, 0, width, height)).tobytes()
                    for _ in range(max(1, round(each * MP4_RATE))):
                        running.stdin.write(raw)
                running.stdin.close()
            if running.wait():
                errors.seek(0)
                reason = errors.read().decode(errors="replace").strip() or f"exit code {running.returncode}"
                raise RuntimeError(f"ffmpeg could not write the film: {reason}; .webp and .gif do not need ffmpeg")
        return path.read_bytes()


def _one_palette(images: Sequence[Any], dark: bool) -> list[Any]:
    """Return the frames in the player's colours and the most common others, so that each frame stores only changes."""
    from PIL import Image, ImageColor

    some = images[:: max(1, len(images) // 8)]
    width, height = some[0].size
    beside = Image.new("RGB", (width, height * len(some)))
    for k, image in enumerate(some):
        beside.paste(image, (0, k * height))
    named = {**palette(dark), **levels(dark)}.values()
    colours: list[Any] = list(dict.fromkeys(ImageColor.getrgb(colour) for colour in named))
    counted: list[Any] = beside.getcolors(width * height * len(some)) or []
    for _, colour in sorted(counted, reverse=True)[:4000]:
        if len(colours) < 256 and all(max(map(_colour_distance, colour, other)) >= 12 for other in colours):
            colours.append(colour)
    sheet = Image.new("P", (1, 1))
    sheet.putpalette([part for colour in colours for part in colour])
    return [image.quantize(palette=sheet, dither=Image.Dither.NONE) for image in images]


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
