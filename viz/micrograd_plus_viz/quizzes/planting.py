"""A walk with a wrong rule in it, for students to find: the walk is made again with it, and its name is sealed."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

FEWEST_DIGITS = 1e-3
"""A rule that is chosen for the student shows in the numbers at least so much, as a part of their size."""


class Planted(NamedTuple):
    """A walk with a wrong rule, the place of its first wrong step, those of the later ones, and what is told once that
    is found."""

    trace: Any
    first: int
    later: list[int]
    told: str


def planted(trace: Any, rule: Any, seed: int) -> Planted:
    """The walk of `trace`, made again with a wrong rule.

    `rule` is an exhibit of the museum or its name, one of tracing's mistakes, or a dictionary of rules by name; None
    for one of the exhibits that fit. ValueError where it changes nothing, or none fits.
    """
    from micrograd_plus.tracing import MISTAKES, Trace, load_trace

    right = trace if isinstance(trace, Trace) else load_trace(trace)
    if rule is None:
        return _chosen(right, seed)
    if isinstance(rule, dict):
        story = " ".join(" ".join((function.__doc__ or "").split()) for function in rule.values())
        mistake, told = rule, story or f"Another rule stood in the place of {' and '.join(rule)}."
    elif isinstance(rule, str) and rule in MISTAKES:
        mistake, told = rule, f"{MISTAKES[rule].capitalize()}."
    else:
        exhibit = _museum().named(rule) if isinstance(rule, str) else rule
        mistake, told = _rules(exhibit), _told(exhibit)
    found = _made(right, mistake, told)
    if found is None:
        raise ValueError("with that rule the walk has the same numbers: there is no wrong step to find")
    return found


def _museum() -> Any:
    import micrograd_plus as mg

    return mg.checks.museum


def _rules(exhibit: Any) -> dict[str, Any]:
    return {f"{exhibit.op.name}.{'+'.join(inputs)}": function for inputs, function in exhibit.rules.items()}


def _told(exhibit: Any) -> str:
    return f"{exhibit.title[0].upper()}{exhibit.title[1:]}. {exhibit.story}"


def _chosen(right: Any, seed: int) -> Planted:
    """One of the exhibits that fit the walk, and show in it."""
    museum = _museum()
    applied = set(right.rules)
    fitting = [each for each in museum.exhibits if each.promise == museum.DIFFERENCES and set(_rules(each)) <= applied]
    Random(seed).shuffle(fitting)  # noqa: S311 - it chooses an exhibit, and hides nothing
    for exhibit in fitting:
        try:
            found = _made(right, _rules(exhibit), _told(exhibit), FEWEST_DIGITS)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        if found is not None:
            return found
    raise ValueError(
        f"no wrong rule of the museum fits this walk, whose rules are {', '.join(sorted(applied)) or 'none'}; "
        "give one as rule={'tanh.x': lambda out: 1 - out}, or a mistake by its name as rule='replace'"
    )


def _made(right: Any, mistake: Any, told: str, least: float = 0.0) -> Planted | None:
    """The walk with a mistake, where it has other numbers by more than `least` of their size."""
    from micrograd_plus.tracing import compare, replay

    wrong = replay(right, mistake)
    rtol = {"rtol": least, "atol": 0.0}
    found = compare(right, wrong, **rtol).difference
    if found is None or found.step_a is None or found.step_b is None:
        return None
    exact = compare(right, wrong, rtol=0.0, atol=0.0).difference
    if exact is None or exact.step_b != found.step_b:
        return None  # a difference too small to be seen comes first
    return Planted(wrong, found.step_b, list(_later(right, wrong, found.step_b)), told)


def _later(right: Any, wrong: Any, first: int) -> Iterable[int]:
    """The steps behind the first wrong one in which something differs too."""
    from micrograd_plus.tracing.comparison import largest_difference

    for at in range(first + 1, min(len(right.steps), len(wrong.steps))):
        one, other = right.steps[at], wrong.steps[at]
        apart = [largest_difference(getattr(one, word), getattr(other, word)) for word in ("contribution", "after")]
        if any(each is None or each > 0 for each in apart):
            yield at
