"""Registry of hidden state, such as the state of random generators, that a function must find again when it runs twice.

A module with hidden state registers it here. `mg.checkpoint` takes a snapshot before the first run of a function, and
restores it for the second.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

Snapshot = dict[str, Any]
"""The state of each registered module, by its name."""

_registered: dict[str, tuple[Callable[[], Any], Callable[[Any], None], Any]] = {}


def register_state(name: str, get_state: Callable[[], Any], set_state: Callable[[Any], None]) -> None:
    """Register the hidden state of a module by the functions that read and write it."""
    _registered[name] = get_state, set_state, get_state()


def snapshot_states() -> Snapshot:
    """Return the current state of every registered module."""
    return {name: get_state() for name, (get_state, _, _) in _registered.items()}


@contextmanager
def restore_states(snapshot: Snapshot) -> Generator[None]:
    """Context manager that restores a snapshot, and on exit the states of before.

    A module that was imported after the snapshot was taken starts from its initial state.
    """
    before = snapshot_states()
    for name, (_, set_state, initial) in _registered.items():
        set_state(snapshot.get(name, initial))
    try:
        yield
    finally:
        for name, state in before.items():
            _registered[name][1](state)
