"""The command `micrograd-plus exercises`: list exercises, write a starter notebook, release an assignment."""

# ruff: noqa: T201 - a command line prints

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..files import write_file
from .handout import ReleaseError, find_lesson, read_students, release, starter_notebook
from .registry import list_exercises
from .spec import GROUPS


def run(options: argparse.Namespace) -> int:
    """Run the command; raise ReleaseError if it is not possible."""
    if options.what == "list":
        print_exercises(options.of)
        return 0
    if not options.of:
        raise ReleaseError(f"an argument is missing: micrograd-plus exercises {options.what} "
                           f"{'LESSON' if options.what == 'new' else 'ASSIGNMENT.toml'}")  # fmt: skip
    if options.what == "new":
        write_lesson(options.of, options.output)
        return 0
    path = Path(options.of)
    if Path(options.output or "").suffix in (".ipynb", ".py", ".zip"):
        raise ReleaseError(f"-o {options.output}: a release is a folder with several files; name the folder")
    students = read_students(Path(options.students)) if options.students else []
    files = release(path, Path(options.output or f"{path.stem}-release"), students)
    for file in files[: len(files) - 2 * len(students)]:
        print(f"Wrote {file}")
    if students:
        print(f"Wrote {files[-1].parent}: a notebook and a script for each of {len(students)} students")
    return 0


def print_exercises(group: str) -> None:
    """Print the exercises of one group, or of all if the name is empty."""
    exercises = find_lesson(group) if group else list_exercises()
    for number, name in enumerate(GROUPS, start=1):
        members = [each for each in exercises if each.group == name]
        if members:
            print(f"{number}. {name}")
            width = max(len(each.id) for each in members)
            for each in members:
                print(f"  {each.id:<{width}}  {each.points:g} points  {each.kind:<10}  {each.title}")
            print()


def write_lesson(name: str, output: str | None) -> None:
    """Write the starter notebook of a lesson."""
    exercises = find_lesson(name)
    title = exercises[0].group if len({each.group for each in exercises}) == 1 else "Exercises"
    file = Path(output or f"{title.replace(' ', '_')}.ipynb")
    if file.exists():
        raise ReleaseError(f"{file} exists already")
    if not file.parent.is_dir():
        raise ReleaseError(f"there is no folder {file.parent}")
    notebook = starter_notebook(exercises, title[:1].upper() + title[1:])
    write_file(file, json.dumps(notebook, indent=1) + "\n")
    print(f"Wrote {file}: {len(exercises)} exercises.")
