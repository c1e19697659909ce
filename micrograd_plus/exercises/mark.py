"""Marking: the outcomes of all cases made into points for each part, the first wrong case, and the named mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backends import devices
from .compare import MOVING, NOISE, NUMERICAL, TOLERANCE, Expected, Wrong, error_of, fit, is_single, judged
from .heuristics import read_from
from .spec import SECOND, Case, Exercise, Mistake

np = devices.device("cpu").library

SINGLE_PRECISION, WRITTEN_OVER, DIFFERENCES = "single precision", "an input was written over", "numerical derivative"
COSTS = {SINGLE_PRECISION: 0.25, WRITTEN_OVER: 0.25, DIFFERENCES: 0.75}
"""What share of its points an answer loses that is right but for this. A numerical derivative is not the rule that was
asked for, so it keeps a quarter; numbers of single precision, or an input that is another one afterwards, are a
flaw."""

SENTENCES = {
    SINGLE_PRECISION: "the numbers are right to seven digits only: somewhere they pass through single precision",
    WRITTEN_OVER: "what your code was given is not the same afterwards: it writes into {names}",
    DIFFERENCES: "the numbers are nearly right, as differences are: the rule itself was asked for",
    "right": "right",
    "not reached": "not reached: an earlier part is wrong",
    "some": "{right} of {all} are right; where {about}, {wrong}",
    "wrong": "{wrong}",
}
"""Every sentence that a mark is given with, in one table."""


class Result:
    """What came of one try, and nothing that tells the right answer."""

    __slots__ = ("exercise", "first_wrong", "flags", "mistake", "of", "parts", "points", "right")

    def __init__(self, exercise: Exercise, parts: list[dict[str, Any]], wrong: Wrong | None, flags: list[str]):
        self.exercise, self.parts, self.first_wrong, self.flags = exercise, parts, wrong, flags
        self.mistake: Mistake | None = None
        lost = min(1.0, sum(COSTS[flag] for flag in flags))
        self.points = round(sum(part["points"] for part in parts) * (1 - lost), 6)
        self.of = exercise.points
        self.right = wrong is None and not flags

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
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


def marked(
    exercise: Exercise, cases: Sequence[Case], outcomes: Sequence[dict[str, Any]], diagnosed: bool = True
) -> Result:
    """The result of one try, from what the student's code made of each case."""
    outcomes = list(outcomes)[: len(cases)]
    outcomes += [{"values": None, "error": None, "wrote": []}] * (len(cases) - len(outcomes))
    expected = [Expected(exercise, case) for case in cases]
    wrongs = [judged(exercise, *three) for three in zip(cases, expected, outcomes, strict=True)]
    flags, wrongs = roughly(exercise, cases, expected, outcomes, wrongs)
    if exercise.kind == "gradients":
        parts = up_to_the_first_wrong(exercise, wrongs)
    else:
        parts = [share(part, cases, wrongs) for part in exercise.parts]
    first = next((wrong for kind in KINDS_FIRST for wrong in wrongs if wrong and (wrong.kind in SHAPES) == kind), None)
    names = sorted({name for outcome in outcomes for name in outcome["wrote"]})
    told: set[str] = set()
    for part in parts:
        if not part["points"] and part["reason"] in told:
            part["reason"] = SENTENCES["not reached"]
        told.add(part["reason"])
        for flag in flags:
            part["reason"] += "; " + SENTENCES[flag].format(names=", ".join(names))
    result = Result(exercise, parts, first, flags)
    if not diagnosed:
        return result
    if flags and flags != [WRITTEN_OVER]:
        result.mistake = FLAWS[flags[-1]]
    elif first is not None:
        result.mistake = named_mistake(exercise, cases, expected, outcomes, wrongs)
    elif flags:
        result.mistake = FLAWS[WRITTEN_OVER]
    return result


FLAWS = {
    SINGLE_PRECISION: Mistake(SINGLE_PRECISION, "numbers of single precision", (
        "How many digits of your answer are right?",
        "About seven digits are right: that is how many single precision has.",
        "Look for float32 or astype, and leave the numbers in the precision they came in.",
    )),
    WRITTEN_OVER: Mistake(WRITTEN_OVER, "an input is written over", (
        "Print what your code is given before and after it is called.",
        "What your code was given is not the same afterwards.",
        "Look for +=, *= and assignments to entries, and make a copy, or a new array, in their place.",
    )),
    DIFFERENCES: Mistake(DIFFERENCES, "a numerical derivative in the place of the rule", (
        "How was the number found: by a rule, or by trying a small step?",
        "The numbers are nearly right everywhere, and not quite: differences leave such errors.",
        "Write the slope down as a formula of what the rule may read.",
    )),
}  # fmt: skip
"""What each flaw is called, and its hints."""


Exercise.marked = staticmethod(marked)

SHAPES = ("refused", "raised", "shape")
KINDS_FIRST = (True, False)
"""What does not fit at all is told before numbers that differ."""


