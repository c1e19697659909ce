"""Whose an array is: the arrays that users write into are kept apart from those that rules have saved.

Copy on touch. A user who asks for the array of a leaf may write into it at any time, so it is *exposed*: if a rule, or
anybody else, still holds it, the variable goes on with a copy, and the graph keeps the numbers it was computed with.
While the user has it, operations take a *snapshot*; once nobody has it, it is the variable's own again. Arrays of
results are handed out read-only, and say what to write instead when somebody writes.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys

import numpy as np

from .variable import Array, Leaf, Variable


class _Slot:
    __slots__ = ("_data",)


def _references_of_a_slot() -> int:
    """How many references `sys.getrefcount` reports for an array that only one variable holds."""
    slot = _Slot()
    slot._data = bytearray(1)
    return sys.getrefcount(slot._data)


_ALONE = _references_of_a_slot()


def held_elsewhere(variable: Variable) -> bool:
    """True when anybody but `variable` holds its memory: a rule that saved it, a name of the user's, a view of it, or
    the array that it is a view of itself."""
    return sys.getrefcount(variable._data) > _ALONE or getattr(variable._data, "base", None) is not None


def is_exposed(variable: Variable) -> bool:
    """True while the user may have the array."""
    return not variable.plain and getattr(variable, "exposed", False)


def expose(variable: Variable) -> Array:
    """The array of a variable, for its user to read and to write: a copy first, where anybody else holds it."""
    if not is_exposed(variable):
        if held_elsewhere(variable):
            variable._data = variable._data.copy()
        variable.plain, variable.exposed = False, True
        count_write(variable)
    return variable._data


def snapshot(variable: Variable) -> Array:
    """The array of a variable, for an operation to keep: a copy while its user has the array and may write into it."""
    if is_exposed(variable):
        if held_elsewhere(variable):
            return variable._data.copy()
        variable.exposed = False
        variable.plain = is_plain(variable._data)
    return variable._data


def writable(variable: Variable) -> Array:
    """The array of a variable, to be written into now: a copy first where a rule, another variable or a recorder holds
    it. An exposed array is its user's too, who sees what is written."""
    if not is_exposed(variable) and held_elsewhere(variable):
        variable._data = variable._data.copy()
    count_write(variable)
    return variable._data


def replace(variable: Variable, data: Array) -> None:
    """Give a variable another array of its own. Nothing is overwritten, so no rule can read what it did not save."""
    if not variable.plain or data.dtype is not variable._data.dtype:
        variable.exposed, variable.plain = False, is_plain(data)
    variable._data = data
    count_write(variable)


def is_plain(data: Array) -> bool:
    """True for real numbers on the CPU, which written-out code takes as they are."""
    return (type(data) is np.ndarray or isinstance(data, np.generic)) and data.dtype.kind != "c"


def count_write(variable: Variable) -> None:
    """Count a write to a leaf."""
    leaf = variable.node
    if type(leaf) is Leaf:
        leaf.version += 1
