"""A long walk, cut to the steps a page can hold."""

from __future__ import annotations

from typing import Any

from .source import Trace, normal, trace_data
from .words import names

MOST_STEPS = 1000
PLACES = ("upstream", "local", "raw", "contribution", "before", "after")


def shown(trace: Any, start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """What a page holds of whatever may be handed in as a trace, in the form that is shown, and a sentence about what
    was left out.

    A trace that is short enough comes back whole, with None. ValueError where there is no step `start`.
    """
    if hasattr(trace, "to_dict") and start == 0 and len(trace.steps) <= length and len(trace.nodes) <= 2 * length:
        return normal(trace_data(trace)), None
    return window(normal(trace_data(trace, start, length)), start, length)


def window(trace: Trace, start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """The part of a trace that a stretch of its steps touches, and a sentence about what was left out.

    Names and numbers stay those of the whole. A trace that is a part already is taken as it is.
    """
    trace = normal(trace)
    count = trace["total"]
    if not trace["part"]:
        if start == 0 and count <= length and len(trace["nodes"]) <= 2 * length:
            return trace, None
        if not 0 <= start < max(1, count):
            raise ValueError(f"start is {start}, but the walk's steps are numbered 0 to {count - 1}")
        trace = _part(trace, start, min(count, start + length))
    first = trace["first"]
    stop = first + len(trace["steps"])
    note = f"This page has steps {first + 1} to {stop} of {count}, and the {len(trace['nodes'])} nodes that they touch"
    return trace, note + (f"; viz.show(trace, start={stop}) has the next ones." if stop < count else ".")


def _part(trace: Trace, start: int, stop: int) -> Trace:
    """The trace of some of the steps, with nodes and values numbered anew."""
    steps = trace["steps"][start:stop]
    walk = dict(trace["walks"][steps[0]["walk"]] if steps else trace["walk"])
    if start > walk["first"]:
        walk |= {"root": steps[0]["node"], "seed": steps[0]["upstream"]}
    called = names(trace)
    applied = {step["node"] for step in steps}
    numbers = {old: new for new, old in enumerate(_touched(trace, steps, walk["root"]))}
    values = _Places(trace["values"])
    nodes = []
    for old, new in numbers.items():
        node = trace["nodes"][old]
        read = node["inputs"] if old in applied or node["kind"] == "output" else []
        inputs = [{"name": e["name"], "node": numbers[e["node"]]} for e in read]
        nodes.append(node | {"id": new, "name": called[old], "inputs": inputs, "value": values.new(node["value"])})
    for i, step in enumerate(steps):
        renumbered = {"node": numbers[step["node"]], "target": numbers[step["target"]]}
        reads = {name: values.new(place) for name, place in step["reads"].items()}
        steps[i] = step | renumbered | {"reads": reads} | {word: values.new(step[word]) for word in PLACES}
    gradients = [g for g in trace["gradients"] if g["node"] in numbers] if stop == len(trace["steps"]) else []
    return trace | {
        "first": start,
        "part": {"first": start, "steps": len(steps), "of_steps": len(trace["steps"]), "of_nodes": len(trace["nodes"])},
        "walks": [_walk(each, numbers, values) for each in trace["walks"]],
        "walk": walk | {"root": numbers[walk["root"]], "seed": values.new(walk["seed"])},
        "nodes": nodes,
        "steps": steps,
        "rules": {step["rule"]: trace["rules"][step["rule"]] for step in steps},
        "gradients": [{"node": numbers[g["node"]], "value": values.new(g["value"])} for g in gradients],
        "values": values.kept,
    }


def _walk(walk: Trace, numbers: dict[int, int], values: _Places) -> Trace:
    """A walk whose root may not be in the part."""
    error = walk["error"]
    return walk | {
        "root": numbers.get(walk["root"]),
        "seed": values.new(walk["seed"]),
        "error": error and error | {"node": numbers.get(error["node"])},
    }


def _touched(trace: Trace, steps: list[Trace], root: int) -> list[int]:
    """The nodes that steps concern, each result of several with its application, in order of creation."""
    nodes = trace["nodes"]
    touched = {root} | {step["target"] for step in steps}
    for step in steps:
        touched |= {step["node"]} | {e["node"] for e in nodes[step["node"]]["inputs"]}
    touched |= {e["node"] for i in touched if nodes[i]["kind"] == "output" for e in nodes[i]["inputs"]}
    return sorted(touched)


class _Places:
    """The values that are still referred to, and their new places."""

    def __init__(self, values: list[Trace]) -> None:
        self._values, self._places, self.kept = values, {}, []

    def new(self, old: int | None) -> int | None:
        """The new place of a value; it is kept from now on."""
        if old is not None and old not in self._places:
            self._places[old] = len(self.kept)
            self.kept.append(self._values[old])
        return None if old is None else self._places[old]
