"""Measure each card of the lessons in a real JupyterLab at 1280 by 720, with the file browser open.

    python tests/lesson_room.py [01 04 ...]

A line for each card: its height, the height that the notebook has, and whether question, graph and answer box are
visible together. The lessons are run first, and their notebooks signed, so that JupyterLab trusts them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbformat.sign import NotebookNotary

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "viz"), str(ROOT / "tests")]

from browser import settle, start_browser  # noqa: E402 - after the paths
from install_browser import find_browser  # noqa: E402 - as above
from lesson_runs import LESSONS, Lesson, lesson_of  # noqa: E402 - as above
from test_lab import PLACES, READY, Lab, jupyterlab  # noqa: E402 - as above

PATIENCE = 120_000
PICTURES = os.environ.get("PICTURES")
"""A folder for a picture of each card with a walk."""
SHOW = """async (index) => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = index;
    await notebook.scrollToItem(index, "start");
}"""
ROOM = """(host) => {
    const root = host.shadowRoot;
    const around = host.closest(".jp-WindowedPanel-outer");
    const parts = [".quiz, .card-say", ".sentence", ".stage, .cells", ".typed, .choices, .card-answer, .quiz-mark"];
    const boxes = parts.flatMap((part) => [...root.querySelectorAll(part)]).filter((part) => part.offsetParent !== null)
      .map((part) => part.getBoundingClientRect()).filter((box) => box.height > 0);
    const top = Math.min(...boxes.map((box) => box.top));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    const stage = root.querySelector(".stage")?.getBoundingClientRect();
    const nodes = [...root.querySelectorAll(".drawing .node")].map((node) => node.getBoundingClientRect());
    const cut = nodes.filter((box) => box.left < stage.left - 1 || box.right > stage.right + 1
      || box.top < stage.top - 1 || box.bottom > stage.bottom + 1).length;
    const name = root.querySelector(".drawing .node text.name");
    const letters = name ? 12 * name.getScreenCTM().d : 0;
    return { width: Math.round(host.clientWidth), height: Math.round(bottom - top), room: around.clientHeight,
      stage: Math.round(stage?.height ?? 0), nodes: nodes.length, cut, letters: Math.round(10 * letters) / 10,
      scrolls: [...root.querySelectorAll(".column, .panel")].some((part) => part.scrollHeight > part.clientHeight + 1
        && getComputedStyle(part).overflowY !== "visible" && part.querySelector(".typed, .choices")) };
}"""


class Room(NamedTuple):
    """How much of a notebook's height a card takes."""

    lesson: str
    cell: int
    say: str
    width: int
    height: int
    room: int
    stage: int
    nodes: int
    cut: int
    letters: float
    scrolls: bool

    @property
    def fits(self) -> bool:
        """Whether question, graph and answer box are visible together."""
        return self.height <= self.room and not self.scrolls and not self.cut

    def __str__(self) -> str:
        word = "fits" if self.fits else "SCROLLS" if self.scrolls else "CUT" if self.cut else "TOO HIGH"
        graph = f"{self.nodes:3} nodes, letters of {self.letters}," if self.nodes else ""
        place = f"{self.lesson[:2]} cell {self.cell:2} {self.height:4} of {self.room}, stage {self.stage:3}"
        return f"{place} {graph:30} {word:8} {self.say}"


def rooms_of(lesson: Lesson, lab: Lab, context: Any) -> Iterator[Room]:
    """Yield the measures of the cards of a lesson that is open in JupyterLab."""
    page = context.new_page()
    page.goto(lab.url(f"lab/workspaces/{lesson.number}/tree/{lesson.name}.ipynb"))
    page.locator(".jp-Notebook").wait_for(timeout=PATIENCE)
    page.evaluate(READY)
    for index, card, questions in lesson.cards:
        page.evaluate(SHOW, index)
        host = page.locator(f'.jp-Notebook [data-mgp="{card.id}"]').first
        host.locator(".quiz, .card-say").first.wait_for(timeout=PATIENCE)
        settle(page)
        if PICTURES and host.locator(".stage").count():
            page.screenshot(path=Path(PICTURES) / f"{lesson.number}_{index}.png")
        yield Room(lesson.name, index, questions[0]["say"][:50], **host.evaluate(ROOM))
    page.close()


def measure_rooms(lessons: list[Lesson]) -> Iterator[Room]:
    """Yield the measures of all cards of some lessons."""
    with tempfile.TemporaryDirectory() as place:
        home, folder = Path(place) / "home", Path(place) / "notebooks"
        for each in (folder, *(home / name for name in PLACES.values())):
            each.mkdir(parents=True)
        notary = NotebookNotary(data_dir=str(home / PLACES["JUPYTER_DATA_DIR"]))
        for lesson in lessons:
            book = nbformat.v4.new_notebook(cells=lesson.cells, metadata=lesson.book.metadata)
            notary.sign(book)
            nbformat.write(book, folder / f"{lesson.name}.ipynb")
        context = start_browser(find_browser()).new_context(viewport={"width": 1280, "height": 720})
        with jupyterlab(folder, home) as lab, context:
            for lesson in lessons:
                yield from rooms_of(lesson, lab, context)


def main() -> None:
    """Print the measures of the lessons that are named by their numbers, or of all, and those that do not fit."""
    lessons = [lesson_of(name) for name in LESSONS if not sys.argv[1:] or name[:2] in sys.argv[1:]]
    rooms = []
    for room in measure_rooms(lessons):
        rooms.append(room)
        sys.stdout.write(f"{room}\n")
    sys.stdout.write(f"{sum(room.fits for room in rooms)} of {len(rooms)} cards fit.\n")


if __name__ == "__main__":
    main()
