"""What the player is handed: the trace in its own words, places or groups, formulas, sentences."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from . import cells, formula, layout, picture, source, walks, words
from .dot import last_and_broadest
from .groups import grouped
from .picture import Placing
from .source import Trace

NODE = ("kind", "op", "summary", "params", "value", "site", "requires_grad")
STEP = ("node", "input", "rule", "local", "raw", "summed_axes", "contribution", "before", "after", "accumulates")
RULE = ("text", "source", "file", "line", "kind", "reason")
PLACED = ("upstream", "local", "raw", "contribution", "before", "after")
MOST_USES = 4
"""A leaf with more uses is drawn again at each, so that no edge leads across the whole picture."""
BUDGET_INSIDE = 6000
MOST_INSIDES = 12
"""Up to so many walks inside come along each; of more, those that differ in operation and shapes."""

MOST_CAUGHT = 20
"""How many errors that a program caught are told."""


def payload(
    trace: Trace, note: str | None = None, placing: Placing | None = None, budget: int = cells.BUDGET
) -> dict[str, Any]:
    """Everything the player shows of one trace; the walks inside its nodes come along in the same form.

    `placing` says where the nodes lie, where that is known already; `budget` how many cells the pictures may have.
    """
    trace = source.normal(trace)
    values, places = cells.packed(trace["values"], budget)
    formulas = _Table()
    written, broadest = last_and_broadest(trace)
    left, behind = walks.left_behind(trace)

    def placed(place: int | None) -> int | None:
        return None if place is None else places[place]

    return {
        "summary": words.summary(trace),
        "note": note,
        "line": "Your line",
        "root": trace["walk"]["root"],
        "rings": sorted(walks.rings(trace)),
        "first": words.first_number(trace),
        "total": words.steps_in_all(trace),
        "alt": picture.alt(trace),
        "names": words.names(trace),
        "called": words.students(trace),
        "labels": [[*label, round(broad, 1)] for label, broad in zip(written, broadest, strict=True)],
        "nodes": [_node(node, placed) for node in trace["nodes"]],
        "edges": [list(edge) for edge in words.edges(trace)],
        "placing": _placing(placing or layout.placed(trace)) if is_drawn_whole(trace) else None,
        "groups": grouped(trace),
        "steps": _steps(trace, placed, formulas),
        "formulas": formulas.kept,
        "rules": {name: _rule(rule) for name, rule in trace["rules"].items()},
        "values": values,
        "left": left,
        "gradients": [{"node": node, "value": placed(place)} for node, place in behind],
        "walks": _walks(trace, placed),
        "error": failure(trace),
        "odd": _not_finite(trace),
        "caught": _all_caught(trace),
        "insides": _insides(trace),
    }


def _all_caught(trace: Trace) -> list[str]:
    """The errors that the program caught itself; of very many the first."""
    errors = trace.get("caught", [])
    told = [_caught(each, trace["sites"]) for each in errors[:MOST_CAUGHT]]
    return told if len(errors) <= MOST_CAUGHT else [*told, f"and {len(errors) - MOST_CAUGHT} more"]


def _caught(error: Trace, sites: list[Trace]) -> str:
    """An error that the program caught itself, with the line that it came from."""
    line = sites[error["lines"][0]] if error["lines"] else None
    where = f"{line['file']}, line {line['line']}: " if line else ""
    return words.spaced(f"{where}{error['kind']}: {error['text']}")


def _not_finite(trace: Trace) -> str | None:
    """Where nan or infinity comes from, as the record tells it."""
    called = words.names(trace)
    told = []
    for place in trace.get("not_finite", []):
        counts = words.listed([f"{place[word]} {word}" for word in ("nan", "inf") if place[word]])
        where = f", first at {place['entry']}" if place["entry"] else ""
        if place["step"] is None:
            told.append(f"First result that is not finite: {called[place['node']]} ({counts}{where}).")
        else:
            told.append(f"Step {place['step'] + 1} sends {counts} to {called[place['node']]}{where}.")
    return " ".join(told) or None


def _walks(trace: Trace, placed: Callable[[int | None], int | None]) -> list[dict[str, Any]]:
    """The walks that have steps here: the place of the first one's, what is sent, and what nodes hold as it begins."""
    return [
        {"at": walk.at, "word": walk.word, "back": walk.direction == "backward",
         "starts": {node: placed(place) for node, place in begins.items() if place is not None}}
        for walk, begins in zip(walks.walks_of(trace), walks.starts(trace), strict=True)
    ]  # fmt: skip


