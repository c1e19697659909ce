"""Input of traces: data, a JSON file, or an object with `to_dict()`.

Everything else in this package works on the normalized form, in which a node's id is its index. Long walks can be
loaded in part, with the names and numbers of the full walk.
"""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .flow import mark_dead_nodes
from .rounding import mark_rounding

Trace = dict[str, Any]
FORMAT = "micrograd_plus/trace"
VERSION = 3
MOST_MARKED = 1024
"""The number of entries of a right array up to which it is shown beside a wrong one."""


def trace_data(trace: Any, start: int = 0, length: int | None = None) -> Trace:
    """Return a trace as plain data (docs/trace.md), or with `length` the part that starts at step `start`.

    `trace` is a dict, the path of a JSON file, or an object with `.to_dict()`. Raises ValueError for another format or
    version, TypeError for any other object.
    """
    if isinstance(trace, (str, os.PathLike)):
        trace = json.loads(Path(trace).read_text(encoding="utf-8"))
    elif hasattr(trace, "to_dict"):
        return _data_of_recording(trace, start, length)
    if not isinstance(trace, dict):
        raise TypeError(
            f"a trace must be its data, the path of its JSON file, or an object with to_dict(), not "
            f"{type(trace).__name__}"
        )
    if trace.get("format") != FORMAT:
        raise ValueError(f"this is not a recorded walk: its format is {trace.get('format')!r}, not {FORMAT!r}")
    if trace.get("version") != VERSION:
        raise ValueError(f"this trace has version {trace.get('version')!r}; this program reads version {VERSION}")
    return trace


def _data_of_recording(trace: Any, start: int, length: int | None) -> Trace:
    """Return the data of a recording. If it supports parts, only the visible part is built, and inner walks load
    later."""
    if "length" not in inspect.signature(trace.to_dict).parameters:
        return trace.to_dict()
    data = trace.to_dict(start=start, length=length, insides=False)
    data["marks"] = {index: mark | {"right": _entries(mark["right"])} for index, mark in trace.marks.items()}
    for node in data["nodes"]:
        if node["opens"]:
            node["inside"] = _lazy_inside(trace, node["id"])
    return data


def _entries(array: Any) -> Trace | None:
    """Return a small array as a value of a trace; None for a large one."""
    if array is None or array.size > MOST_MARKED:
        return None
    data = [x if math.isfinite(x) else str(x) for x in array.reshape(-1).tolist()]
    return {"shape": list(array.shape), "dtype": str(array.dtype), "data": data}


def _lazy_inside(trace: Any, node: int) -> Callable[[], Trace | None]:
    def load() -> Trace | None:
        data = trace.inside(trace.nodes[node])
        return None if data is None else _data_of_recording(data, 0, None)

    return load


def _inside_data(node: Trace) -> Trace | None:
    """Return the walk inside a node as data, calling its loader if it has one."""
    data = node["inside"]
    return data if data is None or isinstance(data, dict) else data()


def inside(node: Trace) -> Trace | None:
    """Return the normalized walk inside a node, or None."""
    data = _inside_data(node)
    return None if data is None else normalize(data)


def with_insides(trace: Trace) -> Trace:
    """Return the data with all inner walks loaded, as a file holds it."""
    nodes = []
    for node in trace["nodes"]:
        data = _inside_data(node)
        nodes.append(node | {"inside": data and with_insides(data)})
    return trace | {"nodes": nodes}


def normalize(trace: Trace) -> Trace:
    """Return a trace in normalized form: nodes and groups numbered by index, with their source lines."""
    if "shown" in trace:
        return trace
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
    first_walk = walks[steps[0]["walk"] if steps else 0] if walks else _no_walk()
    shown = trace | {
        "shown": True,
        "walk": first_walk,
        "walks": walks,
        "first": first,
        "total": part["of_steps"] if part else len(steps),
        "nodes": nodes,
        "steps": steps,
        "error": _error(trace["error"], number),
        "not_finite": [
            each | {"node": number[each["node"]]} for each in trace["not_finite"] if each["node"] in number
        ],
        "groups": [
            each | {"id": place, "parent": None if each["parent"] is None else group[each["parent"]],
                    "site": None if each["line"] is None else sites[each["line"]]}
            for place, each in enumerate(trace["groups"])
        ],
        "links": [[group[a], group[b], n] for a, b, n in part["links"]] if part else [],
        "part": part and part | {"unreached": [number[node] for node in part["unreached"]]},
        "starts": [g | {"node": number[g["node"]]} for g in trace["starts"] if g["node"] in number],
        "journal": [
            entry | {"node": None if entry["node"] is None else number[entry["node"]]}
            for entry in trace["journal"] if entry["node"] is None or entry["node"] in number
        ],
        "gradients": [g | {"node": number[g["node"]]} for g in trace["gradients"] if g["node"] in number],
        "values": [_restore_entries(value) for value in trace["values"]],
    }
    mark_dead_nodes(shown)
    mark_rounding(shown)
    return shown


def _error(error: Trace | None, number: dict[int, int]) -> Trace | None:
    return error and error | {"node": number.get(error["node"])}


def _no_walk() -> Trace:
    return {"direction": "backward", "root": None, "seed": None, "first": 0, "steps": 0, "error": None}


def _restore_entries(value: Trace) -> Trace:
    """Return a value with all entries, to five digits, if its thumbnail has a cell for each."""
    cells = value["thumbnail"]
    if value["data"] is None and cells and len(cells["data"]) == math.prod(value["shape"]):
        return value | {"data": cells["data"], "shortened": True}
    return value if not cells else value | {"thumbnail": {"keeps": "largest"} | cells}
