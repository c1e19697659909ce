"""Exercises by id: the catalogue, exercises that teachers define, and any rule of the engine."""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

import difflib
from functools import cache, lru_cache
from typing import Any

from .from_rules import rule_exercise
from .spec import GROUPS, Exercise

SECOND_ORDER_SUFFIX = ".twice"
"""The end of the id of a rule whose gradient of the gradient is checked, too."""

own_exercises: dict[str, Exercise] = {}
"""The exercises that `define` has added, by id."""


@cache
def load_catalogue() -> dict[str, Exercise]:
    """Return the exercises of the catalogue by id. The first call makes them."""
    from .catalogue import EXERCISES

    return {each.id: each for each in EXERCISES}


def register(exercise: Exercise) -> None:
    """Add an exercise. It replaces an exercise with the same id."""
    own_exercises[exercise.id] = exercise


def get_exercise(id: str) -> Exercise:
    """Return the exercise with an id: one that is listed, or the exercise of any rule of the engine.

    Args:
        id: such as "softmax.x", "engine.order" or "matmul.b".
    Returns: the exercise.
    Raises: KeyError, with similar ids, if there is none.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.get_exercise("softmax.x").title
        'the rule of softmax for x'

    See: `list_exercises`.
    """
    known = {**load_catalogue(), **own_exercises}
    if id in known:
        return known[id]
    try:
        return _exercise_of_rule(id)
    except KeyError as error:
        similar = difflib.get_close_matches(id, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""
        raise KeyError(f"there is no exercise {id!r}: {error.args[0]}{hint}") from None


@lru_cache(64)
def _exercise_of_rule(id: str) -> Exercise:
    return rule_exercise(id.removesuffix(SECOND_ORDER_SUFFIX), id=id, second_order=id.endswith(SECOND_ORDER_SUFFIX))


def wrong_answer(id: str, mistake: str) -> Any:
    """Return a wrong answer to an exercise, with a known mistake in it, to show what the mistake does.

    If the exercise knows several wrong answers with that mistake, it is the first of them.

    Args:
        id: the exercise.
        mistake: the id of one of its mistakes, as in `Exercise.mistakes`.
    Returns: a function, a class or a value, like the right answer.
    Raises: KeyError if there is no such exercise, or no such mistake in it.
    Example:
        >>> from micrograd_plus import exercises
        >>> Replacing = exercises.wrong_answer("engine.value", "M1")     # `=` where `+=` is due
        >>> a = Replacing(3.0)
        >>> (a * a + a).backward()
        >>> a.grad                          # 7 would be right
        3.0

    See: `plugged`, which trains with a wrong rule; `mg.checks.museum`.
    """
    mistakes = [each for each in get_exercise(id).mistakes if each.wrong_answer is not None]
    known = {each.id: each.wrong_answer for each in reversed(mistakes)}
    if mistake not in known:
        raise KeyError(f"{id} has no wrong answer with the mistake {mistake!r}; choose from {', '.join(sorted(known))}")
    return known[mistake]


def list_exercises(group: str | None = None) -> list[Exercise]:
    """Return the exercises of one group, or all, in the order of a course.

    Args:
        group: one of the six groups; all of them, if omitted.
    Returns: a list of exercises.
    Raises: KeyError if there is no such group.
    Example:
        >>> from micrograd_plus import exercises
        >>> len(exercises.list_exercises()) >= 48
        True

    See: `get_exercise`.
    """
    if group is not None and group not in GROUPS:
        raise KeyError(f"there is no group {group!r}; choose from {', '.join(GROUPS)}")
    known = {**load_catalogue(), **own_exercises}
    return [each for each in known.values() if group in (None, each.group)]
