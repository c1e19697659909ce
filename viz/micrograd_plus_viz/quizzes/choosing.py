"""Which steps of a walk are asked about, and what: a handful of those that say most, of as many kinds as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from .. import words
from ..source import Trace
from .questions import KINDS, Asked, Question

MIX = ("gradient", "adds", "formula", "order", "picture", "shape", "sign")
FEW = 16
"""Arrays of at most so many entries are written as numbers, and so can be worked with."""
MOST_TRIED = 80
"""Of more steps than that those that say most are looked at."""


class Chooser:
    """What makes questions about one trace."""

    def __init__(
        self, trace: Trace, tolerance: float, candidates: Sequence[Mapping[str, Any]], seed: int
    ) -> None:
        self.trace, self.tolerance, self.candidates, self.seed = trace, tolerance, candidates, seed
        self.called, self.ways = words.names(trace), words.ways(trace)

    def question(self, at: int, kind: str) -> Question | None:
        """That question about that step, where it can be asked."""
        number = at + 1 + self.trace["first"]
        fitting = [each for each in self.candidates if each.get("step", number) == number]
        rng = Random(f"{self.seed} {at} {kind}")  # noqa: S311 - it chooses questions, and hides nothing
        asked = Asked(self.trace, at, self.tolerance, fitting, rng, self.called, self.ways)
        return KINDS[kind](asked)

    def about(self, places: Iterable[int], kinds: Sequence[str]) -> list[Question]:
        """A question about each of some steps; ValueError where none of the kinds can be asked there."""
        return [self._best(at, kinds) for at in places]

    def _best(self, at: int, kinds: Sequence[str]) -> Question:
        for kind in sorted(kinds, key=lambda kind: -self.worth(at, kind)):
            if found := self.question(at, kind):
                return found
        which = f"for {kinds[0]!r}" if len(kinds) == 1 else "for anything"
        raise ValueError(f"step {at + 1 + self.trace['first']} cannot be asked {which}: {why_not(kinds)}")

    def handful(self, count: int, kinds: Sequence[str]) -> list[Question]:
        """At most `count` questions in the order of the walk, no two about the same step."""
        steps = sorted(range(len(self.trace["steps"])), key=self._says, reverse=True)[:MOST_TRIED]
        return self._found(steps, count, kinds) or self._found(steps, count, kinds, least=-1.0)

    def _found(self, steps: list[int], count: int, kinds: Sequence[str], least: float = 0.0) -> list[Question]:
        """Questions of the kinds in turn, of those that say more than `least`."""
        found: dict[int, Question] = {}
        fresh = list(kinds)
        while fresh and len(found) < count:
            for kind in list(fresh):
                made = self._next(steps, kind, found, least)
                if made is None:
                    fresh.remove(kind)
                elif len(found) < count:
                    found[made.at] = made
        return [found[at] for at in sorted(found)]

    def _next(self, steps: list[int], kind: str, found: dict[int, Question], least: float) -> Question | None:
        """The question of a kind that says most about a step without one; steps side by side tell on each other."""
        used = [at for at, made in found.items() if made.kind == kind]

        def rank(at: int) -> tuple[bool, float]:
            return not any(abs(at - other) == 1 for other in found), self.worth(at, kind) - 0.4 * len(used)

        for at in sorted((at for at in steps if at not in found), key=rank, reverse=True):
            if self.worth(at, kind) > least and (made := self.question(at, kind)) and made.kind == kind:
                return made
        return None

    def _says(self, at: int) -> float:
        return max(self.worth(at, kind) for kind in MIX) - 1e-6 * at

    def worth(self, at: int, kind: str) -> float:
        """How much a question of a kind says about a step; 0 for what is better not asked there."""
        return WORTH[kind](self, at, self.trace["steps"][at])

    def is_first(self, at: int) -> bool:
        """Whether the rule of a step has not been seen before."""
        rules = [step["rule"] for step in self.trace["steps"][:at]]
        return self.trace["steps"][at]["rule"] not in rules

    def shape(self, step: Trace, word: str) -> tuple[int, ...] | None:
        """The shape of a word of a step."""
        return None if step[word] is None else tuple(self.trace["values"][step[word]]["shape"])


def why_not(kinds: Sequence[str]) -> str:
    """What each kind needs."""
    needs = {
        "gradient": "its numbers were not recorded", "shape": "its numbers were not recorded",
        "sign": "it has no numbers of one sign or another", "adds": "its numbers were not recorded",
        "order": "it belongs to the rule of the step before, or the walk has an order of its own",
        "formula": "its rule has no formula that others could be taken for",
        "picture": "it is no array of 6 to 1,024 cells that differ",
    }  # fmt: skip
    return needs[kinds[0]] if len(kinds) == 1 else "no numbers were recorded"


def _gradient(chooser: Chooser, at: int, step: Trace) -> float:
    value = None if step["after"] is None else chooser.trace["values"][step["after"]]
    if value is None or not value["data"]:
        return 0.0
    told = 1.0 if step["contribution"] == step["upstream"] else 3.0
    few = len(value["data"]) <= FEW
    return told + 2 * step["accumulates"] - (len(value["data"]) > 1) if few else 0.3


def _shape(chooser: Chooser, at: int, step: Trace) -> float:
    sent, arrived = chooser.shape(step, "contribution"), chooser.shape(step, "upstream")
    if not sent:
        return 0.0
    return 4.0 if step["summed_axes"] else 2.5 if sent != arrived else 0.0


def _sign(chooser: Chooser, at: int, step: Trace) -> float:
    return 1.0 if step["contribution"] == step["upstream"] else 2.0


def _adds(chooser: Chooser, at: int, step: Trace) -> float:
    times = sum(way[2] == chooser.ways[at][2] for way in chooser.ways)
    return 5.0 * step["earlier"] + 3.0 * step["accumulates"] + (1.5 if times > 1 else 0.0)


def _order(chooser: Chooser, at: int, step: Trace) -> float:
    waiting = {way[2] for way in chooser.ways[:at]} - {way[1] for way in chooser.ways[:at]}
    others = (waiting & {way[1] for way in chooser.ways[at:]}) - {step["node"]}
    unfinished = others & {way[2] for way in chooser.ways[at:]}
    free = len(others - unfinished)  # which of them is next, is chance to who does not know when they were made
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
    "picture": _picture,
}  # fmt: skip
