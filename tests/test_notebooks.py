"""The gallery, and how all notebooks are stored. tests/test_lessons.py runs the lessons."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from notebook_runs import figures_in_text, html_of, outputs_of, read_notebook, run_notebook
from staged import git_output, staged_notebooks

NOTEBOOKS = staged_notebooks()
GALLERY = "gallery.ipynb"
MOST_LINES = 22


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return run_notebook(read_notebook(NOTEBOOKS[GALLERY]), tmp_path_factory.mktemp("gallery")).cells


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_a_notebook_is_stored_as_if_it_had_never_been_run(name):
    stored = json.loads(NOTEBOOKS[name])
    nbformat.validate(nbformat.from_dict(stored))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    assert set(stored["metadata"]) <= {"kernelspec", "language_info"}
    assert stored["metadata"]["kernelspec"]["name"] == "python3"
    for cell in stored["cells"]:
        assert set(cell["metadata"]) <= ({"name", "tags", "jupyter"} if name != GALLERY else set())
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_every_notebook_is_the_gallery_or_a_lesson():
    from lesson_runs import LESSONS

    assert sorted(NOTEBOOKS) == [*(f"{name}.ipynb" for name in LESSONS), GALLERY]


def test_the_cells_of_the_gallery_are_short():
    for cell in read_notebook(NOTEBOOKS[GALLERY]).cells:
        assert len(cell.source.splitlines()) <= MOST_LINES, cell.source


def test_notebooks_are_tested_as_staged_in_git(tmp_path):
    (tmp_path / "lesson.ipynb").write_text("{}", encoding="utf-8")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}
    git_output(tmp_path, "init")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}
    git_output(tmp_path, "add", "lesson.ipynb")
    (tmp_path / "lesson.ipynb").write_text("an answer", encoding="utf-8")
    (tmp_path / "my own.ipynb").write_text("notes", encoding="utf-8")
    assert staged_notebooks(tmp_path) == {"lesson.ipynb": "{}"}


def test_figures_are_found_in_text_but_not_in_code_names_or_links():
    cells = [nbformat.v4.new_markdown_cell("Of 1797, `x[3]` and W1 [two](02_x.ipynb), **97.5** % are 4 × 4.")]
    assert figures_in_text(cells) == [1797, 97.5, 4, 4]


def test_every_cell_of_the_gallery_runs_quietly_and_shows_its_walks(cells):
    assert sum("data-mgp" in html for cell in cells for html in html_of(cell)) >= WALKS
    assert [output.text for cell in cells for output in outputs_of(cell) if output.get("name") == "stderr"] == []


WALKS = 14
"""Players of the gallery, with its comparison and its quizzes."""
