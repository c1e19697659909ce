"""Picture of the program beside the stage: its lines, the current one lit, and the values of its names."""

from __future__ import annotations

from typing import Any

from .. import letters, words
from ..svg import Block, coord, text

SIZE, SMALL, LINE = 12.0, 11.0, 18.0
NUMBER, HANGING, PAD = 30.0, 4, 6.0
INDENT = letters.width(" ", SIZE, mono=True)
TITLE, GAP, NAME = "title", "program-gap", 15.0
Piece = tuple[str, bool]
"""A piece of a line, and whether it is the expression of the step."""


def draw_program(program: dict[str, Any], width: float, height: float) -> Block:
    """Return the program in a frame of this size; the current line is in view."""
    names = _names(program["names"], width - 2 * PAD)
    room = height - names.height - (8 if names.height else 0)
    rows = [row for line in program["lines"] for row in _rows(line, width)]
    marked = [k for k, (kind, _) in enumerate(rows) if kind == "current"]
    fits = max(1, int((room - 12) / LINE))
    first = max(0, min(len(rows) - fits, marked[0] - fits // 2)) if marked and len(rows) > fits else 0
    inner = "".join(
        f'<g transform="translate(0 {coord(8 + LINE * k)})">{markup}</g>'
        for k, (_, markup) in enumerate(rows[first : first + fits])
    )
    frame = f'<rect class="program" x=".5" y=".5" width="{coord(width - 1)}" height="{coord(height - 1)}" rx="10"/>'
    below = ""
    if names.height:
        rule = f'<path class="program-rule" d="M1,{coord(height - names.height - 8)}h{coord(width - 2)}"/>'
        below = rule + names.at(PAD, height - names.height - 4)
    return Block(width, height, f"{frame}{inner}{below}")


def _rows(line: dict[str, Any], width: float) -> list[tuple[str, str]]:
    """Return the rows of one line of the program, each with its kind and its markup."""
    kind = line["kind"]
    if "parts" not in line:
        size, left = (SIZE, 10.0) if kind == TITLE else (SMALL, NUMBER + 2)
        shown = letters.clip_to_width(words.single_line(line["text"]), size, width - left - PAD)
        return [(kind, text(shown, left, 12, size, "soft"))]
    pieces, indent = _without_indent(line["parts"])
    left, rows = NUMBER + 8 + INDENT * indent, []
    for k, row in enumerate(_wrap(pieces, width - left - PAD - INDENT * HANGING)):
        at = NUMBER - letters.width(line["number"], SMALL, mono=True)
        number = text(line["number"], at, 12, SMALL, "soft", mono=True) if not k else ""
        markup = _background(kind, width) + number
        at = left + (INDENT * HANGING if k else 0)
        for content, is_marked in row:
            wide = letters.width(content, SIZE, mono=True)
            if is_marked and content.strip():
                markup += f'<rect class="mark" x="{coord(at - 1)}" y="-1" width="{coord(wide + 2)}" height="17"/>'
            markup += text(content, at, 12, SIZE, "code", mono=True)
            at += wide
        rows.append((kind, markup))
    return rows


def _background(kind: str, width: float) -> str:
    if not kind:
        return ""
    return (
        f'<rect class="line {kind}" x="1" y="-3" width="{coord(width - 2)}" height="{LINE:g}"/>'
        f'<rect class="edge-of-line {kind}" x="1" y="-3" width="4" height="{LINE:g}"/>'
    )


def _without_indent(parts: list[Piece]) -> tuple[list[Piece], int]:
    """Return the pieces of a line without the spaces before them, and the number of those spaces."""
    pieces = [("".join(c if c.isprintable() else " " for c in part), marked) for part, marked in parts]
    whole = "".join(part for part, _ in pieces)
    indent = left = len(whole) - len(whole.lstrip())
    kept = []
    for part, marked in pieces:
        cut = min(left, len(part))
        left -= cut
        if part[cut:]:
            kept.append((part[cut:], marked))
    return kept, indent


def _wrap(pieces: list[Piece], room: float) -> list[list[Piece]]:
    """Break the pieces of a line into rows between words; a word that is too long is split."""
    rows: list[list[Piece]] = [[]]
    used = 0.0
    for part, marked in pieces:
        for k, word in enumerate(part.split(" ")):
            for piece in letters.split_word(" " * bool(k) + word, SIZE, room, mono=True):
                wide = letters.width(piece, SIZE, mono=True)
                if used and used + wide > room:
                    rows.append([])
                    used, piece = 0.0, piece.lstrip()
                    wide = letters.width(piece, SIZE, mono=True)
                if rows[-1] and rows[-1][-1][1] == marked:
                    rows[-1][-1] = (rows[-1][-1][0] + piece, marked)
                else:
                    rows[-1].append((piece, marked))
                used += wide
    return rows


def _names(names: list[tuple[str, str]], room: float) -> Block:
    """Return the values of the program's names at the moment, one in each line."""

    def column(content: str, x: float, k: int, kind: str) -> str:
        shown = letters.clip_to_width(content, SIZE, room / 2, mono=True)
        return text(shown, x, NAME * k + 12, SIZE, kind, mono=True)

    rows = [column(name, 0, k, "given") + column(value, room / 2, k, "code") for k, (name, value) in enumerate(names)]
    return Block(room, NAME * len(rows), "".join(rows))
