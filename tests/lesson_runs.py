"""Lessons of docs/lessons: the notebook of each, its two runs, its cards with their questions, and its page.

A lesson is found by its text, docs/lessons/NN_name.md, which has the solutions of the cells that a reader completes.
Each notebook runs once as it is and once completed, each time in a fresh kernel and an empty folder. Tests of one
process share these runs.
"""

from __future__ import annotations

import json
import re
import runpy
import tempfile
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import matplotlib.font_manager  # noqa: F401 - what a machine's first import says is no notebook's
import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from lesson_pages import Hosted, question_salt, read_host
from notebook_runs import html_of, run_notebook
from warm_kernels import WarmProcess

ROOT = Path(__file__).resolve().parents[1]
TEXTS, NOTEBOOKS, ANSWERS = ROOT / "docs" / "lessons", ROOT / "notebooks", ROOT / "tests" / "lessons"
WATCH = (ROOT / "tests" / "lesson_watch.py").read_text("utf-8")
make_lessons = runpy.run_path(str(ROOT / "docs" / "make_lessons.py"))

COMPLETED = make_lessons["COMPLETED"]
STARTERS, SOLUTIONS = WarmProcess(), WarmProcess()
"""Where the kernels of a lesson's two runs come from: two processes, so that their hash seeds differ."""
RECALL = re.compile(r"Recall\b|From (lesson \d\d|school)")


def tags_of(cell: Any) -> set[str]:
    """Return the tags of a cell."""
    return set(cell.metadata.get("tags", []))


in_one_worker = pytest.mark.xdist_group("lessons")
"""One worker runs the tests of all lessons, which share the runs of each, and the processes that kernels come from."""


class Lesson:
    """A lesson with its text, its notebook and what its runs showed. Everything is computed once."""

    def __init__(self, text: Path) -> None:
        self.name, self.text = text.stem, text
        self.number = self.name[:2]
        self.book = make_lessons["read_lesson"](text.read_text("utf-8"))
        self.failure: CellExecutionError | None = None
        self.kept = tempfile.TemporaryDirectory(prefix=self.name)      # removed with the lesson
        self.folder = Path(self.kept.name)

    @cached_property
    def cells(self) -> list[Any]:
        """Return the cells of the notebook as it is, after its run."""
        return self.starter_run[0]

    @cached_property
    def notes(self) -> dict[str, Any]:
        """Return what the kernel noted in that run."""
        return self.starter_run[1]

    @cached_property
    def starter_run(self) -> tuple[list[Any], dict[str, Any]]:
        """Run all cells as a reader gets them."""
        return self.run(self.book, STARTERS)

    @cached_property
    def solution_run(self) -> tuple[list[Any], dict[str, Any]]:
        """Run all cells with what a student writes."""
        return self.run(self.completed_book, SOLUTIONS)

    @cached_property
    def completed_book(self) -> Any:
        """Return the notebook with the solutions of the cells that the reader completes."""
        return make_lessons["read_lesson"](self.text.read_text("utf-8"), completed=True)

    def solution_of(self, cell: Any) -> str:
        """Return the solution of a cell that the reader completes."""
        return next(each.source for each in self.completed_book.cells if each.id == cell.id)

    def run(self, book: Any, kernels: WarmProcess | None) -> tuple[list[Any], dict[str, Any]]:
        """Run a notebook in an empty folder, and return its cells and what its kernel noted."""
        run = Path(tempfile.mkdtemp(dir=self.folder))
        (run / "empty").mkdir()
        watched = nbformat.from_dict(json.loads(json.dumps(book)))
        first, last = nbformat.v4.new_code_cell(WATCH), nbformat.v4.new_code_cell(f"tell({str(run / 'told')!r})")
        watched.cells = [first, *watched.cells, last]
        if self.failure:
            raise self.failure
        try:
            cells = run_notebook(watched, run / "empty", kernels).cells[1:-1]
        except CellExecutionError as failure:
            self.failure = failure                # so that each test need not run the notebook again to fail
            raise
        return cells, json.loads((run / "told").read_text("utf-8"))

    @property
    def headings(self) -> list[int]:
        """Return the indices of the cells that begin a section."""
        cells = self.book.cells
        return [i for i, cell in enumerate(cells) if cell.cell_type == "markdown" and cell.source.startswith("#")]

    @cached_property
    def cards(self) -> list[tuple[int, Hosted, list[dict[str, Any]]]]:
        """Return the cards of the page in order: the index of the cell, the card, and its questions.

        A question has the name of its cell, which stays when it is reworded.
        """
        noted, found = self.notes["questions"], []
        order = [each["salt"] for each in noted]
        for index, cell in enumerate(self.cells):
            for each in filter(None, map(read_host, html_of(cell))):
                salt = question_salt(each)
                if salt is not None:
                    start, count = order.index(salt), each.data.get("quiz", {}).get("count", 1)
                    name = cell.metadata.get("name")
                    found.append((index, each, [one | {"name": name} for one in noted[start : start + count]]))
        return found

    @cached_property
    def questions(self) -> list[dict[str, Any]]:
        """Return the questions that are shown, in order."""
        return [question for _, _, questions in self.cards for question in questions]

    @cached_property
    def page(self) -> Path:
        """Export the notebook after its run as a page, which asks no other host for anything."""
        book = nbformat.v4.new_notebook(cells=self.cells, metadata=self.book.metadata)
        body, _ = html_exporter().from_notebook_node(book)
        path = self.folder / f"{self.name}.html"
        path.write_text(body, encoding="utf-8")
        return path


@cache
def html_exporter() -> Any:
    """Return nbconvert's exporter, whose pages ask no other host for anything. It compiles its templates once."""
    import nbconvert

    share = Path(nbconvert.__file__).parents[4] / "share" / "jupyter"   # its templates, from any environment
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(share))
        return nbconvert.HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="", jquery_url="")


@cache
def lesson_of(name: str) -> Lesson:
    """Return a lesson. Tests of this process share its runs."""
    return Lesson(TEXTS / f"{name}.md")


LESSONS = [path.stem for path in make_lessons["lesson_files"]()]
