"""Guards of a program: its conditions besides the arguments, and the comparison of two traces."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

import numpy as np

from ..core.fast import callers
from ..core.modes import grad_enabled, recording, unfused
from ..core.runtime.hooks import nodes_with_hooks
from ..core.runtime.ownership import node_changes
from ..nn.module import Module
from .ink import open_pages
from .page import Setting, is_array
from .places import MISSING, NUMBERS, Place, entries_of, is_equal, is_same_list
from .program import Hole
from .surroundings import Surroundings

MISS = object()
WATCHERS = (
    recording.open, unfused.open, grad_enabled.open, nodes_with_hooks, callers._interpreting, open_pages,
)  # fmt: skip
"""Collections that are empty while no mode, hook or trace may keep a program from running."""
MOST_PROGRAMS = 8
"""A step with more programs is warned about."""
MOST_UNROLLED = 16
"""The entries of longer lists are compared by a loop."""

rules_changed = [0]
"""How often a rule has been replaced. Programs from before know the old one."""


class Guards:
    """Everything around a step that its program depends on, besides the form of its arguments."""

    def __init__(self, surroundings: Surroundings, page: Any):
        self.conditions = [(read, x) for read, x, _ in page.conditions if not isinstance(read, Setting)]
        inputs = {id(value.source[1]) for value in page.inputs if value.source[0] == "array"}
        arrays = [place for place in surroundings.places_of_arrays() if id(place.holder) not in inputs]
        settings = [
            Place("truth" if read.is_truth else "key", read.holder, read.key, x, what)
            for read, x, what in page.conditions if isinstance(read, Setting)
        ]  # fmt: skip
        self.places = [*surroundings.places, *arrays, *settings]
        self.modules = surroundings.modules_before
        self.module_changes = Module.changes[0]
        self.nodes = list(getattr(page, "nodes", {}).values())
        self.node_changes = node_changes[0]
        self.page = page
        self.numbers = [x for x in page.inputs if x.source[0] == "read" and not x.is_array]
        self.unpacked: dict[int, str] = {}

    def first_change(self) -> str:
        """Return what is not as it was when the program was written; nothing if all is."""
        for place in self.places:
            if not place.holds():
                return place.name
        if self.module_changes != Module.changes[0] and not self.modules_hold():
            return "an attribute or a hook of a module"
        if not self.nodes_hold():
            return next(self.page.name_of(tensor) for tensor, node in self.nodes if tensor.node is not node)
        try:
            if any(read() != value for read, value in self.conditions):
                return "a setting or a gradient"
            if any(type(x.source[1]()) is not x.kind_of_number for x in self.numbers):
                return "the kind of a number"
        except (KeyError, IndexError, AttributeError):
            return "a setting or a gradient"
        for x in self.page.inputs:
            if x.source[0] == "tensor" and not has_form(x.source[1]._data, (x.shape, x.dtype, x.strides)):
                return x.hint
        return ""

    def hold(self) -> bool:
        """Return True if everything is as it was when the program was written."""
        return not self.first_change()

    def nodes_hold(self) -> bool:
        """Return True if all tensors have the nodes that they had."""
        now = node_changes[0]
        if any(tensor.node is not node for tensor, node in self.nodes):
            return False
        self.node_changes = now
        return True

    def modules_hold(self) -> bool:
        """Return True if all modules have the attributes and hooks that they had."""
        if not all(place.holds() for place in self.modules):
            return False
        self.module_changes = Module.changes[0]
        return True

    def lines(self, space: dict[str, Any]) -> list[str]:
        """Return the lines of text that return `_MISS` if something has changed, with their names in `space`."""
        space.update(_is_same_list=is_same_list, _is_equal=is_equal, _entries_of=entries_of, _MISSING=MISSING)
        lines = [f"    {line}" for i, place in enumerate(self.places) for line in self._lines_of(i, place, space)]
        if lines:
            space["_CHANGED"] = AttributeError, IndexError, KeyError, NameError, ValueError
            lines = ["try:", *lines, "except _CHANGED: return _MISS"]
        if self.modules:
            space["_guards"], space["_changes"] = self, Module.changes
            have_changed = "_guards.module_changes != _changes[0] and not _guards.modules_hold()"
            lines.append(f"if {have_changed}: return _MISS")
        if self.nodes:
            space["_guards"], space["_node_changes"] = self, node_changes
            have_changed = "_guards.node_changes != _node_changes[0] and not _guards.nodes_hold()"
            lines.append(f"if {have_changed}: return _MISS")
        for i, (read, value) in enumerate(self.conditions):
            space[f"c{i}"], space[f"w{i}"] = read, value
            lines.append(f"if c{i}() != w{i}: return _MISS")
        return lines

    def watch_lines(self, space: dict[str, Any]) -> list[str]:
        """Return the line of text that returns `_MISS` if anything watches the engine."""
        names = {f"_watcher{i}": watcher for i, watcher in enumerate(WATCHERS)}
        space.update(names)
        return [f"if {' or '.join(names)}: return _MISS"]

    def _lines_of(self, i: int, place: Place, space: dict[str, Any]) -> list[str]:
        """Return the lines that return `_MISS` if a place has changed. They run at every call, so they take the
        shortest way: a list is unpacked into variables, and its tensors are read from these."""
        if place.kind != "list" or len(place.value) > MOST_UNROLLED:
            return [f"if {test_of(i, place, space)}: return _MISS"]
        space[f"g{i}"] = place.holder
        names = [f"p{i}_{j}" for j in range(len(place.value))]
        tests = []
        for name, part in zip(names, place.value, strict=True):
            known = self.unpacked.setdefault(id(part), name)
            if known == name:
                known = f"v{name}"
                space[known] = part
            tests.append(differs(name, known, part))
        unpack = f"({', '.join(names)}{',' * (len(names) == 1)}) = g{i}"
        return [unpack, f"if {' or '.join(tests)}: return _MISS"] if tests else [unpack]


def define(head: str, lines: list[str], space: dict[str, Any], filename: str) -> Any:
    """Return the function of some lines. It shares the user's variables, which is the fastest way to read them."""
    cells = {name: x for name, x in space.items() if isinstance(x, CellType)}
    body = "\n".join(f"        {line}" for line in lines)
    text = f"def make({', '.join(cells)}):\n    def run({head}):\n{body}\n    return run"
    exec(compile(text, filename, "exec"), space)
    code = space["make"](*cells.values()).__code__
    return FunctionType(code, space, closure=tuple(cells[each] for each in code.co_freevars))


