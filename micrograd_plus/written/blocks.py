"""Blocks of rows: a chain of statements on large arrays, done for some rows at a time while they are in the cache.

The statements move into a function that a loop calls with some rows of each array. Results are the same entry by
entry, but a sum over all rows is added up block by block, and so rounds differently.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from .page import Buffer, Page, Statement, Value

LARGE = 2**20
"""Smaller arrays stay in the cache by themselves."""
BYTES_OF_A_BLOCK = 2**18
"""About how long a block of the largest array is: several of them fit into the cache of a core."""
FEWEST_LARGE = 3
"""Fewer statements on large arrays stay as they are."""


def compute_in_blocks(page: Page) -> None:
    """Have chains of elementwise statements on large arrays go through the rows block by block, on the CPU."""
    if page.paper.real_device.name != "cpu":
        return
    done: list[Statement] = []
    rest = page.statements
    while (first := next((i for i, each in enumerate(rest) if is_large(each)), None)) is not None:
        chain = Chain(page, rest[first].out.shape[0])
        for statement in rest[first:]:
            chain.add(statement)
        made = chain.make_loop()
        if made is None:
            done += rest[: first + 1]
            rest = rest[first + 1 :]
        else:
            done += [*rest[:first], *chain.before, made]
            rest = chain.after
    page.statements = done + rest


def is_large(statement: Statement) -> bool:
    """Return True for a statement that makes a large array entry by entry."""
    out = statement.out
    return isinstance(out, Value) and bool(out.shape) and out.nbytes >= LARGE and is_entrywise(statement)


@dataclass(frozen=True)
class Rows:
    """The number of rows of a block, in place of a number in a statement: `factor` for each row of the loop."""

    factor: Fraction


class Blocks(Statement):
    """A loop over blocks of rows, which calls `body` with some rows of the arguments that are split.

    `count` is the number of rows, `step` that of a block. `factors` says for each result how many rows it has for each
    row of the loop; None for a sum over all rows.
    """

    __slots__ = ("body", "count", "factors", "is_split", "step")

    def __init__(self, body: Page, args: tuple[Value, ...], outs: tuple[Value, ...], writes: list[Value], note: Any):
        super().__init__("blocks", "", args, {}, writes, note, has_effect=bool(writes))
        self.out, self.body = outs, body
        self.count = self.step = 0
        self.is_split: list[bool] = []
        self.factors: list[Fraction | None] = []


class Form(NamedTuple):
    """How a statement goes through blocks: its arguments, which of them are split, and the rows of its result for each
    row of the loop; None for a sum over all rows."""

    args: Any
    kwargs: dict[str, Any]
    split: list[Value]
    factor: Fraction | None


class Chain:
    """Statements that go through the rows of an array, and those that must stay before or after the loop."""

    def __init__(self, page: Page, count: int):
        self.page, self.count = page, count
        self.inside: list[tuple[Statement, Form]] = []
        self.before: list[Statement] = []
        self.after: list[Statement] = []
        self.split: dict[Value, Fraction] = {}
        self.made: set[Value] = set()
        self.totals: set[Value] = set()
        self.touched: set[Any] = set()
        self.written: set[Any] = set()
        self.later: set[Any] = set()
        self.frozen: set[Any] = set()
        self.whole: set[Any] = set()

    def add(self, statement: Statement) -> None:
        """Take a statement into the loop if it can be there; otherwise put it before the loop or after it."""
        reads, writes = ({value.buffer for value in each} for each in (statement.reads(), statement.writes))
        must_wait = (reads | writes) & self.later or writes & self.frozen
        form = None if must_wait else self.find_form(statement)
        if form is not None and not self._mixes_rows(statement, form):
            self._take(statement, form)
        elif must_wait or (reads | writes) & self.written or writes & self.touched or self._has_later_effect(statement):
            self.after.append(statement)
            self.later |= writes | {value.buffer for value in statement.outs()}
            self.frozen |= reads
        else:
            self.before.append(statement)

    def _mixes_rows(self, statement: Statement, form: Form) -> bool:
        """Return True if a block would read what another block writes."""
        whole = {x.buffer for x in statement.reads() if x not in form.split and x not in self.made}
        if whole & self.written or {x.buffer for x in statement.writes} & (self.whole | whole):
            return True
        self.whole |= whole
        return False

    def _has_later_effect(self, statement: Statement) -> bool:
        """Return True for an effect that must come after one behind the loop."""
        return statement.has_effect and any(each.has_effect for each in self.after)

    def _take(self, statement: Statement, form: Form) -> None:
        self.inside.append((statement, form))
        for value in form.split:
            self.split.setdefault(value, Fraction(value.shape[0], self.count))
        outs = statement.outs()
        self.made.update(outs)
        for value in outs:
            if form.factor is None:
                self.totals.add(value)
                self.later.add(value.buffer)
            else:
                self.split[value] = form.factor
                self.written.add(value.buffer)
        self.touched.update(value.buffer for value in statement.reads())
        self.written.update(value.buffer for value in statement.writes)
        self.touched |= self.written

    # Forms ----------------------------------

    def find_form(self, statement: Statement) -> Form | None:
        """Return how a statement goes through blocks; None if it cannot."""
        outs, values = statement.outs(), [*statement.reads(), *statement.outs()]
        if statement.has_effect or len(outs) > 1 or (outs and statement.writes) or any(v.is_dynamic for v in values):
            return None
        has_check = any(each.form == "check" for each in self.after)
        if any(value.kind == "constant" or (has_check and value.kind == "input") for value in statement.writes):
            return None
        if is_entrywise(statement):
            return self._find_entrywise(statement)
        name = statement.function.rpartition(".")[2]
        finders = {"reshape": self._find_reshape, "transpose": self._find_transpose, "reduce": self._find_reduction,
                   "einsum": self._find_einsum, "broadcast_to": self._find_broadcast}  # fmt: skip
        return finders[name](statement) if outs and name in finders else None

    def _find_rows(self, x: Value, shape: Any) -> bool | None:
        """Return whether an argument beside an array of a shape is split; None if it cannot be there."""
        has_rows = x.is_array and len(x.shape) == len(shape) and x.shape[0] == shape[0] != 1
        if x in self.split and (x in self.made or has_rows):
            return True if has_rows and self.split[x] == Fraction(shape[0], self.count) else None
        if x in self.made or (has_rows and not is_by_rows(x)):
            return None
        return has_rows

    def _find_entrywise(self, statement: Statement) -> Form | None:
        out = statement.writes[0] if statement.writes else statement.out
        factor = self._factor_of(out) if isinstance(out, Value) else None
        is_begun = any(x in self.made for x in statement.reads())
        if factor is None or not is_by_rows(out) or not (is_begun or (out.nbytes >= LARGE and factor == 1)):
            return None
        split: list[Value] = []
        for x in statement.reads():
            is_split = self._find_rows(x, out.shape)
            if is_split is None:
                return None
            split += [x] * is_split
        return Form(statement.args, statement.kwargs, split, factor) if split else None

    def _factor_of(self, value: Value) -> Fraction | None:
        """Return how many rows of a value there are for each row of the loop; None if that is uneven."""
        if not value.is_array or not value.shape or value.shape[0] < 2:
            return None
        factor = Fraction(value.shape[0], self.count)
        return factor if factor.denominator <= MOST_ROWS_TOGETHER else None

    def _find_reshape(self, statement: Statement) -> Form | None:
        x, out, factor = statement.args[0], statement.out, self._factor_of(statement.out)
        if x not in self.split or statement.kwargs or factor is None or not (is_contiguous(x) and is_contiguous(out)):
            return None
        shape = (-1, *out.shape[1:])
        args = (x, shape) if statement.form == "call" else (x, *shape)
        return Form(args, {}, [x], factor)

    def _find_transpose(self, statement: Statement) -> Form | None:
        x, *axes = statement.args
        order = list(axes[0]) if len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes
        if x not in self.split or order != list(range(len(x.shape))):
            return None
        return Form(statement.args, {}, [x], self.split[x])

    def _find_reduction(self, statement: Statement) -> Form | None:
        x, rest = statement.args[0], statement.args[1:]
        if x not in self.split or rest or statement.kwargs.keys() - {"axis", "keepdims"}:
            return None
        axes = statement.kwargs.get("axis", 0)
        axes = range(len(x.shape)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
        if not all(type(axis) is int for axis in axes):
            return None
        is_total = 0 in {axis % len(x.shape) for axis in axes}
        if is_total and statement.function != "np.add.reduce":
            return None
        return Form(statement.args, statement.kwargs, [x], None if is_total else self.split[x])

    def _find_einsum(self, statement: Statement) -> Form | None:
        subscripts, *operands = statement.args
        if statement.kwargs or not isinstance(subscripts, str) or "..." in subscripts or "->" not in subscripts:
            return None
        before, _, result = subscripts.replace(" ", "").partition("->")
        pairs = list(zip(before.split(","), operands, strict=True))
        letters = {names[:1] for names, x in pairs if x in self.split}
        letter = letters.pop() if len(letters) == 1 else ""
        rows = {x.shape[0] for names, x in pairs if letter and names[:1] == letter}
        if len(rows) != 1 or letter in result[1:] or any(letter in names[1:] for names, _ in pairs):
            return None
        split = [x for names, x in pairs if letter in names]
        factor = Fraction(rows.pop(), self.count)
        if any(self.split.get(x, factor) != factor or not is_by_rows(x) for x in split):
            return None
        if any(x in self.made and x not in split for x in operands):
            return None
        return Form(statement.args, {}, split, factor if result.startswith(letter) else None)

    def _find_broadcast(self, statement: Statement) -> Form | None:
        x, shape = statement.args[0], statement.out.shape
        if x in self.split or x in self.made or statement.kwargs:
            return None
        if shape[0] != self.count or statement.out.nbytes < LARGE:
            return None
        if len(x.shape) == len(shape) and x.shape[0] != 1:
            return None
        return Form((x, (Rows(Fraction(1)), *shape[1:])), {}, [], Fraction(1))

    # The loop -------------------------------

    def make_loop(self) -> Blocks | None:
        """Return the loop, and have statements after it read its results; None if it is not worth while."""
        if sum(is_large(statement) or self._writes_large(statement) for statement, _ in self.inside) < FEWEST_LARGE:
            return None
        reads = {value for each in self.after for value in (*each.reads(), *each.writes)} | set(self.page.live())
        needed = [value for statement, _ in self.inside for value in statement.outs() if value in reads]
        if not all(self._can_be_returned(value, needed) for value in needed) or self._writes_under_two_names():
            return None
        inner: dict[tuple[Value, bool], Value] = {}
        body = Page(self.page.named)
        for statement, form in self.inside:
            for x in statement.reads():
                if x not in self.made and (x.constant is None or x.is_array):
                    inner.setdefault((x, x in form.split), inner_of(x))
            names = {x: made for (x, is_split), made in inner.items() if is_split is (x in form.split)}
            statement.args, statement.kwargs = form.args, form.kwargs
            statement.substitute(names)
            body.statements.append(statement)
        body.paper, body.made, body.upstreams = self.page.paper, self.page.made, self.page.upstreams
        body.inputs, body.results = list(inner.values()), needed
        self.page.bodies.append(body)
        outer = {x: outer_of(x) for x in needed}
        self._substitute_after(outer)
        give_buffers(self.made, {x.buffer: made.buffer for (x, _), made in inner.items()})
        written = {value.buffer for statement in body.statements for value in statement.writes}
        args, is_split = zip(*inner, strict=True)
        writes = [x for (x, _), made in inner.items() if made.buffer in written]
        loop = Blocks(body, args, tuple(outer.values()), writes, self.inside[0][0].note)
        loop.count, loop.step, loop.is_split = self.count, self._find_step(), list(is_split)
        loop.factors = [None if x in self.totals else self.split[x] for x in needed]
        return loop

    def _substitute_after(self, outer: dict[Value, Value]) -> None:
        """Have statements after the loop, and what outlives the call, read the results of the loop."""
        for statement in self.after:
            statement.substitute(outer)
        self.page.substitute(outer)

    def _writes_large(self, statement: Statement) -> bool:
        return any(value.nbytes >= LARGE for value in statement.writes)

    def _can_be_returned(self, value: Value, needed: list[Value]) -> bool:
        """Return True for a value that nothing changes through another name once the loop is over."""
        is_written = any(x.buffer is value.buffer for each in self.after for x in each.writes)
        return not is_written or sum(x.buffer is value.buffer for x in (*needed, *self.split)) == 1

    def _writes_under_two_names(self) -> bool:
        """Return True if the loop writes into memory from outside that it knows by several values."""
        written = {x.buffer for statement, _ in self.inside for x in statement.writes}
        outside = {x for statement, _ in self.inside for x in statement.reads() if x not in self.made}
        names = Counter(x.buffer for x in outside)
        return any(names[buffer] > 1 for buffer in written)

    def _find_step(self) -> int:
        """Return how many rows a block has."""
        widest = max(x.nbytes // self.count for x in self.split)
        together = lcm(*(factor.denominator for factor in self.split.values()))
        return max(BYTES_OF_A_BLOCK // widest // together, 1) * together


MOST_ROWS_TOGETHER = 64
"""How many rows may have to stay together for the rows of a reshaped array."""


def inner_of(value: Value) -> Value:
    """Return a value of the body for one from outside."""
    inner = Value("input", None, source=("argument", 0), hint=value.hint)
    for name in ("shape", "dtype", "strides", "is_array", "is_number", "kind_of_number"):
        setattr(inner, name, getattr(value, name))
    return inner


def outer_of(value: Value) -> Value:
    """Return a value outside of the loop for a result of it."""
    outer = Value("temporary", np.empty(value.shape, value.dtype) if value.is_array else value.dtype.type(0))
    outer.buffer, outer.is_whole, outer.is_writable = value.buffer, value.is_whole, value.is_array
    outer.hint = value.hint
    return outer


def give_buffers(values: set[Value], outside: dict[Any, Buffer]) -> None:
    """Give values of a body buffers of their own, or those of the arguments that they are views of."""
    for value in values:
        before = value.buffer
        if before not in outside:
            outside[before] = Buffer("temporary")
            outside[before].nbytes, outside[before].is_fixed = before.nbytes, False
        value.buffer = outside[before]


def is_entrywise(statement: Statement) -> bool:
    """Return True for a statement that computes each entry of its result from the same entry of its arguments."""
    form, function = statement.form, statement.function
    if form in ("binop", "iop"):
        return not function.startswith("@")
    if form == "unop":
        return True
    if form == "method":
        return function == "copy" and statement.args[1:] in ((), ("C",), ("K",)) and not statement.kwargs
    if form == "setitem":
        return statement.args[1] is ...
    name = function.removeprefix("np.")
    ufunc = getattr(np, name, None)
    is_where = name == "where" and len(statement.args) == 3
    is_known = is_where or (isinstance(ufunc, np.ufunc) and ufunc.signature is None)
    return form == "call" and is_known and statement.kwargs.keys() <= {"out"} and len(statement.outs()) <= 1


def is_by_rows(value: Value) -> bool:
    """Return True for an array whose rows follow each other in memory."""
    return value.is_array and bool(value.strides) and value.strides[0] >= max(value.strides)


def is_contiguous(value: Value) -> bool:
    """Return True for an array whose entries follow each other in C order."""
    expected = value.dtype.itemsize
    for length, stride in zip(reversed(value.shape), reversed(value.strides), strict=True):
        if length > 1 and stride != expected:
            return False
        expected *= length
    return True
