"""Copy-on-write ownership of arrays: a user's write never reaches an array that a rule has saved.

A user who asks for the array of a leaf may write into it at any time, so the array is *lent*. If a rule or anyone else
still holds it, the variable first takes a copy, and the graph keeps the numbers it was computed with. While an array is
lent, operations take a *snapshot*; when no one else holds it, it belongs to the variable again. Arrays of results are
read-only.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...backends.shared import ONE_OWNER
from ..modes import recording
from ..variable import Array, Leaf, Variable
from .listening import notify_change


def has_other_owners(variable: Variable) -> bool:
    """Return True if anyone but `variable` holds its memory: a rule, a name of the user's, a view, or a base array."""
    return sys.getrefcount(variable._data) > ONE_OWNER or getattr(variable._data, "base", None) is not None


def user_may_write(variable: Variable) -> bool:
    """Return True while the user may hold the array."""
    return not variable.is_fast and getattr(variable, "is_lent", False)


def lend_to_user(variable: Variable) -> Array:
    """Return the array of a variable for its user to read and write; if anyone else holds it, a copy."""
    if not user_may_write(variable):
        if has_other_owners(variable):
            variable._data = variable._data.copy("K")
        variable.is_fast, variable.is_lent = False, True
        count_write(variable)
    if recording.open:
        notify_change("lend", variable, None, None)
    return variable._data


def snapshot(variable: Variable) -> Array:
    """Return the array of a variable for an operation to keep; a copy while the user may write into it."""
    if user_may_write(variable):
        if has_other_owners(variable):
            return variable._data.copy("K")
        variable.is_lent = False
        variable.is_fast = is_real_on_cpu(variable._data)
    return variable._data


def lent_array(variable: Variable) -> Array | None:
    """Return a snapshot of a lent array that compiled code can use; None for any other variable."""
    if variable.is_fast or not getattr(variable, "is_lent", False) or not is_real_on_cpu(variable._data):
        return None
    return variable._data.copy("K") if has_other_owners(variable) else snapshot(variable)


def array_to_read(variable: Variable) -> Array | None:
    """Return a lent array, not a copy, for compiled code that keeps nothing of it; None for any other variable."""
    if recording.open or variable.is_fast or not getattr(variable, "is_lent", False):
        return lent_array(variable)
    return variable._data if is_real_on_cpu(variable._data) and has_other_owners(variable) else lent_array(variable)


def array_to_write(variable: Variable) -> Array:
    """Return the array of a variable to be written into now.

    If a rule, another variable or a recorder holds it, the variable takes a copy first. A lent array is written in
    place, since its user expects to see the change.
    """
    if not user_may_write(variable) and has_other_owners(variable):
        variable._data = variable._data.copy("K")
    count_write(variable)
    if recording.open:
        notify_change("lend", variable, None, None)
    return variable._data


def replace_array(variable: Variable, data: Array) -> None:
    """Replace the array of a variable, and notify the recorders."""
    if recording.open:
        notify_change("write", variable, variable._data, data)
    set_array(variable, data)


def set_array(variable: Variable, data: Array) -> None:
    """Give a variable another array. The old array is not overwritten, so rules keep what they saved."""
    if not variable.is_fast or data.dtype is not variable._data.dtype:
        variable.is_lent, variable.is_fast = False, is_real_on_cpu(data)
    variable._data = data
    count_write(variable)


node_changes = [0]
"""How often a variable that was there has got another node. Programs then compare the nodes that they know."""


def set_node(variable: Variable, node: Any) -> None:
    """Give a variable that is there another node, and count it."""
    if variable.node is not node:
        variable.node = node
        node_changes[0] += 1


def is_real_on_cpu(data: Array) -> bool:
    """Return True for an array of real numbers on the CPU, which compiled code can use directly."""
    return (type(data) is np.ndarray or isinstance(data, np.generic)) and data.dtype.kind != "c"


def count_write(variable: Variable) -> None:
    """Count a write to a leaf."""
    leaf = variable.node
    if type(leaf) is Leaf:
        leaf.version += 1
