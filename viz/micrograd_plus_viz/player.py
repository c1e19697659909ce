"""The player's code as one module, and as one line of it."""

from __future__ import annotations

import json
import re
from functools import cache

from .static_files import style, text

ROOMS = ("show.js", "panel.js", "graph.js", "controls.js", "host.js", "player.js")


@cache
def player_source() -> str:
    """One plain ES module: the style sheet as a string, then every room of the player in order."""
    return "\n".join([f"const PLAYER_CSS = {json.dumps(style('player.css'))};", *map(text, ROOMS)])


def one_line(source: str) -> str:
    """JavaScript without comments and line breaks.

    Safe for code that ends every statement with a semicolon, breaks no line inside a template, and begins a
    comment only where a line begins. JupyterLite joins the lines of an output with commas (jupyterlite#1105),
    so code in a notebook has to be one line.
    """
    lines = [line.strip() for line in source.splitlines()]
    return " ".join(line for line in lines if line and not re.match("//", line))


def in_script(source: str) -> str:
    """JavaScript that may stand in a `<script>` element: no text of it closes or comments the element."""
    return source.replace("</", "<\\/").replace("<!--", "<\\!--")
