"""A formula in pieces between which a line may end.

Browsers do not break lines inside `<math>`. So a formula becomes a paragraph of several `<math>` elements, which
are broken like words: before an operator and after a comma, but never within a short group.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

OPERATORS = set("=≠<>≤≥+−·×@/∧∨")
SHORT = 24
"""A group of at most so many characters stays together."""


def lines(tree: ET.Element) -> str:
    """The paragraphs of a `<math>` element: one, or one for each row of a table of class `formula`."""
    table = tree.find("mtable[@class='formula']")
    rows = [tree] if table is None else table.findall("mtr")
    return "".join(f"<p>{' '.join(map(_text, _pieces(row)))}</p>" for row in rows)


def _pieces(row: ET.Element) -> list[ET.Element]:
    """One `<math>` for each piece that stays together."""
    pieces = [_piece()]
    for part in _opened(row):
        if part.get("form") == "infix" and part.text in OPERATORS and len(pieces[-1]):
            part.set("lspace", "0")
            pieces.append(_piece())
        pieces[-1].append(part)
        if part.text == ",":
            part.set("rspace", "0")
            pieces.append(_piece())
    return pieces


def _piece() -> ET.Element:
    return ET.Element("math", {"displaystyle": "true"})


def _opened(row: ET.Element) -> Iterator[ET.Element]:
    """What stands side by side in a row, the rows within it that are too long to stay together opened as well.

    An operator's place in its row says whether it stands between two sides; out of the row it has to say so itself.
    An exponent goes to what is last in its base, the closing bracket.
    """
    for i, part in enumerate(row):
        if _is_long(part):
            yield from _opened(part)
        elif part.tag == "msup" and _is_long(part[0]):
            *base, part[0] = _opened(part[0])
            yield from [*base, part]
        else:
            if part.tag == "mo" and not part.get("form"):
                part.set("form", "infix" if i else "prefix")
            yield part


def _is_long(part: ET.Element) -> bool:
    """Whether a part is a row that need not stay together."""
    return part.tag in ("mrow", "mtd") and not part.get("class") and len("".join(part.itertext())) > SHORT


def _text(tree: ET.Element) -> str:
    return ET.tostring(tree, encoding="unicode", short_empty_elements=False)
