"""Pictures of steps: the stage, the program beside it, and below it the sentence and the formula.

They are what the player shows. All pictures of a walk have the same size, so that they can make a film.
"""

from __future__ import annotations

from functools import cached_property

from .. import letters, words
from ..colours import resolve_styles
from ..payload import payload
from ..stage import Stage, View
from ..svg import Block, coord, document, text
from ..trace_input import Trace
from . import formula_svg, program_picture

MARGIN, GAP = 12.0, 8.0
NARROWEST, USUAL, WIDEST = 420.0, 1280.0, 1280.0
BESIDE = 900.0
"""From this width, the program is beside the stage, otherwise below."""
SHARE_OF_PROGRAM, PROGRAM_BELOW = 0.175, 118.0
SENTENCE, SENTENCE_LINE, MOST_LINES = 15.0, 20.0, 6
USUAL_CAPTION = 60.0
FORMULA_SIZES, FORMULA_HEIGHT, SHARE_OF_FORMULA = (17.0, 14.5, 12.0), 56.0, 0.48


class StepPictures:
    """Pictures of the steps of a walk or of a part of it; step 0 is the start.

    All have the same size, with room for the sentences and formulas of `steps`.
    """

    def __init__(self, trace: Trace, steps: list[int], width: float | None = None, dark: bool = False) -> None:
        self.trace, self.dark, self.data = trace, dark, payload(trace)
        self.width = min(max(NARROWEST, width or USUAL), WIDEST)
        self._captions: dict[int, Block] = {}
        is_beside = self.width >= BESIDE
        high = round(self.width * (9 / 16 if is_beside else 0.72))
        room = self.width - 2 * MARGIN
        caption = max(USUAL_CAPTION, *(self.caption(k).height for k in steps))
        stage_height = max(200.0, high - 2 * MARGIN - GAP - caption)
        beside = round(room * SHARE_OF_PROGRAM) if self.data["program"] and is_beside else 0.0
        self.stage = Stage(self.data, (room - beside - (GAP if beside else 0.0), stage_height))
        self.left, self.below = MARGIN + beside + (GAP if beside else 0.0), MARGIN + stage_height + GAP
        self.program_place = (MARGIN, MARGIN, beside, stage_height)
        bottom = self.below + caption
        if self.data["program"] and not is_beside:
            self.program_place = (MARGIN, bottom + GAP, room, PROGRAM_BELOW)
            bottom += GAP + PROGRAM_BELOW
        self.height = bottom + MARGIN

    @cached_property
    def style(self) -> str:
        """Return the style sheet of the pictures."""
        return resolve_styles("stage.css", "picture.css", dark=self.dark)

    def render(self, k: int, t: float = 1.0) -> str:
        """Return the picture after k steps, the last one's event at a time from 0 to 1."""
        view = self.stage.show(k, t)
        return self.document(self.stage.frame(view), view, k)

    def document(self, drawing: str, view: View, k: int) -> str:
        """Return a picture with this drawing on its stage."""
        inner = self.around(drawing) + self.program(view) + self.caption(k).at(MARGIN, self.below)
        return document(self.width, self.height, self.style, inner, self.data["alt"], self.sentence(k))

    def around(self, drawing: str) -> str:
        """Return the drawing in the frame of the stage."""
        width, height = coord(self.stage.width), coord(self.stage.height)
        place = f'x="{coord(self.left)}" y="{MARGIN:g}" width="{width}" height="{height}"'
        return f'<rect class="stage" {place} rx="10"/><svg {place} viewBox="0 0 {width} {height}">{drawing}</svg>'

    def program(self, view: View) -> str:
        """Return the program of a view, at its place."""
        x, y, width, height = self.program_place
        if not view.program or not width:
            return ""
        return program_picture.draw_program(view.program, width, height).at(x, y)

    def sentence(self, k: int) -> str:
        """Return the sentence of the picture after k steps."""
        error = self.data["error"]
        if k > len(self.data["steps"]) and error:
            return words.single_line(f"{error['say']} {error['kind']}: {error['text']}")
        return self.data["steps"][k - 1]["say"] if k else self.data["summary"]

    def caption(self, k: int) -> Block:
        """Return the sentence after k steps, and beside or below it the formula of the step."""
        if k not in self._captions:
            self._captions[k] = self._caption(k)
        return self._captions[k]

    def _caption(self, k: int) -> Block:
        room = self.width - 2 * MARGIN
        shown = self._formula(k, room if room < BESIDE else SHARE_OF_FORMULA * room)
        beside = shown.width + 18 if room >= BESIDE and shown.width else 0.0
        lines = letters.wrap(self.sentence(k), SENTENCE, room - beside, bold=True)[:MOST_LINES]
        name = "sentence failed" if k > len(self.data["steps"]) else "sentence"
        sentence = "".join(
            text(line, 0, 16 + SENTENCE_LINE * i, SENTENCE, name, bold=True) for i, line in enumerate(lines)
        )
        high = SENTENCE_LINE * len(lines) + 4
        if beside or not shown.width:
            return Block(room, max(high, shown.height), sentence + shown.at(room - shown.width, 0))
        return Block(room, high + shown.height, sentence + shown.at(0, high))

    def _formula(self, k: int, room: float) -> Block:
        """Return the formula of step k, in the largest size at which it fits its height."""
        if not 0 < k <= len(self.data["steps"]):
            return Block(0, 0, "")
        step = self.data["steps"][k - 1]
        if step["formula"] is None:
            plain = letters.clip_to_width(words.single_line(self.data["rules"][step["rule"]]["text"] or ""), 14, room)
            return Block(letters.width(plain, 14), 20 if plain else 0, text(plain, 0, 16, 14, "soft") if plain else "")
        markup = self.data["formulas"][step["formula"]]
        names = words.names_of_symbols(self.trace, self.trace["steps"][k - 1], markup)
        for size in FORMULA_SIZES:
            box = formula_svg.paragraphs(markup, size, room, names)
            if box.up + box.down <= FORMULA_HEIGHT:
                break
        return Block(box.width, box.up + box.down + 2, f'<g class="formula">{box.to_svg(0, box.up)}</g>')
