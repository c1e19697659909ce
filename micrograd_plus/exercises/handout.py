"""Starter notebooks, and what an assignment hands out: prompts and starters, and no answer anywhere.

A notebook is plain JSON of the format 4.5. Cells carry nbgrader's metadata, of which everything else takes no notice;
the scoring cells end in a plain number, and give feedback only: what runs in a student's kernel can be changed by the
student.
"""

from __future__ import annotations

import csv
import io
import json
import re
import runpy
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .registry import get_exercise, list_exercises
from .spec import GROUPS, Exercise
from .student_key import YOUR_ID, derive_key


class ReleaseError(Exception):
    """What is wrong with an assignment, as a sentence for the teacher."""


def lesson(name: str) -> list[Exercise]:
    """The exercises of a lesson: a group by its name or its number from 1, or ids with commas between."""
    if name.isdecimal() and 1 <= int(name) <= len(GROUPS):
        return list_exercises(GROUPS[int(name) - 1])
    if name in GROUPS:
        return list_exercises(name)
    try:
        return [get_exercise(each.strip()) for each in name.split(",")]
    except (KeyError, ValueError) as error:
        groups = "; ".join(f"{i}: {group}" for i, group in enumerate(GROUPS, start=1))
        raise ReleaseError(f"{error.args[0]}. A lesson is a group ({groups}) or ids with commas between") from error


