"""Diagnosis: the known mistake behind a wrong answer.

First, the wrong answers of all known mistakes run on the same cases: a student's answer that returns the same numbers
has made that mistake. If none agrees, the difference itself may show the mistake: a constant ratio, a transpose, a
shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..backends import devices
from ..core.define import operations
from .compare import TANGENT_TOLERANCE, TOLERANCE, Wrong, received_by_input
from .expressions import Call, find_expression
from .mistakes import mistake
from .places import describe_places
from .sandboxed import FUNCTIONS
from .spec import EDGES, SECOND_ORDER, Case, Exercise, Mistake
from .variants import variant

np = devices.device("cpu").library


def find_mistake(
    exercise: Exercise, cases: Sequence[Case], outcomes: list[Any], wrongs: list[Wrong | None]
) -> Mistake | None:
    """Return the known mistake that explains the wrong cases, or None."""
    ordinary = [i for i, case in enumerate(cases) if case.part not in (EDGES, SECOND_ORDER)]
    wrong_cases = [i for i, wrong in enumerate(wrongs) if wrong is not None]
    telling = [i for i in wrong_cases if i in ordinary] or wrong_cases
    considered = ordinary if exercise.judge is None else list(range(len(cases)))  # of a yes or no, every case counts
    tried = Tried(exercise, cases, outcomes, wrongs)
    found = explain_cases(tried, telling, considered)
    with_numbers = [i for i in telling if getattr(wrongs[i], "kind", "") not in UNUSABLE]
    if (found is None or found.id in GENERAL) and with_numbers and len(with_numbers) < len(telling):
        stops = {i for i in telling if i not in with_numbers}  # a second mistake, about shapes, need not be explained
        return explain_cases(tried, with_numbers, [i for i in considered if i not in stops]) or found
    return found


UNUSABLE = ("refused", "raised", "shape")
"""Kinds of differences of answers that have no numbers to compare."""
GENERAL = ("shape", "raised")
"""The rows that only say that shapes do not fit."""


class Tried(NamedTuple):
    """The cases of a try, the outcomes of the student's answer, and the differences."""

    exercise: Exercise
    cases: Sequence[Case]
    outcomes: list[Any]
    wrongs: list[Wrong | None]


def explain_cases(tried: Tried, telling: list[int], considered: Sequence[int]) -> Mistake | None:
    """Return the mistake that explains some wrong cases (`telling`), and that the others considered are right."""
    exercise, cases, outcomes, wrongs = tried
    compared = [*telling, *(i for i in considered if i not in telling)]
    differences: list[Any] = [wrongs[i] for i in telling]
    names = compared_names(exercise, differences)

    def explains(known: Mistake) -> bool:
        return known.wrong_answer is not None and all(
            agrees(exercise, known, cases[i], outcomes[i], names) for i in compared
        )

    listed = find_listed(tried, telling, explains)
    if listed is not None:
        return listed
    if exercise.judge is not None:
        fitting = list(filter(explains, exercise.variants)) if len(compared) >= MANY_VERDICTS else []
        return fitting[0] if len({known.title for known in fitting}) == 1 else recognize(differences)
    if not any(outcomes[i]["error"] is None or is_about_shapes(outcomes[i]["error"]["message"]) for i in telling):
        return recognize(differences)
    has_ordinary = set(telling) <= set(considered)
    fitting = list(islice(filter(explains, exercise.variants), MOST_VARIANTS))
    has_result = any(has_numbers(outcomes[i]) for i in telling)
    is_evidence = has_ordinary and any(has_numbers(outcomes[i]) for i in compared)
    is_evidence |= len({known.title for known in fitting}) == 1
    is_evidence &= has_result or len(telling) == len(considered) or has_several_messages([outcomes[i] for i in telling])
    if fitting and is_evidence and not is_ambiguous(fitting, differences):
        rest = compared  # the gradients after the first wrong one decide, or the edge cases
        if names is None:
            rest = [i for i, wrong in enumerate(wrongs) if wrong is not None and i not in compared]
        best = max(fitting, key=lambda known: (sum(agrees(exercise, known, cases[i], outcomes[i]) for i in rest),
                                               "is multiplied after" not in known.title))  # fmt: skip
        return next((known for known in fitting if is_plainer(exercise, known.title, best.title)), best)
    general = recognize(differences)
    if not has_ordinary or (general is not None and general.id not in VAGUE):
        return general
    pairs = [(cases[i], outcomes[i]) for i in compared]
    return name_one_result(exercise, pairs, differences) or describe_numbers(exercise, pairs, differences) or general


