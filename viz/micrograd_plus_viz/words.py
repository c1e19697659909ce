"""What the pictures say about a trace: names of nodes, values in a few words, a sentence for every step."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any
from unicodedata import east_asian_width

from .digits import number
from .source import Trace


def spaced(text: str) -> str:
    """Text on one line, without the control characters that neither SVG nor HTML can hold."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def clipped(text: str, longest: int) -> str:
    """Text of at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def breadth(text: str) -> float:
    """How many digits wide a line is drawn, a little more rather than less."""
    return sum(map(_breadth, text))


@cache
def _breadth(c: str) -> float:
    return 2 if east_asian_width(c) in "WF" else 1.7 if c in "MWmw@%" else 1.4 if c.isupper() else 1


def names(trace: Trace) -> list[str]:
    """A name for every node: its label, or its operation with the name the program gives to the result.

    Names that come again are numbered; a constant without a name is called by its number.
    """
    if trace["nodes"] and all(node.get("name") for node in trace["nodes"]):
        return [_constant(trace, node) or spaced(node["name"]) for node in trace["nodes"]]
    last = {_place(node["site"]): node["id"] for node in trace["nodes"] if node["site"]}
    plain = [_constant(trace, node) or _plain_name(trace, node, last) for node in trace["nodes"]]
    times, seen, named = Counter(plain), Counter(), []
    for node, name in zip(trace["nodes"], plain, strict=True):
        seen[name] += 1
        numbered = times[name] > 1 and not _constant(trace, node)
        named.append(f"{name} #{seen[name]}" if numbered else name)
    return named


def _constant(trace: Trace, node: Trace) -> str | None:
    """The number that stands in the place of a leaf's name."""
    return scalar(trace, node["value"]) if node["kind"] == "leaf" and not node["label"] else None


def _place(site: Trace) -> tuple[Any, ...]:
    """What tells one expression of the program from another."""
    return site["file"], site["line"], site["column"], site["end_column"]


def _plain_name(trace: Trace, node: Trace, last: dict[tuple[Any, ...], int]) -> str:
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


def students(trace: Trace) -> list[str | None]:
    """What the program itself calls the value of every node: its label, or the name a line gives to it."""
    if trace.get("formulas"):  # where a step has a formula of its own, the program's names stand in it already
        return [node["label"] and spaced(node["label"]) for node in trace["nodes"]]
    called = names(trace)
    return [
        spaced(node["label"]) if node["label"]
        else name.partition(" (")[2].removesuffix(")") or None if name.endswith(")") and node["kind"] != "leaf"
        else None
        for node, name in zip(trace["nodes"], called, strict=True)
    ]  # fmt: skip


def scalar(trace: Trace, place: int | None) -> str | None:
    """The only number of a value, as text; None where it has not exactly one or was not recorded."""
    value = None if place is None else trace["values"][place]
    return number(value["data"][0]) if value and value["data"] and len(value["data"]) == 1 else None


def shape(value: dict[str, Any]) -> str:
    """A shape as Python prints it."""
    return str(tuple(value["shape"]))


def not_finite(value: Trace) -> str | None:
    """`nan` or `inf` where what the trace keeps of a value has such an entry, else None."""
    kept = value["data"] or (value["thumbnail"] or {"data": []})["data"]
    entries = [part for entry in kept for part in (entry if isinstance(entry, list) else [entry])]
    told = {entry for entry in entries if isinstance(entry, str)}
    return "nan" if "nan" in told else "inf" if told & {"inf", "-inf"} else None


def norm(value: Trace) -> str | None:
    """The norm of an array as text, None for an empty one.

    The trace's statistics leave out what is not finite; a norm does not, or a broken gradient would look sound.
    """
    return not_finite(value) or (number(value["statistics"]["norm"]) if value["statistics"] else None)


def in_brief(trace: Trace, place: int | None) -> str:
    """A value in a few words: its number, or its shape and its norm."""
    if place is None:
        return "a value that was not recorded"
    value = trace["values"][place]
    size = norm(value)
    return scalar(trace, place) or f"a {shape(value)} array" + (f" of norm {size}" if size else "")


def edges(trace: Trace) -> list[tuple[int, int, str]]:
    """Every edge as (from, to, name of the input), in the order of the nodes and of their inputs."""
    return [(e["node"], n["id"], e["name"]) for n in trace["nodes"] for e in n["inputs"]]


