"""Call tree: the calls of modules and functions, scopes, and rounds of loops that made the applications."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from .events import Application, Call, CallToken
from .labels import ProgramNames
from .recorder import Recorder
from .sites import ENTERS, USER


class LoopRange(NamedTuple):
    """The instructions of a loop, from the first to the jump back."""

    start: int
    end: int


@lru_cache(maxsize=1024)
def loops(code: CodeType) -> tuple[LoopRange, ...]:
    """Return the loops of some code, outer ones first. A loop is the range that a jump back jumps over."""
    ends: dict[int, int] = {}
    for each in dis.get_instructions(code):
        if each.opcode in dis.hasjrel and isinstance(each.argval, int) and each.argval < each.offset:
            ends[each.argval] = max(each.offset, ends.get(each.argval, 0))
    return tuple(sorted((LoopRange(*each) for each in ends.items()), key=lambda loop: (loop.start, -loop.end)))


class LoopRun:
    """One run of a loop in one call, and how many rounds it had."""

    __slots__ = ("call", "range", "rounds")

    def __init__(self, of: LoopRange, call: int):
        self.range, self.call, self.rounds = of, call, 0


class Branch:
    """A branch of the call tree: a call, a scope, or a round of a loop. Each becomes a group of the trace.

    `number` is its place among the groups, once that is known.
    """

    __slots__ = ("call", "kind", "loop", "module", "name", "number", "parent", "round")

    def __init__(self, kind: str, name: str, parent: Branch | None, call: Call | None, module: Any = None):
        self.kind, self.name, self.parent, self.call, self.module = kind, name, parent, call, module
        self.loop: LoopRun | None = None
        self.round, self.number = 0, -1

    def innermost_module(self) -> Any:
        """Return the innermost module whose call contains this, or None."""
        branch: Branch | None = self
        while branch is not None and branch.module is None:
            branch = branch.parent
        return None if branch is None else branch.module


class Round(NamedTuple):
    """The current round of a loop: the run of the loop, and the branch of the round."""

    loop: LoopRun
    branch: Branch


class CallState:
    """A call while its events are read in order: its branch, its last event, and the rounds of loops it is in."""

    __slots__ = ("branch", "call", "instruction", "loops", "number", "rounds", "token")

    def __init__(self, number: int, call: Call, branch: Branch | None):
        self.number, self.call, self.branch = number, call, branch
        self.loops = () if call.kind == ENTERS else loops(call.code)
        self.instruction = -1
        self.token: CallToken | None = None
        self.rounds: list[Round] = []

    def innermost(self) -> Branch | None:
        """Return the current round of the innermost loop, or the call's own branch outside loops."""
        return self.rounds[-1].branch if self.rounds else self.branch


def _is_by_python(code: CodeType, application: Application) -> bool:
    """Return whether a function of Python's applied an operator, as `sum` adds: one run of its call applies many."""
    function = application.function
    is_operator = function is not None and function.co_name.startswith("__")
    return is_operator and "CALL" in dis.opname[code.co_code[application.instruction]]


