"""The rounds of a training loop: which walks repeat each other, and what the program did between them.

The nodes of all rounds are numbered as in the first.
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Iterator
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from . import journal, words
from .dot import Label, final_labels_and_widths
from .trace_input import Trace
from .window import LeavesAt, part_in_order

MOST_WALKS = 4
"""How many walks one round may have."""
LONGEST_WORD = 14
"""Letters of a line that is short enough for the time line."""
MOST_SHOWN = 200
"""How many rounds a page has; of a longer loop, rounds at equal distances."""
MOST_LINES = 4
"""How many lines of a change are lit: its own, and those that called it."""
NUMBERED = re.compile(r">([^<>]+ #\d+)<")
"""The name of a node in a formula, with its number in the whole trace."""
PLACE = re.compile(r"\[[^\]]*\]|\d+")
"""A place in a label: `[0]`, or a number."""

LeafStates = tuple[dict[int, int | None], dict[int, int | None]]
"""The value of each leaf that the program changes, and the gradient of each leaf."""


class Moment(NamedTuple):
    """A change by the program: a short word for it, a sentence, its first lines, and what each leaf has afterwards."""

    word: str
    say: str
    lines: list[int]
    values: dict[int, int | None]
    gradients: dict[int, int | None]


class Round(NamedTuple):
    """One round: its part of the trace, the moments before and after its walks, and its place in the journal."""

    number: int
    part: Trace
    before: list[Moment]
    forward: int
    """How many moments come before the values are computed."""
    early: list[tuple[int, LeafStates]]
    """The leaves as values are computed, each time they have changed, with the first value computed then."""
    after: list[Moment]
    begins: LeafStates
    """The leaves as the round begins."""
    entries: int
    """How many entries the journal has up to the end of the round; each computed value and each step counts."""
    final: tuple[list[Label], list[float]]
    """The text of each node at the end, and the width of its widest line."""


# Finding rounds -------------------------------------------


class Loop(NamedTuple):
    """A trace, the steps of each round of its loop, and the nodes of each round in the order of the first one's."""

    trace: Trace
    ranges: list[tuple[int, int]]
    orders: list[list[int]]


def find_loop(trace: Trace) -> Loop | None:
    """Return the rounds of a training loop; None if the walks of a trace repeat nothing.

    A state that one round detaches for the next is a leaf of the next, as the state of the first round is.
    """
    ranges = LoopGraph(trace).find_rounds()
    if ranges is None:
        return None
    for each in (trace, _with_detached_leaves(trace)):
        graph = LoopGraph(each)
        if orders := graph.match_nodes(ranges) or graph.match_nodes(ranges, with_dead=False):
            return Loop(each, ranges, orders)
    return None


def _with_detached_leaves(trace: Trace) -> Trace:
    as_leaf = {"kind": "leaf", "op": None, "inputs": [], "dead": False, "cut": None}
    return trace | {"nodes": [node | as_leaf if node["cut"] == "detach" else node for node in trace["nodes"]]}


