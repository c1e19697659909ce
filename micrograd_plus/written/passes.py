"""Passes over a page, each a function that makes the program shorter or faster and keeps every bit of its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from .at_once import compute_at_once
from .blocks import compute_in_blocks
from .loops import roll_loops
from .page import Page, Statement, Value
from .products import sum_products_at_once
from .stacks import stack_in_place


def drop_dead(page: Page) -> None:
    """Remove statements that nothing reads and that have no effect."""
    buffers = {value.buffer for value in (*page.live(), *page.inputs)}
    kept = []
    for statement in reversed(page.statements):
        if statement.has_effect or any(v.buffer in buffers for v in (*statement.outs(), *statement.writes)):
            kept.append(statement)
            buffers |= {value.buffer for value in (*statement.reads(), *statement.writes)}
    page.statements = kept[::-1]
    read = {value for s in page.statements for value in (*s.reads(), *s.writes)} | set(page.live())
    page.inputs = [value for value in page.inputs if value in read or value.source[0] == "argument"]


MOST_BYTES_OF_A_CONSTANT = 2**16


def hoist_constants(page: Page) -> None:
    """Move values that never change in front of the function: tables, rows of ones, masks."""
    live = {value.buffer for value in page.live()}
    kept, known = [], set[Value]()
    for statement in page.statements:
        outs = statement.outs()
        is_pure = outs and not statement.has_effect and not statement.writes
        is_known = all(value in known or value.constant is not None for value in statement.reads())
        if is_pure and is_known and all(
            value.buffer.is_fixed and not value.buffer.writes and value.buffer not in live
            and value.nbytes <= MOST_BYTES_OF_A_CONSTANT for value in outs
        ):  # fmt: skip
            page.preamble.append(statement)
            known.update(outs)
            for value in outs:
                value.buffer.kind = "constant"
        else:
            kept.append(statement)
    page.statements = kept


def merge_repeats(page: Page) -> None:
    """Compute once what two statements compute from the same values, if nothing was written in between."""
    live = {value.buffer for value in page.live()}
    first: dict[Any, Value] = {}
    same: dict[Value, Value] = {}
    moved: dict[Any, Any] = {}
    versions: Counter[Any] = Counter()
    for block in (page.preamble, page.statements):
        kept = []
        for statement in block:
            statement.substitute(same)
            versions.update(value.buffer for value in statement.writes)
            for value in statement.outs():  # views of what was merged are views of what was kept
                value.buffer = moved.get(value.buffer, value.buffer)
            out = statement.out
            key = None
            if isinstance(out, Value) and not statement.has_effect and not statement.writes:
                is_view = any(out.buffer is value.buffer for value in statement.reads())
                if out.buffer not in live and (is_view or not out.buffer.writes):
                    key = _key(statement, versions)
            if key is not None and key in first:
                same[out] = first[key]
                moved[out.buffer] = first[key].buffer
                continue
            if key is not None:
                first[key] = out
            kept.append(statement)
        block[:] = kept
    page.substitute(same)


def _key(statement: Statement, versions: Counter[Any]) -> Any:
    """Return a key that is equal for statements that compute the same; None if there is none."""

    def part(x: Any) -> Any:
        if isinstance(x, Value):
            if x.kind == "constant" and x.constant is not None and not x.is_array:
                return type(x.constant), repr(x.constant)
            return id(x), versions[x.buffer]
        if isinstance(x, (tuple, list)):
            return type(x), tuple(part(y) for y in x)
        if type(x) is slice:
            return slice, part(x.start), part(x.stop), part(x.step)
        return type(x), repr(x) if isinstance(x, (bool, int, float, complex, str, type(None))) else x

    key = (
        statement.form,
        statement.function,
        part(statement.args),
        tuple((n, part(x)) for n, x in statement.kwargs.items()),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def reuse_memory(page: Page) -> None:
    """Have a result take over the memory of an operand that is read there for the last time."""
    last: dict[Any, int] = {}
    made: dict[Any, list[Value]] = {}
    for i, statement in enumerate(page.statements):
        for value in (*statement.reads(), *statement.outs(), *statement.writes):
            last[value.buffer] = i
        for value in statement.outs():
            made.setdefault(value.buffer, []).append(value)
    for value in page.live():
        last[value.buffer] = len(page.statements)
    for i, statement in enumerate(page.statements):
        out = statement.out
        if not statement.is_elementwise:
            continue
        x = next((x for x in statement.args if can_take_over(x, statement, last, i)), None)
        if x is not None:
            statement.into = x
            last[x.buffer] = last[out.buffer]
            for value in made.pop(out.buffer):
                value.buffer = x.buffer
                made[x.buffer].append(value)


def can_take_over(x: Any, statement: Statement, last: dict[Any, int], at: int) -> bool:
    """Return True if the result may be made in the memory of `x`: an array of its own, or a view of all of it."""
    if not isinstance(x, Value) or not x.is_array or x.kind != "temporary" or last[x.buffer] != at:
        return False
    out = statement.out
    if x.is_dynamic or out.is_dynamic or not (x.is_whole or (x.is_writable and x.nbytes == x.buffer.nbytes)):
        return False
    if any(other.buffer is x.buffer and other is not x for other in statement.reads()):
        return False  # NumPy would make a copy, since they may overlap
    return x.shape == out.shape and x.dtype == out.dtype and x.strides == out.strides  # sums round by layout


PASSES: dict[str, Callable[[Page], None]] = {
    "dead statements": drop_dead, "constants": hoist_constants, "repeats": merge_repeats,
    "at once": compute_at_once, "in place": reuse_memory, "stacks": stack_in_place, "loops": roll_loops,
}  # fmt: skip
"""The passes by name, in order."""
ROUNDING_PASSES: dict[str, Callable[[Page], None]] = {
    "dead statements": drop_dead, "constants": hoist_constants, "sums of products": sum_products_at_once,
    "repeats": merge_repeats, "at once": compute_at_once, "blocks of rows": compute_in_blocks, "in place": reuse_memory,
    "stacks": stack_in_place, "loops": roll_loops,
}  # fmt: skip
"""The passes of `exact=False`, in order."""
