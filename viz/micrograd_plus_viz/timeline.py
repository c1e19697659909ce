"""Film of a training loop: one round's graph, the numbers of every round, and what the program did between walks.

Rounds of a loop repeat one structure with other numbers. The film stores the payload of the first round, and for each
field that differs the values of all rounds.
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from . import cells, journal, pairs, words
from .alike_steps import AlikeSteps
from .collector import without_collections
from .dot import Label, final_labels_and_widths, gradient_line, value_line
from .trace_input import Trace, normalize, trace_data
from .walks import NodeValue
from .window import LeavesAt, part_in_order

MOST_WALKS = 4
"""How many walks one round may have."""
MOST_ROUNDS = 2000
FULL_ENTRIES = 2000
"""Rounds that end within this many entries of the journal keep all numbers."""
FULL_CELLS = 30_000
"""How many entries of arrays the rounds after those keep together."""
LONGEST_WORD = 14
"""Letters of a line that is short enough for the time line."""
MOST_SHOWN = 200
"""How many rounds a page has; of a longer loop, rounds at equal distances."""
MOST_LINES = 4
"""How many lines of a change are lit: its own, and those that called it."""

MOST_CURVES = 40
"""How many leaves can be chosen for the curve of a parameter."""

NUMBERED = re.compile(r">([^<>]+ #\d+)<")
"""The name of a node in a formula, with its number in the whole trace."""
PLACE = re.compile(r"\[[^\]]*\]|\d+")
"""A place in a label: `[0]`, or a number."""

Path = tuple[int | str, ...]


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


@without_collections()
def load_film(trace: Any) -> Trace | None:
    """Return the first round of a training loop with the key `film`, a list of rounds; None for any other trace."""
    if isinstance(trace, dict) and "film" in trace:
        return trace
    walks = getattr(trace, "walks", None)
    if walks is not None and not 2 <= len(walks) <= MOST_WALKS * MOST_ROUNDS:
        return None
    data = normalize(trace_data(trace))
    return None if data["part"] or data["error"] else _film(data)


def _film(trace: Trace) -> Trace | None:
    graph = _Graph(trace)
    ranges = graph.find_rounds()
    if ranges is None:
        return None
    orders = graph.match_nodes(ranges) or graph.match_nodes(ranges, with_dead=False)
    if orders is None or len(orders) > MOST_ROUNDS:
        return None
    rounds = [*_rounds(trace, ranges, orders, _shown_rounds(len(ranges)))]
    widths = [widths_of_round for *_, (_, widths_of_round) in rounds]
    first = rounds[0].part
    widest = [max(of_node) for of_node in zip(*widths, strict=True)]
    return first | {"film": rounds, "film_rounds": len(ranges), "widest": widest}


# Finding rounds -------------------------------------------


class _Graph:
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


def _shown_rounds(count: int) -> set[int]:
    """Return the rounds of a loop that a page shows: all, or the first, the last, and others at equal distances."""
    return {round(at * (count - 1) / (min(count, MOST_SHOWN) - 1)) for at in range(min(count, MOST_SHOWN))}


def _rounds(
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
        part = formulas.rename(part_in_order(trace, start, stop, order, names.titles(order), since), order)
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


class _Formulas:
    """The formulas of all rounds, with the names that nodes have in a round: `tanh (net.1)`, not `tanh (net.1) #7`.

    Rounds share a formula that differs only in those numbers.
    """

    def __init__(self, trace: Trace):
        self.trace = trace
        self.given = [escape(name) for name in words.names(trace)]
        self.formulas: list[Trace] = []
        self._places: dict[str, int] = {}

    def rename(self, part: Trace, order: list[int]) -> Trace:
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
        self.names = dict(enumerate(words.names(trace)))
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
        names = ChainMap(dict(zip(place, self.round_names.titles([*place]), strict=True)), self.names)
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
        written = sites[entry["lines"][0]]["text"].strip() if entry["lines"] else ""
        return written if 0 < len(written) <= LONGEST_WORD else "cleared"
    return "step" if entry["kind"] == "update" else entry["by"] or entry["kind"]


# The payload ----------------------------------------------

Payload = dict[str, Any]


def film_payload(trace: Trace, note: str | None, payload_of: Callable[..., Payload]) -> Payload:
    """Return the payload of a film: that of the first round, and under `film` what differs in each round.

    `payload_of` returns the payload of one round. Its `values` are shared by all rounds.
    """
    rounds: list[Round] = trace["film"]
    full, other = rounds_with_numbers(rounds), trace.get("other")
    count = len(trace["values"])
    # Rounding takes long, so values that lose their entries lose them first.
    shortened = [value for each in (trace, other) if each for value in _values_with_shells(each, full)]
    values, places = cells.deduplicate(shortened, cells.BUDGET * 1000)
    others = places[count:]
    alike, alike_in_other = AlikeSteps(), AlikeSteps()
    payloads = [
        payload_of(
            each.part, places, with_numbers=number in full, with_insides=number == 0, final=each.final, alike=alike
        )
        for number, each in enumerate(rounds)
    ]
    moments = [_moment_data(trace, each, places) for each in rounds]
    if other:
        pages = [
            payload_of(
                each.part, others, with_numbers=False, with_insides=False, final=each.final, alike=alike_in_other
            )
            for each in other["film"]
        ]
        payloads = [*map(pairs.with_other, payloads, pages)]
        moments = [
            pairs.join_moments(mine, _moment_data(other, each, others))
            for mine, each in zip(moments, other["film"], strict=True)
        ]
    labels_of_nodes = zip(*(page["labels"] for page in payloads), strict=True)
    widest = [max(label[3] for label in labels) for labels in labels_of_nodes]
    lines = _gradient_lines(trace, rounds)
    for page in payloads:
        page["insides"] = payloads[0]["insides"]
        page["labels"] = [
            [name, value, ("" if node in lines else None) if gradient is None else gradient,
             max(width, words.breadth(lines.get(node, "")))]
            for node, ((name, value, gradient, _), width) in enumerate(zip(page["labels"], widest, strict=True))
        ]  # fmt: skip
    film = {
        "columns": [[[*path], column] for path, column in columns(payloads)],
        "moments": moments,
        "curves": _curves(trace, rounds),
        "loss": [_size(trace, _root_value(each.part)) for each in rounds], "lossName": _root_name(rounds[0].part),
        "sites": {place: trace["sites"][place] for each in rounds for moment in (*each.before, *each.after)
                  for place in moment.lines},
        "otherLoss": [_size(other, _root_value(each.part)) for each in other["film"]] if other else None,
        "rounds": [each.number for each in rounds],
        "count": trace["film_rounds"],
        "note": _film_note(rounds, full, trace["film_rounds"]),
    }
    keep = _places_in(payloads, film["moments"], full)
    pool = [value if at in keep else _without_entries(value) for at, value in enumerate(values)]
    chains = [column for path, column in film["columns"] if path[-1] in (*PLACES, "value") or "upstreams" in path]
    return payloads[0] | {"values": delta_code(pool, chains), "note": note, "film": film}


def _gradient_lines(trace: Trace, rounds: list[Round]) -> dict[int, str]:
    """Return the widest line for the gradient of each leaf that has one between walks."""
    moments = [moment.gradients for each in rounds for moment in (*each.before, *each.after)]
    lines: dict[int, str] = {}
    for gradients in (*moments, *(each.begins[1] for each in rounds)):
        for leaf, place in gradients.items():
            if place is not None:
                line = gradient_line(trace, NodeValue(place, "backward"))
                lines[leaf] = max(line, lines.get(leaf, ""), key=words.breadth)
    return lines


def rounds_with_numbers(rounds: list[Round]) -> set[int]:
    """Return the rounds that keep all their numbers.

    Those are all that end within the journal's first 2,000 entries, and of the others as many at equal distances as
    have 30,000 numbers together.
    """
    first = max(1, sum(each.entries <= FULL_ENTRIES for each in rounds))
    part = rounds[-1].part
    used = {place for step in part["steps"] for place in (step[word] for word in ("contribution", "before", "after",
            "upstream", "local", "raw"))} | {node["value"] for node in part["nodes"]}  # fmt: skip
    size = sum(len(part["values"][place]["data"] or (part["values"][place]["thumbnail"] or {"data": ()})["data"])
               for place in used if place is not None)  # fmt: skip
    rest = len(rounds) - first
    if rest <= 0 or size * rest <= FULL_CELLS:
        return set(range(len(rounds)))
    every = -(-size * rest // FULL_CELLS)
    return {*range(first), *range(first + every - 1, len(rounds), every), len(rounds) - 1}


def _film_note(rounds: list[Round], full: set[int], count: int) -> str | None:
    """Return sentences about the rounds and numbers that a page leaves out; None if it has all."""
    notes = []
    if count > len(rounds):
        notes.append(f"This page has {len(rounds)} of {count} rounds.")
    if len(full) < len(rounds):
        first = next(at for at in range(len(rounds)) if at not in full)
        notes.append(
            f"From round {rounds[first].number + 1} on, arrays have their entries in {len(full) - first} rounds, and "
            f"in the others their shape, size and range."
        )
    return " ".join(notes) or None


def columns(payloads: list[Payload]) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the paths at which payloads differ, each with the value of every payload."""
    yield from _columns((), payloads)


