"""Pause of Python's garbage collector while a page is made.

A long walk is hundreds of thousands of objects that all stay. Looking through them takes a seventh of the time that its
page takes, and there is nothing to be found: what a page leaves behind has no cycles.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """Return a block, or a decorator of a function, in which the collector does not run by itself."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
