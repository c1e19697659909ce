"""Comparison of an answer with the right one, up to rounding, with every convention at kinks and ties accepted.

An entry may be off by 1e-9 of the array's largest entry, plus the effect of the inputs' last bit on the right rule.
Finite differences are never used. At a kink or a tie, any number between the right rule's results on either side is
right, if the tied entries together send as much as arrived. A tie that counts twice follows no convention.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from ..backends import devices
from ..checks.museum.evidence import difference, number
from .rule_answers import can_unbroadcast
from .sandboxed.values import call_by_name
from .spec import SECOND_ORDER, Case, Exercise

np = devices.device("cpu").library

LAST_BIT = float(np.finfo(float).eps)
TOLERANCE, LAST_BITS, JUMP = 1e-9, 64, 1e-6
TANGENT_TOLERANCE = 1e-6
"""The tolerance for tangents, which finite differences of small steps compute."""
FARTHER, SLOWER = 256, 16
"""A nudge of 256 last bits moves a rounded result about 256 times as far as a nudge of one, and a jump just as far."""
FLOOR = LAST_BIT**2
"""The allowed error where all right numbers are 0, for an upstream of 1: a tail of 1e-300 is as good as 0."""


class Wrong:
    """A difference between an answer and the right one.

    It has a kind, a sentence that contains no right value, and the entry, the two shapes or the ratio concerned.
    """

    __slots__ = ("answer", "case", "entry", "kind", "ratio", "sentence")

    def __init__(self, kind: str, sentence: str, answer: str | None = None, entry: Any = None, ratio: Any = None):
        self.kind, self.sentence, self.answer, self.entry, self.ratio = kind, sentence, answer, entry, ratio
        self.case: Any = None

    def __repr__(self) -> str:
        return f"<wrong: {self.kind}: {self.sentence}>"


class Expected:
    """The right answers of one case, their tolerances, and the bounds between which conventions are accepted.

    The right rule runs once. Attributes that need more runs are computed only if an answer differs.
    """

    def __init__(self, exercise: Exercise, case: Case):
        self.exercise, self.case = exercise, case
        self.right = right_answers(exercise, case, case.request, outcome=case.right_outcome)
        self.allows_nan = case.expects.get("allows_nan", False)
        self.tolerance = TANGENT_TOLERANCE if case.part == SECOND_ORDER else TOLERANCE
        self._nudged: dict[int, list[dict[str, Any]]] = {}

    @cached_property
    def exact(self) -> dict[str, Any]:
        """The right answers in extended precision; those in double precision if the rule does not run in it."""
        try:
            with np.errstate(all="ignore"):
                return exact_answers(self.exercise, self.case)
        except (TypeError, ValueError, RuntimeError, IndexError, KeyError, np.linalg.LinAlgError):
            return self.right

    @cached_property
    def rounding(self) -> dict[str, Any]:
        """The effect of the inputs' last bit on each right answer, or the rule's own rounding if that is larger."""
        return {name: self._rounding(name) for name in self.right}

    def _rounding(self, name: str) -> Any:
        right = self.right[name]
        with np.errstate(all="ignore"):
            moved = self._effect_of(name, 1)
            own = np.abs(right - self.exact[name]).astype(float)
            jumps = (moved > JUMP * self.largest[name]) & (moved > TOLERANCE)
            if np.any(jumps):  # a rounded result moves farther with a larger nudge, a jump does not
                jumps &= ~(self._effect_of(name, FARTHER) > SLOWER * moved)
        return np.where(jumps | np.isnan(moved), 0.0, np.fmax(moved, np.where(np.isfinite(own), own, 0.0)))

    def _effect_of(self, name: str, bits: int) -> Any:
        """Return how far each entry moves if the inputs move by some last bits, up or down, in two random ways."""
        if bits not in self._nudged:
            self._nudged[bits] = [
                right_answers(self.exercise, self.case, nudge(self.case.request, np.random.default_rng(i), bits))
                for i in range(2)
            ]
        return np.max([np.abs(each[name] - self.right[name]) for each in self._nudged[bits]], axis=0)

    @cached_property
    def largest(self) -> dict[str, float]:
        """The largest finite entry of each right answer."""
        return {name: float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
                for name, right in self.right.items()}  # fmt: skip

    @cached_property
    def slack(self) -> dict[str, Any]:
        """The allowed error of each entry."""
        return {name: self.tolerance * self.largest[name] + LAST_BITS * self.rounding[name] + self.floor
                for name in self.right}  # fmt: skip

    @cached_property
    def floor(self) -> float:
        """The allowed error where all right numbers are 0."""
        arrived = self.case.request["arguments"].get("upstream", self.case.expects.get("upstream", 1.0))
        parts = arrived if isinstance(arrived, (tuple, list)) else [arrived]
        sizes = [np.max(np.abs(part), initial=0.0, where=np.isfinite(part)) for part in map(np.asarray, parts)]
        return FLOOR * float(max(sizes, default=1.0))

    @cached_property
    def neighbors(self) -> dict[str, Any]:
        """The right answers to neighboring requests, stacked; empty if the case allows only one convention."""
        make_requests = self.case.expects.get("neighbors")
        near = [right_answers(self.exercise, self.case, each) for each in make_requests()] if make_requests else []
        return {name: np.stack([each[name] for each in near]) for name in self.right} if near else {}

    @cached_property
    def reached_by_infinity(self) -> dict[str, Any] | None:
        """The entries that depend on an infinite upstream: they change when a finite one replaces it."""
        if not self.with_finite_upstream:
            return None
        first, second, _ = self.with_finite_upstream
        return {name: ~(np.isfinite(self.right[name]) & (first[name] == second[name])) for name in self.right}

    @cached_property
    def with_finite_upstream(self) -> list[dict[str, Any]]:
        """If an entry of upstream is infinite, the right answers to three finite ones.

        The first and the last differ in that entry alone, the second differs everywhere.
        """
        return [right_answers(self.exercise, self.case, other, finite=i)
                for i, other in enumerate(self.case.expects.get("finite", ()))]  # fmt: skip

    def spared_by_infinity(self, name: str) -> Any:
        """Return the right answer where it does not depend on the infinite entry of upstream, and nan elsewhere.

        The right rule may multiply infinity by 0 there and send nan. A rule that picks entries does not.
        """
        first, _, other = self.with_finite_upstream
        return np.where(first[name] == other[name], first[name], np.nan)


def right_answers(exercise: Exercise, case: Case, request: dict[str, Any], finite: int | None = None,
                  outcome: dict[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """Return the right answers to a request as the inputs receive them. `outcome` is used instead of a new run."""
    outcome = exercise.run(exercise.right, request) if outcome is None else outcome
    if outcome["error"] is not None:
        raise RuntimeError(f"{exercise.id}: the right answer fails on {case.about}: {outcome['error']['message']}")
    received = {name: received_by_input(case, name, value, finite) for name, value in outcome["values"].items()}
    for value in received.values():
        if isinstance(value, Wrong):
            raise RuntimeError(f"{exercise.id}: the right answer on {case.about}: {value.sentence}")
    return received


def exact_answers(exercise: Exercise, case: Case) -> dict[str, Any]:
    """Return the right answers, computed in extended precision, as the inputs receive them."""
    if case.request["driver"] != "call":
        raise TypeError("only functions run in extended precision")
    arguments = {name: extend(value) for name, value in case.request["arguments"].items()}
    returned = call_by_name(exercise.formula or exercise.right, arguments, exercise.namespace)
    answers = list(returned) if isinstance(returned, dict) else case.request["answers"]
    parts = returned.values() if isinstance(returned, dict) else returned if len(answers) > 1 else [returned]
    received = {name: received_by_input(case, name, np.asarray(value))
                for name, value in zip(answers, parts, strict=True)}  # fmt: skip
    if any(isinstance(value, Wrong) for value in received.values()):
        raise TypeError("the rule has another shape in extended precision")
    return {name: received[name] for name in case.request["answers"]}


def extend(value: Any) -> Any:
    """Return nested data with every array of floats in extended precision."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.astype(np.longdouble) if value.dtype.kind == "f" else value
    return type(value)(map(extend, value)) if isinstance(value, (list, tuple)) else value