class LoopGraph:
    """The walks of a trace and the nodes that they use."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.inputs = [{each["name"]: each["node"] for each in node["inputs"]} for node in trace["nodes"]]
        firsts = [walk["first"] for walk in trace["walks"]]
        self.ranges = [*pairwise([*firsts, len(trace["steps"])])]

    def _shape(self, walk: int) -> Any:
        """Return the parts that the steps of equal walks share."""
        start, stop = self.ranges[walk]
        each, nodes = self.trace["walks"][walk], self.trace["nodes"]
        steps = self.trace["steps"][start:stop]
        return each["direction"], each["error"] is None, *(
            (step["rule"], step["input"], nodes[step["node"]]["op"], nodes[step["target"]]["kind"]) for step in steps
        )

    def find_rounds(self) -> list[tuple[int, int]] | None:
        """Return the steps of each round: walks that repeat each other; None if the walks are no loop."""
        shapes = [self._shape(walk) for walk in range(len(self.ranges))]
        if any(len(shape) < 3 or shape[:2] != ("backward", True) for shape in shapes):
            return None
        for period in range(1, MOST_WALKS + 1):
            is_loop = len(shapes) % period == 0 and all(
                one == other for one, other in zip(shapes, shapes[period:], strict=False)
            )
            if is_loop and len(shapes) >= 2 * period:
                walks = range(0, len(shapes), period)
                return [(self.ranges[at][0], self.ranges[at + period - 1][1]) for at in walks]
        return None

    def match_nodes(self, ranges: list[tuple[int, int]], *, with_dead: bool = True) -> list[list[int]] | None:
        """Return the nodes of each round, in the order of the first one's; None if the graphs differ, or if rounds
        share what they computed.

        Nodes that no gradient reaches may be shared, as a state that the round before has computed and the program
        has detached. `with_dead=False` leaves out what is behind them.
        """
        base = self._used_nodes(*ranges[0], with_dead)
        orders = [base]
        computed = {node for node in base if self.trace["nodes"][node]["kind"] != "leaf"}
        for begin, _ in ranges[1:]:
            match = self._match(ranges[0], begin, with_dead)
            if match is None or match.keys() != set(base) or self._has_other_parameters(match):
                return None
            order = [match[node] for node in base]
            made = {match[node] for node in base if self.trace["nodes"][node]["kind"] != "leaf"}
            if made & computed:
                return None
            computed |= made
            orders.append(order)
        return orders

    def _has_other_parameters(self, match: dict[int, int]) -> bool:
        """Return whether a round uses a leaf of the first round instead of another one, or a parameter with
        another name."""
        nodes, used = self.trace["nodes"], {*match.values()}
        return any(
            one in used or (nodes[one]["requires_grad"] and nodes[one]["label"] != nodes[other]["label"])
            for one, other in match.items() if one != other and nodes[one]["kind"] == "leaf"
        )  # fmt: skip

    def _used_nodes(self, begin: int, stop: int, with_dead: bool) -> list[int]:
        used: set[int] = set()
        for step in self.trace["steps"][begin:stop]:
            used |= {step["node"], step["target"], *self.inputs[step["node"]].values()}
        todo = [*used]
        for node in todo:  # the list grows while it is read
            if self._shows_inputs(node, with_dead):
                more = {*self.inputs[node].values()} - used
                used |= more
                todo += more
        return sorted(used)

    def _shows_inputs(self, node: int, with_dead: bool) -> bool:
        """Return whether the inputs of a node are drawn although no rule was applied to it."""
        data = self.trace["nodes"][node]
        return data["kind"] == "output" or (with_dead and data["dead"])

    def _match(self, first: tuple[int, int], begin: int, with_dead: bool) -> dict[int, int] | None:
        """Return which node corresponds to each node of the first round in the round that begins at a step."""
        match: dict[int, int] = {}
        nodes = self.trace["nodes"]

        def pair(one: int, other: int) -> bool:
            return match.setdefault(one, other) == other and nodes[one]["op"] == nodes[other]["op"]

        for at in range(first[0], first[1]):
            one, other = self.trace["steps"][at], self.trace["steps"][at - first[0] + begin]
            pairs = [(one["node"], other["node"]), (one["target"], other["target"])]
            of_one, of_other = self.inputs[one["node"]], self.inputs[other["node"]]
            if of_one.keys() != of_other.keys():
                return None
            pairs += [(of_one[name], of_other[name]) for name in of_one]
            seen = {*pairs}
            for a, b in pairs:  # the list grows while it is read
                if self._shows_inputs(a, with_dead) and nodes[a]["kind"] == nodes[b]["kind"]:
                    more = {*zip(self.inputs[a].values(), self.inputs[b].values(), strict=False)} - seen
                    seen |= more
                    pairs += more
            if not all(pair(*each) for each in pairs):
                return None
        return match if len({*match.values()}) == len(match) else None


# Rounds ---------------------------------------------------


def shown_rounds(count: int) -> set[int]:
    """Return the rounds of a loop that a page shows: all, or the first, the last, and others at equal distances."""
    return {round(at * (count - 1) / (min(count, MOST_SHOWN) - 1)) for at in range(min(count, MOST_SHOWN))}


def make_rounds(
    trace: Trace, ranges: list[tuple[int, int]], orders: list[list[int]], shown: set[int]
) -> Iterator[Round]:
    """Yield the rounds to be shown. The nodes of all are numbered as in the first."""
    names = _NamesInRounds(trace, orders)
    formulas = _Formulas(trace)
    between = _Between(trace, ranges, orders, names)
    for number, ((start, stop), order) in enumerate(zip(ranges, orders, strict=True)):
        since = between.state(number)
        now = between.follow(number)
        if number not in shown:
            continue
        part = formulas.use_names(part_in_order(trace, start, stop, order, names.titles(order), since), order)
        for node, label in zip(part["nodes"], names.labels(order), strict=True):
            node["label"] = label
        part["has_moments"] = True
        part["gradients"] = [{"node": node, "value": value} for node, value in now.ends.items() if value is not None]
        yield Round(number, part, now.before, now.forward, now.early, now.after, now.begins, now.entries,
                    final_labels_and_widths(part))  # fmt: skip


class _NamesInRounds:
    """The names of the nodes of each round: the same in all, except where the program has another name in each.

    A value has the name of a variable as long as the variable holds it. So the program's name of a batch is known in
    the last round only, and holds for the batches of all rounds. A part of an array can have another place in each:
    `xs[0]`, `xs[1]`.
    """

    def __init__(self, trace: Trace, orders: list[list[int]]):
        self.trace, self.given = trace, words.names(trace)
        self.shared = [self._name_giver(nodes) for nodes in zip(*orders, strict=True)]
        named = [node for node in self.shared if node is not None]
        self.numbered = self._number(named) if len(named) == len(self.shared) else None

    def _name_giver(self, nodes: tuple[int, ...]) -> int | None:
        """Return the node whose name all rounds share; None if each has its own."""
        of_labels = {label: node for node in nodes if (label := self.trace["nodes"][node]["label"])}
        differ_in_place = len(of_labels) > 1 and len({PLACE.sub("", label) for label in of_labels}) == 1
        return None if differ_in_place else [nodes[0], *of_labels.values()][-1]

    def titles(self, order: list[int]) -> list[str]:
        """Return unique names for the nodes of a round."""
        return self.numbered or self._number(self._name_givers(order))

    def labels(self, order: list[int]) -> list[str | None]:
        """Return the program's names for the values of a round."""
        return [self.trace["nodes"][node]["label"] for node in self._name_givers(order)]

    def _name_givers(self, order: list[int]) -> list[int]:
        return [own if node is None else node for node, own in zip(self.shared, order, strict=True)]

    def _number(self, nodes: list[int]) -> list[str]:
        plain = [re.sub(r" #\d+$", "", self.given[node]) for node in nodes]
        counts, seen = Counter(plain), Counter[str]()
        names = []
        for name, node in zip(plain, nodes, strict=True):
            seen[name] += 1
            is_constant = words.is_constant(self.trace, self.trace["nodes"][node])
            names.append(f"{name} #{seen[name]}" if counts[name] > 1 and not is_constant else name)
        return names


