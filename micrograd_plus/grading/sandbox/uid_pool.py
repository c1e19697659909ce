"""Pool of Unix user IDs for student processes. Each ID is leased to one grader at a time.

A lease is a lock on a file. The grader's boxes inherit the lock, so if the grader is killed, its user ID becomes free
when the last process of its boxes has ended. The next grader removes the folders that stale leases left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .chroot import cache_folder
from .inside.clearing import TRASH, discard, remove_folder

USER_IDS = range(64100, 64500)
MACHINE_FOLDER = Path("/run")
"""All graders of a machine find the same locks here, since user IDs belong to the machine."""


class UidPoolError(Exception):
    """No user ID can be leased."""


def lock_folder() -> Path:
    """Return the folder of the locks, which belongs to root."""
    for folder in (MACHINE_FOLDER / "micrograd_plus", cache_folder() / "user-ids"):
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid == os.geteuid() and os.access(folder, os.W_OK):
                return folder
    raise UidPoolError("there is no folder for the locks of user IDs")


def try_lock(uid: int) -> IO[str] | None:
    """Return the locked file of a user ID; None if another process has locked it."""
    import fcntl

    file = (lock_folder() / str(uid)).open("w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def lease() -> tuple[int, IO[str]]:
    """Return a free user ID that has no processes, and its lock."""
    busy = user_ids_in_use()
    for uid in USER_IDS:
        lock = try_lock(uid) if uid not in busy else None
        if lock is not None:
            return uid, lock
    raise UidPoolError("every user ID of the pool is in use")


def remove_stale_boxes(root: Path) -> None:
    """Remove the box folders of user IDs that are not leased: their graders were killed."""
    for folder in (root / "boxes").glob(f"{TRASH}*"):
        with contextlib.suppress(OSError):  # another grader may be removing it
            remove_folder(folder)
    for folder in box_folders(root):
        lock = try_lock(int(folder.name))
        if lock is not None:
            with lock, contextlib.suppress(OSError):
                if int(folder.name) not in user_ids_in_use():
                    discard(folder)


def box_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of boxes at the level *user*, each named by its user ID."""
    for folder in (root / "boxes").iterdir():
        if folder.name.isdecimal() and int(folder.name) in USER_IDS:
            yield folder


def user_ids_in_use() -> set[int]:
    """Return the user IDs of all processes."""
    users = set()
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdecimal():
                users.add(entry.stat().st_uid)
    return users
