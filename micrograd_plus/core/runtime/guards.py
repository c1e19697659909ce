"""Guards around memory that the engine shares with users: forwards and rules that they define, and parameters.

The engine's own operations write into nothing that they are given, and a walk owns what their rules return: two
promises check each operation on all its samples. A function of a user may write anywhere and return anything. So a
guard gives it read-only arrays, and copies what it returns, unless that is provably new.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import getweakrefcount

import numpy as np

from ...backends.shared import copy_array, has_one_owner
from ..variable import Variable
from .ownership import set_node, snapshot

PACKAGE = __name__.partition(".")[0] + "."
NO_WRITES = (
    "a forward or rule must not write into a value that it is given, since the walk and other rules read it; write "
    "g = 2 * upstream instead of upstream *= 2, or change a copy"
)


def guard(function: Any) -> Any:
    """Return a forward or rule so that it can change nothing it is given, and what it returns belongs to the engine.

    The engine's own functions are returned as they are.
    """
    return function if is_built_in(function) else add_guard(function)


def is_built_in(function: Any) -> bool:
    """Return True for a function of this package."""
    return str(function.__module__).startswith(PACKAGE)


def add_guard(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function behind a guard."""

    @wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        variables: list[tuple[Variable, Any, Any]] = []
        given = [read_only(value, variables) for value in args]
        named = {name: read_only(value, variables) for name, value in params.items()}
        try:
            results = [function(*given, **named)]
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise ValueError(NO_WRITES).with_traceback(error.__traceback__) from None
        finally:
            was_written = restore(variables)
        if was_written:
            raise ValueError(NO_WRITES)
        return own(results)

    return call


def read_only(value: Any, variables: list[tuple[Variable, Any, Any]]) -> Any:
    """Return an argument that cannot be written into: read-only arrays, also in new lists, tuples and dictionaries.

    Variables cannot be made read-only: `variables` notes the array and the node of each, to be compared later. The
    arrays of some devices cannot either, so they are copied.
    """
    if isinstance(value, Variable):
        variables.append((value, value._data, value.node))
    elif is_array(value):
        value = value.view() if hasattr(value.flags, "writeable") else value.copy()
        if hasattr(value.flags, "writeable"):
            value.flags.writeable = False
    elif type(value) in CONTAINERS:
        value = map_parts(value, lambda part: read_only(part, variables))
    return value


def restore(variables: list[tuple[Variable, Any, Any]]) -> bool:
    """Undo what was written into variables. Return True if there was anything."""
    changed = [each for each in variables if each[0]._data is not each[1] or each[0].node is not each[2]]
    for variable, data, node in changed:
        variable._data = data
        set_node(variable, node)
    return bool(changed)


def own(results: list[Any]) -> Any:
    """Return the only entry of `results` in memory that nobody else can reach: arrays that are not new are copied."""
    result = results.pop()
    kind = type(result) if type(result) in (tuple, list) else None
    parts = [result] if kind is None else list(result)
    del result  # so that only `parts` holds what is new
    for place in range(len(parts)):
        if is_array(parts[place]) and not is_new(parts, place):
            parts[place] = copy_array(parts[place])
    return parts[0] if kind is None else kind(parts)


def is_new(parts: list[Any], place: int) -> bool:
    """Return True if only this entry of a list can reach an array and its memory."""
    if sys.getrefcount(parts[place]) > ONE_HOLDER or getweakrefcount(parts[place]):
        return False
    base = parts[place].base
    if base is None:
        return True
    is_whole = type(base) is type(parts[place]) and base.base is None and not getweakrefcount(base)
    del base
    return is_whole and has_one_owner(parts[place])


def _references_of_an_entry() -> int:
    entries = [bytearray(1)]
    return sys.getrefcount(entries[0])


ONE_HOLDER = _references_of_an_entry()
"""What `sys.getrefcount` reports for an object that is held by one entry of a list only."""


# Parameters -----------------------------------------------

FIXED = frozenset((bool, int, float, complex, str, slice, type(None), type(...)))
"""Types of parameters that cannot change."""
CONTAINERS = frozenset((tuple, list, dict))


def keep_parameter(value: Any) -> Any:
    """Return a parameter as it is now: a copy if it is, or contains, an array, a tensor, a list or a dictionary."""
    if type(value) in CONTAINERS:
        is_fixed = type(value) is tuple and FIXED.issuperset(map(type, value))
        return value if is_fixed else map_parts(value, keep_parameter)
    if isinstance(value, Variable):
        value = Variable.public.of(snapshot(value), value.node)
    return value.copy() if is_array(value) else value


def map_parts(container: Any, function: Callable[[Any], Any]) -> Any:
    """Return a list, tuple or dictionary with a function applied to each value."""
    if type(container) is dict:
        return {key: function(value) for key, value in container.items()}
    return type(container)([function(value) for value in container])


def is_array(value: Any) -> bool:
    """Return True for an array of any device that can be written into; NumPy's scalars cannot."""
    kind = type(value)
    return kind is np.ndarray or (hasattr(kind, "flags") and hasattr(kind, "base") and hasattr(kind, "__setitem__"))
