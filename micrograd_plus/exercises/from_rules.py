"""Exercises for the rules of the engine, made from each operation's samples and the rule's own reason.

    >>> rule_exercise("tanh.x").title
    'the rule of tanh for x'

Nothing is written by hand: the inputs are new draws of the samples and of their edge cases, the right answer is the
engine's rule, and the mistakes are the museum's exhibits of the operation and the wrong rules of the catalogue.
"""

# ruff: noqa: A002 - `id` is the name of the field in files and in calls

from __future__ import annotations

import dis
import textwrap
from collections.abc import Sequence
from typing import Any

from ..backends import devices
from ..checks.samples import Sample, samples
from ..core.apply import Op
from ..core.composite import ChainRule
from ..core.define import operations
from ..core.rule import Rule, check_rule
from .compare import Expected
from .mark import mark
from .prompts import join_names, write_prompt
from .rule_answers import ENGINE, right_answer
from .rule_cases import PROBABILITIES, RuleCases
from .rule_mistakes import rule_mistakes, second_order_mistakes
from .sandboxed import FUNCTIONS
from .spec import EDGES, GROUPS, PLAIN, SECOND_ORDER, Exercise, Mistake, Part
from .variants import rule_variants

np = devices.device("cpu").library

PARTS = (
    Part("shape", 1, "the answer has the shape of its input, on every call"),
    Part(PLAIN, 6, "the numbers are right on ordinary inputs"),
    Part(EDGES, 3, "the numbers are right on zeros, ties, huge and tiny numbers, and other edge cases"),
)
SECOND_ORDER_PARTS = (
    PARTS[0],
    Part(PLAIN, 5, PARTS[1].sentence),
    Part(EDGES, 2, PARTS[2].sentence),
    Part(SECOND_ORDER, 2, "the result changes with the inputs as it should: the gradient of the gradient is right"),
)
JUMP_OF_CORNERS = 1e-4
"""How far the right answers to neighboring calls are apart at a kink, relative to the largest entry."""
PLAIN_DATA = (type(None), bool, int, float, str, slice, type(Ellipsis), np.ndarray)
"""The types of values in a request, beside lists, tuples and dictionaries of them."""


def rule_exercise(name: str, *, group: str = GROUPS[0], whole: bool = False, id: str | None = None,
                  title: str | None = None, convention: str | None = None,
                  second_order: bool = False) -> Exercise:  # fmt: skip
    """Return the exercise of a rule, or of several, such as `softmax.x`, `matmul.b` or `maximum.a+b`.

    Args:
        name: the operation and its inputs.
        group: one of the six groups.
        whole: the student multiplies by upstream and undoes broadcasting, too: an answer has the shape of its input.
        id: the id of the exercise; `name`, if omitted.
        title: a line for lists.
        convention: the only convention at kinks and ties that is right; any, if omitted.
        second_order: the rule is also called on dual numbers, to check the gradient of its gradient.
    Returns: the exercise.
    Raises: KeyError if there is no such rule, ValueError if no sample of it consists of plain real numbers.
    """
    op, served = find_rule(name)
    rules = [rule for rule in op.rules if set(rule.inputs) & set(served)]
    reads = readable_names(op, rules)
    if whole and "upstream" not in reads:
        reads = ("upstream", *reads)
    usable = [sample for sample in samples[op.name] if is_real_and_plain(sample)]
    if not usable:
        raise ValueError(f"{name} has no sample of plain real numbers, so there is no exercise for it")
    is_local = op.kind == "elementwise" and not whole
    right, functions = right_answer(op, served, whole), allowed_functions(rules, whole, name)
    cases = RuleCases(op, served, reads, usable, right=right, functions=functions, whole=whole,
                      one_convention=convention is not None, second_order=second_order)  # fmt: skip

    def known_mistakes() -> list[Mistake]:
        known = rule_mistakes(op, served, rules, whole)
        may_be_harmless = whole or op.name in PROBABILITIES
        noticed = [each for each in known if not may_be_harmless or has_effect(exercise, each)]
        return [*noticed, *(second_order_mistakes(op, served, rules, right) if second_order else [])]

    exercise = Exercise(
        id or name, kind="rule", group=group,
        title=title or f"the rule of {op.name} for {join_names(served)}{', twice' if second_order else ''}",
        prompt=lambda: write_prompt(
            op, served, reads, functions, usable, is_local=is_local, whole=whole, convention=convention,
            has_corners=has_corners(exercise)) + (SECOND_ORDER_PROMPT if second_order else ""),
        starter=write_starter(id or name, op, served, reads, is_local),
        parts=SECOND_ORDER_PARTS if second_order else PARTS, draw=cases, right=right, reads=reads,
        functions=functions, mistakes=known_mistakes, namespace=ENGINE,
        variants=lambda: rule_variants(op, served, rules, reads, whole),
    )  # fmt: skip
    exercise.op, exercise.serves, exercise.is_whole = op, served, whole
    return exercise


def has_effect(exercise: Exercise, mistake: Mistake) -> bool:
    """Return whether a mistake changes the marks.

    Not undoing broadcasting is harmless if nothing is broadcast, and so is an assumption about probabilities.
    """
    cases = exercise.cases(0)
    outcomes = [exercise.run(mistake.wrong_answer, case.request) for case in cases]
    return not mark(exercise, cases, outcomes, diagnose=False).right


def has_corners(exercise: Exercise) -> bool:
    """Return whether the inputs of some case are at a kink, at a tie or at the edge of the domain."""
    with np.errstate(all="ignore"):
        for case in exercise.cases(1):
            if "neighbors" in case.expects and has_jump(Expected(exercise, case)):
                return True
    return False


