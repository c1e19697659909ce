"""Blocks that several threads may be in at once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


class SharedBlock:
    """Block whose first thread runs `opens` and whose last one runs `closes`. `lock` is held meanwhile."""

    def __init__(self, lock: Any, opens: Callable[[], None], closes: Callable[[], None]):
        self.lock, self.opens, self.closes, self.inside = lock, opens, closes, 0

    @contextmanager
    def __call__(self) -> Generator[None]:
        """Enter the block."""
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.opens()
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                if not self.inside:
                    self.closes()
