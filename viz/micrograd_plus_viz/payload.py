"""Data for the player: the trace, groups, formulas and sentences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from . import cells, flow, formula, pairs, timeline, trace_input, walks, words
from .alike_steps import AlikeSteps
from .collector import without_collections
from .digits import remember_exact
from .dot import Label, final_labels_and_widths, value_line
from .groups import build_groups
from .journal import changes_before_values, walk_states
from .packing import pack, to_bytes
from .program import program_lines
from .trace_input import Trace
from .written_lines import written_lines

NODE = ("kind", "op", "summary", "params", "value", "site", "requires_grad")
STEP = ("node", "input", "rule", "local", "raw", "summed_axes", "contribution", "before", "after", "accumulates")
RULE = ("text", "source", "file", "line", "kind", "reason")
PLACED = ("upstream", "local", "raw", "contribution", "before", "after")
BUDGET_INSIDE = 2000
MOST_INSIDES = 12
"""Number of inner walks included one by one; of more, one for each operation and input shapes."""

MOST_CAUGHT = 20
"""Number of caught errors that the page lists."""


@without_collections()
def payload(trace: Trace, note: str | None = None, budget: int = cells.BUDGET) -> dict[str, Any]:
    """Return everything the player shows of a trace, inner walks included.

    `budget` limits the number of cells in pictures. For a film, this is its first round, with what differs in the
    others.
    """
    trace = trace_input.normalize(trace)
    if "film" in trace:
        return timeline.film_payload(trace, note, partial(_payload, note=None))
    count, other = len(trace["values"]), trace.get("other")
    values, places = cells.deduplicate([*trace["values"], *(other["values"] if other else ())], budget)
    page = _payload(trace, places[:count], note)
    if other:
        page = pairs.with_other(page, _payload(other, places[count:], note))
    return page | {"values": values}


def _payload(
    trace: Trace, places: list[int], note: str | None, *, with_numbers: bool = True, with_insides: bool = True,
    final: tuple[list[Label], list[float]] | None = None, alike: AlikeSteps | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the payload of a trace without its values, whose new indices are `places`.

    `final` may pass the trace's `final_labels_and_widths` if they are known, and `alike` the properties of alike steps
    that other rounds have found.
    """
    formulas = _Table()
    written, broadest = final or final_labels_and_widths(trace)
    left, behind = walks.final_values(trace)

    def page_place(place: int | None) -> int | None:
        return None if place is None else places[place]

    return {
        "summary": words.summary(trace),
        "note": note,
        "line": "Your line",
        "root": trace["walk"]["root"],
        "rings": sorted(walks.start_nodes(trace)),
        "first": trace["first"],
        "total": trace["total"],
        "alt": words.graph_alt(trace),
        "names": words.names(trace),
        "called": words.variables(trace),
        "terms": words.numbered_terms(trace),
        "labels": [[*label[:3], round(broad, 1)] for label, broad in zip(written, broadest, strict=True)],
        "nodes": [_node(node, page_place) for node in trace["nodes"]],
        "edges": [list(edge) for edge in words.edges(trace)],
        "groups": build_groups(trace),
        "program": [*program_lines(trace), *written_lines(trace)],
        "steps": _steps(trace, page_place, formulas, alike or AlikeSteps(), with_numbers),
        "formulas": formulas.texts,
        "rules": {name: _rule(rule) for name, rule in trace["rules"].items()},
        "left": left,
        "gradients": [{"node": node, "value": page_place(place)} for node, place in behind],
        "walks": _walks(trace, page_place),
        "early": _early_changes(trace, page_place),
        "error": failure(trace),
        "odd": _not_finite(trace),
        "caught": _caught_errors(trace),
        "insides": _insides(trace) if with_insides else {},
    }


def _caught_errors(trace: Trace) -> list[str]:
    """Return the first errors that the program caught."""
    errors = trace["caught"]
    sentences = [_caught_error(each, trace["sites"]) for each in errors[:MOST_CAUGHT]]
    return sentences if len(errors) <= MOST_CAUGHT else [*sentences, f"and {len(errors) - MOST_CAUGHT} more"]


def _caught_error(error: Trace, sites: list[Trace]) -> str:
    """Return an error that the program caught, with its source line."""
    line = sites[error["lines"][0]] if error["lines"] else None
    where = f"{line['file']}, line {line['line']}: " if line else ""
    return words.single_line(f"{where}{error['kind']}: {error['text']}")


def _not_finite(trace: Trace) -> str | None:
    """Return sentences about the first nan or infinite values."""
    node_names = words.names(trace)
    sentences = []
    for place in trace["not_finite"]:
        counts = words.join_words([f"{place[word]} {word}" for word in ("nan", "inf") if place[word]])
        where = f", first at {place['entry']}" if place["entry"] else ""
        if place["step"] is None:
            sentences.append(f"First result that is not finite: {node_names[place['node']]} ({counts}{where}).")
        else:
            sentences.append(f"Step {place['step'] + 1} sends {counts} to {node_names[place['node']]}{where}.")
    return " ".join(sentences) or None


def _walks(trace: Trace, page_place: Callable[[int | None], int | None]) -> list[dict[str, Any]]:
    """Return the walks that have steps here, each with its first step and the values at its start."""
    states, rows = walk_states(trace), []
    for walk, begins in zip(walks.walks_of(trace), walks.values_at_start(trace), strict=True):
        number = trace["steps"][walk.at]["walk"] if trace["steps"] else 0
        changed = states[number].values if number in states else {}
        ends = walks.ends_of(trace, walk, states)
        rows.append({
            "at": walk.at, "word": walk.word, "back": walk.direction == "backward",
            "starts": {node: page_place(place) for node, place in begins.items() if place is not None},
            "ends": {node: page_place(place) for node, place in ends.items()},
            "values": {node: [page_place(place), value_line(trace, place)] for node, place in changed.items()},
        })  # fmt: skip
    return rows


