"""SVG for formulas: the MathML of `formula.py`, laid out with the bundled fonts.

SVG viewers other than browsers do not draw MathML. Formulas come as paragraphs of pieces (`formula_lines.py`), and
lines break between pieces as on a page.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape

from .. import letters
from ..words import written_symbol

Mark = tuple[float, float, Callable[[float, float], str]]
SCRIPT, FRACTION = 0.72, 0.86
AXIS = 0.3
"""Height of the axis of fractions and brackets above the baseline, relative to the font size."""
INDENT = 1.4
NO_ROOM_BEFORE = {",", ";", ")", "]", "}", "⁡"}


@dataclass
class Box:
    """Layout box: its width, its extent above and below the baseline, and its marks."""

    width: float
    up: float
    down: float
    marks: list[Mark] = field(default_factory=list)

    def put(self, other: Box, x: float, y: float = 0.0) -> None:
        """Place another box in this one, which grows to hold it."""
        self.marks += [(x + dx, y + dy, draw) for dx, dy, draw in other.marks]
        self.width = max(self.width, x + other.width)
        self.up, self.down = max(self.up, other.up - y), max(self.down, other.down + y)

    def to_svg(self, x: float, y: float) -> str:
        """Return the marks as SVG, with the left end of the baseline at a position."""
        return "".join(draw(x + dx, y + dy) for dx, dy, draw in self.marks)


def paragraphs(formula: str, size: float, room: float, names: Mapping[str, str]) -> Box:
    """Return the paragraphs of a formula below each other, wrapped to `room` if possible.

    `names` maps the rule's symbols to the program's names.
    """
    tree = ET.fromstring(f"<div>{formula.replace('<wbr>', '<wbr/>')}</div>")  # noqa: S314 - written by formula.py
    if (narrow := tree.find("div[@class='narrow']")) is not None:
        tree = narrow
    box, top = Box(0, 0, 0), 0.0
    for paragraph in tree.iter("p"):
        lines = _lines(paragraph, size, room, names)
        for k, line in enumerate(lines):
            inset = INDENT * size if k or paragraph.get("class") == "result" else 0.0
            top += line.up
            box.put(line, inset, top)
            top += line.down + 0.3 * size
    return box


def _lines(paragraph: ET.Element, size: float, room: float, names: Mapping[str, str]) -> list[Box]:
    """Wrap the pieces of a paragraph into lines."""
    lines = [Box(0, 0.75 * size, 0.25 * size)]
    for piece in paragraph:
        if piece.tag != "math":
            continue
        box = _row(list(piece), size, names)
        inset = INDENT * size if len(lines) > 1 or paragraph.get("class") == "result" else 0.0
        if lines[-1].width and inset + lines[-1].width + box.width > room:
            lines.append(Box(0, 0.75 * size, 0.25 * size))
        lines[-1].put(box, lines[-1].width)
    return lines


def _set(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    """Lay out one element."""
    build = _BUILT.get(element.tag)
    if element.get("class") == "overlined":
        return _overline(element, size, names)
    if element.get("class", "").startswith("tall"):
        return _tall(element, size, names)
    return build(element, size, names) if build else _row(list(element), size, names)


def _token(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    text = (element.text or "").replace("⁡", "").replace("⊤", "T")  # few fonts have ⊤
    name = element.get("data-name")
    if name is not None:
        text = written_symbol(name, text, names)
    return _text(text, size, "given" if name is not None else "")


def _text(text: str, size: float, name: str = "") -> Box:
    kind = (f' class="{name}"' if name else "") + letters.fixed_width(text, size)

    def draw(x: float, y: float) -> str:
        return f'<text{kind} x="{x:.1f}" y="{y:.1f}" font-size="{size:.3g}">{escape(text)}</text>' if text else ""

    return Box(letters.width(text, size), 0.75 * size, 0.22 * size, [(0, 0, draw)])


def _row(parts: list[ET.Element], size: float, names: Mapping[str, str]) -> Box:
    row = Box(0, 0.75 * size, 0.22 * size)
    for part in parts:
        before, after = _room(part)
        row.put(_set(part, size, names), row.width + before * size)
        row.width += after * size
    return row


def _room(part: ET.Element) -> tuple[float, float]:
    """Return the space before and after an element in a row, relative to the font size."""
    text = part.text or ""
    if part.tag == "mspace":
        return 0.6, 0.0
    if part.tag != "mo" or part.get("form") == "prefix" or text in "([{⌊⌈⁡":
        return (0.1, 0.15) if part.tag == "mo" and text in "∑∏" else (0.0, 0.0)
    if text in NO_ROOM_BEFORE or part.get("form") == "postfix":
        return 0.0, (0.3 if text in ",;" else 0.0)
    if text in "…⋮⋱¯⊤|‖":
        return 0.0, 0.0
    return 0.26, 0.26


def _fraction(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    top, bottom = (_set(half, FRACTION * size, names) for half in element)
    width = max(top.width, bottom.width) + 0.3 * size
    box = Box(width, 0, 0)
    axis, gap = AXIS * size, 0.14 * size
    box.put(top, (width - top.width) / 2, -axis - gap - top.down)
    box.put(bottom, (width - bottom.width) / 2, -axis + gap + bottom.up)
    box.marks.append((0, -axis, lambda x, y: _line(f"M{x:.1f},{y:.1f}h{width:.1f}", size)))
    return box


def _root(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    degree = _set(element[1], 0.6 * size, names) if element.tag == "mroot" else None
    inside = _set(element[0], size, names) if degree else _row(list(element), size, names)
    left = max(0.0, degree.width - 0.25 * size) if degree else 0.0
    hook, up, down = 0.55 * size, inside.up + 0.12 * size, inside.down
    box = Box(left + hook + inside.width + 0.1 * size, up + 0.05 * size, down)
    box.put(inside, left + hook)
    if degree:
        box.put(degree, 0, -0.5 * size)
    path = f"l{hook * 0.25:.1f},{-0.15 * size:.1f}l{hook * 0.3:.1f},{0.5 * down + 0.3 * size:.1f}"
    rise = up + 0.5 * down + 0.15 * size - 0.25 * size

    def draw(x: float, y: float) -> str:
        return _line(f"M{x:.1f},{y:.1f}{path}l{hook * 0.4:.1f},{-rise:.1f}h{inside.width + 0.1 * size:.1f}", size)

    box.marks.append((left, 0.5 * down - 0.15 * size, draw))
    return box


def _scripts(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    """Lay out a base with its superscript and subscript."""
    base = _set(element[0], size, names)
    box = Box(0, 0, 0)
    box.put(base, 0)
    by_name = element.get("class") == "by-name"
    at = base.width + 0.04 * size
    scripts = {"msup": (None, element[1]), "msub": (element[1], None)}
    low, high = scripts.get(element.tag) or (element[1], element[2])
    if low is not None:
        box.put(_set(low, (0.62 if by_name else SCRIPT) * size, names), at, base.down - 0.02 * size)
    if high is not None:
        raised = _set(high, SCRIPT * size, names)
        box.put(raised, at, -max(0.36 * size, base.up - 0.36 * size))
    box.width += 0.04 * size
    return box


def _limits(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    """Lay out a sign with limits below and above it."""
    large = (element[0].text or "") in "∑∏"
    base = _set(element[0], (1.3 if large else 1.0) * size, names)
    lower = _set(element[1], SCRIPT * size, names) if element.tag != "mover" else None
    upper = _set(element[-1], SCRIPT * size, names) if element.tag != "munder" else None
    width = max(each.width for each in (base, lower, upper) if each)
    box = Box(width + 0.15 * size, 0, 0)
    box.put(base, (width - base.width) / 2)
    if lower:
        box.put(lower, (width - lower.width) / 2, base.down + lower.up)
    if upper:
        box.put(upper, (width - upper.width) / 2, -base.up - upper.down)
    return box


def _overline(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    inside = _row(list(element), size, names)
    box = Box(0, 0, 0)
    box.put(inside, 0)
    width, top = inside.width, -inside.up - 0.06 * size
    box.marks.append((0, top, lambda x, y: _line(f"M{x:.1f},{y:.1f}h{width:.1f}", size)))
    box.up += 0.14 * size
    return box


def _tall(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    """Lay out built-up content between brackets of the same height."""
    both = element.find("mtable[@class='cases']") is None
    inside = _row(list(element)[1 : -1 if both else None], size, names)
    return _between(inside, size, both, is_square="square" in element.get("class", ""))


def _between(inside: Box, size: float, both: bool = True, *, is_square: bool = False) -> Box:
    """Return a box between brackets of its height; a list of cases has only the left one."""
    edge, outside = 0.3 * size, 0.12 * size
    box = Box(0, 0, 0)
    box.put(inside, edge + outside)
    box.width += edge + outside if both else 0.0
    up, high, bend = inside.up + 0.05 * size, inside.up + inside.down + 0.1 * size, 0.22 * size
    left = f"q{-bend:.1f},0 {-bend:.1f},{bend:.1f}v{high - 2 * bend:.1f}q0,{bend:.1f} {bend:.1f},{bend:.1f}"
    right = f"q{bend:.1f},0 {bend:.1f},{bend:.1f}v{high - 2 * bend:.1f}q0,{bend:.1f} {-bend:.1f},{bend:.1f}"
    if is_square:
        left, right = (f"h{-side:.1f}v{high:.1f}h{side:.1f}" for side in (bend, -bend))
    box.marks.append((edge * 0.85 + outside, -up, lambda x, y: _line(f"M{x:.1f},{y:.1f}{left}", size)))
    if both:
        at = box.width - edge * 0.85 - outside
        box.marks.append((at, -up, lambda x, y: _line(f"M{x:.1f},{y:.1f}{right}", size)))
    return box


def _table(element: ET.Element, size: float, names: Mapping[str, str]) -> Box:
    """Lay out a table: entries of matrices are centred, cases and definitions are left-aligned."""
    matrix = element.get("class") == "matrix"
    rows = [[_row(list(cell), size, names) for cell in row] for row in element]
    widths = [max(box.width for box in column) for column in zip(*rows, strict=False)]
    gap, between = (0.55 * size, 0.16 * size) if matrix else (0.9 * size, 0.3 * size)
    high = sum(max(box.up for box in row) + max(box.down for box in row) for row in rows) + between * (len(rows) - 1)
    table, top = Box(0, 0, 0), -high / 2 - AXIS * size
    for row in rows:
        top += max(box.up for box in row)
        left = 0.0
        for box, wide in zip(row, widths, strict=False):
            table.put(box, left + (wide - box.width) / 2 if matrix else left, top)
            left += wide + gap
        table.width = max(table.width, left - gap)
        top += max(box.down for box in row) + between
    return _between(table, size) if matrix else table


def _line(path: str, size: float) -> str:
    return f'<path class="stroke" d="{path}" stroke-width="{0.075 * size:.2g}"/>'


_BUILT: dict[str, Callable[[ET.Element, float, Mapping[str, str]], Box]] = {
    "mi": _token, "mo": _token, "mn": _token, "mtext": _token, "mfrac": _fraction, "msqrt": _root, "mroot": _root,
    "msup": _scripts, "msub": _scripts, "msubsup": _scripts, "mover": _limits, "munder": _limits,
    "munderover": _limits, "mtable": _table,
}  # fmt: skip