def roughly(
    exercise: Exercise, cases: Sequence[Case], expected: list[Expected], outcomes: list[Any], wrongs: list[Wrong | None]
) -> tuple[list[str], list[Wrong | None]]:
    """What is right but for a flaw that has a name, and the verdicts without what that flaw explains."""
    flags = []
    if any(outcome["wrote"] for outcome in outcomes):
        flags.append(WRITTEN_OVER)
    if exercise.judge is not None or any(wrong is not None and wrong.kind in SHAPES for wrong in wrongs):
        return flags, wrongs
    plain = [i for i, case in enumerate(cases) if case.part not in ("edges", SECOND) and "shapes" in case.expects]
    if not plain:
        return flags, wrongs
    differ = [i for i in plain if wrongs[i] is not None]
    if differ and all(is_single(expected[i], cases[i], outcomes[i]) for i in differ):
        near = [
            w if w is None or not (cases[i].part == SECOND or is_single(expected[i], cases[i], outcomes[i])) else None
            for i, w in enumerate(wrongs)
        ]
        return [*flags, SINGLE_PRECISION], near
    errors = [error_of(expected[i], cases[i], outcomes[i]) for i in plain]
    if all(each is not None and each[0] <= NUMERICAL for each in errors):
        middle = np.median([each[1] for each in errors if each is not None])
        if middle > NOISE and np.isfinite(
            np.median([np.max(slack) for i in plain for slack in expected[i].slack.values()])
        ):
            return [*flags, DIFFERENCES], [None if i in plain else w for i, w in enumerate(wrongs)]
    return flags, wrongs


def share(part: Any, cases: Sequence[Case], wrongs: list[Wrong | None]) -> dict[str, Any]:
    """The points of one part: all of them or none, but of edges as many as are right."""
    if part.name == "shape":
        mine = [wrong if wrong is not None and wrong.kind in SHAPES else None for wrong in wrongs]
    else:
        mine = [wrong for case, wrong in zip(cases, wrongs, strict=True) if case.part == part.name]
    bad = [wrong for wrong in mine if wrong is not None]
    points, reason = part.points, SENTENCES["right"]
    if bad:
        said = bad[0].sentence
        if part.name == "edges" and not any(w for c, w in zip(cases, wrongs, strict=True) if c.part == "plain values"):
            points = round(part.points * (len(mine) - len(bad)) / len(mine), 6)
            reason = SENTENCES["some"].format(
                right=len(mine) - len(bad), all=len(mine), wrong=said, about=bad[0].case.about
            )
        else:
            points, reason = 0.0, SENTENCES["wrong"].format(wrong=said)
    return {"name": part.name, "points": points, "of": part.points, "reason": reason}


def up_to_the_first_wrong(exercise: Exercise, wrongs: list[Wrong | None]) -> list[dict[str, Any]]:
    """Of a walk: the points of every gradient before the first wrong one."""
    names = [part.name for part in exercise.parts]
    reached = len(names)
    first: Any = None
    for wrong in wrongs:
        place = reached if wrong is None else names.index(wrong.answer) if wrong.answer in names else 0
        if (wrong is not None and place < reached) or (wrong is not None and first is None):
            reached, first = min(place, reached), wrong
    parts = []
    for i, part in enumerate(exercise.parts):
        reason = SENTENCES["right"] if i < reached else first.sentence if i == reached else SENTENCES["not reached"]
        parts.append(
            {"name": part.name, "points": part.points if i < reached else 0.0, "of": part.points, "reason": reason}
        )
    return parts


# Diagnosis ------------------


def named_mistake(
    exercise: Exercise, cases: Sequence[Case], expected: list[Expected], outcomes: list[Any], wrongs: list[Wrong | None]
) -> Mistake | None:
    """The known mistake that makes of these cases what the student's code did; None where none fits."""
    wrong_ones = [i for i, wrong in enumerate(wrongs) if wrong is not None]
    plain = [i for i in wrong_ones if cases[i].part not in ("edges", SECOND)]
    telling = plain or wrong_ones
    also = [i for i, case in enumerate(cases) if case.part not in ("edges", SECOND) and i not in telling]
    for alike in (word_for_word, of_one_kind):
        for mistake in exercise.mistakes:
            if mistake.wrong_answer is None:
                continue
            if all(agree(exercise, mistake, cases[i], outcomes[i], alike) for i in [*telling, *also]):
                return mistake
    for mistake in exercise.mistakes:
        if mistake.sign is not None and mistake.sign(exercise, [wrongs[i] for i in telling]):
            return mistake
    return read_from([wrongs[i] for i in telling], [cases[i] for i in telling])


def agree(exercise: Exercise, mistake: Mistake, case: Case, outcome: dict[str, Any], alike: Any) -> bool:
    """Whether a known mistake gives what the student's code gave; `alike` compares errors."""
    theirs = exercise.run(mistake.wrong_answer, case.request)
    if theirs["error"] is not None or outcome["error"] is not None:
        return theirs["error"] is not None and outcome["error"] is not None and alike(theirs["error"], outcome["error"])
    if outcome["values"] is None:
        return False
    for name, mine in theirs["values"].items():
        if name not in outcome["values"]:
            return False
        a, b = fit(case, name, mine), fit(case, name, outcome["values"][name])
        if isinstance(a, Wrong) or isinstance(b, Wrong):
            if not (isinstance(a, Wrong) and isinstance(b, Wrong) and a.sentence == b.sentence):
                return False
        elif a.shape != b.shape or not np.allclose(a, b, rtol=1e-7, atol=atol_of(case) * scale_of(a), equal_nan=True):
            return False
    return True


def atol_of(case: Case) -> float:
    """How far two answers to a case may be apart that come from one mistake, beside the largest entry."""
    return MOVING if case.part == SECOND else TOLERANCE


def word_for_word(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two errors say the same."""
    return a["kind"] == b["kind"] and a["message"] == b["message"]


def of_one_kind(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two errors are of one kind."""
    return a["kind"] == b["kind"]


def scale_of(array: Any) -> float:
    """The largest entry that is a number."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0
