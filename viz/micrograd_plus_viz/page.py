"""The walk as one file that opens anywhere, alone: no request, and a policy that forbids any."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from . import words
from .payload import packed, payload
from .player import in_script, one_line, player_source
from .source import Trace, normal
from .static_files import text

STYLE = (
    "html{color-scheme:light dark}body{margin:0 auto;max-width:1400px;padding:6px 16px;"
    "background:light-dark(#fff,#16181c);color:light-dark(#1b1f24,#e7eaee);"
    "font:15px/1.5 system-ui,sans-serif}"
    "@media print{html{color-scheme:light}}"
    "h1{font-size:16px;font-weight:650;margin:0 0 6px;overflow-wrap:anywhere}"
)
FITS_ITS_FRAME = (
    "const frame = window.frameElement;"
    "const fit = () => { frame.style.height = `${Math.ceil(document.body.offsetHeight)}px`; };"
    "if (frame) new ResizeObserver(fit).observe(document.body);"
)
"""A frame on a page of the same origin, as marimo's, becomes as tall as the walk in it needs at each step."""
BOOT = (
    'const player = await mountParts(document.getElementById("walk"), [...document.querySelectorAll(".data")]);'
    f"{FITS_ITS_FRAME}"
    "if (window === top) { address(player); player.focus(); }"
)
"""On a page of its own the walk has the keys at once."""

BOOT_PAIR = (
    'const data = await Promise.all([...document.querySelectorAll(".data")].map((each) => unpack(each.textContent)));'
    'mountTogether(document.getElementById("walks"), data, INDEX);'
)


def document(
    trace: Trace, title: str | None = None, note: str | None = None, index: int = 0,
    more: Sequence[tuple[Trace, str | None]] = (),
) -> str:  # fmt: skip
    """A whole HTML page with the player, its code and its data; `more` are the parts of a long walk that follow."""
    parts = [(trace, note), *more]
    code = in_script(one_line("\n".join([player_source(), text("parts.js"), BOOT])))
    kept = "".join(_part(*part) for part in parts)
    place = f'<div id="walk" data-index="{index}"></div>'
    return around(title or words.summary(trace), code, kept, place)


def _part(trace: Trace, note: str | None) -> str:
    """The data of a part, with the steps that it begins and ends with."""
    trace = normal(trace)
    first = trace["first"]
    stop = first + len(trace["steps"]) + (words.broke_off(trace) is not None)
    data, _ = packed(payload(trace, note))
    return (
        f'<script type="application/octet-stream" class="data" data-first="{first}" data-stop="{stop}">'
        f"{data}</script>\n"
    )


def around(title: str, code: str, kept: str, place: str) -> str:
    """The page round a place for players, their code and what they are handed."""
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(STYLE)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    heading = escape(words.spaced(title))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{heading}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        f"{place}\n"
        f"<noscript><p>This page steps through a recorded walk and needs JavaScript.</p>"
        f"</noscript>\n</main>\n"
        f"{kept}"
        f'<script type="module">{code}</script>\n</body>\n</html>\n'
    )


def pair(walks: list[tuple[Trace, str | None]], title: str, index: int) -> str:
    """A page with two walks, stepped together."""
    kept = "".join(
        f'<script type="application/octet-stream" class="data">{packed(payload(trace, note))[0]}</script>\n'
        for trace, note in walks
    )
    code = in_script(one_line(player_source() + BOOT_PAIR.replace("INDEX", str(index))))
    return around(title, code, kept, '<div id="walks"></div>')


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
