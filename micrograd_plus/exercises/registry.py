"""Exercises by their ids: those that were declared, and any rule of the engine."""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

import difflib
from functools import lru_cache

from .from_rules import rule_exercise
from .registered import exercises
from .spec import GROUPS, Exercise

TWICE = ".twice"
"""What ends the name of a rule that is read on numbers that move as well."""


def load_catalogue() -> dict[str, Exercise]:
    """Every declared exercise; those that come along are declared the first time somebody asks."""
    from . import catalogue

    assert catalogue.__doc__
    return exercises


def get_exercise(id: str) -> Exercise:
    """The exercise of that id: a declared one, or that of any rule of the engine.

    Args:
        id: such as "softmax.x", "engine.order" or "matmul.b".
    Returns: the exercise.
    Raises: KeyError, with the nearest ids, where there is none.
    Example:
        >>> from micrograd_plus import exercises
        >>> exercises.get_exercise("softmax.x").title
        'the rule of softmax for x'

    See: `listed`.
    """
    known = load_catalogue()
    if id in known:
        return known[id]
    try:
        return _of_a_rule(id)
    except KeyError as error:
        near = difflib.get_close_matches(id, known, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise KeyError(f"there is no exercise {id!r}: {error.args[0]}{hint}") from None


@lru_cache(64)
def _of_a_rule(id: str) -> Exercise:
    return rule_exercise(id.removesuffix(TWICE), id=id, twice=id.endswith(TWICE))


def list_exercises(group: str | None = None) -> list[Exercise]:
    """The declared exercises, of one group or all, in order.

    Args:
        group: one of the six groups; all of them, if none is given.
    Returns: a list of exercises.
    Raises: KeyError where there is no such group.
    Example:
        >>> from micrograd_plus import exercises
        >>> len(exercises.list_exercises()) >= 48
        True

    See: `named`.
    """
    if group is not None and group not in GROUPS:
        raise KeyError(f"there is no group {group!r}; there are {', '.join(GROUPS)}")
    return [each for each in load_catalogue().values() if group in (None, each.group)]