def starter_notebook(
    chosen: Sequence[Exercise], title: str, *, points: Mapping[str, float] | None = None, scored: bool = False,
    identify: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A notebook with the prompt and the starter of each exercise; with `scored`, and a cell that scores it. `sheet` is
    the line that says whose walks are shown."""
    first = "from micrograd_plus import exercises"
    cells = [
        markdown("title", f"# {title}\n\nEach answer is checked as soon as its cell is run, on fresh inputs. "
                          f"`exercises.hint()` gives three hints, one after the other."),
        code("setup", first, locked=True),
        *([code("identify", identify)] if identify else []),
    ]  # fmt: skip
    for each in chosen:
        worth = (points or {}).get(each.id, each.points)
        heading = f"## {headline(each)} ({worth:g} points)"
        cells.append(markdown(f"{each.function_name}_prompt", f"{heading}\n\n{each.prompt}"))
        cells.append(code(each.function_name, each.starter.rstrip("\n"), solution=True))
        if scored:
            name = each.function_name
            cells.append(code(
                f"{name}_score", f'exercises.score("{each.id}", globals().get("{name}"), of={float(worth)!r})',
                locked=True, points=float(worth),
            ))  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def headline(exercise: Exercise) -> str:
    """An exercise's id, and its title where it has one."""
    return exercise.id if exercise.title == exercise.id else f"{exercise.id}: {exercise.title}"


def markdown(name: str, text: str) -> dict[str, Any]:
    """A cell of text."""
    return {"cell_type": "markdown", "id": cell_id(name), "metadata": {}, "source": text}


def code(
    name: str, text: str, *, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, Any]:
    """A cell of code, with what nbgrader wants to know of it."""
    about = {"schema_version": 3, "grade_id": name, "grade": points is not None, "solution": solution,
             "locked": locked, "task": False, "cell_type": "code"}  # fmt: skip
    if points is not None:
        about["points"] = points
    return {"cell_type": "code", "id": cell_id(name), "execution_count": None, "metadata": {"nbgrader": about},
            "outputs": [], "source": text}  # fmt: skip


def cell_id(name: str) -> str:
    """A cell's id, as the format wants it: up to 64 letters, digits, - and _."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:64]


# An assignment --------------


class Handout(NamedTuple):
    """What of an assignment is handed out."""

    title: str
    chosen: list[Exercise]
    points: dict[str, float]
    key: str | None
    """Of which the numbers of walks are made; None where the assignment has no secret."""

    def sheet(self, student: str = YOUR_ID) -> str | None:
        """The line that says whose walks are shown, where an exercise shows some."""
        return identify_line(self.chosen, self.key, student)


def identify_line(chosen: Sequence[Exercise], key: str | None, student: str = YOUR_ID) -> str | None:
    """The same of any exercises."""
    if key is None or not any(each.has_own_walk for each in chosen):
        return None
    return f"exercises.identify({json.dumps(key)}, {json.dumps(student)})"


def read_assignment(path: Path) -> Handout:
    """What an assignment's file says of what is handed out; exercises of one's own are defined first."""
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
        raise ReleaseError(f"{path.name}: `exercises` is a list of ids")
    try:
        chosen = [get_exercise(each) for each in ids]
    except (KeyError, ValueError) as error:
        raise ReleaseError(f"{path.name}: {error.args[0]}") from error
    secret = data.get("secret")
    key = derive_key(secret) if isinstance(secret, str) else None
    return Handout(str(data.get("title") or path.stem), chosen, dict(data.get("points", {})), key)


def release(path: Path, folder: Path, students: Sequence[str] = ()) -> list[Path]:
    """Write what students are handed, and what each school system wants of it; the files that were written.

    `NAME.ipynb` opens anywhere; `NAME.py` is the same as a script, for systems that take files;
    `nbgrader/NAME/NAME.ipynb` has scoring cells and belongs into a course's `release` folder; `points.csv` says what
    each exercise is worth. For each of `students` there are the notebook and the script once more, with the id filled
    in, as `students/ID.ipynb` and `students/ID.py`.
    """
    handout = read_assignment(path)
    title, chosen, points, _ = handout
    name = path.stem
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["exercise", "title", "kind", "points"])
    rows.writerows([each.id, each.title, each.kind, f"{points.get(each.id, each.points):g}"] for each in chosen)

    def written(sheet: str | None, scored: bool = False) -> str:
        notebook = starter_notebook(chosen, title, points=points, scored=scored, identify=sheet)
        return json.dumps(notebook, indent=1) + "\n"

    files = {
        folder / f"{name}.ipynb": written(handout.sheet()),
        folder / f"{name}.py": script(chosen, title, handout.sheet()),
        folder / "nbgrader" / name / f"{name}.ipynb": written(handout.sheet(), scored=True),
        folder / "points.csv": table.getvalue(),
    }
    for each in students:
        files[folder / "students" / f"{each}.ipynb"] = written(handout.sheet(each))
        files[folder / "students" / f"{each}.py"] = script(chosen, title, handout.sheet(each))
    for place, text in files.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return list(files)


STUDENT = re.compile(r"[\w.@+-]{1,80}", re.ASCII)
"""What an id is made of; work is known by it as the name of a file."""


def read_students(path: Path) -> list[str]:
    """The ids in a file: the first word of each line, or the first column of a table. A heading is left out."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"there is no list of students {str(path)!r}") from error
    found = [line.replace(";", ",").partition(",")[0].strip().strip('"') for line in lines if line.strip()]
    found = found[found[:1] in ([each] for each in HEADINGS) :]
    for each in found:
        if not STUDENT.fullmatch(each) or each.strip(".") != each:
            raise ReleaseError(f"{path.name}: {each!r} is no id; an id is made of letters, digits and . @ + - _")
    if len({each.casefold() for each in found}) < len(found):
        raise ReleaseError(f"{path.name}: an id stands there twice")
    return found


HEADINGS = ("id", "ID", "student", "Student", "student_id", "Student ID", "sis_id", "SIS User ID", "email", "Email")
"""What the first line of a list of students may be, in place of a student."""


def script(chosen: Sequence[Exercise], title: str, sheet: str | None = None) -> str:
    """The starters as one Python file."""
    parts = [f'"""{title}."""\n\nfrom micrograd_plus import exercises\n', f"\n{sheet}\n" if sheet else ""]
    for each in chosen:
        asked = "\n".join(f"# {line}".rstrip() for line in f"{headline(each)}\n\n{each.prompt}".splitlines())
        parts.append(f"\n\n{asked}\n\n{each.starter}")
    return "".join(parts)