class _NamesOutside(dict[int, str]):
    """The names of nodes in a round that is not theirs: `h of round 2`."""

    def __init__(self, trace: Trace, orders: list[list[int]], round_names: _NamesInRounds):
        super().__init__()
        self.orders, self.round_names, self.given = orders, round_names, words.names(trace)

    def __missing__(self, node: int) -> str:
        number, order = next(((n, each) for n, each in enumerate(self.orders, 1) if node in each), (0, []))
        self[node] = self.given[node]
        if order:
            self[node] = f"{self.round_names.titles(order)[order.index(node)]} of round {number}"
        return self[node]


class _Formulas:
    """The formulas of all rounds, with the names that nodes have in a round: `tanh (net.1)`, not `tanh (net.1) #7`.

    Rounds share a formula that differs only in those numbers.
    """

    def __init__(self, trace: Trace):
        self.trace = trace
        self.given = [escape(name) for name in words.names(trace)]
        self.formulas: list[Trace] = []
        self._places: dict[str, int] = {}

    def use_names(self, part: Trace, order: list[int]) -> Trace:
        """Return a round, whose nodes were in `order` in the trace, with its formulas in the names of the round."""
        names = {self.given[node]: escape(each["title"]) for node, each in zip(order, part["nodes"], strict=True)}
        steps = [step | {"formula": self._place(step["formula"], names)} for step in part["steps"]]
        return part | {"steps": steps, "formulas": self.formulas}

    def _place(self, number: int | None, names: dict[str, str]) -> int | None:
        """Return the index of a formula with other names, added if it is new."""
        if number is None:
            return None
        mathml = self.trace["formulas"][number]["mathml"]
        mathml = NUMBERED.sub(lambda found: f">{names.get(found[1], found[1])}<", mathml)
        if mathml not in self._places:
            self._places[mathml] = len(self.formulas)
            self.formulas.append({"mathml": mathml})
        return self._places[mathml]


