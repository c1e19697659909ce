"""Passes over a page, each a function that makes the program shorter or faster and keeps every bit of its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .page import Page, Value

IN_PLACE_CALLS = frozenset(f"np.{name}" for name in (
    "tanh", "exp", "sqrt", "maximum", "minimum", "log", "sin", "cos", "square", "negative", "abs", "add", "subtract",
    "multiply", "divide", "log1p", "expm1",
))  # fmt: skip
IN_PLACE_SIGNS = frozenset("+-*/")


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


def reuse_memory(page: Page) -> None:
    """Have a result take over the memory of an operand that is read there for the last time."""
    last: dict[Any, int] = {}
    for i, statement in enumerate(page.statements):
        for value in (*statement.reads(), *statement.outs(), *statement.writes):
            last[value.buffer] = i
    for value in page.live():
        last[value.buffer] = len(page.statements)
    wholes: dict[Any, bool] = {}
    for i, statement in enumerate(page.statements):
        out = statement.out
        is_elementwise = statement.form == "binop" and statement.function in IN_PLACE_SIGNS
        is_elementwise = is_elementwise or (statement.form == "call" and statement.function in IN_PLACE_CALLS)
        if not is_elementwise or not isinstance(out, Value) or not out.is_array or statement.kwargs:
            continue
        for x in statement.args:
            if can_take_over(x, out, last, i) and out.buffer not in wholes:
                statement.into = x
                end = last[out.buffer]
                moved = out.buffer
                last[x.buffer] = end
                for later in page.statements[i:]:
                    for value in later.outs():
                        if value.buffer is moved:
                            value.buffer = x.buffer
                break


def can_take_over(x: Any, out: Value, last: dict[Any, int], at: int) -> bool:
    """Return True if `out` may be made in the memory of `x`."""
    is_value = isinstance(x, Value) and x.is_array and x.kind == "temporary" and x.is_whole
    if not is_value or x.is_dynamic or out.is_dynamic or last[x.buffer] != at:
        return False
    return x.shape == out.shape and x.dtype == out.dtype and x.strides == out.strides  # sums round by layout


PASSES: dict[str, Callable[[Page], None]] = {"dead statements": drop_dead, "in place": reuse_memory}
"""The passes by name, in order."""
