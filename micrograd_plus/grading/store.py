"""Where marks lie: one file for each student, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class BusyError(Exception):
    """Another run is at work in a folder, as a sentence for the teacher."""


@contextlib.contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Hold a folder, and say whether nobody else does; where there are no locks of folders, nobody does."""
    try:
        import fcntl

        number = os.open(folder, os.O_RDONLY)
    except (ImportError, PermissionError):
        yield True
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        first = True
    except OSError as error:
        first = not isinstance(error, BlockingIOError)  # another error is a disk's that has no locks
    try:
        yield first
    finally:
        os.close(number)


class Store:
    """A folder of results. Whatever moment a run is killed at, each file in it is complete."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marks = folder, folder / "marks"
        self.marks.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody else write here meanwhile, and clear away what somebody who was killed was about to write. Where
        another run is at work here, a `BusyError`."""
        with held(self.marks) as first:
            if not first:
                raise BusyError(f"another run is writing into {self.folder}: wait for it, or name another folder")
            for left in [*self.marks.glob(".being-written-*"), *self.folder.glob(".being-written-*")]:
                with contextlib.suppress(OSError):
                    left.unlink()
            yield

    def path(self, student: str) -> Path:
        """The file of a student's marks."""
        return self.marks / f"{student}.json"

    def get(self, student: str) -> dict[str, Any] | None:
        """A student's marks; None where there are none, or none that can be read."""
        try:
            found = json.loads(self.path(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if type(found) is dict else None

    def put(self, student: str, text: str) -> None:
        """Keep a student's marks."""
        write_whole(self.path(student), text)

    def put_walks(self, student: str, walks: dict[str, str]) -> None:
        """Keep the walks through a student's first wrong calls, in the place of those that were there."""
        folder = self.folder / "walks"
        folder.mkdir(exist_ok=True)
        for left in folder.glob(f"{student}--*.json"):
            left.unlink()
        for exercise, text in walks.items():
            write_whole(folder / f"{student}--{exercise}.json", text)

    def all(self) -> Iterator[dict[str, Any]]:
        """Every student's marks, by id, one at a time."""
        for path in sorted(self.marks.glob("*.json")):
            found = self.get(path.stem)
            if found is not None:
                yield found


def write_whole(path: Path, text: str) -> None:
    """Write a file beside its place, wait until it is on the disk, then put it there at once."""
    number, name = tempfile.mkstemp(prefix=".being-written-", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o600)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def text_of(marks: dict[str, Any]) -> str:
    """Marks as they are written: the same data gives the same bytes."""
    return json.dumps(marks, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
