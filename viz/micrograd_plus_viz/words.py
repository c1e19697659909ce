"""What the pictures say about a trace: names of nodes, values in a few words, a sentence for every step."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .digits import number

Trace = dict[str, Any]


def spaced(text: str) -> str:
    """Text on one line, without the control characters that neither SVG nor HTML can hold."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def clipped(text: str, longest: int) -> str:
    """Text of at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def names(trace: Trace) -> list[str]:
    """A name for every node: its label, or its operation with the name the program gives to the result.

    Names that come again are numbered; a constant without a name is called by its number.
    """
    last = {_place(node["site"]): node["id"] for node in trace["nodes"] if node["site"]}
    plain = [_plain_name(trace, node, last) for node in trace["nodes"]]
    times, seen, named = Counter(plain), Counter(), []
    for node, name in zip(trace["nodes"], plain, strict=True):
        seen[name] += 1
        unnamed = node["kind"] == "leaf" and not node["label"]
        constant = scalar(trace, node["value"]) if unnamed else None
        named.append(constant or (f"{name} #{seen[name]}" if times[name] > 1 else name))
    return named


def _place(site: Trace) -> tuple[Any, ...]:
    """What tells one expression of the program from another."""
    return site["file"], site["line"], site["column"], site["end_column"]


def _plain_name(trace: Trace, node: Trace, last: dict[tuple[Any, ...], int]) -> str:
    if node["kind"] == "output":
        op = trace["nodes"][node["inputs"][0]["node"]]["op"]
        return spaced(f"{op}{node['label'] or ' output'}")
    if node["label"]:
        return spaced(node["label"]) or node["kind"]
    ends_it = node["site"] and last[_place(node["site"])] == node["id"]  # one call may apply many operations
    given = assigned(node["site"]) if ends_it else None
    return spaced(node["op"] or node["kind"]) + (f" ({given})" if given else "")


def assigned(site: Trace | None) -> str | None:
    """The name a source line gives to the whole expression at a site, as in `loss = mse(x, y)`; else None."""
    if not site or site["column"] is None or site["end_line"] != site["line"]:
        return None
    name, equals, rest = site["text"][: site["column"]].rpartition("=")
    whole = equals and not rest.strip() and not site["text"][site["end_column"] :].partition("#")[0].strip()
    return name.strip() if whole and name.strip().isidentifier() else None


def scalar(trace: Trace, place: int | None) -> str | None:
    """The only number of a value, as text; None where it has not exactly one or was not recorded."""
    value = None if place is None else trace["values"][place]
    return number(value["data"][0]) if value and value["data"] and len(value["data"]) == 1 else None


def shape(value: dict[str, Any]) -> str:
    """A shape as Python prints it."""
    return str(tuple(value["shape"]))


def in_brief(trace: Trace, place: int | None) -> str:
    """A value in a few words: its number, or its shape and its norm."""
    if place is None:
        return "a value that was not recorded"
    value = trace["values"][place]
    if only := scalar(trace, place):
        return only
    norm = f" of norm {number(value['statistics']['norm'])}" if value["statistics"] else ""
    return f"a {shape(value)} array{norm}"


def gradient_word(trace: Trace) -> str:
    """What travels: gradients, or in a forward walk tangents."""
    return "tangent" if trace["walk"]["direction"] == "forward" else "gradient"


def edges(trace: Trace) -> list[tuple[int, int, str]]:
    """Every edge as (from, to, name of the input), in the order of the nodes and of their inputs."""
    return [(e["node"], n["id"], e["name"]) for n in trace["nodes"] for e in n["inputs"]]


def ways(trace: Trace) -> list[tuple[int, int, int]]:
    """For every step the edge it travels, the node it leaves and the node it reaches.

    A backward step leaves the application and reaches its input; a forward step goes the other way.
    """
    place = {(to, name): (i, start) for i, (start, to, name) in enumerate(edges(trace))}
    back = trace["walk"]["direction"] == "backward"
    travelled = []
    for step in trace["steps"]:
        edge, start = place[step["node"], step["input"]]
        travelled.append((edge, step["node"], start) if back else (edge, start, step["node"]))
    return travelled


def sentences(trace: Trace) -> list[str]:
    """A complete sentence for every step: for a caption, a screen reader and a student's answer."""
    called, word, count = names(trace), gradient_word(trace), len(trace["steps"])
    told = []
    for i, (step, (_, start, end)) in enumerate(zip(trace["steps"], ways(trace), strict=True)):
        summed = f", summed over {_axes(step)}," if step["summed_axes"] else ""
        held = _held(trace, step) if step["accumulates"] else f", the first {word} to arrive there."
        sent = in_brief(trace, step["contribution"])
        told.append(f"Step {i + 1} of {count}. {called[start]} sends {sent}{summed} to {called[end]}{held}")
    return told


def _held(trace: Trace, step: Trace) -> str:
    """How an accumulator grew."""
    before, after = (None if step[k] is None else trace["values"][step[k]] for k in ("before", "after"))
    if (
        before
        and after
        and before["statistics"]
        and after["statistics"]
        and scalar(trace, step["after"]) is None
    ):
        norms = [number(v["statistics"]["norm"]) for v in (before, after)]
        return f", whose {gradient_word(trace)} had norm {norms[0]} and now has norm {norms[1]}."
    return f", which had {in_brief(trace, step['before'])} and now holds {in_brief(trace, step['after'])}."


def _axes(step: Trace) -> str:
    axes = [str(axis) for axis in step["summed_axes"]]
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(axes[:-1])} and {axes[-1]}"


def summed(trace: Trace, step: Trace) -> str:
    """The sentence about the axes of raw that were summed."""
    raw, sent = (
        shape(trace["values"][step[k]]) if step[k] is not None else "unknown" for k in ("raw", "contribution")
    )
    return (
        f"Broadcasting had repeated the input along {_axes(step)}, so raw, of shape {raw}, is summed there: "
        f"the contribution has shape {sent}."
    )


def summary(trace: Trace) -> str:
    """The walk in a line: how many nodes and steps, and what the root is worth."""
    root = trace["walk"]["root"]
    kind = trace["walk"]["direction"].capitalize()
    end = (
        "" if root is None else f", {names(trace)[root]} = {in_brief(trace, trace['nodes'][root]['value'])}"
    )
    return f"{kind} walk: {len(trace['nodes'])} nodes, {len(trace['steps'])} steps{end}"


def started(trace: Trace, travelled: list[tuple[int, int, int]] | None = None) -> dict[int, int | None]:
    """The value every node holds before the first step: what has arrived there when a step first meets it.

    An application with several outputs holds nothing: its gradients arrive at the outputs. `travelled` are
    the trace's `ways`, where they are known already.
    """
    root = trace["walk"]["root"]
    held = {} if root is None else {root: trace["walk"]["seed"]}
    held |= {e["node"]: None for node in trace["nodes"] if node["kind"] == "output" for e in node["inputs"]}
    for step, (_, start, end) in zip(trace["steps"], travelled or ways(trace), strict=True):
        held.setdefault(start, step["upstream"])
        held.setdefault(end, step["before"])
    return held
