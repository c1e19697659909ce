"""A whole class: many submissions, several at a time, whatever happens to one of them or to the run.

The process that hands out the work holds no submission and no marks: what comes from a worker goes to the disk, and a
run that was killed is taken up where it was.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .assignment import AssignmentError
from .store import Store
from .submissions import read, student_of
from .worker import Worker, WorkerError, packed


@dataclass
class Done:
    """What a run did: how many were marked, how many had been before, and those on which a worker ended twice."""

    marked: int = 0
    kept: int = 0
    failed: int = 0


def submissions_in(places: Iterable[Path], one: bool = False) -> list[tuple[str, Path]]:
    """Each submission with its student's id: every file that is named, and everything in every folder that is."""
    found = []
    for place in places:
        if place.is_dir() and not one and not place.is_symlink():
            found += [each for each in sorted(place.iterdir()) if not each.name.startswith((".", "__"))]
        else:
            found.append(place)
    met: dict[str, int] = {}
    named = []
    for path in found:
        student = student_of(path)
        count = met[student.casefold()] = met.get(student.casefold(), 0) + 1
        named.append((student if count == 1 else f"{student}-{count}", path))
    return named


def graded(named: list[tuple[str, Path]], assignment: Path, store: Store, *, level: str | None = None, attempt: int = 1,
           jobs: int | None = None, again: list[str] | None = None,
           progress: Callable[[int, int], None] | None = None) -> Done:  # fmt: skip
    """Mark all submissions, and keep their marks. Those that are marked already, as they are, are left alone."""
    setup = {"assignment": packed(assignment), "level": level, "attempt": attempt}
    waiting, answers = SimpleQueue[Any](), SimpleQueue[Any]()
    count = max(1, min(jobs or os.cpu_count() or 1, len(named)))
    first = Worker(setup)  # what is wrong with the assignment or the level is met here, once
    jobs_of = job_maker(store, again)
    threads = [threading.Thread(target=worked, daemon=True,
                                args=(setup, waiting, answers, None if place else first, jobs_of))
               for place in range(count)]  # fmt: skip
    for student, path in named:
        waiting.put((student, path))
    for _ in range(count):
        waiting.put(None)
    for thread in threads:
        thread.start()
    done = Done()
    for place in range(len(named)):
        student, answer, failed = answers.get()
        keep(store, student, answer, done, failed)
        if progress:
            progress(place + 1, len(named))
    for thread in threads:
        thread.join()
    return done


def keep(store: Store, student: str, answer: dict[str, Any], done: Done, failed: bool) -> None:
    """Put one answer on the disk, and count it. The marks come last: where they are, all that goes with them is."""
    if answer["text"] is None:
        done.kept += 1
        return
    store.put_walks(student, answer.get("walks", {}))
    store.put(student, answer["text"])
    done.marked += 1
    done.failed += failed


def job_maker(store: Store, again: list[str] | None) -> Callable[[str, Path], dict[str, Any]]:
    """What makes a worker's job of a submission."""

    def job(student: str, path: Path) -> dict[str, Any]:
        before = store.get(student)
        made: dict[str, Any] = {"student": student, "path": str(path)}
        if again and before:
            return made | {"again": again, "before": before}
        return made | {"known": before.get("fingerprint") if before else None}

    return job


def worked(setup: dict[str, Any], waiting: Any, answers: Any, worker: Worker | None, jobs_of: Any) -> None:
    """One worker's share of the work. Where it dies, the submission is tried with another; once, then it is said."""
    try:
        while (item := waiting.get()) is not None:
            worker = one(setup, worker, jobs_of(*item), item[0], answers)
    finally:
        if worker is not None:
            worker.close()


def one(setup: dict[str, Any], worker: Worker | None, job: dict[str, Any], student: str, answers: Any) -> Worker | None:
    """One submission by a worker that is there, or by a new one; the worker that is there afterwards."""
    for last in (False, True):
        try:
            worker = worker or Worker(setup)
            worker.send(job)
            answers.put((student, worker.receive(), False))
            return worker
        except (WorkerError, AssignmentError, OSError, ValueError):
            if worker is not None:
                worker.process.kill()
                worker.close()
            worker = None
            if last:
                answers.put((student, {"text": failure(setup, student)}, True))
    return None


def failure(setup: dict[str, Any], student: str) -> str:
    """The marks of a submission on which two workers ended: none, and that the grader is to be looked at."""
    from .reasons import say
    from .store import text_of

    return text_of({
        "schema": "micrograd_plus/marks/1", "assignment": setup["assignment"]["id"], "student": student,
        "attempt": setup["attempt"], "isolation": setup["level"], "provisional": True, "gradable": False,
        "problem": say("failed"), "score": 0.0, "max_score": 0.0, "exercises": [], "remarks": [], "tampering": [],
        "fingerprint": None,
    })  # fmt: skip


# On several machines ------------------------------------------------------------------------------------------------

_kept = threading.local()


def on_a_machine(setup: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """One submission by the worker that this thread of a cluster's machine keeps. It is started with the first, and
    full isolation is asked for: where a machine has less, this raises and no marks come of it."""
    key = repr(setup)
    if getattr(_kept, "key", None) != key:
        _kept.worker, _kept.key = Worker(setup), key
    try:
        _kept.worker.send(job)
        return _kept.worker.receive()
    except WorkerError:
        _kept.key = None
        raise


def graded_by_dask(named: list[tuple[str, Path]], assignment: Path, store: Store, address: str, *, attempt: int = 1,
                   progress: Callable[[int, int], None] | None = None) -> Done:  # fmt: skip
    """The same by the machines of a Dask cluster that is there already, at *full* isolation only.

    Dask's own transport joins the teacher's machines; what reaches a student's process is what always does.
    """
    from distributed import Client, as_completed

    setup = {"assignment": packed(assignment), "level": "full", "attempt": attempt}
    done = Done()
    with Client(address) as client:
        futures = {client.submit(on_a_machine, setup, job, pure=False, retries=1): student
                   for student, job in travelling(named, store)}  # fmt: skip
        for place, future in enumerate(as_completed(list(futures))):
            student = futures[future]
            failed = future.status == "error"
            answer = {"text": failure(setup, student)} if failed else future.result()
            keep(store, student, answer, done, failed)
            if progress:
                progress(place + 1, len(named))
    return done


def travelling(named: list[tuple[str, Path]], store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each submission with what is in it, for machines that do not see this one's disk."""
    for student, path in named:
        before = store.get(student)
        yield (
            student,
            {"submission": asdict(read(path, student)), "known": before.get("fingerprint") if before else None},
        )


def progress_line(done: int, of: int) -> None:
    """One line that is written over, where somebody watches; otherwise one line for each hundred."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done}/{of} submissions marked" + ("\n" if done == of else ""))
    elif done % 100 == 0 or done == of:
        sys.stderr.write(f"{done}/{of} submissions marked\n")
    sys.stderr.flush()
