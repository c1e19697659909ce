"""Exhibits: wrong rules that could replace right ones, and the promises that they break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any

from ...backends import tensors
from ...core.apply import Op
from ...core.rule import Rule
from ..samples import Sample, samples

DIFFERENCES = "the gradient equals differences"
SECOND = "the gradient has a gradient"
"""The two promises that exhibits break: most break the first, some only the second."""


class Lazy:
    """Call on which a wrong rule looks right, with a sentence that explains why.

    `upstream` is the gradient of the output; None means numbers of both signs. `params` are the parameters of the
    operation, and `program` replaces the operation if the exhibit shows only in whole programs.
    """

    __slots__ = ("inputs", "params", "program", "sentence", "upstream")

    def __init__(self, sentence: str, *inputs: Any, upstream: Any = None, program: Op | None = None, **params: Any):
        self.sentence, self.inputs, self.params = sentence, list(inputs), params
        self.upstream, self.program = upstream, program

    def sample(self, op: Op) -> Sample:
        """Return the call as a sample, which is not listed among the operation's samples."""
        return Sample(self.program or op, self.inputs, self.params, {})


def program(f: FunctionType) -> Op:
    """Return a whole program in the form of an operation without rules, so that the checks can call it."""
    made = Op(f, "general")
    made.call = partial(f, tensors)
    return made


class Exhibit:
    """Wrong rule (or several, for one operation) that can be run."""

    __slots__ = ("lazy", "name", "op", "promise", "rules", "samples", "story", "wing")

    def __init__(
        self, op: Op, function: FunctionType, inputs: tuple[str, ...],
        lazy: Lazy | None, promise: str, samples: list[Sample],
    ):  # fmt: skip
        self.op, self.lazy, self.promise, self.samples = op, lazy, promise, samples
        self.name = function.__name__.replace("_", " ")
        self.story = " ".join((function.__doc__ or "").split())
        self.wing = function.__module__
        self.rules: dict[tuple[str, ...], FunctionType] = {inputs: function}

    def __repr__(self) -> str:
        return f"<exhibit {self.title}>"

    @property
    def title(self) -> str:
        """Name of the operation (or the program) and of the mistake."""
        return f"{self.samples[0].op.name}: {self.name}"

    def rule(self, *inputs: str) -> Callable[[FunctionType], FunctionType]:
        """Decorate another wrong rule of the same mistake, for another input."""

        def define(function: FunctionType) -> FunctionType:
            self.rules[inputs] = function
            return function

        return define

    def wrong_rules(self) -> list[Rule]:
        """The wrong rules, in the form that the operation would hold."""
        return [Rule(self.op, inputs, function) for inputs, function in self.rules.items()]

    def right_rules(self) -> list[Rule]:
        """The right rules that the wrong ones would replace."""
        taken = {name for inputs in self.rules for name in inputs}
        return [rule for rule in self.op.rules if taken & set(rule.inputs)]


exhibits: list[Exhibit] = []
"""All exhibits."""


def wrong(
    call: Any, *inputs: str, lazy: Lazy | None, promise: str = DIFFERENCES, on: list[Sample] | None = None
) -> Callable[[FunctionType], Exhibit]:
    """Decorate a function to make it an exhibit: a wrong rule of the operation `call` for `inputs`.

    Its name and docstring say what is wrong and how it shows. `lazy` is a call on which it looks right, or None;
    `promise` is the promise that it breaks, on the operation's samples or on others.
    """
    op = getattr(call, "op", call)

    def show(function: FunctionType) -> Exhibit:
        made = Exhibit(op, function, inputs, lazy, promise, samples[op.name] if on is None else on)
        exhibits.append(made)
        return made

    return show


@contextmanager
def replaced_rules(exhibit: Exhibit) -> Iterator[Op]:
    """Context manager that replaces the right rule by the wrong one, for all threads."""
    op, right = exhibit.op, list(exhibit.op.rules)
    try:
        for inputs, function in exhibit.rules.items():
            op.add_rule(inputs, function)
        yield op
    finally:
        op.rules = []
        for rule in right:
            op.add_rule(rule.inputs, rule.function)