class _State(NamedTuple):
    before: list[Moment]
    forward: int
    early: list[tuple[int, LeafStates]]
    after: list[Moment]
    begins: LeafStates
    ends: dict[int, int | None]
    """The gradient of each leaf that the walks reached, as they end."""
    entries: int


class _Between:
    """What the program did between the walks of rounds, read from the journal once."""

    def __init__(
        self, trace: Trace, ranges: list[tuple[int, int]], orders: list[list[int]], round_names: _NamesInRounds
    ) -> None:
        self.trace, self.orders, self.round_names = trace, orders, round_names
        walks = [walk["first"] for walk in trace["walks"]]
        self.bounds = [(walks.index(start), max(at for at, first in enumerate(walks) if first < stop))
                       for start, stop in ranges]  # fmt: skip
        written = (entry["node"] for entry in trace["journal"] if entry["of"] == "value")
        self.values = {node: trace["nodes"][node]["value"] for node in written if node is not None}
        self.gradients = {each["node"]: each["value"] for each in trace["starts"]}
        self.entries = 0
        self.early: list[tuple[int, LeafStates]] = []
        self.names_outside = _NamesOutside(trace, orders, round_names)
        entries = trace["journal"]
        begins = {entry["walk"]: at for at, entry in enumerate(entries) if entry["kind"] == "begin"}
        ends = {entry["walk"]: at for at, entry in enumerate(entries) if entry["kind"] == "end"}
        spans = [(begins[first], ends[last]) for first, last in self.bounds]
        self.cuts = [0, *(self._cut(one[1] + 1, other[0], orders[at + 1])
                          for at, (one, other) in enumerate(pairwise(spans))), len(entries)]  # fmt: skip
        self.spans = spans

    def _cut(self, start: int, stop: int, order: list[int]) -> int:
        """Return where a round begins between two walks: behind the last change on a line after its first value's.

        What happens after its first value is computed belongs to the round. A loop that clears gradients first does it
        on a line before its forward; after the step, on a later line. Both lines are of the first function in which
        they differ, from the outside.
        """
        made = [node for node in order if self.trace["nodes"][node]["kind"] != "leaf"]
        first = self.trace["nodes"][min(made)]["lines"][::-1] if made else []
        entries = self.trace["journal"]
        values = (at for at in range(start, stop) if made and _computes(entries[at], min(made)))
        for at in range(next(values, stop) - 1, start - 1, -1):
            entry = entries[at]
            if not journal.is_change(entry) or not entry["lines"]:
                continue
            places = [self.trace["sites"][line] for line in entry["lines"][::-1]]
            differ = [(a, b) for a, b in zip(places, first, strict=False) if _place(a) != _place(b)]
            is_before = _place(differ[0][0]) < _place(differ[0][1]) if differ else entry["kind"] in ("clear", "draw")
            if not is_before:
                return at + 1
        return start

    def state(self, number: int) -> LeavesAt:
        """Return the state of the leaves at the begin of the next round's journal."""
        return LeavesAt(self.cuts[number], dict(self.gradients), dict(self.values))

    def follow(self, number: int) -> _State:
        """Return what happened in the next round."""
        order = self.orders[number]
        place = {node: at for at, node in enumerate(order)}
        made = [node for node in order if self.trace["nodes"][node]["kind"] != "leaf"]
        (begin, end), (start, stop) = self.spans[number], self.cuts[number : number + 2]
        begins = self._leaf_states(place)
        self.early = []
        before, forward = self._moments(start, begin, place, min(made, default=0))
        for entry in self.trace["journal"][begin:end]:
            self._note_values(entry, place)
            self._carry_out(entry)
        ends = {place[node]: value for node, value in self.gradients.items() if node in place}
        after, _ = self._moments(end + 1, stop, place, None)
        self.entries += sum(entry["count"] or 1 for entry in self.trace["journal"][start:stop])
        return _State(before, forward, self.early or [(0, begins)], after, begins, ends, self.entries)

    def _note_values(self, entry: Trace, place: dict[int, int]) -> None:
        """Note the leaves as nodes of the round are computed, if they have changed since other nodes were."""
        if entry["kind"] != "compute":
            return
        run = range(entry["first"], entry["first"] + entry["count"])
        made = [place[node] for node in run if node in place and self.trace["nodes"][node]["kind"] != "leaf"]
        if made and (not self.early or self.early[-1][1] != self._leaf_states(place)):
            self.early.append((min(made), self._leaf_states(place)))

    def _carry_out(self, entry: Trace) -> None:
        if entry["of"] is not None and entry["node"] is not None and entry["kind"] not in ("hook", "return"):
            (self.values if entry["of"] == "value" else self.gradients)[entry["node"]] = entry["after"]

    def _moments(
        self, start: int, stop: int, place: dict[int, int], computes: int | None
    ) -> tuple[list[Moment], int]:
        """Return the changes in a stretch of the journal, alike ones together, and how many come before the round's
        first value is computed."""
        entries = self.trace["journal"][start:stop]
        first = (at for at, entry in enumerate(entries) if computes is not None and _computes(entry, computes))
        forward = next(first, len(entries))
        before = [*self._moments_of(entries[:forward], place)]
        return [*before, *self._moments_of(entries[forward:], place)], len(before)

    def _moments_of(self, entries: list[Trace], place: dict[int, int]) -> Iterator[Moment]:
        names = ChainMap(dict(zip(place, self.round_names.titles([*place]), strict=True)), self.names_outside)
        brief, differ = partial(words.in_brief, self.trace), partial(words.values_differ, self.trace)
        for group in journal.gather(entries):
            for entry in group:
                self._note_values(entry, place)
                self._carry_out(entry)
            alike = [entry for entry in group if journal.is_change(entry)]
            say = "; ".join(journal.sentences(self.trace, alike, names, brief, differ))
            if say:
                say = f"{say[0].upper() if say.startswith('the ') else say[0]}{say[1:]}."
                word, lines = _word(alike[0], self.trace["sites"]), alike[0]["lines"][:MOST_LINES]
                yield Moment(word, say, lines, *self._leaf_states(place))

    def _leaf_states(self, place: dict[int, int]) -> LeafStates:
        values = {place[node]: value for node, value in self.values.items() if node in place}
        gradients = {place[node]: value for node, value in self.gradients.items() if node in place}
        return values, gradients


def _computes(entry: Trace, node: int) -> bool:
    return entry["kind"] == "compute" and entry["first"] <= node < entry["first"] + entry["count"]


def _place(site: Trace) -> tuple[str, int]:
    return site["file"], site["line"]


def _word(entry: Trace, sites: list[Trace]) -> str:
    """Return a short word for a change: `step`, `zero_grad`, `clip_grad_norm_`, `*=`; `p.grad = None`, as written."""
    if entry["kind"] == "clear" and not (entry["by"] or ".").isidentifier():
        written = (sites[entry["lines"][0]]["text"] or "").strip() if entry["lines"] else ""
        return written if 0 < len(written) <= LONGEST_WORD else "cleared"
    return "step" if entry["kind"] == "update" else entry["by"] or entry["kind"]
