"""A walk as a notebook output: text and HTML, nothing else, so that it plays with no kernel and long after.

No widget type (a saved notebook would show "model not found" instead of the walk) and no SVG or PNG type (a
front end never picks them over HTML). The HTML is one line without a line break, because JupyterLite joins an
output's lines with commas (jupyterlite#1105).
"""

from __future__ import annotations

import base64
from html import escape

from . import layout, picture, walks, words
from .groups import MOST_DRAWN
from .page import document
from .payload import packed, payload
from .picture import Placing
from .player import in_script, squeezed_player
from .source import Trace

NOTE = (
    "<p><small>A still picture, since no script runs here. Trust this notebook to step through the walk, "
    "or save the walk as a page of its own.</small></p>"
)
ALONE = (
    "<p><small>{summary}. Trust this notebook to step through the walk, "
    "or save the walk as a page of its own.</small></p>"
)
BOOT = (
    "const unzipped = (text) => new Response(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]).stream()"
    '.pipeThrough(new DecompressionStream("gzip"))).text();'
    "for (const host of document.querySelectorAll(\"[data-mgp='ID']:not([data-on])\")) {"
    'host.setAttribute("data-on", ""); const [code, data] = host.querySelectorAll("script");'
    "const { mount, unpack } = new Function(await unzipped(code.textContent))();"
    "mount(host, await unpack(data.textContent));}"
)

BOOT_PAIR = (
    BOOT.partition("for (const host")[0]
    + "for (const host of document.querySelectorAll(\"[data-mgp='ID']:not([data-on])\")) {"
    'host.setAttribute("data-on", ""); const [code, ...data] = host.querySelectorAll("script");'
    "const { mount, unpack, mountTogether } = new Function(await unzipped(code.textContent))();"
    'const beside = document.createElement("div");'
    "mountTogether(beside, await Promise.all(data.map((each) => unpack(each.textContent))), INDEX);"
    'host.querySelector("small").replaceWith(beside);}'
)


def mimebundle(trace: Trace, note: str | None = None, index: int = 0) -> dict[str, str]:
    """What a notebook shows for a trace, after `index` steps."""
    return {"text/plain": plain(trace), "text/html": html(trace, note, index)}


def plain(trace: Trace) -> str:
    """The walk in a few lines of text: its summary and what the leaves received."""
    called = words.names(trace)
    word, left = walks.left_behind(trace)
    lines = [f"  {called[node]}: {word} {words.in_brief(trace, place)}" for node, place in left[:8]]
    more = len(left) - 8
    return "\n".join([words.summary(trace), *lines, *([f"  and {more} more"] if more > 0 else [])])


def html(trace: Trace, note: str | None = None, index: int = 0) -> str:
    """The player in one line of HTML; where scripts are not run, a picture of the walk."""
    placing = layout.placed(trace) if len(trace["nodes"]) <= MOST_DRAWN else None
    data, name = packed(payload(trace, note, placing) | ({"index": index} if index else {}))
    code = in_script(BOOT.replace("ID", name))
    return (
        f'<div data-mgp="{name}">{_fallback(trace, placing)}'
        f'<script type="application/octet-stream">{squeezed_player()}</script>'
        f'<script type="application/octet-stream">{data}</script></div>'
        f'<script type="module">{code}</script>'
    ).replace("\n", " ")


def pair(walks: list[tuple[Trace, str | None]], said: str, index: int) -> str:
    """Two walks below a sentence, stepped together, in one line of HTML."""
    packs = [packed(payload(trace, note)) for trace, note in walks]
    name = packs[0][1] + packs[1][1]
    kept = "".join(f'<script type="application/octet-stream">{data}</script>' for data, _ in packs)
    boot = BOOT_PAIR.replace("ID", name).replace("INDEX", str(index))
    return (
        f'<div data-mgp="{name}"><p>{escape(said)}</p>{ALONE.format(summary="Two walks")}'
        f'<script type="application/octet-stream">{squeezed_player()}</script>{kept}</div>'
        f'<script type="module">{in_script(boot)}</script>'
    ).replace("\n", " ")


def in_frame(document: str, title: str) -> str:
    """A page in a frame, for hosts that run no scripts in HTML."""
    return (
        f'<iframe title="{escape(title)}" width="100%" height="900" style="border:0" srcdoc="{escape(document)}">'
        "</iframe>"
    )


def marimo(trace: Trace, note: str | None = None, index: int = 0) -> tuple[str, str]:
    """What marimo shows, where scripts in HTML are not run: the whole page in a frame."""
    return "text/html", in_frame(document(trace, note=note, index=index), words.spaced(words.summary(trace)))


def _fallback(trace: Trace, placing: Placing | None) -> str:
    """A still picture of a graph that needs no groups, a line of text for a larger one."""
    if placing is None:
        return ALONE.format(summary=escape(words.spaced(words.summary(trace))))
    return image(picture.still(trace, placing), picture.alt(trace)) + NOTE


def image(svg: str, alt: str) -> str:
    """An SVG as an image, which untrusted notebooks show too."""
    shown = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f'<img alt="{escape(alt)}" style="max-width:100%" src="data:image/svg+xml;base64,{shown}">'
