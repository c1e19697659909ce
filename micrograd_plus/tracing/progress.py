"""Progress line while a long record is read for the first time."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

MANY = 200_000
"""A record of fewer applications is read within a few seconds, without a progress line."""


@contextmanager
def report_progress(applications: int, task: str) -> Generator[None]:
    """Show one line with the current task while a long record is read, and remove it afterwards.

    Nothing is shown for a short record, or if no one watches the output.
    """
    if applications < MANY or not is_interactive(sys.stderr):
        yield
        return
    line = f"A record of {applications:,} operations is looked at for the first time: {task} ..."
    try:
        sys.stderr.write(f"\r{line}")
        sys.stderr.flush()
        yield
    finally:
        sys.stderr.write(f"\r{' ' * len(line)}\r")
        sys.stderr.flush()


def is_interactive(stream: Any) -> bool:
    """Return whether a person reads a stream as it is written: in a terminal or a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return stream is not None and (stream.isatty() or hasattr(shell, "kernel"))
