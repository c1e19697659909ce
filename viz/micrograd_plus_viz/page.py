"""A walk as one self-contained HTML file that makes no network requests, enforced by its security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from . import words
from .payload import compress, payload
from .player import in_script, one_line, player_source
from .static_files import text
from .trace_input import Trace, normalize

STYLE = (
    "html{color-scheme:light dark}body{margin:0 auto;max-width:2000px;padding:4px 10px;"
    "background:light-dark(#fff,#16181c);color:light-dark(#1b1f24,#e7eaee);"
    "font:15px/1.5 system-ui,sans-serif}"
    "@media print{html{color-scheme:light}}"
    "h1{font-size:15px;line-height:1.3;font-weight:650;margin:0 0 4px;overflow-wrap:anywhere}"
)
FITS_ITS_FRAME = (
    "const frame = window.frameElement;"
    "const fit = () => { frame.style.height = `${Math.ceil(document.body.offsetHeight)}px`; };"
    "if (frame) new ResizeObserver(fit).observe(document.body);"
)
"""Script that fits the height of a same-origin iframe, such as marimo's, to the walk."""
BOOT = (
    'const player = await mountParts(document.getElementById("walk"), [...document.querySelectorAll(".data")]);'
    f"{FITS_ITS_FRAME}"
    'hearKeys(document.getElementById("walk"));'
    "if (window === top) { address(player); player.focus(); }"
)
"""A page in its own window gets the keyboard focus."""

BOOT_PAIR = (
    'const data = await Promise.all([...document.querySelectorAll(".data")].map((each) => unpack(each.textContent)));'
    'mountTogether(document.getElementById("walks"), data, INDEX);'
)


def document(
    trace: Trace, title: str | None = None, note: str | None = None, index: int = 0,
    more: Sequence[tuple[Trace, str | None]] = (),
) -> str:  # fmt: skip
    """Return an HTML page with the player, its code and its data; `more` are further parts of a long walk."""
    parts = [(trace, note), *more]
    code = in_script(one_line("\n".join([player_source(), text("parts.js"), BOOT])))
    data_elements = "".join(_part(*part) for part in parts)
    place = f'<div id="walk" data-index="{index}"></div>'
    return wrap_page(title or words.summary(trace), code, data_elements, place)


def _part(trace: Trace, note: str | None) -> str:
    """Return the data of one part, with its first and last step."""
    trace = normalize(trace)
    first = trace["first"]
    stop = trace["total"] if "film" in trace else first + len(trace["steps"]) + (words.walk_error(trace) is not None)
    data, _ = compress(payload(trace, note))
    return (
        f'<script type="application/octet-stream" class="data" data-first="{first}" data-stop="{stop}">'
        f"{data}</script>\n"
    )


def wrap_page(title: str, code: str, data_elements: str, place: str) -> str:
    """Return the page around a container, with its code and its data elements."""
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(STYLE)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    heading = escape(words.single_line(title))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{heading}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        f"{place}\n"
        f"<noscript><p>This page steps through a recorded walk and needs JavaScript.</p>"
        f"</noscript>\n</main>\n"
        f"{data_elements}"
        f'<script type="module">{code}</script>\n</body>\n</html>\n'
    )


def pair_page(walks: list[tuple[Trace, str | None]], title: str, index: int) -> str:
    """Return a page with two walks that are stepped together."""
    data_elements = "".join(
        f'<script type="application/octet-stream" class="data">{compress(payload(trace, note))[0]}</script>\n'
        for trace, note in walks
    )
    code = in_script(one_line(player_source() + BOOT_PAIR.replace("INDEX", str(index))))
    return wrap_page(title, code, data_elements, '<div id="walks"></div>')


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
