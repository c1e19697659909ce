"""What made the applications: calls of modules and functions, scopes, and the rounds of loops, as a tree of groups."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from .recorder import Call, CallToken, Recorder
from .sites import ENTERS, USER

Range = tuple[int, int]


@lru_cache(maxsize=1024)
def loops(code: CodeType) -> tuple[Range, ...]:
    """Where the loops of some code begin and end, the outer ones first: what a jump back jumps over."""
    ends: dict[int, int] = {}
    for each in dis.get_instructions(code):
        if each.opcode in dis.hasjrel and isinstance(each.argval, int) and each.argval < each.offset:
            ends[each.argval] = max(each.offset, ends.get(each.argval, 0))
    return tuple(sorted(ends.items(), key=lambda ends: (ends[0], -ends[1])))


class Loop:
    """One run of a loop: where it stands in which call, and how many rounds it had."""

    __slots__ = ("call", "range", "rounds")

    def __init__(self, of: Range, call: int):
        self.range, self.call, self.rounds = of, call, 0


class Made:
    """A group as it was made: its kind, what it is called, the group it stands in, and the line that called it; and its
    place among the groups of the record, once that is known."""

    __slots__ = ("call", "kind", "loop", "module", "name", "parent", "place", "round")

    def __init__(self, kind: str, name: str, parent: Made | None, call: Call | None, module: Any = None):
        self.kind, self.name, self.parent, self.call, self.module = kind, name, parent, call, module
        self.loop: Loop | None = None
        self.round, self.place = 0, -1

    def owner(self) -> Made | None:
        """The innermost module that this is, or stands in."""
        group: Made | None = self
        while group is not None and group.module is None:
            group = group.parent
        return group


class Place:
    """A call while its events are gone through: its group, where it was last, the loops of its code, and those it is
    in."""

    __slots__ = ("active", "call", "group", "last", "loops", "number")

    def __init__(self, number: int, call: Call, group: Made | None):
        self.number, self.call, self.group = number, call, group
        self.loops = () if call.kind == ENTERS else loops(call.frame.f_code)
        self.last: tuple[int, CallToken | None] = (-1, None)
        self.active: list[tuple[Loop, Made]] = []


class Calls:
    """The calls of a recorder: which group each application belongs to, and which lines led to it."""

    def __init__(self, recorder: Recorder, names: Any):
        self.calls, self.names, self.forward = recorder.calls, names, recorder.forward
        self.places: dict[int, Place] = {}

    def groups(self, applications: list[Any]) -> list[Made | None]:
        """The innermost group of each application."""
        found: list[Made | None] = []
        for told in applications:
            number, instruction, run = told[6], told[7], told[8]
            if number not in self.calls:
                found.append(None)
                continue
            place = self.places.get(number) or self._enter(number)
            found.append(self._event(place, instruction, run) if place.loops else place.group)
        return [each if each is None or each.loop is None else self._shown(each) for each in found]

    def _enter(self, number: int) -> Place:
        """A call that is met for the first time: an event of the call that made it."""
        todo = [number]
        while (parent := self.calls[todo[-1]].parent) in self.calls and parent not in self.places:
            todo.append(parent)
        for each in reversed(todo):
            call = self.calls[each]
            outer = self.places.get(call.parent)
            group = None if outer is None else self._event(outer, call.instruction, call.run)
            self.places[each] = Place(each, call, self._made(call, group, outer))
        return self.places[number]

    def _event(self, place: Place, instruction: int, run: CallToken | None) -> Made | None:
        """The round that an instruction is run in. Where an instruction comes that stands before the last one, or that
        one again, the innermost loop around both has begun another round. A run of an instruction may apply several
        operations, and call functions of the user's."""
        last, last_run = place.last
        again = instruction < last or (instruction == last and (run is None or run is not last_run))
        around = [each for each in place.loops if each[0] <= instruction <= each[1]]
        common = 0
        while common < min(len(around), len(place.active)) and place.active[common][0].range == around[common]:
            common += 1
        jumped = common if again else 0
        del place.active[common:]
        if jumped:
            loop, _ = place.active.pop()
            self._round(place, loop)
        for each in around[len(place.active) :]:
            self._round(place, Loop(each, place.number))
        place.last = instruction, run
        return place.active[-1][1] if place.active else place.group

    def _round(self, place: Place, loop: Loop) -> None:
        parent = place.active[-1][1] if place.active else place.group
        group = Made("round", "", parent, None)
        loop.rounds += 1
        group.loop, group.round = loop, loop.rounds
        place.active.append((loop, group))

    def _made(self, call: Call, parent: Made | None, outer: Place | None) -> Made | None:
        """The group of a call; that of its caller where it has none of its own."""
        code = call.frame.f_code
        if call.scope is not None:
            return Made("scope", call.scope if isinstance(call.scope, str) else call.scope.name, parent, call)
        if outer is None:
            return parent
        if call.kind == ENTERS:
            module = call.frame.f_locals.get("self")
            owner = parent.owner() if parent is not None else None
            name = self.names.of_module(module, None if owner is None else owner.module, outer.number)
            return Made("module", name, parent, call, module)
        name = code.co_name
        if call.kind != USER or name.startswith("<") or (outer.call.kind == ENTERS and name == "forward"):
            return parent
        if name == "__call__" and "self" in call.frame.f_locals:
            name = type(call.frame.f_locals["self"]).__name__
        return Made("function", name, parent, call)

    def _shown(self, group: Made | None) -> Made | None:
        """The group itself, or the one around it where it is the only round of a loop."""
        while group is not None and group.loop is not None and group.loop.rounds == 1:
            group = group.parent
        return group

    def around(self, group: Made) -> Made | None:
        """The group that a group stands in."""
        return self._shown(group.parent)

    def lines(self, number: int, instruction: int) -> Iterator[tuple[Any, int]]:
        """The calls that led to an instruction in a call, each with the instruction there, the innermost first."""
        while number in self.calls:
            call = self.calls[number]
            if call.kind == USER or call.frame.f_code is self.forward:
                yield call, instruction
            frame_of = call
            while frame_of.kind == "scope" and frame_of.parent in self.calls:
                number, frame_of = frame_of.parent, self.calls[frame_of.parent]
            if call.kind == "scope" and frame_of.kind == USER:
                yield frame_of, instruction
            number, instruction = frame_of.parent, frame_of.instruction
