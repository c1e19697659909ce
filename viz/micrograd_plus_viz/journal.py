"""The journal of a trace: what leaves have as each walk begins and ends, and sentences about what happened between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, takewhile
from typing import Any, NamedTuple

from .trace_input import Trace

Names = list[str] | Mapping[int, str]
"""The name of each node."""
BY_HAND = ("write", "scale", "assign", "clear")
"""Changes that a line of the program makes itself."""
MOST_NAMES = 3
"""How many names a sentence lists."""
ACTIONS = {
    "clear": "cleared the gradient of", "drop": "dropped the gradient of",
    "assign": "set the gradient of", "scale": "scaled the gradient of",
    "clip": "clipped the gradient of", "keep": "did not change the gradient of", "update": "updated",
    "write": "wrote into", "hook": "changed the gradient of", "statistics": "moved", "draw": "drew random numbers",
    "checkpoint": "would drop, without this record, the graph of",
    "recompute": "would compute again, without this record,", "rerun": "ran its function again",
}  # fmt: skip
IN_A_WALK = ("hook", "accumulate", "return", "drop", "recompute")
RUNS = ("compute", "arrive", "begin", "end")
"""Kinds of entries that change nothing: runs of values and of steps, and the borders of walks."""


class WalkState(NamedTuple):
    """What the journal says about one walk."""

    starts: dict[int, int | None]
    """The gradient of each leaf as the walk begins."""
    values: dict[int, int | None]
    """The value of each leaf that has changed before the walk."""
    ends: dict[int, int | None]
    """The gradients that the end of the walk leaves in leaves."""
    before: list[Trace]
    """What happened between the last walk with steps and this one."""
    at_end: list[Trace]
    """What hooks did to gradients of leaves at the end, and which gradients leaves did not keep."""


def walk_states(trace: Trace) -> dict[int, WalkState]:
    """Return what leaves have in each walk, by the walk's number. A trace without walks has what they have at the end,
    under 0."""
    gradients = {each["node"]: each["value"] for each in trace["starts"]}
    values: dict[int, int | None] = {}
    states: dict[int, WalkState] = {}
    waiting: list[Trace] = []

    def begin(number: int) -> WalkState:
        states[number] = state = WalkState(dict(gradients), dict(values), {}, [*waiting], [])
        if trace["walks"][number]["steps"]:
            waiting.clear()
        return state

    state = begin(trace["steps"][0]["walk"]) if trace["steps"] and trace["journal"][:1] else None
    is_over = False
    for entry in trace["journal"]:
        if entry["kind"] in ("begin", "end"):
            is_over = entry["kind"] == "end"
            state = begin(entry["walk"]) if not is_over else state
        elif is_change(entry):
            waiting += [entry] if is_over or state is None or entry["kind"] not in IN_A_WALK else []
            _carry_out(entry, gradients, values, None if is_over else state, trace)
    return states if trace["walks"] else {0: WalkState(gradients, values, {}, waiting, [])}


def _carry_out(
    entry: Trace, gradients: dict[int, int | None], values: dict[int, int | None], state: WalkState | None, trace: Trace
) -> None:
    """Change the gradient or the value of the leaf that an entry is about."""
    node = entry["node"]
    if node is None:
        return
    is_leaf = trace["nodes"][node]["kind"] == "leaf"
    if entry["kind"] in ("hook", "drop") and state is not None and is_leaf:
        state.at_end.append(entry)
    if entry["kind"] == "hook":
        return
    if state is not None and is_leaf and entry["of"] == "gradient":
        state.ends[node] = entry["after"]
    if entry["kind"] != "return":
        (values if entry["of"] == "value" else gradients)[node] = entry["after"]


def is_change(entry: Trace) -> bool:
    """Return whether an entry is a change of a value or a gradient, or a draw of random numbers."""
    return entry["kind"] not in RUNS


class EarlyChange(NamedTuple):
    """What leaves have as a value is computed, as far as it differs from the value before."""

    values: dict[int, int | None]
    gradients: dict[int, int | None]
    steps: int
    """How many steps the walks have taken before."""


def changes_before_values(trace: Trace) -> Iterator[tuple[int, EarlyChange]]:
    """Yield what leaves have as values are computed, with the first node of each run: what they had at the beginning,
    then what has changed since the run before. A part of a trace says nothing about this."""
    if trace["part"]:
        return
    begun = next(iter(walk_states(trace).values()), None)
    starts = {each["node"]: each["value"] for each in trace["starts"]}
    values: dict[int, int | None] = {}
    taken = 0
    gradients = starts if begun is None else {
        leaf: starts.get(leaf) for leaf in starts | begun.starts if starts.get(leaf) != begun.starts.get(leaf)
    }  # fmt: skip
    if begun is not None:
        values = {leaf: trace["nodes"][leaf]["value"] for leaf in begun.values}
    for entry in trace["journal"]:
        if entry["kind"] == "compute":
            if values or gradients:
                yield entry["first"], EarlyChange(values, gradients, taken)
            values, gradients = {}, {}
        elif entry["kind"] == "arrive":
            taken += entry["count"]
        elif entry["of"] is not None and entry["kind"] not in ("hook", "return") and entry["node"] is not None:
            (values if entry["of"] == "value" else gradients)[entry["node"]] = entry["after"]


def nodes_known_at(trace: Trace, at: int) -> set[int]:
    """Return the nodes that the program has computed when the walk of a step begins, and their inputs.

    The journal of a part is incomplete, so the nodes are then those up to the newest that the walk passes.
    """
    number, nodes = trace["steps"][at]["walk"], trace["nodes"]
    newest = max(end for step in trace["steps"] if step["walk"] == number for end in (step["node"], step["target"]))
    known = set(range(newest + 1))
    for entry in takewhile(lambda entry: (entry["kind"], entry["walk"]) != ("begin", number), trace["journal"]):
        if entry["kind"] == "compute" and not trace["part"]:
            known |= {i for i in range(entry["first"], entry["first"] + entry["count"]) if nodes[i]["kind"] != "leaf"}
    return known | {each["node"] for i in known for each in nodes[i]["inputs"]}


def second_runs(trace: Trace) -> Iterator[tuple[int, list[Trace]]]:
    """Yield what checkpoints would compute again in walks, each with the number of the step before which they would."""
    again: list[Trace] = []
    for entry in trace["journal"]:
        if entry["kind"] == "recompute":
            again.append(entry)
        elif entry["kind"] == "arrive" and again:
            yield entry["first"], again
            again = []


def last_changes(trace: Trace) -> list[Trace]:
    """Return what happened after the last walk with steps."""
    ends = [place for place, entry in enumerate(trace["journal"])
            if entry["kind"] == "end" and trace["walks"][entry["walk"]]["steps"]]  # fmt: skip
    return [entry for entry in trace["journal"][ends[-1] :] if is_change(entry)] if ends else []


def sentences(
    trace: Trace, entries: Iterable[Trace], names: Names, brief: Callable[[int], str],
    differ: Callable[[int, int], bool],
) -> Iterator[str]:  # fmt: skip
    """Yield what happened, changes of one kind by one cause in one clause: `SGD(lr=0.1) updated w`.

    `brief` is a function that returns a value in a few words, `differ` one that returns whether two values differ.
    """

    def kind_of(entry: Trace) -> str:
        """Return the key in `ACTIONS` of what an entry says."""
        is_kept = entry["kind"] == "clip" and not differ(entry["before"], entry["after"])
        is_rerun = entry["kind"] == "recompute" and trace["nodes"][entry["node"]]["op"] == "checkpoint"
        return "keep" if is_kept else "rerun" if is_rerun else entry["kind"]

    changes = [
        each for each in entries if each["kind"] in ACTIONS and (each["kind"], each["before"]) != ("clear", None)
    ]
    for (kind, by), group in _alike(changes, kind_of):
        subject = f"the hook {by}" if kind == "hook" else by if by and by[0].isidentifier() else "the program"
        if kind in ("draw", "rerun"):
            yield f"{subject} {ACTIONS[kind]}"
            continue
        who = list(dict.fromkeys(_name(entry, names) for entry in group))
        more = f" and {len(who) - MOST_NAMES} more" if len(who) > MOST_NAMES else ""
        how = f" by {by}" if subject == "the program" and kind in ("scale", "write") and by else ""
        numbers = ""
        if len(group) == 1 and kind not in ("clear", "keep") and None not in (group[0]["before"], group[0]["after"]):
            numbers = f", from {brief(group[0]['before'])} to {brief(group[0]['after'])}"
        yield f"{subject} {ACTIONS[kind]} {', '.join(who[:MOST_NAMES])}{more}{how}{numbers}"


def gather(entries: Iterable[Trace]) -> list[list[Trace]]:
    """Return entries in groups: changes of one kind by one cause, draws one after the other, and what a loop changes in
    turn.

    A loop comes back to its lines. So when a line changes something by hand as it did before, all changes since then
    are one group. The engine groups changes in the same way when it prints a trace.
    """
    groups: list[list[Trace]] = []
    group_of_line: dict[tuple[Any, ...], int] = {}
    last = None
    for entry in entries:
        kind, cause = entry["kind"], (entry["kind"], None if entry["kind"] == "draw" else entry["by"])
        at = max(0, len(groups) - 1)
        if kind != "compute":
            if kind not in BY_HAND:
                group_of_line.clear()
            at = group_of_line.get((*cause, *entry["lines"]), len(groups) - (last == cause))
            last = cause
        groups[at:] = [[*chain.from_iterable(groups[at:]), entry]]
        group_of_line = {line: min(at, place) for line, place in group_of_line.items()}
        if kind in BY_HAND:
            group_of_line[*cause, *entry["lines"]] = at
    return groups


def _alike(entries: Iterable[Trace], kind_of: Callable[[Trace], str]) -> Iterator[tuple[tuple[str, str], list[Trace]]]:
    """Yield the entries of each group that have one kind and one cause, with both."""
    for group in gather(entries):
        alike: dict[tuple[str, str], list[Trace]] = {}
        for entry in group:
            alike.setdefault((kind_of(entry), entry["by"]), []).append(entry)
        yield from alike.items()


def _name(entry: Trace, names: Names) -> str:
    name = names[entry["node"]] if entry["node"] is not None else entry["name"] or "a value"
    return f"{name}.grad" if (entry["kind"], entry["of"]) == ("write", "gradient") else name
