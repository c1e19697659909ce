"""Exercise: what is asked, on which inputs, what is right, and which mistakes are known; all of it plain to read.

    cases = exercise.cases(seed)                       fresh inputs, the same for the same seed
    outcome = carry_out(function, case.request)        what the student's code made of one (see `student`)
    result = exercise.mark(cases, outcomes)            points for each part, the first wrong case, the named mistake

A request is all that a student's code is given. What is right is computed here, from the same requests.
"""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..backends import devices
from .sandboxed import ALL, carry_out

np = devices.device("cpu").library

KINDS = {
    "rule": "write a rule of the engine",
    "engine": "write a piece of an engine",
    "gradients": "find every gradient by hand",
    "wrong rule": "find the wrong rule of a walk",
    "predict": "say what a step will send",
}
"""The kinds of exercises."""

GROUPS = (
    "numbers and the chain", "shapes", "products and places", "losses", "normalisation and attention",
    "engines and training",
)  # fmt: skip
"""The six groups, in the order of a course."""


class Part:
    """A share of an exercise's points: for the right shapes, for plain values, for edges, or for one of many
    answers."""

    __slots__ = ("name", "points", "sentence")

    def __init__(self, name: str, points: float, sentence: str):
        self.name, self.points, self.sentence = name, points, sentence


SECOND = "second order"
"""The part of a rule that is read on numbers that move: the gradient of what it sends."""


class Case:
    """One call of the student's code: the part it counts for, what is special about it, and the request.

    `expects` is for whoever compares, and is never handed on: the shapes of the answers, the upstream that a local
    derivative is multiplied by, and what makes neighbouring requests, between which an answer at a kink or a tie may
    lie. `sent` is what the right answer made of the request, where somebody has tried it.
    """

    __slots__ = ("about", "expects", "part", "request", "sent")

    def __init__(self, part: str, about: str, request: dict[str, Any], **expects: Any):
        self.part, self.about, self.request, self.expects = part, about, request, expects
        self.sent: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<case of {self.part}: {self.about}>"


class Mistake:
    """A known mistake: its row in the catalogue, what is wrong, three hints, and how it is recognised.

    `thing` is a wrong answer as a student could hand it in: who sends the same numbers has made the same mistake. A
    `sign` recognises by what the difference looks like, and is asked where no wrong answer agrees.
    """

    __slots__ = ("hints", "id", "sign", "title", "wrong_answer")

    def __init__(self, row: str, title: str, hints: Sequence[str], thing: Any = None, sign: Any = None):
        self.id, self.title, self.hints, self.wrong_answer, self.sign = row, title, tuple(hints), thing, sign

    def __repr__(self) -> str:
        return f"<mistake {self.id}: {self.title}>"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"id": self.id, "title": self.title, "hints": list(self.hints)}


class Exercise:
    """A declaration. `right` is the right answer, run as a student's would be, in `namespace`; `draw` makes cases of a
    generator of numbers; `mistakes` are those that are known."""

    show: Any = None
    """Of an exercise about a walk, what makes the record that is to be looked at, by a seed or a number."""
    show_right: Any = None
    """Where a wrong rule is planted in it, what makes the same record without."""
    has_own_walk = False
    """Whether the student is shown the very numbers that are asked about. What they are drawn from is then the number
    of his walk, which is no secret."""
    marked: ClassVar[Callable[..., Any]]
    """How outcomes become a result; `marking` puts that here."""

    def __init__(
        self,
        id: str,
        *,
        kind: str,
        group: str,
        title: str,
        prompt: str,
        starter: str,
        parts: Sequence[Part],
        draw: Callable[[Any], list[Case]],
        right: Any,
        reads: Sequence[str] = (),
        functions: Sequence[str] = (),
        mistakes: Sequence[Mistake] | Callable[[], Sequence[Mistake]] = (),
        namespace: Any = None,
        judge: Any = None,
        limits: dict[str, float] | None = None,
    ):
        if kind not in KINDS:
            raise ValueError(f"the kind of an exercise must be one of {', '.join(KINDS)}; got {kind!r}")
        unknown = sorted(set(functions) - ALL.keys())
        if unknown:
            raise ValueError(f"{id}: xp has no word {unknown[0]!r} to allow")
        self.id, self.kind, self.group, self.title = id, kind, group, title
        self.prompt, self.starter, self.parts, self.reads = prompt, starter, tuple(parts), tuple(reads)
        self.functions, self.draw, self.right = tuple(functions), draw, right
        self.namespace, self.judge = namespace, judge
        self.limits = {"seconds": 5.0, "megabytes": 512.0, **(limits or {})}
        self._mistakes = mistakes

    def __repr__(self) -> str:
        return f"<exercise {self.id}: {self.title}>"

    @property
    def function_name(self) -> str:
        """What the starter calls the answer: by this name it is found in a file."""
        return self.id.replace(".", "_").replace("+", "_and_").replace("-", "_")

    @property
    def points(self) -> float:
        """What a right answer is worth."""
        return sum(part.points for part in self.parts)

    @property
    def mistakes(self) -> Sequence[Mistake]:
        """The known mistakes; where they are found out, the first time somebody asks."""
        if callable(self._mistakes):
            self._mistakes = self._mistakes()
        return self._mistakes

    def cases(self, seed: Any) -> list[Case]:
        """Fresh inputs: plain ones, and every declared edge. `seed` is a whole number, or several; of what is handed
        out it is the number of a walk."""
        return self.draw(seed if self.has_own_walk else np.random.default_rng(seed))

    def run(self, thing: Any, request: dict[str, Any]) -> dict[str, Any]:
        """The outcome of an answer of our own, which may speak of more words than a student's. The engine's rules write
        over nothing, which the tests of every operation hold."""
        trusted = thing is self.right and self.namespace is not None
        return carry_out(thing, request, self.namespace, watched=not trusted)

    def mark(self, cases: Sequence[Case], outcomes: Sequence[dict[str, Any]]) -> Any:
        """The result of one try."""
        return Exercise.marked(self, cases, outcomes)
