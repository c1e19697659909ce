"""An exercise of any function: drawn inputs, a right answer, and the mistakes that are known for it."""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..backends import devices
from .mutants import hints
from .rows import ROWS
from .sandboxed import ALL, carry_out
from .sandboxed.values import asked_for
from .spec import Case, Exercise, Mistake, Part

np = devices.device("cpu").library

WITH_EDGES = (
    Part("shape", 1, "the answer has the right shape, on every call"),
    Part("plain values", 6, "the numbers are right on ordinary inputs"),
    Part("edges", 3, "and where something is special about them"),
)
WITHOUT_EDGES = (WITH_EDGES[0], Part("plain values", 9, "the numbers are right"))

Inputs = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]


def drawn(value: Any, *generator: Any) -> Any:
    """An input: drawn by a function, or given."""
    return value(*generator) if callable(value) else value


class Draws:
    """Makes the cases of a function: so many plain ones, and one for each edge."""

    def __init__(
        self, inputs: Inputs, edges: Mapping[str, Any], answers: Sequence[str] | None, driver: str, count: int
    ):
        self.inputs: Any = inputs
        self.edges, self.answers, self.driver, self.count = edges, answers, driver, count
        self.functions: Sequence[str] = ()
        self.right: Any = None
        self.about = "the inputs are plain"

    def __call__(self, rng: Any) -> list[Case]:
        """Fresh cases."""
        cases = [self.case("plain values", self.about, self.plain(rng)) for _ in range(self.count)]
        for about, change in self.edges.items():
            given = self.plain(rng)
            over = {name: drawn(value, rng) for name, value in drawn(change, given, rng).items()}
            cases.append(self.case("edges", about, {**given, **over}))
        return cases

    def plain(self, rng: Any) -> dict[str, Any]:
        """Plain inputs, drawn."""
        return {name: drawn(value, rng) for name, value in drawn(self.inputs, rng).items()}

    def case(self, part: str, about: str, arguments: dict[str, Any]) -> Case:
        """One case; the shapes that answers have are those of the right ones."""
        answers = list(self.answers or ["the answer"])
        request = {"driver": self.driver, "arguments": arguments, "functions": list(self.functions), "answers": answers}
        outcome = carry_out(self.right, request)
        if outcome["error"] is not None:
            error = outcome["error"]
            raise ValueError(f"the right answer fails where {about}: {error['kind']}: {error['message']}")
        return Case(part, about, request, shapes={name: each.shape for name, each in outcome["values"].items()})


def function_exercise(
    id: str,
    right: Any,
    *,
    kind: str,
    group: str,
    title: str,
    prompt: str,
    inputs: Inputs,
    edges: Mapping[str, Any] | None = None,
    mistakes: Sequence[Any] = (),
    answers: Sequence[str] | None = None,
    starter: str | None = None,
    driver: str = "call",
    functions: Sequence[str] | None = None,
    judge: Any = None,
    parts: Sequence[Part] | None = None,
    count: int = 4,
    about: str = "the inputs are plain",
    limits: dict[str, float] | None = None,
) -> Exercise:
    """An exercise whose right answer is `right`, run as a student's would be. A mistake is a pair of a row of the
    catalogue and a wrong answer, or a `Mistake` of its own."""
    draw = Draws(inputs, edges or {}, answers, driver, count)
    draw.functions, draw.right, draw.about = tuple(sorted(ALL if functions is None else functions)), right, about
    if parts is None and kind == "gradients":
        names = answers or ["the answer"]
        parts = [Part(name, points, f"the gradient of {name} is right")
                 for name, points in zip(names, shares(len(names)), strict=True)]  # fmt: skip
    made = Exercise(
        id, kind=kind, group=group, title=title, prompt=prompt, starter="", draw=draw, right=right, judge=judge,
        parts=parts or (WITH_EDGES if edges else WITHOUT_EDGES), functions=draw.functions, limits=limits,
        mistakes=[each if isinstance(each, Mistake) else of_row(*each) for each in mistakes],
        reads=() if isinstance(right, type) or not callable(right) else asked_for(right),
    )  # fmt: skip
    made.starter = starter or starter_of(made)
    return made


def shares(count: int, whole: float = 10.0) -> list[float]:
    """Points for so many parts, to two digits; the last has what is left of the whole."""
    each = round(whole / count, 2)
    return [each] * (count - 1) + [round(whole - each * (count - 1), 2)]


def of_row(row: str, thing: Any) -> Mistake:
    """A row of the catalogue, with the wrong answer that makes it here."""
    return Mistake(row, ROWS[row][0], hints(row, ""), thing)


def first_sentence(exercise: Exercise) -> str:
    """What a starter says of itself: the title or, where that is the id alone, what is asked first."""
    said = exercise.title if exercise.title != exercise.id else exercise.prompt.strip().partition("\n")[0]
    said = said.replace("\\", "").replace('"', "'").rstrip(".")
    return f"{said[:1].upper()}{said[1:]}."


def starter_of(exercise: Exercise) -> str:
    """The code that a student begins with; it answers nothing."""
    names = [name for name in exercise.reads if name != "xp"]
    first = ["xp"] if "xp" in exercise.reads else []
    return (
        f'@exercises.answer("{exercise.id}")\n'
        f"def {exercise.function_name}({', '.join([*first, *names])}):\n"
        f'    """{first_sentence(exercise)}"""\n'
        f"    # YOUR CODE HERE\n"
        f"    raise NotImplementedError\n"
    )
