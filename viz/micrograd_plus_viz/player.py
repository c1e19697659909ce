"""The player's JavaScript as one module, and as one line."""

from __future__ import annotations

import json
import re
from functools import cache

from .packing import pack
from .static_files import style, text

MODULES = (
    "show.js", "names.js", "tiles.js", "panel.js", "layout.js", "routes.js", "nodes.js", "camera.js",
    "placing.js", "links.js", "graph.js", "clock.js", "free_room.js", "event.js", "program.js", "controls.js",
    "host.js", "walk_state.js", "steps.js", "around.js", "player.js", "bytes.js", "unpack.js", "together.js",
)  # fmt: skip
FILM = ("deltas.js", "timeline.js")
ALONE = ("on_page.js", "widget.js")
"""Modules for pages and widgets. The output of a notebook does not need them."""
QUIZ = ("sealed_answers.js", "cells.js", "quiz.js")
CARDS = ("show.js", "host.js", "sealed_answers.js", "bytes.js", "unpack.js", "cells.js", "ask.js")
"""The modules of question cards, which have no graph."""

_LITERAL = re.compile(
    r"""( "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*'
      | `(?:\\.|\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`  # a template, with templates in its expressions
      | /(?:(?<=[(!]/)|(?<=[=?:,|&][ ]/))(?!\*)(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/ )  # a regular expression""",
    re.VERBOSE,
)
"""What keeps its spaces. Each alternative begins with one letter, so that the search skips all others."""
_SIGN = re.compile(r" *([{}()\[\];,:?=<>*%&|!]|(?<= )[+-](?= [^+-])) *")
"""A sign that needs no spaces around it: also the plus of `a + b`, but neither of `a + +b`."""
_SLOT = "\0"
_CONSTANT = re.compile(r'(?<!")\b(?:[A-Z]+(?:_[A-Z]+)+|[A-Z]{5,})\b')
"""A constant of the code. No property, and no text of several words, has a word like that."""


@cache
def player_source(with_quiz: bool = False, in_output: bool = False, with_film: bool = True) -> str:
    """Return the player as one ES module: the style sheet as a string, then all modules in order.

    `in_output` leaves out the modules for pages and widgets.
    """
    sheets, modules = ("stage.css", "player.css"), MODULES if in_output else (*MODULES, *ALONE)
    if with_film:
        sheets, modules = (*sheets, "timeline.css"), (*FILM, *modules)
    if with_quiz:
        sheets, modules = (*sheets, "quiz.css"), (*modules, *QUIZ)
    return "\n".join([_constant_of_styles(*sheets), *map(text, modules)])


def _constant_of_styles(*names: str) -> str:
    """Return style sheets as a constant of the code, without comments and spaces that they do not need."""
    css = re.sub(r"/\*.*?\*/", "", " ".join(map(style, names)))
    css = re.sub(r" ?([{};,]) ?|(?<=:) ", r"\1", css).replace(";}", "}")
    return f"const PLAYER_CSS = {json.dumps(css)};"


def one_line(source: str) -> str:
    """Return JavaScript without comments, line breaks and spaces that it does not need, with short names of constants.

    The source must end every statement with a semicolon, have no empty statement and no line break in a template, and
    start comments at the beginning of a line, otherwise it raises ValueError. Notebook output must be one line, because
    JupyterLite joins lines with commas (jupyterlite#1105).
    """
    lines = [line.strip() for line in source.splitlines()]
    pieces = _LITERAL.split(" ".join([line for line in lines if line and not line.startswith("//")]))
    code = _SLOT.join(pieces[::2])  # every second piece is a literal
    if "//" in code or "/*" in code:
        found = _around(code)
        raise ValueError(f"a comment behind code would hide the rest of the line: write it above, got {found!r}")
    pieces[::2] = "".join(_SIGN.split(code)).replace(";}", "}").split(_SLOT)
    code = "".join(pieces)
    short = {name: f"${k:x}" for k, name in enumerate(sorted({*_CONSTANT.findall(code)}))}
    return _CONSTANT.sub(lambda name: short[name[0]], code)


def _around(code: str) -> str:
    """Return the first comment in a line of code, with what is before and after it."""
    at = min(code.index(sign) for sign in ("//", "/*") if sign in code)
    return code[max(0, at - 40) : at + 40].replace(_SLOT, "…")


@cache
def compressed_player(with_quiz: bool = False, with_film: bool = True) -> str:
    """Return the player as packed code: a function body that returns the entry points.

    A third of the size, which matters because each output of a notebook has its own copy.
    """
    plain = player_source(with_quiz, in_output=True, with_film=with_film).replace("export ", "")
    code = one_line(plain) + f" return {{ mount, unpack, mountTogether{', mountQuiz' * with_quiz} }};"
    return pack(code)


@cache
def compressed_slider() -> str:
    """Return the player with recorded sliders as `compressed_player` returns it."""
    plain = "\n".join([player_source(in_output=True), text("slider.js")])
    code = one_line(plain.replace("export ", "")) + " return { mountSlider, unpack };"
    return pack(code)


@cache
def one_line_of_cards() -> str:
    """Return the code of question cards in one line."""
    return one_line("\n".join([_constant_of_styles("player.css", "quiz.css", "ask.css"), *map(text, CARDS)]))


@cache
def compressed_cards() -> str:
    """Return the code of question cards as `compressed_player` returns the player's."""
    code = one_line_of_cards().replace("export ", "") + " return { mountCard, mountProgress, unpack };"
    return pack(code)


def in_script(source: str) -> str:
    """Escape JavaScript so that it can neither close nor comment out its `<script>` element."""
    return source.replace("</", "<\\/").replace("<!--", "<\\!--")
