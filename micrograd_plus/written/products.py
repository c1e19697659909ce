"""Sums of products over a loop as one product of stacked arrays: faster, but sums round differently."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .page import Page, Statement, Value

FEWEST_PRODUCTS = 4
"""Shorter sums of products stay as they are."""


def sum_products_at_once(page: Page) -> None:
    """Replace `G = a.T.dot(b); G += c.T.dot(d); ...` by one product of the stacked a, c, ... and b, d, ..."""
    for total in find_sums(page):
        total.replace()


def find_sums(page: Page) -> list[SumOfProducts]:
    """Return the sums of products that can be computed at once."""
    uses = Uses(page)
    found = [SumOfProducts(page, uses, value, parts) for value, parts in uses.additions.items()]
    return [each for each in found if each.is_possible()]


class Uses:
    """Makers and readers of values, and the last writes into memory."""

    def __init__(self, page: Page):
        self.makers: dict[Value, Statement] = {}
        self.readers: Counter[Value] = Counter()
        self.touches: dict[Any, list[int]] = {}
        self.last_write: dict[Any, int] = {}
        self.places: dict[int, int] = {}
        self.additions: dict[Value, list[Statement]] = {}
        self.live = {value.buffer for value in page.live()}
        for i, statement in enumerate(page.statements):
            self.places[id(statement)] = i
            self.makers.update(dict.fromkeys(statement.outs(), statement))
            self.readers.update(statement.reads())
            for value in (*statement.reads(), *statement.outs()):
                self.touches.setdefault(value.buffer, []).append(i)
            for value in statement.writes:
                self.last_write[value.buffer] = i
            if statement.form == "iop" and statement.function == "+=":
                self.additions.setdefault(statement.args[0], []).append(statement)


class SumOfProducts:
    """A value that starts as a product, and the statements that add further products to it."""

    def __init__(self, page: Page, uses: Uses, value: Value, additions: list[Statement]):
        self.page, self.uses, self.value, self.additions = page, uses, value, additions
        self.last = additions[-1]
        self.products: list[Any] = [self.find_product(x) for x in (value, *(each.args[1] for each in additions))]

    def find_product(self, x: Any) -> tuple[Statement, Statement] | None:
        """Return the statements that make a product, and the transpose in it."""
        product = self.uses.makers.get(x) if isinstance(x, Value) else None
        if product is None or product.form != "method" or product.function != "dot" or product.kwargs:
            return None
        transpose = self.uses.makers.get(product.args[0]) if isinstance(product.args[0], Value) else None
        if transpose is None or (transpose.form, transpose.function) != ("attr", "T"):
            return None
        return (product, transpose) if isinstance(product.args[1], Value) else None

    def is_possible(self) -> bool:
        """Return True if all products have the same shape, and their factors are still there at the end."""
        if len(self.products) < FEWEST_PRODUCTS or None in self.products or self.value.buffer.kind != "temporary":
            return False
        places = self.uses.places
        end = places[id(self.last)]
        steps = {places[id(each)] for each in (self.products[0][0], *self.additions)}
        if any(i not in steps for i in self.uses.touches[self.value.buffer] if i <= end):
            return False
        added = [each.args[1] for each in self.additions]
        if any(self.uses.readers[x] != 1 or x.buffer in self.uses.live for x in added):
            return False
        shapes = {(t.args[0].shape, t.args[0].dtype, p.args[1].shape, p.args[1].dtype) for p, t in self.products}
        is_even = len(shapes) == 1 and all(len(x) == 2 for shape in shapes for x in (shape[0], shape[2]))
        return is_even and all(
            self.uses.last_write.get(x.buffer, -1) < places[id(product)] and not x.is_dynamic
            for product, transpose in self.products for x in (transpose.args[0], product.args[1])
        )  # fmt: skip

    def replace(self) -> None:
        """Write one product in place of all."""
        note = self.last.note
        lefts = [transpose.args[0] for _, transpose in self.products]
        rights = [product.args[1] for product, _ in self.products]
        if self._is_stacked(lefts[::-1]):
            lefts, rights = lefts[::-1], rights[::-1]
        made: list[Statement] = []

        def add(form: str, function: str, args: tuple[Any, ...], shape: Any, dtype: Any, base: Any = None) -> Value:
            statement = Statement(form, function, args, {"axis": 0} if function == "np.stack" else {}, [], note)
            statement.out = Value("temporary", np.empty(shape, dtype), base and base.buffer)
            if base is None:
                statement.out.buffer.nbytes = statement.out.nbytes
            statement.out.buffer.is_fixed = False
            made.append(statement)
            return statement.out

        def stack(parts: list[Value]) -> Value:
            form: Any = parts[0].shape
            (rows, width), dtype = form, parts[0].dtype
            stacked = add("call", "np.stack", (tuple(parts),), (len(parts), rows, width), dtype)
            shape = len(parts) * rows, width
            return add("method", "reshape", (stacked, *shape), shape, dtype, stacked)

        left, right = stack(lefts), stack(rights)
        across = add("attr", "T", (left,), left.shape[::-1], left.dtype, left)
        total = Statement("method", "dot", (across, right), {}, [], note)
        total.out = self.value
        self.value.buffer.writes = 0
        gone = {id(each) for each in self.additions} | {id(product) for product, _ in self.products}
        at = self.page.statements.index(self.last)
        before, after = self.page.statements[:at], self.page.statements[at + 1 :]
        self.page.statements = [each for each in before if id(each) not in gone] + [*made, total] + after
        read = {value for each in self.page.statements for value in each.reads()} | set(self.page.live())
        unread = {id(transpose) for _, transpose in self.products if transpose.out not in read}
        self.page.statements = [each for each in self.page.statements if id(each) not in unread]

    def _is_stacked(self, parts: list[Value]) -> bool:
        """Return True if the step stacks these arrays anyway."""
        return any(
            each.function == "np.stack" and list(each.args[0]) == parts and each.kwargs == {"axis": 0}
            for each in self.page.statements
        )  # fmt: skip