def has_jump(expected: Expected) -> bool:
    """Return whether the right answer to a call is not finite, or differs from those to neighboring calls."""
    return any(not np.all(np.isfinite(right)) or
               np.any(np.abs(expected.neighbors[name] - right) > JUMP_OF_CORNERS * expected.largest[name])
               for name, right in expected.right.items())  # fmt: skip


def find_rule(name: str) -> tuple[Op, tuple[str, ...]]:
    """Return the operation and the inputs of a name such as `matmul.a`; raise KeyError if there is no such rule."""
    first, _, inputs = name.partition(".")
    if first not in operations:
        raise KeyError(f"there is no operation {first!r}; `micrograd-plus ops` lists them")
    op = operations[first]
    served = tuple(inputs.split("+")) if inputs else ()
    for each in served:
        if not op.has_rule_for(each):
            known = ", ".join(f"{first}.{'+'.join(rule.inputs)}" for rule in op.rules)
            raise KeyError(f"{first} has no rule for {each!r}" + (f"; it has {known}" if known else ""))
    if not served:
        raise KeyError(f"{name} names no input; choose from {', '.join(rule.name for rule in op.rules)}")
    shared = next((rule for rule in op.rules if set(served) & set(rule.inputs) and len(rule.inputs) > 1), None)
    if shared is not None and not isinstance(shared, ChainRule) and served != shared.inputs:
        raise KeyError(f"{first} has one rule for {', '.join(shared.inputs)}: the exercise is {shared.name}")
    return op, served


def readable_names(op: Op, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the names of the values that these rules may read, which depend on the operation's kind."""
    names = ["upstream", "out", *op.inputs, *op.params, *op.residuals, *op.outputs, *(f"{n}_shape" for n in op.inputs)]

    def can_read(name: str, rule: Rule) -> bool:
        probe = Rule(op, rule.inputs, rule.function)
        probe.reads = (name,)
        try:
            check_rule(probe)
        except TypeError:
            return False
        return True

    return tuple(dict.fromkeys(name for name in names if any(can_read(name, rule) for rule in rules)))


def is_real_and_plain(sample: Sample) -> bool:
    """Return whether a call has no complex numbers, and consists of plain data."""
    real = all(getattr(value, "dtype", np.dtype(float)).kind != "c" for value in sample.inputs)
    return real and all(is_plain_data(value) for value in [*sample.inputs, *sample.params.values()])


def is_plain_data(value: Any) -> bool:
    """Return whether a value can be part of a request."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain_data, value))
    return isinstance(value, PLAIN_DATA)


# Functions of xp ------------


OPERATORS = {"clip.x": "equal", "where.a": "multiply"}
"""Functions that are another name of an operator, and alone the whole rule of an exercise."""


def allowed_functions(rules: Sequence[Any], whole: bool = False, name: str = "") -> tuple[str, ...]:
    """Return the functions of `xp` that an exercise offers: all except a function that alone is the whole rule.

    If broadcasting is undone by hand, the function that undoes it is not offered.

    A local derivative may be a single function: that the slope of the sine is the cosine is the point of the exercise.
    The name of an operator is not, since `x == out` says the same.
    """
    solutions = {only_call(rule.function) for rule in rules if rule.op.kind != "elementwise"}
    solutions |= {"sum_to_shape"} if whole else set()
    solutions |= {OPERATORS[name]} if name in OPERATORS else set()
    return tuple(sorted(FUNCTIONS.keys() - solutions))


def only_call(function: Any) -> str | None:
    """Return the function of `xp` that a rule consists of, as `flip` in `xp.flip(upstream, axis=axis)`, or None."""
    instructions = [each.opname for each in dis.get_instructions(function)]
    calls = sum(name.startswith("CALL") and "INTRINSIC" not in name for name in instructions)
    computes = any(name.startswith(("BINARY", "UNARY", "COMPARE")) for name in instructions)
    attributes = function.__code__.co_names
    return attributes[0] if calls == 1 and len(attributes) == 1 and not computes else None


# Texts ----------------------

WIDEST_HEADER = 100


SECOND_ORDER_PROMPT = (
    "\n\nYour rule is also called on dual numbers, to check the gradient of its gradient. Don't pass values through "
    "`float` or `.item()`, and don't fill them into an array of zeros: that cuts them off from the inputs."
)


def write_starter(id: str, op: Op, served: tuple[str, ...], reads: Sequence[str], is_local: bool) -> str:
    """Return the code that a student starts from."""
    name = id.replace(".", "_").replace("+", "_and_").replace("-", "_")
    shapes = () if is_local else [f"{each}_shape" for each in served]
    ordered = dict.fromkeys(("upstream", *op.inputs, "out", *op.params, *op.outputs, *op.residuals, *shapes))
    parameters = [each for each in ordered if each in reads]
    result = f"the {'local derivative' if is_local else 'contribution'}{'s' * (len(served) > 1)}"
    return (
        f'@exercises.answer("{id}")\n'
        f"{write_header(name, ['xp', *parameters])}\n"
        f'    """Return {result} for {join_names(served)}."""\n'
        f"    # After a try, exercises.hint(), exercises.walk() and exercises.inputs() help.\n"
        f"    # YOUR CODE HERE\n"
        f"    raise NotImplementedError\n"
    )


def write_header(name: str, parameters: Sequence[str]) -> str:
    """Return the first line of a function, broken into several if it is long."""
    listed = ", ".join(parameters)
    if len(name) + len(listed) < WIDEST_HEADER:
        return f"def {name}({listed}):"
    lines = textwrap.wrap(listed, WIDEST_HEADER - len("    "))
    return "\n    ".join([f"def {name}(", *lines]) + ",\n):"


__all__ = ["rule_exercise"]
