"""Diagnosis: the known mistake behind a wrong answer.

First, the wrong answers of all known mistakes run on the same cases: a student's answer that returns the same numbers
has made that mistake. If none agrees, the difference itself may show the mistake: a constant ratio, a transpose, a
shape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from ..backends import devices
from ..core.define import operations
from .compare import TANGENT_TOLERANCE, TOLERANCE, Wrong, received_by_input
from .mistakes import mistake
from .sandboxed import FUNCTIONS
from .spec import EDGES, SECOND_ORDER, Case, Exercise, Mistake

np = devices.device("cpu").library


def find_mistake(
    exercise: Exercise, cases: Sequence[Case], outcomes: list[Any], wrongs: list[Wrong | None]
) -> Mistake | None:
    """Return the known mistake that explains the wrong cases, or None."""
    ordinary = [i for i, case in enumerate(cases) if case.part not in (EDGES, SECOND_ORDER)]
    wrong_cases = [i for i, wrong in enumerate(wrongs) if wrong is not None]
    telling = [i for i in wrong_cases if i in ordinary] or wrong_cases
    considered = ordinary if exercise.judge is None else range(len(cases))  # of a yes or no, every case counts
    compared = [*telling, *(i for i in considered if i not in telling)]
    names = compared_names(exercise, [wrongs[i] for i in telling])

    def explains(known: Mistake) -> bool:
        return known.wrong_answer is not None and all(
            agrees(exercise, known, cases[i], outcomes[i], names) for i in compared
        )

    differences = [wrongs[i] for i in telling]
    listed = next(filter(explains, exercise.mistakes), None)
    if listed is None and exercise.judge is None and all(sends_nothing(outcomes[i]) for i in telling):
        return mistake("nothing")
    if listed is None:
        listed = next((known for known in exercise.mistakes
                       if known.recognizes is not None and known.recognizes(exercise, differences)), None)  # fmt: skip
    if listed is not None:
        return listed
    if is_constant_factor(differences):
        return recognize(differences)
    may_be_edit = any(outcomes[i]["error"] is None or is_about_shapes(outcomes[i]["error"]["message"]) for i in telling)
    if set(telling) <= set(ordinary) and exercise.judge is None and may_be_edit:  # a yes or no is no evidence
        fitting = list(islice(filter(explains, exercise.variants), MOST_VARIANTS))
        if not any(map(has_numbers, [outcomes[i] for i in compared])) and len({known.title for known in fitting}) > 1:
            fitting = []  # the same error, or NaN everywhere, has several explanations
        rest = [i for i in wrong_cases if i not in compared] if names is None else compared
        if fitting:  # the edge cases decide, or the gradients after the first wrong one
            best = max(fitting, key=lambda known: sum(agrees(exercise, known, cases[i], outcomes[i]) for i in rest))
            return next((known for known in fitting if is_plainer(exercise, known.title, best.title)), best)
    return recognize(differences)


def has_known_words(exercise: Exercise, title: str) -> bool:
    """Return whether a student can read every name of the code in a title: values, functions, rules, single letters."""
    names = {name for code in CODE.findall(title) for name in re.findall(r"[A-Za-z_]\w+", code)}
    return names <= {*exercise.reads, *FUNCTIONS, *operations, "xp", "np", "axis", "keepdims", "T"}


def is_plainer(exercise: Exercise, title: str, other: str) -> bool:
    """Return whether a title says the same about code as another, with names that a student can read."""
    is_alike = CODE.sub("", title) == CODE.sub("", other)
    return is_alike and has_known_words(exercise, title) and not has_known_words(exercise, other)


CODE = re.compile(r"`(.*?)`")
MOST_VARIANTS = 6
"""The number of variants that fit the ordinary cases, among which the edge cases decide."""


def compared_names(exercise: Exercise, wrongs: Sequence[Any]) -> list[str] | None:
    """Return the answers to compare: all, or of gradients by hand those up to the first wrong one."""
    if exercise.kind != "gradients":
        return None
    names = [part.name for part in exercise.parts]
    first = min((names.index(wrong.answer) for wrong in wrongs if wrong.answer in names), default=len(names) - 1)
    return names[: first + 1]


ROUNDING = 1e-14
"""What is left of numbers that cancel."""


def sends_nothing(outcome: dict[str, Any]) -> bool:
    """Return whether all numbers of an answer are 0, up to rounding."""
    return bool(outcome["values"]) and not any(np.any(~(np.abs(each) <= ROUNDING))
                                               for each in outcome["values"].values())  # fmt: skip


def has_numbers(outcome: dict[str, Any]) -> bool:
    """Return whether an answer has a finite number."""
    return any(np.any(np.isfinite(each)) for each in (outcome["values"] or {}).values())


def agrees(
    exercise: Exercise, known: Mistake, case: Case, outcome: dict[str, Any], names: Sequence[str] | None = None
) -> bool:
    """Return whether the wrong answer of a known mistake has the same outcome as the student's answer."""
    theirs = exercise.run(known.wrong_answer, case.request)
    their_error, error = theirs["error"], outcome["error"]
    if their_error is not None or error is not None:
        return their_error is not None and error is not None and is_same_message(their_error, error)
    if outcome["values"] is None:
        return False
    values = theirs["values"] if names is None else {name: theirs["values"].get(name) for name in names}
    if names is None and values.keys() != outcome["values"].keys():
        return False
    if not values.keys() <= outcome["values"].keys() or any(value is None for value in values.values()):
        return False
    return all(is_same_result(case, name, value, outcome["values"][name]) for name, value in values.items())


