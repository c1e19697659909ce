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
    for recorder in listeners(MUTES_ALL):
        recorder.on_change(kind, subject, before, after, by)


def listeners(marks: tuple[Mark, ...] = (MUTED, WALKING)) -> list[Any]:
    """Return the recorders that listen here: those inside the innermost block with one of these marks, the outermost
    first."""
    blocks = recording.blocks.get()
    if len(blocks) == 1 and (token := blocks[0]()) is not None and type(token.value) is not Mark:  # as nearly always
        return [token.value]
    listening = recording.all()
    last = max((at for at, each in enumerate(listening) if each in marks), default=-1)
    return [each for each in listening[last + 1 :] if type(each) is not Mark]
