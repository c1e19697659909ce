"""Output of questions: in a notebook, in a frame, and as a page. The answers are sealed in `data`."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from .. import notebook, page, words
from ..payload import compress
from ..player import in_script

BOOT = (
    'const data = await unpack(document.getElementById("data").textContent);'
    'const shown = MOUNT(document.getElementById("walk"), data);'
    f"{page.FITS_ITS_FRAME}"
    "if (window === top) shown.focus();"
)
TRUST = "<p><small>{summary} Scripts are disabled here. " + notebook.CURE + " to answer.</small></p>"


class SealedOutput:
    """Questions for a notebook that a page answers without a kernel.

    `data` is the content of the page; `title` and `summary` describe it. A subclass has the code that shows it.
    """

    mount = ""
    """The function of the code that shows the data."""

    def __init__(self, data: dict[str, Any], title: str, summary: str) -> None:
        self.data, self.title, self.summary = data, words.single_line(title), words.single_line(summary)

    as_poll: Callable[[], SealedOutput] | None = None
    """A function that makes the same question with choices, if this one is answered otherwise."""

    def code(self) -> str:
        """Return the code of a page as one line."""
        raise NotImplementedError

    def packed_code(self) -> str:
        """Return the code as a packed function body that returns its entry points."""
        raise NotImplementedError

    def poll(self) -> SealedOutput:
        """Return the question as a poll: its choices are the right answer and what named mistakes give."""
        return self.as_poll() if self.as_poll else self

    def still(self) -> str:
        """Return what hosts that disable scripts show above the summary."""
        return ""

    def __repr__(self) -> str:
        return self.summary

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.summary, "text/html": self._html()}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", notebook.in_frame(self.document(), self.title)

    def _html(self) -> str:
        """Return the questions in one line of HTML, with a still picture for hosts that disable scripts."""
        data, name = compress(self.data)
        boot = notebook.BOOT.replace("{ mount,", f"{{ {self.mount},").replace("mount(host", f"{self.mount}(host")
        return (
            f'<div data-mgp="{name}">{self.still()}{TRUST.format(summary=escape(self.summary))}'
            f'<script type="application/octet-stream">{self.packed_code()}</script>'
            f'<script type="application/octet-stream">{data}</script></div>'
            f'<script type="module">{in_script(boot.replace("ID", name))}</script>'
        ).replace("\n", " ")

    def document(self, title: str | None = None) -> str:
        """Return the questions as a page."""
        data_element = f'<script type="application/octet-stream" id="data">{compress(self.data)[0]}</script>\n'
        code = in_script(self.code() + BOOT.replace("MOUNT", self.mount))
        return page.wrap_page(title or self.title, code, data_element, '<div id="walk"></div>')

    def save(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """Write the questions to an .html file and return its path."""
        path = Path(path)
        if path.suffix.lower() != ".html":
            raise ValueError(f"questions and sliders can only be saved as .html, not as {path.name!r}")
        from micrograd_plus.files import write_file

        write_file(path, self.document(title))
        return path
