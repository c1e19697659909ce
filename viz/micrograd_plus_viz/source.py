"""What may be handed in as a trace: its data, a JSON file, or an object that can tell its data.

Everything else here works on one form of it, in which a node's number is its place. Records of an earlier layout are
brought into that form; of a long walk a part may be asked for, which keeps the names and numbers of the whole.
"""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Trace = dict[str, Any]
FORMAT = "micrograd_plus/trace"
VERSIONS = (1, 2)


def trace_data(trace: Any, start: int = 0, length: int | None = None) -> Trace:
    """The trace as the plain data of docs/trace.md, or with `length` a part of it that begins at step `start`.

    `trace` is a dict, the path of a JSON file, or an object with `.to_dict()`. ValueError where it is data of
    another format or version, TypeError where it is nothing of the kind.
    """
    if isinstance(trace, (str, os.PathLike)):
        trace = json.loads(Path(trace).read_text(encoding="utf-8"))
    elif hasattr(trace, "to_dict"):
        return _asked(trace, start, length)
    if not isinstance(trace, dict):
        raise TypeError(
            f"a trace is wanted (its data, the path of its JSON file, or an object with to_dict()), not "
            f"{type(trace).__name__}"
        )
    if trace.get("format") != FORMAT:
        raise ValueError(f"this is not a recorded walk: its format is {trace.get('format')!r}, not {FORMAT!r}")
    if trace.get("version") not in VERSIONS:
        readable = " and ".join(map(str, VERSIONS))
        raise ValueError(f"this trace has version {trace.get('version')!r}; this program reads versions {readable}")
    return trace


def _asked(trace: Any, start: int, length: int | None) -> Trace:
    """The data of a recorded trace. Where it can be asked for a part, no more is made than will be shown, and walks
    inside are told when they are wanted."""
    if "length" not in inspect.signature(trace.to_dict).parameters:
        return trace.to_dict()
    data = trace.to_dict(start=start, length=length, insides=False)
    for node in data["nodes"]:
        if node["opens"]:
            node["inside"] = _teller(trace, node["id"])
    return data


def _teller(trace: Any, node: int) -> Callable[[], Trace | None]:
    def tell() -> Trace | None:
        told = trace.inside(trace.nodes[node])
        return None if told is None else _asked(told, 0, None)

    return tell


def _told(node: Trace) -> Trace | None:
    """The walk inside a node as it was handed in: data, or a function that makes it."""
    held = node["inside"]
    return held if held is None or isinstance(held, dict) else held()


def inside(node: Trace) -> Trace | None:
    """The walk inside a node in the form that is shown; None where there is none."""
    told = _told(node)
    return None if told is None else normal(told)


def with_insides(trace: Trace) -> Trace:
    """The data with every walk inside spelt out, as a file holds it."""
    nodes = []
    for node in trace["nodes"]:
        told = _told(node)
        nodes.append(node | {"inside": told and with_insides(told)})
    return trace | {"nodes": nodes}


def normal(trace: Trace) -> Trace:
    """A trace in the form that is shown: nodes numbered by their places, each with its line, all walks in a list."""
    if "shown" in trace:
        return trace
    if "walks" not in trace:
        return _of_before(trace)
    number = {node["id"]: place for place, node in enumerate(trace["nodes"])}
    group = {each["id"]: place for place, each in enumerate(trace["groups"])}
    sites = trace["sites"]
    nodes = [
        node
        | {
            "id": number[node["id"]],
            "inputs": [e | {"node": number[e["node"]]} for e in node["inputs"] if e["node"] in number],
            "site": sites[node["lines"][0]] if node["lines"] else None,
            "lines": [sites[place] for place in node["lines"]],
            "group": None if node["group"] is None else group[node["group"]],
        }
        for node in trace["nodes"]
    ]
    steps = [
        step | {"node": number[step["node"]], "target": number[step["target"]]} for step in trace["steps"]
    ]
    walks = [
        walk | {"root": number.get(walk["root"]), "error": _error(walk["error"], number)} for walk in trace["walks"]
    ]
    part = trace["part"]
    first = part["first"] if part else 0
    shown = walks[steps[0]["walk"] if steps else 0] if walks else _no_walk()
    return trace | {
        "shown": True,
        "walk": shown,
        "walks": walks,
        "first": first,
        "total": part["of_steps"] if part else len(steps),
        "nodes": nodes,
        "steps": steps,
        "error": _error(trace["error"], number),
        "not_finite": [
            each | {"node": number[each["node"]]} for each in trace.get("not_finite", []) if each["node"] in number
        ],
        "groups": [
            each | {"id": place, "parent": None if each["parent"] is None else group[each["parent"]],
                    "site": None if each["line"] is None else sites[each["line"]]}
            for place, each in enumerate(trace["groups"])
        ],
        "links": [[group[a], group[b], n] for a, b, n in part["links"]] if part else [],
        "gradients": [g | {"node": number[g["node"]]} for g in trace["gradients"] if g["node"] in number],
        "values": [_whole(value) for value in trace["values"]],
    }


def _error(error: Trace | None, number: dict[int, int]) -> Trace | None:
    return error and error | {"node": number.get(error["node"])}


def _no_walk() -> Trace:
    return {"direction": "backward", "root": None, "seed": None, "first": 0, "steps": 0, "error": None}


def _whole(value: Trace) -> Trace:
    """A value whose picture has a cell for every entry has all its entries, to five digits."""
    cells = value["thumbnail"]
    if value["data"] is None and cells and len(cells["data"]) == math.prod(value["shape"]):
        return value | {"data": cells["data"], "shortened": True}
    return value if not cells else value | {"thumbnail": {"keeps": "largest"} | cells}


def _of_before(trace: Trace) -> Trace:
    """A record of one walk, with neither groups nor formulas of single steps."""
    steps = [{"walk": 0, "earlier": False, "formula": None} | step for step in trace["steps"]]
    walk = {"first": 0, "steps": len(steps), "error": None} | trace["walk"]
    nodes = [
        {"failed": False, "opens": node["inside"] is not None, "group": None, "called": None}
        | {"lines": [node["site"]] if node["site"] else []}
        | node
        for node in trace["nodes"]
    ]
    return trace | {
        "shown": True, "walk": walk, "walks": [walk], "first": 0, "total": len(steps), "nodes": nodes, "steps": steps,
        "error": None, "groups": [], "links": [], "formulas": [], "part": None,
    }  # fmt: skip