def received_by_input(case: Case, name: str, value: Any, finite: int | None = None) -> Any:
    """Return an answer as the input receives it, or `Wrong` if its shape cannot be right.

    If the exercise leaves it to the engine, a local derivative is multiplied by upstream, and broadcasting is undone.
    """
    shape = case.expects.get("shapes", {}).get(name)
    upstream = case.expects.get("upstream")
    if finite is not None and "finite_upstream" in case.expects:
        upstream = case.expects["finite_upstream"][finite]
    with np.errstate(all="ignore"):
        if upstream is not None:
            try:
                value = upstream * value
            except ValueError:
                return wrong_shape(case, name, value.shape, upstream.shape, "the output")
        if shape is None or value.shape == shape:
            return value
        if case.expects.get("unbroadcast") and can_unbroadcast(value.shape, shape):
            return devices.device("cpu").namespace.sum_to_shape(value, shape)
    return wrong_shape(case, name, value.shape, shape, name)


def wrong_shape(case: Case, name: str, shape: tuple[int, ...], want: tuple[int, ...], what: str) -> Wrong:
    """Return the difference between the shape of an answer and that of `what`.

    A length that occurs in no argument is not shown, since it could tell a hidden number.
    """
    shapes = [want, *(np.shape(value) for value in case.request["arguments"].values() if hasattr(value, "shape"))]
    lengths = {0, 1, *(length for each in shapes for length in each), *(int(np.prod(each)) for each in shapes)}
    is_shown = len(shape) <= len(want) + 2 and lengths.issuperset(shape)
    got = f"the shape is {shape}, but" if is_shown else "the shape does not fit:"
    return Wrong("shape", f"{got} {what} has shape {want}", name, (shape, want))


