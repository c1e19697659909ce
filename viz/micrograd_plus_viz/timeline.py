"""Film of a training loop: one round's graph, the numbers of every round, and what the program did between walks.

Rounds of a loop repeat one structure with other numbers. The film stores the payload of the first round, and for each
field that differs the values of all rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import cells, pairs, words
from .alike_steps import AlikeSteps
from .collector import without_collections
from .deltas import delta_code
from .dot import gradient_line, value_line
from .rounds import MOST_WALKS, Moment, Round, find_loop, make_rounds, shown_rounds
from .trace_input import Trace, normalize, trace_data
from .walks import NodeValue

MOST_ROUNDS = 2000
FULL_ENTRIES = 2000
"""Rounds that end within this many entries of the journal keep all numbers."""
FULL_CELLS = 30_000
"""How many entries of arrays the rounds after those keep together."""
MOST_CURVES = 40
"""How many leaves can be chosen for the curve of a parameter."""

Path = tuple[int | str, ...]
Payload = dict[str, Any]


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
    found = find_loop(trace)
    if found is None or len(found.orders) > MOST_ROUNDS:
        return None
    trace, ranges, orders = found
    rounds = [*make_rounds(trace, ranges, orders, shown_rounds(len(ranges)))]
    widths = [widths_of_round for *_, (_, widths_of_round) in rounds]
    first = rounds[0].part
    widest = [max(of_node) for of_node in zip(*widths, strict=True)]
    return first | {"film": rounds, "film_rounds": len(ranges), "widest": widest}


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
