"""Exercise and its parts: the cases that are drawn, the points, the right answer and the known mistakes.

    cases = exercise.cases(seed)                       fresh inputs, the same for the same seed
    outcome = carry_out(answer, case.request)          the result of the student's code on one case (see `sandboxed`)
    result = exercise.mark(cases, outcomes)            points for each part, the first wrong case, the named mistake

The student's code receives only the request. The right answer is computed here, from the same requests.
"""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ..backends import devices
from .sandboxed import FUNCTIONS, carry_out

np = devices.device("cpu").library

KINDS = {
    "rule": "write a rule of the engine",
    "engine": "write a piece of an engine",
    "gradients": "find every gradient by hand",
    "wrong rule": "find the wrong rule of a walk",
    "predict": "predict the result of a step",
    "gaps": "fill the gaps of a rule or of a piece of an engine",
    "lines": "put shuffled lines in order",
    "patient": "name the test that a failing training does not pass, and cure it in three lines",
}
"""The kinds of exercises."""

GROUPS = (
    "numbers and the chain", "shapes", "products and places", "losses", "normalisation and attention",
    "engines and training",
)  # fmt: skip
"""The six groups, in the order of a course."""

PLAIN, EDGES, SECOND_ORDER = "plain values", "edges", "second order"
"""The names of parts: ordinary inputs, edge cases, and the gradient of the gradient (see `sandboxed.dual`)."""
ORDINARY = "the inputs are ordinary"
"""What a case is about if there is nothing to say about it."""


class Part:
    """A share of an exercise's points, such as the points for shapes, for ordinary inputs or for edge cases."""

    __slots__ = ("name", "points", "sentence")

    def __init__(self, name: str, points: float, sentence: str):
        self.name, self.points, self.sentence = name, points, sentence


class Case:
    """One call of the student's code: the part that it counts for, a description, and the request.

    `expects` is used for comparison and never reaches the student's code: the shapes of the answers, the upstream that
    multiplies a local derivative, and a function that makes neighboring requests (at a kink or a tie, an answer between
    the right answers to those is right). `right_outcome` caches the outcome of the right answer.
    """

    __slots__ = ("about", "expects", "part", "request", "right_outcome")

    def __init__(self, part: str, about: str, request: dict[str, Any], **expects: Any):
        self.part, self.about, self.request, self.expects = part, about, request, expects
        self.right_outcome: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<case of {self.part}: {self.about}>"


class Mistake:
    """A known mistake: its id in the catalogue, a title, three hints, and how to recognize it.

    A student's answer that returns the same numbers as `wrong_answer` has made this mistake. If no wrong answer agrees,
    `recognizes` decides from how the student's answer differs.
    """

    __slots__ = ("hints", "id", "recognizes", "title", "wrong_answer")

    def __init__(self, id: str, title: str, hints: Sequence[str], wrong_answer: Any = None, recognizes: Any = None):
        self.id, self.title, self.hints = id, title, tuple(hints)
        self.wrong_answer, self.recognizes = wrong_answer, recognizes

    def __repr__(self) -> str:
        return f"<mistake {self.id}: {self.title}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the mistake as plain data."""
        return {"id": self.id, "title": self.title, "hints": list(self.hints)}


