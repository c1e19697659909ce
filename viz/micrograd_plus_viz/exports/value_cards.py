"""SVG cards with the numbers of a step, by the rules of `static/show.js`.

Up to twelve numbers are printed; larger values are drawn as cells.
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
from ..digits import MINUS, has_all_digits, number
from ..graph_picture import coord
from ..trace_input import Trace
from ..words import join_words, shape

BIG, PLAIN, SMALL = 16.0, 12.5, 12.0
LEVELS = (0.1, 0.35, 0.7)
LINE, PAD, GAP = 17.0, 8.0, 8.0
SLICE_LABEL = 14.0
OUT_OF_RANGE = "odd"
BOLD = {"title", "word", "sentence"}
"""Text classes that `film.css` makes bold."""


@dataclass(frozen=True)
class Block:
    """SVG markup with its size, its upper left corner at the origin."""

    width: float
    height: float
    markup: str

    def at(self, x: float, y: float) -> str:
        """Return the markup with its corner at a position."""
        return f'<g transform="translate({coord(x)} {coord(y)})">{self.markup}</g>'


def text(content: str, x: float, y: float, name: str = "", size: float = PLAIN) -> str:
    """Return a line of text; `name` is its class."""
    kind = f' class="{name}"' if name else ""
    long = letters.fixed_width(content, size, bold=bool(BOLD & set(name.split())))
    return f'<text{kind} x="{coord(x)}" y="{coord(y)}" font-size="{size:g}"{long}>{escape(content)}</text>'


def stack(blocks: Iterable[Block], gap: float = 0.0) -> Block:
    """Return blocks below each other."""
    width = top = 0.0
    svg = []
    for block in blocks:
        svg.append(block.at(0, top))
        width, top = max(width, block.width), top + block.height + gap
    return Block(width, max(0.0, top - gap), "".join(svg))


def flow(blocks: Iterable[Block], room: float, gap: float = GAP) -> Block:
    """Return blocks beside each other, vertically centred, in as many lines as needed."""
    lines: list[list[Block]] = [[]]
    width = 0.0
    for block in blocks:
        if lines[-1] and width + block.width > room:
            lines.append([])
            width = 0.0
        lines[-1].append(block)
        width += block.width + gap
    rows = []
    for line in lines:
        high, left, svg = max((block.height for block in line), default=0.0), 0.0, []
        for block in line:
            svg.append(block.at(left, (high - block.height) / 2))
            left += block.width + gap
        rows.append(Block(left - gap, high, "".join(svg)))
    return stack(rows, gap=5.0)


def with_sign(content: str, block: Block) -> Block:
    """Return a block that always follows its sign on the same line."""
    width = letters.width(content, BIG) + 6
    svg = text(content, 0, block.height / 2 + 5, "soft", BIG) + block.at(width, 0)
    return Block(width + block.width, block.height, svg)


def card(word: str, value: Trace | None, largest: float, room: tuple[float, float] = (176.0, 96.0)) -> Block:
    """Return a value in a frame, below its name and shape."""
    inside = _brief(value, largest, room)
    about = shape(value) if value and not is_scalar(value) else ""
    title = letters.clip_to_width(word, SMALL, 210, bold=True)
    wide = letters.width(title, SMALL, bold=True)
    head = wide + (8 + letters.width(about, SMALL) if about else 0)
    width, height = max(58.0, head + 2 * PAD, inside.width + 2 * PAD), inside.height + 27
    return Block(width, height, (
        f'<rect class="card" x=".5" y=".5" width="{coord(width - 1)}" height="{coord(height - 1)}" rx="7"/>'
        + text(title, PAD, 16, "word", SMALL) + (text(about, PAD + wide + 8, 16, "soft", SMALL) if about else "")
        + inside.at(PAD, 21)
    ))  # fmt: skip


def scale(largest: float) -> Block | None:
    """Return the legend of cell colours."""
    if not largest > 0:
        return None
    end = number(float(f"{largest:.4g}"))
    left = text(f"−{end}", 0, 11, "soft", 12)
    at = letters.width(f"−{end}", 12) + 6
    names = ("n4", "n3", "n2", "n1", "h0", "p1", "p2", "p3", "p4")
    strip = "".join(f'<path class="{name}" d="M{coord(at + 13 * k)},1h13v11h-13z"/>' for k, name in enumerate(names))
    after = f"{end}, blank is 0"
    start = at + 13 * len(names) + 6
    return Block(start + letters.width(after, 12), 14, left + strip + text(after, start, 11, "soft", 12))


def largest_of(values: Iterable[Trace | None]) -> float:
    """Return the largest finite absolute value in some arrays."""
    entries = [x for value in values if value and not is_scalar(value) for x in entries_of(value)]
    sizes = (abs(size_of(x)) for x in entries)
    return max((size for size in sizes if math.isfinite(size)), default=0.0)


def entries_of(value: Trace) -> list[Any]:
    """Return the entries of a value, or its cells."""
    return value["data"] or value.get("cells", {"data": []})["data"]


def is_scalar(value: Trace) -> bool:
    """Return whether a value is one number."""
    return value["data"] is not None and len(value["data"]) == 1


def is_written(value: Trace) -> bool:
    """Return whether all numbers of a value are printed."""
    data, long = value["data"], value["shape"]
    return data is not None and (len(data) <= 12 or (len(data) <= 16 and len(long) == 2 and long[1] <= 4))


def equality_sign(*values: Trace | None) -> str:
    """Return `=`, or `≈` if a printed number of some values is rounded."""
    written = [value for value in values if value and value["data"] is not None
               and (is_scalar(value) or is_written(value))]  # fmt: skip
    return "=" if all(has_all_digits(x) for value in written for x in value["data"]) else "≈"


def result_sign(does: Callable[[Fraction, Fraction], Fraction], *values: Trace | None) -> str:
    """Return the sign between a calculation and its result: `=` also if the rounded numbers are equal.

    `does` is the operation; the last of `values` is the result.
    """
    printed = [printed_number(value) for value in values if value is not None]
    numbers = [x for x in printed if x is not None]
    if len(numbers) == len(values) and reduce(does, numbers[:-1]) == numbers[-1]:
        return "="
    return equality_sign(*values)


def printed_number(value: Trace) -> Fraction | None:
    """Return the real number as printed, or None for anything else."""
    try:
        return Fraction(number(value["data"][0]).replace(MINUS, "-")) if is_scalar(value) else None
    except ValueError:
        return None


def is_complex(value: Trace | None) -> bool:
    """Return whether a value has complex numbers."""
    return bool(value) and value["dtype"].startswith("complex")


def heat(x: Any, largest: float) -> str:
    """Return the class of a cell: its sign, and its size relative to the largest."""
    size = -abs(x) if isinstance(x, (int, float)) and x < 0 else size_of(x)
    if not math.isfinite(size):
        return OUT_OF_RANGE
    if size == 0 or not largest > 0:
        return "h0"
    kind = "c" if isinstance(x, list) else "n" if size < 0 else "p"
    return f"{kind}{1 + sum(abs(size) / largest > level for level in LEVELS)}"


def text_lines(lines: Iterable[str], name: str = "soft", size: float = SMALL) -> Block:
    """Return lines of text as a block."""
    all_lines = list(lines)
    svg = "".join(text(line, 0, 13 + 16 * k, name, size) for k, line in enumerate(all_lines))
    return Block(max((letters.width(line, size) for line in all_lines), default=0.0), 16.0 * len(all_lines) + 2, svg)


def _brief(value: Trace | None, largest: float, room: tuple[float, float]) -> Block:
    """Return a value as small as is readable."""
    if value is None:
        return text_lines(["not recorded"])
    if is_scalar(value):
        digits = number(value["data"][0])
        return Block(letters.width(digits, BIG), 21, text(digits, 0, 15, "", BIG))
    if 0 in value["shape"]:
        return text_lines(["empty"])
    if is_written(value):
        return _number_table(value, largest)
    if not entries_of(value):
        statistics = value.get("statistics")
        return text_lines(
            [f"from {number(statistics['min'])} to {number(statistics['max'])}"]
            if statistics
            else ["no numbers recorded"]
        )
    below = [line for line in (_cell_line(value), _odd_line(value)) if line]
    return stack([_cells(value, largest, room), *([text_lines(below)] if below else [])], gap=2)


def _cell_line(value: Trace) -> str | None:
    """Return a note about the meaning of a cell if it is not one entry."""
    if value["data"] is not None or "cells" not in value:
        return None
    count, wide = math.prod(value["shape"]), value["shape"][-1] if value["shape"] else 1
    high_cells, wide_cells = value["cells"]["shape"]
    least = (count // wide // high_cells) * (wide // wide_cells)
    most = math.ceil(count / wide / high_cells) * math.ceil(wide / wide_cells)
    each = f"{least}" if least == most else f"{least} to {most}"
    if value["cells"].get("keeps") == "mean":
        return f"a cell: the mean of {each}"
    return f"a cell: the largest of {each}"


def _odd_line(value: Trace) -> str | None:
    parts = [f"{count} {word}" for word, count in (value.get("odd") or {}).items() if count]
    return join_words(parts) if parts else None


def _number_table(value: Trace, largest: float) -> Block:
    """Return a few numbers in rows and columns."""
    data = value["data"]
    columns = value["shape"][-1] if value["shape"] else 1
    texts = [number(x) for x in data]
    widths = [max(letters.width(each, PLAIN) for each in texts[c::columns]) + 10 for c in range(columns)]
    lefts = [sum(widths[:c]) + 2 * c for c in range(columns)]
    svg = []
    for k, (x, each) in enumerate(zip(data, texts, strict=True)):
        r, c = divmod(k, columns)
        y = r * (LINE + 2)
        right = lefts[c] + widths[c] - 5
        svg.append(
            f'<rect class="{heat(x, largest)}" x="{coord(lefts[c])}" y="{coord(y)}" width="{coord(widths[c])}" '
            f'height="{LINE:g}" rx="3"/>' + text(each, right, y + 13, "entry")
        )
    return Block(lefts[-1] + widths[-1], math.ceil(len(data) / columns) * (LINE + 2), "".join(svg))


def _cells(value: Trace, largest: float, room: tuple[float, float]) -> Block:
    """Return a heat map with one path for each colour; arrays with more than two axes appear as slices."""
    has_all = value["data"] is not None
    sizes = value["shape"] if has_all else value["cells"]["shape"]
    data = entries_of(value)
    is_line = len(sizes) < 2 or len(data) == sizes[-1]
    columns = min(len(data), 32) if is_line else sizes[-1]
    rows = math.ceil(len(data) / columns) if is_line else sizes[-2]
    leading = [size for size in sizes[:-2] if size != 1]
    slices = math.ceil(len(data) / (rows * columns))
    side, each, across, tall = _slice_layout(rows, columns, slices, room)
    label = SLICE_LABEL if slices > 1 else 0.0
    gap = 1.0 if side > 5 else 0.5
    paths: dict[str, list[str]] = {}
    minus, names = [], []
    for k, x in enumerate(data):
        part, within = divmod(k, rows * columns)
        r, c = divmod(within, columns)
        left, top = (part % across) * each + c * side, (part // across) * tall + label + r * side
        name = heat(x, largest)
        cell = f"M{coord(left)},{coord(top)}h{coord(side - gap)}v{coord(side - gap)}h{coord(gap - side)}z"
        paths.setdefault(name, []).append(cell)
        if name.startswith("n"):
            minus.append(f"M{coord(left + side * 0.25)},{coord(top + (side - gap) / 2)}h{coord(side * 0.42)}")
        if slices > 1 and within == 0:
            names.append(text(_slice_name(leading, part), left, top - 3, "soft", 11))
    svg = "".join(f'<path class="{name}" d="{"".join(each)}"/>' for name, each in paths.items())
    down = math.ceil(slices / across)
    return Block(each * min(across, slices), tall * down,
                 f'{svg}<path class="minus" d="{"".join(minus)}"/>{"".join(names)}')  # fmt: skip


def _slice_layout(rows: int, columns: int, slices: int, room: tuple[float, float]) -> tuple[float, float, int, float]:
    """Return the size of a cell, the width of a slice, the slices in a row, and the height of a slice."""
    label = SLICE_LABEL if slices > 1 else 0.0
    for side in (14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
        each = max(columns * side, 34 * (slices > 1)) + (8 if slices > 1 else 0)
        across = max(1, min(slices, int(room[0] / each)))
        tall = rows * side + label
        if each * across <= room[0] and tall * math.ceil(slices / across) <= room[1]:
            break
    return float(side), float(each), across, float(tall)


def _slice_name(leading: list[int], part: int) -> str:
    """Return the index of a slice along the axes before the last two."""
    places: list[str] = []
    for size in reversed(leading):
        part, k = divmod(part, size)
        places.insert(0, str(k))
    return f"[{', '.join(places)}, …]"
