"""The three levels of isolation, which of them work on this machine, and what each promises."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache

from .inside import linux

LEVELS = ("none", "user", "full")
"""From weakest to strongest."""

PROMISES = {
    "full": "separate namespaces. Student code sees no other process, no network, and no files except Python's and "
    "NumPy's, which are read-only. Its folder is in memory, with limited size and number of files. All its processes "
    "end with it",
    "user": "a separate user ID and root folder. Student code sees no files except Python's and NumPy's. All processes "
    "of its user ID are killed at the end. It can detect that other processes exist, and the number of its files is "
    "not limited",
    "none": "a separate process with the grader's user ID. Student code can read and write the grader's files, use the "
    "network, and signal the grader. Values are still compared outside it. Use this level to try things out, not for "
    "marks",
}
"""What each level promises, and what it does not."""


class IsolationError(Exception):
    """The machine does not have this level of isolation."""


def strongest_level() -> str:
    """Return the strongest level that works on this machine."""
    return next(level for level in reversed(LEVELS) if is_available(level))


def is_at_least(level: str, required: str) -> bool:
    """Return whether a level is as strong as the required one."""
    return LEVELS.index(level) >= LEVELS.index(required)


def is_root() -> bool:
    """Return whether this process can take other user IDs."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@cache
def is_available(level: str) -> bool:
    """Return whether a level works on this machine. It is tried out, since kernels and containers differ."""
    if level == "none":
        return True
    if not linux.is_supported() or not hasattr(os, "pidfd_open"):
        return False
    return succeeds_in_fork(try_namespaces if level == "full" else try_another_user)


def try_namespaces() -> None:
    """Enter new namespaces of every kind and mount a file system there; raise OSError if that fails."""
    from .inside.supervisor import enter_namespaces

    enter_namespaces(1 if is_root() else None)
    if os.fork() == 0:
        try:
            linux.mount("none", "/", None, linux.RECURSIVE | linux.PRIVATE)
            linux.mount("box", "/dev/shm", "tmpfs", 0)  # noqa: S108 - it is mounted in this namespace only, as a test
            os._exit(0)
        finally:
            os._exit(1)
    if os.wait()[1]:
        raise OSError("mounting failed")


def try_another_user() -> None:
    """Change the root folder and the user ID; raise OSError if that fails."""
    if not is_root():
        raise PermissionError("only root can change the user ID")
    os.chroot("/")
    os.setgroups([])
    os.setresgid(65533, 65533, 65533)
    os.setresuid(65533, 65533, 65533)


def succeeds_in_fork(body: Callable[[], None]) -> bool:
    """Return whether a function returns normally in a forked process."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child only calls the kernel, and takes no locks
        child = os.fork()
    if child == 0:
        try:
            body()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
