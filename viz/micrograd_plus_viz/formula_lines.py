"""Line breaking for formulas.

Most browsers do not break lines inside `<math>` (Firefox does after operators, but the style sheet forbids it). A
formula is therefore a paragraph of several `<math>` elements that wrap like words: before an operator, at a space,
after a comma or opening bracket, but not within a short group. If there is too little room, fractions, roots and lists
of cases are written on one line.

Where a formula may break depends on how long its words and numbers are, not on their letters. So formulas of one form
share a layout, in which each fills in its own.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import lru_cache
from html import escape
from typing import Any

OPERATORS = set("=≈≠<>≤≥+−·×@/∧∨")
OPENING, SEPARATORS = set("([{"), set(",;")
SHORT = 18
"""A row with at most this many letters is never broken."""
NARROW, BROAD = 32, 84
"""Letters that fit side by side on a phone, and on a page 780 pixels wide."""
STRETCHED = {"(": "tall", "[": "tall square"}
"""Classes of the rows between brackets that are drawn as high as what they hold."""
HIGH = {"mfrac", "mtable"}
ROWS = {"mrow", "mtd"}
SCRIPTS = {"msup", "msub", "msubsup"}
SCRIPT_SIZE = 0.7
APPLIES = "\u2061"
"""The invisible sign between a function and its argument, which has no width."""
SIGNS = OPERATORS | OPENING | SEPARATORS
FIRST_SLOT, MOST_SLOTS = 0xD800, 0x800
"""Letters that stand for the words of a formula in its layout: surrogates, which no text of an XML document has."""

WHOLE = "whole"
"""The tag of a matrix in a layout: a word of a known width."""

Outline = tuple[str, Any, tuple[tuple[str, str], ...], tuple[Any, ...]]
"""The form of an element: its tag, its text or the length of a word, its attributes, and the forms of its children."""


def lines(tree: ET.Element) -> str:
    """Return the paragraphs of a `<math>` element.

    If narrow pages need other breaks, return both versions; the style sheet shows one.
    """
    words: list[str] = []
    layout = _layout(_outline(tree, words))
    return "".join([part if isinstance(part, str) else words[part] for part in layout])


def _outline(part: ET.Element, words: list[str]) -> Outline:
    """Return the form of an element, and add its words to a list, as they are written. A matrix is never broken, so it
    is one word."""
    text: str | int = part.text or ""
    if part.get("class") == "matrix" and len(words) < MOST_SLOTS:
        words.append(_text(part))
        return WHOLE, 1, (("width", str(_width(part))),), ()
    if text and text not in SIGNS and APPLIES not in text and len(words) < MOST_SLOTS:
        words.append(escape(text, quote=False))
        text = len(text)
    inner = tuple([_outline(child, words) for child in part]) if len(part) else ()
    return part.tag, text, tuple(part.attrib.items()), inner


@lru_cache(maxsize=2000)
def _layout(outline: Outline) -> tuple[str | int, ...]:
    """Return the paragraphs of formulas of one form in pieces, with the index of a word in the place of each."""
    tree = _element(outline, map(chr, range(FIRST_SLOT, FIRST_SLOT + MOST_SLOTS)))
    pieces = re.split(r"([\ud800-\udfff])\1*", _write_lines(tree))
    return tuple(ord(piece) - FIRST_SLOT if k % 2 else piece for k, piece in enumerate(pieces))


def _element(outline: Outline, slots: Iterator[str]) -> ET.Element:
    """Return an element of a form, with the next slot for each of its words."""
    tag, text, attributes, inner = outline
    element = ET.Element(tag, dict(attributes))
    element.text = next(slots) * text if isinstance(text, int) else text
    element.extend([_element(child, slots) for child in inner])
    return element


def _write_lines(tree: ET.Element) -> str:
    """Return the paragraphs of an element, which is taken apart."""
    _stretch_brackets(tree)
    if _width(tree) <= NARROW:
        return _paragraphs(tree, NARROW)
    narrow, broad = _paragraphs(deepcopy(tree), NARROW), _paragraphs(tree, BROAD)
    return broad if broad == narrow else f'<div class="broad">{broad}</div><div class="narrow">{narrow}</div>'


def _stretch_brackets(tree: ET.Element) -> None:
    """Mark the brackets around fractions and matrices, which the style sheet draws as high as these."""
    for row in tree.iter("mrow"):
        is_fence = len(row) > 2 and row[0].tag == row[-1].tag == "mo" and row[0].text in STRETCHED
        if is_fence and not row.get("class") and any(part.tag in HIGH for part in row.iter()):
            row.set("class", STRETCHED[row[0].text or ""])


def _paragraphs(tree: ET.Element, room: int) -> str:
    """Return one paragraph, or one for each row of a table with class `formula`."""
    table = tree.find("mtable[@class='formula']")
    rows = [tree] if table is None else table.findall("mtr/mtd")
    return "".join(f"<p>{_break_row(row, room)}</p>" for row in rows)


def _break_row(row: ET.Element, room: int) -> str:
    """Return a row as unbreakable `<math>` elements with possible line breaks between them."""
    written: list[ET.Element | str] = [piece := _piece()]
    for part in _flatten(row, room):
        if _breaks_before(part) and len(piece):
            part.set("lspace", "0")
            written += [" ", piece := _piece()]
        piece.append(part)
        if part.text in SEPARATORS:
            part.set("rspace", "0")
            written += [" ", piece := _piece()]
        elif _opens(part):
            written += ["<wbr>", piece := _piece()]
    return "".join(each if isinstance(each, str) else _text(each) for each in written)


def _piece() -> ET.Element:
    return ET.Element("math", {"displaystyle": "true"})


def _breaks_before(part: ET.Element) -> bool:
    return part.tag == "mspace" or (part.get("form") == "infix" and part.text in OPERATORS)


def _opens(part: ET.Element) -> bool:
    return part.get("form") == "prefix" and part.text in OPENING


def _flatten(row: Iterable[ET.Element], room: int) -> Iterator[ET.Element]:
    """Return the children of a row, with wide ones expanded.

    An operator's position decides whether it is infix; outside the row, it needs a `form` attribute. A script attaches
    to the last element of its base, the closing bracket.
    """
    free = float(room)
    for i, part in enumerate(row):
        width = _width(part)
        is_wide = _is_wide(part, width, room, free)
        if is_wide and part.tag in SCRIPTS and _width(part[1]) <= SHORT:
            *base, part[0] = _flatten([part[0]], room)
            yield from [*base, part]
        elif is_wide and (in_line := _in_line(part)):
            yield from _flatten(in_line, room)
        else:
            if part.tag == "mo" and not part.get("form"):
                part.set("form", "infix" if i else "prefix")
            yield part
        ends = _breaks_before(part) or _opens(part) or part.text in SEPARATORS
        free = room if ends else free - (_width(part) if is_wide else width)


def _is_wide(part: ET.Element, width: float, room: int, free: float) -> bool:
    """Return whether a part may be broken: a long row, or a built-up element that does not fit.

    `free` is the room that remains after the part that precedes it.
    """
    opened = part[0] if part.tag in SCRIPTS else part
    return width > min(free, SHORT if opened.tag in ROWS and not opened.get("class") else room)


def _in_line(part: ET.Element) -> list[ET.Element]:
    """Return a built-up element as a row, or an empty list if that is impossible."""
    if part.get("class") == "overlined":
        return [_identifier("conj"), *_bracket(part)]
    if part.tag in ROWS:
        return [each for child in part for each in (_cases(child) if child.get("class") == "cases" else [child])]
    if part.tag == "mfrac":
        return [*_parenthesize(part[0]), _sign("/", "infix"), *_parenthesize(part[1])]
    if part.tag == "msqrt":
        return [_sign("√", "prefix"), *_bracket(part)]
    if part.tag == "msup":
        return [part[0], _sign("^", "infix"), *_bracket(part[1:])]
    if part.tag == "msub" and not part.get("class"):
        return [part[0], *_bracket(part[1:], "[]")]
    return []


def _cases(table: ET.Element) -> list[ET.Element]:
    """Return the rows of a list of cases one after another, without the opening brace."""
    items: list[ET.Element] = []
    for row in table:
        for i, cell in enumerate(row):
            cell.tag = "mrow"
            items += [ET.Element("mspace"), cell] if i else [cell]
        items.append(_sign(";", "postfix"))
    return [*items[:-1], _sign("}", "postfix")]


def _parenthesize(half: ET.Element) -> list[ET.Element]:
    """Return half of a fraction, in parentheses if it needs them."""
    apart = half.tag == "mfrac" or (half.tag == "mrow" and any(sign.text in OPERATORS for sign in half.findall("mo")))
    return _bracket([half]) if apart else [half]


def _bracket(parts: Iterable[ET.Element], brackets: str = "()") -> list[ET.Element]:
    return [_sign(brackets[0], "prefix"), *parts, _sign(brackets[1], "postfix")]


def _sign(text: str, form: str) -> ET.Element:
    sign = ET.Element("mo", {"form": form})
    sign.text = text
    return sign


def _identifier(text: str) -> ET.Element:
    name = ET.Element("mtext")
    name.text = text
    return name


def _width(part: ET.Element) -> float:
    """Return the approximate width of a part in letters."""
    if part.tag == WHOLE:
        return float(part.get("width", 0))
    text = part.text or ""
    own = len(text) - text.count(APPLIES) + (text in OPERATORS)
    if not len(part):
        return own
    widths = [_width(child) for child in part]
    if part.tag == "mtable":
        return sum(2 + max(map(_width, column)) for column in zip(*part, strict=False))
    if part.tag in SCRIPTS:
        return widths[0] + SCRIPT_SIZE * sum(widths[1:])
    if part.tag in ("mfrac", "mover", "munder", "munderover"):
        return max(widths)
    return sum(widths) + own


def _text(tree: ET.Element) -> str:
    """Return an element as text, like `ET.tostring` but four times as fast, without namespaces."""
    if tree.tag == WHOLE:
        return tree.text or ""
    attributes = "".join([f' {name}="{escape(value)}"' for name, value in tree.attrib.items()])
    inner = "".join([_text(child) for child in tree])
    return f"<{tree.tag}{attributes}>{escape(tree.text or '', quote=False)}{inner}</{tree.tag}>"
