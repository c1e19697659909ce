"""Groups of nodes, so that a network of real size is understood at first sight.

A node belongs to the groups along its path: the module, the scope, the function and the round of a loop that made it.
Records from before paths were kept have them by the names of parameters and by source lines that repeat. Where a group
would hold too many parts, those that follow each other are bundled.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from .source import Trace
from .words import _place, counted_as, edges, spaced

MOST_DRAWN = 40
"""Graphs of more nodes start in groups."""
MOST_PARTS = 20
MOST_OF_A_SORT = 10
ENOUGH, MOST_AT_FIRST = 5, 30
"""Groups are opened, largest first, until at least so many parts are drawn, as long as they are at most so many."""

NUMBERS = re.compile(r"\d+(–\d+)?")

Path = tuple[str, ...]


class Group:
    """A group: its name, the group it lies in, and its parts in order, each a group or the number of a node."""

    __slots__ = ("count", "loose", "name", "note", "parent", "parts", "place")

    def __init__(self, name: str, parent: Group | None, loose: bool = False) -> None:
        self.name, self.parent, self.loose, self.note = name, parent, loose, ""
        self.parts: list[Group | int] = []
        self.count, self.place = 0, -1


def grouped(trace: Trace) -> dict[str, Any] | None:
    """The groups of a trace for the page: names, what else is told of each, parents, sizes, the group of every node,
    those open at first.

    None for a graph that is drawn whole. The outermost group, number 0, is the program itself and always open.
    """
    if len(trace["nodes"]) <= MOST_DRAWN:
        return None
    root = tree(paths(trace))
    _bundle(root, [spaced(node["op"] or "") for node in trace["nodes"]])
    _simplify(root)
    _count(root)
    listed: list[Group] = []
    of = [0] * len(trace["nodes"])
    todo = [root]
    while todo:
        group = todo.pop()
        group.place = len(listed)
        listed.append(group)
        for part in group.parts:
            if isinstance(part, Group):
                todo.append(part)
            else:
                of[part] = group.place
    opened = _opened(root)
    return {
        "names": [_full_name(group) for group in listed],
        "notes": [group.note or counted_as(group.count, "node") for group in listed],
        "parents": [group.parent.place if group.parent else -1 for group in listed],
        "counts": [group.count for group in listed],
        "of": of,
        "open": sorted(group.place for group in opened),
    }


def _full_name(group: Group) -> str:
    """A name that can stand alone: numbers alone go behind what they count."""
    if NUMBERS.fullmatch(group.name) and group.parent and group.parent.name:
        return f"{group.parent.name}.{group.name}"
    return group.name


def tree(found: list[Path]) -> Group:
    """The tree of groups that paths make, parts in the order in which their first node came to be."""
    root = Group("", None)
    known: dict[Path, Group] = {(): root}
    for node, path in enumerate(found):
        group = root
        for depth in range(1, len(path) + 1):
            inner = known.get(path[:depth])
            if inner is None:
                inner = known[path[:depth]] = Group(path[depth - 1], group)
                group.parts.append(inner)
            group = inner
        group.parts.append(node)
    return root


def paths(trace: Trace) -> list[Path]:
    """The path of every node. A leaf without one stands where it is used: where all its users are."""
    nodes = trace["nodes"]
    found: list[Path | None] = _recorded(trace) if trace.get("groups") else _guessed(trace)
    users: dict[int, list[int]] = {}
    for start, end, _ in edges(trace):
        users.setdefault(start, []).append(end)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if found[i] is None and node["kind"] == "leaf" and i in users:
            found[i] = _common([found[end] or () for end in users[i]])
        elif node["kind"] == "output":
            found[i] = found[node["inputs"][0]["node"]]
    return [path or () for path in found]


def _recorded(trace: Trace) -> list[Path | None]:
    """The paths that the engine recorded."""
    whole: list[Path] = []
    for group in trace["groups"]:
        before = () if group["parent"] is None else whole[group["parent"]]
        whole.append((*before, group["name"]))
    return [None if node["group"] is None else whole[node["group"]] for node in trace["nodes"]]


def _guessed(trace: Trace) -> list[Path | None]:
    """Paths where none were recorded: parameters by their dotted names, results by the round of a line that repeats."""
    nodes = trace["nodes"]
    times = Counter(_place(node["site"]) for node in nodes if node["site"])
    rounds = Counter(times.values())
    usual = max((n for n in rounds if n > 2), key=lambda n: (rounds[n], n), default=0)
    seen: Counter[Any] = Counter()
    found: list[Path | None] = []
    for node in nodes:
        if node["kind"] == "leaf":
            parts = tuple((node["label"] or "").split(".")[:-1])
            found.append(parts or None)
            continue
        path: Path = ()
        if node["site"]:
            place = _place(node["site"])
            seen[place] += 1
            if usual and times[place] % usual == 0:
                each = times[place] // usual
                path = (f"round {(seen[place] - 1) // each + 1} of {usual}",)
        found.append(path)
    return found


def _common(found: list[Path]) -> Path:
    """The longest path that all of some paths begin with."""
    first, *rest = found
    length = min(map(len, found))
    for path in rest:
        while path[:length] != first[:length]:
            length -= 1
    return first[:length]


def _bundle(group: Group, called: list[str]) -> None:
    """Bundle parts of a kind that follow each other wherever a group has too many: rounds of one loop, loose nodes."""
    for part in group.parts:
        if isinstance(part, Group):
            _bundle(part, called)
    if len(group.parts) <= MOST_PARTS:
        return
    alike: dict[str, list[Group | int]] = {}
    for part in group.parts:
        alike.setdefault(_sort(part), []).append(part)
    bundles: dict[int, Group] = {}
    taken: set[int] = set()
    for parts in alike.values():
        if len(parts) > MOST_OF_A_SORT:
            parts.sort(key=_number)
            each = math.ceil(len(parts) / min(MOST_OF_A_SORT, math.ceil(len(parts) / MOST_OF_A_SORT)))
            each = each if isinstance(parts[0], Group) else len(parts)
            bundles |= {
                id(parts[i]): _bundled(group, parts[i : i + each], called) for i in range(0, len(parts), each)
            }
            taken |= set(map(id, parts))
    group.parts = [bundles.get(id(part), part) for part in group.parts if id(part) in bundles or id(part) not in taken]
    if len(group.parts) > MOST_PARTS and not bundles:
        each = math.ceil(len(group.parts) / MOST_OF_A_SORT)
        group.parts = [_bundled(group, group.parts[i : i + each], called) for i in range(0, len(group.parts), each)]


def _sort(part: Group | int) -> str:
    """What parts of a kind have in common: loose nodes, and the rounds of one loop."""
    return "node" if isinstance(part, int) else part.name.partition(" of ")[2] or "group"


def _bundled(parent: Group, parts: list[Group | int], called: list[str]) -> Group:
    """A group of parts that follow each other: groups are called by the first and the last, loose nodes counted."""
    bundle = Group("", parent, loose=True)
    bundle.parts = parts
    names = [part.name for part in parts if isinstance(part, Group)]
    for part in parts:
        if isinstance(part, Group):
            part.parent = bundle
    loose = [called[part] for part in parts if isinstance(part, int) and called[part]]
    if names:
        bundle.name = between(names[0], names[-1])
    else:
        bundle.name = counted_as(len(loose), "operation") if loose else counted_as(len(parts), "input")
        bundle.note = rarest(loose)
    return bundle


def rarest(called: list[str]) -> str:
    """What tells some operations from others: the two that come least often, in their order."""
    times = Counter(called)
    chosen = sorted(times, key=lambda op: (times[op], called.index(op)))[:2]
    return ", ".join(sorted(chosen, key=called.index)) + (" …" if len(times) > len(chosen) else "")


def between(first: str, last: str) -> str:
    """What stretches from one name to another: `rounds 1–10 of 60`."""
    if first == last:
        return first
    a, b = first.split(" "), last.split(" ")
    differing = [k for k, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]]
    if len(a) != len(b) or len(differing) != 1 or not (a[differing[0]] + b[differing[0]]).isdigit():
        return f"{first} … {last}"
    a[differing[0]] += f"–{b[differing[0]]}"
    return " ".join(a).replace("round ", "rounds ", 1)


def _number(part: Group | int) -> int:
    """The number in the name of a round, or of a member of a list."""
    found = None if isinstance(part, int) else re.match(r"(?:round )?(\d+)", part.name)
    return int(found[1]) if found else 0


def _simplify(group: Group) -> None:
    """A group with only one part is no group: its name goes before that of the group in it, and alone stands for parts
    that were only bundled."""
    for k, part in enumerate(group.parts):
        if isinstance(part, Group):
            while len(part.parts) == 1 and isinstance(inner := part.parts[0], Group):
                both = f"{part.name}.{inner.name}" if part.name else inner.name
                if inner.loose and part.name:
                    both, inner.note = part.name, ""
                inner.name, inner.parent = both, group
                group.parts[k] = part = inner
            if len(part.parts) == 1:
                group.parts[k] = part.parts[0]
            else:
                _simplify(part)


def _count(group: Group) -> int:
    group.count = sum(_count(part) if isinstance(part, Group) else 1 for part in group.parts)
    return group.count


def _opened(root: Group) -> list[Group]:
    """The groups that are open at first: the program, and the largest in it until there is enough to see."""
    opened, drawn = [root], len(root.parts)
    closed = [part for part in root.parts if isinstance(part, Group)]
    while closed:
        fitting = [group for group in closed if drawn - 1 + len(group.parts) <= MOST_AT_FIRST]
        hides_much = any(2 * group.count > root.count for group in fitting)
        if not fitting or (drawn >= ENOUGH and not hides_much):
            break
        group = max(fitting, key=lambda each: each.count)
        closed.remove(group)
        closed += [part for part in group.parts if isinstance(part, Group)]
        opened.append(group)
        drawn += len(group.parts) - 1
    return opened
