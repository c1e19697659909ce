"""How the exercises that come along are declared: a rule by its name, a program by hand, a step to predict, a wrong
rule to find.
"""

# ruff: noqa: A002 - an exercise is known by its `id`

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backends import devices
from ...core.backward import gradients
from ...tensor import Tensor, tensor
from ...tracing import Trace
from ..from_functions import function_exercise, of_row
from ..from_rules import rule_exercise
from ..question import array
from ..registered import register
from ..spec import Exercise, Part
from ..student_key import own_walk_number
from .planted_walks import ELSEWHERE, Planted, Program, accused_behind, recorded

np = devices.device("cpu").library


def rules(group: str, *names: str) -> None:
    """Declare the exercises of rules of the engine."""
    for name in names:
        register(rule_exercise(name, group=group))


def twice(group: str, *names: str) -> None:
    """Declare the exercises of rules that are read on numbers that move as well, under `NAME.twice`."""
    for name in names:
        register(rule_exercise(name, group=group, twice=True, id=f"{name}.twice"))


def whole_rule(group: str, name: str, title: str) -> None:
    """Declare the exercise of a rule that undoes broadcasting itself, under `NAME.whole`."""
    register(rule_exercise(name, group=group, whole=True, id=f"{name}.whole", title=title))


def by_hand(
    id: str, group: str, program: Program, inputs: dict[str, Any], *, title: str, prompt: str, wrong: Sequence[Any] = ()
) -> None:
    """Declare an exercise of every gradient by hand. Who solves it is given everything that the program computes, and
    returns the gradients in the order of the walk: of what was computed last first. Wrong answers are pairs of a row
    and a function of all that and of the right gradients."""
    trial = computed(program, {name: tensor(draw(np.random.default_rng(0))) for name, draw in inputs.items()})
    names = [*reversed(list(trial)[:-1]), *inputs]

    def everything(rng: Any) -> dict[str, Any]:
        given = {name: draw(rng) for name, draw in inputs.items()}
        made = computed(program, {name: tensor(value) for name, value in given.items()})
        return given | {name: value.numpy() for name, value in list(made.items())}

    def right(named: dict[str, Any], xp: Any) -> dict[str, Any]:
        return gradients_of(program, {name: named[name] for name in inputs}, names)

    right.takes_everything = True
    mistakes = [of_row(row, spoilt(right, change)) for row, change in wrong]
    reads = [*inputs, *trial]
    made = function_exercise(
        id, right, kind="gradients", group=group, title=title, inputs=everything, answers=names, mistakes=mistakes,
        count=3,
        prompt=f"{prompt}\nReturn a dictionary with the gradient of each of these, in this order: {', '.join(names)}.\n"
               f"Your function may read {', '.join(reads)}.",
    )  # fmt: skip
    made.reads = tuple(reads)
    made.starter = (
        f'@exercises.answer("{id}")\n'
        f"def {made.function_name}({', '.join(reads)}):\n"
        f'    """The gradient of everything, the latest first."""\n'
        f"    # YOUR CODE HERE\n"
        f"    return {{{', '.join(f'{name!r}: None' for name in names)}}}\n"
    )
    register(made)


def computed(program: Program, given: dict[str, Any]) -> dict[str, Any]:
    """What a program computes of named tensors."""
    return program(given)


def gradients_of(program: Program, inputs: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The gradient of every named value, by one walk of the engine."""
    leaves: dict[str, Any] = {name: tensor(value, requires_grad=True) for name, value in inputs.items()}
    made = computed(program, leaves)
    everything = {**leaves, **made}
    result: Tensor = list(made.values())[-1]
    nodes = {name: everything[name].node for name in names}
    arrived = gradients(result, np.ones(result.shape), through=set(nodes.values()))
    return {name: np.asarray(arrived[node]) for name, node in nodes.items()}


def spoilt(right: Any, change: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]) -> Any:
    """A wrong answer: the right gradients with some of them changed."""

    def wrong(named: dict[str, Any], xp: Any) -> dict[str, Any]:
        found = right(named, xp)
        return {**found, **change(named, found)}

    wrong.takes_everything = True
    return wrong


# Walks ----------------------


def predict(
    id: str, group: str, program: Program, inputs: dict[str, Any], *, step: int, word: str, title: str, prompt: str
) -> None:
    """Declare an exercise of what a step sends: of any inputs, so that it is a formula that is found."""

    def trace_of(named: dict[str, Any]) -> Trace:
        return recorded(program, {name: named[name] for name in inputs})

    def right(named: dict[str, Any], xp: Any) -> Any:
        return array(getattr(trace_of(named).steps[step], word))

    def forgotten(named: dict[str, Any], xp: Any) -> Any:
        asked = trace_of(named).steps[step]
        before = 0.0 if asked.before is None or word != "after" else array(asked.before)
        return array(asked.local) + before

    def overwritten(named: dict[str, Any], xp: Any) -> Any:
        return array(trace_of(named).steps[step].contribution)

    for each in (right, forgotten, overwritten):
        each.takes_everything = True
    mistakes = [of_row("M6", forgotten)] + ([of_row("M1", overwritten)] if word == "after" else [])
    made = function_exercise(
        id, right, kind="predict", group=group, title=title, prompt=prompt, inputs=inputs, mistakes=mistakes,
    )  # fmt: skip
    made.reads = tuple(inputs)
    made.starter = (
        f'@exercises.answer("{id}")\n'
        f"def {made.function_name}({', '.join(inputs)}):\n"
        f'    """{title}."""\n'
        f"    # YOUR CODE HERE\n"
        f"    raise NotImplementedError\n"
    )
    made.show = lambda seed=0: recorded(program, drawn(inputs, seed))
    register(made)


def drawn(inputs: dict[str, Any], seed: int) -> dict[str, Any]:
    """Inputs of a seed."""
    rng = np.random.default_rng(seed)
    return {name: draw(rng) for name, draw in inputs.items()}


def find(id: str, group: str, program: Program, inputs: dict[str, Any], *, exhibits: Sequence[str]) -> None:
    """Declare an exercise of finding the wrong rule of a walk, in which an exhibit of the museum is planted. The answer
    is the number of the step at which it is applied first, counted from 1, as the player counts. Each number of a walk
    makes another one."""
    walks = Planted(program, inputs, exhibits)

    def right(named: dict[str, Any], xp: Any) -> int:
        return walks.place(named["walk"])

    def accused(named: dict[str, Any], xp: Any) -> int:
        return walks.behind(named["walk"])[0]

    right.takes_everything = accused.takes_everything = True
    made = function_exercise(
        id, right, kind="wrong rule", group=group, title="one rule of this walk is wrong", driver="value", count=1,
        inputs=lambda number: {"walk": number}, about="one rule of the walk is wrong", judge=walks.judged,
        mistakes=[accused_behind(accused), ELSEWHERE], parts=[Part("plain values", 10, "it is that step")],
        prompt=f"Look at `exercises.get_exercise({id!r}).show()`. One rule of it is not the engine's: at which step is "
               f"it applied first? Answer with the step's number, as the player counts them, from 1.",
    )  # fmt: skip
    made.reads, made.has_own_walk = (), True
    made.starter = (
        f"{made.function_name} = None  # YOUR ANSWER in the place of None\n"
        f'exercises.check("{id}", {made.function_name})\n'
    )
    made.show = lambda number=None: walks.walk(own_walk_number(id) if number is None else number)
    made.show_right = lambda number=None: walks.walk(own_walk_number(id) if number is None else number, wrong=False)
    register(made)


__all__ = ["Exercise", "by_hand", "find", "predict", "rules", "twice", "whole_rule"]
