"""Groups of nodes that make large graphs readable.

A node belongs to the module, scope, function and loop round that created it. In a group with too many parts,
rounds, and then the nodes of each source line, are bundled.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any, NamedTuple

from .trace_input import Trace
from .words import edges, pluralize, single_line, truncate

MOST_DRAWN = 40
"""Graphs with more nodes open in groups."""
MOST_PARTS = 20
MOST_OF_A_SORT = 10
ENOUGH, MOST_AT_FIRST = 5, 30
"""Groups open, largest first, until this many parts are visible, up to the maximum."""

LONGEST_LINE = 34
MOST_OF_A_LINE = 64
"""How many nodes of one source line a group shows."""
ROUND = re.compile(r"round \d")
NUMBER = re.compile(r"#?\d+")
NUMBERS = re.compile(r"\d+(–\d+)?")

class Cut(NamedTuple):
    """Where a program is cut: at a module or a scope, by its name, or at one call of a function or one round."""

    name: str
    number: int | None = None


Path = tuple[Cut, ...]


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
    _number_equal_names(root)
    inputs = {k: single_line(node["title"]) for k, node in enumerate(trace["nodes"]) if node["kind"] == "leaf"}
    _bundle(root, source_lines(trace), inputs)
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
                inner = by_path[path[:depth]] = Group(path[depth - 1].name, group)
                group.parts.append(inner)
            group = inner
        group.parts.append(node)
    return root


def paths(trace: Trace) -> list[Path]:
    """Return the path of every node. A leaf without one belongs where it is first used, outside of loop rounds that do
    not contain all of its uses."""
    nodes = trace["nodes"]
    node_paths: list[Path | None] = _recorded_paths(trace)
    users = _users(trace)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if node_paths[i] is None and node["kind"] == "leaf" and i in users:
            node_paths[i] = _home([node_paths[end] or () for end in users[i]])
        elif node["kind"] == "output":
            node_paths[i] = node_paths[node["inputs"][0]["node"]]
    return [path or () for path in node_paths]


def _users(trace: Trace) -> dict[int, list[int]]:
    """Return the nodes that read each node."""
    users: dict[int, list[int]] = {}
    for start, end, _ in edges(trace):
        users.setdefault(start, []).append(end)
    return users


class Line(NamedTuple):
    """Source line that created nodes."""

    file: str
    number: int
    text: str


def source_lines(trace: Trace) -> list[Line | None]:
    """Return the source line of every node; a leaf has the line of its first use."""
    lines: list[Line | None] = [
        Line(site["file"], site["line"], site["text"] or "") if (site := node["site"]) else None
        for node in trace["nodes"]
    ]
    for leaf, users in _users(trace).items():
        if trace["nodes"][leaf]["kind"] == "leaf":
            lines[leaf] = next((lines[end] for end in users if lines[end]), None)
    return lines


def _recorded_paths(trace: Trace) -> list[Path | None]:
    """Return the paths that the engine recorded. All calls of a module are one group, since they share its weights."""
    group_paths: list[Path] = []
    for group in trace["groups"]:
        before = () if group["parent"] is None else group_paths[group["parent"]]
        name, is_shared = group["name"], group["kind"] in ("module", "scope")
        group_paths.append((*before, Cut(name) if is_shared else Cut(name, group["id"])))
    return [None if node["group"] is None else group_paths[node["group"]] for node in trace["nodes"]]


def _home(node_paths: list[Path]) -> Path:
    """Return the path of a leaf, given its users' paths."""
    first, *rest = node_paths
    shared = min(map(len, node_paths))
    for path in rest:
        while path[:shared] != first[:shared]:
            shared -= 1
    length = shared
    while length < len(first) and not ROUND.match(first[length].name):
        length += 1
    return first[:length]


def _number_equal_names(group: Group) -> None:
    """Number the parts of a group that have the same name: calls of one function, loops with equally many rounds."""
    inner = [part for part in group.parts if isinstance(part, Group)]
    counts = Counter(part.name for part in inner)
    seen: Counter[str] = Counter()
    for part in inner:
        name = part.name
        seen[name] += 1
        if counts[name] > 1:
            part.name = f"{name} #{seen[name]}"
        _number_equal_names(part)


def _bundle(group: Group, lines: list[Line | None], inputs: dict[int, str]) -> None:
    """Bundle the parts of groups that have too many: rounds of a loop, then nodes of one source line.

    `inputs` has the names of the leaves.
    """
    for part in group.parts:
        if isinstance(part, Group):
            _bundle(part, lines, inputs)
    if len(group.parts) > MOST_PARTS:
        _bundle_rounds(group)
    if len(group.parts) > MOST_PARTS:
        _bundle_lines(group, lines, inputs)


def _bundle_rounds(group: Group) -> None:
    """Bundle consecutive rounds of a loop, or members of a list, if there are many."""
    alike: dict[str, list[Group]] = {}
    for part in group.parts:
        if isinstance(part, Group):
            alike.setdefault(part.name.partition(" of ")[2] or "group", []).append(part)
    bundles: dict[int, Group] = {}
    taken: set[int] = set()
    for parts in alike.values():
        if len(parts) > MOST_OF_A_SORT:
            parts.sort(key=_number)
            each = math.ceil(len(parts) / min(MOST_OF_A_SORT, math.ceil(len(parts) / MOST_OF_A_SORT)))
            for chunk in _chunks(parts, each):
                name = range_name(chunk[0].name, chunk[-1].name)
                bundles[id(chunk[0])] = _make_bundle(group, list(chunk), name)
            taken |= set(map(id, parts))
    group.parts = [bundles.get(id(part), part) for part in group.parts if id(part) in bundles or id(part) not in taken]


