"""Payload in parts: the state before the first question, and an addition for each answer.

No part reveals a later one: it has no number, formula or inner walk of a later step, no value that the program computes
after the walk in question, and node widths do not depend on gradients to come. A program may well compute with its
gradients: with their norm, in a penalty, or in the next round of a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import accumulate, pairwise
from operator import or_
from typing import Any

from .. import words
from ..dot import final_labels_and_widths
from ..journal import changes_before_values, nodes_known_at
from ..payload import payload
from ..trace_input import Trace, normalize, trace_data
from .sealed_answers import hide_shape, shape_text

WIDEST = -8.888e-88
"""A number as wide as any gradient, which reserves room in the nodes."""
ARRIVING = ("contribution", "before", "after", "raw", "local")
OF_NODES = ("nodes", "names", "called", "terms", "labels")
"""Parts of a payload with one entry for each node."""
OF_THE_END = ("error", "odd", "caught")
NOT_YET = "The program computes it after this walk, perhaps from its gradients."


def split_payload(trace: Trace, note: str | None, stops: list[int]) -> list[dict[str, Any]]:
    """Return the payload up to each of the steps `stops`, and the rest.

    The page joins the parts. Each part but the last has as `known` the values that the next step reads and the value it
    adds to.
    """
    every_node = set(range(len(trace["nodes"])))
    known = [*accumulate((nodes_known_at(trace, stop) for stop in stops), or_), every_node]
    full = empty_payload(trace, note, every_node - known[0])
    early_steps = [change.steps for _, change in changes_before_values(trace)]
    bounds = [0, *stops, len(full["steps"])]
    values = _Places(full["values"])
    sent_before: dict[str, set[Any]] = {"rules": set(), "formulas": set()}
    parts = []
    for start, stop in pairwise(bounds):
        part = _part(full, values, sent_before, start, stop)
        if not parts:
            part |= _nodes_so_far(full, values, trace, known[0]) | _static(full, values)
        else:
            part["born"] = _born_nodes(full, values, sorted(known[len(parts)] - known[len(parts) - 1]))
        part |= {"walks": _begun_walks(full, values, stop), "early": _early(full, early_steps, values, stop)}
        if len(parts) < len(stops):
            next_step = full["steps"][stop]
            arrived = {name: values.new(place) for name, place in next_step["upstreams"].items()}
            part["known"] = {"arrived": arrived, "before": values.new(next_step["before"])}
        if stop == bounds[-1] and len(parts) == len(stops):
            part["gradients"] = [each | {"value": values.new(each["value"])} for each in full["gradients"]]
            part |= {name: full[name] for name in OF_THE_END}
        part["pending"] = _unfinished_nodes(full, stop)
        part["values"] = values.new_values()
        parts.append(part)
    return parts


def empty_payload(trace: Trace, note: str | None, later: Collection[int] = ()) -> dict[str, Any]:
    """Return the payload without gradients, with room for any gradient in its nodes, and for any number in `later`
    ones."""
    blank = blank_values(trace)
    full = payload(trace, note)
    written, broadest = final_labels_and_widths(blank)
    if later:
        widest = [node | {"value": len(trace["values"])} if node["id"] in later and words.scalar(trace, node["value"])
                  else node for node in trace["nodes"]]  # fmt: skip
        broadest = final_labels_and_widths(blank | {"nodes": widest})[1]
    full["labels"] = [
        [label.name, label.value, None if label.gradient is None else "", round(broad, 1)]
        for label, broad in zip(written, broadest, strict=True)
    ]
    return full


def blank_values(trace: Trace) -> Trace:
    """Return the trace with one number instead of every gradient."""
    place = len(trace["values"])
    same = {"shape": [], "dtype": "float64", "data": [WIDEST], "corner": None, "thumbnail": None, "statistics": None}
    steps = [
        step | {word: None if step[word] is None and word != "after" else place for word in ARRIVING}
        for step in trace["steps"]
    ]
    journal = [entry | ({"after": place} if entry["of"] == "gradient" and entry["after"] is not None else {})
               for entry in trace["journal"]]
    return trace | {"values": [*trace["values"], same], "steps": steps, "journal": journal, "gradients": []}


def hide_later_nodes(trace: Trace, known: set[int]) -> Trace:
    """Return the trace without the values of nodes that are not `known`; a constant would be called by its value."""
    return trace | {"nodes": [
        node if node["id"] in known else
        node | {"value": None} | ({"title": "constant"} if words.is_constant(trace, node) else {})
        for node in trace["nodes"]
    ]}  # fmt: skip


def before(trace: Trace, stop: int, hides: str | None = None) -> Trace:
    """Return the trace up to its first `stop` steps, for a picture, without values that the program computes later.

    If the next step's question `hides` a shape, nodes of that shape and the receiver have no value.
    """
    seen = trace | {"steps": trace["steps"][:stop], "gradients": [], "error": None}
    if stop < len(trace["steps"]):
        seen = hide_later_nodes(seen, nodes_known_at(trace, stop))
    if hides is None:
        return seen
    asked = {place for place, value in enumerate(trace["values"]) if shape_text(value["shape"]) == hides}
    receiver, shape = words.step_edges(trace)[stop][2], [int(length) for length in hides.split(",") if length]
    return seen | {"nodes": [
        node | {"title": hide_shape(node["title"], shape)}
        | ({"value": None} if node["value"] in asked or node["id"] == receiver else {})
        for node in seen["nodes"]
    ]}  # fmt: skip


def _static(full: dict[str, Any], values: _Places) -> dict[str, Any]:
    """Return the data known from the start: the program, and the values before its walk."""
    of_parts = {
        "steps", "values", "formulas", "rules", "insides", "walks", "early", "gradients", *OF_NODES, *OF_THE_END,
    }  # fmt: skip
    static = {name: thing for name, thing in full.items() if name not in of_parts}
    return static | {"gradients": [], "error": None, "caught": []}


def _nodes_so_far(full: dict[str, Any], values: _Places, trace: Trace, known: set[int]) -> dict[str, Any]:
    """Return the rows of all nodes. Later nodes have no value yet."""
    hidden = hide_later_nodes(trace, known)
    names = words.names(hidden)
    kept: dict[str, list[Any]] = {word: list(full[word]) for word in OF_NODES}
    for i in set(range(len(names))) - known:
        name, _, gradient, breadth = full["labels"][i]
        kept["labels"][i] = [name if names[i] == full["names"][i] else names[i], None, gradient, breadth]
        kept["nodes"][i] = full["nodes"][i] | {"value": None, "params": {}, "withheld": NOT_YET}
        kept["names"][i], kept["called"][i] = names[i], None
    kept["nodes"] = [node | {"value": values.new(node["value"])} for node in kept["nodes"]]
    return kept


def _born_nodes(full: dict[str, Any], values: _Places, fresh: list[int]) -> dict[int, Any]:
    """Return the rows of nodes that the program has computed since the question before."""
    rows = {i: {word: full[word][i] for word in OF_NODES} for i in fresh}
    return {i: row | {"nodes": row["nodes"] | {"value": values.new(row["nodes"]["value"])}} for i, row in rows.items()}


def _part(
    full: dict[str, Any], values: _Places, sent_before: dict[str, set[Any]], start: int, stop: int
) -> dict[str, Any]:
    """Return the steps from `start` to `stop` with their data."""
    last = {step["node"]: i for i, step in enumerate(full["steps"])}
    steps = [_step(step, values) for step in full["steps"][start:stop]]
    final = stop == len(full["steps"])
    rules = {step["rule"] for step in steps} - sent_before["rules"]
    formulas = {step["formula"] for step in steps if step["formula"] is not None} - sent_before["formulas"]
    sent_before["rules"] |= rules
    sent_before["formulas"] |= formulas

    def opens(node: int) -> bool:
        # An inner walk reveals everything that its node sends; a walk that represents others must be included as well.
        like = full["insides"][node]
        at = max(last.get(each, len(full["steps"])) for each in {node, like if isinstance(like, int) else node})
        return start <= at < stop or (final and at >= stop)

    return {
        "steps": steps,
        "rules": {name: full["rules"][name] for name in sorted(rules)},
        "formulas": {place: full["formulas"][place] for place in sorted(formulas)},
        "insides": {node: inside for node, inside in full["insides"].items() if opens(node)},
    }  # fmt: skip


def _begun_walks(full: dict[str, Any], values: _Places, stop: int) -> list[dict[str, Any]]:
    """Return the walks that have begun when step `stop` is taken. The one that it belongs to is without the gradients
    at its end, which would give answers away."""
    begun = [walk for walk in full["walks"] if walk["at"] <= stop]
    return [
        walk | {
            "starts": {node: values.new(place) for node, place in walk["starts"].items()},
            "values": {node: [values.new(place), text] for node, (place, text) in walk["values"].items()},
            "ends": {node: values.new(place) for node, place in walk["ends"].items()}
            if walk is not begun[-1] or stop == len(full["steps"]) else {},
        }
        for walk in begun
    ]  # fmt: skip


def _early(full: dict[str, Any], steps: list[int], values: _Places, stop: int) -> list[dict[str, Any]]:
    """Return what leaves have as values are computed. What they have after step `stop` follows from it, so it is
    unknown."""
    return [
        each | {
            "values": {leaf: [values.new(place), text] if taken <= stop else [None, ""]
                       for leaf, (place, text) in each["values"].items()},
            "gradients": {leaf: values.new(place) if taken <= stop else None
                          for leaf, place in each["gradients"].items()},
        }
        for each, taken in zip(full["early"], steps, strict=True)
    ]  # fmt: skip


def _unfinished_nodes(full: dict[str, Any], stop: int) -> list[int]:
    """Return the nodes that steps from `stop` on still change."""
    edges_taken = [edge for step in full["steps"][stop:] for edge in (step["edge"], *step["passed"])]
    return sorted({end for edge in edges_taken for end in full["edges"][edge][:2]})


def _step(step: dict[str, Any], values: _Places) -> dict[str, Any]:
    named = {name: {key: values.new(place) for key, place in step[name].items()} for name in ("upstreams", "reads")}
    return step | named | {word: values.new(step[word]) for word in ARRIVING}


class _Places:
    """Values in order of first use, and their indices."""

    def __init__(self, values: list[Any]) -> None:
        self._values, self._places, self._count_sent = values, {}, 0

    def new(self, old: int | None) -> int | None:
        """Return the index of a value, added if it is new."""
        if old is None:
            return None
        return self._places.setdefault(old, len(self._places))

    def new_values(self) -> list[Any]:
        """Return the values added since the last call."""
        fresh = list(self._places)[self._count_sent :]
        self._count_sent = len(self._places)
        return [self._values[old] for old in fresh]


def steps_at(trace: Trace, numbers: Iterable[int]) -> list[int]:
    """Return the indices of steps, given their numbers in the walk, or raise ValueError."""
    first, count = trace["first"], len(trace["steps"])
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or not first < number <= first + count:
            there = f"{first + 1} to {first + count}" if count else "none"
            raise ValueError(f"there is no step {number!r} to ask about: the steps are {there}")
    return [number - 1 - first for number in numbers]


def is_name_of_step(step: Any) -> bool:
    """Return whether a step is named by what it reaches: `"w"`, or `("matmul", "w")`."""
    return isinstance(step, str) or (isinstance(step, tuple) and list(map(type, step)) == [str, str])


def numbers_of_steps(trace: Any, steps: Iterable[Any]) -> tuple[Any, list[Any]]:
    """Return the trace as data, and the numbers of steps in order; a name means the last step that reaches a value."""
    wanted = list(steps)
    if any(map(is_name_of_step, wanted)):
        trace = normalize(trace_data(trace))
        wanted = [number_of_step(trace, each) if is_name_of_step(each) else each for each in wanted]
    return trace, sorted(set(wanted))


def number_of_step(trace: Trace, name: str | tuple[str, str]) -> int:
    """Return the number of the last step that reaches a value, through an operation if one is named."""
    operation, receiver = (None, name) if isinstance(name, str) else name
    known = words.program_names(trace)
    ends = [end for _, _, end in words.step_edges(trace)]
    for at in reversed(range(len(ends))):
        applied = trace["steps"][at]["rule"].partition(".")[0]
        if known[ends[at]] == receiver and operation in (None, applied):
            return at + 1
    through = f" through {operation!r}" if operation else ""
    there = ", ".join(sorted({repr(known[end]) for end in ends if known[end]}))
    raise ValueError(f"no step of this walk reaches {receiver!r}{through}; it reaches {there}")
