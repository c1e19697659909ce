"""Walks replayed with a wrong rule for students to find. The name of the rule is sealed."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

FEWEST_DIGITS = 1e-3
"""Minimum relative difference that an automatically chosen mistake must cause."""


class PlantedMistake(NamedTuple):
    """Walk with a wrong rule: its first wrong step, the later ones, and an explanation shown at the end."""

    trace: Any
    first: int
    later: list[int]
    reveal: str


def plant(trace: Any, rule: Any, seed: int) -> PlantedMistake:
    """Return the walk of `trace`, replayed with a wrong rule.

    `rule` is an exhibit of the museum or its name, one of the mistakes in `tracing`, or a dictionary of rules by name;
    None selects an exhibit that applies. Raises ValueError if it changes nothing, or if none applies.
    """
    from micrograd_plus.tracing import MISTAKES, Trace, load_trace

    right = trace if isinstance(trace, Trace) else load_trace(trace)
    if rule is None:
        return _choose_exhibit(right, seed)
    if isinstance(rule, dict):
        if not all(map(callable, rule.values())):
            raise TypeError(f"rule needs a function for each name, as {{'tanh.x': lambda out: 1 - out}}; got {rule}")
        story = " ".join(" ".join((function.__doc__ or "").split()) for function in rule.values())
        mistake, description = rule, story or f"The rule of {' and '.join(rule)} was replaced."
    elif isinstance(rule, str) and rule in MISTAKES:
        mistake, description = rule, f"{MISTAKES[rule].capitalize()}."
    else:
        exhibit = _museum().find_exhibit(rule) if isinstance(rule, str) else rule
        if not hasattr(exhibit, "rules"):
            raise TypeError(f"rule must be a name, an exhibit of the museum or a dictionary of functions, got {rule!r}")
        mistake, description = _rules(exhibit), _describe(exhibit)
    mistake_found = _replay_with(right, mistake, description)
    if mistake_found is None:
        raise ValueError("with that rule the walk has the same numbers: there is no wrong step to find")
    return mistake_found


def _museum() -> Any:
    import micrograd_plus as mg

    return mg.checks.museum


def _rules(exhibit: Any) -> dict[str, Any]:
    return {f"{exhibit.op.name}.{'+'.join(inputs)}": function for inputs, function in exhibit.rules.items()}


def _describe(exhibit: Any) -> str:
    return f"{exhibit.title[0].upper()}{exhibit.title[1:]}. {exhibit.story}"


def _choose_exhibit(right: Any, seed: int) -> PlantedMistake:
    """Return a replay with an exhibit that applies to the walk and changes its numbers."""
    museum = _museum()
    applied = set(right.rules)
    fitting = [each for each in museum.exhibits if each.promise == museum.DIFFERENCES and set(_rules(each)) <= applied]
    Random(seed).shuffle(fitting)  # noqa: S311 - it chooses an exhibit, and hides nothing
    for exhibit in fitting:
        try:
            candidate = _replay_with(right, _rules(exhibit), _describe(exhibit), FEWEST_DIGITS)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        if candidate is not None:
            return candidate
    raise ValueError(
        f"no wrong rule of the museum applies to this walk, whose rules are {', '.join(sorted(applied)) or 'none'}; "
        "give one as rule={'tanh.x': lambda out: 1 - out}, or a mistake by its name as rule='replace'"
    )


def _replay_with(right: Any, mistake: Any, description: str, least: float = 0.0) -> PlantedMistake | None:
    """Return the walk with a mistake, or None if it changes no number by more than `least`."""
    from micrograd_plus.tracing import compare, replay

    wrong = replay(right, mistake)
    rtol = {"rtol": least, "atol": 0.0}
    difference = compare(right, wrong, **rtol).difference
    if difference is None or difference.step_a is None or difference.step_b is None:
        return None
    exact = compare(right, wrong, rtol=0.0, atol=0.0).difference
    if exact is None or exact.step_b != difference.step_b:
        return None  # a difference too small to see comes first
    return PlantedMistake(wrong, difference.step_b, list(_later(right, wrong, difference.step_b)), description)


def _later(right: Any, wrong: Any, first: int) -> Iterable[int]:
    """Yield the steps after the first wrong one that also differ."""
    from micrograd_plus.tracing.comparison import largest_difference

    for at in range(first + 1, min(len(right.steps), len(wrong.steps))):
        one, other = right.steps[at], wrong.steps[at]
        apart = [largest_difference(getattr(one, word), getattr(other, word)) for word in ("contribution", "after")]
        if any(each is None or each > 0 for each in apart):
            yield at
