"""Exercises for any function: drawn inputs, a right answer, and known mistakes."""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..backends import devices
from .mistakes import mistake, wrong_answers
from .prompts import is_float, show_call
from .sandboxed import FUNCTIONS, carry_out
from .sandboxed.values import parameter_names
from .spec import EDGES, ORDINARY, PLAIN, Case, Exercise, Mistake, Part
from .variants import function_variants

np = devices.device("cpu").library

WITH_EDGES = (
    Part("shape", 1, "the answer has the right shape, on every call"),
    Part(PLAIN, 6, "the numbers are right on ordinary inputs"),
    Part(EDGES, 3, "the numbers are right on edge cases"),
)
WITHOUT_EDGES = (WITH_EDGES[0], Part(PLAIN, 9, "the numbers are right"))
ONLY_ANSWER = "the answer"

Inputs = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
"""Inputs by name. Each is a value or a function of a random generator; so is the whole mapping."""


def evaluate(value: Any, *arguments: Any) -> Any:
    """Return a value, or the result of a function that draws it."""
    return value(*arguments) if callable(value) else value


class FunctionCases:
    """Function that draws the cases of an exercise: `count` ordinary ones, and one for each edge case."""

    def __init__(
        self, right: Any, inputs: Inputs, edges: Mapping[str, Any], answers: Sequence[str], driver: str, count: int,
        functions: Sequence[str], about: str,
    ):  # fmt: skip
        self.right, self.edges, self.answers, self.driver, self.count = right, edges, answers, driver, count
        self.inputs: Any = inputs
        self.functions, self.about = functions, about

    def __call__(self, rng: Any) -> list[Case]:
        """Draw the cases."""
        cases = [self._case(PLAIN, self.about, self._inputs(rng)) for _ in range(self.count)]
        for about, change in self.edges.items():
            inputs = self._inputs(rng)
            changes = {name: evaluate(value, rng) for name, value in evaluate(change, inputs, rng).items()}
            cases.append(self._case(EDGES, about, {**inputs, **changes}))
        return cases

    def _inputs(self, rng: Any) -> dict[str, Any]:
        return {name: evaluate(value, rng) for name, value in evaluate(self.inputs, rng).items()}

    def _case(self, part: str, about: str, arguments: dict[str, Any]) -> Case:
        """Return one case. Answers must have the shapes of the right ones."""
        request = {"driver": self.driver, "arguments": arguments, "functions": list(self.functions),
                   "answers": list(self.answers)}  # fmt: skip
        outcome = carry_out(self.right, request)
        if outcome["error"] is not None:
            error = outcome["error"]
            raise ValueError(f"the right answer fails when {about}: {error['kind']}: {error['message']}")
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
    mistakes: Sequence[Any] | Callable[[], Sequence[Mistake]] = (),
    recognizers: Mapping[str, Callable[[Any, Any], bool]] | None = None,
    answers: Sequence[str] | None = None,
    reads: Sequence[str] | None = None,
    starter: str | None = None,
    summary: str | None = None,
    driver: str = "call",
    judge: Any = None,
    parts: Sequence[Part] | None = None,
    count: int = 4,
    about: str = ORDINARY,
    example: str | None = None,
    result: type = float,
    without: Sequence[str] = (),
) -> Exercise:
    """Return an exercise whose right answer is `right`.

    The known mistakes come from the catalogue, under this id, and from `mistakes`: objects of the class, or pairs of a
    row of the catalogue and a wrong answer. `recognizers` decide by the differences whether a row of the catalogue
    applies. The prompt ends with `example` (nothing, if it is empty), or with one call and its right result, whose
    numbers are of the class `result`. `without` are functions of `xp` that are not offered, since one of them is the
    whole answer.
    """
    functions, names = tuple(sorted(FUNCTIONS.keys() - set(without))), list(answers or [ONLY_ANSWER])
    draw = FunctionCases(right, inputs, edges or {}, names, driver, count, functions, about)
    if parts is None and kind == "gradients":
        parts = [Part(name, points, f"the gradient of {name} is right")
                 for name, points in zip(names, split_points(len(names)), strict=True)]  # fmt: skip
    if reads is None:
        reads = () if isinstance(right, type) or not callable(right) else parameter_names(right)

    def known_mistakes() -> list[Mistake]:
        listed = mistakes() if callable(mistakes) else [as_mistake(each) for each in mistakes]
        return [*catalogued_mistakes(id, right, recognizers or {}), *listed]

    exercise = Exercise(
        id, kind=kind, group=group, title=title, prompt=prompt, starter="", draw=draw, right=right, judge=judge,
        parts=parts or (WITH_EDGES if edges else WITHOUT_EDGES), functions=functions, reads=reads,
        mistakes=known_mistakes, variants=lambda: function_variants(id, right, reads),
    )  # fmt: skip
    exercise.is_derivative = kind != "engine"
    exercise.starter = starter or write_starter(exercise, summary)
    if example:
        exercise.prompt = f"{prompt}\n\nFor example:\n\n```python\n{example}\n```"
    elif example is None and driver == "call" and kind not in ("gradients", "predict"):
        exercise.prompt = lambda: f"{prompt}\n\nFor example:\n\n{example_call(exercise, result)}"
    return exercise


