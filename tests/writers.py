"""Every way in which the project writes files, and processes that are stopped while they write."""

import io
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

import micrograd_plus as mg
import micrograd_plus.__main__ as command_line
import micrograd_plus_viz as viz
from graded import SECRET, assignment
from micrograd_plus import files
from micrograd_plus.grading import report
from micrograd_plus.grading.assignment import load_assignment, write_assignment
from micrograd_plus.grading.grade import blank_marks
from micrograd_plus.grading.store import Store, to_json

TRACE_SUFFIXES = (".json", ".html", ".svg", ".png", ".gif", ".webp", ".md", ".tex", ".dot")


@cache
def walks():
    """Return two small traces."""
    found = []
    for number in (2.0, 3.0):
        x = mg.tensor(np.full((2, 2), number), requires_grad=True)
        with mg.record() as trace:
            (mg.tanh(x) * x).sum().backward()
        found.append(trace)
    return found


@cache
def questions():
    """Return a quiz about each trace."""
    return [viz.quiz(trace, questions=1) for trace in walks()]


def prepare():
    """Do what every process would do again after the fork: imports, fonts, traces."""
    questions()
    for trace in walks():
        trace.to_json()


def save_state(suffix):
    """Return a function that saves a state in a format."""
    return lambda folder, version: mg.save({"weight": mg.full((300,), version), "step": version}, folder / f"s{suffix}")


def save_walk(suffix):
    """Return a function that saves a trace in a format."""
    return lambda folder, version: viz.save(walks()[version], folder / f"walk{suffix}")


def run_walk(folder, version):
    """Run `walk -o` for a saved trace."""
    (folder.parent / "input.json").write_text(walks()[version].to_json(), encoding="utf-8")
    run_command("walk", str(folder.parent / "input.json"), "-o", str(folder / "page.html"), "--title", "a walk")


def run_command(*arguments):
    """Run a command in this process, without its output."""
    with redirect_stdout(io.StringIO()):
        assert command_line.main(arguments) == 0


def new_notebook(folder, version):
    """Write a starter notebook. It never replaces a file."""
    (folder / "lesson.ipynb").unlink(missing_ok=True)
    run_command("exercises", "new", ("tanh.x", "exp.x")[version], "-o", str(folder / "lesson.ipynb"))


def new_release(folder, version):
    """Release an assignment for two students."""
    path, students = folder.parent / "week.toml", folder.parent / "students.csv"
    path.write_text(f'title = "Week {version}"\nexercises = ["tanh.x"]\nsecret = "{SECRET}"\n', encoding="utf-8")
    students.write_text("ada\nbob\n", encoding="utf-8")
    run_command("exercises", "release", str(path), "-o", str(folder), "--students", str(students))


def new_assignment(folder, version):
    """Write an assignment with a fixed secret. It never replaces a file."""
    (folder / "week.toml").unlink(missing_ok=True)
    with mock.patch("secrets.token_urlsafe", return_value=SECRET):
        write_assignment(folder / "week.toml", [("tanh.x", "exp.x")[version]])


def pack(system):
    """Return a function that packs an assignment for a school system."""

    def write(folder, version):
        path = assignment(folder.parent, name=f"week{version}", title=f'"Week {version}"')
        run_command("grade", "--pack", system, "--assignment", str(path), "-o", str(folder / f"package.{system}"))

    return write


def write_marks(folder, version):
    """Write the marks, the walks and the reports of a class."""
    store = Store(folder / "marks")
    with store.lock():
        before = {marks["student"]: report.points_and_reasons(marks) for marks in store.all()}
        for student in ("ada", "bob"):
            store.put_walks(student, {"tanh.x": walks()[version].to_json()})
            store.put(student, to_json(blank_marks(student=student, score=float(version), gradable=True)))
        report.write_report(store, load_assignment(assignment(folder.parent)))
        report.write_changes(store, before, ["tanh.x"])


def copy_notebooks(folder, version):
    """Copy the installed notebooks. The copy never replaces a folder."""
    installed = folder.parent / "micrograd_plus_notebooks"
    shutil.rmtree(folder / "notebooks", ignore_errors=True)
    for number in range(3):
        installed.mkdir(exist_ok=True)
        (installed / f"0{number}_lesson.ipynb").write_text(f"lesson {version}\n" * 200, encoding="utf-8")
    with mock.patch.object(command_line, "PACKAGE", folder.parent / "micrograd_plus"), redirect_stdout(io.StringIO()):
        command_line.notebooks(folder)


WRITERS: dict[str, Callable[[Path, int], object]] = {
    **{f"mg.save {suffix}": save_state(suffix) for suffix in (".npz", ".safetensors")},
    **{f"viz.save {suffix}": save_walk(suffix) for suffix in TRACE_SUFFIXES},
    "Trace.save": lambda folder, version: walks()[version].save(folder / "trace.json"),
    "Quiz.save": lambda folder, version: questions()[version].save(folder / "quiz.html", "quiz"),
    "a comparison": lambda folder, version: viz.save(viz.compare(*walks()), folder / "pair.html", title=f"{version}"),
    "walk -o": run_walk,
    "exercises new": new_notebook,
    "exercises release": new_release,
    "grade --new": new_assignment,
    **{f"grade --pack {system}": pack(system) for system in ("gradescope", "nbgrader", "otter")},
    "marks and reports": write_marks,
    "lab": copy_notebooks,
}
"""Each writes one of two versions of its files into a folder."""


def read_folder(folder):
    """Return the content of each file in a folder, except temporary files."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if not is_temporary(path, folder)}


def is_temporary(path, folder):
    """Return whether a path belongs to an unfinished write."""
    return any(files.TEMPORARY in part for part in path.relative_to(folder).parts)


def temporaries(folder):
    """Return the names of the temporary files in a folder."""
    return [path.name for path in folder.rglob("*") if is_temporary(path, folder)]


def in_child(action, *, after=None, by=signal.SIGKILL):
    """Run an action in a forked process and return its status; send it a signal after some seconds, if given."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            action()
            status = 0
        finally:
            os._exit(status)
    if after is not None:
        time.sleep(after)
        os.kill(child, by)
    return os.waitpid(child, 0)[1]


class Stop:
    """Stop this process, or interrupt it, at one event of the profiler in the module that writes files."""

    def __init__(self, event, by=None):
        self.left, self.by, self.count = event, by, 0

    def __call__(self, frame, kind, argument):
        if frame.f_code.co_filename == files.__file__:
            self.count += 1
            if self.count == self.left:
                sys.setprofile(None)
                if self.by is not None:
                    raise self.by
                os.kill(os.getpid(), signal.SIGKILL)


def count_events(action):
    """Return the number of events at which `Stop` can act."""
    stop = Stop(-1)
    sys.setprofile(stop)
    try:
        action()
    finally:
        sys.setprofile(None)
    return stop.count


def stop_at(action, event, by=None):
    """Return an action that stops, or raises `by`, at an event."""

    def run():
        sys.setprofile(Stop(event, by))
        try:
            action()
        finally:
            sys.setprofile(None)

    return run


def fill_disk(action, size):
    """Return an action in which a file cannot become larger than a number of bytes."""

    def run():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        action()

    return run
