"""The walk as one file that opens anywhere, alone: no request, and a policy that forbids any."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from . import words
from .payload import packed, payload
from .player import in_script, one_line, player_source
from .source import Trace

STYLE = (
    "html{color-scheme:light dark}body{margin:0 auto;max-width:1280px;padding:20px 16px;"
    "background:light-dark(#fff,#16181c);color:light-dark(#1b1f24,#e7eaee);"
    "font:15px/1.5 system-ui,sans-serif}"
    "@media print{html{color-scheme:light}}"
    "h1{font-size:19px;font-weight:650;margin:0 0 12px;overflow-wrap:anywhere}"
)
BOOT = (
    'const host = document.getElementById("walk");'
    'const player = mount(host, await unpack(document.getElementById("data").textContent));'
    "const frame = window.frameElement;"
    "const fit = () => { frame.style.height = `${Math.ceil(document.body.offsetHeight)}px`; };"
    "if (frame) new ResizeObserver(fit).observe(document.body);"
    "if (window === top) player.focus();"
)
"""A frame on a page of the same origin, as marimo's, becomes as tall as the walk in it needs at each step. On a page of
its own the walk has the keys at once."""


def document(trace: Trace, title: str | None = None, note: str | None = None) -> str:
    """A whole HTML page with the player, its code and its data."""
    data, _ = packed(payload(trace, note))
    code = in_script(one_line(player_source() + BOOT))
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(STYLE)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    heading = escape(words.spaced(title or words.summary(trace)))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{heading}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        f'<div id="walk"></div>\n'
        f"<noscript><p>This page steps through a recorded walk and needs JavaScript.</p>"
        f"</noscript>\n</main>\n"
        f'<script type="application/octet-stream" id="data">{data}</script>\n'
        f'<script type="module">{code}</script>\n</body>\n</html>\n'
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
