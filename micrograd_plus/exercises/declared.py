"""Every declared exercise by its id."""

from __future__ import annotations

from .exercise import Exercise

exercises: dict[str, Exercise] = {}
"""The declared exercises, in order of declaration."""


def declare(exercise: Exercise) -> Exercise:
    """List an exercise; one of the same id is replaced."""
    exercises[exercise.id] = exercise
    return exercise
