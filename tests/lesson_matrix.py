"""Look at every card and player of the exported lessons at four widths, in light, dark and forced colours, with axe.

    python tests/lesson_matrix.py [01 04 ...]

One browser, one load a lesson: the viewport and the colours change in place. A line for each lesson, then each finding:
what axe says, what is wider than its page, and texts of drawings with too little contrast. `find_faults` is the part
that tests use.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "viz"), str(ROOT / "tests")]

from accessibility import find_violations  # noqa: E402 - after the paths
from browser import settle, start_browser  # noqa: E402 - after the paths

CONTRAST = (ROOT / "tests" / "svg_contrast.js").read_text(encoding="utf-8").partition("\n")[2]
SIZES = ((360, 720), (768, 720), (1280, 720), (1440, 900))
COLOURS = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "light", "forced_colors": "active"},
}
"""Media of a page, by name."""
TOO_WIDE = """() => [...document.querySelectorAll("[data-mgp]")].filter((host) => host.shadowRoot)
    .flatMap((host) => [...host.shadowRoot.querySelectorAll(".player, .ask, .answer, .choice, .tool, .card-say")]
      .filter((part) => part.offsetParent !== null && part.getBoundingClientRect().right > innerWidth + 1)
      .slice(0, 1).map((part) => `too wide: ${part.className} of ${host.dataset.mgp}`))"""


def find_faults(page: Any, pairs: Any = None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong on an open page, with size and colours: for all pairs of them, unless some are given."""
    for (width, height), name in pairs or list(itertools.product(SIZES, COLOURS)):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(reduced_motion="reduce", **COLOURS[name])
        settle(page)
        for found in [*find_violations(page, "[data-mgp]"), *page.evaluate(TOO_WIDE), *page.evaluate(CONTRAST)]:
            yield f"{width} px, {name}", found


def main() -> None:
    """Print what is wrong with the lessons that are named by their numbers, or with all."""
    from install_browser import find_browser
    from lesson_runs import LESSONS, lesson_of

    page = start_browser(find_browser()).new_page()
    count = 0
    for name in [name for name in LESSONS if not sys.argv[1:] or name[:2] in sys.argv[1:]]:
        page.goto(lesson_of(name).page.as_uri())
        page.locator("[data-mgp]").last.wait_for()
        found = list(find_faults(page))
        count += len(found)
        sys.stdout.write(f"{name}: {len(SIZES) * len(COLOURS)} views, {len(found)} findings\n")
        for where, what in found:
            sys.stdout.write(f"  {where}: {what}\n")
    sys.stdout.write(f"{count} findings\n")


if __name__ == "__main__":
    main()