def nudge(request: dict[str, Any], rng: Any, bits: int = 1) -> dict[str, Any]:
    """Return a request in which every number has moved by some last bits, up or down."""

    def nudge_value(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
            return value * (1 + bits * LAST_BIT * np.where(rng.random(value.shape) < 0.5, -1.0, 1.0))
        if isinstance(value, (list, tuple)):
            return type(value)(map(nudge_value, value))
        return value

    with np.errstate(all="ignore"):
        return {**request, "arguments": {name: nudge_value(value) for name, value in request["arguments"].items()}}


# One outcome ----------------


def compare(exercise: Exercise, case: Case, expected: Expected, outcome: dict[str, Any]) -> Wrong | None:
    """Return the first difference in the outcome of a case (error, shape, value), or None if the outcome is right."""
    wrong = find_difference(exercise, case, expected, outcome)
    if wrong is not None:
        wrong.case = case
        if case.part == SECOND_ORDER and wrong.kind not in ("refused", "raised", "shape"):
            wrong.sentence = f"the result does not change with the inputs as it should: {wrong.sentence}"
    return wrong


def find_difference(exercise: Exercise, case: Case, expected: Expected, outcome: dict[str, Any]) -> Wrong | None:
    """Return the first difference, without its case."""
    error, values = outcome["error"], outcome["values"]
    if error is not None:
        return describe_failure(error)
    missing = [name for name in expected.right if name not in (values or {})]
    if values is None or (missing and exercise.kind != "gradients"):
        return Wrong("refused", f"there is no answer for {missing[0]}" if values else "there is no answer")
    if exercise.judge is not None:
        return exercise.judge(case, expected.right, values)
    received = {name: received_by_input(case, name, values[name]) for name in expected.right if name not in missing}
    if exercise.kind != "gradients" and any(isinstance(value, Wrong) for value in received.values()):
        return next(value for value in received.values() if isinstance(value, Wrong))
    if not missing and all(is_close(expected, name, received[name]) for name in expected.right):
        return None
    for name, right in expected.right.items():
        if name in missing:
            return Wrong("refused", f"there is nothing yet under {name!r}", name)
        value = received[name]
        wrong = value if isinstance(value, Wrong) else compare_arrays(expected, name, right, value)
        if wrong is not None:
            return wrong
    return check_ties(expected, received)


def describe_failure(error: dict[str, Any]) -> Wrong:
    """Return the difference for an outcome without values."""
    if error["kind"] == "InvalidAnswer":
        return Wrong("refused", error["message"])
    line = f" (line {error['line']} of your function)" if error["line"] else ""
    message = f": {CORE_DIMENSION.sub(INNER_LENGTHS, error['message'])}" if error["message"] else ""
    return Wrong("raised", f"it stopped with {error['kind']}{message}{line}")


CORE_DIMENSION = re.compile(r"(\w+): Input operand .*\(size (\d+) is different from (\d+)\)")
INNER_LENGTHS = r"\1: shapes do not fit: the inner lengths \3 and \2 differ"
"""NumPy's message about the shapes of a product of matrices, and the same in plain words."""


def is_close(expected: Expected, name: str, value: Any) -> bool:
    """Return whether an answer equals the right rule's result up to rounding, so that no closer look is needed."""
    right = expected.right[name]
    if isinstance(value, Wrong) or value.shape != right.shape or value.dtype.kind != right.dtype.kind:
        return False
    with np.errstate(all="ignore"):
        return bool(np.all(close_entries(value, right, expected.tolerance * expected.largest[name] + expected.floor)))


def compare_arrays(expected: Expected, name: str, right: Any, value: Any) -> Wrong | None:
    """Return the difference between one answer and the right one, entry by entry."""
    if value.shape != right.shape:
        return wrong_shape(expected.case, name, value.shape, right.shape, name)
    if value.dtype.kind == "c" and right.dtype.kind != "c":
        return Wrong("complex", f"{name} must have real numbers, got complex ones", name)
    with np.errstate(all="ignore"):
        fine = close_entries(value, right, expected.slack[name])
        fine |= close_entries(value, expected.exact[name], expected.slack[name])
        fine |= conventional_entries(expected, name, value)
        reached = expected.reached_by_infinity
        fine |= undefined_entries(right if reached is None else np.where(np.isinf(right), 0.0, right), value)
        if reached is not None:
            nan_for_zero = np.isnan(value) & (right == 0)
            fine |= reached[name] & ~np.isfinite(value) | nan_for_zero
            fine |= close_entries(value, expected.spared_by_infinity(name), expected.slack[name])
    return None if np.all(fine) else describe_difference(name, right, value, fine)


def close_entries(value: Any, right: Any, slack: Any) -> Any:
    """Return where two arrays are equal up to rounding. Equal infinities count as equal."""
    return (np.abs(value - right) <= slack) | (value == right)


def undefined_entries(right: Any, value: Any) -> Any:
    """Return where the right rule is not finite, at the edge of a domain, and the answer is 0 or not finite."""
    return ~np.isfinite(right) & ((value == 0) | ~np.isfinite(value))


def conventional_entries(expected: Expected, name: str, value: Any) -> Any:
    """Return where the right rule jumps and the answer is between its results on either side."""
    neighbors = expected.neighbors.get(name)
    if neighbors is None:
        return np.zeros(value.shape, bool)
    jumps, low, high = find_jumps(expected, name)
    undefined = ~np.isfinite(neighbors).all(axis=0) & ((value == 0) | ~np.isfinite(value))
    if expected.allows_nan:
        undefined |= jumps & np.isnan(value)
    return jumps & (value >= low - 1e-6 * abs(low)) & (value <= high + 1e-6 * abs(high)) | undefined


def find_jumps(expected: Expected, name: str) -> tuple[Any, Any, Any]:
    """Return where the right rule jumps, and the smallest and largest result around each entry."""
    around = np.concatenate([expected.neighbors[name], expected.right[name][None]]).real
    low, high = np.min(around, axis=0), np.max(around, axis=0)
    return np.isfinite(low) & np.isfinite(high) & (high - low > 1e-4 * np.maximum(abs(low), abs(high))), low, high


def check_ties(expected: Expected, received: dict[str, Any]) -> Wrong | None:
    """Check that tied entries together send what arrived, if every way of breaking the tie sends the same in total."""
    if not expected.neighbors:
        return None
    jumps_of = {name: find_jumps(expected, name)[0] for name in received}
    if not any(np.any(jumps) for jumps in jumps_of.values()):
        return None

    def total(arrays: dict[str, Any]) -> Any:
        return sum(np.sum(arrays[name][..., jumps], axis=-1) for name, jumps in jumps_of.items())

    around = total(expected.neighbors)
    scale = np.max(np.abs(around)) + np.finfo(float).tiny
    conserved = np.ptp(around) <= 1e-5 * scale and abs(total(expected.right) - around[0]) <= 1e-5 * scale
    if not conserved or abs(total(received) - around[0]) <= 1e-5 * scale:
        return None
    first = next(name for name, jumps in jumps_of.items() if np.any(jumps))
    ratio = float(total(received) / around[0]) if around[0] else None
    times = f": together {number(ratio)} times what arrived" if ratio is not None else ""
    return Wrong("ties", f"the entries that tie send back more or less than what arrived{times}", first, None, ratio)


def describe_difference(name: str, right: Any, value: Any, fine: Any) -> Wrong:
    """Describe how two arrays differ. Its numbers are ratios; it contains no entry of the right answer."""
    place = tuple(map(int, np.argwhere(~fine)[0]))
    where = f"; the first is {name}[{', '.join(map(str, place))}]" if place else ""
    count = int(np.sum(~fine))
    not_finite = int(np.sum(~np.isfinite(value) & ~fine))
    if not_finite:
        verb = "is" if not_finite == 1 else "are"
        sentence = f"{not_finite} of {value.size} entries of {name} {verb} nan or infinite{where}"
        return Wrong("nan" if not_finite == count else "entries", sentence, name, place)
    if not np.all(np.isfinite(right)):
        return Wrong("entries", f"{count} of {value.size} entries of {name} differ{where}", name, place)
    with np.errstate(all="ignore"):
        sentence, ratio = difference(right, value), constant_ratio(right, value)
    if ratio is not None and abs(ratio - 1) < 1e-3:
        sentence, ratio = f"{count} of {value.size} entries are off by {number(abs(ratio - 1))} of their size", None
    kind = "ratio" if ratio is not None else "transpose" if "transpose" in sentence else "entries"
    if sentence.startswith("0 of"):  # the museum ignores such small differences
        sentence = f"{count} of {value.size} entries differ"
    sentence = sentence.replace("every entry is", f"every entry of {name} is" if value.size > 1 else f"{name} is")
    return Wrong(kind, f"{sentence}{where if kind == 'entries' else ''}", name, place, ratio)


def constant_ratio(right: Any, value: Any) -> float | None:
    """Return the factor between the right answer and another, if it is the same everywhere."""
    nonzero = np.abs(right) > TOLERANCE * np.max(np.abs(right), initial=0.0)
    if np.sum(nonzero) < 2 or np.any(value[right == 0] != 0):
        return None
    ratios = (value[nonzero] / right[nonzero]).real
    return float(ratios[0]) if np.ptp(ratios) <= 1e-7 * abs(ratios[0]) else None
