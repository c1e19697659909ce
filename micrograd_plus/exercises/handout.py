"""Starter notebooks, and the files of an assignment for students: prompts and starters, but no answers.

A notebook is JSON of the format 4.5. Its cells have nbgrader's metadata, which other programs ignore. The scoring cells
return a plain number and give feedback only, since students can change whatever runs in their own kernel.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import runpy
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..files import write_file
from .prompts import ABOUT_XP
from .registry import get_exercise, list_exercises
from .spec import GROUPS, Exercise
from .student_key import YOUR_ID, derive_key


class ReleaseError(Exception):
    """A problem with an assignment, as a sentence for the teacher."""


def find_lesson(name: str) -> list[Exercise]:
    """Return the exercises of a lesson: a group by its name or its number from 1, or ids.

    Commas or spaces separate the ids.
    """
    if name.isdecimal() and 1 <= int(name) <= len(GROUPS):
        return list_exercises(GROUPS[int(name) - 1])
    if name in GROUPS:
        return list_exercises(name)
    try:
        return [get_exercise(each) for each in re.split(r"[,\s]+", name.strip(", "))]
    except (KeyError, ValueError) as error:
        groups = "; ".join(f"{i}: {group}" for i, group in enumerate(GROUPS, start=1))
        said = f"{error.args[0]}{'' if error.args[0].endswith('?') else '.'}"
        raise ReleaseError(f"{said} A lesson is a group ({groups}) or ids of exercises") from error


# Notebooks ------------------


HOW_TO = ("Run a cell to check your answer at once, on newly drawn inputs. `exercises.hint()` gives you three hints, "
          "one after the other. `exercises.walk()` shows your answer at work, step by step (write "
          "`import micrograd_plus_viz` first, to play it), `exercises.inputs()` returns the inputs of the call that "
          "failed.")  # fmt: skip
"""What the first cell of a notebook of exercises says."""


def starter_notebook(
    exercises: Sequence[Exercise], title: str, *, points: Mapping[str, float] | None = None, scored: bool = False,
    identify: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return a notebook with the prompt and the starter of each exercise.

    With `scored`, each exercise has a scoring cell. `identify` is the line with which students enter their id.
    """
    about, prompts = share_paragraphs(exercises)
    cells = [
        markdown_cell("title", "\n\n".join(filter(None, [f"# {title}", HOW_TO, about]))),
        code_cell("setup", "from micrograd_plus import exercises", locked=True),
        *([code_cell("identify", identify)] if identify else []),
    ]  # fmt: skip
    for each, prompt in zip(exercises, prompts, strict=True):
        name, worth = each.function_name, (points or {}).get(each.id, each.points)
        cells.append(markdown_cell(f"{name}_prompt", f"## {headline(each)} ({worth:g} points)\n\n{each.about}\n\n"
                                               f"{prompt}"))  # fmt: skip
        cells.append(code_cell(name, each.starter.rstrip("\n"), solution=True))
        if scored:
            call = f'exercises.score("{each.id}", globals().get("{name}"), of={float(worth)!r})'
            cells.append(code_cell(f"{name}_score", call, locked=True, points=float(worth)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def starter_script(exercises: Sequence[Exercise], title: str, identify: str | None = None) -> str:
    """Return the starters as one Python file."""
    about, prompts = share_paragraphs(exercises)
    parts = [f'"""{title}."""\n\nfrom micrograd_plus import exercises\n', f"\n{identify}\n" if identify else ""]
    parts += [f"\n{comment(about)}\n"] if about else []
    for each, prompt in zip(exercises, prompts, strict=True):
        parts += ["\n\n", comment(f"{headline(each)}\n\n{prompt}"), "\n\n", each.starter]
    return "".join(parts)


def comment(text: str) -> str:
    """Return a text as a comment."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def share_paragraphs(exercises: Sequence[Exercise]) -> tuple[str, list[str]]:
    """Return what the prompts of a sheet say of `xp`, and the prompts without it.

    The paragraphs differ in how many functions they list. The longest holds for all: a prompt itself says which
    functions its exercise does not offer.
    """
    parts = [each.prompt.split("\n\n") for each in exercises]
    about = [part for prompt in parts for part in prompt if part.startswith(ABOUT_XP)]
    prompts = ["\n\n".join(part for part in prompt if part not in about) for prompt in parts]
    return max(about, key=len, default=""), prompts


def headline(exercise: Exercise) -> str:
    """Return an exercise's id and, if it differs, its title."""
    return exercise.id if exercise.title == exercise.id else f"{exercise.id}: {exercise.title}"


def markdown_cell(name: str, text: str) -> dict[str, Any]:
    """Return a cell of text."""
    return {"cell_type": "markdown", "id": cell_id(name), "metadata": {}, "source": text}


def code_cell(
    name: str, text: str, *, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, Any]:
    """Return a cell of code with nbgrader's metadata."""
    metadata = {"schema_version": 3, "grade_id": name, "grade": points is not None, "solution": solution,
                "locked": locked, "task": False, "cell_type": "code"}  # fmt: skip
    if points is not None:
        metadata["points"] = points
    return {"cell_type": "code", "id": cell_id(name), "execution_count": None, "metadata": {"nbgrader": metadata},
            "outputs": [], "source": text}  # fmt: skip


def cell_id(name: str) -> str:
    """Return a valid id for a cell: at most 64 letters, digits, - and _. A long name ends in a hash of all of it."""
    valid = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    return valid if len(valid) <= 64 else f"{valid[:55]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


# An assignment --------------


class Handout(NamedTuple):
    """The public part of an assignment."""

    title: str
    exercises: list[Exercise]
    points: dict[str, float]
    key: str | None
    """The key for the numbers of walks; None if the assignment has no secret."""

    def identify_line(self, student: str = YOUR_ID) -> str | None:
        """Return the line with which students enter their id, if an exercise shows walks."""
        return identify_line(self.exercises, self.key, student)

    def notebook(self, student: str = YOUR_ID, *, scored: bool = False) -> str:
        """Return the notebook for a student as JSON."""
        notebook = starter_notebook(self.exercises, self.title, points=self.points, scored=scored,
                                    identify=self.identify_line(student))  # fmt: skip
        return json.dumps(notebook, indent=1) + "\n"

    def script(self, student: str = YOUR_ID) -> str:
        """Return the script for a student."""
        return starter_script(self.exercises, self.title, self.identify_line(student))

    def points_table(self) -> str:
        """Return the points of each exercise as CSV."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["exercise", "title", "kind", "points"])
        rows.writerows([each.id, each.title, each.kind, f"{self.points.get(each.id, each.points):g}"]
                       for each in self.exercises)  # fmt: skip
        return text.getvalue()


def identify_line(exercises: Sequence[Exercise], key: str | None, student: str = YOUR_ID) -> str | None:
    """Return the line with which students enter their id; None if no exercise shows a walk of their own."""
    if key is None or not any(each.has_own_walk for each in exercises):
        return None
    return f"exercises.identify({json.dumps(key)}, {json.dumps(student)})"


def read_assignment(path: Path) -> Handout:
    """Read an assignment's file. The files with the teacher's own exercises run first."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseError(f"there is no assignment {str(path)!r}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{path.name} is not TOML: {error}") from error
    for name in data.get("files", []):
        runpy.run_path(str(path.parent / name), run_name="own_exercises")
    ids = data.get("exercises")
    if not isinstance(ids, list) or not ids:
        raise ReleaseError(f"{path.name}: `exercises` must be a list of ids")
    try:
        exercises = [get_exercise(each) for each in ids]
    except (KeyError, ValueError) as error:
        raise ReleaseError(f"{path.name}: {error.args[0]}") from error
    secret = data.get("secret")
    key = derive_key(secret) if isinstance(secret, str) else None
    return Handout(str(data.get("title") or path.stem), exercises, dict(data.get("points", {})), key)


def release(path: Path, folder: Path, students: Sequence[str] = ()) -> list[Path]:
    """Write the files for students and for school systems, and return their paths.

    `NAME.ipynb` opens anywhere. `NAME.py` is the same as a script. `nbgrader/NAME/NAME.ipynb` has scoring cells and
    belongs into a course's `release` folder. `points.csv` has the points of each exercise. For each of `students`,
    `students/ID.ipynb` and `students/ID.py` have the id filled in.
    """
    handout, name = read_assignment(path), path.stem
    files = {
        folder / f"{name}.ipynb": handout.notebook(),
        folder / f"{name}.py": handout.script(),
        folder / "nbgrader" / name / f"{name}.ipynb": handout.notebook(scored=True),
        folder / "points.csv": handout.points_table(),
    }
    for each in students:
        files[folder / "students" / f"{each}.ipynb"] = handout.notebook(each)
        files[folder / "students" / f"{each}.py"] = handout.script(each)
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, text)
    return list(files)


STUDENT = re.compile(r"[\w.@+-]{1,80}", re.ASCII)
"""The pattern of an id, which is also the name of a file."""
HEADINGS = {
    "id", "name", "student", "student id", "student name", "students", "sis id", "sis user id", "sis login id", "email",
    "e mail", "email address", "user", "user id", "username", "login", "account", "number", "matriculation number",
}  # fmt: skip
"""Headings that the first line of a list of students may have, in lower case, with spaces for `_` and `-`."""


def read_students(path: Path) -> list[str]:
    """Read a list of students: the first word of each line, or the first column of a table, without the heading."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"there is no list of students {str(path)!r}") from error
    students = [line.replace(";", ",").partition(",")[0].strip().strip('"') for line in lines if line.strip()]
    if students and students[0].casefold().replace("_", " ").replace("-", " ") in HEADINGS:
        students = students[1:]
    for each in students:
        if not STUDENT.fullmatch(each) or each.strip(".") != each:
            raise ReleaseError(f"{path.name}: {each!r} is not a valid id; an id has letters, digits and . @ + - _")
    if len({each.casefold() for each in students}) < len(students):
        raise ReleaseError(f"{path.name}: an id occurs twice")
    return students
