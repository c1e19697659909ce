"""What the outputs of a lesson hold: its cards and players, and every text and number that a reader can find there."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import unquote

from micrograd_plus_viz.packing import unpack

MOST_PRINTED = 12
"""The player prints the numbers of arrays up to this size; larger ones are pictures."""
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
SEALED = ("right", "hints", "texts", "sealed", "shows", "salt")
CARD_FORMS = ("number", "numbers", "shape", "one", "several", "cell", "cells")
"""Forms of cards without a walk, whose hints are an author's."""
CHOICES = ("one", "choice", "several")
FOLDED = re.compile(r'viz\.unfold\("[^"]*"\)')
OWN = ("mountCard", "mountQuiz", "mountProgress")
"""Entry points of cards, which seal their answers themselves."""


class Hosted(NamedTuple):
    """Output with code of its own: a player, a card, a slider."""

    id: str
    mount: str
    data: Any


def read_host(text: str) -> Hosted | None:
    """Return the player or card of an HTML output, or None for other outputs."""
    named = re.match(r'<div data-mgp="([^"]+)"', text)
    if not named:
        return None
    scripts = re.findall(r'<script type="application/octet-stream">([^<]*)</script>', text)
    mount = re.findall(r"const \{ (\w+)", text)[-1]
    data = [json.loads(unpack(each)) for each in scripts[1:]]
    return Hosted(named[1], mount, data[0] if len(data) == 1 else data)


def question_salt(each: Hosted) -> str | None:
    """Return the salt of a card's first question, or None if it asks nothing."""
    if each.mount == "mountCard":
        return each.data["salt"]
    return each.data["quiz"]["question"]["salt"] if each.mount == "mountQuiz" else None


class Readable(HTMLParser):
    """Texts of a piece of HTML: what is visible, and what a screen reader says instead of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.is_hidden = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep alternative texts, and what a picture in the page says."""
        self.is_hidden = tag in ("script", "style")
        for name, value in attrs:
            if name in ("alt", "title", "aria-label") and value:
                self.texts.append(value)
            picture = re.match(r"data:image/svg\+xml,(.+)", value or "") if name == "src" else None
            if picture:
                self.texts += Readable(unquote(picture[1])).texts

    def handle_endtag(self, tag: str) -> None:
        """Go on after a script."""
        self.is_hidden = False

    def handle_data(self, data: str) -> None:
        """Keep visible text."""
        if not self.is_hidden and data.strip():
            self.texts.append(data)


def values_in(data: Any) -> Iterator[str]:
    """Yield the numbers that players can print, from the data of a page."""
    if isinstance(data, list):
        for each in data:
            yield from values_in(each)
    elif isinstance(data, dict):
        for name, each in data.items():
            if name == "values" and isinstance(each, list):
                small = [value["data"] for value in each if isinstance(value, dict) and value.get("data")]
                yield from (" ".join(map(str, one)) for one in small if len(one) <= MOST_PRINTED)
            elif name not in SEALED:
                yield from values_in(each)


def texts_of_output(output: Any) -> list[str]:
    """Return every text of an output: printed, visible, alternative, and the numbers in a player's data.

    A card has none here, because it seals its own.
    """
    if output.output_type == "stream":
        return [output.text]
    data = output.get("data", {})
    page = read_host(data.get("text/html", ""))
    if page and page.mount in OWN:
        return []
    numbers = list(values_in(page.data)) if page else []
    return [data.get("text/plain", ""), *Readable(data.get("text/html", "")).texts, *numbers]


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text."""
    return [float(each.replace("−", "-")) for each in NUMBER.findall(html.unescape(text))]


# Whether a text has an answer -----------------------------------------------------------------------------------------


def bin_of(x: float, width: float) -> str:
    """Return the text under which a page looks up a number."""
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    return f"{'-' if x < 0 else '+'}{math.floor(math.log(abs(x)) / width)}"


def three_digits(x: float) -> str:
    """Return a number as the page compares lists of numbers."""
    mantissa, _, power = f"{x:.2e}".partition("e")
    return "0" if x == 0 else f"{mantissa}e{int(power):+d}"


def has_answer(question: dict[str, Any], text: str) -> bool:
    """Return whether a card would accept something that a text contains.

    Numbers in any spelling, shapes in any brackets, the text of the right choice. A name of a node or yes and no are no
    answers by themselves.
    """
    form, right = question["form"], question["right"]
    if form in ("number", "whole"):
        found = [bin_of(x, question["width"]) if question["width"] else f"{x:g}" for x in numbers_in(text)]
        return bool(set(found) & set(right))
    if form == "numbers":
        return f" {right[0]} " in f" {' '.join(map(three_digits, numbers_in(text)))} "
    if form in ("shape", "cell", "cells"):
        places = [[each for each in re.split(r"[^\d]+", one) if each] for one in SHAPE.findall(text)]
        found = {",".join(one) for one in places}
        return any(set(each.split(";")) <= found for each in right)
    if form in CHOICES and question["kind"] != "picture":
        choices = question["choices"]
        answer = " and ".join(choices[int(k)] for k in right[0].split(",") if k)
        others = [each for each in choices if each != answer and says(text, each)]
        return len(answer) > SHORT and not others and says(text, answer)
    return False


SHAPE = re.compile(r"[(\[]\s*\d*\s*(?:,\s*\d+\s*)*,?\s*[)\]]|\d+(?:\s*[×x]\s*\d+)+")
SHORT = 4


def says(text: str, phrase: str) -> bool:
    """Return whether a text has a phrase as words of its own."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
