"""Work on the rows of a stack, done for all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .page import IN_PLACE_SIGNS, Page, Statement, Value, find, map_parts
from .stacks import is_long_stack

FEWEST_AT_ONCE = 4
"""Fewer statements stay as they are."""
MOST_BYTES = 2**15
"""Larger arrays are computed one by one, while they are in the cache."""


def compute_at_once(page: Page) -> None:
    """Replace `p = a * a; q = b * b; ...` by one statement on the stack of a, b, ..., and p, q, ... by its rows.

    Each entry is computed from the same numbers as before, so all bits stay the same.
    """
    for statement in [each for each in page.statements if is_long_stack(each)]:
        if statement.out.is_dynamic or statement.out.buffer.writes:
            continue
        todo = [Rows(statement.out, list(statement.args[0]), statement)]
        views: set[Value] = set()
        while todo:
            found = todo.pop().compute_readers(page)
            views.update(part for rows in found for part in rows.parts)
            todo += found
        unread = views.difference(page.live(), *(each.reads() for each in page.statements))
        page.statements = [each for each in page.statements if each.out not in unread] if unread else page.statements


class Rows:
    """A stack and the values that are its rows. `stack` is its statement if its place may still change."""

    def __init__(self, whole: Value, parts: list[Any], stack: Statement | None = None):
        self.whole, self.parts, self.stack = whole, parts, stack
        self.numbers = {part: i for i, part in enumerate(parts) if isinstance(part, Value) and not part.buffer.writes}

    def compute_readers(self, page: Page) -> list[Rows]:
        """Compute at once what statements compute from one row each. Return the new stacks."""
        groups: dict[Any, dict[int, int]] = {}
        for at, statement in enumerate(page.statements):
            if self.is_entrywise(statement):
                row = next(self.numbers[x] for x in find(statement.args, Value) if x in self.numbers)
                key = statement.function, repr(map_parts(statement.args, lambda x: x in self.numbers or x))
                groups.setdefault(key, {}).setdefault(row, at)
        live = {value.buffer for value in page.live()}
        found = []
        for places in groups.values():
            statements = {row: page.statements[at] for row, at in places.items()}
            rows = longest_run([row for row, each in statements.items() if each.out.buffer not in live])
            if len(rows) >= FEWEST_AT_ONCE and self.can_stand_before(page, min(places[row] for row in rows)):
                found.append((rows, [statements[row] for row in rows]))
        return [self.replace(page, rows, statements) for rows, statements in found]

    def is_entrywise(self, statement: Statement) -> bool:
        """Return True for a sign between rows of one number, or between a row and numbers."""
        if statement.form != "binop" or statement.function not in IN_PLACE_SIGNS:
            return False
        rows = {self.numbers[x] for x in statement.args if isinstance(x, Value) and x in self.numbers}
        out = statement.out
        if len(rows) != 1 or out.nbytes > MOST_BYTES or out.buffer.writes or out.is_dynamic:
            return False
        return all(
            x.shape == out.shape and bool(out.shape) if isinstance(x, Value) and x in self.numbers
            else type(x) in (int, float) for x in statement.args
        )  # fmt: skip

    def can_stand_before(self, page: Page, at: int) -> bool:
        """Return True if the stack is complete before a statement. Move it there if it comes later."""
        if self.stack is None:
            return True
        now = page.statements.index(self.stack)
        if now < at:
            return True
        if any(value in self.parts for each in page.statements[at:now] for value in each.outs()):
            return False
        page.statements.insert(at, page.statements.pop(now))
        return True

    def replace(self, page: Page, rows: range, statements: list[Statement]) -> Rows:
        """Write one statement for all, and make the results of the others its rows."""
        note, places = statements[0].note, {id(each): i for i, each in enumerate(page.statements)}
        made, whole = [], self.whole
        row = statements[0].out
        if len(rows) < len(self.parts):
            made.append(Statement("getitem", "", (whole, slice(rows.start, rows.stop)), {}, [], note))
            whole = view_of(whole, np.empty((len(rows), *whole.shape[1:]), whole.dtype))
            made[-1].out = whole
        args = map_parts(statements[0].args, lambda x: whole if isinstance(x, Value) else x)
        at_once = Statement("binop", statements[0].function, args, {}, [], note)
        at_once.out = Value("temporary", np.empty((len(rows), *row.shape), row.dtype))
        at_once.out.is_writable, at_once.out.buffer.is_fixed = True, False
        at_once.out.buffer.nbytes = at_once.out.nbytes
        for i, statement in enumerate(statements):
            view = Statement("getitem", "", (at_once.out, i), {}, [], statement.note)
            view.out = statement.out
            view.out.buffer, view.out.is_whole = at_once.out.buffer, False
            page.statements[places[id(statement)]] = view
        first = min(places[id(each)] for each in statements)
        page.statements[first:first] = [*made, at_once]
        return Rows(at_once.out, [each.out for each in statements])


def view_of(whole: Value, like: Any) -> Value:
    """Return a value of the form of an array that shares the memory of another."""
    view = Value("temporary", like, whole.buffer)
    view.is_writable = whole.is_writable
    return view


def longest_run(rows: list[int]) -> range:
    """Return the longest run of numbers that follow each other."""
    known = set(rows)
    best = range(0)
    for start in sorted(known):
        if start - 1 not in known:
            stop = start
            while stop in known:
                stop += 1
            best = max(best, range(start, stop), key=len)
    return best