def ways(trace: Trace) -> list[tuple[int, int, int]]:
    """For every step the edge it travels, the node it leaves and the node it reaches.

    A backward step leaves the application and reaches its input; a forward step leaves the input, and reaches the
    application or one of its several outputs.
    """
    place = {(to, name): (i, start) for i, (start, to, name) in enumerate(edges(trace))}
    travelled = []
    for step in trace["steps"]:
        edge, start = place[step["node"], step["input"]]
        travelled.append((edge, step["node"], start) if is_back(trace, step) else (edge, start, step["target"]))
    return travelled


def is_back(trace: Trace, step: Trace) -> bool:
    """Whether a step belongs to a backward walk."""
    walks = trace.get("walks") or [trace["walk"]]
    return walks[step.get("walk", 0)]["direction"] == "backward"


def passages(trace: Trace) -> list[list[int]]:
    """For every step the edges between an application and its several outputs that are travelled just before it.

    No rule belongs to such an edge. What the outputs have received passes to their application all at once,
    before the first of its rules; forward, what a step sends passes on to the output that it is for.
    """
    links = edges(trace)
    outputs = [(edge, *link[:2]) for edge, link in enumerate(links) if trace["nodes"][link[1]]["kind"] == "output"]
    passed, at = [], 0
    travelled = ways(trace)
    while at < len(travelled):
        here = trace["steps"][at].get("walk", 0)
        back = is_back(trace, trace["steps"][at])
        stop = next((i for i in range(at, len(travelled)) if trace["steps"][i].get("walk", 0) != here), len(travelled))
        root = (trace["walks"][here] if "walks" in trace else trace["walk"])["root"]
        if not back:
            leads = {link[:2]: edge for edge, link in enumerate(links)}
            goes_on = [(step["node"], step["target"]) for step in trace["steps"][at:stop]]
            passed += [[leads[way]] if way in leads else [] for way in goes_on]
            at = stop
            continue
        arrived = {root} | {end for _, _, end in travelled[at:stop]}
        waiting: dict[int, list[int]] = {}
        for edge, start, end in outputs:
            if end in arrived:
                waiting.setdefault(start, []).append(edge)
        passed += [waiting.pop(start, []) for _, start, _ in travelled[at:stop]]
        at = stop
    return passed


def upstreams(step: Trace) -> dict[str, int | None]:
    """What a rule was handed as upstream, by name: one for each output that something arrived at."""
    several = {name: place for name, place in step["reads"].items() if name.startswith("upstream[")}
    return several or {"upstream": step["upstream"]}


def first_number(trace: Trace) -> int:
    """The number in the whole walk of the first step shown, counted from 0."""
    return trace.get("first", 0)


def steps_in_all(trace: Trace) -> int:
    """How many steps the whole walk has."""
    return trace.get("total", len(trace["steps"]))


def sentences(trace: Trace) -> list[str]:
    """A complete sentence for every step: for a caption, a screen reader and a student's answer."""
    called, count, at = names(trace), steps_in_all(trace), first_number(trace)
    links, told = edges(trace), []
    walks = trace.get("walks") or [trace["walk"]]
    differ = len({walk["direction"] for walk in walks}) > 1
    nodes_with_hooks = _hooked(trace)
    for step, (_, start, end), passed in zip(trace["steps"], ways(trace), passages(trace), strict=True):
        back = is_back(trace, step)
        word = "gradient" if back else "tangent"
        sender = called[start] + (_arrived(called, [links[edge] for edge in passed]) if back else "")
        if len(told) in nodes_with_hooks:
            sender += f", whose gradient a hook has made {in_brief(trace, step['upstream'])},"
        if is_walk(trace["rules"][step["rule"]]):
            sender += ", by the walk inside it,"
        summed = f", summed over {axes(step)}," if step["summed_axes"] else ""
        held = _held(trace, step, word) if step["accumulates"] else f", the first {word} to arrive there."
        sent = in_brief(trace, step["contribution"])
        walk = f", walk {step['walk'] + 1} of {len(walks)}" if len(walks) > 1 else ""
        walk += f", {walks[step['walk']]['direction']}" if differ else ""
        number = at + len(told) + 1
        told.append(f"Step {number} of {count}{walk}. {sender} sends {sent}{summed} to {called[end]}{held}")
    return told


def is_walk(rule: Trace) -> bool:
    """Whether an operation has no rule of its own: the walk inside it makes what is sent."""
    return list(rule.get("reads", ())) == ["upstream", "inside"]


