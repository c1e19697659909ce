"""Walks with a wrong rule in them: another one for each number, so that every student has one of his own to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from ... import ops
from ...backends import devices
from ...checks import museum
from ...tensor import tensor
from ...tracing import Trace, compare, record
from ..compare import Wrong
from ..question import array
from ..spec import Mistake

np = devices.device("cpu").library

Program = Callable[[dict[str, Any]], dict[str, Any]]
"""A program of named tensors: everything it computes, by name, in order; the last is the result."""
CURVES = (ops.sin, ops.cos, ops.arctan, ops.sigmoid)
"""What a walk is made longer with: none of these has a wrong rule that is planted here."""
LONGEST_TAIL = 10


def recorded(program: Program, inputs: dict[str, Any]) -> Trace:
    """The record of a program and its walk."""
    leaves = {name: tensor(value, requires_grad=True) for name, value in inputs.items()}
    for name, leaf in leaves.items():
        leaf.label = name
    with record() as trace:
        result = list(program(leaves).values())[-1]
        result.backward(np.ones(result.shape))
    len(trace.steps)  # built now, while planted rules stand where they stood
    return trace


class Planted:
    """Walks of one program. A number says what its inputs are, what stands before and behind it, and which of the
    museum's exhibits is planted; so the step that is asked for differs from number to number."""

    def __init__(self, program: Program, inputs: dict[str, Any], exhibits: Sequence[str]):
        self.program, self.inputs = program, inputs
        self.exhibits = [museum.named(each) for each in exhibits]
        self.looked_at = lru_cache(64)(self._looked_at)

    def walk(self, number: int, wrong: bool = True) -> Trace:
        """The walk of a number, with the wrong rule in it or without."""
        rng = np.random.default_rng(number)
        exhibit, tail = self.exhibits[rng.integers(len(self.exhibits))], int(rng.integers(LONGEST_TAIL))
        curves = [CURVES[each] for each in rng.integers(len(CURVES), size=len(self.inputs) + tail)]
        before, behind = curves[: len(self.inputs)], curves[len(self.inputs) :]
        given = {name: draw(rng) for name, draw in self.inputs.items()}

        def longer(leaves: dict[str, Any]) -> dict[str, Any]:
            bent = {name: curve(leaf) for (name, leaf), curve in zip(leaves.items(), before, strict=True)}
            last = list(self.program(bent).values())[-1]
            for curve in behind:
                last = curve(last)
            return {"y": last}

        with museum.planted(exhibit) if wrong else nullcontext():
            return recorded(longer, given)

    def _looked_at(self, number: int) -> tuple[int, tuple[int, ...]]:
        right, wrong = self.walk(number, wrong=False), self.walk(number)
        difference: Any = compare(right, wrong).difference
        place = difference.step_b
        handed = [step for step in range(place + 1, len(wrong.steps))
                  if not same(right.steps[step].upstream, wrong.steps[step].upstream)]  # fmt: skip
        return place + 1, tuple(step + 1 for step in handed)

    def place(self, number: int) -> int:
        """The step at which the wrong rule is applied first, counted from 1."""
        return self.looked_at(number)[0]

    def behind(self, number: int) -> tuple[int, ...]:
        """The steps that are handed wrong numbers because of it."""
        return self.looked_at(number)[1]

    def judged(self, case: Any, right: dict[str, Any], given: dict[str, Any]) -> Wrong | None:
        """Whether the step was answered that is asked for; how far off another one is is not told."""
        (name,) = right
        answer, number = given[name], case.request["arguments"]["walk"]
        if answer.shape == () and answer == right[name]:
            return None
        kind = "behind" if answer.shape == () and answer in self.behind(number) else "entries"
        return Wrong(kind, f"that is not the step of your walk, which is walk number {number}", name)


def same(a: Any, b: Any) -> bool:
    """Whether two recorded values are the same up to rounding."""
    return np.allclose(array(a), array(b), rtol=1e-9, atol=0)


def of_kind(kind: str) -> Callable[[Any, Any], bool]:
    """What recognises a mistake by the kind of everything that is wrong."""
    return lambda exercise, wrongs: all(wrong.kind == kind for wrong in wrongs)


def accused_behind(accused: Any) -> Mistake:
    """The mistake of accusing a rule that was only handed wrong numbers."""
    return Mistake("behind", "a right rule is accused that was handed wrong numbers", (
        "Does this rule do anything wrong with what arrived, or did it arrive wrong?",
        "What this step sends is wrong, and so is its upstream: it is no fault of its own.",
        "Go back towards the loss: take the first step whose upstream is right, and whose contribution is not.",
    ), accused, of_kind("behind"))  # fmt: skip


ELSEWHERE = Mistake("elsewhere", "a right rule is accused", (
    "How did you see that this rule is wrong: by its number, or by working it out from what arrived?",
    "It is another step at which a rule is wrong for the first time.",
    "Take the steps in their order. Work each out from its upstream, and stop at the first that sends something else.",
), 0, of_kind("entries"))  # fmt: skip
"""The mistake of any other number."""