def _node(node: Trace, placed: Callable[[int | None], int | None]) -> dict[str, Any]:
    """A node as the page has it, with the lines of the program that led to its own."""
    shown = {k: node[k] for k in NODE} | {"value": placed(node["value"])}
    if calls := [{"file": site["file"], "line": site["line"]} for site in node["lines"][1:4]]:
        shown["calls"] = calls
    return shown | ({"failed": True} if node["failed"] else {})


def _rule(rule: Trace) -> dict[str, Any]:
    """A rule as the page has it; what an operation without one has for its code is its own."""
    return {k: rule[k] for k in RULE} | ({"walk": True} if words.is_walk(rule) else {})


def failure(trace: Trace) -> dict[str, Any] | None:
    """What broke off the last walk shown, or the program, as the step that ends it."""
    error = words.broke_off(trace)
    if error is None:
        return None
    of_walk = trace["walks"] and trace["walks"][-1]["error"] is not None
    where = "" if error["node"] is None else f" at {words.names(trace)[error['node']]}"
    say = f"The {'walk' if of_walk else 'program'} ends here{where}."
    return {"kind": error["kind"], "text": words.spaced(error["text"]), "node": error["node"], "say": say}


def is_drawn_whole(trace: Trace) -> bool:
    """Whether a graph is small enough to be placed once for all; others are placed in the page, as groups open."""
    uses = Counter(start for start, _, _ in words.edges(trace))
    crowded = any(uses[node["id"]] > MOST_USES for node in trace["nodes"] if node["kind"] == "leaf")
    return grouped(trace) is None and not crowded


def _placing(placing: Placing) -> dict[str, Any]:
    """Places as the page has them: centres and sizes, curves, the points of arrows."""
    return {
        "width": round(placing.width, 1),
        "height": round(placing.height, 1),
        "boxes": [[round(x, 1) for x in box] for box in placing.boxes],
        "curves": placing.curves,
        "heads": [[round(x, 1) for x in head] for head in placing.heads],
    }


class _Table:
    """Texts, each kept once."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int | None:
        """Where a text stands."""
        if text is None:
            return None
        if text not in self._places:
            self._places[text] = len(self.kept)
            self.kept.append(text)
        return self._places[text]


def _steps(trace: Trace, placed: Callable[[int | None], int | None], formulas: _Table) -> list[dict[str, Any]]:
    known: dict[Any, int | None] = {}

    def general(step: Trace) -> int | None:
        """The place of a step's formula; steps alike have the same, which is made once."""
        like = (step["rule"], step["formula"], *step["summed_axes"])
        if like not in known:
            known[like] = formulas.place(formula.of_step(trace, step))
        return known[like]

    told = zip(trace["steps"], words.ways(trace), words.passages(trace), words.sentences(trace), strict=True)
    return [
        {k: step[k] for k in STEP}
        | {word: placed(step[word]) for word in PLACED if word != "upstream"}
        | {
            "back": words.is_back(trace, step),
            "earlier": step["earlier"],
            "edge": edge,
            "from": start,
            "to": end,
            "passed": passed,
            "say": say,
            "upstreams": {name: placed(place) for name, place in words.upstreams(step).items()},
            "reads": {name: placed(place) for name, place in step["reads"].items() if not name.startswith("upstream[")},
            "formula": general(step),
            "numbers": formula.with_numbers(trace, step),
            "summed": words.summed(trace, step) if step["summed_axes"] else None,
        }
        for step, (edge, start, end), passed, say in told
    ]


def _insides(trace: Trace) -> dict[int, Any]:
    """The walks inside nodes: all of a few; of many one of each kind, and for the others which one is like them."""
    having = [node for node in trace["nodes"] if node["opens"] and node["inside"]]
    shown: dict[int, Any] = {}
    first: dict[Any, int] = {}
    for node in having:
        kind = _kind(trace, node) if len(having) > MOST_INSIDES else node["id"]
        if kind in first:
            shown[node["id"]] = first[kind]
        elif told := source.inside(node):
            first[kind] = node["id"]
            shown[node["id"]] = payload(told, budget=BUDGET_INSIDE) | {"line": "The operation’s own line"}
    return shown


def _kind(trace: Trace, node: Trace) -> Any:
    """What walks inside are alike in: the operation, its parameters, the shapes of its inputs."""
    read = [trace["nodes"][each["node"]]["value"] for each in node["inputs"]]
    shapes = [None if place is None else tuple(trace["values"][place]["shape"]) for place in read]
    return node["op"], tuple(node["params"].items()), tuple(shapes)


def packed(data: dict[str, Any]) -> tuple[str, str]:
    """A payload as base64 of its gzipped JSON, and its hash as an id: equal traces give equal bytes."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    squeezed = gzip.compress(text.encode("utf-8"), compresslevel=7, mtime=0)
    name = "w" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return base64.b64encode(squeezed).decode("ascii"), name
