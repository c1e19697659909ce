"""The subcommand `grade`: submissions in, a folder of marks and reports out."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

EXAMPLES = (
    "micrograd-plus grade --new week3.toml tanh.x softmax.x\n"
    "micrograd-plus grade submissions/ --assignment week3.toml -o marks/\n"
    "micrograd-plus grade submissions/ --assignment week3.toml -o marks/ --again softmax.x\n"
    "micrograd-plus grade --one work.ipynb --assignment week3.toml --format gradescope -o results.json\n"
    "micrograd-plus grade --pack gradescope --assignment week3.toml -o autograder.zip"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `micrograd-plus grade`."""
    from .sandbox.isolation import LEVELS

    parser.add_argument("submissions", nargs="*", help="files, or folders that hold one submission each entry")
    parser.add_argument("--assignment", metavar="FILE", help="what is marked (.toml)")
    parser.add_argument("--new", metavar="FILE", help="write a new assignment of the exercises named, and stop")
    parser.add_argument(
        "-o", "--output", metavar="PLACE", help="the folder of results (marks/), or the file with --one"
    )
    parser.add_argument("--one", action="store_true", help="all that is named is one submission")
    parser.add_argument("--student", metavar="ID", help="with --one: whose it is")
    parser.add_argument("--student-of", metavar="FILE", help="with --one: the submission_metadata.json that says so")
    parser.add_argument("--format", default="json", help="with --one: json, gradescope, prairielearn, junit, csv")
    parser.add_argument("--columns", help="of the table: names with what they hold, as Student=student,Mark=score")
    parser.add_argument("--attempt", type=int, default=1, help="which attempt is marked; each draws its own inputs")
    parser.add_argument("--again", metavar="EXERCISE", action="append", help="mark this one again, and say what moved")
    parser.add_argument("--isolation", choices=LEVELS, help="the level to use; the strongest there is by itself")
    parser.add_argument("--draw", action="store_true", help="write a page that plays the walk of each first wrong step")
    parser.add_argument("--jobs", type=int, help="how many are marked at a time; one for each core by itself")
    parser.add_argument("--dask", metavar="ADDRESS", help="send the work to a Dask cluster that runs there")
    parser.add_argument("--pack", metavar="SYSTEM", choices=["gradescope", "nbgrader", "otter"],
                        help="write what a school system begins with")  # fmt: skip


class Refused(Exception):  # noqa: N818 - it says what happened to the command
    """Why a command was not carried out, as a sentence."""


def run(chosen: argparse.Namespace) -> int:
    """Carry it out, and return the exit code: 0 where all submissions have marks, whatever is in them."""
    from .assignment import AssignmentError, drawn
    from .sandbox.isolation import LevelError
    from .store import BusyError

    try:
        if chosen.new:
            drawn(Path(chosen.new), chosen.submissions)
            sys.stdout.write(
                f"Wrote {chosen.new}. It holds the secret of the inputs: keep it, and keep it to yourself.\n"
                f"{''.join(map(not_there, chosen.submissions))}"
            )
            return 0
        if not chosen.assignment:
            raise Refused("name the assignment: --assignment FILE (--new FILE EXERCISE... writes one)")
        if chosen.pack:
            return pack(chosen)
        if not chosen.submissions:
            raise Refused("name the submissions, or a folder of them")
        for name in chosen.submissions:
            if not Path(name).exists():
                raise Refused(f"there is no submission {name!r}")
        return one(chosen) if chosen.one else many(chosen)
    except (AssignmentError, LevelError, BusyError, Refused) as error:
        sys.stderr.write(f"micrograd-plus grade: {error}\n")
        return 1
    except PermissionError as error:
        name = error.filename2 or error.filename or ""
        sys.stderr.write(f"micrograd-plus grade: {name} cannot be written or read ({error.strerror}). Is it open in "
                         f"another program? What is marked is kept: run the same command again.\n")  # fmt: skip
        return 1


def not_there(name: str) -> str:
    """What is said of an exercise that does not come along."""
    from .. import exercises

    try:
        exercises.get_exercise(name)
    except (KeyError, ValueError) as error:
        return f'{error.args[0]}. If it is your own, name the file that defines it: files = ["my_exercises.py"].\n'
    return ""


