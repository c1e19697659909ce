"""Worker process: grades one submission after the other. It reads and writes one line of JSON for each.

A worker that dies is replaced, so a submission that crashes the grader's own code costs no other marks. Workers use
JSON so that nothing that comes from a submission is unpickled.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .assignment import Assignment, AssignmentError, load_assignment, parse_assignment
from .cells import Cell
from .grade import blank_marks, grade_submission, is_graded, ungradable_marks, zero_marks
from .lateness import take_off_points
from .reasons import reason
from .sandbox.boxes import Sandbox, SandboxError
from .store import to_json
from .submissions import Submission, read_submission

REMOVED_VARIABLES = {"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"}
READING_SECONDS = 20
"""Processor time that reading and parsing one submission may take."""


# In the worker's process ----------------------------------------------------------------------------------------------


def main() -> None:
    """Grade the submissions that arrive until there are no more."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # so that nothing printed is mistaken for a reply
    setup = json.loads(sys.stdin.readline())
    try:
        assignment = unpack_assignment(setup["assignment"])
        grader = Grader(assignment, setup["level"], setup["attempt"])
        with contextlib.redirect_stdout(None):  # what `define` prints was seen where the exercises were written
            assignment.definitions  # noqa: B018 - loaded now, so that an error is reported once
    except Exception as error:  # noqa: BLE001 - a teacher's own file may raise anything
        message = str(error) if isinstance(error, AssignmentError) else f"{type(error).__name__}: {error}"
        write_line(replies, {"error": message})
        return
    write_line(replies, {"ready": True})
    try:
        for line in sys.stdin:
            write_line(replies, grader.reply(json.loads(line)))
    finally:
        grader.sandbox.close()


def write_line(stream: Any, message: dict[str, Any]) -> None:
    """Write a message as one line of JSON."""
    stream.write(json.dumps(message) + "\n")
    stream.flush()