class CallTree:
    """The branch of each application, and the lines that led to it."""

    def __init__(self, recorder: Recorder, names: ProgramNames):
        self.calls, self.names, self.forward = recorder.calls, names, recorder.forward
        self._states: dict[int, CallState] = {}

    def branches(self, applications: list[Application]) -> list[Branch | None]:
        """Return the innermost branch of each application."""
        branches: list[Branch | None] = []
        for application in applications:
            if application.call not in self.calls:
                branches.append(None)
                continue
            state = self._states.get(application.call) or self._open_call(application.call)
            if state.loops:
                by_python = _is_by_python(state.call.code, application)
                branches.append(self._advance(state, application.instruction, application.token, by_python))
            else:
                branches.append(state.branch)
        return [each if each is None or each.loop is None else self._skip_single_rounds(each) for each in branches]

    def _open_call(self, number: int) -> CallState:
        """Begin to read a call, and the calls that led to it. A call is an event of the call that made it."""
        todo = [number]
        while (parent := self.calls[todo[-1]].parent) in self.calls and parent not in self._states:
            todo.append(parent)
        for each in reversed(todo):
            call = self.calls[each]
            outer = self._states.get(call.parent)
            parent_branch = None if outer is None else self._advance(outer, call.instruction, call.token)
            self._states[each] = CallState(each, call, self._branch_of(call, parent_branch, outer))
        return self._states[number]

    def _advance(
        self, state: CallState, instruction: int, token: CallToken | None, is_by_python: bool = False
    ) -> Branch | None:
        """Move a call on to the event at an instruction, and return the branch of that event.

        If the instruction comes before the last one, or is run again, then the innermost loop around both has begun
        another round. One run of an instruction can apply several operations and call several functions.
        """
        if not state.loops:
            return state.branch
        is_one_run = is_by_python or (token is not None and token is state.token)
        is_same_run = instruction == state.instruction and is_one_run
        is_jump_back = instruction <= state.instruction and not is_same_run
        around = [each for each in state.loops if each.start <= instruction <= each.end]
        common = 0
        while common < min(len(around), len(state.rounds)) and state.rounds[common].loop.range == around[common]:
            common += 1
        del state.rounds[common:]
        if is_jump_back and common:
            self._begin_round(state, state.rounds.pop().loop)
        for each in around[len(state.rounds) :]:
            self._begin_round(state, LoopRun(each, state.number))
        state.instruction, state.token = instruction, token
        return state.innermost()

    def _begin_round(self, state: CallState, loop: LoopRun) -> None:
        branch = Branch("round", "", state.innermost(), None)
        loop.rounds += 1
        branch.loop, branch.round = loop, loop.rounds
        state.rounds.append(Round(loop, branch))

    def _branch_of(self, call: Call, parent: Branch | None, outer: CallState | None) -> Branch | None:
        """Return the branch of a call. A call that is not a group shares its caller's branch."""
        if call.scope is not None:
            return Branch("scope", call.scope if isinstance(call.scope, str) else call.scope.name, parent, call)
        if outer is None:
            return parent
        if call.kind == ENTERS:
            module = call.frame.f_locals.get("self")
            owner = None if parent is None else parent.innermost_module()
            return Branch("module", self.names.of_module(module, owner, call), parent, call, module)
        name = call.code.co_name
        if call.kind != USER or name.startswith("<") or (outer.call.kind == ENTERS and name == "forward"):
            return parent
        if name == "__call__" and "self" in call.frame.f_locals:
            name = type(call.frame.f_locals["self"]).__name__
        return Branch("function", name, parent, call)

    def _skip_single_rounds(self, branch: Branch | None) -> Branch | None:
        """Return the branch itself, or the one around it if it is the only round of a loop."""
        while branch is not None and branch.loop is not None and branch.loop.rounds == 1:
            branch = branch.parent
        return branch

    def parent(self, branch: Branch) -> Branch | None:
        """Return the branch around a branch, without rounds that are the only one of their loop."""
        return self._skip_single_rounds(branch.parent)

    def lineage(self, branch: Branch | None) -> Iterator[Branch]:
        """Yield a branch and those around it, the innermost first."""
        while branch is not None:
            yield branch
            branch = self.parent(branch)

    def instructions(self, number: int, instruction: int) -> Iterator[tuple[Call, int]]:
        """Yield the calls that led to an instruction, each with the instruction in it, the innermost first."""
        while number in self.calls:
            call = self.calls[number]
            if call.kind == USER or call.code is self.forward:
                yield call, instruction
            function = call
            while function.kind == "scope" and function.parent in self.calls:
                number, function = function.parent, self.calls[function.parent]
            if call.kind == "scope" and function.kind == USER:
                yield function, instruction
            number, instruction = function.parent, function.instruction
