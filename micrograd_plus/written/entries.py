"""Chains on large arrays as a loop over entries, which numba compiles where it is installed.

All statements of a chain are done for one entry after the other, so that nothing but arguments and results is an array.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from .blocks import Blocks, is_entrywise
from .loop_text import comment_of
from .page import IN_PLACE_CALLS, Page, Statement, Value

FLOATS = ("float32", "float64")
SIGNS = frozenset(("+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^"))
CALLS = IN_PLACE_CALLS | {f"np.{name}" for name in (
    "greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
    "isnan", "isinf", "isfinite", "sign", "cosh", "sinh", "arctan", "floor", "ceil",
)}  # fmt: skip
DECORATOR = '@numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})'
"""Sums may be added up in another order; nan and infinity keep their meaning."""


@cache
def has_numba() -> bool:
    """Return True if numba is installed and can be imported."""
    try:
        import numba  # noqa: F401 - only whether it can be imported
    except ImportError:
        return False
    return True


class NotByEntriesError(Exception):
    """A chain that cannot go entry by entry, such as one that reads the sum of a row."""


def say_by_entries(loop: Blocks, text: Any, page: Page) -> list[str] | None:
    """Return the lines of the function for a chain; None if it cannot go entry by entry."""
    try:
        return Entries(loop, text, page).lines()
    except NotByEntriesError:
        return None


class Entries:
    """Text of a chain on arrays of one or two axes. `text` names its values, `page` is the page around it."""

    def __init__(self, loop: Blocks, text: Any, page: Page):
        self.loop, self.text, self.body = loop, text, loop.body
        self.shape = max((v.shape for s in self.body.each_statement() for v in (*s.outs(), *s.writes)
                          if len(v.shape) in (1, 2) and v.shape[0] == loop.count), key=len)  # fmt: skip
        if len(self.shape) == 2 and self.shape[1] < 2:
            raise NotByEntriesError
        reshaped = {v.shape for s in self.body.each_statement() if s.function.endswith("reshape") for v in s.outs()}
        self.forms = {self.shape, *(shape for shape in reshaped if prod(shape) == prod(self.shape))}
        self.row_forms = [(self.shape[0],), (self.shape[0], 1)][: 2 * (len(self.shape) - 1)]
        self.indices = ("i", "j")[: len(self.shape)]
        self.is_split = dict(zip(self.body.inputs, loop.is_split, strict=True))
        self.uniform = {inner: number for outer, inner in zip(loop.args, self.body.inputs, strict=True)
                        if (number := find_uniform(page, outer)) is not None}  # fmt: skip
        self.entries: dict[Any, str] = {}
        self.rows: dict[Any, str] = {}
        self.row_sums: list[str] = []
        self.after_row: list[str] = []
        self.columns: dict[Any, str] = {}
        self.totals: dict[Any, str] = {}
        self.inner: list[str] = []
        self.note: Any = None

    def lines(self) -> list[str]:
        """Return the body of the function."""
        for statement in self.body.each_statement():
            self._add(statement)
        results, before, at_entry, after_row = [], [], [], list(self.after_row)
        for value in self.body.results:
            name = self.text.find_free(f"all_{value.name}" if value.name else "result")
            results.append(name)
            dtype = f"np.{value.dtype.name}"
            if value.buffer in self.entries:
                if value.shape != self.shape:
                    raise NotByEntriesError
                before.append(f"{name} = np.empty({self._say_shape(value.shape)}, {dtype})")
                at_entry.append(f"{name}[{', '.join(self.indices)}] = {self.entries[value.buffer]}")
            elif value.buffer in self.rows:
                before.append(f"{name} = np.empty({self._say_shape(value.shape)}, {dtype})")
                after_row.append(f"{name}[i{', 0' * (len(value.shape) - 1)}] = {self.rows[value.buffer]}")
            elif value.buffer in self.columns:
                results[-1] = self.columns[value.buffer]
            elif value.shape == ():
                results[-1] = f"{dtype}({self.totals[value.buffer]})"
            else:
                raise NotByEntriesError
        arrays = [f"{name} = np.zeros({self.shape[1]}, np.{dtype})" for name, dtype in self.kinds_of_columns.items()]
        totals = [f"{name} = 0.0" for name in self.totals.values()]
        rows = [f"{name} = 0.0" for name in self.row_sums]
        innermost = [*self.inner, *at_entry]
        first = next(x for x, is_split in self.is_split.items() if is_split and x.shape[0] == self.shape[0])
        head = [*before, *arrays, *totals, f"for i in range(len({first.name})):"]
        end = [f"return {', '.join(results)}{',' * (len(results) == 1)}"] if results else []
        if len(self.shape) == 1:
            return [*head, *_indent(innermost), *end]
        loop = [*rows, f"for j in range({self.shape[1]}):", *_indent(innermost), *after_row]
        return [*head, *_indent(loop), *end]

    def _say_shape(self, shape: Any) -> str:
        return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"

    # Statements -----------------------------

    @property
    def kinds_of_columns(self) -> dict[str, str]:
        """The names of sums over rows, and their dtypes."""
        return {name: value.dtype.name for s in self.body.each_statement() for value in s.outs()
                if (name := self.columns.get(value.buffer))}  # fmt: skip

    def _add(self, statement: Statement) -> None:
        name = statement.function.rpartition(".")[2]
        if statement.note != self.note:
            self.note = statement.note
            self.inner += comment_of(self.note)[1:]
        if is_entrywise(statement):
            self._add_entrywise(statement)
        elif name in ("reshape", "transpose"):
            if statement.args[0].buffer in self.columns or statement.args[0].buffer in self.totals:
                raise NotByEntriesError
        elif name == "broadcast_to" and statement.out.shape == self.shape:
            self._define(statement.out, self._read(statement.args[0], self.shape))
        elif name == "reduce":
            self._add_sum(statement, self._read(statement.args[0], self.shape))
        elif name == "einsum":
            self._add_einsum(statement)
        else:
            raise NotByEntriesError

    def _define(self, value: Value, said: str) -> None:
        if value.dtype.name not in (*FLOATS, "bool"):
            raise NotByEntriesError
        self.inner.append(f"{self.text.name(value, value.hint or 'v')} = {said}")
        self.entries[value.buffer] = value.name

    def _add_entrywise(self, statement: Statement) -> None:
        target = statement.writes[0] if statement.writes else statement.out
        if target.shape not in (*self.forms, *self.row_forms):
            raise NotByEntriesError
        result = self._say_result(statement, target)
        if target.shape in self.row_forms:
            if statement.writes and target.buffer not in self.rows:
                raise NotByEntriesError
            name = self.rows[target.buffer] if statement.writes else self.text.name(target, target.hint or "v")
            self.rows[target.buffer] = name
            self.after_row.append(f"{name} = {result}")
        elif statement.writes:
            self._write(target, result)
        else:
            self._define(target, result)

    def _say_result(self, statement: Statement, target: Value) -> str:
        """Return the text of one entry of a result."""
        form, function = statement.form, statement.function
        kinds = [x.dtype for x in statement.reads() if x.is_array]
        kind = target.dtype if target.dtype.kind != "b" else np.result_type(*kinds or [target.dtype])
        said = [self._read(x, target.shape, None if function == "np.where" and x is statement.args[0] else kind)
                for x in statement.args if x is not ...]  # fmt: skip
        if form in ("binop", "iop") and (sign := function if form == "binop" else function[:-1]) in SIGNS:
            return f"{said[0]} {sign} {said[1]}"
        if form == "unop" and (function in "+-" or target.dtype.kind == "b"):
            return f"{function}{said[0]}" if function in "+-" else f"not {said[0]}"
        if form in ("method", "setitem"):  # a copy, or `x[...] = y`
            return said[0 if form == "method" else -1]
        if function == "np.where":
            return f"({said[1]} if {said[0]} else {said[2]})"
        if function in CALLS:
            return f"{function}({', '.join(said)})"
        raise NotByEntriesError

    def _write(self, target: Value, said: str) -> None:
        if target.buffer in self.entries:
            self.inner.append(f"{self.entries[target.buffer]} = {said}")
        elif self.is_split.get(target) and target.shape == self.shape:
            self.inner.append(f"{target.name}[{', '.join(self.indices)}] = {said}")
        else:
            raise NotByEntriesError

    def _add_sum(self, statement: Statement, said: str) -> None:
        x, out = statement.args[0], statement.out
        axes = statement.kwargs.get("axis", 0)
        axes = range(len(x.shape)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
        if statement.function != "np.add.reduce" or x.shape != self.shape or out.dtype.name not in FLOATS:
            raise NotByEntriesError
        self._add_up(out, tuple(sorted(axis % len(x.shape) for axis in axes)), said)

    def _add_up(self, out: Value, axes: tuple[int, ...], said: str) -> None:
        """Add an entry to a sum over axes."""
        name = self.text.name(out, out.hint or "total")
        if len(axes) == len(self.shape):
            self.totals[out.buffer] = name
        elif axes == (0,) and out.shape == self.shape[1:]:
            self.columns[out.buffer] = name
            name = f"{name}[j]"
        elif axes == (1,):
            self.rows[out.buffer] = name
            self.row_sums.append(name)
        else:
            raise NotByEntriesError
        self.inner.append(f"{name} += {said}")

    def _add_einsum(self, statement: Statement) -> None:
        subscripts, *operands = statement.args
        before, _, result = subscripts.replace(" ", "").partition("->")
        whole = next((names for names in before.split(",") if len(names) == len(self.shape)), "")
        if len(set(whole)) != len(self.shape) or not all(
            names == whole and x.shape == self.shape for names, x in zip(before.split(","), operands, strict=True)
        ):
            raise NotByEntriesError
        said = " * ".join(self._read(x, self.shape) for x in operands)
        axes = tuple(i for i, letter in enumerate(whole) if letter not in result)
        if not axes:
            self._define(statement.out, said)
        else:
            self._add_up(statement.out, axes, said)

    def _read(self, x: Any, shape: Any, kind: Any = None) -> str:
        """Return the text of one entry of an argument, as a number of a dtype."""
        if not isinstance(x, Value):
            return f"np.{kind.name}({x!r})" if type(x) is float and kind is not None else repr(x)
        said = self._read_value(x, shape)
        if kind is None or x.dtype is None or x.dtype == kind or kind.kind == "b":
            return said
        return f"np.{kind.name}({said})"

    def _read_value(self, x: Value, shape: Any) -> str:
        if x.constant is not None and not x.is_array:
            return self.text.say(x)
        known = self.rows if shape in self.row_forms else self.entries
        if x.buffer in known:
            return known[x.buffer]
        if x not in self.is_split or x in self.uniform:
            if x in self.uniform:
                return f"np.{x.dtype.name}({self.uniform[x]!r})"
            raise NotByEntriesError  # the sum of a row, or of all rows
        if not x.is_array:
            return x.name
        if shape not in (self.shape, *self.row_forms) or len(x.shape) > len(shape):
            raise NotByEntriesError
        indices = self.indices[: len(shape)][len(shape) - len(x.shape) :]
        said = ", ".join("0" if n == 1 else index for n, index in zip(x.shape, indices, strict=True))
        return f"{x.name}[{said or '()'}]"


def find_uniform(page: Page, value: Value) -> float | None:
    """Return the number in all entries of a constant array; None if they may differ."""
    statement = next((each for each in page.preamble if each.out is value), None)
    if statement is None:
        return None
    if statement.function == "np.full" and type(statement.args[1]) in (int, float):
        return float(statement.args[1])
    return {"np.ones": 1.0, "np.zeros": 0.0}.get(statement.function)


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
