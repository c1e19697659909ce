"""Walks with a wrong rule in them: a different one for each number, so that each student has their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from ... import ops
from ...backends import devices
from ...checks import museum
from ...tensor import tensor
from ...tracing import Trace, compare, record
from ..compare import Wrong
from ..question import to_array

np = devices.device("cpu").library

Program = Callable[[dict[str, Any]], dict[str, Any]]
"""A function of named tensors that returns everything it computes by name, in order. The last is the result."""
CURVES = (ops.sin, ops.cos, ops.arctan, ops.sigmoid)
"""Operations that make a walk longer. No exhibit that is planted here belongs to one of them."""
LONGEST_TAIL = 10


def draw_inputs(inputs: Mapping[str, Any], rng: Any) -> dict[str, Any]:
    """Draw the inputs of a program."""
    return {name: draw(rng) for name, draw in inputs.items()}


def record_walk(program: Program, inputs: dict[str, Any]) -> Trace:
    """Record a program and its backward walk."""
    leaves = {name: tensor(value, requires_grad=True) for name, value in inputs.items()}
    for name, leaf in leaves.items():
        leaf.label = name
    with record() as trace:
        computed = program(leaves)
        for name, value in computed.items():
            value.label = name
        result = list(computed.values())[-1]
        result.backward(np.ones(result.shape))
    len(trace.steps)  # build the steps now, while a planted rule is still in its place
    return trace


class PlantedWalks:
    """The walks of one program, each with a wrong rule.

    The number of a walk determines its inputs, the curves before and after the program, and the exhibit of the museum
    that is planted. So the step of the wrong rule differs from number to number.
    """

    def __init__(self, program: Program, inputs: Mapping[str, Any], exhibits: Sequence[str]):
        self.program, self.inputs = program, inputs
        self.exhibits = [museum.find_exhibit(each) for each in exhibits]
        self._inspect = lru_cache(64)(self._compare)

    def walk(self, number: int, wrong: bool = True) -> Trace:
        """Return the walk of a number, with or without the wrong rule."""
        rng = np.random.default_rng(number)
        exhibit, tail = self.exhibits[rng.integers(len(self.exhibits))], int(rng.integers(LONGEST_TAIL))
        curves = [CURVES[each] for each in rng.integers(len(CURVES), size=len(self.inputs) + tail)]
        before, after = curves[: len(self.inputs)], curves[len(self.inputs) :]
        inputs = draw_inputs(self.inputs, rng)

        def longer_program(leaves: dict[str, Any]) -> dict[str, Any]:
            bent = {name: curve(leaf) for (name, leaf), curve in zip(leaves.items(), before, strict=True)}
            last = list(self.program(bent).values())[-1]
            for curve in after:
                last = curve(last)
            return {"y": last}

        with museum.replaced_rules(exhibit) if wrong else nullcontext():
            return record_walk(longer_program, inputs)

    def _compare(self, number: int) -> tuple[int, tuple[int, ...]]:
        right, wrong = self.walk(number, wrong=False), self.walk(number)
        difference: Any = compare(right, wrong).difference
        first = difference.step_b
        misled = [step for step in range(first + 1, len(wrong.steps))
                  if not is_same_value(right.steps[step].upstream, wrong.steps[step].upstream)]  # fmt: skip
        return first + 1, tuple(step + 1 for step in misled)

    def wrong_step(self, number: int) -> int:
        """Return the number of the first step that applies the wrong rule, counted from 1."""
        return self._inspect(number)[0]

    def misled_steps(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the steps that receive a wrong upstream."""
        return self._inspect(number)[1]

    def judge(self, case: Any, right: dict[str, Any], values: dict[str, Any]) -> Wrong | None:
        """Return None if the answer is the wrong step. The difference does not say how far off another step is."""
        (name,) = right
        answer, number = values[name], case.request["arguments"]["walk"]
        if answer.shape == () and answer == right[name]:
            return None
        kind = "behind" if answer.shape == () and answer in self.misled_steps(number) else "entries"
        return Wrong(kind, f"that is not the step of your walk, which is walk number {number}", name)


def is_same_value(a: Any, b: Any) -> bool:
    """Return whether two recorded values are equal up to rounding."""
    return np.allclose(to_array(a), to_array(b), rtol=1e-9, atol=0)
