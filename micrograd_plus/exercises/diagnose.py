"""Diagnosis: the known mistake behind a wrong answer.

First, the wrong answers of all known mistakes run on the same cases: a student's answer that returns the same numbers
has made that mistake. If none agrees, the difference itself may show the mistake: a constant ratio, a transpose, a
shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backends import devices
from .compare import TANGENT_TOLERANCE, TOLERANCE, Wrong, received_by_input
from .mistakes import mistake
from .spec import EDGES, SECOND_ORDER, Case, Exercise, Mistake

np = devices.device("cpu").library


def find_mistake(
    exercise: Exercise, cases: Sequence[Case], outcomes: list[Any], wrongs: list[Wrong | None]
) -> Mistake | None:
    """Return the known mistake that explains the wrong cases, or None."""
    ordinary = [i for i, case in enumerate(cases) if case.part not in (EDGES, SECOND_ORDER)]
    wrong_cases = [i for i, wrong in enumerate(wrongs) if wrong is not None]
    telling = [i for i in wrong_cases if i in ordinary] or wrong_cases
    compared = [*telling, *(i for i in ordinary if i not in telling)]
    for is_same_error in (is_same_message, is_same_type):
        for known in exercise.mistakes:
            if known.wrong_answer is not None and all(
                agrees(exercise, known, cases[i], outcomes[i], is_same_error) for i in compared
            ):
                return known
    differences = [wrongs[i] for i in telling]
    for known in exercise.mistakes:
        if known.recognizes is not None and known.recognizes(exercise, differences):
            return known
    return recognize(differences)


def agrees(
    exercise: Exercise, known: Mistake, case: Case, outcome: dict[str, Any],
    is_same_error: Callable[[dict[str, Any], dict[str, Any]], bool],
) -> bool:  # fmt: skip
    """Return whether the wrong answer of a known mistake has the same outcome as the student's answer."""
    theirs = exercise.run(known.wrong_answer, case.request)
    their_error, error = theirs["error"], outcome["error"]
    if their_error is not None or error is not None:
        return their_error is not None and error is not None and is_same_error(their_error, error)
    if outcome["values"] is None or not theirs["values"].keys() <= outcome["values"].keys():
        return False
    pairs = ((received_by_input(case, name, value), received_by_input(case, name, outcome["values"][name]))
             for name, value in theirs["values"].items())  # fmt: skip
    return all(is_same_answer(case, a, b) for a, b in pairs)


def is_same_answer(case: Case, a: Any, b: Any) -> bool:
    """Return whether two received answers have the same numbers, or are wrong in the same way."""
    if isinstance(a, Wrong) or isinstance(b, Wrong):
        return isinstance(a, Wrong) and isinstance(b, Wrong) and a.sentence == b.sentence
    tolerance = TANGENT_TOLERANCE if case.part == SECOND_ORDER else TOLERANCE
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=tolerance * largest_entry(a), equal_nan=True)


def is_same_message(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Return whether two errors have the same type and message."""
    return a["kind"] == b["kind"] and a["message"] == b["message"]


def is_same_type(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Return whether two errors have the same type."""
    return a["kind"] == b["kind"]


def largest_entry(array: Any) -> float:
    """Return the largest finite absolute value of an array."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


# Recognition by the difference ----


GENERIC = ("sign", "half", "twice", "factor", "transpose", "M26", "shape", "axes", "refused", "raised", "not_finite")
"""The rows of the catalogue that `recognize` can return."""
BY_KIND = {"refused": "refused", "raised": "raised", "shape": "shape", "nan": "not_finite"}
"""The row for answers that differ in several ways, by the kind of difference that matters most, in order."""


def recognize(wrongs: Sequence[Any]) -> Mistake | None:
    """Return the mistake that the differences of all wrong cases have in common, or None."""
    kinds = {wrong.kind for wrong in wrongs}
    if kinds <= {"ratio"}:
        return mistake(recognize_ratio([wrong.ratio for wrong in wrongs]))
    if kinds == {"transpose"}:
        return mistake("transpose")
    if kinds == {"ties"}:
        return mistake("M26")
    if kinds == {"shape"} and all(wrong.entry and sorted(wrong.entry[0]) == sorted(wrong.entry[1]) for wrong in wrongs):
        return mistake("axes")
    return next((mistake(name) for kind, name in BY_KIND.items() if kind in kinds), None)


def recognize_ratio(ratios: list[float]) -> str:
    """Return the row for answers that are off by constant factors."""
    for name, factor in {"sign": -1, "half": 0.5, "twice": 2}.items():
        if all(abs(ratio - factor) < 1e-6 for ratio in ratios):
            return name
    return "factor"