def test_of(i: int, place: Place, space: dict[str, Any]) -> str:
    """Return an expression that is true if a place has changed."""
    kind, holder, key, value, _ = place
    held, known = f"g{i}", f"v{i}"
    space.update({held: holder, known: value, f"k{i}": key})
    said = {
        "cell": held,
        "key": f"{held}[{repr(key) if type(key) in (int, str) else f'k{i}'}]",
        "attribute": f"{held}.{key}",
        "type": f"type({held})",
        "context": f"{held}.get(_MISSING)",
    }
    if kind == "truth":
        return f"{'not ' * value}{said['key']}"
    if kind in said:
        return differs(said[kind], known, value)
    now = held if kind == "list" else f"[*{held}, *{held}.values()]"
    return {
        "length": f"len({held}) != {known}",
        "set": f"{held} != {known}",
        "cache": f"{held}.cache_info().currsize != {known}",
        "entries": f"_entries_of({held}) != {known}",
    }.get(kind, f"not _is_same_list({now}, {known})")


def has_form(array: Any, form: tuple[Any, Any, Any]) -> bool:
    """Return True if an array has a shape, dtype and strides."""
    shape, dtype, strides = form
    is_like = getattr(array, "shape", None) == shape and array.dtype == dtype
    return is_like and (not strides or array.strides == strides)


