"""Who listens here: the marks of blocks that mute recorders, and notices of changes.

Arrays and hooks import this module, which knows neither rules nor nodes.
"""

from __future__ import annotations

from typing import Any

from ..modes import recording


class Mark:
    """Stand-in for a recorder in a block that mutes those outside it."""


MUTED, WALKING = Mark(), Mark()
MUTES_ALL = (MUTED,)


def notify_change(kind: str, subject: Any, before: Any, after: Any, by: Any = None) -> None:
    """Notify the recorders of a change of a value or a gradient, also inside a walk that is watched."""
    for recorder in behind_last(recording.all(), MUTES_ALL):
        if type(recorder) is not Mark:
            recorder.on_change(kind, subject, before, after, by)


def behind_last(listening: list[Any], marks: tuple[Any, ...]) -> list[Any]:
    """Return the recorders behind the last of the marks in a list."""
    if len(listening) == 1 and type(listening[0]) is not Mark:
        return listening
    last = max((at for at, each in enumerate(listening) if each in marks), default=-1)
    return listening[last + 1 :]