def _columns(path: Path, parts: list[Any]) -> Iterator[tuple[Path, list[Any]]]:
    first = parts[0]
    if all(part == first for part in parts[1:]):
        return
    if isinstance(first, dict) and all(isinstance(part, dict) and part.keys() == first.keys() for part in parts):
        for key in first:
            yield from _columns((*path, key), [part[key] for part in parts])
    elif isinstance(first, list) and all(isinstance(part, list) and len(part) == len(first) for part in parts):
        for key in range(len(first)):
            yield from _columns((*path, key), [part[key] for part in parts])
    else:
        yield path, parts


def _moment_data(trace: Trace, each: Round, places: list[int]) -> Payload:
    """Return the moments of a round for the page, each with the leaves' values, labels and gradients."""

    def state(moment: Moment) -> Payload:
        return {
            "word": moment.word, "say": moment.say, "lines": moment.lines,
            "values": {node: [_new(places, place), value_line(trace, place)]
                       for node, place in moment.values.items()},
            "gradients": {node: _new(places, place) for node, place in moment.gradients.items()},
        }  # fmt: skip

    return {
        "begins": {node: _new(places, place) for node, place in each.begins[1].items()},
        "beginValues": _other_values(trace, each.begins[0], _values_as_walk_begins(each), places),
        "early": _early_data(trace, each, places),
        "before": [state(moment) for moment in each.before], "forward": each.forward,
        "after": [state(moment) for moment in each.after],
    }  # fmt: skip