def _bundle_lines(group: Group, lines: list[Line | None], inputs: dict[int, str]) -> None:
    """Bundle the nodes that one source line created, and consecutive lines if there are many.

    Leaves that a line reads, and nothing that it computes, have their own names in the bundle's.

    A library's module is one line for the student, so the nodes of a single line stay as they are, up to a number.
    """
    of_line: dict[Line | None, list[Group | int]] = {}
    for part in group.parts:
        if isinstance(part, int):
            of_line.setdefault(lines[part], []).append(part)
    if len(of_line) == 1:
        _split_evenly(group)
    elif len(of_line) > MOST_OF_A_SORT:
        _bundle_ranges(group, of_line)
    else:
        bundles = {}
        for line, parts in of_line.items():
            if len(parts) > 1:
                leaves = [inputs[part] for part in parts if isinstance(part, int) and part in inputs]
                name = (_name_of_inputs(leaves) if len(leaves) == len(parts)
                        else "inputs" if line is None else truncate(single_line(line.text), LONGEST_LINE))  # fmt: skip
                bundles |= dict.fromkeys(parts, _make_bundle(group, parts, name))
        _replace_parts(group, bundles)
        for bundle in {id(each): each for each in bundles.values()}.values():
            _split_evenly(bundle)


def _name_of_inputs(names: list[str]) -> str:
    """Return a name for several leaves: the first and the last of a list, or as many names as there is room for.

    >>> _name_of_inputs(["xs[1]", "xs[2]", "xs[3]"])
    'xs[1] … xs[3]'
    """
    if len({NUMBER.sub("", name) for name in names}) == 1:
        return f"{names[0]} … {names[-1]}"
    texts = (", ".join([*names[:count], "…"][: len(names)]) for count in range(len(names), 0, -1))
    return next((text for text in texts if len(text) <= LONGEST_LINE), truncate(names[0], LONGEST_LINE))


def _split_evenly(group: Group) -> None:
    """Bundle the nodes of a group with very many of them, in order, by their numbers."""
    nodes = [part for part in group.parts if isinstance(part, int)]
    if len(nodes) <= MOST_OF_A_LINE:
        return
    each = math.ceil(len(nodes) / MOST_OF_A_SORT)
    bundles = {}
    for start, chunk in zip(range(0, len(nodes), each), _chunks(nodes, each), strict=True):
        name = f"nodes {start + 1}–{start + len(chunk)} of {len(nodes)}"
        bundles |= dict.fromkeys(chunk, bundle := _make_bundle(group, list(chunk), name))
        _split_evenly(bundle)
    _replace_parts(group, bundles)


def _replace_parts(group: Group, bundles: dict[Any, Group]) -> None:
    """Replace nodes by their bundles, each at the place of its first node."""
    found: dict[int, Group | int] = {}
    for part in group.parts:
        place = bundles.get(part, part) if isinstance(part, int) else part
        found.setdefault(id(place) if isinstance(place, Group) else ~place, place)
    group.parts = list(found.values())


def _bundle_ranges(group: Group, of_line: dict[Line | None, list[Group | int]]) -> None:
    """Bundle the nodes of consecutive source lines, named by the first and the last line."""
    known = sorted((line for line in of_line if line is not None), key=lambda line: (line.file, line.number))
    each = math.ceil(len(known) / MOST_OF_A_SORT)
    bundle_of: dict[int, Group] = {}
    for chunk in _chunks(known, each):
        numbers = [chunk[0].number, chunk[-1].number]
        name = f"lines {numbers[0]}–{numbers[1]}" if numbers[0] != numbers[1] else f"line {numbers[0]}"
        parts = sorted(part for line in chunk for part in of_line[line] if isinstance(part, int))
        bundle = _make_bundle(group, list(parts), name)
        bundle_of |= dict.fromkeys(parts, bundle)
    _replace_parts(group, bundle_of)


def _chunks(parts: list[Any], each: int) -> list[list[Any]]:
    """Return consecutive parts of a list."""
    return [parts[i : i + each] for i in range(0, len(parts), each)]


def _make_bundle(parent: Group, parts: list[Group | int], name: str) -> Group:
    """Return a bundle of parts under a name."""
    bundle = Group(name, parent, loose=True)
    bundle.parts = parts
    for part in parts:
        if isinstance(part, Group):
            part.parent = bundle
    return bundle


def range_name(first: str, last: str) -> str:
    """Return the name of a range, such as `rounds 1–10 of 60`."""
    if first == last:
        return first
    a, b = first.split(" "), last.split(" ")
    differing = [k for k, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]]
    if len(a) != len(b) or len(differing) != 1 or not NUMBER.fullmatch(a[differing[0]]):
        return f"{first} … {last}"
    a[differing[0]] += f"–{b[differing[0]].removeprefix('#')}"
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
