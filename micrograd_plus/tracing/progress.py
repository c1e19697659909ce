"""What is said while a long record is looked at for the first time."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

MANY = 200_000
"""Of a record of fewer operations the first look takes a few seconds, and nothing is said."""


@contextmanager
def said_meanwhile(operations: int, what: str) -> Generator[None]:
    """Say on one line what is found in a record of so many operations, and take the line away when it is; where nobody
    watches, and of a short record, nothing."""
    if operations < MANY or not is_watched(sys.stderr):
        yield
        return
    line = f"A record of {operations:,} operations is looked at for the first time: {what} ..."
    try:
        sys.stderr.write(f"\r{line}")
        sys.stderr.flush()
        yield
    finally:
        sys.stderr.write(f"\r{' ' * len(line)}\r")
        sys.stderr.flush()


def is_watched(stream: Any) -> bool:
    """Whether somebody reads what is written as it comes: in a terminal, or in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return stream is not None and (stream.isatty() or hasattr(shell, "kernel"))