def has_several_messages(outcomes: Sequence[dict[str, Any]]) -> bool:
    """Return whether an answer stops with different messages. One message on one call has many possible causes."""
    return len({outcome["error"]["message"] for outcome in outcomes if outcome["error"] is not None}) > 1


def is_ambiguous(fitting: Sequence[Mistake], wrongs: Sequence[Any]) -> bool:
    """Return whether answers are off by one number, for which different counts of entries are an explanation."""
    is_one_number = len({round(wrong.ratio, 6) if wrong.kind == "ratio" else None for wrong in wrongs} - {None}) == 1
    is_count = all(IS_COUNT.match(known.title) for known in fitting)
    return is_one_number and is_count and len({known.title for known in fitting}) > 1


IS_COUNT = re.compile(r"(divided|multiplied) by the|two things are left out: the factor 2, and the division")


def find_listed(tried: Tried, telling: Sequence[int], explains: Callable[[Mistake], bool]) -> Mistake | None:
    """Return the mistake of the catalogue that explains the wrong cases (`telling`), or None."""
    exercise, _, outcomes, wrongs = tried
    differences: list[Any] = [wrongs[i] for i in telling]
    listed = next(filter(explains, exercise.mistakes), None)
    if listed is None and exercise.judge is None and all(sends_nothing(outcomes[i]) for i in telling):
        return mistake("nothing")
    name = None if exercise.kind == "gradients" else first_wrong_result(exercise, differences)
    if listed is None and name is not None and all(sends_nothing(outcomes[i], name) for i in telling):
        return mistake("nothing", title=f"for `{name}`: nothing arrives: every number is 0")
    if listed is None:
        listed = next((known for known in exercise.mistakes
                       if known.recognizes is not None and known.recognizes(exercise, differences)), None)  # fmt: skip
    if listed is None and exercise.op is not None and is_constant_factor(differences):
        return mistake("half", title=HALF_OF_TWO) if may_be_average(exercise, differences) else recognize(differences)
    return listed


MANY_VERDICTS = 12
"""The number of verdicts (yes or no) that are evidence, if only one mistake gives all of them."""


def first_wrong_result(exercise: Exercise, wrongs: Sequence[Any]) -> str | None:
    """Return the name of the first wrong one of an answer's several results; None if it has one, or has none."""
    names = [part.name for part in exercise.parts] if exercise.kind == "gradients" else exercise.serves
    if exercise.op is not None and exercise.op.kind == "variadic":
        names = sorted({wrong.answer for wrong in wrongs if wrong.answer})
    if len(names) < 2 and not any("[" in name for name in names):
        return None
    return min((wrong.answer for wrong in wrongs if wrong.answer in names), key=list(names).index, default=None)


def name_one_result(exercise: Exercise, tried: Sequence[tuple[Case, Any]], wrongs: Sequence[Any]) -> Mistake | None:
    """Return the known mistake that explains the first wrong one of several results by itself, or None."""
    name = first_wrong_result(exercise, wrongs)
    if name is None or exercise.kind == "gradients":
        return None
    for known in (*exercise.mistakes, *exercise.variants):
        if known.wrong_answer is not None and all(agrees(exercise, known, *each, [name]) for each in tried):
            return Mistake(known.id, f"for `{name}`: {known.title}", known.hints, known.wrong_answer)
    return None


def describe_numbers(exercise: Exercise, tried: Sequence[tuple[Case, Any]], wrongs: Sequence[Any]) -> Mistake | None:
    """Return a mistake that says which expression gives the numbers of the first wrong result, or None."""
    name = first_wrong_result(exercise, wrongs)
    wrong_one = next((wrong.answer for wrong in wrongs if wrong.answer), "")
    calls = []
    for case, outcome in tried:
        right = exercise.run(exercise.right, case.request)["values"] or {}
        answer = name or (wrong_one if wrong_one in right else next(iter(right), ""))
        values = {key: value for key, value in case.request["arguments"].items() if not key.endswith("_shape")}
        if exercise.kind == "gradients":
            earlier = list(right)[: list(right).index(answer)]
            values |= {f"{each}_grad": right[each] for each in earlier}
        calls += call_of(values, (outcome["values"] or {}).get(answer), right.get(answer))
    smallest = sorted(calls, key=lambda call: call.result.size)[:MOST_CALLS]
    title = (find_expression(smallest) or move_entries(exercise, smallest, name)) if smallest else None
    if title is None:
        return None
    return variant(title if name is None else f"for `{name}`: {title}", None)


MOST_CALLS = 4


def move_entries(exercise: Exercise, calls: Sequence[Call], name: str | None) -> str | None:
    """Return words for a result that has entries of upstream at wrong places, in every call; None for others."""
    receiver = name or next(iter(exercise.serves), "result")
    titles = [describe_places(receiver, call.values["upstream"], call.result, call.right)
              for call in calls if isinstance(call.values.get("upstream"), np.ndarray)]  # fmt: skip
    return None if None in titles else next(filter(None, titles), None)


