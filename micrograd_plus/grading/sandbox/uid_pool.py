"""Slots: the user ids that students have on this machine, each in one hand at a time, and what dead hands left.

A slot is held by a lock on a file. The grader takes it, and the server of its boxes and their wardens hold it with it:
where a grader is killed, its slot is taken until the last process of its boxes has ended.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .chroot import cache

FIRST_USER, MOST_SLOTS = 64100, 400
"""The user ids that students have on this machine: one for each slot."""
OF_THE_MACHINE = Path("/run")
"""Where all graders of a machine find the same locks, since user ids are those of the machine."""


class SlotError(Exception):
    """There is no slot to be had."""


def folder() -> Path:
    """Where the locks lie: in a folder of root's own."""
    for place in (OF_THE_MACHINE / "micrograd_plus", cache() / "slots"):
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if place.stat().st_uid == os.geteuid() and os.access(place, os.W_OK):
                return place
    raise SlotError("there is no folder for the locks of slots")


def locked(path: Path) -> IO[str] | None:
    """A file that nobody else has locked, locked; None where somebody has."""
    import fcntl

    file = path.open("w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def free_slot() -> tuple[int, Any]:
    """A slot that nobody holds and whose user has no process left, with the lock that holds it."""
    place, busy = folder(), users_with_processes()
    for number in range(MOST_SLOTS):
        if FIRST_USER + number in busy:
            continue
        lock = locked(place / str(number))
        if lock is not None:
            return number, lock
    raise SlotError("every slot is taken")


def swept(jail: Path) -> None:
    """Clear away the folders of slots that nobody holds: their graders were killed."""
    for box in boxes_in(jail):
        lock = locked(folder() / str(int(box.name) - FIRST_USER))
        if lock is not None:
            with lock:
                if int(box.name) not in users_with_processes():
                    shutil.rmtree(box, ignore_errors=True)


def boxes_in(jail: Path) -> Iterator[Path]:
    """The folders of slots at the level *user*, each named by its user id."""
    last = FIRST_USER + MOST_SLOTS
    for each in (jail / "boxes").iterdir():
        if each.name.isdecimal() and FIRST_USER <= int(each.name) < last:
            yield each


def users_with_processes() -> set[int]:
    """The user ids of everything that runs."""
    found = set()
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdecimal():
                found.add(entry.stat().st_uid)
    return found