class Exercise:
    """The declaration of an exercise.

    `draw` makes cases from a random generator, `right` is the right answer, which runs in `namespace`, and `mistakes`
    are the known ones (or a function that returns them). `variants` returns wrong variants of the right answer.
    """

    show: Any = None
    """If the exercise is about a walk, a function that returns its trace for a seed."""
    show_right: Any = None
    """If a wrong rule is planted in the walk, a function that returns the same trace without it."""
    has_own_walk = False
    """Whether each student sees a walk of their own. The cases are then drawn from its number, which is public."""
    minutes = 5
    """About how long the exercise takes."""
    needs: tuple[str, ...] = ()
    """The exercises that help here."""
    op: Any = None
    """The operation of a rule's exercise."""
    is_whole = False
    """Whether a rule also multiplies by upstream and undoes broadcasting."""
    serves: tuple[str, ...] = ()
    """The inputs for which a rule's exercise asks; none in other exercises."""
    is_derivative = True
    """Whether an answer is a derivative, which must not be a numerical one; a piece of an engine is another program."""
    formula: Any = None
    """A function that runs in extended precision, if the right answer does not."""
    shows_right = True
    """Whether the walk of a wrong answer shows the right numbers beside the wrong ones. The next try draws others."""
    walk_program: Any = None
    """If an answer's numbers are gradients of a program: a function of a call's arguments, the answer's values and the
    answer, which returns an `AnswerProgram` or None."""
    marked: ClassVar[Callable[..., Any]]
    """The function that turns outcomes into a result; `mark` sets it."""

    def __init__(
        self,
        id: str,
        *,
        kind: str,
        group: str,
        title: str,
        prompt: str | Callable[[], str],
        starter: str,
        parts: Sequence[Part],
        draw: Callable[[Any], list[Case]],
        right: Any,
        reads: Sequence[str] = (),
        functions: Sequence[str] = (),
        mistakes: Sequence[Mistake] | Callable[[], Sequence[Mistake]] = (),
        variants: Callable[[], Iterable[Mistake]] = tuple,
        namespace: Any = None,
        judge: Any = None,
        limits: dict[str, float] | None = None,
    ):
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
        unknown = sorted(set(functions) - FUNCTIONS.keys())
        if unknown:
            raise ValueError(f"{id}: xp has no function {unknown[0]!r}")
        self.id, self.kind, self.group, self.title = id, kind, group, title
        self._prompt, self.starter, self.parts, self.reads = prompt, starter, tuple(parts), tuple(reads)
        self.functions, self.draw, self.right = tuple(functions), draw, right
        self.namespace, self.judge = namespace, judge
        self.limits = {"seconds": 5.0, "megabytes": 512.0, **(limits or {})}
        self._mistakes, self.make_variants = mistakes, variants

    def __repr__(self) -> str:
        return f"<exercise {self.id}: {self.title}>"

    def _repr_markdown_(self) -> str:
        """Show the task and the starter in a notebook."""
        return f"**{self.id}**: {self.title}\n\n{self.about}\n\n{self.prompt}\n\n```python\n{self.starter}```"

    @property
    def about(self) -> str:
        """The minutes that the exercise takes, and the exercises that help."""
        helps = f" It helps to have done {', '.join(self.needs)}." if self.needs else ""
        return f"About {self.minutes} minutes.{helps}"

    @property
    def function_name(self) -> str:
        """The name of the answer in the starter. The grader finds the answer in a file by this name."""
        return self.id.replace(".", "_").replace("+", "_and_").replace("-", "_")

    @property
    def points(self) -> float:
        """The points for a right answer."""
        return sum(part.points for part in self.parts)

    @property
    def prompt(self) -> str:
        """The task. A prompt with an example is written on first use."""
        if callable(self._prompt):
            self._prompt = self._prompt()
        return self._prompt

    @prompt.setter
    def prompt(self, prompt: str | Callable[[], str]) -> None:
        self._prompt = prompt

    @property
    def mistakes(self) -> Sequence[Mistake]:
        """The known mistakes, loaded on first use."""
        if callable(self._mistakes):
            self._mistakes = self._mistakes()
        return self._mistakes

    @cached_property
    def variants(self) -> Sequence[Mistake]:
        """Wrong variants of the right answer, made on first use. They name mistakes that no one has listed."""
        return tuple(self.make_variants())

    def cases(self, seed: Any) -> list[Case]:
        """Draw the cases: ordinary inputs, and every declared edge case.

        `seed` is an integer or several; if each student has their own walk, it is the number of the walk.
        """
        return self.draw(seed if self.has_own_walk else np.random.default_rng(seed))

    def run(self, answer: Any, request: dict[str, Any]) -> dict[str, Any]:
        """Run one of our own answers on a request. It may use functions that students do not have."""
        trusted = answer is self.right and self.namespace is not None  # the engine's rules never write to their inputs
        return carry_out(answer, request, self.namespace, check_writes=not trusted)

    def mark(self, cases: Sequence[Case], outcomes: Sequence[dict[str, Any]]) -> Any:
        """Return the result of one try."""
        return Exercise.marked(self, cases, outcomes)


def can_plug(exercise: Exercise) -> bool:
    """Return whether an answer can replace a rule of the engine, which does the rest of a whole rule itself."""
    is_doubled = exercise.is_whole and exercise.op.kind == "elementwise"
    return bool(exercise.serves) and not is_doubled and "composite" not in type(exercise.op).__name__.lower()
