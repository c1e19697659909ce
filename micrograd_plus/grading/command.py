"""The subcommand `grade`: submissions in, a folder of marks and reports out."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..files import write_file

EXAMPLES = (
    "micrograd-plus grade --new week3.toml tanh.x softmax.x\n"
    "micrograd-plus grade submissions/ --assignment week3.toml -o marks/\n"
    "micrograd-plus grade submissions/ --assignment week3.toml -o marks/ --again softmax.x\n"
    "micrograd-plus grade --one work.ipynb --assignment week3.toml --format gradescope -o results.json\n"
    "micrograd-plus grade --pack gradescope --assignment week3.toml -o autograder.zip"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `micrograd-plus grade`."""
    from .sandbox.isolation import LEVELS

    parser.add_argument("submissions", nargs="*", help="files, or folders with one submission per entry")
    parser.add_argument("--assignment", metavar="FILE", help="the assignment (.toml)")
    parser.add_argument("--new", metavar="FILE", help="write a new assignment of these exercises, and exit")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="the folder for results (default: marks/); with --one, the file"
    )
    parser.add_argument("--one", action="store_true", help="grade a single submission")
    parser.add_argument("--student", metavar="ID", help="with --one: the student's ID")
    parser.add_argument("--student-of", metavar="FILE", help="with --one: read the ID from submission_metadata.json")
    parser.add_argument("--format", default="json", help="with --one: json, gradescope, prairielearn, junit or csv")
    parser.add_argument("--columns", help="columns of the table and their contents, such as Student=student,Mark=score")
    parser.add_argument("--attempt", type=int, default=1, help="number of the attempt; each draws different inputs")
    parser.add_argument("--again", metavar="EXERCISE", action="append", help="grade this exercise again; list changes")
    parser.add_argument("--isolation", choices=LEVELS, help="level of isolation (default: the strongest available)")
    parser.add_argument("--draw", action="store_true", help="write a page that plays the walk of each first wrong step")
    parser.add_argument("--jobs", type=int, help="number of worker processes (default: one per core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="grade on a running Dask cluster")
    parser.add_argument("--times", metavar="FILE", help="a table of IDs and times of submission, for points off by the "
                        "assignment's rule for late submissions")  # fmt: skip
    parser.add_argument("--write-back", metavar="SYSTEM", choices=["nbgrader"], help="write the marks in the folder -o "
                        "into the gradebook of a school system")  # fmt: skip
    parser.add_argument("--database", metavar="URL", default="sqlite:///gradebook.db", help="with --write-back: the "
                        "address of nbgrader's gradebook (default: sqlite:///gradebook.db)")  # fmt: skip
    parser.add_argument("--pack", metavar="SYSTEM", choices=["gradescope", "nbgrader", "otter"],
                        help="write the files that a school system needs")  # fmt: skip


NOT_GRADED = 3
"""The exit code if the grader failed on a submission."""


class CommandError(Exception):
    """The command cannot be carried out."""


def run(options: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    0: every submission has marks, whatever it contains. 1: the command cannot be carried out. 3: the grader failed on
    some submissions, which are not graded.
    """
    from .assignment import AssignmentError
    from .batch import SameStudentError
    from .lateness import TimesError
    from .sandbox.isolation import IsolationError
    from .store import BusyError

    try:
        return run_task(options)
    except (AssignmentError, IsolationError, BusyError, SameStudentError, TimesError, CommandError) as error:
        sys.stderr.write(f"micrograd-plus grade: {error}\n")
    except OSError as error:
        name = error.filename2 or error.filename or "a file"
        question = " Is it open in another program?" if isinstance(error, PermissionError) else ""
        sys.stderr.write(f"micrograd-plus grade: {name} cannot be read or written ({error.strerror or error})."
                         f"{question} Marks made so far are saved: run the same command again.\n")  # fmt: skip
    return 1


def run_task(options: argparse.Namespace) -> int:
    """Run the command and return the exit code; raise if it cannot be carried out."""
    if options.new:
        return create_assignment(options)
    if not options.assignment:
        raise CommandError("name the assignment: --assignment FILE (--new FILE EXERCISE... writes one)")
    if options.pack:
        return pack(options)
    if not options.submissions and not options.write_back:
        raise CommandError("name the submissions, or a folder of them")
    for name in options.submissions:
        if not Path(name).exists():
            raise CommandError(f"there is no submission {name!r}")
    return grade_single(options) if options.one else grade_all(options)


def create_assignment(options: argparse.Namespace) -> int:
    """Write a new assignment."""
    from .assignment import write_assignment

    write_assignment(Path(options.new), options.submissions)
    sys.stdout.write(f"Wrote {options.new}. It contains the secret for the inputs: keep it, and do not share it.\n"
                     f"For your students: micrograd-plus exercises release {options.new} -o handout\n"
                     f"{''.join(map(note_if_unknown, options.submissions))}")  # fmt: skip
    return 0


def note_if_unknown(name: str) -> str:
    """Return a note for an exercise that micrograd_plus does not contain; empty otherwise."""
    from .. import exercises

    try:
        exercises.get_exercise(name)
    except (KeyError, ValueError) as error:
        return f'{error.args[0]}. If it is your own, name the file that defines it: files = ["my_exercises.py"].\n'
    return ""


def pack(options: argparse.Namespace) -> int:
    """Write the files that a school system needs."""
    from .assignment import load_assignment
    from .formats import gradescope, nbgrader, otter
    from .hand_out import add_imports, copy_files

    path = Path(options.assignment)
    place = Path(options.output or ("autograder.zip" if options.pack == "gradescope" else f"{path.stem}.ipynb"))
    place.parent.mkdir(parents=True, exist_ok=True)
    if options.pack == "gradescope":
        gradescope.write_package(path, place, options.isolation or "user")
    else:
        system = {"nbgrader": nbgrader, "otter": otter}[options.pack]
        assignment = load_assignment(path)
        write_file(place, add_imports(system.source_notebook(assignment), assignment), private=True)
        copy_files(assignment, place.parent)
    sys.stdout.write(f"Wrote {place}.\n")
    return 0


def grade_single(options: argparse.Namespace) -> int:
    """Grade one submission, and write its marks in one format."""
    import json

    from .assignment import load_assignment
    from .batch import grade_path
    from .formats import NAMES, format_marks
    from .formats.gradescope import student_in
    from .grade import is_graded
    from .lateness import read_times
    from .submissions import student_id

    if options.format not in NAMES:
        raise CommandError(f"unknown format {options.format!r}; choose from {', '.join(NAMES)}")
    assignment, path = load_assignment(Path(options.assignment)), Path(options.submissions[0])
    columns = parse_columns(options, assignment)
    student = student_in(Path(options.student_of)) if options.student_of else options.student or student_id(path)
    times = read_times(Path(options.times), assignment.due) if options.times else {}
    marks = json.loads(grade_path(path, student, Path(options.assignment), options.isolation, options.attempt,
                                  times.get(student)))  # fmt: skip
    if not is_graded(marks) and options.format == "gradescope":
        sys.stdout.write("The grader failed on this submission. This is not your fault; please tell your teacher.\n")
        return NOT_GRADED
    text = format_marks(options.format, [marks], columns)
    if options.output:
        write_file(Path(options.output), text, private=True)
    else:
        sys.stdout.write(text)
    return 0 if is_graded(marks) else NOT_GRADED


def parse_columns(options: argparse.Namespace, assignment: Any) -> dict[str, str] | None:
    """Return the columns of the table by name; raise if a column has no known content."""
    from .formats.table import CONTENTS

    if not options.columns:
        return None
    pairs = [each.partition("=") for each in options.columns.split(",")]
    columns = {name: value or name for name, _, value in pairs}
    known = [*CONTENTS, *assignment.exercises]
    for name, content in columns.items():
        if content not in known and not content.startswith(("'", '"')):
            raise CommandError(f"column {name!r} cannot contain {content!r}; choose from {', '.join(known)}, or a text "
                               f"in quotation marks. Nothing was written")  # fmt: skip
    return columns


def grade_all(options: argparse.Namespace) -> int:
    """Grade a class, and write its reports."""
    from .assignment import load_assignment
    from .batch import find_submissions
    from .lateness import read_times
    from .store import Store

    if options.draw and find_spec("micrograd_plus_viz") is None:
        raise CommandError('--draw needs the player: pip install "micrograd_plus[viz]"')
    assignment = load_assignment(Path(options.assignment))
    unknown = [each for each in options.again or [] if each not in assignment.exercises]
    if unknown:
        raise CommandError(f"{unknown[0]!r} is not in this assignment; it has {', '.join(assignment.exercises)}")
    columns = parse_columns(options, assignment)
    if options.write_back:
        return write_back(Store(Path(options.output or "marks")), assignment, options)
    submissions = find_submissions(map(Path, options.submissions))
    if not submissions:
        raise CommandError("there are no submissions in these folders")
    times = read_times(Path(options.times), assignment.due) if options.times else {}
    store = Store(Path(options.output or "marks"))
    with store.lock():
        return grade_into(store, assignment, submissions, columns, options, times)


def write_back(store: Any, assignment: Any, options: argparse.Namespace) -> int:
    """Write marks that exist into the gradebook of a school system."""
    from .grade import is_graded

    try:
        from .formats import nbgrader

        marks = list(store.all())
        unknown = nbgrader.write_back(filter(is_graded, marks), assignment.id, options.database)
    except ImportError as error:
        raise CommandError(f'nbgrader is not installed: {error}: pip install "micrograd_plus[schools]"') from error
    left_out = [each["student"] for each in marks if not is_graded(each)]
    sys.stdout.write(
        f"Wrote the marks of {len(marks) - len(unknown) - len(left_out)} students to {options.database}.\n"
    )
    for names, why in ((unknown, "is not in the gradebook"), (left_out, "is not graded")):
        sys.stdout.write("".join(f"{name} {why}.\n" for name in names))
    return 1 if unknown or left_out or not marks else 0


def grade_into(store: Any, assignment: Any, submissions: Any, columns: Any, options: argparse.Namespace,
               times: dict[str, str]) -> int:  # fmt: skip
    """Grade a class into a folder that is locked for this run."""
    from . import batch, report
    from .sandbox.isolation import is_at_least, strongest_level

    level = "full" if options.dask else options.isolation or strongest_level()
    before = {marks["student"]: report.points_and_reasons(marks) for marks in store.all()}
    if options.dask:
        summary = grade_with_dask(submissions, store, options, times)
    else:
        summary = batch.grade_class(submissions, Path(options.assignment), store, level=level, attempt=options.attempt,
                                    jobs=options.jobs, again=options.again, progress=batch.print_progress,
                                    times=times)  # fmt: skip
    report.write_report(store, assignment, columns, options.draw)
    if not is_at_least(level, assignment.isolation):
        sys.stdout.write(f"These marks are provisional: isolation was {level!r}, and the assignment requires "
                         f"{assignment.isolation!r}.\n")  # fmt: skip
    unreadable = sum(not marks["gradable"] and not marks["failed"] for marks in store.all())
    sys.stdout.write(f"{summary.marked} marked, {summary.unchanged} unchanged, {summary.failed} not graded"
                     f"{f', {unreadable} could not be read' if unreadable else ''}. "
                     f"See {store.folder / 'report.html'}.\n")  # fmt: skip
    without = [student for student, _ in submissions if times and student not in times]
    if without:
        sys.stdout.write(f"{options.times} has no time for {', '.join(without[:10])}: nothing is taken off.\n")
    changes = report.write_changes(store, before, options.again or assignment.exercises)
    if options.again or not changes.startswith("0 "):
        sys.stdout.write(changes)
    if summary.failed:
        sys.stderr.write(f"micrograd-plus grade: the grader failed on {summary.failed} submissions. They have no "
                         f"marks: run the same command again.\n")  # fmt: skip
    return NOT_GRADED if summary.failed else 0


def grade_with_dask(submissions: Any, store: Any, options: argparse.Namespace, times: dict[str, str]) -> Any:
    """Grade a class on a cluster."""
    from . import batch

    if options.again or options.isolation not in (None, "full"):
        raise CommandError(
            "--dask grades whole submissions at full isolation; it cannot be combined with --again or --isolation"
        )
    try:
        return batch.grade_with_dask(submissions, Path(options.assignment), store, options.dask,
                                     attempt=options.attempt, progress=batch.print_progress, times=times)  # fmt: skip
    except ImportError as error:
        raise CommandError(f'Dask is not installed: {error}: pip install "micrograd_plus[grade]"') from error
