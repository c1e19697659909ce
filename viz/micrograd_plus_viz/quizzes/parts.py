"""A payload cut into parts: what a page may hold before the first question, and what each answer adds to it.

A part holds nothing that a later one tells: no number of a later step, no formula, no walk inside, no width of a node
made for a gradient that is still to come.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from .. import layout
from ..dot import last_and_broadest
from ..payload import is_drawn_whole, payload
from ..source import Trace

WIDEST = -8.888e-88
"""What nodes are made broad enough for, whatever will arrive there."""
ARRIVING = ("contribution", "before", "after", "raw", "local")


def parts_of(trace: Trace, note: str | None, stops: list[int]) -> list[dict[str, Any]]:
    """The payload up to each of the steps `stops`, by their places, and what is left; to be put together one after
    the other. Each but the last says as `known` what the step that follows is handed, and what it adds to."""
    whole = untold(trace, note)
    bounds = [0, *stops, len(whole["steps"])]
    values = _Places(whole["values"])
    known: dict[str, set[Any]] = {"rules": set(), "formulas": set()}
    parts = []
    for start, stop in pairwise(bounds):
        part = _part(whole, values, known, start, stop)
        if not parts:
            part |= _static(whole, values)
            part["walks"] += part.pop("later")
        if len(parts) < len(stops):
            asked = whole["steps"][stop]
            arrived = {name: values.new(place) for name, place in asked["upstreams"].items()}
            part["known"] = {"arrived": arrived, "before": values.new(asked["before"])}
        if stop == bounds[-1] and len(parts) == len(stops):
            part["gradients"] = [each | {"value": values.new(each["value"])} for each in whole["gradients"]]
            part |= {"error": whole["error"], "odd": whole["odd"]}
        part["pending"] = _pending(whole, stop)
        part["values"] = values.taken()
        parts.append(part)
    return parts


def untold(trace: Trace, note: str | None) -> dict[str, Any]:
    """The payload with nodes that are as broad as if any gradient may come, and none written in them."""
    blank = blanked(trace)
    whole = payload(trace, note, layout.placed(blank) if is_drawn_whole(trace) else None)
    written, broadest = last_and_broadest(blank)
    whole["labels"] = [
        [label.name, label.value, None if label.gradient is None else "", round(broad, 1)]
        for label, broad in zip(written, broadest, strict=True)
    ]
    return whole


def blanked(trace: Trace) -> Trace:
    """The trace with one number in the place of all that arrives anywhere."""
    place = len(trace["values"])
    same = {"shape": [], "dtype": "float64", "data": [WIDEST], "corner": None, "thumbnail": None, "statistics": None}
    steps = [
        step | {word: None if step[word] is None and word != "after" else place for word in ARRIVING}
        for step in trace["steps"]
    ]
    return trace | {"values": [*trace["values"], same], "steps": steps, "gradients": []}


def before(trace: Trace, stop: int) -> Trace:
    """The trace as far as its first `stop` steps, for a picture of it."""
    return trace | {"steps": trace["steps"][:stop], "gradients": [], "error": None}


def _static(whole: dict[str, Any], values: _Places) -> dict[str, Any]:
    """What is told from the start: the program, and what was there before its walk."""
    told = {name: thing for name, thing in whole.items() if name not in
            ("steps", "values", "formulas", "rules", "insides", "walks", "gradients", "error", "odd")}  # fmt: skip
    told["nodes"] = [node | {"value": values.new(node["value"])} for node in whole["nodes"]]
    told["walks"] = [_walk(each, values) for each in whole["walks"][:1]]
    return told | {"gradients": [], "error": None}


def _part(whole: dict[str, Any], values: _Places, known: dict[str, set[Any]], start: int, stop: int) -> dict[str, Any]:
    """The steps from `start` to `stop`, and what they are told with."""
    last = {step["node"]: i for i, step in enumerate(whole["steps"])}
    steps = [_step(step, values) for step in whole["steps"][start:stop]]
    final = stop == len(whole["steps"])
    rules = {step["rule"] for step in steps} - known["rules"]
    formulas = {step["formula"] for step in steps if step["formula"] is not None} - known["formulas"]
    known["rules"] |= rules
    known["formulas"] |= formulas

    def opens(node: int) -> bool:
        # A walk inside shows all that its node sends; one that is shown for another has to be there as well.
        like = whole["insides"][node]
        at = max(last.get(each, len(whole["steps"])) for each in {node, like if isinstance(like, int) else node})
        return start <= at < stop or (final and at >= stop)

    return {
        "steps": steps,
        "rules": {name: whole["rules"][name] for name in sorted(rules)},
        "formulas": {place: whole["formulas"][place] for place in sorted(formulas)},
        "insides": {node: inside for node, inside in whole["insides"].items() if opens(node)},
        "later": [_walk(each, values) for each in whole["walks"][1:] if start <= each["at"] < stop],
    }  # fmt: skip


def _walk(walk: dict[str, Any], values: _Places) -> dict[str, Any]:
    return walk | {"starts": {node: values.new(place) for node, place in walk["starts"].items()}}


def _pending(whole: dict[str, Any], stop: int) -> list[int]:
    """The nodes that steps from `stop` on concern, which are not finished then."""
    travelled = [edge for step in whole["steps"][stop:] for edge in (step["edge"], *step["passed"])]
    return sorted({end for edge in travelled for end in whole["edges"][edge][:2]})


def _step(step: dict[str, Any], values: _Places) -> dict[str, Any]:
    named = {name: {key: values.new(place) for key, place in step[name].items()} for name in ("upstreams", "reads")}
    return step | named | {word: values.new(step[word]) for word in ARRIVING}


class _Places:
    """Values in the order in which they are first told, and their places in it."""

    def __init__(self, values: list[Any]) -> None:
        self._values, self._places, self._told = values, {}, 0

    def new(self, old: int | None) -> int | None:
        """The place of a value that is told from now on."""
        if old is None:
            return None
        return self._places.setdefault(old, len(self._places))

    def taken(self) -> list[Any]:
        """The values that came to be told since this was last asked."""
        fresh = list(self._places)[self._told :]
        self._told = len(self._places)
        return [self._values[old] for old in fresh]


def steps_at(trace: Trace, numbers: Iterable[int]) -> list[int]:
    """The places of steps that are called by the numbers they have in the walk; ValueError where there is none."""
    first, count = trace["first"], len(trace["steps"])
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or not first < number <= first + count:
            there = f"{first + 1} to {first + count}" if count else "none"
            raise ValueError(f"there is no step {number!r} to ask for: the steps are {there}")
    return [number - 1 - first for number in numbers]