def example_call(exercise: Exercise, result: type = float) -> str:
    """Return a call on fixed inputs with the right result."""
    request = example_case(exercise).request
    values = exercise.run(exercise.right, request)["values"]
    return show_call(request["arguments"], {name: value.astype(result) for name, value in values.items()})


def example_case(exercise: Exercise) -> Case:
    """Return a case on fixed inputs of one digit."""
    case = exercise.cases(2)[0]
    arguments = {name: np.round(value, 1) if is_float(value) else value
                 for name, value in case.request["arguments"].items()}  # fmt: skip
    return Case(case.part, case.about, {**case.request, "arguments": arguments}, **case.expects)


def catalogued_mistakes(id: str, right: Any, recognizers: Mapping[str, Any]) -> list[Mistake]:
    """Return the mistakes that the catalogue lists for an exercise with a plain function or class as right answer."""
    if getattr(right, "takes_all_values", False):
        return []
    return [mistake(name, answer, recognizes=recognizers.get(name)) for name, answer in wrong_answers(id, right)]


def as_mistake(each: Any) -> Mistake:
    """Return a mistake that may be written as a pair of a row of the catalogue and a wrong answer."""
    return each if isinstance(each, Mistake) else mistake(*each)


def split_points(count: int, total: float = 10.0) -> list[float]:
    """Split points into `count` parts of two digits: 1 for the first gradient, which is often a value of the program.

    The others are equal, except that the last one takes the remainder.
    """
    if count == 1:
        return [total]
    each = round((total - 1) / (count - 1), 2)
    return [1.0] + [each] * (count - 2) + [round(total - 1 - each * (count - 2), 2)]


def write_starter(exercise: Exercise, summary: str | None = None) -> str:
    """Return the code that a student starts from."""
    names = [name for name in exercise.reads if name != "xp"]
    first = ["xp"] if "xp" in exercise.reads else []
    return (
        f'@exercises.answer("{exercise.id}")\n'
        f"def {exercise.function_name}({', '.join([*first, *names])}):\n"
        f'    """{summary or first_sentence(exercise)}"""\n'
        f"    # After a try, exercises.hint(), exercises.walk() and exercises.inputs() help.\n"
        f"    # YOUR CODE HERE\n"
        f"    raise NotImplementedError\n"
    )


def first_sentence(exercise: Exercise) -> str:
    """Return the title as a sentence, or the first line of the prompt if there is no title."""
    text = exercise.title if exercise.title != exercise.id else exercise.prompt.strip().partition("\n")[0]
    text = text.replace("\\", "").replace('"', "'").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('?') else '.'}"
