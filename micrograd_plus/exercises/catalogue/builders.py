"""Builders of the catalogue's exercises: a rule by its name, gradients by hand, a step to predict, a rule to find.

A program is a function of named tensors that returns everything it computes by name, in order. The last is the result.
"""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from ... import ops
from ...backends import devices
from ...core.backward import gradients
from ...tensor import Tensor, tensor
from ...tracing import Trace
from ..from_functions import function_exercise
from ..from_rules import rule_exercise
from ..mistakes import mistake, wrong_answers
from ..prompts import join_names
from ..question import Question, to_array
from ..rule_answers import takes_all_values
from ..spec import PLAIN, Exercise, Mistake, Part
from ..student_key import own_walk_number
from ..walk_mistakes import walk_mistakes
from .number_walks import by_hand, one_step
from .planted_walks import PlantedWalks, Program, draw_inputs, record_walk

np = devices.device("cpu").library
Draws = dict[str, Callable[[Any], Any]]
"""The inputs of a program: for each name a function that draws an array."""


def rules(group: str, *names: str) -> list[Exercise]:
    """Return the exercises of rules of the engine."""
    return [rule_exercise(name, group=group) for name in names]


def second_order(group: str, *names: str) -> list[Exercise]:
    """Return the exercises `NAME.twice`, which also check the gradient of the gradient."""
    return [rule_exercise(name, group=group, second_order=True, id=f"{name}.twice") for name in names]


def whole_rule(group: str, name: str, title: str) -> Exercise:
    """Return the exercise `NAME.whole`, in which the student undoes broadcasting."""
    return rule_exercise(name, group=group, whole=True, id=f"{name}.whole", title=title)


# Gradients by hand ----------


