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
    from .sandbox.isolation import IsolationError
    from .store import BusyError

    try:
        if options.new:
            return create_assignment(options)
        if not options.assignment:
            raise CommandError("name the assignment: --assignment FILE (--new FILE EXERCISE... writes one)")
        if options.pack:
            return pack(options)
        if not options.submissions:
            raise CommandError("name the submissions, or a folder of them")
        for name in options.submissions:
            if not Path(name).exists():
                raise CommandError(f"there is no submission {name!r}")
        return grade_single(options) if options.one else grade_all(options)
    except (AssignmentError, IsolationError, BusyError, SameStudentError, CommandError) as error:
        sys.stderr.write(f"micrograd-plus grade: {error}\n")
        return 1
    except PermissionError as error:
        name = error.filename2 or error.filename or ""
        sys.stderr.write(f"micrograd-plus grade: {name} cannot be read or written ({error.strerror}). Is it open in "
                         f"another program? Marks made so far are saved: run the same command again.\n")  # fmt: skip
        return 1


def create_assignment(options: argparse.Namespace) -> int:
    """Write a new assignment."""
    from .assignment import write_assignment

    write_assignment(Path(options.new), options.submissions)
    sys.stdout.write(f"Wrote {options.new}. It contains the secret for the inputs: keep it, and do not share it.\n"
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

    path = Path(options.assignment)
    place = Path(options.output or ("autograder.zip" if options.pack == "gradescope" else f"{path.stem}.ipynb"))
    if options.pack == "gradescope":
        gradescope.write_package(path, place)
    else:
        system = {"nbgrader": nbgrader, "otter": otter}[options.pack]
        write_file(place, system.source_notebook(load_assignment(path)), private=True)
    sys.stdout.write(f"Wrote {place}.\n")
    return 0


def grade_single(options: argparse.Namespace) -> int:
    """Grade one submission, and write its marks in one format."""
    import json

    from .batch import grade_path
    from .formats import format_marks
    from .formats.gradescope import student_in
    from .grade import is_graded
    from .submissions import student_id

    columns, path = parse_columns(options), Path(options.submissions[0])
    student = student_in(Path(options.student_of)) if options.student_of else options.student or student_id(path)
    marks = json.loads(grade_path(path, student, Path(options.assignment), options.isolation, options.attempt))
    if not is_graded(marks) and options.format == "gradescope":
        sys.stdout.write("The grader failed on this submission. This is not your fault; please tell your teacher.\n")
        return NOT_GRADED
    text = format_marks(options.format, [marks], columns)
    if options.output:
        write_file(Path(options.output), text, private=True)
    else:
        sys.stdout.write(text)
    return 0 if is_graded(marks) else NOT_GRADED


def parse_columns(options: argparse.Namespace) -> dict[str, str] | None:
    """Return the columns of the table by name."""
    if not options.columns:
        return None
    pairs = [each.partition("=") for each in options.columns.split(",")]
    return {name: value or name for name, _, value in pairs}


def grade_all(options: argparse.Namespace) -> int:
    """Grade a class, and write its reports."""
    from .assignment import load_assignment
    from .store import Store

    if options.draw and find_spec("micrograd_plus_viz") is None:
        raise CommandError('--draw needs the player: pip install "micrograd_plus[viz]"')
    assignment = load_assignment(Path(options.assignment))
    unknown = [each for each in options.again or [] if each not in assignment.exercises]
    if unknown:
        raise CommandError(f"{unknown[0]!r} is not in this assignment; it has {', '.join(assignment.exercises)}")
    store = Store(Path(options.output or "marks"))
    with store.lock():
        return grade_into(store, assignment, options)


def grade_into(store: Any, assignment: Any, options: argparse.Namespace) -> int:
    """Grade a class into a folder that is locked for this run."""
    from . import batch, report
    from .sandbox.isolation import is_at_least, strongest_level

    level = "full" if options.dask else options.isolation or strongest_level()
    submissions = batch.find_submissions(map(Path, options.submissions))
    if not submissions:
        raise CommandError("there are no submissions in these folders")
    before = {marks["student"]: report.points_and_reasons(marks) for marks in store.all()} if options.again else {}
    if options.dask:
        summary = grade_with_dask(submissions, store, options)
    else:
        summary = batch.grade_class(submissions, Path(options.assignment), store, level=level, attempt=options.attempt,
                                    jobs=options.jobs, again=options.again,
                                    progress=batch.print_progress)  # fmt: skip
    report.write_report(store, assignment, parse_columns(options), options.draw)
    if not is_at_least(level, assignment.isolation):
        sys.stdout.write(f"These marks are provisional: isolation was {level!r}, and the assignment requires "
                         f"{assignment.isolation!r}.\n")  # fmt: skip
    sys.stdout.write(f"{summary.marked} marked, {summary.unchanged} unchanged, {summary.failed} not graded. "
                     f"See {store.folder / 'report.html'}.\n")  # fmt: skip
    if options.again:
        sys.stdout.write(report.write_changes(store, before, options.again))
    if summary.failed:
        sys.stderr.write(f"micrograd-plus grade: the grader failed on {summary.failed} submissions. They have no "
                         f"marks: run the same command again.\n")  # fmt: skip
    return NOT_GRADED if summary.failed else 0


def grade_with_dask(submissions: Any, store: Any, options: argparse.Namespace) -> Any:
    """Grade a class on a cluster."""
    from . import batch

    if options.again or options.isolation not in (None, "full"):
        raise CommandError(
            "--dask grades whole submissions at full isolation; it cannot be combined with --again or --isolation"
        )
    try:
        return batch.grade_with_dask(submissions, Path(options.assignment), store, options.dask,
                                     attempt=options.attempt, progress=batch.print_progress)  # fmt: skip
    except ImportError as error:
        raise CommandError(f'Dask is not installed: {error}: pip install "micrograd_plus[grade]"') from error
