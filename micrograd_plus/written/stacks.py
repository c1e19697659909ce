"""Arrays that are stacked are made in the memory of the stack, so that nothing is copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from .page import Note, Page, Statement, Value

FEWEST_PARTS = 4
"""A stack of fewer arrays is left as it is."""
ALIGNED = 16
"""NumPy's arrays begin at a multiple of this many bytes."""


def stack_in_place(page: Page) -> None:
    """Make arrays that are only stacked in the memory of the stack, so that nothing is copied."""
    for stack in [each for each in page.statements if is_long_stack(each)]:
        Stack(page.statements, stack, {value.buffer for value in page.live()}).fill()


def is_long_stack(statement: Statement) -> bool:
    """Return True for a stack of several arrays along the first axis."""
    if statement.function != "np.stack" or len(statement.args) != 1 or not isinstance(statement.args[0], (tuple, list)):
        return False
    return len(statement.args[0]) >= FEWEST_PARTS and statement.kwargs in ({}, {"axis": 0})


class Stack:
    """A call of `np.stack`, and which of its arrays can be made in its memory."""

    def __init__(self, statements: list[Statement], stack: Statement, live: set[Any]):
        self.statements, self.stack, self.out = statements, stack, stack.out
        self.parts: tuple[Any, ...] = tuple(stack.args[0])
        self.live = live
        self.values: dict[Any, list[Value]] = {part.buffer: [] for part in self.parts if isinstance(part, Value)}
        self.makers: dict[Any, int] = {}
        self.last: dict[Any, int] = {}
        for i, statement in enumerate(statements):
            for value in statement.outs():
                if value.buffer in self.values:
                    self.values[value.buffer].append(value)
                    self.makers.setdefault(value.buffer, i)
            for value in (*statement.reads(), *statement.outs(), *statement.writes):
                self.last[value.buffer] = i

    def fill(self) -> None:
        """Have the arrays made in place, if that is possible for most of them."""
        at = self.statements.index(self.stack)
        places = {i: part for i, part in enumerate(self.parts) if self.can_be_made_in_place(part, at)}
        if 2 * len(places) < len(self.parts) or len(places) < FEWEST_PARTS:
            return
        self.out.hint = self.out.hint or "stack"
        note, before = self.stack.note, dict[int, list[Statement]]()
        about = Note("memory for arrays that are stacked later", "", "")
        made = Statement("call", "np.empty", (self.out.shape, self.out.dtype), {}, [], about)
        made.out = self.out
        first = min(self.makers[part.buffer] for part in places.values())
        before[first] = [made]
        for i, part in places.items():
            maker = self.makers[part.buffer]
            place = Statement("getitem", "", (self.out, i), {}, [], self.statements[maker].note)
            place.out = Value("temporary", np.empty(0, part.dtype), self.out.buffer)
            place.out.shape, place.out.strides = part.shape, part.strides
            self.statements[maker].into = place.out
            before.setdefault(maker, []).append(place)
            for value in self.values[part.buffer]:
                value.buffer, value.is_whole = self.out.buffer, False
        copies = [
            Statement("setitem", "", (self.out, i, part), {}, [self.out], note)
            for i, part in enumerate(self.parts) if i not in places
        ]  # fmt: skip
        self.statements[:] = [
            each
            for i, statement in enumerate(self.statements)
            for each in (*before.get(i, []), *(copies if i == at else [statement]))
        ]

    def can_be_made_in_place(self, part: Any, at: int) -> bool:
        """Return True if a part is made whole by a statement that takes given memory, and is not used otherwise."""
        if not isinstance(part, Value) or part.buffer in self.live or part.buffer not in self.makers:
            return False
        maker = self.statements[self.makers[part.buffer]]
        whole = maker.out
        takes_memory = part.is_array and bool(part.shape) and (maker.is_elementwise or _is_dot(maker))
        return (
            takes_memory and maker.into is None and part.kind == "temporary" and self.last[part.buffer] == at
            and len([x for x in self.parts if isinstance(x, Value) and x.buffer is part.buffer]) == 1
            and (whole.shape, whole.dtype, whole.strides) == (part.shape, part.dtype, part.strides)
            and self.out.shape[1:] == part.shape and self.out.dtype == part.dtype and not self.out.is_dynamic
            and self.out.strides[1:] == part.strides and self.out.nbytes % ALIGNED == 0
            and part.nbytes % ALIGNED == 0 and _is_contiguous(part)
        )  # fmt: skip


def _is_dot(statement: Statement) -> bool:
    """Return True for a product of arrays by their method `dot`."""
    return statement.form == "method" and statement.function == "dot" and not statement.kwargs


def _is_contiguous(value: Any) -> bool:
    """Return True for an array whose entries follow each other in C order."""
    step = value.dtype.itemsize
    for length, stride in zip(reversed(value.shape), reversed(value.strides), strict=True):
        if stride != step:
            return False
        step *= length
    return True
