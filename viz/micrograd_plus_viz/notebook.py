"""A walk as a notebook output: text and HTML, nothing else, so that it plays with no kernel and long after.

No widget type (a saved notebook would show "model not found" instead of the walk) and no SVG or PNG type (a
front end never picks them over HTML). The HTML is one line without a line break, because JupyterLite joins an
output's lines with commas (jupyterlite#1105).
"""

from __future__ import annotations

import base64
from html import escape

from . import film, layout, picture, words
from .page import document
from .payload import packed, payload
from .picture import Placing
from .player import in_script, one_line, player_source
from .source import Trace
from .window import window

MOST_ANIMATED = 60
MOST_DRAWN = 200
NOTE = "<p><small>A preview. Trust this notebook to step through the walk.</small></p>"
ALONE = (
    "<p><small>{summary}. Trust this notebook to step through the walk, "
    "or save the walk as a page of its own.</small></p>"
)
BOOT = (
    "for (const host of document.querySelectorAll(\"[data-mgp='ID']:not([data-on])\")) {"
    'host.setAttribute("data-on", ""); mount(host, await unpack(host.querySelector("script").textContent));}'
)


def mimebundle(trace: Trace, start: int = 0) -> dict[str, str]:
    """What a notebook shows for a trace; `start` is the first step of a walk too long to show whole."""
    return {"text/plain": plain(trace), "text/html": html(trace, start)}


def plain(trace: Trace) -> str:
    """The walk in a few lines of text: its summary and what the leaves received."""
    called = words.names(trace)
    lines = [
        f"  {called[g['node']]}: {words.gradient_word(trace)} {words.in_brief(trace, g['value'])}"
        for g in trace["gradients"][:8]
    ]
    more = len(trace["gradients"]) - 8
    return "\n".join([words.summary(trace), *lines, *([f"  and {more} more"] if more > 0 else [])])


def html(trace: Trace, start: int = 0) -> str:
    """The player in one line of HTML; where scripts are not run, a picture of the walk."""
    shown, note = window(trace, start)
    placing = layout.placed(shown)
    data, name = packed(payload(shown, note, placing))
    code = in_script(one_line(player_source() + BOOT.replace("ID", name)))
    return (
        f'<div data-mgp="{name}">{_fallback(shown, placing)}'
        f'<script type="application/octet-stream">{data}</script></div>'
        f'<script type="module">{code}</script>'
    ).replace("\n", " ")


def marimo(trace: Trace, start: int = 0) -> tuple[str, str]:
    """What marimo shows, where scripts in HTML are not run: the whole page in a frame."""
    shown, note = window(trace, start)
    page = escape(document(shown, note=note))
    title = escape(words.spaced(words.summary(trace)))
    return (
        "text/html",
        f'<iframe title="{title}" width="100%" height="900" style="border:0" srcdoc="{page}"></iframe>',
    )


def _fallback(trace: Trace, placing: Placing) -> str:
    """Moving up to 60 nodes, still up to 200, a line of text beyond."""
    if len(trace["nodes"]) > MOST_DRAWN:
        return ALONE.format(summary=escape(words.spaced(words.summary(trace))))
    small = len(trace["nodes"]) <= MOST_ANIMATED
    svg = film.animated(trace, placing) if small else picture.still(trace, placing)
    return image(svg, picture.alt(trace)) + NOTE


def image(svg: str, alt: str) -> str:
    """An SVG as an image, which untrusted notebooks show too."""
    shown = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f'<img alt="{escape(alt)}" style="max-width:100%" src="data:image/svg+xml;base64,{shown}">'