def call_of(values: dict[str, Any], result: Any, right: Any) -> list[Call]:
    """Return a call for the search of an expression, or nothing if it has no numbers that can be compared."""
    if result is None or np.iscomplexobj(result) or not np.all(np.isfinite(result)):
        return []
    try:
        shape = np.broadcast_shapes(np.shape(result), np.shape(right))
    except ValueError:
        return [Call(values, np.asarray(result, float), None)]
    return [Call(values, np.broadcast_to(result, shape).astype(float), np.broadcast_to(right, shape))]


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


def sends_nothing(outcome: dict[str, Any], name: str | None = None) -> bool:
    """Return whether all numbers of an answer are 0, up to rounding, or all of one of its results."""
    values = outcome["values"] or {}
    sent = list(values.values()) if name is None else [values[name]] if name in values else []
    return bool(sent) and not any(np.any(~(np.abs(each) <= ROUNDING)) for each in sent)


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
NOT_A_PLACE = re.compile(r"(list|tuple) indices must be integers or slices, not ")
VAGUE = ("factor",)
"""The rows that say less than an expression of the numbers."""
BY_KIND = {"refused": "refused", "raised": "raised", "shape": "shape", "nan": "not_finite"}
"""The row for answers that differ in several ways, by the kind of the first without numbers: it is the one shown."""


def is_constant_factor(wrongs: Sequence[Any]) -> bool:
    """Return whether every answer is off by one and the same plain factor: -1, a half or 2."""
    ratios = {round(wrong.ratio, 6) if wrong.kind == "ratio" else None for wrong in wrongs}
    return len(ratios) == 1 and ratios <= {-1.0, 0.5, 2.0}


HALF_OF_TWO = "half of the right numbers: a factor 2 is missing, or an average over a batch that has 2 entries"


def may_be_average(exercise: Exercise, wrongs: Sequence[Any]) -> bool:
    """Return whether answers are half of the right ones, and each call sums over a batch of two."""
    if exercise.op is None or exercise.op.kind == "elementwise" or exercise.serves == ("x",):
        return False
    batches = [np.shape(wrong.case.request["arguments"].get("x", ())) for wrong in wrongs]
    return all(0 < wrong.ratio < 1 for wrong in wrongs) and all(shape[:1] == (2,) for shape in batches)


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
    if kinds == {"shape"} and all(wrong.entry and equal_but_for_ones(*wrong.entry) for wrong in wrongs):
        is_dropped = all(len(wrong.entry[0]) < len(wrong.entry[1]) for wrong in wrongs)
        return mistake("M29" if is_dropped else "axis of length 1")
    refused = [wrong for wrong in wrongs if wrong.kind == "refused"]
    if refused and all(RETURNED.search(wrong.sentence) for wrong in refused):
        return mistake("returned")
    errors = [wrong for wrong in wrongs if wrong.kind == "raised"]
    if errors and not all(is_about_shapes(wrong.sentence) for wrong in errors):
        return recognize_error(errors)
    if "nan" in kinds and len(kinds) > 1:
        return None  # the finite numbers are wrong, too
    first = next((wrong.kind for wrong in wrongs if wrong.kind in UNUSABLE), "nan" if "nan" in kinds else None)
    return mistake(BY_KIND[first]) if first else None


RETURNED = re.compile(r"must return \d+ values")


def equal_but_for_ones(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether two shapes differ in nothing but axes of length 1."""
    return [length for length in shape if length != 1] == [length for length in other if length != 1]


def recognize_error(errors: Sequence[Any]) -> Mistake | None:
    """Return the mistake behind errors whose message is evidence: a name without a value, a list or None as an index, a
    function that is not offered, a state that is still empty, or None as a number.

    None is evidence only if one of the call's arguments is None.
    """
    if all("UnboundLocalError" in wrong.sentence for wrong in errors):
        return mistake("unassigned")
    names = [UNKNOWN_NAME.search(wrong.sentence) for wrong in errors]
    if all(names):
        readable = errors[0].case.request["arguments"]
        return mistake("untaken" if names[0] is not None and names[0][1] in readable else "undefined")
    if all(NOT_A_PLACE.search(wrong.sentence) for wrong in errors):
        return mistake("not a place")
    if all("xp has no function" in wrong.sentence for wrong in errors):
        return mistake("unavailable")
    if all("KeyError" in wrong.sentence and wrong.case.request["driver"] == "steps" for wrong in errors):
        return mistake("empty state")
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
