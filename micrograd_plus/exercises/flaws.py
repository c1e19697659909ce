"""Flaws of answers that are right otherwise: single precision, a small number that was added, numerical derivatives.

A flaw explains a case only if that case's own numbers agree with it. An added `1e-8` leaves an error that is the same
multiple of a known pattern everywhere; a numerical derivative leaves errors that look like noise, or like the next
term of a series, and are many times larger than rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..backends import devices
from .compare import LAST_BIT, LAST_BITS, Expected, Wrong, received_by_input
from .spec import EDGES, SECOND_ORDER, Case, Exercise

np = devices.device("cpu").library

SINGLE_PRECISION, OVERWRITES, EPSILON, NUMERICAL = (
    "single precision", "an input was written over", "a small number is added", "numerical derivative",
)  # fmt: skip
COSTS = {SINGLE_PRECISION: 0.25, OVERWRITES: 0.25, EPSILON: 0.1, NUMERICAL: 0.75}
"""The share of its points that an otherwise right answer loses for each flaw.

An added small number is a habit of careful people. A numerical derivative is not the rule that was required.
"""

SINGLE_PRECISION_ERROR, NUMERICAL_ERROR, LARGEST_EPSILON = 3e-5, 1e-5, 1e-3
"""The largest error, relative to the largest entry, that each flaw explains."""
NOISE = 24
"""Right rules differ by a few times the effect of the last bit. Numerical derivatives differ by more than this."""
FEWEST_ENTRIES = 4


def find_flaws(
    exercise: Exercise, cases: Sequence[Case], expected: list[Expected], outcomes: list[Any], wrongs: list[Wrong | None]
) -> tuple[list[str], list[Wrong | None]]:
    """Return the flaws of an otherwise right answer, and the differences without those that a flaw explains."""
    flags = [OVERWRITES] if any(outcome["wrote"] for outcome in outcomes) else []
    plain = [i for i, case in enumerate(cases) if case.part not in (EDGES, SECOND_ORDER) and "shapes" in case.expects]
    unusable = any(wrong is not None and wrong.kind in ("refused", "raised", "shape") for wrong in wrongs)
    if exercise.judge is not None or unusable or not plain:
        return flags, wrongs
    tries = [Try(expected[i], cases[i], outcomes[i]) for i in range(len(cases))]
    flaw, explained = name_flaw([tries[i] for i in plain], tries, [wrongs[i] for i in plain])
    if flaw is None or (flaw == NUMERICAL and not exercise.is_derivative):
        return flags, wrongs
    explained = [yes and wrong is not None for yes, wrong in zip(explained, wrongs, strict=True)]
    left = [None if yes else wrong for yes, wrong in zip(explained, wrongs, strict=True)]
    return ([*flags, flaw] if any(explained) or flaw == NUMERICAL else flags), left


def name_flaw(plain: list[Try], tries: list[Try], wrongs: list[Wrong | None]) -> tuple[str | None, list[bool]]:
    """Return the flaw that explains every ordinary case, and for each case whether it explains that one."""
    differing = [each for each, wrong in zip(plain, wrongs, strict=True) if wrong is not None]
    if differing and all(each.is_single for each in differing):
        return SINGLE_PRECISION, [each.is_single for each in tries]
    if not differing and not is_numerical(plain):
        return None, []
    fit = fit_epsilon(plain)
    if fit is not None:
        name, epsilon = fit
        with np.errstate(all="ignore"):
            return EPSILON, [each.has_addition(name, epsilon) for each in tries]
    if is_numerical(plain):
        return NUMERICAL, [each.largest_error <= NUMERICAL_ERROR for each in tries]
    return None, []


class Try:
    """The answers of one case beside the right ones."""

    def __init__(self, expected: Expected, case: Case, outcome: dict[str, Any]):
        self.expected, self.case, self.outcome = expected, case, outcome
        self.received = {name: received_by_input(case, name, (outcome["values"] or {})[name])
                         for name in expected.right if name in (outcome["values"] or {})}  # fmt: skip
        self.comparable = len(self.received) == len(expected.right) and all(
            not isinstance(value, Wrong) and value.shape == expected.right[name].shape
            for name, value in self.received.items()
        )

    @property
    def largest_error(self) -> float:
        """The largest error relative to the largest entry; infinite if it is nan, or if all right entries are 0."""
        if not self.comparable:
            return float("inf")
        errors = [0.0]
        for name, right in self.expected.right.items():
            finite = np.isfinite(right)
            with np.errstate(all="ignore"):
                error = np.abs(self.received[name][finite] - right[finite])
            worst = float(np.max(np.where(np.isnan(error), np.inf, error), initial=0.0))
            scale = self.expected.largest[name]
            errors.append(worst / scale if scale else np.inf if worst > self.expected.floor else 0.0)
        return max(errors)

    @property
    def is_single(self) -> bool:
        """Whether the answer is right to single precision, and all its numbers are single-precision numbers."""
        if self.case.part == SECOND_ORDER:
            return True
        values = (self.outcome["values"] or {}).values()
        return bool(values) and all(map(has_single_precision, values)) and self.largest_error <= SINGLE_PRECISION_ERROR

    def noise(self, rounding: dict[str, Any] | None = None) -> Any:
        """Return the error of each entry, as a multiple of its own last bit, or of `rounding` if that is larger."""
        ratios = []
        for name, right in self.expected.right.items():
            used = np.isfinite(right) & (right != 0)
            unit = LAST_BIT * np.abs(right)
            unit = unit if rounding is None else np.fmax(rounding[name], unit)
            ratios.append(np.abs(self.received[name] - right)[used] / unit[used])
        return np.concatenate(ratios)

    # A small number that was added ------

    @cached_property
    def suspects(self) -> dict[str, Addition]:
        """The places where a small number may have been added, by name: to a value, in front, in a denominator."""
        exercise, case = self.expected.exercise, self.case
        right = (case.right_outcome or exercise.run(exercise.right, case.request))["values"]
        return {f"{how} {name}": Addition(case, right, value, change)
                for name, value in [("1", np.float64(1)), *readable_arrays(case)]
                for how, change in ADDITIONS.items()}  # fmt: skip

    def has_addition(self, name: str, number: float) -> bool:
        """Return whether a number added at a place leaves these answers, up to rounding and to terms of lower order."""
        answers = self.suspects[name].answers(number) if name in self.suspects and self.comparable else None
        if answers is None:
            return False
        return all(self._is_near(name, answers[name]) for name in self.expected.right)

    def _is_near(self, name: str, other: Any) -> bool:
        right, value = self.expected.right[name], self.received[name]
        if other.shape != value.shape:
            return False
        rounding = np.fmax(self.expected.rounding[name], LAST_BIT * np.abs(right))
        lower_order = 0.05 * (other - right) ** 2 / np.fmax(np.abs(right), np.finfo(float).tiny)
        near = np.abs(value - other) <= lower_order + LAST_BITS * rounding + self.expected.floor
        return bool(np.all(near | (value == other) | ~np.isfinite(right)))


class Addition:
    """A right answer to which a small number is added at one place."""

    def __init__(self, case: Case, right: dict[str, Any], value: Any, change: Any):
        self.case, self.right, self.value, self.change = case, right, value, change

    def answers(self, number: float) -> dict[str, Any] | None:
        """Return what the inputs receive if this number is added; None if the shapes do not fit."""
        try:
            changed = {name: self.change(each, self.value, number) for name, each in self.right.items()}
        except ValueError:
            return None
        received = {name: received_by_input(self.case, name, each) for name, each in changed.items()}
        return None if any(isinstance(each, Wrong) for each in received.values()) else received


ADDITIONS = {
    "added to": lambda right, value, e: right + e * value,
    "divided by": lambda right, value, e: right / (1 + e / value),
    "divided by the square of": lambda right, value, e: right / (1 + e / value) ** 2,
    "divided by the squared": lambda right, value, e: right / (1 + e / (value * value)),
    "divided by one minus": lambda right, value, e: right / (1 + e / (1 - value)),
    "divided by both sides of": lambda right, value, e: right / (1 + e / (value * (1 - value))),
}
"""The right answer after a number was added in a sum, or in a denominator."""


def readable_arrays(case: Case) -> list[tuple[str, Any]]:
    """Return the arrays of floats that an answer can read, and the probabilities that belong to logits."""
    arrays = [(name, value) for name, value in case.request["arguments"].items()
              if isinstance(value, np.ndarray) and value.dtype.kind == "f"]  # fmt: skip
    probabilities = [("the sigmoid", 1 / (1 + np.exp(-value))) for name, value in arrays if name == "logits"]
    return [*arrays, *probabilities]


def has_single_precision(value: Any) -> bool:
    """Return whether all numbers of an array are numbers of single precision."""
    return value.dtype.kind != "c" and (value.dtype.itemsize == 4 or not np.any(value != value.astype("f4")))


def fit_epsilon(plain: list[Try]) -> tuple[str, float] | None:
    """Return the place and the number that explain the errors of all ordinary cases, or None."""
    if any(each.largest_error > LARGEST_EPSILON for each in plain):
        return None
    with np.errstate(all="ignore"):
        for name, first in plain[0].suspects.items():
            number = solve_addition(plain[0], first)
            if number is not None and all(each.has_addition(name, number) for each in plain):
                return name, number
    return None


def solve_addition(each: Try, addition: Addition) -> float | None:
    """Return the number which, added at a place, leaves the largest error of a case; None if it is not a pattern."""
    probe = addition.answers(PROBE)
    if probe is None or any(value.shape != each.received[name].shape for name, value in probe.items()):
        return None
    names = list(each.expected.right)
    right, value, moved = (np.concatenate([np.ravel(group[name]) for name in names])
                           for group in (each.expected.right, each.received, probe))  # fmt: skip
    if np.iscomplexobj(value) and not np.iscomplexobj(right):
        return None
    slopes, errors = (moved - right) / PROBE, value - right
    used = np.isfinite(slopes) & np.isfinite(errors) & (right != 0)
    relative = (slopes / right)[used]
    if relative.size < FEWEST_ENTRIES or np.ptp(relative) <= 1e-6 * np.max(np.abs(relative)):
        return None  # the same factor everywhere is no addition
    place = int(np.argmax(np.abs(np.where(used, errors, 0.0))))
    number = float(errors[place] / slopes[place]) if slopes[place] else np.inf
    for _ in range(3):  # Newton's steps: the first number is right to first order
        answers = addition.answers(number) if abs(number) < LARGEST_EPSILON else None
        if answers is None:
            return None
        now = np.concatenate([np.ravel(answers[name]) for name in names])
        number -= float((now[place] - value[place]) / slopes[place])
    return number


PROBE = 1e-7
"""A number that is added to see which errors it leaves."""


# Numerical derivatives ------


def is_numerical(plain: list[Try]) -> bool:
    """Return whether the errors are small but many times larger than rounding, in every ordinary case."""
    if not all(each.comparable and each.largest_error <= NUMERICAL_ERROR for each in plain):
        return False
    with np.errstate(all="ignore"):
        if is_quiet([each.noise() for each in plain]):  # the effect of the inputs' last bit takes several more runs
            return False
        return not is_quiet([each.noise(each.expected.rounding) for each in plain])


def is_quiet(noise: list[Any]) -> bool:
    """Return whether most entries have no more noise than right rules have."""
    ratios = np.concatenate(noise)
    return not ratios.size or not np.median(ratios) > NOISE