def pack(chosen: argparse.Namespace) -> int:
    """Write what a school system installs."""
    from .assignment import load
    from .formats import gradescope, nbgrader, otter
    from .store import write_whole

    path = Path(chosen.assignment)
    place = Path(chosen.output or ("autograder.zip" if chosen.pack == "gradescope" else f"{path.stem}.ipynb"))
    if chosen.pack == "gradescope":
        gradescope.package(path, place)
    else:
        write_whole(place, {"nbgrader": nbgrader.source, "otter": otter.written}[chosen.pack](load(path)))
    sys.stdout.write(f"Wrote {place}.\n")
    return 0


def one(chosen: argparse.Namespace) -> int:
    """Mark one submission, and write its marks in one format."""
    from .formats import written
    from .formats.gradescope import student_in
    from .submissions import read
    from .worker import Keeper, load

    path = Path(chosen.submissions[0])
    assignment = load(Path(chosen.assignment))
    keeper = Keeper(assignment, chosen.isolation, chosen.attempt)
    try:
        marks = keeper.marks(read(path, student_in(Path(chosen.student_of)) if chosen.student_of else chosen.student))
    finally:
        keeper.sandbox.close()
    text = written(chosen.format, [marks], columns(chosen))
    if chosen.output:
        from .store import write_whole

        write_whole(Path(chosen.output), text)
    else:
        sys.stdout.write(text)
    return 0


def columns(chosen: argparse.Namespace) -> dict[str, str] | None:
    """The columns of the table, by their names."""
    if not chosen.columns:
        return None
    pairs = [each.partition("=") for each in chosen.columns.split(",")]
    return {name: value or name for name, _, value in pairs}


def many(chosen: argparse.Namespace) -> int:
    """Mark a class, and write its reports."""
    from .assignment import load
    from .store import Store

    if chosen.draw and find_spec("micrograd_plus_viz") is None:
        raise Refused('nothing here draws walks: pip install "micrograd_plus[viz]"')
    assignment = load(Path(chosen.assignment))
    unknown = [each for each in chosen.again or [] if each not in assignment.exercises]
    if unknown:
        raise Refused(f"{unknown[0]!r} is not in this assignment; it has {', '.join(assignment.exercises)}")
    store = Store(Path(chosen.output or "marks"))
    with store.alone():
        return a_class(chosen, assignment, store)


def a_class(chosen: argparse.Namespace, assignment: Any, store: Any) -> int:
    """The same, where nobody else writes meanwhile."""
    from . import batch, report
    from .sandbox.isolation import at_least, best

    level = chosen.isolation or best()
    named = batch.submissions_in(map(Path, chosen.submissions))
    if not named:
        raise Refused("there are no submissions in what you named")
    before = {marks["student"]: report.brief(marks) for marks in store.all()} if chosen.again else {}
    if chosen.dask:
        done = by_dask(chosen, named, store)
    else:
        done = batch.graded(named, Path(chosen.assignment), store, level=level, attempt=chosen.attempt,
                            jobs=chosen.jobs,
                            again=chosen.again, progress=batch.progress_line)  # fmt: skip
    report.write(store, assignment, columns(chosen), chosen.draw)
    if not at_least("full" if chosen.dask else level, assignment.isolation):
        sys.stdout.write(f"These marks are provisional: isolation was {level!r}, and the assignment asks for "
                         f"{assignment.isolation!r}.\n")  # fmt: skip
    sys.stdout.write(f"{done.marked} marked, {done.kept} were marked already, {done.failed} need a look. "
                     f"See {store.folder / 'report.html'}.\n")  # fmt: skip
    if chosen.again:
        sys.stdout.write(report.write_moved(store, before, chosen.again))
    return 0


def by_dask(chosen: argparse.Namespace, named: Any, store: Any) -> Any:
    """The class on a cluster."""
    from . import batch

    if chosen.again or chosen.isolation not in (None, "full"):
        raise Refused(
            "--dask marks whole submissions at full isolation, so it goes with neither --again nor --isolation"
        )
    try:
        return batch.graded_by_dask(named, Path(chosen.assignment), store, chosen.dask, attempt=chosen.attempt,
                                    progress=batch.progress_line)  # fmt: skip
    except ImportError as error:
        raise Refused(f'Dask is not installed: {error}: pip install "micrograd_plus[grade]"') from error
