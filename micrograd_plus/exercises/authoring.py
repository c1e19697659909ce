"""Writing exercises: `define`, a decorator for the right answer, and the checks that an exercise must pass."""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..backends import devices
from .from_functions import Inputs, function_exercise
from .registry import register
from .sandboxed import carry_out
from .spec import GROUPS, Case, Exercise, Mistake

np = devices.device("cpu").library

DRAWS = 20


class NotProved(ValueError):  # noqa: N818 - the name of what is missing
    """An exercise that fails its own checks. The message says what would go wrong in a class."""


def define(
    id: str,
    *,
    prompt: str,
    inputs: Inputs,
    title: str | None = None,
    group: str = GROUPS[0],
    kind: str = "rule",
    edges: Mapping[str, Any] | None = None,
    mistakes: Sequence[Any] = (),
    answers: Sequence[str] | None = None,
    starter: str | None = None,
    draws: int = DRAWS,
    shows_right: bool = True,
) -> Callable[[Any], Any]:
    """Decorator that makes an exercise of a right answer, and checks the exercise at once.

    The right answer must be right on new draws, each mistake must be caught and named, the starter must score 0, and no
    hint or message may contain an entry of the right answer to four digits. Otherwise NotProved says what failed.

    Args:
        id: the id of the exercise, for `check`.
        prompt: the task.
        inputs: for each parameter of the answer a draw, such as `mg.samples.real(2, 3)`, or a value.
        title: a line for lists; the id, if omitted.
        group: one of the six groups.
        kind: one of the five kinds.
        edges: edge cases: a description, and the values that replace some of the inputs.
        mistakes: triples of a title, a wrong answer and three hints, or pairs of an id of the catalogue and a wrong
            answer.
        answers: the names of the results, if the function returns several.
        starter: the code that a student starts from; written from the parameters, if omitted.
        draws: the number of draws on which the right answer is tried.
        shows_right: whether the walk of a wrong answer shows the right numbers beside the wrong ones.
    Returns: the decorator, which returns the right answer unchanged.
    Raises: NotProved, a ValueError, if the exercise fails its checks.
    Example:
        >>> from micrograd_plus import exercises
        >>> @exercises.define(
        ...     "double.x", prompt="The slope of 2 x, times upstream.",
        ...     inputs={"x": mg.samples.real(2, 3), "upstream": mg.samples.real(2, 3)},
        ...     mistakes=[("the 2 is missing", lambda upstream: upstream,
        ...                ("How fast does 2 x grow?", "Twice as fast as x.", "Send twice what arrives."))],
        ... )
        ... def double_x(upstream):
        ...     return 2 * upstream
        double.x: proved on 20 draws; 1 of 1 mistakes caught and named; the starter scores 0.

    See: `check`.
    """

    def make_exercise(right: Any) -> Any:
        exercise = function_exercise(
            id, right, kind=kind, group=group, title=title or id, prompt=prompt, inputs=inputs, edges=edges,
            mistakes=[read_mistake(each) for each in mistakes], answers=answers, starter=starter,
            example="",
        )  # fmt: skip
        exercise.shows_right = shows_right
        summary = prove(exercise, draws)
        register(exercise)
        print(f"{id}: {summary}")  # noqa: T201 - the notebook shows it
        return right

    return make_exercise


def read_mistake(declaration: Any) -> Any:
    """Return a mistake that may be declared as a title, a wrong answer and three hints."""
    if isinstance(declaration, Mistake) or len(declaration) == 2:
        return declaration
    title, wrong_answer, hints = declaration
    if len(hints) != 3:
        raise NotProved(f"the mistake {title!r} must have three hints, got {len(hints)}")
    return Mistake("own", title, hints, wrong_answer)


# Checks ---------------------


def try_answer(exercise: Exercise, answer: Any, seed: int) -> tuple[list[Case], Any]:
    """Return the cases of a seed, and the result of one of our own answers on them."""
    cases = exercise.cases(seed)
    return cases, exercise.mark(cases, [exercise.run(answer, case.request) for case in cases])


