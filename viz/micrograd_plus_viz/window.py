"""Selection of the part of a long walk that a page can hold."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from .collector import without_collections
from .trace_input import Trace, normalize, trace_data
from .words import names, walk_error

MOST_STEPS = 1000
MOST_ON_A_PAGE = 2000
"""Maximum number of steps on a page, loaded in parts."""
MOST_PICTURED = 4000
"""Maximum number of steps whose graph a still picture shows."""
AROUND = 28
"""Number of steps before and after a step that its picture knows in a long recording."""
PLACES = ("upstream", "local", "raw", "contribution", "before", "after")


@without_collections()
def load_window(trace: Any, start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """Return the steps of a trace that one page can hold, and a sentence about omitted ones.

    `trace` is any form of a trace. A short trace is returned in full, with None. Raises ValueError if there is no step
    `start`.
    """
    if hasattr(trace, "to_dict") and start == 0 and len(trace.steps) <= length and len(trace.nodes) <= 2 * length:
        return normalize(trace_data(trace)), None
    return window(normalize(trace_data(trace, start, length)), start, length)


def load_parts(trace: Any, start: int = 0, length: int = MOST_ON_A_PAGE) -> list[tuple[Trace, str | None]]:
    """Return `length` steps from `start` on in parts of at most 1000, each with its description."""
    first, note = load_window(trace, start, min(length, MOST_STEPS))
    result, stop = [first], min(first["total"], start + length)
    while result[-1]["part"] and (done := result[-1]["first"] + len(result[-1]["steps"])) < stop:
        following, _ = load_window(trace, done, min(stop - done, MOST_STEPS))
        if following["first"] != done:  # data of a part knows no steps after its own
            break
        result.append(following)
    if len(result) == 1:
        return [(first, note)]
    rest = f"; viz.save(trace, path, start={stop}) has the next ones." if stop < first["total"] else "."
    sentence = (
        f"This page has steps {start + 1} to {stop} of {first['total']} in {len(result)} consecutive parts"
    )
    return [(part, sentence + rest) for part in result]


def window(trace: Trace, start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """Return the part of a trace that a range of steps uses, and a sentence about omitted steps.

    The part has the names and numbers of the full trace. A partial trace is returned unchanged.
    """
    trace = normalize(trace)
    count = trace["total"]
    if not trace["part"]:
        if start == 0 and count <= length and len(trace["nodes"]) <= 2 * length:
            return trace, None
        if not 0 <= start < max(1, count):
            raise ValueError(f"start is {start}, but the walk's steps are numbered 0 to {count - 1}")
        trace = _part(trace, start, min(count, start + length))
    first = trace["first"]
    stop = first + len(trace["steps"])
    note = f"This page has steps {first + 1} to {stop} of {count}, and the {len(trace['nodes'])} nodes that they use"
    return trace, note + (f"; viz.show(trace, start={stop}) has the next ones." if stop < count else ".")


def load_steps(trace: Any, steps: list[int], start: int = 0, length: int = MOST_STEPS) -> tuple[Trace, str | None]:
    """Return the part that a picture of some steps needs; without steps, the same as `load_window`.

    Only these steps and their neighbours are built from a long recording.
    """
    if not steps:
        return load_window(trace, start, length)
    count = len(trace.steps) if hasattr(trace, "to_dict") else 0
    if count <= MOST_STEPS or min(steps) < 0 or max(steps) > count + 1:
        return normalize(trace_data(trace)), None
    first = min(max(0, min(steps) - AROUND), count - 1)
    return load_window(trace, first, max(steps) - first + AROUND)


def check_index(index: Any) -> int:
    """Return a number of steps as an `int`. Raises TypeError for anything but a whole number."""
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError(f"index is the number of steps after which a walk opens, such as 3; got {index!r}") from None


def unknown_step(trace: Trace, index: int) -> str:
    """Return an error message about a step that does not exist."""
    first = trace["first"]
    last = first + len(trace["steps"]) + (walk_error(trace) is not None)
    if first == last:
        return f"there is no step {index}: no rule is applied in this walk, and {first} is its start"
    return f"there is no step {index}: steps are numbered {first + 1} to {last}, and {first} is the start"


def _part(trace: Trace, start: int, stop: int) -> Trace:
    """Return the trace of some steps, with nodes and values renumbered."""
    steps = trace["steps"][start:stop]
    walk = _walk_of_part(trace, start, steps)
    applied = {step["node"] for step in steps}
    error = walk_error(trace) if stop == len(trace["steps"]) else None
    failed = {error["node"]} - {None} if error else set()
    order = _nodes_to_keep(trace, steps, {walk["root"]} | failed)
    node_names = names(trace)
    return _renumber(trace, start, stop, order, [node_names[node] for node in order], _Places(trace["values"]), applied)


class LeavesAt(NamedTuple):
    """State of the leaves at a place of the journal: their gradients, and the values that the program has written."""

    place: int
    gradients: dict[int, int | None]
    written: dict[int, int | None]


def part_in_order(
    trace: Trace, start: int, stop: int, order: list[int], node_names: list[str], since: LeavesAt
) -> Trace:
    """Return the trace of some steps with its nodes in a given order and under other names. It shares its values.

    `since` is a place in the journal before these steps.
    """
    applied = {step["node"] for step in trace["steps"][start:stop]}
    return _renumber(trace, start, stop, order, node_names, _SamePlaces(trace["values"]), applied, since)


def _walk_of_part(trace: Trace, start: int, steps: list[Trace]) -> Trace:
    """Return the walk of the first of some steps, as if it began there."""
    walk = dict(trace["walks"][steps[0]["walk"]] if steps else trace["walk"])
    if trace["first"] + start > walk["first"]:
        walk |= {"root": steps[0]["node"], "seed": steps[0]["upstream"]}
    return walk


def _renumber(
    trace: Trace, start: int, stop: int, order: list[int], node_names: list[str], values: _Places, applied: set[int],
    since: LeavesAt | None = None,
) -> Trace:  # fmt: skip
    """Return the trace of some steps with the nodes in `order`."""
    steps = trace["steps"][start:stop]
    begin, walk = trace["first"] + start, _walk_of_part(trace, start, steps)
    numbers = {old: new for new, old in enumerate(order)}
    journal, held = _journal_of_part(trace, begin, stop - start, numbers, values, since)
    nodes = []
    for (old, new), name in zip(numbers.items(), node_names, strict=True):
        node = trace["nodes"][old]
        read = node["inputs"] if old in applied or node["kind"] == "output" or node["dead"] else []
        inputs = [{"name": e["name"], "node": numbers[e["node"]]} for e in read if e["node"] in numbers]
        value = values.new(held.get(old, node["value"]))
        nodes.append(node | {"id": new, "title": name, "inputs": inputs, "value": value})
    for i, step in enumerate(steps):
        renumbered = {"node": numbers[step["node"]], "target": numbers[step["target"]]}
        reads = {name: values.new(place) for name, place in step["reads"].items()}
        steps[i] = step | renumbered | {"reads": reads} | {word: values.new(step[word]) for word in PLACES}
    gradients = [g for g in trace["gradients"] if g["node"] in numbers] if stop == len(trace["steps"]) else []
    of_nodes = trace["part"]["of_nodes"] if trace["part"] else len(trace["nodes"])
    return trace | {
        "first": begin,
        "part": {"first": begin, "steps": len(steps), "of_steps": trace["total"], "of_nodes": of_nodes,
                 "unreached": [node["id"] for node in nodes if node["dead"] and node["requires_grad"]]},
        "error": trace["error"] and trace["error"] | {"node": numbers.get(trace["error"]["node"])},
        "walks": [_walk(each, numbers, values) for each in trace["walks"]],
        "not_finite": [
            each | {"node": numbers[each["node"]]} for each in trace["not_finite"] if each["node"] in numbers
        ],
        "walk": walk | {"root": numbers[walk["root"]], "seed": values.new(walk["seed"])},
        "nodes": nodes,
        "steps": steps,
        "rules": {step["rule"]: trace["rules"][step["rule"]] for step in steps},
        "gradients": [{"node": numbers[g["node"]], "value": values.new(g["value"])} for g in gradients],
        **journal,
        "values": values.used,
    }


def _journal_of_part(
    trace: Trace, begin: int, count: int, numbers: dict[int, int], values: _Places, since: LeavesAt | None
) -> tuple[Trace, dict[int, int | None]]:
    """Return the journal of some steps, with the gradients of leaves where it begins; and their values there."""
    place, gradients, written = since or LeavesAt(0, {each["node"]: each["value"] for each in trace["starts"]}, {})
    rest: list[Trace] = trace["journal"][place:]
    for at, entry in enumerate(rest):
        if entry["kind"] == "arrive" and entry["first"] + entry["count"] > begin:
            if begin <= entry["first"]:
                while at and rest[at - 1]["kind"] == "recompute":
                    at -= 1
                at = max(0, at - 1)  # the beginning of the walk
            rest = rest[at:]
            break
        if entry["of"] is not None and entry["kind"] not in ("hook", "return") and entry["node"] is not None:
            (gradients if entry["of"] == "gradient" else written)[entry["node"]] = entry["after"]
    kept = []
    for entry in rest:
        if entry["kind"] == "arrive" and entry["first"] >= begin + count:
            break
        if entry["node"] is None or entry["node"] in numbers:
            renumbered = {"node": numbers[entry["node"]] if entry["node"] is not None else None}
            kept.append(entry | renumbered | {word: values.new(entry[word]) for word in ("before", "after")})
        if entry["kind"] == "arrive" and entry["first"] + entry["count"] > begin + count:
            break
    held = [(numbers[node], place) for node, place in gradients.items() if node in numbers]
    starts = [{"node": node, "value": values.new(place)} for node, place in held]
    return {"journal": kept, "starts": starts}, written


def _walk(walk: Trace, numbers: dict[int, int], values: _Places) -> Trace:
    """Return a walk, without its root if the part does not contain it."""
    error = walk["error"]
    return walk | {
        "root": numbers.get(walk["root"]),
        "seed": values.new(walk["seed"]),
        "error": error and error | {"node": numbers.get(error["node"])},
    }


def _nodes_to_keep(trace: Trace, steps: list[Trace], others: set[int]) -> list[int]:
    """Return the nodes that some steps use, and others, in order of creation. An output stays with its application, and
    a cut with the branch behind it."""
    nodes = trace["nodes"]
    touched = others | {step["target"] for step in steps}
    for step in steps:
        touched |= {step["node"]} | {e["node"] for e in nodes[step["node"]]["inputs"]}
    touched |= {e["node"] for i in touched if nodes[i]["kind"] == "output" for e in nodes[i]["inputs"]}
    todo = [i for i in touched if nodes[i]["dead"]]
    while todo:
        behind = {e["node"] for e in nodes[todo.pop()]["inputs"]} - touched
        touched |= behind
        todo += [i for i in behind if nodes[i]["dead"]]
    return sorted(touched)


class _Places:
    """Values in use and their new indices."""

    def __init__(self, values: list[Trace]) -> None:
        self._values, self._places, self.used = values, {}, []

    def new(self, old: int | None) -> int | None:
        """Return the new index of a value, and keep the value."""
        if old is not None and old not in self._places:
            self._places[old] = len(self.used)
            self.used.append(self._values[old])
        return None if old is None else self._places[old]


class _SamePlaces(_Places):
    """All values, under the indices that they have."""

    def __init__(self, values: list[Trace]) -> None:
        super().__init__(values)
        self.used = values

    def new(self, old: int | None) -> int | None:
        """Return the same index."""
        return old