def differs(said: str, known: str, value: Any) -> str:
    """Return an expression that is true if something that the text `said` reads is not a known value."""
    is_other = f"{said} is not {known}"
    return f"({is_other} and not _is_equal({said}, {known}))" if isinstance(value, (*NUMBERS, tuple)) else is_other


def miss(_: Any) -> Any:
    """Return that a call is none of a program."""
    return MISS


def why_by_engine() -> str:
    """Return which mode makes the calls of this thread run by the engine; nothing if none does."""
    reasons = {
        "record()": recording.all, "unfuse": unfused, "no_grad": lambda: not grad_enabled(),
        "interpreted operations": lambda: callers._interpreting,
    }  # fmt: skip
    return next((reason for reason, holds in reasons.items() if holds()), "")


def first_difference(first: Any, second: Any) -> str:
    """Return an error message if two traces of a step differ; nothing if they are equal."""
    lines = [p.source.splitlines() for p in (first, second)]
    block = "the step"
    for a, b in zip(*lines, strict=False):
        if a != b:
            return _difference(block, a.strip(), b.strip())
        if a.strip().startswith("# "):
            block = a.strip()[2:]
    if len(lines[0]) != len(lines[1]):
        return _difference(block, f"{len(lines[0])} lines", f"{len(lines[1])} lines")
    for name, x in first.text.constants.items():
        y = second.text.constants.get(name)
        if y is None or not is_same_array(x, y):
            return _difference(block, f"{name} = {_short(x)}", f"{name} = {_short(y)}")
    if problem := _different_result(first.structure, second.structure):
        return problem
    for a, b in zip(first.page.inputs, second.page.inputs, strict=True):
        if a.source[0] in ("tensor", "gradient", "object", "array") and a.source[1] is not b.source[1]:
            return (
                f"mg.compile: the second call of the step found another {b.name} than the first, with nothing around "
                f"the step that says which; make it an argument, or a variable that stays"
            )
    return ""


def is_same_array(a: Any, b: Any) -> bool:
    """Return True for two arrays that are equal in every bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _different_result(a: Any, b: Any) -> str:
    """Return an error message if two traces have given other results, besides their numbers; nothing if they have not.

    An object is another one even if it says that it is equal: it may hold tensors of its own call.
    """
    if isinstance(a, (list, tuple, dict)) and type(a) is type(b):
        (keys, parts), (other_keys, others) = (
            (list(x), list(x.values())) if isinstance(x, dict) else (len(x), x) for x in (a, b)
        )
        if keys == other_keys:
            return next((found for x, y in zip(parts, others, strict=True) if (found := _different_result(x, y))), "")
    if is_equal(a, b) or (type(a) is type(b) and (type(a) in FIXED or isinstance(a, np.dtype)) and a == b):
        return ""
    if is_array(a) and is_array(b) and is_same_array(a, b):
        return ""
    if isinstance(a, (*NUMBERS, list, tuple, dict, Hole)) or is_array(a) or type(a) is not type(b):
        return _difference("the result", repr(a), repr(b))
    return (
        f"mg.compile: the step returns a new {type(a).__name__}, which its program could not make at each call. Return "
        f"tensors, arrays and numbers, also in lists, tuples, named tuples and dictionaries"
    )


FIXED = (slice, range, frozenset, type(...))
"""Types of what a step may make anew and return, besides numbers and texts."""


def _short(x: Any) -> str:
    return np.array2string(x, threshold=6) if x is not None else "nothing"


def _difference(block: str, first: str, second: str) -> str:
    return (
        f"mg.compile: two calls of the step wrote different programs, at {block}: first `{first}`, then `{second}`. A "
        f"number that changes from call to call must be an argument (floats and arrays are inputs) or a setting of an "
        f"optimiser; a branch that changes, of `if` or mg.cond, must become mg.where, or depend on a bool among the "
        f"arguments, each of which has a program of its own"
    )
