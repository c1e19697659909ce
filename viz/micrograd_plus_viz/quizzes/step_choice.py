"""Choice of instructive steps to ask about, with as many kinds of question as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from .. import words
from ..trace_input import Trace
from .questions import KINDS, Question, StepContext

MIX = ("gradient", "adds", "formula", "order", "picture", "shape", "sign")
FEW = 16
"""Arrays with at most this many entries are printed, so students can calculate with them."""
MOST_TRIED = 80
"""Maximum number of steps that are considered, the most instructive first."""


class Chooser:
    """Builder of questions about one trace."""

    def __init__(
        self, trace: Trace, tolerance: float, candidates: Sequence[Mapping[str, Any]], seed: int,
        entry: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.trace, self.tolerance, self.candidates, self.seed = trace, tolerance, candidates, seed
        self.entry = entry
        self.node_names, self.step_edges = words.names(trace), words.step_edges(trace)

    def question(self, at: int, kind: str) -> Question | None:
        """Return a question of a kind about a step, or None if that is impossible."""
        number = at + 1 + self.trace["first"]
        fitting = [each for each in self.candidates if each.get("step", number) == number]
        rng = Random(f"{self.seed} {at} {kind}")  # noqa: S311 - it chooses questions, and hides nothing
        context = StepContext(self.trace, at, self.tolerance, fitting, rng, self.node_names, self.step_edges,
                              self.entry)  # fmt: skip
        return KINDS[kind](context)

    def about(self, places: Iterable[int], kinds: Sequence[str]) -> list[Question]:
        """Return one question for each step, or raise ValueError if a step supports none of the kinds."""
        return [self._best(at, kinds) for at in places]

    def _best(self, at: int, kinds: Sequence[str]) -> Question:
        for kind in sorted(kinds, key=lambda kind: -self.worth(at, kind)):
            if question := self.question(at, kind):
                return question
        which = f"kind {kinds[0]!r}" if len(kinds) == 1 else "any question"
        raise ValueError(f"step {at + 1 + self.trace['first']} does not support {which}: {why_not(kinds)}")

    def handful(self, count: int, kinds: Sequence[str]) -> list[Question]:
        """Return at most `count` questions about different steps, in the order of the walk."""
        steps = sorted(range(len(self.trace["steps"])), key=self._says, reverse=True)[:MOST_TRIED]
        return self._pick(steps, count, kinds) or self._pick(steps, count, kinds, least=-1.0)

    def _pick(self, steps: list[int], count: int, kinds: Sequence[str], least: float = 0.0) -> list[Question]:
        """Return questions of alternating kinds whose value is above `least`."""
        chosen: dict[int, Question] = {}
        fresh = list(kinds)
        while fresh and len(chosen) < count:
            for kind in list(fresh):
                question = self._next(steps, kind, chosen, least)
                if question is None:
                    fresh.remove(kind)
                elif len(chosen) < count:
                    chosen[question.at] = question
        return [chosen[at] for at in sorted(chosen)]

    def _next(self, steps: list[int], kind: str, chosen: dict[int, Question], least: float) -> Question | None:
        """Return the best question of a kind about a step without one; adjacent steps would reveal each other."""
        used = [at for at, question in chosen.items() if question.kind == kind]

        def rank(at: int) -> tuple[bool, float]:
            return not any(abs(at - other) == 1 for other in chosen), self.worth(at, kind) - 0.4 * len(used)

        for at in sorted((at for at in steps if at not in chosen), key=rank, reverse=True):
            if self.worth(at, kind) > least and (question := self.question(at, kind)) and question.kind == kind:
                return question
        return None

    def _says(self, at: int) -> float:
        return max(self.worth(at, kind) for kind in MIX) - 1e-6 * at

    def worth(self, at: int, kind: str) -> float:
        """Return how instructive a question is, or 0 if it is unsuitable."""
        return WORTH[kind](self, at, self.trace["steps"][at])

    def is_first(self, at: int) -> bool:
        """Return whether a step is the first with its rule."""
        rules = [step["rule"] for step in self.trace["steps"][:at]]
        return self.trace["steps"][at]["rule"] not in rules

    def shape(self, step: Trace, word: str) -> tuple[int, ...] | None:
        """Return the shape of a step's value, given its name."""
        return None if step[word] is None else tuple(self.trace["values"][step[word]]["shape"])


def why_not(kinds: Sequence[str]) -> str:
    """Return why steps do not support some kinds of question."""
    needs = {
        "gradient": "its numbers were not recorded", "shape": "its numbers were not recorded",
        "sign": "its numbers have no definite sign", "adds": "its numbers were not recorded",
        "order": "it belongs to the rule of the step before, or the walk has another order",
        "formula": "its rule has no formula with plausible alternatives",
        "picture": "it is not an array of 6 to 1,024 different cells",
        "cell": "its receiver is not a small vector or matrix with one clearly largest entry",
    }  # fmt: skip
    return needs[kinds[0]] if len(kinds) == 1 else "no numbers were recorded"


def _gradient(chooser: Chooser, at: int, step: Trace) -> float:
    value = None if step["after"] is None else chooser.trace["values"][step["after"]]
    if value is None or not value["data"]:
        return 0.0
    worth = 1.0 if step["contribution"] == step["upstream"] else 3.0
    few = len(value["data"]) <= FEW
    return worth + 2 * step["accumulates"] - (len(value["data"]) > 1) if few else 0.3


def _shape(chooser: Chooser, at: int, step: Trace) -> float:
    contribution, arrived = chooser.shape(step, "contribution"), chooser.shape(step, "upstream")
    if not contribution:
        return 0.0
    return 4.0 if step["summed_axes"] else 2.5 if contribution != arrived else 0.0


def _sign(chooser: Chooser, at: int, step: Trace) -> float:
    return 1.0 if step["contribution"] == step["upstream"] else 2.0


def _adds(chooser: Chooser, at: int, step: Trace) -> float:
    times = sum(way[2] == chooser.step_edges[at][2] for way in chooser.step_edges)
    return 5.0 * step["earlier"] + 3.0 * step["accumulates"] + (1.5 if times > 1 else 0.0)


def _order(chooser: Chooser, at: int, step: Trace) -> float:
    waiting = {way[2] for way in chooser.step_edges[:at]} - {way[1] for way in chooser.step_edges[:at]}
    others = (waiting & {way[1] for way in chooser.step_edges[at:]}) - {step["node"]}
    unfinished = others & {way[2] for way in chooser.step_edges[at:]}
    free = len(others - unfinished)  # without creation times, the choice between them is arbitrary
    return max(0.1, 1 + min(2, len(unfinished)) - max(0, free - 1)) if others else 0.2


def _formula(chooser: Chooser, at: int, step: Trace) -> float:
    formula = chooser.trace["formulas"][step["formula"]] if step["formula"] is not None else None
    text = (formula or chooser.trace["rules"][step["rule"]])["text"] or ""
    return (2.0 if "upstream " in text else 0.5) + 1.5 * chooser.is_first(at) if text else 0.0


def _picture(chooser: Chooser, at: int, step: Trace) -> float:
    shape = chooser.shape(step, "after")
    long = [size for size in shape or () if size > 1]
    if not long or step["contribution"] == step["upstream"]:
        return 0.0
    return 3.0 if len(long) > 1 else 1.0


WORTH: dict[str, Callable[[Chooser, int, Trace], float]] = {
    "gradient": _gradient, "shape": _shape, "sign": _sign, "adds": _adds, "order": _order, "formula": _formula,
    "picture": _picture, "cell": lambda *_: 1.0,
}  # fmt: skip
