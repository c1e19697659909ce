"""Write the notebooks of the lessons: docs/lessons/NN_name.md becomes notebooks/NN_name.ipynb, without outputs.

A lesson is one MyST text: Markdown, with `+++` between two text cells and ```{code-cell} around code. A cell may carry
tags of `TAGS`, in its `:tags:` or, for a text cell, after `+++`. Run as `make lessons`; the same text always gives
the same bytes, because the id of a cell follows from its text.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jupytext
import nbformat

LESSONS = Path(__file__).parent / "lessons"
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TAGS = ("setup", "ask", "write", "exercise", "plants", "slide", "notes")
"""What a cell is for: it prepares, asks, has code to complete, belongs to an exercise, plants a mistake on purpose, is
shown on a slide, is for the lecturer alone."""
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def read_lesson(text: str) -> Any:
    """Return the notebook of a lesson's text. Cells with the tag `notes` are left out: they are for the lecturer."""
    read = jupytext.reads(text, fmt="md:myst")
    book = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
    seen: Counter[str] = Counter()
    for cell in read.cells:
        tags = cell.metadata.get("tags", [])
        check_tags(tags, cell.source)
        if "notes" in tags:
            continue
        make = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
        book.cells.append(make(cell.source, metadata={"tags": tags} if tags else {}, id=cell_id(cell.source, seen)))
    return book


def check_tags(tags: list[str], source: str) -> None:
    """Raise ValueError if a tag is unknown."""
    for tag in tags:
        if tag not in TAGS:
            raise ValueError(f"unknown tag {tag!r}, known are {', '.join(TAGS)}. The cell begins: {source[:60]!r}")


def cell_id(source: str, seen: Counter[str]) -> str:
    """Return the id of a cell: a hash of its text, and its count if an earlier cell has the same text."""
    name = hashlib.sha256(source.encode()).hexdigest()[:8]
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name]}"


def lesson_files() -> list[Path]:
    """Return the texts of all lessons, in order."""
    return sorted(LESSONS.glob("[0-9][0-9]_*.md"))


def main() -> None:
    """Write all notebooks, or those of the texts that are named on the command line."""
    for text in [Path(name) for name in sys.argv[1:]] or lesson_files():
        notebook = NOTEBOOKS / f"{text.stem}.ipynb"
        notebook.write_text(nbformat.writes(read_lesson(text.read_text("utf-8")), indent=1) + "\n", "utf-8")
        sys.stdout.write(f"{notebook.relative_to(NOTEBOOKS.parent)}\n")


if __name__ == "__main__":
    main()
