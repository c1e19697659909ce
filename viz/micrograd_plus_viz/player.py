"""The player's code as one module, and as one line of it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache

from .static_files import style, text

MODULES = ("functions.js", "show.js", "panel.js", "layout.js", "graph.js", "controls.js", "host.js", "player.js")
QUIZ = ("seals.js", "quiz.js")


@cache
def player_source(with_quiz: bool = False) -> str:
    """One plain ES module: the style sheet as a string, then every module of the player in order."""
    css, modules = style("player.css"), MODULES
    if with_quiz:
        css, modules = css + style("quiz.css"), (*MODULES, *QUIZ)
    return "\n".join([f"const PLAYER_CSS = {json.dumps(css)};", *map(text, modules)])


def one_line(source: str) -> str:
    """JavaScript without comments and line breaks.

    Safe for code that ends every statement with a semicolon, breaks no line inside a template, and begins a
    comment only where a line begins. JupyterLite joins the lines of an output with commas (jupyterlite#1105),
    so code in a notebook has to be one line.
    """
    lines = [line.strip() for line in source.splitlines()]
    return " ".join(line for line in lines if line and not re.match("//", line))


@cache
def squeezed_player(with_quiz: bool = False) -> str:
    """The player as base64 of its gzipped code, a function's body that returns what a host needs of it.

    A third of the size, since a notebook holds many outputs, and each has its own.
    """
    plain = player_source(with_quiz).replace("export default", "const widget =").replace("export ", "")
    code = one_line(plain) + f" return {{ mount, unpack, mountTogether{', mountQuiz' * with_quiz} }};"
    return base64.b64encode(gzip.compress(code.encode("utf-8"), compresslevel=9, mtime=0)).decode("ascii")


def in_script(source: str) -> str:
    """JavaScript that may stand in a `<script>` element: no text of it closes or comments the element."""
    return source.replace("</", "<\\/").replace("<!--", "<\\!--")