def _hooked(trace: Trace) -> set[int]:
    """The steps before which a hook has changed what had arrived at their sender: they hand on something else."""
    found: set[int] = set()
    held: dict[int, int | None] = {}
    number = None
    for i, (step, (_, start, end)) in enumerate(zip(trace["steps"], ways(trace), strict=True)):
        if step.get("walk", 0) != number:
            number, held = step.get("walk", 0), {}
        if is_back(trace, step):
            if start in held and _differ(trace, held[start], step["upstream"]):
                found.add(i)
            held[start], held[end] = step["upstream"], step["after"]
    return found


def _differ(trace: Trace, one: int | None, other: int | None) -> bool:
    """Whether two values are known to hold other numbers; what a cast rounds away is no difference."""
    if one == other or one is None or other is None:
        return False
    a, b = (trace["values"][place]["data"] for place in (one, other))
    return bool(a and b) and len(a) == len(b) and any(
        isinstance(x, float) and isinstance(y, float) and abs(x - y) > 1e-3 * max(abs(x), abs(y))
        for x, y in zip(a, b, strict=True)
    )  # fmt: skip


def _arrived(called: list[str], passed: list[tuple[int, int, str]]) -> str:
    """Where what a step sends on came from, when edges without a rule were travelled before it."""
    if not passed:
        return ""
    sources = listed([called[end] for _, end, _ in passed])
    return f", where the gradient{'s' * (len(passed) > 1)} of {sources} arrived,"


def _held(trace: Trace, step: Trace, word: str) -> str:
    """How an accumulator grew; one that was not empty when the walk began is said to hold what an earlier walk left."""
    before, after = (None if step[k] is None else trace["values"][step[k]] for k in ("before", "after"))
    earlier = ", which an earlier walk had left there," if step.get("earlier") else ""
    if before and after and scalar(trace, step["after"]) is None and norm(before) and norm(after):
        grew = f"had norm {norm(before)}{earlier} and now has norm {norm(after)}."
        return f", whose {word} {grew}"
    had = in_brief(trace, step["before"])
    if earlier:
        return f", which held {had} from an earlier walk and now holds {in_brief(trace, step['after'])}."
    return f", which had {had} and now holds {in_brief(trace, step['after'])}."


def axes(step: Trace) -> str:
    """The axes that a step sums, as a sentence names them."""
    summed = step["summed_axes"]
    return ("axis " if len(summed) == 1 else "axes ") + listed([str(axis) for axis in summed])


def listed(texts: list[str]) -> str:
    """Some texts as a sentence lists them: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def summed(trace: Trace, step: Trace) -> str:
    """The sentence about the axes of raw that were summed."""
    raw, sent = (shape(trace["values"][step[k]]) if step[k] is not None else "unknown" for k in ("raw", "contribution"))
    return (
        f"Broadcasting had repeated the input along {axes(step)}, so raw, of shape {raw}, is summed there: "
        f"the contribution has shape {sent}."
    )


def summary(trace: Trace) -> str:
    """The walk in a line: how many nodes and steps, and what the root is worth."""
    walk = trace["walk"]
    nodes = counted_as(trace["part"]["of_nodes"] if trace.get("part") else len(trace["nodes"]), "node")
    steps = counted_as(steps_in_all(trace), "step")
    walks = trace.get("walks", [walk])
    if walk["root"] is None and not trace["steps"]:
        return f"Program without a walk: {nodes}"
    end = ""
    if walk["root"] is not None and len(walks) == 1:
        end = f", {names(trace)[walk['root']]} = {in_brief(trace, trace['nodes'][walk['root']]['value'])}"
    ways = listed(list(dict.fromkeys(each["direction"] for each in walks)))
    kind = f"{len(walks)} walks {ways}" if len(walks) > 1 else f"{walk['direction'].capitalize()} walk"
    return f"{kind}: {nodes}, {steps}{end}"


def broke_off(trace: Trace) -> Trace | None:
    """What broke off the last walk that is shown, or the program; None where nothing did, or only further on."""
    if trace["first"] + len(trace["steps"]) != trace["total"]:
        return None
    return (trace["walks"][-1]["error"] if trace["walks"] else None) or trace["error"]


def counted_as(count: int, word: str) -> str:
    """So many: `1 node`, `2 nodes`."""
    return f"{count} {word}{'s' * (count != 1)}"
