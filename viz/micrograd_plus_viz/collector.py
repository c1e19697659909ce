"""Pause of Python's garbage collector while a page is made.

A long walk is hundreds of thousands of objects that all stay. The collector would look through them for a seventh of
the time, and find nothing, because making a page leaves no cycles behind.
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
