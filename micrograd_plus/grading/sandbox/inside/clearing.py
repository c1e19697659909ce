"""Removal of folders of any depth and size, without recursion and without long paths."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

TRASH = "trash-"
"""Folders with this prefix wait for their removal, which a killed grader may have left unfinished."""
HAS_DESCRIPTORS = {os.open, os.rename, os.unlink, os.rmdir} <= os.supports_dir_fd and os.scandir in os.supports_fd


def discard(folder: Path) -> None:
    """Rename a folder, so that its name is free at once, and remove it. Errors while removing are ignored."""
    waiting = folder.with_name(f"{TRASH}{secrets.token_hex(8)}")
    try:
        folder.rename(waiting)
    except FileNotFoundError:
        return
    with contextlib.suppress(OSError):
        remove_folder(waiting)


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it; links are removed and not followed.

    Folders inside are moved to the top one by one and emptied there, so neither the stack nor a path grows with depth.
    """
    if not HAS_DESCRIPTORS:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        return
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        names = (f"{TRASH}{secrets.token_hex(8)}-{number}" for number in count())
        waiting = empty_folder(top, top, names)
        while waiting:
            name = waiting.pop()
            number = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                waiting += empty_folder(number, top, names)
            finally:
                os.close(number)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def empty_folder(number: int, top: int, names: Iterator[str]) -> list[str]:
    """Unlink the files of an open folder, move its folders to the top, and return their names there."""
    with os.scandir(number) as entries:
        found = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    folders = []
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=number)
        elif number == top:
            folders.append(name)
        else:
            folders.append(next(names))
            os.rename(name, folders[-1], src_dir_fd=number, dst_dir_fd=top)
    return folders
