"""A long walk, cut to the steps a page can hold."""

from __future__ import annotations

from typing import Any

from .source import Trace, normal, trace_data
from .words import broke_off, names

MOST_STEPS = 1000
MOST_ON_A_PAGE = 2000
"""A page of its own has up to so many steps, in parts."""
MOST_PICTURED = 4000
"""A still picture has the graph of up to so many steps."""
MOST_WHOLE, MOST_TOUCHED = 40, 28
"""Pictures show graphs of up to so many nodes whole; of larger ones parts of up to the second number."""
PLACES = ("upstream", "local", "raw", "contribution", "before", "after")


def shown(trace: Any, start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """What a page holds of whatever may be handed in as a trace, in the form that is shown, and a sentence about what
    was left out.

    A trace that is short enough comes back whole, with None. ValueError where there is no step `start`.
    """
    if hasattr(trace, "to_dict") and start == 0 and len(trace.steps) <= length and len(trace.nodes) <= 2 * length:
        return normal(trace_data(trace)), None
    return window(normal(trace_data(trace, start, length)), start, length)


def parts(trace: Any, start: int = 0, length: int = MOST_ON_A_PAGE) -> list[tuple[Trace, str | None]]:
    """A walk, or `length` steps of it from `start` on, in parts of at most 1000 steps, each with what it is."""
    first, note = shown(trace, start, min(length, MOST_STEPS))
    found, stop = [first], min(first["total"], start + length)
    while found[-1]["part"] and (done := found[-1]["first"] + len(found[-1]["steps"])) < stop:
        found.append(shown(trace, done, min(stop - done, MOST_STEPS))[0])
    if len(found) == 1:
        return [(first, note)]
    rest = f"; viz.save(trace, path, start={stop}) has the next ones." if stop < first["total"] else "."
    said = f"This page has steps {start + 1} to {stop} of {first['total']} in {len(found)} parts, one after the other"
    return [(part, said + rest) for part in found]


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


def holding(trace: Any, steps: list[int], start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """What is needed of a trace to draw some of its steps; without any what `shown` gives.

    No more of a long record is made than the steps and what lies round them.
    """
    if not steps:
        return shown(trace, start, length)
    count = len(trace.steps) if hasattr(trace, "to_dict") else 0
    if count <= MOST_STEPS or min(steps) < 0 or max(steps) > count + 1:
        return normal(trace_data(trace)), None
    first = min(max(0, min(steps) - MOST_TOUCHED), count - 1)
    return shown(trace, first, max(steps) - first + MOST_TOUCHED)


def stretches(trace: Trace) -> list[tuple[int, int]]:
    """Where the parts of a walk begin and end that each can be drawn whole: a graph of up to 40 nodes is one part."""
    if len(trace["nodes"]) <= MOST_WHOLE or not trace["steps"]:
        return [(0, len(trace["steps"]))]
    starts, touched = [0], set[int]()
    for i, step in enumerate(trace["steps"]):
        here = _concerned(trace, step)
        if i > starts[-1] and len(touched | here) > MOST_TOUCHED:
            starts.append(i)
            touched = set()
        touched |= here
    return list(zip(starts, [*starts[1:], len(trace["steps"])], strict=True))


def part(trace: Trace, start: int, stop: int) -> Trace:
    """The steps from one to before another, with the nodes that they touch; all of them are the trace itself."""
    return trace if (start, stop) == (0, len(trace["steps"])) else _part(trace, start, stop)


def around(trace: Trace, index: int) -> Trace:
    """The part of a walk round its step `index`, so large that it is drawn whole; a graph of up to 40 nodes is one."""
    steps, first = trace["steps"], trace["first"]
    last = first + len(steps) + (broke_off(trace) is not None)
    if not first <= index <= last:
        raise ValueError(unknown_step(trace, index))
    if len(trace["nodes"]) <= MOST_WHOLE or not steps:
        return trace
    start = min(max(0, index - first - 1), len(steps) - 1)
    stop, touched = start + 1, _concerned(trace, steps[start])
    grown = True
    while grown:
        grown = False
        for at in (start - 1, stop):
            if 0 <= at < len(steps) and len(more := touched | _concerned(trace, steps[at])) <= MOST_TOUCHED:
                start, stop, touched, grown = min(start, at), max(stop, at + 1), more, True
    return part(trace, start, stop)


def unknown_step(trace: Trace, index: int) -> str:
    """The sentence about a step that a walk does not have."""
    first = trace["first"]
    last = first + len(trace["steps"]) + (broke_off(trace) is not None)
    if first == last:
        return f"there is no step {index}: no rule is applied in this walk, and {first} is its start"
    return f"there is no step {index}: steps are numbered {first + 1} to {last}, and {first} is the start"


def _concerned(trace: Trace, step: Trace) -> set[int]:
    """The nodes that a part with this step has because of it."""
    return {step["node"], step["target"], *(each["node"] for each in trace["nodes"][step["node"]]["inputs"])}


def _part(trace: Trace, start: int, stop: int) -> Trace:
    """The trace of some of the steps, with nodes and values numbered anew."""
    steps = trace["steps"][start:stop]
    walk = dict(trace["walks"][steps[0]["walk"]] if steps else trace["walk"])
    begin = trace["first"] + start
    if begin > walk["first"]:
        walk |= {"root": steps[0]["node"], "seed": steps[0]["upstream"]}
    called = names(trace)
    applied = {step["node"] for step in steps}
    error = broke_off(trace) if stop == len(trace["steps"]) else None
    failed = {error["node"]} - {None} if error else set()
    numbers = {old: new for new, old in enumerate(_touched(trace, steps, {walk["root"]} | failed))}
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
    of_nodes = trace["part"]["of_nodes"] if trace["part"] else len(trace["nodes"])
    return trace | {
        "first": begin,
        "part": {"first": begin, "steps": len(steps), "of_steps": trace["total"], "of_nodes": of_nodes},
        "error": trace["error"] and trace["error"] | {"node": numbers.get(trace["error"]["node"])},
        "walks": [_walk(each, numbers, values) for each in trace["walks"]],
        "not_finite": [
            each | {"node": numbers[each["node"]]} for each in trace.get("not_finite", []) if each["node"] in numbers
        ],
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


def _touched(trace: Trace, steps: list[Trace], others: set[int]) -> list[int]:
    """The nodes that steps concern, each result of several with its application, and others, in order of creation."""
    nodes = trace["nodes"]
    touched = others | {step["target"] for step in steps}
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
