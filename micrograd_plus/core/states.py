"""Hidden states: what a function that is run a second time must find as it found it the first time.

A module that has one, such as the generator of random numbers, puts itself here; who runs things again asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

Kept = dict[str, Any]
"""A state for each module that has one."""

_known: dict[str, tuple[Callable[[], Any], Callable[[Any], None], Any]] = {}


def has_state(name: str, look: Callable[[], Any], put_back: Callable[[Any], None]) -> None:
    """Say that a module has a hidden state, how to look at it, and how to put it back."""
    _known[name] = look, put_back, look()


def states() -> Kept:
    """The hidden states as they are now."""
    return {name: look() for name, (look, _, _) in _known.items()}


@contextmanager
def starting_from(kept: Kept) -> Generator[None]:
    """A block that begins with those states; a module that was not there yet begins as it began. Afterwards all goes on
    as if the block had not been."""
    now = states()
    for name, (_, put_back, first) in _known.items():
        put_back(kept.get(name, first))
    try:
        yield
    finally:
        for name, state in now.items():
            _known[name][1](state)
