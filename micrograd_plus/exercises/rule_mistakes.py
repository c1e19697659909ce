"""Mistakes of rules: exhibits of the museum, wrong rules of the catalogue, and mistakes that any rule can have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..backends import devices
from ..checks import museum
from ..core.apply import Op
from .mistakes import exhibit_mistake, mistake, wrong_rules
from .rule_answers import Functions, can_unbroadcast, combine, takes_all_values
from .sandboxed.dual import without_tangents
from .spec import Mistake

np = devices.device("cpu").library


def rule_mistakes(op: Op, served: tuple[str, ...], rules: Sequence[Any], whole: bool = False) -> list[Mistake]:
    """Return every known mistake of these rules, each with its wrong answer."""
    right: Functions = [(rule.inputs, rule.function) for rule in rules]
    reason = describe_right_rule(rules)

    def with_wrong(wrong: Iterable[Any]) -> Any:
        replaced = {name for inputs, _ in wrong for name in inputs}
        others = [(inputs, function) for inputs, function in right if not replaced & set(inputs)]
        return combine(op, served, [*others, *wrong], whole=whole)

    mistakes = [
        exhibit_mistake(exhibit, with_wrong(exhibit.rules.items()), reason)
        for exhibit in exhibits_of(op, museum.DIFFERENCES)
        if {name for inputs in exhibit.rules for name in inputs} & set(served)
    ]
    mistakes += [
        mistake(name, with_wrong([(inputs, function)]), reason=reason)
        for name, inputs, function in wrong_rules(op) if set(inputs) & set(served)
    ]  # fmt: skip
    if whole or op.kind != "elementwise":
        mistakes.append(mistake("M6", with_unit_upstream(combine(op, served, right, whole=whole)), reason=reason))
    return [*mistakes, *(broadcasting_mistakes(op, served, right) if whole else [])]


def second_order_mistakes(op: Op, served: tuple[str, ...], rules: Sequence[Any], right: Any) -> list[Mistake]:
    """Return the mistakes that only dual numbers show."""
    exhibits = [each for each in exhibits_of(op, museum.SECOND) if served in each.rules]
    mistakes = [exhibit_mistake(each, combine(op, served, [(served, each.rules[served])]), describe_right_rule(rules))
                for each in exhibits]  # fmt: skip

    @takes_all_values
    def cut_off(values: dict[str, Any], xp: Any) -> Any:
        return right({name: without_tangents(value) for name, value in values.items()}, xp)

    if mistakes and op.kind == "elementwise":  # such a rule reads one dual number, so both would send the same
        return mistakes
    return [*mistakes, mistake("second", cut_off)]


def wrong_rules_of(op: Op, inputs: tuple[str, ...]) -> list[tuple[Mistake, Any]]:
    """Return the known mistakes of one rule, each with the wrong rule, to repeat a walk with it."""
    reason = describe_right_rule([rule for rule in op.rules if set(rule.inputs) & set(inputs)])
    shown = [(exhibit_mistake(exhibit, reason=reason), exhibit.rules[inputs])
             for exhibit in exhibits_of(op, museum.DIFFERENCES) if inputs in exhibit.rules]  # fmt: skip
    listed = [(mistake(name, reason=reason), function)
              for name, served, function in wrong_rules(op) if served == inputs]  # fmt: skip
    return [*shown, *listed]


def wrong_rules_everywhere(op: Op) -> list[tuple[Mistake, dict[str, Any]]]:
    """Return the known mistakes that several rules of an operation can have, each with the wrong rules by name."""
    made: dict[str, tuple[Mistake, dict[str, Any]]] = {}
    for rule in op.rules:
        for known, function in wrong_rules_of(op, rule.inputs):
            made.setdefault(known.id, (known, {}))[1].setdefault(rule.name, function)
    return [(known, functions) for known, functions in made.values() if len(functions) > 1]


def exhibits_of(op: Op, promise: str) -> list[Any]:
    """Return the museum's exhibits of an operation that break a promise."""
    return [exhibit for exhibit in museum.exhibits if exhibit.op is op and exhibit.promise == promise]


def describe_right_rule(rules: Sequence[Any]) -> str:
    """Return a sentence with the reason that the right rules give; an empty text if they give none."""
    reasons = [" ".join(rule.reason.split()) for rule in rules if rule.reason]
    return f"The docstring of the right rule says: {reasons[0]}" if reasons else ""


def with_unit_upstream(answer: Any) -> Any:
    """Return an answer that uses 1 instead of upstream."""

    def ones(upstream: Any) -> Any:
        return tuple(map(ones, upstream)) if isinstance(upstream, tuple) else np.ones_like(upstream)

    @takes_all_values
    def forgetful(values: dict[str, Any], xp: Any) -> Any:
        return answer({**values, "upstream": ones(values["upstream"])}, xp)

    return forgetful


def broadcasting_mistakes(op: Op, served: tuple[str, ...], right: Functions) -> list[Mistake]:
    """Return the mistakes of an answer that must undo broadcasting itself."""

    def with_undo(undo: Callable[[Any, tuple[int, ...]], Any]) -> Any:
        return combine(op, served, right, whole=True,
                       undo=lambda x, shape: undo(x, shape) if can_unbroadcast(x.shape, shape) else x)  # fmt: skip

    def repeated_axes(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
        lead = x.ndim - len(shape)
        return (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1))

    def average(x: Any, shape: tuple[int, ...]) -> Any:
        return np.mean(x, axis=repeated_axes(x, shape)).reshape(shape)

    def drop_axes(x: Any, shape: tuple[int, ...]) -> Any:
        return np.sum(x, axis=repeated_axes(x, shape))

    def sum_other_axes(x: Any, shape: tuple[int, ...]) -> Any:
        axes = repeated_axes(x, shape)
        others = tuple(i for i in range(x.ndim) if i not in axes)[: len(axes)]
        return np.sum(x, axis=others) if axes else x

    nothing = "M44" if op.kind == "multilinear" else "M27"
    ways = {nothing: lambda x, shape: x, "M28": average, "M29": drop_axes, "M30": sum_other_axes}
    return [mistake(name, with_undo(undo)) for name, undo in ways.items()]