def _early_data(trace: Trace, each: Round, places: list[int]) -> list[Payload]:
    """Return the leaves as values are computed: at first the differences to the beginning of the walk, later the
    changes, each with the first value computed then."""
    values = _values_as_walk_begins(each)
    gradients = each.before[-1].gradients if each.before else each.begins[1]
    rows: list[Payload] = []
    for first, early in each.early:
        rows.append({
            "from": first if rows else 0, "values": _other_values(trace, early[0], values, places),
            "gradients": {node: _new(places, place) for node, place in early[1].items()
                          if place != gradients.get(node)},
        })  # fmt: skip
        values, gradients = early
    return rows


def _values_as_walk_begins(each: Round) -> dict[int, int | None]:
    return {node: row["value"] for node, row in enumerate(each.part["nodes"])}


def _other_values(
    trace: Trace, values: dict[int, int | None], known: dict[int, int | None], places: list[int]
) -> dict[int, list[Any]]:
    """Return the values that differ from known ones, each with its text."""
    others = {node: place for node, place in values.items() if place != known[node]}
    return {node: [_new(places, place), value_line(trace, place)] for node, place in others.items()}


def _new(places: list[int], place: int | None) -> int | None:
    return None if place is None else places[place]


def _curves(trace: Trace, rounds: list[Round]) -> list[tuple[str, list[float | None], int]]:
    """Return the curves that can be chosen: each parameter's value in every round, an array's by its norm, and its
    node."""
    part = rounds[0].part
    leaves = [node["id"] for node in part["nodes"] if node["kind"] == "leaf" and node["requires_grad"]][:MOST_CURVES]
    found = []
    for leaf in leaves:
        sizes = [_size(trace, each.part["nodes"][leaf]["value"]) for each in rounds]
        is_number = words.scalar(trace, part["nodes"][leaf]["value"]) is not None
        name = part["nodes"][leaf]["title"]
        found.append((name if is_number else f"|{name}|", sizes, leaf))
    return found


