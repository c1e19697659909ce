"""Grading a class: many submissions by several workers. No submission and no interruption costs another one's marks.

The main process holds no submissions and no marks: it writes each reply of a worker to disk. A run that was killed
continues where it stopped.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .assignment import AssignmentError, load_assignment
from .grade import is_graded
from .sandbox.isolation import strongest_level
from .store import Store, to_json
from .submissions import read_submission, student_id
from .worker import Worker, WorkerError, failed_marks, pack_assignment, slow_marks

Progress = Callable[[int, int], None]


@dataclass
class Summary:
    """How many submissions a run marked, how many were unchanged, and how many of those marked the grader failed on."""

    marked: int = 0
    unchanged: int = 0
    failed: int = 0


def find_submissions(places: Iterable[Path]) -> list[tuple[str, Path]]:
    """Return every submission with its student's ID: each file, and everything in each folder.

    Raise `SameStudentError` if two of them have one ID, also if they differ only in case: one would replace the other.
    """
    paths: list[Path] = []
    for place in places:
        if place.is_dir() and not place.is_symlink():
            paths += [each for each in sorted(place.iterdir()) if not each.name.startswith((".", "__"))]
        else:
            paths.append(place)
    owners: dict[str, Path] = {}
    submissions = []
    for path in paths:
        student = student_id(path)
        other = owners.setdefault(unicodedata.normalize("NFKC", student).casefold(), path)
        if other is not path:
            raise SameStudentError(f"{other} and {path} are both the submission of {student!r}: rename or remove one. "
                                   f"Nothing was graded")  # fmt: skip
        submissions.append((student, path))
    return submissions


class SameStudentError(Exception):
    """Two submissions have the ID of one student."""


def grade_class(submissions: list[tuple[str, Path]], assignment: Path, store: Store, *, level: str | None = None,
                attempt: int = 1, jobs: int | None = None, again: list[str] | None = None,
                progress: Progress | None = None, times: dict[str, str] | None = None) -> Summary:  # fmt: skip
    """Grade all submissions and store their marks. Submissions that are already marked and unchanged are skipped.

    `times` has the time of submission of each student, for points off by the assignment's rule.
    """
    setup = {"assignment": pack_assignment(assignment), "level": level, "attempt": attempt}
    waiting, replies = SimpleQueue[Any](), SimpleQueue[Any]()
    count = max(1, min(jobs or os.cpu_count() or 1, len(submissions)))
    first = Worker(setup)  # raises here if the assignment or the level is invalid
    make_task, make_problem = partial(path_task, store, again, times or {}), partial(problem_marks, assignment, setup)
    threads = [threading.Thread(target=run_worker, daemon=True,
                                args=(setup, make_task, make_problem, waiting, replies, None if number else first))
               for number in range(count)]  # fmt: skip
    for student, path in submissions:
        waiting.put((student, path))
    for _ in range(count):
        waiting.put(None)
    for thread in threads:
        thread.start()
    summary = Summary()
    for number in range(1, len(submissions) + 1):
        student, reply = replies.get()
        store_reply(store, student, reply, summary)
        if progress:
            progress(number, len(submissions))
    for thread in threads:
        thread.join()
    return summary


def store_reply(store: Store, student: str, reply: dict[str, Any], summary: Summary) -> None:
    """Write one reply to disk and count it. Marks are written last: if they exist, so does everything else."""
    if reply["text"] is None:
        summary.unchanged += 1
        return
    store.put_walks(student, reply.get("walks", {}))
    store.put_answers(student, reply.get("answers", {}))
    store.put(student, reply["text"])
    summary.marked += 1
    summary.failed += not is_graded(json.loads(reply["text"]))


def path_task(store: Store, again: list[str] | None, times: dict[str, str], student: str, path: Path) -> dict[str, Any]:
    """Return the task of a submission for a worker on this machine."""
    task: dict[str, Any] = {"student": student, "path": str(path), "submitted": times.get(student)}
    before = store.get(student)
    if again and before:
        return task | {"again": again, "before": before}
    return task | {"known": known_fingerprint(before)}


def known_fingerprint(marks: dict[str, Any] | None) -> str | None:
    """Return the fingerprint of the submission that stored marks belong to."""
    return marks.get("fingerprint") if marks else None


def run_worker(setup: dict[str, Any], make_task: Callable[[str, Path], dict[str, Any]],
               make_problem: Callable[[str, Exception], str], waiting: Any, replies: Any,
               worker: Worker | None) -> None:  # fmt: skip
    """Grade submissions with one worker at a time until none is waiting."""
    try:
        while (item := waiting.get()) is not None:
            worker = grade_one(setup, make_problem, worker, item[0], make_task(*item), replies)
    finally:
        if worker is not None:
            worker.close()


def grade_one(setup: dict[str, Any], make_problem: Callable[[str, Exception], str], worker: Worker | None, student: str,
              task: dict[str, Any], replies: Any) -> Worker | None:  # fmt: skip
    """Grade one submission; try again with a new worker if the first one dies. Return the worker that is left."""
    problem: Exception | None = None
    for _ in range(2):
        try:
            worker = worker or Worker(setup)
            worker.send(task)
            replies.put((student, worker.receive()))
            return worker
        except (WorkerError, AssignmentError, OSError, ValueError) as error:
            if worker is not None:
                worker.process.kill()
                worker.close()
            worker, problem = None, error
            if getattr(error, "is_too_slow", False):
                break
    assert problem is not None
    replies.put((student, {"text": make_problem(student, problem)}))
    return None


def grade_path(path: Path, student: str, assignment: Path, level: str | None, attempt: int,
               submitted: str | None = None) -> str:  # fmt: skip
    """Return the marks of one submission, graded by a worker that may die, as JSON."""
    setup = {"assignment": pack_assignment(assignment), "level": level, "attempt": attempt}
    replies = SimpleQueue[Any]()
    worker = grade_one(setup, partial(problem_marks, assignment, setup), Worker(setup), student,
                       {"student": student, "path": str(path), "submitted": submitted}, replies)  # fmt: skip
    if worker is not None:
        worker.close()
    return replies.get()[1]["text"]


def problem_marks(assignment: Path, setup: dict[str, Any], student: str, error: Exception) -> str:
    """Return the marks of a submission on which the workers died: it takes too long to read, or the grader failed."""
    loaded, level = load_assignment(assignment), setup["level"] or strongest_level()
    with contextlib.redirect_stdout(None):
        if getattr(error, "is_too_slow", False):
            return to_json(slow_marks(loaded, student, setup["attempt"], level))
        return to_json(failed_marks(loaded, student, setup["attempt"], level, f"{type(error).__name__}: {error}"[:300]))


# On several machines ------------------------------------------------------------------------------------------------

_local = threading.local()


def grade_on_cluster(setup: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    """Grade one submission with the worker of this thread on a cluster's machine; start the worker if needed.

    The worker requires full isolation. On a machine without it this raises, and no marks are made.
    """
    key = repr(setup)
    if getattr(_local, "key", None) != key:
        _local.worker, _local.key = Worker(setup), key
    try:
        _local.worker.send(task)
        return _local.worker.receive()
    except WorkerError:
        _local.key = None
        raise


def grade_with_dask(submissions: list[tuple[str, Path]], assignment: Path, store: Store, address: str, *,
                    attempt: int = 1, progress: Progress | None = None,
                    times: dict[str, str] | None = None) -> Summary:  # fmt: skip
    """Grade all submissions on a running Dask cluster, with full isolation.

    Dask connects only the teacher's machines. Student processes are isolated as on a single machine.
    """
    from distributed import Client, as_completed

    setup = {"assignment": pack_assignment(assignment), "level": "full", "attempt": attempt}
    summary = Summary()
    with Client(address) as client:
        futures = {client.submit(grade_on_cluster, setup, task, pure=False, retries=1): student
                   for student, task in data_tasks(submissions, store, times or {})}  # fmt: skip
        for number, future in enumerate(as_completed(list(futures)), start=1):
            student = futures[future]
            failure = future.exception() if future.status == "error" else None
            reply = {"text": problem_marks(assignment, setup, student, failure)} if failure else future.result()
            store_reply(store, student, reply, summary)
            if progress:
                progress(number, len(submissions))
    return summary


def data_tasks(
    submissions: list[tuple[str, Path]], store: Store, times: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each student and a task that contains the submission, for machines that cannot read this disk."""
    for student, path in submissions:
        data = asdict(read_submission(path, student))
        yield student, {"submission": data, "submitted": times.get(student),
                        "known": known_fingerprint(store.get(student))}  # fmt: skip


def print_progress(done: int, total: int) -> None:
    """Update one line on a terminal; otherwise print a line for every hundred submissions."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done}/{total} submissions marked" + ("\n" if done == total else ""))
    elif done % 100 == 0 or done == total:
        sys.stderr.write(f"{done}/{total} submissions marked\n")
    sys.stderr.flush()
