"""Two walks of one program in one graph: the second one's numbers stand beside the first one's where they differ."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from .trace_input import Trace

Payload = dict[str, Any]
BETWEEN = " | "


def join_walks(one: Trace, other: Trace) -> Trace | None:
    """Return the first walk with the second as its `other`; None if the programs differ.

    Programs are equal if they have the same nodes, and the same steps along the same edges.
    """
    if ("film" in one) != ("film" in other) or not _is_alike(one, other):
        return None
    if "film" in one:
        pairs = [*zip(one["film"], other["film"], strict=False)]
        is_whole = len(one["film"]) == len(other["film"]) and one["film_rounds"] == other["film_rounds"]
        if not is_whole or not all(a.number == b.number and _is_alike(a.part, b.part) for a, b in pairs):
            return None
    return one | {"other": other}


def _is_alike(one: Trace, other: Trace) -> bool:
    shapes = [
        (
            each["total"], each["first"], [(node["op"], node["kind"]) for node in each["nodes"]],
            [(step["node"], step["input"], step["target"]) for step in each["steps"]],
        )
        for each in (one, other)
    ]  # fmt: skip
    return shapes[0] == shapes[1]


def with_other(page: Payload, other: Payload) -> Payload:
    """Return a payload with the numbers of another one of the same program."""
    labels = [
        [mine[0], join_texts(mine[1], theirs[1]), mine[2], _width(mine, theirs)]
        for mine, theirs in zip(page["labels"], other["labels"], strict=True)
    ]
    walks = [
        walk | {"values": _join_values(walk, also, page, other)}
        for walk, also in zip(page["walks"], other["walks"], strict=True)
    ]
    values = [(mine["value"], theirs["value"]) for mine, theirs in zip(page["nodes"], other["nodes"], strict=True)]
    return page | {
        "labels": labels, "walks": walks, "program": join_programs(page["program"], other["program"]),
        "other": {
            "walks": [{"starts": walk["starts"], "ends": walk["ends"]} for walk in other["walks"]],
            "steps": [
                {"before": step["before"], "after": step["after"], "upstream": step["upstreams"].get("upstream")}
                for step in other["steps"]
            ],
            "values": {mine: theirs for mine, theirs in values if mine != theirs and mine is not None},
        },
    }  # fmt: skip


def join_programs(mine: list[Payload], theirs: list[Payload]) -> list[Payload]:
    """Return the files of a program; each line that differs has the lines that the other program has there.

    A line that only this program has, as `zero_grad` in a replay without it, has an empty list. Files correspond in
    their order, and lines by their text.
    """
    files = []
    for file, other in zip_longest(mine, theirs[: len(mine)]):
        lines, others = file["lines"], [text.rstrip() for _, text in other["lines"]] if other else []
        matcher = SequenceMatcher(None, [text.rstrip() for _, text in lines], others, autojunk=False)
        joined = []
        for kind, start, stop, first, last in matcher.get_opcodes():
            for at in range(start, stop):
                end = last if at == stop - 1 else first + at - start + 1
                joined.append(lines[at] if kind == "equal" else [*lines[at], others[first + at - start : end]])
            if kind == "insert" and joined:
                joined[-1] = [*joined[-1][:2], [joined[-1][1], *others[first:last]]]
        files.append(file | {"lines": joined})
    return files


def places_of_other(page: Payload) -> set[int | None]:
    """Return the values of the other walk that a page uses."""
    other: Payload = page.get("other") or {"values": {}, "steps": [], "walks": []}
    used = {*other["values"].values(), *(step[word] for step in other["steps"] for word in step)}
    return used | {place for walk in other["walks"] for part in walk.values() for place in part.values()}


def join_moments(mine: Payload, theirs: Payload) -> Payload:
    """Return the moments of a round with the other walk's values and gradients.

    If the other program lacks a change, its leaves have what they had before.
    """
    joined = dict(mine)
    for part in ("before", "after"):
        known = {moment["word"]: moment for moment in theirs[part]}
        last: Payload = {"values": {}, "gradients": theirs["begins"] if part == "before" else None}
        row = []
        for moment in mine[part]:
            last = known.get(moment["word"], last)
            values = {
                node: [place, join_texts(text, last["values"].get(node, [None, text])[1])]
                for node, (place, text) in moment["values"].items()
            }
            row.append(moment | {"values": values} | ({} if last["gradients"] is None else {
                "others": {node: last["gradients"].get(node) for node in moment["gradients"]}}))  # fmt: skip
        joined[part] = row
    return joined


def join_texts(one: str | None, other: str | None) -> str | None:
    """Return two texts beside each other, or one if they are equal."""
    return one if one == other else f"{one or '–'}{BETWEEN}{other or '–'}"


def _width(mine: list[Any], theirs: list[Any]) -> float:
    return mine[3] if mine[1:3] == theirs[1:3] else mine[3] + theirs[3] + len(BETWEEN)


def _join_values(walk: Payload, also: Payload, page: Payload, other: Payload) -> Payload:
    """Return the values that leaves have in a walk, for leaves whose value has changed in either record."""
    joined: Payload = {}
    for node in {**walk["values"], **also["values"]}:
        mine = walk["values"].get(node) or [page["nodes"][node]["value"], page["labels"][node][1]]
        theirs = also["values"].get(node) or [other["nodes"][node]["value"], other["labels"][node][1]]
        joined[node] = [mine[0], join_texts(mine[1], theirs[1])]
    return joined

