"""Memory that a program needs at once, and keeping it in the process between two calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from .page import Page

MOST_BYTES = 31 << 20
"""glibc learns from blocks of less than 32 MB alone."""


def peak_bytes(page: Page) -> int:
    """Return how many bytes the arrays that a program makes take at most at once."""
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    statements = list(page.each_statement())
    for i, statement in enumerate(statements):
        for value in statement.outs():
            if value.buffer.nbytes > 0:
                first.setdefault(value.buffer, i)
        for value in (*statement.reads(), *statement.outs(), *statement.writes):
            last[value.buffer] = i
    last.update(dict.fromkeys((value.buffer for value in page.live()), len(statements)))
    changes = [0] * (len(statements) + 2)
    for buffer, i in first.items():
        changes[i] += buffer.nbytes
        changes[last[buffer] + 1] -= buffer.nbytes
    now = most = 0
    for change in changes:
        now += change
        most = max(most, now)
    return most


def keep_freed_memory(nbytes: int) -> None:
    """Have the process keep memory of this size when it is freed, so that the next call need not ask for it again.

    glibc gives large freed blocks back to the system, and each page of a new one costs a page fault: up to 7,000 in a
    step on matrices of 4 MB. It stops that for blocks of a size that it has seen freed once (`man mallopt`,
    M_MMAP_THRESHOLD), and keeps twice that size. So one block of the size is enough; nothing is written into it.
    Elsewhere this has no effect.
    """
    np.empty(min(nbytes, MOST_BYTES), np.uint8)
