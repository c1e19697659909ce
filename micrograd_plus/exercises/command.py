"""The command `micrograd-plus exercises`: list them, write a starter notebook, release an assignment."""

# ruff: noqa: T201 - a command line prints

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .handout import ReleaseError, lesson, read_students, release, starter_notebook
from .registry import list_exercises
from .spec import GROUPS


def run(chosen: argparse.Namespace) -> int:
    """Do what is wanted; `ReleaseError` says what is in the way."""
    if chosen.what == "list":
        show(chosen.of)
        return 0
    if chosen.of is None:
        raise ReleaseError(f"say of what: micrograd-plus exercises {chosen.what} "
                           f"{'LESSON' if chosen.what == 'new' else 'ASSIGNMENT.toml'}")  # fmt: skip
    if chosen.what == "new":
        write_lesson(chosen.of, chosen.output)
        return 0
    path = Path(chosen.of)
    students = read_students(Path(chosen.students)) if chosen.students else []
    places = release(path, Path(chosen.output or f"{path.stem}-release"), students)
    for place in places[: len(places) - 2 * len(students)]:
        print(f"Wrote {place}")
    if students:
        print(f"Wrote {places[-1].parent}: a notebook and a script for each of {len(students)} students")
    return 0


def show(group: str | None) -> None:
    """Print the exercises, group by group."""
    chosen = lesson(group) if group else list_exercises()
    for number, name in enumerate(GROUPS, start=1):
        mine = [each for each in chosen if each.group == name]
        if mine:
            print(f"{number}. {name}")
            width = max(len(each.id) for each in mine)
            for each in mine:
                print(f"  {each.id:<{width}}  {each.points:g} points  {each.kind:<10}  {each.title}")
            print()


def write_lesson(name: str, output: str | None) -> None:
    """Write the starter notebook of a lesson."""
    chosen = lesson(name)
    title = chosen[0].group if len({each.group for each in chosen}) == 1 else "Exercises"
    place = Path(output or f"{title.replace(' ', '_')}.ipynb")
    if place.exists():
        raise ReleaseError(f"{place} is there already")
    if not place.parent.is_dir():
        raise ReleaseError(f"there is no folder {place.parent}")
    notebook = starter_notebook(chosen, title[:1].upper() + title[1:])
    place.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")
    print(f"Wrote {place}: {len(chosen)} exercises.")