class Grader:
    """Grades submissions with a sandbox, which it replaces if it fails."""

    def __init__(self, assignment: Assignment, level: str | None, attempt: int) -> None:
        self.assignment, self.level, self.attempt = assignment, level, attempt
        self.sandbox = Sandbox(level)

    def reply(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return the marks for a task as text; None as text if they are known and unchanged."""
        before = time.process_time()
        with limit_processor_time(READING_SECONDS):
            submission = load_submission(task)
            for cell in submission.cells:
                cell.analysis  # noqa: B018 - parsed now, while the limit holds
        spent, submitted = time.process_time() - before, task.get("submitted")
        fingerprint = self.fingerprint(submission, submitted)
        if task.get("known") == fingerprint:
            return {"student": submission.student, "text": None}
        walks: dict[str, str] = {}
        answers: dict[str, Any] = {}
        marks = self.grade(submission, walks, answers, spent)
        if task.get("again"):
            marks = merge_marks(marks, task["before"], task["again"])
        marks = take_off_points(marks, self.assignment, submitted)
        marks["fingerprint"] = fingerprint if is_graded(marks) else None
        return {"student": submission.student, "text": to_json(marks), "walks": walks, "answers": answers}

    def grade(self, submission: Submission, walks: dict[str, str] | None = None,
              answers: dict[str, Any] | None = None, spent: float = 0.0) -> dict[str, Any]:  # fmt: skip
        """Return the marks of a submission. If the sandbox fails, try a new one once; if that fails, give no marks."""
        failure = ""
        for _ in range(2):
            try:
                return grade_submission(
                    submission, self.assignment, self.sandbox, self.attempt, walks=walks, answers=answers, spent=spent
                )
            except (SandboxError, OSError, MemoryError) as error:
                self.sandbox.close()
                self.sandbox = Sandbox(self.level)
                failure = f"{type(error).__name__}: {error}"[:300]
        return failed_marks(self.assignment, submission.student, self.attempt, self.sandbox.level, failure)

    def fingerprint(self, submission: Submission, submitted: str | None = None) -> str:
        """Return a hash of everything that the marks depend on: submission and its time, assignment, level, attempt."""
        cells = [[cell.where, cell.source] for cell in submission.cells]
        parts = [submitted, submission.student, submission.problem, cells,
                 self.assignment.fingerprint(), self.sandbox.level, self.attempt]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode("utf-8", "backslashreplace")).hexdigest()


@contextlib.contextmanager
def limit_processor_time(seconds: int) -> Iterator[None]:
    """Let the system end this process with SIGXCPU if the block takes longer; systems without it have no limit."""
    try:
        import resource
    except ImportError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def failed_marks(assignment: Assignment, student: str, attempt: int, level: str, why: str) -> dict[str, Any]:
    """Return marks that say that the grader failed on a submission: no points count, and the next run tries again."""
    marks = blank_marks(assignment=assignment.id, student=student, attempt=attempt, isolation=level,
                        problem=reason("failed"), failed=list(assignment.exercises),
                        max_score=assignment.total_points(), remarks=[why])  # fmt: skip
    marks["exercises"] = [zero_marks(assignment, name, reason("failed")) for name in assignment.exercises]
    return marks | {"fingerprint": None}


def slow_marks(assignment: Assignment, student: str, attempt: int, level: str) -> dict[str, Any]:
    """Return the marks of a submission that takes too long to read."""
    submission = Submission(student, problem=reason("slow_reading", seconds=READING_SECONDS))
    return ungradable_marks(submission, assignment, attempt, level) | {"fingerprint": None}


def load_submission(task: dict[str, Any]) -> Submission:
    """Return the submission of a task, which contains its path or its data."""
    if "path" in task:
        return read_submission(Path(task["path"]), task["student"])
    data = task["submission"]
    return Submission(**{**data, "cells": [Cell(**cell) for cell in data["cells"]]})


def merge_marks(marks: dict[str, Any], before: dict[str, Any], again: list[str]) -> dict[str, Any]:
    """Return marks in which only the exercises in `again` are new, and the others are as before."""
    earlier = {each["exercise"]: each for each in before["exercises"]}
    merged = [each if each["exercise"] in again else earlier.get(each["exercise"], each) for each in marks["exercises"]]
    return {**marks, "exercises": merged, "score": round(sum(each["points"] for each in merged), 6)}


# Sending an assignment ------------------------------------------------------------------------------------------------


def pack_assignment(path: Path) -> dict[str, Any]:
    """Return an assignment, with the files that define its exercises, as plain data."""
    assignment = load_assignment(path)
    files = {name: base64.b64encode(source).decode() for name, source in assignment.sources.items()}
    return {"name": path.name, "text": path.read_text(encoding="utf-8"), "files": files}


def unpack_assignment(data: dict[str, Any]) -> Assignment:
    """Return a packed assignment. Nothing is written to disk, so a worker that is killed leaves nothing there."""
    assignment = parse_assignment(data["text"], data["name"])
    assignment.sources = {name: base64.b64decode(text) for name, text in data["files"].items()}
    return assignment


# In the main process --------------------------------------------------------------------------------------------------


class WorkerError(Exception):
    """A worker process ended."""

    def __init__(self, message: str, is_too_slow: bool = False) -> None:
        super().__init__(message)
        self.is_too_slow = is_too_slow
        """Whether the system ended it because a submission took too long to read."""


class Worker:
    """A worker process, as seen from the main process."""

    def __init__(self, setup: dict[str, Any]) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in REMOVED_VARIABLES}
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from micrograd_plus.grading.worker import main; main()"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=inherited | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.send(setup)
        first = self.receive()
        if "error" in first:
            self.close()
            raise AssignmentError(first["error"])

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()
        except OSError as error:
            raise WorkerError(f"a worker ended ({error})") from error

    def receive(self) -> dict[str, Any]:
        """Wait for the reply."""
        stream = self.process.stdout
        assert stream is not None
        line = stream.readline()
        if not line:
            code = self.process.wait()
            raise WorkerError(f"a worker ended (exit code {code})", code == -getattr(signal, "SIGXCPU", -1))
        return json.loads(line)

    def close(self) -> None:
        """End the process when it has finished its work."""
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
