"""The numbers of a step as SVG, for pictures: each value under its word, by the rules of `static/show.js`.

Up to twelve numbers are written; of more each is a cell. Every gradient of a step has one scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from html import escape
from typing import Any

from .. import letters
from ..cells import size as size_of
from ..digits import MINUS, is_whole, number
from ..picture import near
from ..source import Trace
from ..words import listed, shape

BIG, PLAIN, SMALL = 16.0, 12.5, 12.0
LEVELS = (0.1, 0.35, 0.7)
LINE, PAD, GAP = 17.0, 8.0, 8.0
SLICE_LABEL = 14.0
OUT_OF_RANGE = "odd"
BOLD = {"title", "word", "said"}
"""The classes of text that `film.css` makes bold."""


@dataclass(frozen=True)
class Block:
    """Something drawn, its upper left corner at the origin."""

    width: float
    height: float
    markup: str

    def at(self, x: float, y: float) -> str:
        """The markup with that corner somewhere else."""
        return f'<g transform="translate({near(x)} {near(y)})">{self.markup}</g>'


def text(said: str, x: float, y: float, name: str = "", size: float = PLAIN) -> str:
    """A line of text; `name` is its class."""
    kind = f' class="{name}"' if name else ""
    long = letters.held(said, size, bold=bool(BOLD & set(name.split())))
    return f'<text{kind} x="{near(x)}" y="{near(y)}" font-size="{size:g}"{long}>{escape(said)}</text>'


def stacked(blocks: Iterable[Block], gap: float = 0.0) -> Block:
    """Blocks below each other."""
    width = top = 0.0
    drawn = []
    for block in blocks:
        drawn.append(block.at(0, top))
        width, top = max(width, block.width), top + block.height + gap
    return Block(width, max(0.0, top - gap), "".join(drawn))


def flowing(blocks: Iterable[Block], room: float, gap: float = GAP) -> Block:
    """Blocks beside each other, their middles level, in as many lines as they need."""
    lines: list[list[Block]] = [[]]
    width = 0.0
    for block in blocks:
        if lines[-1] and width + block.width > room:
            lines.append([])
            width = 0.0
        lines[-1].append(block)
        width += block.width + gap
    made = []
    for line in lines:
        high, left, drawn = max((block.height for block in line), default=0.0), 0.0, []
        for block in line:
            drawn.append(block.at(left, (high - block.height) / 2))
            left += block.width + gap
        made.append(Block(left - gap, high, "".join(drawn)))
    return stacked(made, gap=5.0)


def sign(said: str, block: Block) -> Block:
    """A block with a sign before it, from which it is never parted."""
    width = letters.width(said, BIG) + 6
    drawn = text(said, 0, block.height / 2 + 5, "soft", BIG) + block.at(width, 0)
    return Block(width + block.width, block.height, drawn)


def card(word: str, value: Trace | None, largest: float, room: tuple[float, float] = (176.0, 96.0)) -> Block:
    """A value under its word, with its shape, in a frame."""
    inside = _brief(value, largest, room)
    about = shape(value) if value and not is_scalar(value) else ""
    said = letters.clipped(word, SMALL, 210, bold=True)
    wide = letters.width(said, SMALL, bold=True)
    head = wide + (8 + letters.width(about, SMALL) if about else 0)
    width, height = max(58.0, head + 2 * PAD, inside.width + 2 * PAD), inside.height + 27
    return Block(width, height, (
        f'<rect class="card" x=".5" y=".5" width="{near(width - 1)}" height="{near(height - 1)}" rx="7"/>'
        + text(said, PAD, 16, "word", SMALL) + (text(about, PAD + wide + 8, 16, "soft", SMALL) if about else "")
        + inside.at(PAD, 21)
    ))  # fmt: skip


def scale(largest: float) -> Block | None:
    """What the colours of the cells stand for."""
    if not largest > 0:
        return None
    end = number(float(f"{largest:.4g}"))
    left = text(f"−{end}", 0, 11, "soft", 12)
    at = letters.width(f"−{end}", 12) + 6
    names = ("n4", "n3", "n2", "n1", "h0", "p1", "p2", "p3", "p4")
    strip = "".join(f'<path class="{name}" d="M{near(at + 13 * k)},1h13v11h-13z"/>' for k, name in enumerate(names))
    after = f"{end}, blank is 0"
    start = at + 13 * len(names) + 6
    return Block(start + letters.width(after, 12), 14, left + strip + text(after, start, 11, "soft", 12))


def largest_of(values: Iterable[Trace | None]) -> float:
    """The largest finite size of an entry, of arrays alone."""
    kept = [x for value in values if value and not is_scalar(value) for x in kept_of(value)]
    sizes = (abs(size_of(x)) for x in kept)
    return max((size for size in sizes if math.isfinite(size)), default=0.0)


def kept_of(value: Trace) -> list[Any]:
    """The entries that a page has of a value, or its cells."""
    return value["data"] or value.get("cells", {"data": []})["data"]


def is_scalar(value: Trace) -> bool:
    """Whether a value is one number."""
    return value["data"] is not None and len(value["data"]) == 1


def is_written(value: Trace) -> bool:
    """Whether all numbers of a value are written out."""
    data, long = value["data"], value["shape"]
    return data is not None and (len(data) <= 12 or (len(data) <= 16 and len(long) == 2 and long[1] <= 4))


def equals(*values: Trace | None) -> str:
    """The sign of equality between values: `≈` where a number among them is not written to its last digit."""
    written = [value for value in values if value and value["data"] is not None
               and (is_scalar(value) or is_written(value))]  # fmt: skip
    return "=" if all(is_whole(x) for value in written for x in value["data"]) else "≈"


def makes(does: Callable[[Fraction, Fraction], Fraction], *values: Trace | None) -> str:
    """The same between what two or more values make and the last one: `=` also where it holds for the numbers as they
    are written."""
    printed = [as_printed(value) for value in values if value is not None]
    known = [x for x in printed if x is not None]
    if len(known) == len(values) and reduce(does, known[:-1]) == known[-1]:
        return "="
    return equals(*values)


def as_printed(value: Trace) -> Fraction | None:
    """The real number that a reader has before him; None where that is something else."""
    try:
        return Fraction(number(value["data"][0]).replace(MINUS, "-")) if is_scalar(value) else None
    except ValueError:
        return None


def is_complex(value: Trace | None) -> bool:
    """Whether a value has complex numbers."""
    return bool(value) and value["dtype"].startswith("complex")


def heat(x: Any, largest: float) -> str:
    """The class of a cell: its sign, and how large it is beside the largest."""
    size = -abs(x) if isinstance(x, (int, float)) and x < 0 else size_of(x)
    if not math.isfinite(size):
        return OUT_OF_RANGE
    if size == 0 or not largest > 0:
        return "h0"
    return f"{'n' if size < 0 else 'p'}{1 + sum(abs(size) / largest > level for level in LEVELS)}"


def said(lines: Iterable[str], name: str = "soft", size: float = SMALL) -> Block:
    """Lines of text."""
    kept = list(lines)
    drawn = "".join(text(line, 0, 13 + 16 * k, name, size) for k, line in enumerate(kept))
    return Block(max((letters.width(line, size) for line in kept), default=0.0), 16.0 * len(kept) + 2, drawn)


def _brief(value: Trace | None, largest: float, room: tuple[float, float]) -> Block:
    """A value as small as it can be read."""
    if value is None:
        return said(["not recorded"])
    if is_scalar(value):
        shown = number(value["data"][0])
        return Block(letters.width(shown, BIG), 21, text(shown, 0, 15, "", BIG))
    if 0 in value["shape"]:
        return said(["empty"])
    if is_written(value):
        return _written(value, largest)
    if not kept_of(value):
        told = value.get("statistics")
        return said([f"from {number(told['min'])} to {number(told['max'])}"] if told else ["no numbers kept"])
    below = [line for line in (_cell_line(value), _odd_line(value)) if line]
    return stacked([_cells(value, largest, room), *([said(below)] if below else [])], gap=2)


def _cell_line(value: Trace) -> str | None:
    """What a cell stands for where it is not one entry."""
    if value["data"] is not None or "cells" not in value:
        return None
    each = round(math.prod(value["shape"]) / len(value["cells"]["data"]))
    if value["cells"].get("keeps") == "mean":
        return f"a cell: the mean of {each}"
    return f"a cell: the largest of {each}"


def _odd_line(value: Trace) -> str | None:
    told = [f"{count} {word}" for word, count in (value.get("odd") or {}).items() if count]
    return listed(told) if told else None


def _written(value: Trace, largest: float) -> Block:
    """Few numbers, in rows and columns."""
    data = value["data"]
    long = [size for size in value["shape"] if size != 1]
    columns = value["shape"][-1] if len(long) > 1 else min(len(data), 4)
    shown = [number(x) for x in data]
    widths = [max(letters.width(each, PLAIN) for each in shown[c::columns]) + 10 for c in range(columns)]
    lefts = [sum(widths[:c]) + 2 * c for c in range(columns)]
    drawn = []
    for k, (x, each) in enumerate(zip(data, shown, strict=True)):
        r, c = divmod(k, columns)
        y = r * (LINE + 2)
        right = lefts[c] + widths[c] - 5
        drawn.append(
            f'<rect class="{heat(x, largest)}" x="{near(lefts[c])}" y="{near(y)}" width="{near(widths[c])}" '
            f'height="{LINE:g}" rx="3"/>' + text(each, right, y + 13, "entry")
        )
    return Block(lefts[-1] + widths[-1], math.ceil(len(data) / columns) * (LINE + 2), "".join(drawn))


def _cells(value: Trace, largest: float, room: tuple[float, float]) -> Block:
    """A picture: one path for all cells of a colour. Arrays of three and more axes stand in slices."""
    whole = value["data"] is not None
    sizes = value["shape"] if whole else value["cells"]["shape"]
    data = kept_of(value)
    long = [size for size in sizes if size != 1]
    columns = min(len(data), 32) if len(long) < 2 else long[-1]
    rows = math.ceil(len(data) / columns) if len(long) < 2 else long[-2]
    slices = math.ceil(len(data) / (rows * columns))
    side, each, across, tall = _placed(rows, columns, slices, room)
    label = SLICE_LABEL if slices > 1 else 0.0
    gap = 1.0 if side > 5 else 0.5
    paths: dict[str, list[str]] = {}
    minus, names = [], []
    for k, x in enumerate(data):
        part, within = divmod(k, rows * columns)
        r, c = divmod(within, columns)
        left, top = (part % across) * each + c * side, (part // across) * tall + label + r * side
        name = heat(x, largest)
        cell = f"M{near(left)},{near(top)}h{near(side - gap)}v{near(side - gap)}h{near(gap - side)}z"
        paths.setdefault(name, []).append(cell)
        if name.startswith("n"):
            minus.append(f"M{near(left + side * 0.25)},{near(top + (side - gap) / 2)}h{near(side * 0.42)}")
        if slices > 1 and within == 0:
            names.append(text(_slice_name(long[:-2], part), left, top - 3, "soft", 11))
    drawn = "".join(f'<path class="{name}" d="{"".join(each)}"/>' for name, each in paths.items())
    down = math.ceil(slices / across)
    return Block(each * min(across, slices), tall * down,
                 f'{drawn}<path class="minus" d="{"".join(minus)}"/>{"".join(names)}')  # fmt: skip


def _placed(rows: int, columns: int, slices: int, room: tuple[float, float]) -> tuple[float, float, int, float]:
    """How large a cell is, how wide a slice, how many slices stand side by side, and how high one is."""
    label = SLICE_LABEL if slices > 1 else 0.0
    for side in (14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
        each = max(columns * side, 34 * (slices > 1)) + (8 if slices > 1 else 0)
        across = max(1, min(slices, int(room[0] / each)))
        tall = rows * side + label
        if each * across <= room[0] and tall * math.ceil(slices / across) <= room[1]:
            break
    return float(side), float(each), across, float(tall)


def _slice_name(leading: list[int], part: int) -> str:
    """The place of a slice along the axes before the last two."""
    places: list[str] = []
    for size in reversed(leading):
        part, k = divmod(part, size)
        places.insert(0, str(k))
    return f"[{', '.join(places)}, …]"