def program_of(code: str, inputs: Sequence[str]) -> Program:
    """Return a program that is written as lines of code, each of which computes one value."""
    names = names_of(code)
    compiled = compile(code, f"<program of {', '.join(names)}>", "exec", dont_inherit=True)

    def program(leaves: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {"mg": ops, **leaves}
        exec(compiled, values)  # noqa: S102 - our own text
        return {name: values[name] for name in names}

    return program


def gradients_by_hand(id: str, group: str, code: str, inputs: Draws, *, title: str) -> Exercise:
    """Return an exercise in which the student writes every gradient of a program, the last one first.

    The student's function can read every value of the program.
    """
    program = program_of(code, list(inputs))
    trial = program({name: tensor(draw(np.random.default_rng(0))) for name, draw in inputs.items()})
    names = [*reversed(list(trial)[:-1]), *inputs]
    reads = [*inputs, *trial]
    shapes = {name: np.shape(draw(np.random.default_rng(0))) for name, draw in inputs.items()}
    shapes |= {name: value.shape for name, value in trial.items()}

    def draw_values(rng: Any) -> dict[str, Any]:
        arrays = {name: draw(rng) for name, draw in inputs.items()}
        computed = program({name: tensor(value) for name, value in arrays.items()})
        return arrays | {name: value.numpy() for name, value in list(computed.items())}

    @takes_all_values
    def right(values: dict[str, Any], xp: Any) -> dict[str, Any]:
        return program_gradients(program, {name: values[name] for name in inputs}, names)

    def known_mistakes() -> list[Mistake]:
        return [mistake(name, replace_gradients(right, change))
                for name, change in wrong_answers(id, right, [*reads, "right"])]  # fmt: skip

    exercise = function_exercise(
        id, right, kind="gradients", group=group, title=title, inputs=draw_values, answers=names, reads=reads, count=3,
        mistakes=known_mistakes, summary="Return every gradient, the last one first.",
        prompt=f"```python\n{code}\n```\n\nThe walk begins with 1 at {names_of(code)[-1]}. "
               f"Find the gradients by hand, from the last to the first. Return a dictionary with one for "
               f"each of these names, in this order: {', '.join(names)}.\n"
               f"Your function can use any of these parameters, by name: {write_shapes(reads, shapes)}.",
    )  # fmt: skip
    blanks = f"return {{{', '.join(f'{name!r}: None' for name in names)}}}"
    exercise.starter = exercise.starter.replace("raise NotImplementedError", blanks)
    exercise.walk_program = by_hand(code, list(inputs))
    add_walk_mistakes(exercise, program, inputs, lambda trace, _: {name: read_gradient(trace, name) for name in names})
    return exercise


def read_gradient(trace: Trace, name: str) -> Any:
    """Return what a named value received in a walk; zeros if nothing arrived."""
    try:
        return Question(trace, name).right
    except KeyError:
        return np.zeros_like(Question(trace, (name, "value")).right)


def add_walk_mistakes(exercise: Exercise, program: Program, inputs: Draws, read: Callable[..., Any]) -> None:
    """Add walks with a mistake at each step to the variants of an exercise."""
    others = exercise.make_variants
    trial = draw_inputs(inputs, np.random.default_rng(0))
    exercise.make_variants = lambda: chain(
        walk_mistakes(lambda values: record_walk(program, values), trial, read), others()
    )


def write_shapes(names: Sequence[str], shapes: dict[str, tuple[int, ...]]) -> str:
    """Return names with the shapes of those that are no single numbers."""
    return ", ".join(f"{name} of shape {shapes[name]}" if shapes[name] else name for name in names)


def names_of(code: str) -> list[str]:
    """Return the names that a program computes, in order."""
    return [line.partition(" = ")[0] for line in code.splitlines()]


def program_gradients(program: Program, inputs: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the gradient of every named value of a program, from one walk of the engine."""
    leaves: dict[str, Any] = {name: tensor(value, requires_grad=True) for name, value in inputs.items()}
    computed = program(leaves)
    values = {**leaves, **computed}
    result: Tensor = list(computed.values())[-1]
    nodes = {name: values[name].node for name in names}
    arrived = gradients(result, np.ones(result.shape), through=set(nodes.values()))
    return {name: np.asarray(arrived[node]) for name, node in nodes.items()}


def replace_gradients(right: Any, change: Callable[..., dict[str, Any]]) -> Any:
    """Return a wrong answer: the right gradients, with those replaced that `change` returns."""
    names = change.__code__.co_varnames[: change.__code__.co_argcount]

    @takes_all_values
    def wrong(values: dict[str, Any], xp: Any) -> dict[str, Any]:
        gradients = right(values, xp)
        available = {**values, "right": gradients}
        return {**gradients, **change(*[available[name] for name in names])}

    return wrong


# Walks ----------------------


def predict_step(
    id: str, group: str, code: str, inputs: Draws, *, step: int, word: str, name: str, title: str, prompt: str,
    formula: Callable[..., Any],
) -> Exercise:  # fmt: skip
    """Return an exercise in which the student predicts a value of a step that sends to `name`, as a formula of the
    inputs. `formula` is that formula, which also runs in extended precision."""
    program = program_of(code, list(inputs))

    def asked_step(values: dict[str, Any]) -> Any:
        trace: Trace = record_walk(program, {name: values[name] for name in inputs})
        return trace.steps[step]

    @takes_all_values
    def right(values: dict[str, Any], xp: Any) -> Any:
        return to_array(getattr(asked_step(values), word))

    @takes_all_values
    def without_upstream(values: dict[str, Any], xp: Any) -> Any:
        asked = asked_step(values)
        before = 0.0 if asked.before is None or word != "after" else to_array(asked.before)
        return to_array(asked.local) + before

    @takes_all_values
    def only_this_path(values: dict[str, Any], xp: Any) -> Any:
        return to_array(asked_step(values).contribution)

    exercise = function_exercise(
        id, right, kind="predict", group=group, title=title, inputs=inputs, reads=tuple(inputs),
        mistakes=[("M6", without_upstream)] + ([("path", only_this_path)] if word == "after" else []),
        prompt=f"```python\n{code}\n```\n\nThe walk begins with 1 at {names_of(code)[-1]}. {prompt} "
               f"Write a function of {join_names(list(inputs))} that returns it.",
    )  # fmt: skip
    exercise.formula = formula
    exercise.walk_program = one_step(code, list(inputs), step, name)

    def read(trace: Trace, right: Trace) -> Any:
        asked = right.steps[step]
        same = next(each for each in trace.steps if (each.node, each.rule) == (asked.node, asked.rule))
        return to_array(getattr(same, word))

    add_walk_mistakes(exercise, program, inputs, read)
    exercise.show = lambda seed=0: record_walk(program, draw_inputs(inputs, np.random.default_rng(seed)))
    return exercise


def find_wrong_rule(id: str, group: str, program: Program, inputs: Draws, *, exhibits: Sequence[str]) -> Exercise:
    """Return an exercise in which the student finds the wrong rule of a walk.

    The wrong rule is one of some exhibits of the museum. Each number of a walk makes another walk. The answer is the
    number of the first step that applies the wrong rule, counted from 1 as in the player.
    """
    walks = PlantedWalks(program, inputs, exhibits)

    @takes_all_values
    def right(values: dict[str, Any], xp: Any) -> int:
        return walks.wrong_step(values["walk"])

    @takes_all_values
    def later_step(values: dict[str, Any], xp: Any) -> int:
        return walks.misled_steps(values["walk"])[0]

    exercise = function_exercise(
        id, right, kind="wrong rule", group=group, title="one rule of this walk is wrong", driver="value", count=1,
        inputs=lambda number: {"walk": number}, about="one rule of the walk is wrong", judge=walks.judge, reads=(),
        parts=[Part(PLAIN, 10, "it is that step")],
        mistakes=[
            mistake("behind", later_step, recognizes=all_of_kind("behind")),
            mistake("elsewhere", 0, recognizes=all_of_kind("entries")),
        ],
        prompt=f"Look at the walk `exercises.get_exercise({id!r}).show()`. One of its rules is not the engine's. At "
               f"which step is that rule first applied? Answer with the number of the step as the player shows it, "
               f"counted from 1.",
    )  # fmt: skip
    exercise.has_own_walk = True
    exercise.starter = (
        f"{exercise.function_name} = None  # YOUR ANSWER instead of None\n"
        f'exercises.check("{id}", {exercise.function_name})\n'
    )
    exercise.show = lambda number=None: walks.walk(own_walk_number(id) if number is None else number)
    exercise.show_right = lambda number=None: walks.walk(own_walk_number(id) if number is None else number, wrong=False)
    return exercise


def all_of_kind(kind: str) -> Callable[[Any, Any], bool]:
    """Return a function that recognizes a mistake if all differences are of one kind."""
    return lambda exercise, wrongs: all(wrong.kind == kind for wrong in wrongs)


__all__ = [
    "all_of_kind", "find_wrong_rule", "gradients_by_hand", "predict_step", "rules", "second_order", "whole_rule",
]  # fmt: skip
