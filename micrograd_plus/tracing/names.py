"""Names of nodes: unique in the whole record, and the same in each part of it."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from sys import intern
from typing import Any, NamedTuple

from ..core.backward import Part
from .groups import Groups
from .history import History
from .labels import Labels, ProgramNames
from .outline import Outline
from .sites import ENGINE, is_transform_code, kind_of
from .values import array_of

INTERNAL_FUNCTIONS = ("forward", "call", "apply", "interpret", "power", "inside", "awaited")
"""Functions of the engine that no program calls by name."""


class BaseNames(NamedTuple):
    """The name of each node by itself, and its number among the nodes of that name, counted from 1.

    The number is 0 for a name that occurs once, and for constants, whose name is their value.
    """

    names: list[str]
    numbers: list[int]


class NodeNames:
    """The name and the label of each node."""

    def __init__(self, history: History, outline: Outline, program: ProgramNames, groups: Groups):
        self.history, self.outline, self.program, self.groups = history, outline, program, groups

    @cached_property
    def labels(self) -> list[str | None]:
        """The user's name for each value."""
        with self.history.progress("what the program calls its values"):
            return Labels(self.outline, self.program).labels

    @cached_property
    def labels_in_use(self) -> set[str]:
        """All labels except None."""
        return {label for label in self.labels if label}

    def name(self, node: int) -> str:
        """Return the unique name of a node: equal names are numbered."""
        names, numbers = self._base_names
        return f"{names[node]} #{numbers[node]}" if numbers[node] else names[node]

    @cached_property
    def _base_names(self) -> BaseNames:
        names: list[str] = []
        are_constants: list[bool] = []
        nodes = zip(self.outline.keys, self.labels, self.outline.position_of_node, strict=True)
        with self.history.progress("the names of the nodes"):
            for node, (key, label, position) in enumerate(nodes):
                op = getattr(key, "op", None) if position is None else self.outline.applications[position].op
                value = None
                if op is not None and not isinstance(key, Part):
                    owner = label or self.groups.module_path(node)
                    name = self.called_function(node) or op.name
                    names.append(intern(f"{name} ({owner})") if owner else name)
                else:
                    value = None if label or isinstance(key, Part) else self._constant_text(key)
                    names.append(value or label or "leaf")
                are_constants.append(value is not None)
            return BaseNames(names, number_repeats(names, are_constants))

    def called_function(self, node: int) -> str | None:
        """Return the name of the function that the program called, if the operation has another name."""
        position = self.outline.position_of_node[node]
        if position is None or (function := self.outline.applications[position].function) is None:
            return None
        name = function.co_name
        is_internal = name.startswith(("_", "<")) or len(name) < 3 or name in INTERNAL_FUNCTIONS
        if is_internal or name == self.outline.applications[position].op.name:
            return None
        if kind_of(function) is not ENGINE or is_transform_code(function):
            return None
        is_one_of_several = self.outline.is_followed_in_call(position) or self.outline.is_preceded_in_call(position)
        return None if is_one_of_several else name

    def _constant_text(self, key: Any) -> str | None:
        """Return the value of a constant as text, if it is a single number."""
        value = array_of(self.outline.value(key))
        if value is None or getattr(value, "shape", ()) != ():
            return None
        value = value.item() if hasattr(value, "item") else value
        return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)

    # In formulas ------------------------------------------

    def symbol_in_formula(self, letter: str, node: int) -> str | None:
        """Return a formula's symbol for a node; None if the operation's own letter will do."""
        return self.labels[node] or (self.name(node) if letter in self.labels_in_use else None)


def number_repeats(names: list[str], are_constants: list[bool]) -> list[int]:
    """Return each name's number among equal names, counted from 1; 0 for one that occurs once, and for constants."""
    counts = Counter(names)
    numbers_so_far = dict.fromkeys(counts, 0)
    numbers: list[int] = []
    for name, is_constant in zip(names, are_constants, strict=True):
        numbers_so_far[name] += 1
        numbers.append(0 if is_constant or counts[name] == 1 else numbers_so_far[name])
    return numbers
