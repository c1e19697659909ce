"""The page of the gallery: runs the programs of notebooks/gallery.ipynb, and puts their walks into docs/gallery.md.

mkdocs calls `on_page_markdown` as it builds the site (`make docs`), so the players are never stored. The page has the
player's code once; each walk is unpacked when it comes near the window.
"""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import micrograd_plus_viz as viz
from micrograd_plus_viz.packing import unpacker
from micrograd_plus_viz.payload import compress, payload
from micrograd_plus_viz.player import compressed_player, in_script, one_line

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "gallery.ipynb"
PLACE = "<!-- walks -->"
STYLE = (
    "<style>@media (min-width: 992px) { .container { max-width: 1340px; } .col-md-9 { width: 100%; } "
    ".col-md-3 { display: none; } } .walk { display: block; min-height: 690px; margin: 1rem 0 2.5rem; }</style>"
)
BOOT = one_line(unpacker()) + """
const { mount, unpack } = await runPacked(document.getElementById("player-code").textContent);
const near = new IntersectionObserver(async (seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) {
    near.unobserve(target);
    mount(target, await unpack(target.querySelector("script").textContent), { tall: false });
  }
}, { rootMargin: "600px" });
document.querySelectorAll(".walk").forEach((place) => near.observe(place));
"""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page, with the walks where their place is marked."""
    return markdown.replace(PLACE, walks()) if page.file.src_uri == "gallery.md" else markdown


def walks() -> str:
    """Every program with its question and its player, then the player's code."""
    parts = [STYLE]
    for question, program, trace in record_walk():
        shown = viz.show(trace)
        data, _ = compress(payload(shown.trace, shown.note))
        place = f'<div class="walk"><script type="application/octet-stream">{data}</script></div>'
        parts += [question, f"```python\n{program}\n```", place]
    parts.append(f'<script type="application/octet-stream" id="player-code">{compressed_player()}</script>')
    parts.append(f'<script type="module">{in_script(" ".join(BOOT.split()))}</script>')
    return "\n\n".join(parts)


def record_walk() -> Iterator[tuple[str, str, Any]]:
    """The notebook's questions, each with its program and the record of it. Its programs end with what they show."""
    known: dict[str, Any] = {}
    question = ""
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            question = re.sub(r"^## \d+\. ", "## ", text)  # the site's script takes no address that begins with a digit
            continue
        program, _, last = text.rpartition("\n")
        if last.startswith("viz."):
            continue
        name = f"gallery, cell {number + 1}"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text if last != "trace" else program, name, "exec"), known)  # noqa: S102 - our own notebook
        if last == "trace":
            yield question, program, known["trace"]
