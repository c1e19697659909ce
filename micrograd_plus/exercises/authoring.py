"""Writing an exercise: the right answer under `@exercises.define(...)`, and the proof that it can be trusted."""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..backends import devices
from .from_functions import Inputs, function_exercise
from .registered import register
from .sandboxed import carry_out
from .spec import GROUPS, Exercise, Mistake

np = devices.device("cpu").library

DRAWS = 20


class NotProved(ValueError):  # noqa: N818 - what is wrong is that it is not proved
    """An exercise that does not hold: the sentence says what would go wrong with a class."""


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
) -> Callable[[Any], Any]:
    """A decorator that makes a right answer an exercise, and proves it there and then.

    The right answer passes on fresh draws; each mistake is caught, and named; the starter scores nothing; no hint and
    no message holds an entry of the answer to four digits. What fails is an error that says which.

    Args:
        id: what it is called in `check`.
        prompt: what is asked.
        inputs: a draw for each parameter of the answer, such as `mg.samples.real(2, 3)`, or a value.
        title: a line for lists; the id, if none is given.
        group: one of the six groups.
        kind: one of the five kinds.
        edges: what is special about an input, and the values that then take the place of some.
        mistakes: triples of a title, the wrong answer and three hints; or pairs of a row of the catalogue and the
            answer.
        answers: the names of what is returned, if that is several things.
        starter: the code that a student begins with; made of the parameters, if none is given.
        draws: on how many draws the right answer is tried.
    Returns: the decorator; the right answer stays what it is.
    Raises: NotProved, a ValueError, where the exercise does not hold.
    Example:
        >>> from micrograd_plus import exercises
        >>> @exercises.define(
        ...     "double.x", prompt="The slope of 2 x, times upstream.",
        ...     inputs={"x": mg.samples.real(2, 3), "upstream": mg.samples.real(2, 3)},
        ...     mistakes=[("the 2 is missing", lambda upstream: upstream,
        ...                ("How fast does 2 x grow?", "Twice as fast as x.", "Twice what arrives is sent."))],
        ... )
        ... def double_x(upstream):
        ...     return 2 * upstream
        double.x: proved on 20 draws; 1 of 1 mistakes caught and named; the starter scores 0.

    See: `check`.
    """

    def defined(right: Any) -> Any:
        known = [of_notebook(each) for each in mistakes]
        exercise = function_exercise(
            id, right, kind=kind, group=group, title=title or id, prompt=prompt, inputs=inputs, edges=edges,
            mistakes=known, answers=answers, starter=starter,
        )  # fmt: skip
        told = proof(exercise, draws)
        register(exercise)
        print(f"{id}: {told}")  # noqa: T201 - the cell of a notebook shows it
        return right

    return defined


def of_notebook(given: Any) -> Any:
    """A mistake as a notebook writes it: a title, the wrong answer, and three hints."""
    if isinstance(given, Mistake) or len(given) == 2:
        return given
    title, thing, hints = given
    if len(hints) != 3:
        raise NotProved(f"the mistake {title!r} has {len(hints)} hints; three are asked for one after the other")
    return Mistake("own", title, hints, thing)


def tried(exercise: Exercise, thing: Any, seed: int) -> tuple[Any, Any]:
    """The cases of a seed, and the result of an answer of ours on them."""
    cases = exercise.cases(seed)
    return cases, exercise.mark(cases, [exercise.run(thing, case.request) for case in cases])


def proof(exercise: Exercise, draws: int = DRAWS) -> str:
    """The sentence that says an exercise holds; `NotProved` where it does not."""
    for case in exercise.cases(0):
        first, second = (exercise.run(exercise.right, case.request)["values"] for _ in range(2))
        if not all(np.array_equal(first[name], second[name], equal_nan=True) for name in first):
            raise NotProved(f"{exercise.id}: the right answer gives other numbers when it is called again")
    for seed in range(draws):
        _, result = tried(exercise, exercise.right, seed)
        if not result.right:
            what = result.first_wrong.sentence if result.first_wrong else ", ".join(result.flags)
            raise NotProved(f"{exercise.id}: its own right answer is called wrong on draw {seed}: {what}")
    named = 0
    for mistake in exercise.mistakes:
        if mistake.wrong_answer is not None:
            named += 1
            proved_mistake(exercise, mistake)
    scored = starter_score(exercise)
    if scored:
        raise NotProved(f"{exercise.id}: the starter scores {scored:g} points as it stands")
    return f"proved on {draws} draws; {named} of {named} mistakes caught and named; the starter scores 0."


def proved_mistake(exercise: Exercise, mistake: Mistake, seed: int = 1) -> None:
    """See that a mistake is caught and named, and that nothing said of it tells the answer."""
    cases, result = tried(exercise, mistake.wrong_answer, seed)
    if result.right:
        raise NotProved(f"{exercise.id}: the mistake {mistake.title!r} is not caught")
    if result.mistake is None or not same_mistake(result.mistake, mistake):
        other = "nothing" if result.mistake is None else repr(result.mistake.title)
        raise NotProved(f"{exercise.id}: the mistake {mistake.title!r} is named {other}")
    texts = [*mistake.hints, *(part["reason"] for part in result.parts)]
    texts += [result.first_wrong.sentence] if result.first_wrong else []
    leak = leaked(exercise, cases, texts)
    if leak is not None:
        raise NotProved(
            f"{exercise.id}: of the mistake {mistake.title!r} it is said {leak[0]!r}, which tells {leak[1]}"
        )


def same_mistake(a: Mistake, b: Mistake) -> bool:
    """Whether two mistakes are one: of one title, or of one row of the catalogue."""
    return a is b or a.title == b.title or (a.id == b.id and a.id.startswith("M"))


NUMBER = re.compile(r"\d+\.?\d*(?:e[-+]?\d+)?")


def leaked(exercise: Exercise, cases: Sequence[Any], texts: Sequence[str]) -> tuple[str, str] | None:
    """A text that holds an entry of the right answers to four digits, and that entry; None where none does."""
    entries: set[str] = set()
    for case in cases:
        for value in exercise.run(exercise.right, case.request)["values"].values():
            finite = np.abs(value[np.isfinite(value)]).reshape(-1)
            entries |= {f"{each:.4g}" for each in finite[:200].tolist()}
    telling = {each for each in entries if len(each.replace(".", "").lstrip("0").partition("e")[0]) >= 4}
    for text in texts:
        for written in NUMBER.findall(text):
            shortened = f"{float(written):.4g}"
            if shortened in telling:
                return text, shortened
    return None


def starter_score(exercise: Exercise, seed: int = 0) -> float:
    """What the starter scores as it is handed out."""
    found: dict[str, Any] = {}

    class Collecting:
        """In the place of the package: keeps what is answered."""

        @staticmethod
        def answer(id: str) -> Callable[[Any], Any]:
            return lambda thing: found.setdefault(id, thing)

        @staticmethod
        def check(id: str, thing: Any) -> Any:
            return found.setdefault(id, thing)

    exec(exercise.starter, {"exercises": Collecting, "np": np})  # noqa: S102 - our own text, run as a notebook runs it
    cases = exercise.cases(seed)
    thing = found.get(exercise.id)
    return exercise.mark(cases, [carry_out(thing, case.request) for case in cases]).points
