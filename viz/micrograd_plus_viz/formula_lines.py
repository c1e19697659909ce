"""A formula in pieces between which a line may end.

Most browsers do not break lines inside `<math>` (Firefox does, behind operators; the style sheet forbids it). So a
formula becomes a paragraph of several `<math>` elements, which are broken like words: before an operator, at a space,
after a comma or an opening bracket, but never within a short group. What is built up (a fraction, a root, a list of
cases) is written in a line where there is no room for it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from copy import deepcopy
from html import escape

OPERATORS = set("=≈≠<>≤≥+−·×@/∧∨")
OPENING, SEPARATORS = set("([{"), set(",;")
SHORT = 18
"""A row of at most so many letters stays together."""
NARROW, BROAD = 32, 84
"""How many letters of something built up fit beside each other on a telephone, and on a page of 780 pixels."""
ROWS = {"mrow", "mtd"}
SCRIPTS = {"msup", "msub", "msubsup"}
SCRIPT_SIZE = 0.7


def lines(tree: ET.Element) -> str:
    """The paragraphs of a `<math>` element; where a narrow page needs others, both: the style sheet shows one."""
    if _width(tree) <= NARROW:
        return _paragraphs(tree, NARROW)
    narrow, broad = _paragraphs(deepcopy(tree), NARROW), _paragraphs(tree, BROAD)
    return broad if broad == narrow else f'<div class="broad">{broad}</div><div class="narrow">{narrow}</div>'


def _paragraphs(tree: ET.Element, room: int) -> str:
    """One paragraph, or one for each row of a table of class `formula`."""
    table = tree.find("mtable[@class='formula']")
    rows = [tree] if table is None else table.findall("mtr/mtd")
    return "".join(f"<p>{_broken(row, room)}</p>" for row in rows)


def _broken(row: ET.Element, room: int) -> str:
    """A row as `<math>` elements, each of which stays together, with a place between them where the line may end."""
    written: list[ET.Element | str] = [piece := _piece()]
    for part in _opened(row, room):
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


def _opened(row: Iterable[ET.Element], room: int) -> Iterator[ET.Element]:
    """What stands side by side in a row, what is too wide to stay together opened as well.

    An operator's place in its row says whether it stands between two sides; out of the row it has to say so itself.
    A script goes to what is last in its base, the closing bracket.
    """
    free = float(room)
    for i, part in enumerate(row):
        width = _width(part)
        is_wide = _is_wide(part, width, room, free)
        if is_wide and part.tag in SCRIPTS and _width(part[1]) <= SHORT:
            *base, part[0] = _opened([part[0]], room)
            yield from [*base, part]
        elif is_wide and (in_line := _in_line(part)):
            yield from _opened(in_line, room)
        else:
            if part.tag == "mo" and not part.get("form"):
                part.set("form", "infix" if i else "prefix")
            yield part
        ends = _breaks_before(part) or _opens(part) or part.text in SEPARATORS
        free = room if ends else free - (_width(part) if is_wide else width)


def _is_wide(part: ET.Element, width: float, room: int, free: float) -> bool:
    """Whether a part need not stay together: a row that is not short, and what is built up if there is no room; of the
    room so much is free behind what it cannot be parted from."""
    opened = part[0] if part.tag in SCRIPTS else part
    return width > min(free, SHORT if opened.tag in ROWS and not opened.get("class") else room)


def _in_line(part: ET.Element) -> list[ET.Element]:
    """The same side by side; nothing where that cannot be."""
    if part.get("class") == "overlined":
        return [_named("conj"), *_bracketed(part)]
    if part.tag in ROWS:
        return [each for child in part for each in (_cases(child) if child.get("class") == "cases" else [child])]
    if part.tag == "mfrac":
        return [*_grouped(part[0]), _sign("/", "infix"), *_grouped(part[1])]
    if part.tag == "msqrt":
        return [_sign("√", "prefix"), *_bracketed(part)]
    if part.tag == "msup":
        return [part[0], _sign("^", "infix"), *_bracketed(part[1:])]
    if part.tag == "msub" and not part.get("class"):
        return [part[0], *_bracketed(part[1:], "[]")]
    return []


def _cases(table: ET.Element) -> list[ET.Element]:
    """The rows of a list of cases one after another; the brace before them stands there already."""
    told: list[ET.Element] = []
    for row in table:
        for i, cell in enumerate(row):
            cell.tag = "mrow"
            told += [ET.Element("mspace"), cell] if i else [cell]
        told.append(_sign(";", "postfix"))
    return [*told[:-1], _sign("}", "postfix")]


def _grouped(half: ET.Element) -> list[ET.Element]:
    """Half of a fraction, in brackets where it would otherwise be taken apart."""
    apart = half.tag == "mfrac" or (half.tag == "mrow" and any(sign.text in OPERATORS for sign in half.findall("mo")))
    return _bracketed([half]) if apart else [half]


def _bracketed(parts: Iterable[ET.Element], brackets: str = "()") -> list[ET.Element]:
    return [_sign(brackets[0], "prefix"), *parts, _sign(brackets[1], "postfix")]


def _sign(text: str, form: str) -> ET.Element:
    sign = ET.Element("mo", {"form": form})
    sign.text = text
    return sign


def _named(text: str) -> ET.Element:
    name = ET.Element("mtext")
    name.text = text
    return name


def _width(part: ET.Element) -> float:
    """About how many letters wide a part is."""
    text = part.text or ""
    own = len(text) - text.count("\u2061") + (text in OPERATORS)
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
    """An element as text, as `ET.tostring` has it, in a fourth of its time: formulas have no namespaces."""
    attributes = "".join([f' {name}="{_escaped(value)}"' for name, value in tree.attrib.items()])
    inner = "".join([_text(child) for child in tree])
    return f"<{tree.tag}{attributes}>{_escaped(tree.text or '')}{inner}</{tree.tag}>"


def _escaped(text: str) -> str:
    return text if text.isalnum() else escape(text)
