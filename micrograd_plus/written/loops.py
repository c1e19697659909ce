"""Loops: repeats in a list of statements become loops again.

A loop makes the same calls on the same values in the same order as its rounds written out. Only the text is shorter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .page import Page, Statement, Value, find, map_parts, map_values

FEWEST_ROUNDS, FEWEST_SAVED = 3, 6
"""A loop has at least this many rounds, and saves at least this many statements."""
MOST_PERIODS, MOST_ROTATIONS, MOST_PEELED = 6, 6, 2
"""How many periods and first statements are tried for each loop, and how many first rounds may be left out."""


class Series:
    """The values of one name of a loop, a value for each round. If it is listed, the loop appends them to a list.

    A series without a loop is a list of inputs, such as the weights of equal layers.
    """

    __slots__ = ("is_listed", "loop", "name", "values")

    def __init__(self, loop: Loop | None, values: list[Value]):
        self.loop, self.values, self.is_listed, self.name = loop, values, False, ""


@dataclass(frozen=True)
class Count:
    """A number that is `first` in the first round, and grows by `step` from round to round."""

    first: int
    step: int

    def at(self, r: int) -> int:
        """Return the number in a round."""
        return self.first + r * self.step


@dataclass(frozen=True)
class Element:
    """An element of a list that an earlier loop has filled, or of a list of inputs, at an index that counts."""

    series: Series
    index: Count


@dataclass(frozen=True)
class Before:
    """Value that a name of the loop held in the round before; at this place `now` has replaced it."""

    now: Value


class Loop:
    """Statements that run once for each round.

    `rounds` holds the statements of all rounds. `body` holds the statements of the last one, with a `Count`, an
    `Element` or a `Before` for each part that changes. `start` holds the values of names before the first round.
    """

    form, function, has_effect, note, into, out = "loop", "", True, None, None, None

    def __init__(self, rounds: list[list[Statement]]):
        self.rounds = rounds
        self.body: list[Statement] = []
        self.start: dict[Value, Any] = {}
        self.needs_before: set[Value] = set()
        self.series: list[Series] = []
        for k, statement in enumerate(rounds[-1]):
            for m in range(len(statement.outs())):
                self.series.append(Series(self, [each[k].outs()[m] for each in rounds]))
        for series in self.series:
            for r, value in enumerate(series.values):
                value.place = series, r

    @property
    def count(self) -> int:
        """The number of rounds."""
        return len(self.rounds)

    @property
    def statements(self) -> list[Statement]:
        """The statements of all rounds, in order."""
        return [statement for each in self.rounds for statement in each]

    def reads(self) -> list[Value]:
        """Return the values that it reads."""
        return [value for statement in self.statements for value in statement.reads()]

    def outs(self) -> list[Value]:
        """Return the values that it makes."""
        return [value for statement in self.statements for value in statement.outs()]

    @property
    def writes(self) -> list[Value]:
        """The values that it writes into."""
        return [value for statement in self.statements for value in statement.writes]


# Finding repeats ------------------------------------------


def roll_loops(page: Page) -> None:
    """Write statements that repeat themselves as loops."""
    statements = page.statements
    repeats = Repeats(statements)
    items: list[Any] = []
    i = 0
    while i < len(statements):
        fit = repeats.best_fit(i)
        if fit is None:
            items.append(statements[i])
            i += 1
            continue
        items += statements[i : fit.start]
        items.append(fit.make_loop())
        i = fit.start + fit.count * fit.period
    page.statements = items
    list_what_is_read_later(page)


def list_what_is_read_later(page: Page) -> None:
    """Note which names of loops are read after their round, so that the loop must keep all their values."""
    for item in page.statements:
        for statement in item.body if isinstance(item, Loop) else [item]:
            for element in find((statement.args, tuple(statement.kwargs.values())), Element):
                element.series.is_listed = True
        for value in (*item.reads(), *item.writes):
            _list_value(value, item)
    for value in page.live():
        _list_value(value, None)


def _list_value(value: Value, reader: Any) -> None:
    """Note that something outside of its loop reads a value. The name itself holds the value of the last round."""
    if value.place is not None and value.place[0].loop is not reader and value is not value.place[0].values[-1]:
        value.place[0].is_listed = True


class Repeats:
    """Statements, and where their forms come again."""

    def __init__(self, statements: list[Statement]):
        self.statements = statements
        known: dict[Any, int] = {}
        self.keys = np.array([known.setdefault(form_of(each), len(known)) for each in statements], dtype=np.int64)
        self.positions: dict[int, list[int]] = {}
        for i, key in enumerate(self.keys.tolist()):
            self.positions.setdefault(key, []).append(i)
        self.makers = {value: (i, m) for i, each in enumerate(statements) for m, value in enumerate(each.outs())}
        self.starts = {i for i, each in enumerate(statements) if i == 0 or each.note != statements[i - 1].note}
        self.ends: dict[int, Any] = {}
        self.parts = cache(lambda i: parts_of(statements[i]))

    def best_fit(self, i: int) -> Fit | None:
        """Return the loop that begins about here and saves most statements."""
        positions = self.positions[int(self.keys[i])]
        after = bisect_right(positions, i)
        best: Fit | None = None
        blocks = [each for each in positions[after:] if each in self.starts] if i in self.starts else []
        for position in sorted({*positions[after : after + MOST_PERIODS], *blocks[:MOST_PERIODS]}):
            period = position - i
            end = self.end_of_run(i, period)
            if (end - i) // period < FEWEST_ROUNDS - MOST_PEELED:
                continue
            for start in self.find_rotations(i, period):
                fit = Fit(self, start, period, (end - start) // period + 1)
                if fit.is_worthwhile and (best is None or fit.gain > best.gain):
                    best = fit
                if fit.gain >= end - i - (MOST_PEELED + 1) * period > 0:
                    return fit  # nearly all that there is
        return best

    def find_rotations(self, i: int, period: int) -> list[int]:
        """Return where the first round may begin: preferably at a comment."""
        comments = sorted(self.starts & set(range(i, i + period)))[:MOST_ROTATIONS]
        return comments if i in comments else [*comments, i]

    def end_of_run(self, i: int, period: int) -> int:
        """Return the first place from `i` on whose statement differs in form from the one a period later."""
        if period not in self.ends:
            self.ends[period] = np.flatnonzero(self.keys[:-period] != self.keys[period:])
        ends = self.ends[period]
        k = np.searchsorted(ends, i)
        return int(ends[k]) if k < len(ends) else len(self.keys) - period


def form_of(statement: Statement) -> Any:
    """Return a key that is equal for statements that differ in values and constants alone."""
    return (
        statement.form,
        statement.function,
        statement.note,
        statement.into is None,
        _structure_of(statement.args),
        tuple((name, _structure_of(x)) for name, x in statement.kwargs.items()),
        _structure_of(statement.out),
    )


def _structure_of(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x), tuple(_structure_of(part) for part in x)
    return (slice, *map(_structure_of, (x.start, x.stop, x.step))) if type(x) is slice else ""


def parts_of(statement: Statement) -> list[Any]:
    """Return the values and constants that a statement names, in order."""
    found: list[Any] = []
    map_parts((statement.args, tuple(statement.kwargs.values()), statement.into), found.append)
    return found


def is_same(a: Any, b: Any) -> bool:
    """Return True for one and the same value, and for equal constants."""
    if a is b:
        return True
    a, b = (x.constant if isinstance(x, Value) and not x.is_array else x for x in (a, b))
    return type(a) is type(b) and isinstance(a, CONSTANTS) and repr(a) == repr(b)


def is_input(x: Any) -> bool:
    """Return True for an input itself, not a view of it."""
    return isinstance(x, Value) and x.kind == "input" and x.source is not None


CONSTANTS = (bool, int, float, complex, str, np.generic, np.dtype)


ALL = 2**62


class Way(NamedTuple):
    """How an argument follows from the round: `kind` is "same", "made" in this round, "before" (made in the round
    before), "element", "count" or "given" (an input of its own for each round)."""

    kind: str
    what: Any


class Fit:
    """Rounds of `period` statements that can be a loop: as many as every argument has one description for."""

    def __init__(self, repeats: Repeats, start: int, period: int, count: int):
        self.repeats, self.period, self.start, self.count = repeats, period, start, 0
        self.ways: list[list[Way]] = []
        for peeled in range(min(MOST_PEELED, count - FEWEST_ROUNDS) + 1):
            self.start = start + peeled * period
            self.ways = []
            self.initial: dict[tuple[int, int], Any] = {}
            self.count = self._count_rounds(count - peeled)
            if self.is_worthwhile:
                break

    @property
    def gain(self) -> int:
        """The number of statements that the loop saves. A list of inputs takes a line."""
        lists = {tuple(way.what[: self.count]) for ways in self.ways for way in ways if way.kind == "given"}
        return (self.count - 1) * self.period - len(lists)

    @property
    def is_worthwhile(self) -> bool:
        """True if the loop is worth its lines."""
        return self.count >= FEWEST_ROUNDS and self.gain >= FEWEST_SAVED

    def statement(self, r: int, k: int) -> Statement:
        """Return a statement of a round."""
        return self.repeats.statements[self.start + r * self.period + k]

    def _count_rounds(self, most: int) -> int:
        """Find how every argument follows from the round, and return for how many rounds that holds."""
        for k in range(self.period):
            self.ways.append([])
            places = range(self.start + k, self.start + most * self.period, self.period)
            for parts in zip(*map(self.repeats.parts, places), strict=True):
                way, count = self._find_way(parts, k)
                self.ways[k].append(way)
                most = min(most, count)
                if most < FEWEST_ROUNDS:
                    return 0
        return most

    def _find_way(self, parts: tuple[Any, ...], k: int) -> tuple[Way, int]:
        """Return how an argument follows from the round, and for how many rounds."""
        first, second = parts[:2]
        made = [self._place(x) for x in parts[:2]]
        if made[0] is None and is_same(first, second):
            return Way("same", first), _length(is_same(x, first) for x in parts)
        if made[0] is not None and made[0][0] == 0:
            place = made[0][1:]
            return Way("made", place), _length(self._place(x) == (r, *place) for r, x in enumerate(parts))
        if made[1] is not None and made[1][0] == 0 and made[0] is None:
            place = made[1][1:]
            if not is_same(self.initial.setdefault(place, first), first):
                return Way("", None), 0
            return Way("before", place), 1 + _length(self._place(x) == (r, *place) for r, x in enumerate(parts[1:]))
        return self._find_count(parts)

    def _find_count(self, parts: tuple[Any, ...]) -> tuple[Way, int]:
        """Return how a number, or the index of an element of an earlier loop's list, grows from round to round."""
        first, second = parts[:2]
        if type(first) is type(second) is int:
            count = Count(first, second - first)
            return Way("count", count), _length(type(x) is int and x == count.at(r) for r, x in enumerate(parts))
        if is_input(first) and is_input(second):
            return Way("given", parts), _length(map(is_input, parts))
        places = [x.place if isinstance(x, Value) else None for x in parts]
        if places[0] is None or places[1] is None or places[0][0] is not places[1][0]:
            return Way("", None), 0
        series, count = places[0][0], Count(places[0][1], places[1][1] - places[0][1])
        length = _length(p is not None and p[0] is series and p[1] == count.at(r) for r, p in enumerate(places))
        return Way("element", Element(series, count)), length

    def _place(self, x: Any) -> tuple[int, int, int] | None:
        """Return the round, the statement and the number of the result that makes a value; None from outside."""
        i, m = self.repeats.makers.get(x, (-1, 0)) if isinstance(x, Value) else (-1, 0)
        return None if i < self.start else ((i - self.start) // self.period, (i - self.start) % self.period, m)

    def make_loop(self) -> Loop:
        """Return the loop."""
        loop = Loop([[self.statement(r, k) for k in range(self.period)] for r in range(self.count)])
        given = {way.what[: self.count] for ways in self.ways for way in ways if way.kind == "given"}
        self.given = {values: Series(None, list(values)) for values in given}
        last = loop.rounds[-1]
        for k, ways in enumerate(self.ways):
            for way, x in zip(ways, parts_of(last[k]), strict=True):
                if way.kind == "before":
                    now = last[way.what[0]].outs()[way.what[1]]
                    loop.start[now] = self.initial[way.what]
                    is_taken_over = k == way.what[0] and (last[k].into is None or last[k].into is x)
                    if k >= way.what[0] and not is_taken_over:
                        loop.needs_before.add(now)
        loop.body = [self._say_round(each, ways, loop) for each, ways in zip(last, self.ways, strict=True)]
        return loop

    def _say_round(self, statement: Statement, ways: list[Way], loop: Loop) -> Statement:
        """Return the statement of the last round with references in place of what changes."""
        rest = iter(ways)

        def refer(x: Any) -> Any:
            way = next(rest)
            if way.kind == "before":
                now = loop.rounds[-1][way.what[0]].outs()[way.what[1]]
                return Before(now) if now in loop.needs_before else now
            if way.kind == "given":
                return Element(self.given[way.what[: self.count]], Count(0, 1))
            return way.what if way.kind in ("element", "count") else x

        args, kwargs = map_parts(statement.args, refer), map_values(statement.kwargs, refer)
        said = Statement(statement.form, statement.function, args, kwargs, statement.writes, statement.note)
        said.out, said.into = statement.out, map_parts(statement.into, refer)
        return said


def _length(holds: Iterable[bool]) -> int:
    """Return for how many rounds something holds, from the first one on."""
    return next((r for r, each in enumerate(holds) if not each), ALL)
