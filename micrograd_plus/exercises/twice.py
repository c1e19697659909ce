"""The second time: a rule that is right may still cut off its past, and then the gradient of its gradient is wrong.

A student's rule is planted in a copy of its operation, and read on tensors; what it gives the second time is compared
with what the engine's own rule gives.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..backends import devices
from ..checks import museum
from ..checks.promises import moving, slope
from ..checks.samples import Sample, samples
from ..core.operation import Op
from ..transforms.reverse import grad
from .exercise import Exercise, Mistake, Part
from .marking import Result
from .mutants import about, hints
from .rules import found, is_plain

np = devices.device("cpu").library

SECOND = Part("second order", 2, "the gradient of the gradient is right too")


def copy_with(op: Op, inputs: tuple[str, ...], function: FunctionType) -> Op:
    """A copy of an operation with a rule of its own; the operation stays what it is."""
    copy = Op(op.forward, op.kind, outputs=op.outputs, residuals=op.residuals, constants=tuple(op.constants))
    for rule in op.rules:
        if not set(rule.inputs) & set(inputs):
            copy.add_rule(rule.inputs, rule.function)
    copy.add_rule(inputs, function)
    copy.call = copy.apply
    return copy


def second_gradients(op: Op, sample: Sample) -> list[Any]:
    """The gradients of the gradient of a call, by an operation's own rules."""
    call = Sample(op, sample.inputs, sample.params, {})
    places = moving(call)
    found = grad(slope(call), tuple(range(len(places))))(*[call.inputs[place] for place in places])
    return [each.numpy() for each in found]


def told(exercise: Exercise, result: Result, thing: Any, seed: int) -> None:
    """Add the part of the second time to a result."""
    op, served = found(exercise.id)
    reason, mistake = differs(op, served, thing, seed)
    points = SECOND.points if reason is None else 0
    result.parts.append({"name": SECOND.name, "points": points, "of": SECOND.points, "reason": reason or "right"})
    result.points, result.of = round(result.points + points, 6), result.of + SECOND.points
    if reason is not None:
        result.right = False
        result.mistake = result.mistake or mistake


def differs(op: Op, served: tuple[str, ...], thing: Any, seed: int) -> tuple[str | None, Mistake | None]:
    """What is wrong the second time, as a sentence, and the known mistake behind it."""
    if not isinstance(thing, FunctionType):
        return "a function is asked for", None
    rng = np.random.default_rng(seed)
    for each in samples[op.name]:
        if not is_plain(each) or "the gradient has a gradient" in each.excused:
            continue
        sample = each.fresh(rng)
        with np.errstate(all="ignore"):
            right = second_gradients(op, sample)
            try:
                given = second_gradients(copy_with(op, served, thing), sample)
            except Exception as error:  # noqa: BLE001 - a student's rule may raise anything
                return f"read on tensors it stops with {type(error).__name__}: {error}", None
        if not alike(right, given):
            return "the gradient is right, and its own gradient is not", known(op, served, sample, given)
    return None, None


def known(op: Op, served: tuple[str, ...], sample: Sample, given: list[Any]) -> Mistake | None:
    """The exhibit that gives the same the second time."""
    for exhibit in museum.exhibits:
        if exhibit.op is op and exhibit.promise == museum.SECOND and served in exhibit.rules:
            copy = copy_with(op, served, exhibit.rules[served])
            if alike(second_gradients(copy, sample), given):
                rules = [rule for rule in op.rules if set(rule.inputs) & set(served)]
                return Mistake("museum", exhibit.name, hints("museum", about(rules), exhibit.story))
    return None


def alike(a: list[Any], b: list[Any]) -> bool:
    """Whether two lists of gradients are equal up to rounding."""
    return all(
        x.shape == y.shape and np.allclose(x, y, rtol=1e-8, atol=1e-9 * np.max(np.abs(x), initial=0.0))
        for x, y in zip(a, b, strict=True)
    )