def _root_name(part: Trace) -> str:
    """Return the program's name for the result at which the first walk of a round begins."""
    root = part["walk"]["root"]
    return part["nodes"][root]["label"] or "loss" if root is not None else "loss"


def _root_value(part: Trace) -> int | None:
    root = part["walk"]["root"]
    return None if root is None else part["nodes"][root]["value"]


def _size(trace: Trace, place: int | None) -> float | None:
    """Return a value as one number to four digits: the number, or the norm of an array; None if it is not finite."""
    value = None if place is None else trace["values"][place]
    if value is None:
        return None
    single = value["data"] and len(value["data"]) == 1
    size = value["data"][0] if single else (value["statistics"] or {"norm": None})["norm"]
    return float(f"{size:.4g}") if isinstance(size, (int, float)) else None


PLACES = ("contribution", "before", "after", "local", "raw")


def _places_in(payloads: list[Payload], moments: list[Payload], full: set[int]) -> set[int]:
    """Return the values that the rounds with all numbers use."""
    used: set[int | None] = set()
    for number in full:
        page = payloads[number]
        used |= {node["value"] for node in page["nodes"]}
        used |= {each["value"] for each in page["gradients"]}
        for step in page["steps"]:
            used |= {step[word] for word in PLACES} | {*step["upstreams"].values()} | {*step["reads"].values()}
        for walk in page["walks"]:
            used |= {*walk["starts"].values(), *walk["ends"].values(), *(place for place, _ in walk["values"].values())}
        used |= pairs.places_of_other(page)
        used |= {*moments[number]["begins"].values()}
        used |= {place for early in moments[number]["early"] for place in early["gradients"].values()}
        for values in (moments[number]["beginValues"], *(early["values"] for early in moments[number]["early"])):
            used |= {place for place, _ in values.values()}
        for moment in (*moments[number]["before"], *moments[number]["after"]):
            used |= {*moment["gradients"].values(), *(place for place, _ in moment["values"].values())}
    return {place for place in used if place is not None}


def _values_with_shells(trace: Trace, full: set[int]) -> list[Trace]:
    """Return the values of a film; arrays that only rounds without all numbers have are without entries."""
    keep = _values_of_rounds(trace["film"], full)
    return [value if at in keep else _shell(value) for at, value in enumerate(trace["values"])]


def _values_of_rounds(rounds: list[Round], full: set[int]) -> set[int | None]:
    """Return all values of the trace that the rounds with all numbers have."""
    used: set[int | None] = set()
    for number in full:
        each = rounds[number]
        part = each.part
        used |= {node["value"] for node in part["nodes"]} | {walk["seed"] for walk in part["walks"]}
        used |= {entry[word] for entry in part["journal"] for word in ("before", "after")}
        used |= {state["value"] for word in ("starts", "gradients") for state in part[word]}
        for step in part["steps"]:
            used |= {step[word] for word in (*PLACES, "upstream")} | {*step["reads"].values()}
        moments = [(moment.values, moment.gradients) for moment in (*each.before, *each.after)]
        states = [each.begins, *(early for _, early in each.early), *moments]
        used |= {place for state in states for leaves in state for place in leaves.values()}
    return used


