"""The three levels of isolation, which of them this machine has, and what each promises."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache

from .inside import linux

LEVELS = ("none", "user", "full")
"""From the weakest to the strongest."""

PROMISES = {
    "full": "namespaces of its own: it sees no other process, no network and no file but Python's and NumPy's, which "
    "it cannot write; its folder lies in memory and has a fixed size and number of files; all it starts ends with it",
    "user": "another user id in a folder that is its root: it sees no file but Python's and NumPy's; all it starts is "
    "ended by that user id. It can find out that other processes exist, and nothing caps the number of its files",
    "none": "a process of its own under the grader's own user id: it can read and write what the grader can, reach "
    "the network and signal the grader. Values are still compared outside it. It is for trying out, not for marks",
}
"""What each level promises, and what it does not."""


class LevelError(Exception):
    """A level that this machine does not have."""


def best() -> str:
    """The strongest level that works here."""
    return next(level for level in reversed(LEVELS) if works(level))


def at_least(level: str, needed: str) -> bool:
    """Whether a level is what is needed, or more."""
    return LEVELS.index(level) >= LEVELS.index(needed)


def is_root() -> bool:
    """Whether other user ids can be taken."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@cache
def works(level: str) -> bool:
    """Whether a level can be had: found out by trying, since what a kernel allows depends on who asks and where."""
    if level == "none":
        return True
    if not linux.machine_is_known() or not hasattr(os, "pidfd_open"):
        return False
    return forked(tries_namespaces if level == "full" else tries_another_user)


def tries_namespaces() -> None:
    """New namespaces of every kind; without root's rights in a user namespace, and a mount in them."""
    from .inside.supervisor import into_namespaces

    into_namespaces({"uid": 1 if is_root() else None})
    if os.fork() == 0:
        try:
            linux.mount("none", "/", None, linux.RECURSIVE | linux.PRIVATE)
            linux.mount("box", "/dev/shm", "tmpfs", 0)  # noqa: S108 - in this namespace alone, to see whether it works
            os._exit(0)
        finally:
            os._exit(1)
    if os.wait()[1]:
        raise OSError("mounts are refused")


def tries_another_user() -> None:
    """Another user id, and a root of its own."""
    if not is_root():
        raise PermissionError("only root can become another user")
    os.chroot("/")
    os.setgroups([])
    os.setresgid(65533, 65533, 65533)
    os.setresuid(65533, 65533, 65533)


def forked(body: object) -> bool:
    """Whether something ends well in a process of its own."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child asks the kernel, and takes no lock of a thread
        child = os.fork()
    if child == 0:
        try:
            body()  # type: ignore[operator]  # a function
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