def prove(exercise: Exercise, draws: int = DRAWS) -> str:
    """Check an exercise and return a summary; raise NotProved if a check fails."""
    for case in exercise.cases(0):
        first, second = (exercise.run(exercise.right, case.request)["values"] for _ in range(2))
        if not all(np.array_equal(first[name], second[name], equal_nan=True) for name in first):
            raise NotProved(f"{exercise.id}: the right answer returns other numbers when it is called again")
    for seed in range(draws):
        _, result = try_answer(exercise, exercise.right, seed)
        if not result.right:
            why = result.first_wrong.sentence if result.first_wrong else ", ".join(result.flags)
            raise NotProved(f"{exercise.id}: its own right answer is marked wrong on draw {seed}: {why}")
    mistakes = [each for each in exercise.mistakes if each.wrong_answer is not None]
    for mistake in mistakes:
        prove_mistake(exercise, mistake)
    points = starter_points(exercise)
    if points:
        raise NotProved(f"{exercise.id}: the starter scores {points:g} points, it must score 0")
    return (f"proved on {draws} draws; {len(mistakes)} of {len(mistakes)} mistakes caught and named; the starter "
            f"scores 0.")  # fmt: skip


def prove_mistake(exercise: Exercise, mistake: Mistake, seed: int = 1) -> None:
    """Check that a mistake is caught and named, and that no text about it reveals the answer."""
    cases, result = try_answer(exercise, mistake.wrong_answer, seed)
    if result.right:
        raise NotProved(f"{exercise.id}: the mistake {mistake.title!r} is not caught")
    if result.mistake is None or not is_same_mistake(result.mistake, mistake):
        other = "nothing" if result.mistake is None else repr(result.mistake.title)
        raise NotProved(f"{exercise.id}: the mistake {mistake.title!r} is named {other}")
    texts = [*mistake.hints, *(part["reason"] for part in result.parts)]
    texts += [result.first_wrong.sentence] if result.first_wrong else []
    leak = find_leak(exercise, cases, texts)
    if leak is not None:
        raise NotProved(f"{exercise.id}: the text {leak[0]!r} of the mistake {mistake.title!r} reveals {leak[1]}")


def is_same_mistake(a: Mistake, b: Mistake) -> bool:
    """Return whether two mistakes have the same title, or the same id in the catalogue."""
    return a is b or a.title == b.title or (a.id == b.id and a.id.startswith("M"))


NUMBER = re.compile(r"\d+\.?\d*(?:e[-+]?\d+)?")


def find_leak(exercise: Exercise, cases: Sequence[Case], texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the first text that contains an entry of the right answers to four digits, and that entry; or None."""
    entries: set[str] = set()
    for case in cases:
        for value in exercise.run(exercise.right, case.request)["values"].values():
            finite = np.abs(value[np.isfinite(value)]).reshape(-1)
            entries |= {f"{each:.4g}" for each in finite[:200].tolist()}
    long_entries = {each for each in entries if len(each.replace(".", "").lstrip("0").partition("e")[0]) >= 4}
    for text in texts:
        for number in NUMBER.findall(text):
            rounded = f"{float(number):.4g}"
            if rounded in long_entries:
                return text, rounded
    return None


def starter_points(exercise: Exercise, seed: int = 0) -> float:
    """Return the points of the unchanged starter."""
    answers: dict[str, Any] = {}

    class Collector:
        """Replacement of the package in a starter, which collects the answers."""

        @staticmethod
        def answer(id: str) -> Callable[[Any], Any]:
            return lambda answer: answers.setdefault(id, answer)

        @staticmethod
        def check(id: str, answer: Any) -> Any:
            return answers.setdefault(id, answer)

    exec(exercise.starter, {"exercises": Collector, "np": np})  # noqa: S102 - our own text, run as a notebook runs it
    cases = exercise.cases(seed)
    answer = answers.get(exercise.id)
    return exercise.mark(cases, [carry_out(answer, case.request) for case in cases]).points