def _shell(value: Trace) -> Trace:
    """Return an array without its entries; a number as it is."""
    if value["data"] is not None and len(value["data"]) == 1:
        return value
    return value | {"data": None, "thumbnail": None, "corner": None, "odd": cells.count_not_finite(value)}


def _without_entries(value: Payload) -> Payload:
    """Return an array without its entries; a number as it is."""
    if value["data"] is not None and len(value["data"]) == 1:
        return value
    return {name: part for name, part in value.items() if name not in ("cells", "corner")} | {
        "data": None, "dropped": True
    }  # fmt: skip


# Compact numbers ------------------------------------------


def delta_code(values: list[Payload], chains: list[list[int | None]]) -> list[Payload]:
    """Return values with each array as its difference to the array before it in a chain, where that is shorter.

    Each number of a few digits has an integer code that grows with it. From one round to the next most numbers change
    little, so the differences of their codes are short.
    """
    coded = [*values]
    known = {0}
    codes_of = _remember_codes()
    for chain in chains:
        last: int | None = None
        for place in chain:
            if place is None or place in known:
                last = place if place is not None else last
                continue
            known.add(place)
            change = None if last is None else _difference(values[last], values[place], codes_of)
            if change is not None:
                rest = {name: part for name, part in values[place].items() if name not in ("data", "cells")}
                coded[place] = rest | {"from": last, "delta": change}
            last = place if _entries(values[place]) else last
    return coded


def _entries(value: Payload) -> list[Any] | None:
    """Return the entries of an array that is drawn as a picture with a cell for each."""
    found = value["data"] or value.get("cells", {"data": None})["data"]
    return found if found and len(found) > cells.WRITTEN else None


Codes = Callable[[Payload], list[int | None]]


def _remember_codes() -> Codes:
    """Return a function with a memory that returns the codes of an array's entries. The arrays must stay alive."""
    known: dict[int, list[int | None]] = {}

    def codes_of(value: Payload) -> list[int | None]:
        if id(value) not in known:
            entries = _entries(value) or []
            digits = cells.DIGITS if len(entries) <= cells.MANY else cells.DIGITS_OF_MANY
            known[id(value)] = number_codes(entries, digits)
        return known[id(value)]

    return codes_of


def _difference(one: Payload, other: Payload, codes_of: Codes) -> list[int] | None:
    """Return the differences of the codes of two arrays; None if they have none."""
    a, b = _entries(one), _entries(other)
    if a is None or b is None or len(a) != len(b) or one["shape"] != other["shape"]:
        return None
    if (one["data"] is None) != (other["data"] is None):
        return None
    if "cells" in one and one["cells"].keys() != other["cells"].keys():
        return None
    changes: list[int] = []
    for x, y in zip(codes_of(one), codes_of(other), strict=True):
        if x is None or y is None:
            return None
        changes.append(y - x)
    return changes


def number_codes(entries: list[Any], digits: int) -> list[int | None]:
    """Return the codes of the entries of an array."""
    if not {*map(type, entries)} <= {int, float}:
        return [number_code(x, digits) for x in entries]
    x = np.array(entries, float)
    whole, exponents, is_certain = cells.mantissas(x, digits)
    low = 10 ** (digits - 1)
    codes = np.where(is_certain, (exponents + EXPONENTS) * 9 * low + abs(whole) - low + 1, 0)
    found: list[int | None] = (codes * np.sign(x)).astype(int).tolist()
    for place in np.flatnonzero(codes <= 0).tolist():
        found[place] = number_code(entries[place], digits)
    return found


def number_code(x: Any, digits: int) -> int | None:
    """Return an integer that grows with a number of a few significant digits; None for any other entry."""
    if not isinstance(x, (int, float)) or isinstance(x, bool):
        return None
    if x == 0:
        return 0
    mantissa, exponent = f"{abs(x):.{digits - 1}e}".split("e")
    low = 10 ** (digits - 1)
    code = (int(exponent) + EXPONENTS) * 9 * low + int(mantissa.replace(".", "")) - low + 1
    return None if code <= 0 else code if x > 0 else -code


EXPONENTS = 40
"""The smallest numbers with a code are of this many places after the point."""
