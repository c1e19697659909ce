"""The registered exercises by id."""

from __future__ import annotations

from .spec import Exercise

exercises: dict[str, Exercise] = {}
"""The registered exercises by id, in the order of their registration."""


def register(exercise: Exercise) -> Exercise:
    """Register an exercise. An exercise with the same id is replaced."""
    exercises[exercise.id] = exercise
    return exercise
