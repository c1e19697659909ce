"""Notebook output for a walk, as text and HTML, which also plays without a kernel.

There is no widget type (a saved notebook would show "model not found") and no SVG or PNG type (front ends prefer HTML).
The HTML has no line breaks, because JupyterLite joins an output's lines with commas (jupyterlite#1105).
"""

from __future__ import annotations

import re
from html import escape
from typing import Any
from urllib.parse import quote

from . import walks, words
from .exports import film
from .groups import MOST_DRAWN
from .javascript import JavaScriptMissingError
from .packing import unpacker
from .page import document
from .payload import compress, payload
from .player import compressed_player, in_script, one_line
from .trace_input import Trace

TEXTS = ("lines", "named", "short")
"""The levels of detail of the still picture: without tiles, whose cells would outweigh the player's data."""
CURE = "Trust this notebook, or allow inline scripts on this page,"
"""What permits scripts in a notebook, and on a web page made of one."""
NOTE = (
    f"<p><small>A still picture, because scripts are disabled here. {CURE} to step through the walk, "
    "or save the walk as a page.</small></p>"
)
ALONE = f"<p><small>{{summary}}. {CURE} to step through the walk, or save the walk as a page.</small></p>"
BOOT = (
    one_line(unpacker()) + "for (const host of document.querySelectorAll(\"[data-mgp='ID']:not([data-on])\")) {"
    'host.setAttribute("data-on", ""); const [code, data] = host.querySelectorAll("script");'
    "const { mount, unpack } = await runPacked(code.textContent);"
    "mount(host, await unpack(data.textContent));}"
)

BOOT_PAIR = (
    one_line(unpacker())
    + "for (const host of document.querySelectorAll(\"[data-mgp='ID']:not([data-on])\")) {"
    'host.setAttribute("data-on", ""); const [code, ...data] = host.querySelectorAll("script");'
    "const { mount, unpack, mountTogether } = await runPacked(code.textContent);"
    'const beside = document.createElement("div");'
    "mountTogether(beside, await Promise.all(data.map((each) => unpack(each.textContent))), INDEX);"
    'host.querySelector("small").replaceWith(beside);}'
)


def mimebundle(trace: Trace, note: str | None = None, index: int = 0) -> dict[str, str]:
    """Return the notebook output for a trace, opened after `index` steps."""
    return {"text/plain": plain_text(trace), "text/html": html(trace, note, index)}


def plain_text(trace: Trace) -> str:
    """Return the walk in a few lines of text: its summary and the gradients of the leaves."""
    node_names = words.names(trace)
    word, left = walks.final_values(trace)
    lines = [f"  {node_names[node]}: {word} {words.in_brief(trace, place)}" for node, place in left[:8]]
    more = len(left) - 8
    return "\n".join([words.summary(trace), *lines, *([f"  and {more} more"] if more > 0 else [])])


def html(trace: Trace, note: str | None = None, index: int = 0) -> str:
    """Return the player in one line of HTML, with a picture for hosts that disable scripts."""
    page = payload(trace, note)
    data, name = compress(page | ({"index": index} if index else {}))
    code = in_script(BOOT.replace("ID", name))
    return (
        f'<div data-mgp="{name}">{_fallback(page)}'
        f'<script type="application/octet-stream">{compressed_player(with_film="film" in page)}</script>'
        f'<script type="application/octet-stream">{data}</script></div>'
        f'<script type="module">{code}</script>'
    ).replace("\n", " ")


def pair_html(walks: list[tuple[Trace, str | None]], sentence: str, index: int) -> str:
    """Return two walks below a sentence, stepped together, in one line of HTML."""
    packs = [compress(payload(trace, note)) for trace, note in walks]
    name = packs[0][1] + packs[1][1]
    data_elements = "".join(f'<script type="application/octet-stream">{data}</script>' for data, _ in packs)
    boot = BOOT_PAIR.replace("ID", name).replace("INDEX", str(index))
    return (
        f'<div data-mgp="{name}"><p>{escape(sentence)}</p>{ALONE.format(summary="Two walks")}'
        f'<script type="application/octet-stream">{compressed_player()}</script>{data_elements}</div>'
        f'<script type="module">{in_script(boot)}</script>'
    ).replace("\n", " ")


def in_frame(document: str, title: str) -> str:
    """Return a page in an iframe, for hosts that do not run scripts in HTML."""
    return (
        f'<iframe title="{escape(title)}" width="100%" height="900" style="border:0" srcdoc="{escape(document)}">'
        "</iframe>"
    )


def marimo(trace: Trace, note: str | None = None, index: int = 0) -> tuple[str, str]:
    """Return the output for marimo: the page in an iframe, because marimo does not run scripts in HTML."""
    return "text/html", in_frame(document(trace, note=note, index=index), words.single_line(words.summary(trace)))


def _fallback(page: dict[str, Any]) -> str:
    """Return a still picture of a small graph, or a line of text."""
    picture = still(page)
    return picture + NOTE if picture else ALONE.format(summary=escape(words.single_line(page["summary"])))


def still(page: dict[str, Any]) -> str:
    """Return a picture of a page's graph, or nothing for a large graph, or where nothing can draw."""
    if len(page["nodes"]) > MOST_DRAWN:
        return ""
    try:
        return image(film.graph_svg(page, details=TEXTS)[0], page["alt"])
    except JavaScriptMissingError:
        return ""


_FOREIGN = re.compile(r"[^ -~]+")
"""Letters outside of ASCII, and control characters."""


def image(svg: str, alt: str) -> str:
    """Return an SVG as an `<img>`, which untrusted notebooks also show.

    The markup is in the address as it is, which is a quarter shorter than base64. Its double quotes become single ones:
    they enclose attributes, in which both kinds are escaped.
    """
    shown = svg.replace("%", "%25").replace('"', "'")
    for letter in "<#&\\^`":
        shown = shown.replace(letter, quote(letter))
    shown = _FOREIGN.sub(lambda letters: quote(letters[0]), shown)
    return f'<img alt="{escape(alt)}" style="max-width:100%" src="data:image/svg+xml,{shown}">'
