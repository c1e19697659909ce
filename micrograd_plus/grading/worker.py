"""A worker: a process that marks one submission after the other, a line of JSON in, a line of JSON out.

It is started anew where it dies, so nothing that a submission brings the grader's own readers to do costs more than
that submission. Lines of JSON, so that nothing that comes from a submission is ever unpickled.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .assignment import Assignment, AssignmentError, load
from .mark import marked
from .reasons import say
from .sandbox.boxes import Sandbox, SandboxError
from .store import text_of
from .submissions import Cell, Submission, read

LEAVES_ALONE = {"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"}


# The worker's side --------------------------------------------------------------------------------------------------


def main() -> None:
    """Mark what comes in until nothing does."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints, prints where it cannot be taken for marks
    setup = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory(prefix="own-exercises-") as folder:
        try:
            assignment = unpacked(setup["assignment"], Path(folder))
            keeper = Keeper(assignment, setup["level"], setup["attempt"])
            with contextlib.redirect_stdout(None):  # that own exercises are proved was said where they were written
                assignment.found  # noqa: B018 - found before the first submission, so what is wrong is said once
        except Exception as error:  # noqa: BLE001 - a teacher's own file may raise anything
            said = str(error) if isinstance(error, AssignmentError) else f"{type(error).__name__}: {error}"
            say_line(answers, {"refused": said})
            return
        say_line(answers, {"ready": True, "level": keeper.sandbox.level})
        try:
            for line in sys.stdin:
                say_line(answers, keeper.answer(json.loads(line)))
        finally:
            keeper.sandbox.close()


def say_line(answers: Any, what: dict[str, Any]) -> None:
    """One line out."""
    answers.write(json.dumps(what) + "\n")
    answers.flush()


class Keeper:
    """A sandbox that is started anew where it breaks."""

    def __init__(self, assignment: Assignment, level: str | None, attempt: int) -> None:
        self.assignment, self.level, self.attempt = assignment, level, attempt
        self.sandbox = Sandbox(level)

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        """The marks of one submission, as they are written, or why they stay as they were."""
        submission = given(job)
        mark = fingerprint(submission, self.assignment, self.sandbox.level, self.attempt)
        if job.get("known") == mark:
            return {"student": submission.student, "text": None}
        walks: dict[str, str] = {}
        marks = self.marks(submission, walks)
        if job.get("again"):
            marks = joined(marks, job["before"], job["again"])
        marks["fingerprint"] = mark
        return {"student": submission.student, "text": text_of(marks), "walks": walks}

    def marks(self, submission: Submission, walks: dict[str, str] | None = None) -> dict[str, Any]:
        """The marks; where the sandbox breaks, of a second one; where that breaks as well, none, and that is said."""
        for last in (False, True):
            try:
                return marked(submission, self.assignment, self.sandbox, self.attempt, walks=walks)
            except (SandboxError, OSError, MemoryError) as error:
                self.sandbox.close()
                self.sandbox = Sandbox(self.level)
                if last:
                    return not_marked(submission, self.assignment, self.sandbox, f"{type(error).__name__}: {error}")
        raise AssertionError("unreachable")


def not_marked(submission: Submission, assignment: Assignment, sandbox: Sandbox, what: str) -> dict[str, Any]:
    """The marks of a submission on which the grader itself failed."""
    submission.problem = say("failed")
    submission.remarks.append(what[:300])
    return marked(submission, assignment, sandbox)


def given(job: dict[str, Any]) -> Submission:
    """The submission of a job: where it lies, or itself."""
    if "path" in job:
        return read(Path(job["path"]), job["student"])
    data = job["submission"]
    return Submission(**{**data, "cells": [Cell(**cell) for cell in data["cells"]]})


def fingerprint(submission: Submission, assignment: Assignment, level: str, attempt: int) -> str:
    """What tells whether marks are those of this very submission, assignment and level."""
    about = [submission.student, submission.problem, [[cell.where, cell.source] for cell in submission.cells],
             assignment.print(), level, attempt]  # fmt: skip
    return hashlib.sha256(json.dumps(about).encode("utf-8", "backslashreplace")).hexdigest()


def joined(marks: dict[str, Any], before: dict[str, Any], again: list[str]) -> dict[str, Any]:
    """Marks in which only the exercises that are marked again are new."""
    old = {each["exercise"]: each for each in before["exercises"]}
    made = [each if each["exercise"] in again else old.get(each["exercise"], each) for each in marks["exercises"]]
    return {**marks, "exercises": made, "score": round(sum(each["points"] for each in made), 6)}


# Packing an assignment ----------------------------------------------------------------------------------------------


def packed(path: Path) -> dict[str, Any]:
    """An assignment with the exercises of its own, as plain data that can travel to another machine."""
    assignment = load(path)
    files = {name: base64.b64encode((path.parent / name).read_bytes()).decode() for name in assignment.files}
    return {"id": assignment.id, "text": path.read_text(encoding="utf-8"), "files": files}


def unpacked(data: dict[str, Any], folder: Path) -> Assignment:
    """The same, put into a folder of this machine."""
    for name, text in data["files"].items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(base64.b64decode(text))
    (folder / f"{data['id']}.toml").write_text(data["text"], encoding="utf-8")
    return load(folder / f"{data['id']}.toml")


# The other side -----------------------------------------------------------------------------------------------------


class WorkerError(Exception):
    """A worker that ended, with the last it said."""


class Worker:
    """A worker as the process sees it that hands out the work."""

    def __init__(self, setup: dict[str, Any]) -> None:
        kept = {name: value for name, value in os.environ.items() if name not in LEAVES_ALONE}
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from micrograd_plus.grading.worker import main; main()"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.send(setup)
        first = self.receive()
        if "refused" in first:
            self.close()
            raise AssignmentError(first["refused"])
        self.level = first["level"]

    def send(self, what: dict[str, Any]) -> None:
        """Hand out work."""
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.write(json.dumps(what).encode() + b"\n")
            stream.flush()
        except OSError as error:
            raise WorkerError(f"a worker ended ({error})") from error

    def receive(self) -> dict[str, Any]:
        """Wait for its answer."""
        stream = self.process.stdout
        assert stream is not None
        line = stream.readline()
        if not line:
            raise WorkerError(f"a worker ended (exit code {self.process.wait()})")
        return json.loads(line)

    def close(self) -> None:
        """Let it finish."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


if __name__ == "__main__":
    main()
