"""Sheets: by which number a student's walk is drawn, where an exercise shows numbers and asks about them.

Everybody is handed the same notebook, and each writes his own id into it. The number of his walk is made of the
assignment's key, that id, the exercise and the attempt; the grader, which knows whose work it marks, makes the same.
The key is made of the assignment's secret, and the secret cannot be told from it.
"""

from __future__ import annotations

import hashlib
import hmac
import json

from .reply import Said

YOUR_ID = "YOUR ID"
"""What stands in a notebook until a student writes his own id there."""
NUMBERS = 1_000_000
SHARED_WALK = 0
"""The number of the walk that is looked at without a sheet."""

_mine: dict[str, str | int] = {}


def derive_key(secret: str) -> str:
    """What is handed out of an assignment's secret."""
    return hmac.digest(secret.encode(), b"sheets", "sha256")[:8].hex()


def walk_number(key: str, student: str, exercise: str, attempt: int = 1) -> int:
    """The number of a student's walk. Capital letters and spaces around an id make no other student of it."""
    said = json.dumps([student.strip().casefold(), exercise, attempt])
    return int(hashlib.sha256(f"{key} {said}".encode()).hexdigest(), 16) % NUMBERS


def identify(key: str, student: str, attempt: int = 1) -> str:
    """Say whose notebook this is: the walks in which something is to be found are then this student's own.

    Args:
        key: the assignment's key, which stands in what is handed out.
        student: the id under which the work is handed in.
        attempt: which attempt it is.
    Returns: a sentence that says whose walks are shown.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.identify("5f0c2a9b1d3e4f60", "a17")
        The walks shown here are those of a17.

    See: `named`, whose `show` makes the walk.
    """
    _mine.clear()
    if student.strip() in ("", YOUR_ID):
        return Said(f"Write your own id in the place of {YOUR_ID}, and run this cell again: until then you look at "
                    f"walks that are nobody's, and what you find there is not what you are asked.")  # fmt: skip
    _mine.update(key=key, student=student, attempt=attempt)
    return Said(f"The walks shown here are those of {student.strip()}.")


def own_walk_number(exercise: str) -> int:
    """The number of the walk of an exercise that is to be looked at here."""
    if not _mine:
        return SHARED_WALK
    return walk_number(str(_mine["key"]), str(_mine["student"]), exercise, int(_mine["attempt"]))
