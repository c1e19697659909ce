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


def set_aside(folder: Path) -> Path | None:
    """Rename a folder, so that its name is free at once, and return its new place; None if there is no such folder."""
    waiting = folder.with_name(f"{TRASH}{secrets.token_hex(8)}")
    try:
        return folder.rename(waiting)
    except FileNotFoundError:
        return None


def remove(folder: Path) -> None:
    """Remove a folder as far as possible. What cannot be removed keeps its name, which no box uses."""
    with contextlib.suppress(OSError):
        remove_folder(folder)


def discard(folder: Path) -> None:
    """Take a folder away at once, then remove it."""
    left = set_aside(folder)
    if left is not None:
        remove(left)


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it; links are removed and not followed.

    Folders inside are moved to the top one by one and emptied there, so neither the stack nor a path grows with depth.
    Another process may remove the same folder at the same time.
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
            with contextlib.suppress(FileNotFoundError):
                waiting += remove_or_move_up(waiting.pop(), top, names)
    finally:
        os.close(top)
    folder.rmdir()


def remove_or_move_up(name: str, top: int, names: Iterator[str]) -> list[str]:
    """Remove one folder at the top, and return the names of its folders, which are at the top now."""
    number = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        moved = empty_folder(number, top, names)
    finally:
        os.close(number)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(name, dir_fd=top)
    return moved


def empty_folder(number: int, top: int, names: Iterator[str]) -> list[str]:
    """Unlink the files of an open folder, move its folders to the top, and return their names there."""
    with os.scandir(number) as entries:
        found = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    folders = []
    for name, is_folder in found:
        with contextlib.suppress(FileNotFoundError):
            if not is_folder:
                os.unlink(name, dir_fd=number)
            elif number == top:
                folders.append(name)
            else:
                new = next(names)
                os.rename(name, new, src_dir_fd=number, dst_dir_fd=top)
                folders.append(new)
    return folders