def is_same_result(case: Case, name: str, value: Any, other: Any) -> bool:
    """Return whether two values of an answer are received as the same numbers. Those of a wrong shape must be equal."""
    first, second = received_by_input(case, name, value), received_by_input(case, name, other)
    if isinstance(first, Wrong) and isinstance(second, Wrong):
        return value.shape == other.shape and is_same_answer(case, value, other)
    return is_same_answer(case, first, second)


def is_same_answer(case: Case, a: Any, b: Any) -> bool:
    """Return whether two received answers have the same numbers, or are wrong in the same way."""
    if isinstance(a, Wrong) or isinstance(b, Wrong):
        return isinstance(a, Wrong) and isinstance(b, Wrong) and a.sentence == b.sentence
    tolerance = TANGENT_TOLERANCE if case.part == SECOND_ORDER else TOLERANCE
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=tolerance * largest_entry(a), equal_nan=True)


def is_same_message(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Return whether two errors have the same type and message."""
    return a["kind"] == b["kind"] and a["message"] == b["message"]


def largest_entry(array: Any) -> float:
    """Return the largest finite absolute value of an array."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


# Recognition by the difference ----


UNKNOWN_NAME = re.compile(r"name '(\w+)' is not defined")
GENERIC = (
    "sign", "half", "twice", "factor", "transpose", "M26", "shape", "axes", "refused", "raised", "none", "unavailable",
    "not_finite", "untaken", "undefined", "unassigned",
)  # fmt: skip
"""The rows of the catalogue that `recognize` can return."""
BY_KIND = {"refused": "refused", "raised": "raised", "shape": "shape", "nan": "not_finite"}
"""The row for answers that differ in several ways, by the kind of difference that matters most, in order."""


def is_constant_factor(wrongs: Sequence[Any]) -> bool:
    """Return whether every answer is off by one and the same plain factor: -1, a half or 2."""
    ratios = {round(wrong.ratio, 6) if wrong.kind == "ratio" else None for wrong in wrongs}
    return len(ratios) == 1 and ratios <= {-1.0, 0.5, 2.0}


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
    errors = [wrong for wrong in wrongs if wrong.kind == "raised"]
    if errors and not all(is_about_shapes(wrong.sentence) for wrong in errors):
        return recognize_error(errors)
    if "nan" in kinds and len(kinds) > 1:
        return None  # the finite numbers are wrong, too
    return next((mistake(name) for kind, name in BY_KIND.items() if kind in kinds), None)


def recognize_error(errors: Sequence[Any]) -> Mistake | None:
    """Return the mistake behind errors whose message is evidence: a name without a value, a function that is not
    offered, or None as a number.

    None is evidence only if one of the call's arguments is None.
    """
    if all("UnboundLocalError" in wrong.sentence for wrong in errors):
        return mistake("unassigned")
    names = [UNKNOWN_NAME.search(wrong.sentence) for wrong in errors]
    if all(names):
        readable = errors[0].case.request["arguments"]
        return mistake("untaken" if names[0] is not None and names[0][1] in readable else "undefined")
    if all("xp has no function" in wrong.sentence for wrong in errors):
        return mistake("unavailable")
    reads_none = [any(value is None for value in wrong.case.request["arguments"].values()) for wrong in errors
                  if "NoneType" in wrong.sentence and "object" not in wrong.sentence]  # fmt: skip
    return mistake("none") if len(reads_none) == len(errors) and all(reads_none) else None


def is_about_shapes(sentence: str) -> bool:
    """Return whether the message of an error is about shapes. Its class alone tells nothing."""
    words = ("shape", "broadcast", "dimension", "mismatch", "axis", "axes", "split")
    return UNKNOWN_NAME.search(sentence) is None and any(word in sentence for word in words)


def recognize_ratio(ratios: list[float]) -> str:
    """Return the row for answers that are off by constant factors."""
    for name, factor in {"sign": -1, "half": 0.5, "twice": 2}.items():
        if all(abs(ratio - factor) < 1e-6 for ratio in ratios):
            return name
    return "factor"
