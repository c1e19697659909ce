"""What an exhibit is: a wrong rule that could stand in the place of a right one, and what gives it away."""

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
"""Two promises of `check`, by their sentences: most wrong rules break the first, some only the second."""


class Lazy:
    """A call on which a wrong rule looks right, and the sentence that says what is lazy about it.

    `upstream` is what arrives at the output; None stands for numbers of both signs. `params` are the operation's, and
    `program` is run in its place where the exhibit shows in whole programs.
    """

    __slots__ = ("inputs", "params", "program", "sentence", "upstream")

    def __init__(self, sentence: str, *inputs: Any, upstream: Any = None, program: Op | None = None, **params: Any):
        self.sentence, self.inputs, self.params = sentence, list(inputs), params
        self.upstream, self.program = upstream, program

    def sample(self, op: Op) -> Sample:
        """The call, as the checks take it; it is not listed among the operation's samples."""
        return Sample(self.program or op, self.inputs, self.params, {})


def program(f: FunctionType) -> Op:
    """A whole program in the form of an operation without a rule, for the checks to call. It is read on tensors."""
    made = Op(f, "general")
    made.call = partial(f, tensors)
    return made


class Exhibit:
    """A wrong rule (or several, for one operation), runnable as it stands."""

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
        """The operation (or the program) and the mistake."""
        return f"{self.samples[0].op.name}: {self.name}"

    def rule(self, *inputs: str) -> Callable[[FunctionType], FunctionType]:
        """Give one more wrong rule that belongs to the same mistake, for another input."""

        def define(function: FunctionType) -> FunctionType:
            self.rules[inputs] = function
            return function

        return define

    def wrong_rules(self) -> list[Rule]:
        """The rules as the operation would hold them; it does not."""
        return [Rule(self.op, inputs, function) for inputs, function in self.rules.items()]

    def right_rules(self) -> list[Rule]:
        """The rules whose places the wrong ones would take."""
        taken = {name for inputs in self.rules for name in inputs}
        return [rule for rule in self.op.rules if taken & set(rule.inputs)]


exhibits: list[Exhibit] = []
"""All exhibits."""


def wrong(
    call: Any, *inputs: str, lazy: Lazy | None, promise: str = DIFFERENCES, on: list[Sample] | None = None
) -> Callable[[FunctionType], Exhibit]:
    """A decorator that makes a function an exhibit: a wrong rule of the operation `call` for `inputs`.

    Its name and docstring say what is wrong and how it shows. `lazy` is a call on which it looks right, None where no
    natural one is known; `promise` is the one of `check` that catches it, on the operation's samples or on others.
    """
    op = getattr(call, "op", call)

    def show(function: FunctionType) -> Exhibit:
        made = Exhibit(op, function, inputs, lazy, promise, samples[op.name] if on is None else on)
        exhibits.append(made)
        return made

    return show


@contextmanager
def planted(exhibit: Exhibit) -> Iterator[Op]:
    """The wrong rule in the place of the right one, for every thread, until the block is left (however it is left)."""
    op, right = exhibit.op, list(exhibit.op.rules)
    try:
        for inputs, function in exhibit.rules.items():
            op.add_rule(inputs, function)
        yield op
    finally:
        op.rules = []
        for rule in right:
            op.add_rule(rule.inputs, rule.function)
