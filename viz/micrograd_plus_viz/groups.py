"""Groups of nodes that make large graphs readable.

A node belongs to the module, scope, function and loop round that created it. In a group with too many parts,
consecutive parts are bundled.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from .trace_input import Trace
from .words import edges, pluralize, single_line

MOST_DRAWN = 40
"""Graphs with more nodes open in groups."""
MOST_PARTS = 20
MOST_OF_A_SORT = 10
ENOUGH, MOST_AT_FIRST = 5, 30
"""Groups open, largest first, until this many parts are visible, up to the maximum."""

NUMBERS = re.compile(r"\d+(–\d+)?")

Path = tuple[str, ...]


class Group:
    """Group with its name, its parent, and its parts in order; a part is a group or a node number."""

    __slots__ = ("count", "loose", "name", "note", "parent", "parts", "place")

    def __init__(self, name: str, parent: Group | None, loose: bool = False) -> None:
        self.name, self.parent, self.loose, self.note = name, parent, loose, ""
        self.parts: list[Group | int] = []
        self.count, self.place = 0, -1


def build_groups(trace: Trace) -> dict[str, Any] | None:
    """Return the groups of a trace as the page needs them, or None if the graph is small enough to draw in full.

    The result has names, notes, parents, sizes, the group of every node, and the groups open at first. Group 0 is the
    program and always open.
    """
    if len(trace["nodes"]) <= MOST_DRAWN:
        return None
    root = tree(paths(trace))
    _bundle(root, [single_line(node["op"] or "") for node in trace["nodes"]])
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
    opened = _groups_open_at_first(root)
    return {
        "names": [_full_name(group) for group in listed],
        "notes": [group.note or pluralize(group.count, "node") for group in listed],
        "parents": [group.parent.place if group.parent else -1 for group in listed],
        "counts": [group.count for group in listed],
        "of": of,
        "open": sorted(group.place for group in opened),
    }


def _full_name(group: Group) -> str:
    """Return a name that is clear alone, with its context if it is only a number."""
    if NUMBERS.fullmatch(group.name) and group.parent and group.parent.name:
        return f"{group.parent.name}.{group.name}"
    return group.name


def tree(node_paths: list[Path]) -> Group:
    """Return the tree of groups for some paths, in the order of their first nodes."""
    root = Group("", None)
    by_path: dict[Path, Group] = {(): root}
    for node, path in enumerate(node_paths):
        group = root
        for depth in range(1, len(path) + 1):
            inner = by_path.get(path[:depth])
            if inner is None:
                inner = by_path[path[:depth]] = Group(path[depth - 1], group)
                group.parts.append(inner)
            group = inner
        group.parts.append(node)
    return root


def paths(trace: Trace) -> list[Path]:
    """Return the path of every node. A leaf without one gets the common path of its users."""
    nodes = trace["nodes"]
    node_paths: list[Path | None] = _recorded_paths(trace)
    users: dict[int, list[int]] = {}
    for start, end, _ in edges(trace):
        users.setdefault(start, []).append(end)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if node_paths[i] is None and node["kind"] == "leaf" and i in users:
            node_paths[i] = _common([node_paths[end] or () for end in users[i]])
        elif node["kind"] == "output":
            node_paths[i] = node_paths[node["inputs"][0]["node"]]
    return [path or () for path in node_paths]


def _recorded_paths(trace: Trace) -> list[Path | None]:
    """Return the paths that the engine recorded."""
    group_paths: list[Path] = []
    for group in trace["groups"]:
        before = () if group["parent"] is None else group_paths[group["parent"]]
        group_paths.append((*before, group["name"]))
    return [None if node["group"] is None else group_paths[node["group"]] for node in trace["nodes"]]


def _common(node_paths: list[Path]) -> Path:
    """Return the longest common prefix of some paths."""
    first, *rest = node_paths
    length = min(map(len, node_paths))
    for path in rest:
        while path[:length] != first[:length]:
            length -= 1
    return first[:length]


def _bundle(group: Group, node_names: list[str]) -> None:
    """Bundle consecutive parts of one kind in groups that have too many."""
    for part in group.parts:
        if isinstance(part, Group):
            _bundle(part, node_names)
    if len(group.parts) <= MOST_PARTS:
        return
    alike: dict[str, list[Group | int]] = {}
    for part in group.parts:
        alike.setdefault(_part_kind(part), []).append(part)
    bundles: dict[int, Group] = {}
    taken: set[int] = set()
    for parts in alike.values():
        if len(parts) > MOST_OF_A_SORT:
            parts.sort(key=_number)
            each = math.ceil(len(parts) / min(MOST_OF_A_SORT, math.ceil(len(parts) / MOST_OF_A_SORT)))
            each = each if isinstance(parts[0], Group) else len(parts)
            bundles |= {
                id(parts[i]): _make_bundle(group, parts[i : i + each], node_names) for i in range(0, len(parts), each)
            }
            taken |= set(map(id, parts))
    group.parts = [bundles.get(id(part), part) for part in group.parts if id(part) in bundles or id(part) not in taken]
    if len(group.parts) > MOST_PARTS and not bundles:
        each = math.ceil(len(group.parts) / MOST_OF_A_SORT)
        group.parts = [
            _make_bundle(group, group.parts[i : i + each], node_names) for i in range(0, len(group.parts), each)
        ]


def _part_kind(part: Group | int) -> str:
    """Return the kind of a part: "node", or the loop that its round belongs to."""
    return "node" if isinstance(part, int) else part.name.partition(" of ")[2] or "group"


def _make_bundle(parent: Group, parts: list[Group | int], node_names: list[str]) -> Group:
    """Return a bundle of consecutive parts, named by its first and last group or by a count."""
    bundle = Group("", parent, loose=True)
    bundle.parts = parts
    names = [part.name for part in parts if isinstance(part, Group)]
    for part in parts:
        if isinstance(part, Group):
            part.parent = bundle
    loose = [node_names[part] for part in parts if isinstance(part, int) and node_names[part]]
    if names:
        bundle.name = range_name(names[0], names[-1])
    else:
        bundle.name = pluralize(len(loose), "operation") if loose else pluralize(len(parts), "input")
        bundle.note = name_rarest(loose)
    return bundle


def name_rarest(node_names: list[str]) -> str:
    """Return the two least frequent operations, in their order, as a note."""
    times = Counter(node_names)
    chosen = sorted(times, key=lambda op: (times[op], node_names.index(op)))[:2]
    return ", ".join(sorted(chosen, key=node_names.index)) + (" …" if len(times) > len(chosen) else "")


def range_name(first: str, last: str) -> str:
    """Return the name of a range, such as `rounds 1–10 of 60`."""
    if first == last:
        return first
    a, b = first.split(" "), last.split(" ")
    differing = [k for k, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]]
    if len(a) != len(b) or len(differing) != 1 or not (a[differing[0]] + b[differing[0]]).isdigit():
        return f"{first} … {last}"
    a[differing[0]] += f"–{b[differing[0]]}"
    return " ".join(a).replace("round ", "rounds ", 1)


def _number(part: Group | int) -> int:
    """Return the number in the name of a loop round or list member."""
    match = None if isinstance(part, int) else re.match(r"(?:round )?(\d+)", part.name)
    return int(match[1]) if match else 0


def _simplify(group: Group) -> None:
    """Replace groups with only one part by that part, and combine their names.

    If the inner group was only a bundle, the outer name remains.
    """
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


def _groups_open_at_first(root: Group) -> list[Group]:
    """Return the program and the largest groups that open until there is enough to see."""
    opened, visible_count = [root], len(root.parts)
    closed = [part for part in root.parts if isinstance(part, Group)]
    while closed:
        fitting = [group for group in closed if visible_count - 1 + len(group.parts) <= MOST_AT_FIRST]
        hides_much = any(2 * group.count > root.count for group in fitting)
        if not fitting or (visible_count >= ENOUGH and not hides_much):
            break
        group = max(fitting, key=lambda each: each.count)
        closed.remove(group)
        closed += [part for part in group.parts if isinstance(part, Group)]
        opened.append(group)
        visible_count += len(group.parts) - 1
    return opened
