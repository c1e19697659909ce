"""Marking: the outcomes of all cases become points for each part, the first wrong case, and a named mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backends import devices
from .compare import Expected, Wrong, compare
from .diagnose import find_mistake
from .flaws import COSTS, EPSILON, NUMERICAL, OVERWRITES, SINGLE_PRECISION, find_flaws
from .mistakes import mistake
from .spec import EDGES, PLAIN, SECOND_ORDER, Case, Exercise, Mistake, Part

np = devices.device("cpu").library

SENTENCES = {
    SINGLE_PRECISION: "the numbers are right to seven digits only: somewhere they pass through single precision",
    OVERWRITES: "your code changes its arguments: it writes into {names}",
    EPSILON: "the numbers are right but for a small number that you add, such as 1e-8",
    NUMERICAL: "the numbers are almost right, like finite differences: write the rule itself",
    "right": "right",
    "not reached": "not reached: an earlier part is wrong",
    "some": "{right} of {all} are right; when {about}, {wrong}",
}
"""Every reason for marks that does not come from a comparison."""
UNUSABLE = ("refused", "raised", "shape")
"""Kinds of differences that come before differences between numbers, and cost the part `shape`."""


class Result:
    """The result of one try. It contains nothing about the right answer."""

    __slots__ = ("exercise", "first_wrong", "flags", "mistake", "of", "parts", "points", "right")

    def __init__(self, exercise: Exercise, parts: list[dict[str, Any]], wrong: Wrong | None, flags: list[str]):
        self.exercise, self.parts, self.first_wrong, self.flags = exercise, parts, wrong, flags
        self.mistake: Mistake | None = None
        lost = min(1.0, sum(COSTS[flag] for flag in flags))
        self.points = round(sum(part["points"] for part in parts) * (1 - lost), 6)
        self.of = exercise.points
        self.right = wrong is None and not flags

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        wrong = self.first_wrong
        return {
            "exercise": self.exercise.id,
            "right": self.right,
            "points": self.points,
            "of": self.of,
            "parts": self.parts,
            "first_wrong": None if wrong is None else {
                "case": wrong.case.about, "part": wrong.case.part, "answer": wrong.answer, "kind": wrong.kind,
                "sentence": wrong.sentence,
            },
            "mistake": None if self.mistake is None else self.mistake.to_dict(),
            "flags": self.flags,
        }  # fmt: skip


def mark(
    exercise: Exercise, cases: Sequence[Case], outcomes: Sequence[dict[str, Any]], diagnose: bool = True
) -> Result:
    """Return the result of one try. With `diagnose=False` no mistake is named."""
    outcomes = list(outcomes)[: len(cases)]
    outcomes += [{"values": None, "error": None, "wrote": []}] * (len(cases) - len(outcomes))
    expected = [Expected(exercise, case) for case in cases]
    wrongs = [compare(exercise, *three) for three in zip(cases, expected, outcomes, strict=True)]
    flags, wrongs = find_flaws(exercise, cases, expected, outcomes, wrongs)
    if exercise.kind == "gradients":
        parts = mark_in_order(exercise, wrongs)
    else:
        parts = [mark_part(part, cases, wrongs) for part in exercise.parts]
    overwritten = sorted({name for outcome in outcomes for name in outcome["wrote"]})
    add_reasons(parts, flags, overwritten)
    differences = [wrong for wrong in wrongs if wrong is not None]
    unusable = [wrong for wrong in differences if wrong.kind in UNUSABLE]
    first = next(iter([*unusable, *differences]), None)
    result = Result(exercise, parts, first, flags)
    if diagnose:
        if flags and flags != [OVERWRITES]:
            result.mistake = mistake(flags[-1])
        elif first is not None:
            result.mistake = find_mistake(exercise, cases, outcomes, wrongs)
        elif flags:
            result.mistake = mistake(OVERWRITES)
    return result


Exercise.marked = staticmethod(mark)


def add_reasons(parts: list[dict[str, Any]], flags: list[str], overwritten: list[str]) -> None:
    """Add the flaws to each part's reason. A reason that an earlier part has given already is not repeated."""
    earlier: set[str] = set()
    for part in parts:
        if not part["points"] and part["reason"] in earlier:
            part["reason"] = SENTENCES["not reached"]
        earlier.add(part["reason"])
        for flag in flags:
            part["reason"] += "; " + SENTENCES[flag].format(names=", ".join(overwritten))


def mark_part(part: Part, cases: Sequence[Case], wrongs: list[Wrong | None]) -> dict[str, Any]:
    """Return the points of one part: all or nothing, except for edge cases, which count one by one.

    Edge cases and the second order count only if the plain values are right.
    """
    if part.name == "shape":
        mine = [wrong if wrong is not None and wrong.kind in UNUSABLE and not stops_at_edge(wrong) else None
                for wrong in wrongs]  # fmt: skip
    else:
        mine = [wrong for case, wrong in zip(cases, wrongs, strict=True) if case.part == part.name]
    bad = [wrong for wrong in mine if wrong is not None]
    points, reason = part.points, SENTENCES["right"]
    plain_is_right = not any(w for case, w in zip(cases, wrongs, strict=True) if case.part == PLAIN)
    if part.name in (EDGES, SECOND_ORDER) and not bad and not plain_is_right:
        points, reason = 0.0, SENTENCES["not reached"]
    if bad:
        points, reason = 0.0, bad[0].sentence
        if part.name == EDGES and plain_is_right:
            right = len(mine) - len(bad)
            points = round(part.points * right / len(mine), 6)
            reason = SENTENCES["some"].format(
                right=right, all=len(mine), wrong=bad[0].sentence, about=bad[0].case.about
            )
    return {"name": part.name, "points": points, "of": part.points, "reason": reason}


def stops_at_edge(wrong: Wrong) -> bool:
    """Return whether the code stops on an edge case. That costs the edge case, and no point for shapes."""
    return wrong.kind == "raised" and wrong.case.part == EDGES


def mark_in_order(exercise: Exercise, wrongs: list[Wrong | None]) -> list[dict[str, Any]]:
    """Return the points of gradients by hand: full points for every gradient before the first wrong one of the walk."""
    names = [part.name for part in exercise.parts]
    reached, first = len(names), None
    for wrong in wrongs:
        if wrong is not None:
            place = names.index(wrong.answer) if wrong.answer in names else 0
            if place < reached:
                reached, first = place, wrong
    sentence = "" if first is None else first.sentence
    parts = []
    for i, part in enumerate(exercise.parts):
        reason = SENTENCES["right"] if i < reached else sentence if i == reached else SENTENCES["not reached"]
        points = part.points if i < reached else 0.0
        parts.append({"name": part.name, "points": points, "of": part.points, "reason": reason})
    return parts
