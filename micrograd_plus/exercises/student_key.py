"""Which walk each student sees, in exercises that show a walk and ask about it.

Everyone receives the same notebook, and students enter their own id. The number of a student's walk is computed from
the assignment's key, the id, the exercise and the attempt. The grader knows the student and computes the same number.
The key is derived from the assignment's secret but does not reveal it.
"""

from __future__ import annotations

import hashlib
import hmac
import json

from .texts import Text

YOUR_ID = "YOUR ID"
"""The placeholder in a notebook that students replace by their own id."""
WALK_NUMBERS = 1_000_000
SHARED_WALK = 0
"""The number of the walk for everyone who did not call `identify`."""

_student: dict[str, str | int] = {}


def derive_key(secret: str) -> str:
    """Return the key, which is public, of an assignment's secret."""
    return hmac.digest(secret.encode(), b"sheets", "sha256")[:8].hex()


def walk_number(key: str, student: str, exercise: str, attempt: int = 1) -> int:
    """Return the number of a student's walk. Case and surrounding spaces of the id are ignored."""
    text = json.dumps([student.strip().casefold(), exercise, attempt])
    return int(hashlib.sha256(f"{key} {text}".encode()).hexdigest(), 16) % WALK_NUMBERS


def identify(key: str, student: str, attempt: int = 1) -> str:
    """Set the student of this notebook, so that exercises show this student's own walks.

    Args:
        key: the assignment's key, as written in the notebook.
        student: the id under which the work is submitted.
        attempt: the number of the attempt.
    Returns: a sentence that says whose walks are shown.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.identify("5f0c2a9b1d3e4f60", "a17")
        These are the walks of a17.

    See: `get_exercise`, whose `show` makes the walk.
    """
    _student.clear()
    if student.strip() in ("", YOUR_ID):
        return Text(f"Write your own id instead of {YOUR_ID} and run this cell again. Until then, you see an example, "
                    f"not the walk on which you will be marked.")  # fmt: skip
    _student.update(key=key, student=student, attempt=attempt)
    return Text(f"These are the walks of {student.strip()}.")


def own_walk_number(exercise: str) -> int:
    """Return the number of the walk that this notebook shows for an exercise."""
    if not _student:
        return SHARED_WALK
    return walk_number(str(_student["key"]), str(_student["student"]), exercise, int(_student["attempt"]))
