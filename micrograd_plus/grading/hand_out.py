"""The teacher's own exercises in the hands of students, if the teacher chooses so: for feedback in their notebooks.

A file with own exercises contains the right answers. So students get it only if the assignment names it in `hand_out`.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..files import write_file
from .assignment import Assignment

FIRST_LINE = "from micrograd_plus import exercises"
"""The line of notebooks and scripts after which own exercises are imported."""


def add_imports(text: str, assignment: Assignment) -> str:
    """Return a notebook or a script that imports the own exercises that are handed out."""
    lines = "".join(f"\nimport {Path(name).stem}  # exercises of your teacher" for name in assignment.hand_out)
    if not text.lstrip().startswith("{"):
        return text.replace(FIRST_LINE, FIRST_LINE + lines, 1)
    book = json.loads(text)
    for cell in book["cells"]:
        if cell["cell_type"] == "code" and cell["source"].startswith(FIRST_LINE):
            cell["source"] = cell["source"].replace(FIRST_LINE, FIRST_LINE + lines, 1)
            break
    return json.dumps(book, indent=1) + "\n"


def copy_files(assignment: Assignment, folder: Path) -> None:
    """Copy the files that are handed out beside a notebook."""
    for name in assignment.hand_out:
        write_file(folder / Path(name).name, (assignment.folder / name).read_bytes())


def add_to_release(assignment: Assignment, name: str, folder: Path) -> list[str]:
    """Add the own exercises to all released notebooks and scripts, and return the files that students get."""
    if not assignment.hand_out:
        return []
    works = [path for place in (folder, folder / "nbgrader" / name) for path in place.glob(f"{name}.*")]
    works += [path for path in (folder / "students").glob("*") if path.name not in assignment.hand_out]
    for path in works:
        write_file(path, add_imports(path.read_text(encoding="utf-8"), assignment))
    for place in {path.parent for path in works}:
        copy_files(assignment, place)
    return assignment.hand_out
