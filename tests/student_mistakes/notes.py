"""The list that a file of wrong answers keeps, and the decorator that adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def start_list() -> tuple[list[tuple[str, Any, str, str]], Callable[[str, str, str], Callable[[Any], Any]]]:
    """Return an empty list of mistakes, and a decorator that notes a wrong answer in it."""
    mistakes: list[tuple[str, Any, str, str]] = []

    def mistake(exercise: str, pattern: str, what: str) -> Callable[[Any], Any]:
        """Note a wrong answer: its exercise, a pattern for the right name, and what went wrong."""

        def keep(answer: Any) -> Any:
            mistakes.append((exercise, answer, pattern, what))
            return answer

        return keep

    return mistakes, mistake
