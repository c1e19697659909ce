"""Folder of results: one file of marks for each student. A file is written completely or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import remove_leftovers, write_file

BESIDE = ".beside"
"""The end of the name of a file with what is shown beside a walk."""


class BusyError(Exception):
    """Another run is writing into the folder."""


@contextlib.contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Lock a folder, and yield whether that worked. Systems without such locks always yield True."""
    try:
        import fcntl

        number = os.open(folder, os.O_RDONLY)
    except (ImportError, PermissionError):
        yield True
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_first = True
    except OSError as error:
        is_first = not isinstance(error, BlockingIOError)  # another error means that this disk has no locks
    try:
        yield is_first
    finally:
        os.close(number)


class Store:
    """Folder of results. Each file in it is complete, even if a run is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marks = folder, folder / "marks"
        self.marks.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder for this run and remove temporary files of killed runs; raise `BusyError` if it is locked."""
        with try_lock(self.marks) as is_first:
            if not is_first:
                raise BusyError(f"another run is writing into {self.folder}: wait for it, or name another folder")
            for name in (".", "marks", "walks", "students", "answers"):
                remove_leftovers(self.folder / name)
            yield

    def path(self, student: str) -> Path:
        """Return the file of a student's marks."""
        return self.marks / f"{student}.json"

    def get(self, student: str) -> dict[str, Any] | None:
        """Return a student's marks; None if there is no valid file."""
        try:
            marks = json.loads(self.path(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return marks if type(marks) is dict else None

    def put(self, student: str, text: str) -> None:
        """Write a student's marks."""
        write_file(self.path(student), text, private=True)

    def put_walks(self, student: str, walks: dict[str, str]) -> None:
        """Write the walks through a student's first wrong calls, and remove earlier ones."""
        folder = self.folder / "walks"
        folder.mkdir(exist_ok=True)
        files = {folder / f"{student}--{exercise}.json": text for exercise, text in walks.items()}
        for file, text in files.items():
            write_file(file, text, private=True)
        for earlier in folder.glob("*.json"):
            if earlier.stem.rpartition("--")[0] == student and earlier not in files:
                earlier.unlink()

    def put_answers(self, student: str, answers: dict[str, Any]) -> None:
        """Write the code of a student's answers, which the report shows beside their marks."""
        (self.folder / "answers").mkdir(exist_ok=True)
        write_file(self.folder / "answers" / f"{student}.json", json.dumps(answers, indent=1) + "\n", private=True)

    def answers(self, student: str) -> dict[str, Any]:
        """Return the code of a student's answers; empty if it was deleted."""
        try:
            answers = json.loads((self.folder / "answers" / f"{student}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return answers if type(answers) is dict else {}

    def all(self) -> Iterator[dict[str, Any]]:
        """Yield the marks of all students by ID, one at a time."""
        for path in sorted(self.marks.glob("*.json")):
            marks = self.get(path.stem)
            if marks is not None:
                yield marks


def to_json(marks: dict[str, Any]) -> str:
    """Return marks as JSON. Equal marks give equal bytes."""
    return json.dumps(marks, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