def _early_changes(trace: Trace, page_place: Callable[[int | None], int | None]) -> list[dict[str, Any]]:
    """Return what leaves have as values are computed: changes, each with the first node computed after it."""
    return [
        {
            "from": node, "values": {leaf: [page_place(place), value_line(trace, place)]
                                     for leaf, place in changed.values.items()},
            "gradients": {leaf: page_place(place) for leaf, place in changed.gradients.items()},
        }
        for node, changed in changes_before_values(trace)
    ]  # fmt: skip


def _node(node: Trace, page_place: Callable[[int | None], int | None]) -> dict[str, Any]:
    """Return a node for the page, with the call stack of its line."""
    data_of_node = {k: node[k] for k in NODE} | {"value": page_place(node["value"])} | _calls(node["lines"])
    if node["dead"]:
        data_of_node |= {"dead": True}
    if node["cut"] is not None:
        data_of_node |= {"cut": flow.words_of_cut(node)}
    return data_of_node | ({"failed": True} if node["failed"] else {})


def _rule(rule: Trace) -> dict[str, Any]:
    """Return a rule for the page; an operation without a rule shows its own code."""
    return {k: rule[k] for k in RULE} | ({"walk": True} if words.is_walk(rule) else {})


def _calls(lines: Sequence[Trace]) -> dict[str, Any]:
    """Return the first lines that called the innermost of `lines`."""
    calls = [{"file": site["file"], "line": site["line"]} for site in lines[1:4]]
    return {"calls": calls} if calls else {}


def failure(trace: Trace) -> dict[str, Any] | None:
    """Return the error that ended the last walk or the program, as a final step."""
    error = words.walk_error(trace)
    if error is None:
        return None
    of_walk = trace["walks"] and trace["walks"][-1]["error"] is not None
    where = "" if error["node"] is None else f" at {words.names(trace)[error['node']]}"
    say = f"The {'walk' if of_walk else 'program'} ends here{where}."
    lines = [trace["sites"][place] for place in error["lines"]]
    where_it_failed = {"site": lines[0]} | _calls(lines) if lines else {}
    return {"kind": error["kind"], "text": words.single_line(error["text"]), "node": error["node"], "say": say,
            **where_it_failed}  # fmt: skip


class _Table:
    """List of distinct texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int | None:
        """Return the index of a text, added if it is new."""
        if text is None:
            return None
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]


def _steps(
    trace: Trace, page_place: Callable[[int | None], int | None], formulas: _Table, alike: AlikeSteps,
    with_numbers: bool,
) -> list[dict[str, Any]]:  # fmt: skip
    exact_value = remember_exact()
    rows = zip(trace["steps"], words.step_edges(trace), words.output_links(trace), words.sentences(trace), strict=True)
    return [
        {k: step[k] for k in STEP}
        | {word: page_place(step[word]) for word in PLACED if word != "upstream"}
        | {
            "summed_axes": alike.axes(trace, step),
            "back": words.is_back(trace, step),
            "earlier": words.is_held_before(trace, step),
            "edge": edge,
            "from": start,
            "to": end,
            "passed": passed,
            "say": say,
            "upstreams": {name: page_place(place) for name, place in words.upstreams(step).items()},
            "reads": {
                name: page_place(place) for name, place in step["reads"].items() if not name.startswith("upstream[")
            },
            "formula": formulas.place(alike.formula(trace, step)),
            "numbers": formula.with_numbers(trace, step, exact_value) if with_numbers else None,
            "summed": words.summed_sentence(trace, step) if step["summed_axes"] else None,
        }
        | ({} if (factors := alike.product(trace, step)) is None else {"product": factors})
        | ({"mark": trace["marks"][step["index"]]} if step["index"] in trace.get("marks", ()) else {})
        for step, (edge, start, end), passed, say in rows
    ]


def _insides(trace: Trace) -> dict[int, Any]:
    """Return the inner walks of nodes: all if there are few, otherwise one of each kind and references to it."""
    having = [node for node in trace["nodes"] if node["opens"] and node["inside"]]
    shown: dict[int, Any] = {}
    first: dict[Any, int] = {}
    for node in having:
        kind = _kind(trace, node) if len(having) > MOST_INSIDES else node["id"]
        if kind in first:
            shown[node["id"]] = first[kind]
        elif inside := trace_input.inside(node):
            first[kind] = node["id"]
            shown[node["id"]] = payload(inside, budget=BUDGET_INSIDE) | {"line": "The line of this operation"}
    return shown


def _kind(trace: Trace, node: Trace) -> Any:
    """Return a key that similar inner walks share: operation, parameters, input shapes."""
    read = [trace["nodes"][each["node"]]["value"] for each in node["inputs"]]
    shapes = [None if place is None else tuple(trace["values"][place]["shape"]) for place in read]
    return node["op"], tuple(node["params"].items()), tuple(shapes)


def compress(data: dict[str, Any]) -> tuple[str, str]:
    """Return a payload as packed JSON, and its hash as an id. Equal traces give equal texts."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    name = "w" + hashlib.sha256(to_bytes(text)).hexdigest()[:12]
    return pack(text), name
