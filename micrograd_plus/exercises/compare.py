"""An answer beside the right one: at rounding's tolerance, with every convention at kinks and ties accepted.

An entry may be off by 1e-9 of the array's largest entry, and by what a last bit of the inputs moves the right rule.
Differences come into it nowhere. At a kink or a tie, any number between what the right rule sends on either side is
right, so long as together the tied entries hand out what arrived: a tie counted twice is none of the conventions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..backends import devices
from ..checks.museum.evidence import difference, number
from .rule_answers import may_be_undone
from .spec import SECOND, Case, Exercise

np = devices.device("cpu").library

LAST_BIT = float(np.finfo(float).eps)
TOLERANCE, LAST_BITS, JUMP = 1e-9, 64, 1e-6
MOVING = 1e-6
"""How far off an answer may be that says how fast numbers move: they are followed by small steps."""
SINGLE, NUMERICAL = 3e-5, 1e-5
"""How far an answer in single precision, and one by differences, may be off beside the largest entry: no further, and
it is named for what it is."""
NOISE = 3e-13
"""Rules leave errors of a few last bits, 1e-15; a numerical derivative leaves more than this, even a good one."""


class Wrong:
    """How an answer differs: a kind, a sentence that holds no right value, and the entry, the two shapes or the ratio
    it speaks of."""

    __slots__ = ("answer", "case", "entry", "kind", "ratio", "sentence")

    def __init__(self, kind: str, sentence: str, answer: str | None = None, entry: Any = None, ratio: Any = None):
        self.kind, self.sentence, self.answer, self.entry, self.ratio = kind, sentence, answer, entry, ratio
        self.case: Any = None

    def __repr__(self) -> str:
        return f"<wrong: {self.kind}: {self.sentence}>"


class Expected:
    """What is right for one case: each answer, how far off it may be, and the bounds between which conventions lie.

    The right rule is run once; what asks for more runs of it is found out when an answer differs from what it sent.
    """

    def __init__(self, exercise: Exercise, case: Case):
        self.exercise, self.case = exercise, case
        self.right = answers(exercise, case, case.request, sent=case.sent)
        self.nan_in_use = case.expects.get("nan_in_use", False)
        self.tolerance = MOVING if case.part == SECOND else TOLERANCE

    @cached_property
    def largest(self) -> dict[str, float]:
        """The largest entry of each right answer that is a number."""
        return {name: float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
                for name, right in self.right.items()}  # fmt: skip

    @cached_property
    def slack(self) -> dict[str, Any]:
        """How far off each entry may be: by rounding, and by what a last bit of the inputs moves the right rule."""
        rng = np.random.default_rng(0)
        moved = [answers(self.exercise, self.case, nudged(self.case.request, rng)) for _ in range(2)]
        return {name: self._slack(name, right, moved) for name, right in self.right.items()}

    def _slack(self, name: str, right: Any, moved: list[dict[str, Any]]) -> Any:
        with np.errstate(all="ignore"):
            by_bits = np.max([np.abs(each[name] - right) for each in moved], axis=0)
        largest = self.largest[name]
        jumps = (by_bits > JUMP * largest) & (by_bits > TOLERANCE)  # what moves so far jumps, and is not rounded
        by_rounding = np.where(jumps | np.isnan(by_bits), 0.0, by_bits)
        return self.tolerance * largest + LAST_BITS * by_rounding

    @cached_property
    def bounds(self) -> dict[str, Any]:
        """What the right rule sends a little to every side; nothing where no convention is to be chosen."""
        neighbours = self.case.expects.get("neighbours")
        near = [answers(self.exercise, self.case, request) for request in neighbours()] if neighbours else []
        return {name: np.stack([each[name] for each in near]) for name in self.right} if near else {}

    @cached_property
    def unsettled(self) -> dict[str, Any] | None:
        """Which entries a number that is not finite reaches: those that move when it is replaced."""
        others = self.case.expects.get("finite")
        if others is None:
            return None
        first, second = (answers(self.exercise, self.case, other, finite=i) for i, other in enumerate(others))
        return {name: ~(np.isfinite(self.right[name]) & (first[name] == second[name])) for name in self.right}


def answers(exercise: Exercise, case: Case, request: dict[str, Any], finite: int | None = None,
            sent: dict[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """The right answers to a request, fitted; `sent` is what the right answer made of it, where that is known."""
    outcome = exercise.run(exercise.right, request) if sent is None else sent
    if outcome["error"] is not None:
        raise RuntimeError(f"{exercise.id}: the right answer fails on {case.about}: {outcome['error']['message']}")
    fitted = {name: fit(case, name, value, finite) for name, value in outcome["values"].items()}
    for value in fitted.values():
        if isinstance(value, Wrong):
            raise RuntimeError(f"{exercise.id}: the right answer on {case.about}: {value.sentence}")
    return fitted


def fit(case: Case, name: str, value: Any, finite: int | None = None) -> Any:
    """What was sent for one answer, as it arrives: a local derivative times upstream, with broadcasting undone where
    the exercise leaves that to the engine. A shape that cannot be right is a `Wrong`."""
    shape = case.expects.get("shapes", {}).get(name)
    upstream = case.expects.get("upstream")
    if finite is not None and "finite_upstream" in case.expects:
        upstream = case.expects["finite_upstream"][finite]
    with np.errstate(all="ignore"):
        if upstream is not None:
            try:
                value = upstream * value
            except ValueError:
                return Wrong("shape", f"the shape is {value.shape}, beside an output of shape {upstream.shape}", name)
        if shape is None or value.shape == shape:
            return value
        if case.expects.get("undo") and may_be_undone(value.shape, shape):
            return devices.device("cpu").namespace.sum_to_shape(value, shape)
    return Wrong("shape", f"the shape is {value.shape}, and {name} has shape {shape}", name, (value.shape, shape))


def nudged(request: dict[str, Any], rng: Any) -> dict[str, Any]:
    """A request with every number moved by its last bit, up or down."""

    def moved(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            return value * (1 + LAST_BIT * np.where(rng.random(value.shape) < 0.5, -1.0, 1.0))
        if isinstance(value, (list, tuple)):
            return type(value)(map(moved, value))
        return value

    with np.errstate(all="ignore"):
        return {**request, "arguments": {name: moved(value) for name, value in request["arguments"].items()}}


# One outcome ----------------


def judged(exercise: Exercise, case: Case, expected: Expected, outcome: dict[str, Any]) -> Wrong | None:
    """What is wrong with the outcome of one case; None where nothing is. Errors first, then shapes, then values."""
    found = _judged(exercise, case, expected, outcome)
    if found is not None:
        found.case = case
        if case.part == SECOND and found.kind not in ("refused", "raised", "shape"):
            found.sentence = f"what is sent does not move as it should: {found.sentence}"
    return found


def _judged(exercise: Exercise, case: Case, expected: Expected, outcome: dict[str, Any]) -> Wrong | None:
    error, values = outcome["error"], outcome["values"]
    if error is not None:
        line = f" (line {error['line']})" if error["line"] else ""
        if error["kind"] == "Refused":
            return Wrong("refused", error["message"])
        what = f": {error['message']}" if error["message"] else ""
        return Wrong("raised", f"it stopped with {error['kind']}{what}{line}")
    missing = [name for name in expected.right if name not in (values or {})]
    if values is None or (missing and exercise.kind != "gradients"):
        return Wrong("refused", f"there is no answer for {missing[0]}" if values else "no answer came")
    if exercise.judge is not None:
        return exercise.judge(case, expected.right, values)
    fitted = {name: fit(case, name, values[name]) for name in expected.right if name not in missing}
    if exercise.kind != "gradients" and any(isinstance(value, Wrong) for value in fitted.values()):
        return next(value for value in fitted.values() if isinstance(value, Wrong))
    if not missing and all(as_sent(expected, name, fitted[name]) for name in expected.right):
        return None
    for name, right in expected.right.items():
        if name in missing:
            return Wrong("refused", f"there is nothing yet under {name!r}", name)
        value = fitted[name]
        found = value if isinstance(value, Wrong) else compared(expected, name, right, value)
        if found is not None:
            return found
    return conserved(expected, fitted)


def as_sent(expected: Expected, name: str, given: Any) -> bool:
    """Whether an answer is what the right rule itself sent, up to rounding: then nothing more is to be found out."""
    right = expected.right[name]
    if isinstance(given, Wrong) or given.shape != right.shape or given.dtype.kind != right.dtype.kind:
        return False
    with np.errstate(all="ignore"):
        return bool(np.all(close(given, right, expected.tolerance * expected.largest[name])))


def compared(expected: Expected, name: str, right: Any, given: Any) -> Wrong | None:
    """One answer, entry by entry."""
    if given.shape != right.shape:
        shapes = given.shape, right.shape
        return Wrong("shape", f"the shape is {given.shape}, and {name} has shape {right.shape}", name, shapes)
    if given.dtype.kind == "c" and right.dtype.kind != "c":
        return Wrong("complex", f"{name} is made of real numbers, and complex ones came", name)
    with np.errstate(all="ignore"):
        fine = close(given, right, expected.slack[name]) | between(expected, name, given)
        fine |= lenient(right if expected.unsettled is None else np.where(np.isinf(right), 0.0, right), given)
        if expected.unsettled is not None:
            zero = np.isnan(given) & (right == 0)
            fine |= expected.unsettled[name] & ~np.isfinite(given) | zero
    return None if np.all(fine) else told(name, right, given, fine)


def close(given: Any, right: Any, slack: Any) -> Any:
    """Where two arrays are equal up to rounding; the same infinity is equal to itself."""
    return (np.abs(given - right) <= slack) | (given == right)


def lenient(right: Any, given: Any) -> Any:
    """Where the right rule sends no number, at the edge of a domain, 0 and every way of being no number are in use."""
    return ~np.isfinite(right) & ((given == 0) | ~np.isfinite(given))


def between(expected: Expected, name: str, given: Any) -> Any:
    """Where the right rule jumps, and the answer lies between what it sends on either side."""
    bounds = expected.bounds.get(name)
    if bounds is None:
        return np.zeros(given.shape, bool)
    jumps, low, high = jumping(expected, name)
    edge = ~np.isfinite(bounds).all(axis=0) & ((given == 0) | ~np.isfinite(given))
    if expected.nan_in_use:
        edge |= jumps & np.isnan(given)
    return jumps & (given >= low - 1e-6 * abs(low)) & (given <= high + 1e-6 * abs(high)) | edge


def jumping(expected: Expected, name: str) -> tuple[Any, Any, Any]:
    """Where the right rule jumps, and the bounds of what it sends around it (itself among them)."""
    around = np.concatenate([expected.bounds[name], expected.right[name][None]]).real
    low, high = np.min(around, axis=0), np.max(around, axis=0)
    return np.isfinite(low) & np.isfinite(high) & (high - low > 1e-4 * np.maximum(abs(low), abs(high))), low, high


def conserved(expected: Expected, fitted: dict[str, Any]) -> Wrong | None:
    """What tied entries hand out together, wherever every way of breaking the tie hands out the same."""
    if not expected.bounds:
        return None
    places = {name: jumping(expected, name)[0] for name in fitted}
    if not any(np.any(jumps) for jumps in places.values()):
        return None

    def total(arrays: dict[str, Any]) -> Any:
        return sum(np.sum(arrays[name][..., jumps], axis=-1) for name, jumps in places.items())

    around = total(expected.bounds)
    scale = np.max(np.abs(around)) + np.finfo(float).tiny
    settled = np.ptp(around) <= 1e-5 * scale and abs(total(expected.right) - around[0]) <= 1e-5 * scale
    if not settled or abs(total(fitted) - around[0]) <= 1e-5 * scale:
        return None
    first = next(name for name, jumps in places.items() if np.any(jumps))
    ratio = float(total(fitted) / around[0]) if around[0] else None
    times = f": together {number(ratio)} times what arrived" if ratio is not None else ""
    return Wrong("ties", f"the entries that tie hand out more or less than what arrived{times}", first, None, ratio)


def told(name: str, right: Any, given: Any, fine: Any) -> Wrong:
    """What a difference looks like; numbers in it are ratios, and no entry of the right answer is told."""
    place = tuple(map(int, np.argwhere(~fine)[0]))
    where = f"; the first is {name}[{', '.join(map(str, place))}]" if place else ""
    count = int(np.sum(~fine))
    lost = ~np.isfinite(given) & ~fine
    if np.any(lost):
        what = "is no number" if np.sum(lost) == 1 else "are no numbers"
        return Wrong("nan", f"{np.sum(lost)} of {given.size} entries of {name} {what}{where}", name, place)
    finite = np.isfinite(right)
    if not np.all(finite):
        return Wrong("entries", f"{count} of {given.size} entries of {name} differ{where}", name, place)
    with np.errstate(all="ignore"):
        sentence, ratio = difference(right, given), constant_ratio(right, given)
    if ratio is not None and abs(ratio - 1) < 1e-3:
        sentence, ratio = f"{count} of {given.size} entries are off by {number(abs(ratio - 1))} of their size", None
    kind = "ratio" if ratio is not None else "transpose" if "transpose" in sentence else "entries"
    if sentence.startswith("0 of"):  # they differ by less than the museum looks at
        sentence = f"{count} of {given.size} entries differ"
    sentence = sentence.replace("every entry is", f"every entry of {name} is" if given.size > 1 else f"{name} is")
    return Wrong(kind, f"{sentence}{where if kind == 'entries' else ''}", name, place, ratio)


def constant_ratio(right: Any, given: Any) -> float | None:
    """The one number that the right answer was multiplied by, if it is one number."""
    there = np.abs(right) > TOLERANCE * np.max(np.abs(right), initial=0.0)
    if np.sum(there) < 2 or np.any(given[right == 0] != 0):
        return None
    ratios = (given[there] / right[there]).real
    return float(ratios[0]) if np.ptp(ratios) <= 1e-7 * abs(ratios[0]) else None


# Roughly right --------------


def error_of(expected: Expected, case: Case, outcome: dict[str, Any]) -> tuple[float, float] | None:
    """The largest and the middle error of an outcome beside the largest entry; None where it does not compare."""
    worst, middle = 0.0, []
    for name, right in expected.right.items():
        given = fit(case, name, outcome["values"][name])
        if isinstance(given, Wrong) or given.shape != right.shape:
            return None
        finite = np.isfinite(right)
        scale = np.max(np.abs(right[finite]), initial=0.0)
        if not scale:
            continue
        errors = np.abs(given[finite] - right[finite]) / scale
        worst = max(worst, float(np.max(errors, initial=0.0)))
        middle.append(errors[np.abs(right[finite]) > 0])
    return worst, float(np.median(np.concatenate(middle))) if middle else 0.0


def is_single(expected: Expected, case: Case, outcome: dict[str, Any]) -> bool:
    """Whether an answer is right but for its precision: each number is one of single precision."""
    if any(
        value.dtype.kind == "c" or (value.dtype.itemsize != 4 and np.any(value != value.astype("f4")))
        for value in outcome["values"].values()
    ):
        return False
    errors = error_of(expected, case, outcome)
    return errors is not None and errors[0] <= SINGLE
