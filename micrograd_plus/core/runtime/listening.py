"""Who listens here: the values of recording blocks, and notices of changes.

The value of a block is the tuple of the recorders that it adds; a block that mutes those outside it adds none.

Arrays and hooks import this module, which knows neither rules nor nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..modes import recording

open_blocks = recording.blocks.get


class MutesOperations(tuple[Any, ...]):
    """Value of a block that mutes the recorders outside it, except for changes of values and gradients."""

    __slots__ = ()


class MutesAll(MutesOperations):
    """Value of a block that mutes the recorders outside it."""

    __slots__ = ()


def notify_change(kind: str, subject: Any, before: Any, after: Any, by: Any = None) -> None:
    """Notify the recorders of a change of a value or a gradient, also inside a walk that is watched."""
    blocks = open_blocks()
    token = blocks[0]() if len(blocks) == 1 else None  # as nearly always; calling `listeners` takes as long as the rest
    for recorder in listeners(MutesAll) if token is None else token.value:
        recorder.on_change(kind, subject, before, after, by)


def listeners(mute: type[MutesOperations] = MutesOperations) -> Sequence[Any]:
    """Return the recorders that listen here, the outermost first: those of the innermost block that is a `mute`, and
    of the blocks inside it."""
    blocks = open_blocks()
    if len(blocks) == 1 and (token := blocks[0]()) is not None:  # as nearly always
        return token.value
    values = recording.all()
    first = max((at for at, value in enumerate(values) if isinstance(value, mute)), default=0)
    return [recorder for value in values[first:] for recorder in value]
