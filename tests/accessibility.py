"""What axe finds to mend on an open page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python

SOURCE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
CHECK = """async (css) => (await axe.run(css ? { include: [[css]] } : document, { resultTypes: ["violations"] }))
    .violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" and ")}`)"""


def find_violations(page: Any, css: str | None = None) -> list[str]:
    """Return the rules that a page violates, or its parts that match `css`, each with the elements concerned."""
    if page.evaluate("!window.axe"):
        page.evaluate(SOURCE)
    return page.evaluate(CHECK, css)
