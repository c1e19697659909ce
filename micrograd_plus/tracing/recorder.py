"""The recorder: while its block is open it notes what happens, as cheaply as it can; the trace is built when somebody
looks.
"""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from types import CodeType, FrameType, MappingProxyType
from typing import Any, NamedTuple

from ..core.backward import topological_order, walk
from ..core.messages import prefixes_errors
from ..core.rule import Contribution
from ..core.runtime import recorders
from ..core.runtime.blocks import OpenScope, scopes
from ..core.runtime.ownership import snapshot
from ..core.variable import Variable
from .failures import Failed, caught, failed, frames_of
from .sites import ENGINE, USER, kind_of, of_engine, of_users
from .trace import Trace
from .values import bare

Told = tuple[Any, Sequence[Any], Any, Sequence[Any], dict[str, Any], Any, int, int, Any, Any]
"""One application: operation, inputs, what its result was known by (its node, where it had one), the inputs' arrays,
parameters and the result, or its array where it is known by a node; then the call in which it was made (by number), the
instruction there; and where not the operation itself was called, but a function of the engine's, which run of the
instruction that was, and that function's code."""

NAMING = prefixes_errors(print).__code__
"""What stands before functions whose errors begin with their name."""
frame_at = sys._getframe


class CallToken:
    """Identity of one call from the user's program into the engine. Two applications that share a token were made in
    the same call."""

    __slots__ = ()


class Call(NamedTuple):
    """A call of a function of the user's or of a module, or a scope that was entered.

    Its frame; the call in which it was made (by number; 0 for the outermost), and the instruction there; where it
    stands in the order of what happened: how many applications were made before. Where the engine called it, the run of
    the instruction that had called the engine.
    """

    frame: Any
    parent: int
    instruction: int
    place: int
    run: CallToken | None = None
    scope: OpenScope | str | None = None

    @property
    def code(self) -> CodeType:
        """What ran."""
        return self.frame.f_code

    @property
    def runs_users(self) -> bool:
        """Whether it runs the user's own code, whose names are the user's."""
        return kind_of(self.frame.f_code) == USER

    @property
    def kind(self) -> str:
        """A module's call, a function's, or a scope."""
        return "scope" if self.scope is not None else kind_of(self.frame.f_code)


Noted = tuple[Any, ...]
"""The fields of a call, as they are noted."""


def replay(root: Any, upstream: Any, on_step: Any, kept: dict[Any, Any]) -> None:
    """A walk that was made before, once more and step by step. Nobody's gradient is touched and no hook is called;
    `kept` is what nodes had saved that have been freed since."""
    walk(topological_order([root]), {root: upstream}, None, on_step=on_step, restored=kept)


class Seen:
    """A variable as it was: `x += y` makes the same object another result, with another node and another array."""

    __slots__ = ("_data", "node", "variable")

    def __init__(self, variable: Any):
        self.variable, self.node, self._data = variable, variable.node, variable._data


def seen(value: Any) -> Any:
    """A variable as it is now; anything else as it is."""
    return Seen(value) if isinstance(value, Variable) else value


class Walk:
    """One walk: where it began, the call that asked for it, what was held before; and its steps, of which those that
    can be replayed are had when they are asked for."""

    direction = "backward"
    held: Mapping[Any, Any] = MappingProxyType({})
    place = 0
    failed: Failed | None = None

    def __init__(self, root: Any, seed: Any, can_replay: bool, call: int, instruction: int):
        self.root, self.seed, self.can_replay = root, seed, can_replay
        self.of = getattr(root, "variable", root)
        self.key = getattr(root, "node", None) or root
        self.call, self.instruction = call, instruction
        self.kept: dict[Any, Any] = {}
        self.steps: list[tuple[Any, Contribution, Any, Any, Any]] = []

    def __call__(self, node: Any, contribution: Contribution, upstream: Any, before: Any, after: Any) -> None:
        """Note a step."""
        self.steps.append((node, contribution, upstream, before, after))

    @property
    def keys(self) -> list[Any]:
        """Nodes that belong to the record for the sake of this walk."""
        return [self.key]

    def complete(self) -> None:
        """Walk again what was not watched. What rules had saved cannot have changed, so it is the same walk; where it
        broke off in an error, which its user has seen, so does this one."""
        if self.can_replay:
            with suppress(Exception) if self.failed else nullcontext():
                replay(self.key, self.seed, self, self.kept)
            self.can_replay = False
            self.kept.clear()


class Forward(Walk):
    """A walk forward: the tangents that it began with, by their nodes; and its steps, each noted as it was made."""

    direction = "forward"

    def __init__(self, result: Any, starts: Mapping[Any, Any], call: int, instruction: int):
        super().__init__(result, None, False, call, instruction)
        self.starts = {node: bare(tangent) for node, tangent in starts.items()}

    @property
    def keys(self) -> list[Any]:
        """The result, what moved to begin with, and what moved then."""
        reached = [step.receiver for _, step, *_ in self.steps if isinstance(step, recorders.Push)]
        return [*([] if self.root is None else [self.key]), *self.starts, *reached]


class Recorder(recorders.Recorder):
    """References to everything that happened; no array is copied.

    `outermost` is the frame that opened the block: what called that one is no part of the record.
    """

    failed: Failed | None = None
    forward: CodeType | None = None

    def __init__(self, outermost: FrameType | None = None) -> None:
        self.outermost = None if outermost is None else self._of_the_user(outermost)
        self.applications: list[Told] = []
        self._note = self.applications.append
        self.walks: list[Walk] = []
        self.noted: dict[int, Noted] = {}
        self.of_walks: dict[int, Walk] = {}
        self.caught: dict[int, Failed] = {}   # by their own numbers, so that one of many is forgotten at once
        self._running: dict[int, tuple[FrameType, CallToken]] = {}
        self._tensor = Variable.public

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note an application, and which instruction of the user's asked for it. A value is known by its node at this
        time: an in-place operation may give the same tensor another."""
        frame: Any = frame_at(3)  # behind `notify`, and what applied it
        inner: Any = None
        deeper: Any = None
        while frame is not None:
            code = id(frame.f_code)
            if code not in of_engine and (code in of_users or kind_of(frame.f_code) is not ENGINE):
                break
            deeper, inner, frame = inner, frame, frame.f_back
        place, instruction = id(frame), -1
        if frame is not None:
            instruction = frame.f_lasti
            if place not in self.noted:
                self._enter(frame)
            if scopes.open:
                place = self._scope_of(frame) or place
        between = None if inner is None else inner.f_code
        if between is NAMING:
            between = deeper.f_code
        run = None if inner is None else self._token_of(inner, frame)
        known = None
        if type(result) is self._tensor and result.node is not None:
            known, result = result.node, result._data
        elif op.outputs or type(result) is self._tensor:
            inputs, result = [*map(seen, inputs)], tuple(map(seen, result)) if op.outputs else Seen(result)
        self._note((op, inputs, known, data, params, result, place, instruction, run, between))

    def _token_of(self, inner: FrameType, caller: FrameType | None) -> CallToken:
        """Return the token of the call that runs in the engine's frame `inner`.

        A frame of the user's runs one call into the engine at a time, so one slot for each caller is enough. The slot
        holds the engine's frame, or Python could give its address to the next call, until the caller calls the engine
        again or the recording ends.
        """
        running = self._running.get(id(caller))
        if running is not None and running[0] is inner:
            return running[1]
        token = CallToken()
        self._running[id(caller)] = inner, token
        return token

    def _of_the_user(self, frame: FrameType | None) -> FrameType | None:
        """The frame of the user's program in or behind a frame."""
        while frame is not None and kind_of(frame.f_code) is ENGINE:
            frame = frame.f_back
        return frame

    def _enter(self, frame: FrameType) -> None:
        """Note a call, and those in which it was made; they are held, so that their numbers stay their own. What does
        not lead back to the frame of the block, as on another stack, is noted alone."""
        calls, place, chain = self.noted, len(self.applications), [frame]
        runs: list[CallToken | None] = []
        outer: FrameType | None = frame
        while outer is not self.outermost and id(outer) not in calls:
            below, outer = outer, outer.f_back
            if outer is None:
                calls[id(frame)] = frame, 0, -1, place
                return
            code = id(outer.f_code)
            users = code in of_users or (code not in of_engine and kind_of(outer.f_code) is not ENGINE)
            if users or (scopes.open and self._scope_of(outer, note=False)):
                runs.append(None if below is None or below is chain[-1] else self._token_of(below, outer))
                chain.append(outer)
        outer = chain.pop()
        if id(outer) not in calls:
            calls[id(outer)] = outer, 0, -1, place
        while chain:
            inner = chain.pop()
            parent = (self._scope_of(outer) if scopes.open else None) or id(outer)
            calls[id(inner)] = inner, parent, outer.f_lasti, place, runs.pop()
            outer = inner

    @cached_property
    def calls(self) -> dict[int, Call]:
        """Every call, by its number."""
        return {number: Call(*noted) for number, noted in self.noted.items()}

    def _scope_of(self, frame: FrameType, *, note: bool = True) -> int | None:
        """The innermost scope that a frame has opened; each is noted in the one that it was opened in."""
        parent = None
        for named in scopes.all():
            if named.frame is frame:
                if note and id(named) not in self.noted:
                    place, outer = len(self.applications), id(frame) if parent is None else parent
                    self.noted[id(named)] = frame, outer, named.instruction, place, None, named
                parent = id(named)
        return parent

    def begin_walk(self, root: Any, upstream: Any, can_replay: bool, held: Any = None) -> Walk | None:
        """Note a walk, who asked for it, and what leaves hold; it is watched now only where it could not be had
        again."""
        seed = upstream.copy() if can_replay else upstream
        begun = Walk(seen(root), seed, can_replay, *self._asked_from(frame_at(1)))
        begun.held = held_before(begun.key) if held is None else held
        begun.place = len(self.applications)
        self.walks.append(begun)
        return None if can_replay else begun

    def begin_push(self, result: Any, starts: Mapping[Any, Any]) -> Forward:
        """Note a walk forward, and who asked for it; its steps are told as they are made."""
        begun = Forward(seen(result), starts, *self._asked_from(frame_at(1)))
        begun.place = len(self.applications)
        self.walks.append(begun)
        return begun

    def _asked_from(self, frame: FrameType) -> tuple[int, int]:
        """The call of the user's that asked for a walk, by its number, and the instruction there."""
        asking = self._of_the_user(frame)
        if asking is not None and id(asking) not in self.noted:
            self._enter(asking)
        return id(asking), -1 if asking is None else asking.f_lasti

    def forget_failure(self, error: BaseException | None) -> None:
        """Forget that an operation failed whose error has ended a walk or the program: that tells it."""
        while error is not None:
            self.caught.pop(id(vars(error).get("noted")), None)
            error = error.__cause__

    def on_failure(self, error: Exception) -> None:
        """Note that an operation failed, in case its user catches the error; of operations in one another the outermost
        one."""
        noted = caught(error, frame_at(2), self.outermost)
        cause = sys.exception()
        self.forget_failure(cause)
        vars(error)["noted"] = noted
        self.caught[id(noted)] = noted

    def walk_failed(self, root: Any, at: Any = None) -> None:
        """Note what ended a walk."""
        for last in [each for each in self.walks if each.of is root][-1:]:
            self._ends_in_error(last, at)

    def walk_rejected(self, root: Any) -> None:
        """Note a walk that was asked for, and could not begin."""
        if hasattr(root, "_data"):
            never = Walk(seen(root), None, False, *self._asked_from(frame_at(1)))
            never.place = len(self.applications)
            self.walks.append(never)
            self._ends_in_error(never, None)

    def _ends_in_error(self, walk: Walk, at: Any) -> None:
        error = sys.exception()
        self.forget_failure(error)
        walk.failed = failed(error)
        if walk.failed is not None and at is not None:
            walk.failed.node = at
        self.of_walks[id(error)] = walk

    def will_free(self, order: Sequence[Any]) -> None:
        """Keep what the last walk's nodes saved, if it is still to be replayed."""
        self.walks[-1].kept.update((node, node.saved) for node in order)

    def close(self, trace: Trace | None, error: BaseException | None = None) -> None:
        """Note what the program that goes on calls its values, before it calls them otherwise, and what broke it off.

        The trace itself is one of them. It must not be held, or a loop that records every step would leave its garbage
        to the collector; nor may frames be, which hold those that called them.
        """
        if isinstance(error, Exception):
            self.forget_failure(error)
            self._ended_by(error)
        left: dict[int, Left] = {}
        for number, noted in self.noted.items():
            frame = noted[0]
            kept = left.get(id(frame))
            if kept is None:
                kept = left[id(frame)] = Left()
                kept.f_code, kept.f_globals, kept.f_locals = frame.f_code, frame.f_globals, dict(frame.f_locals)
                if not noted[1]:
                    kept.f_locals = {name: value for name, value in kept.f_locals.items() if value is not trace}
            self.noted[number] = kept, *noted[1:5], *[named.name for named in noted[5:]]
        self.outermost = None
        self._running.clear()
        self.__dict__.pop("calls", None)


    def _ended_by(self, error: Exception) -> None:
        """Note what broke the program off, if that has not ended a walk; and the calls that it passed through, in which
        nothing may have been applied before."""
        ended = self.of_walks.get(id(error)) or self.of_walks.get(id(error.__cause__))
        if ended is not None and ended.failed is not None and ended.failed.kind == type(error).__name__:
            ended.failed.text = str(error)
            return
        self.failed = failed(error)
        if self.outermost is not None:
            self.noted.setdefault(id(self.outermost), (self.outermost, 0, -1, len(self.applications)))
        for frame, _ in frames_of(error.__traceback__):
            if kind_of(frame.f_code) is not ENGINE and id(frame) not in self.noted:
                self._enter(frame)


class Left:
    """What is kept of a frame: what ran, and what it calls its values."""

    __slots__ = ("f_code", "f_globals", "f_locals")

    f_code: CodeType
    f_globals: dict[str, Any]
    f_locals: dict[str, Any]


class Inside(Recorder):
    """A recorder that tells a composite from inside: places are those in its forward."""

    def __init__(self, forward: CodeType) -> None:
        super().__init__()
        self.forward = forward  # the engine's code, whose lines are the program here

    def on_apply(
        self, op: Any, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note an application, and which instruction of the forward asked for it."""
        frame: FrameType | None = frame_at(2)
        while frame is not None and frame.f_code is not self.forward:
            frame = frame.f_back
        instruction = -1
        if frame is not None:
            instruction = frame.f_lasti
            if id(frame) not in self.noted:
                self.noted[id(frame)] = frame, 0, -1, 0
        known = result.node if type(result) is self._tensor else None
        inputs, result = [*map(seen, inputs)], tuple(map(seen, result)) if op.outputs else seen(result)
        self.applications.append((op, inputs, known, data, params, result, id(frame), instruction, None, None))

    def begin_walk(self, root: Any, upstream: Any, can_replay: bool, held: Any = None) -> Walk | None:
        """Note a walk; who looks inside has asked for it, and no line of the program."""
        begun = Walk(seen(root), upstream.copy() if can_replay else upstream, can_replay, 0, -1)
        begun.place = len(self.applications)
        self.walks.append(begun)
        return None if can_replay else begun


def held_before(root: Any) -> dict[Any, Any]:
    """What the leaves that a walk will reach hold already."""
    found: dict[Any, Any] = {}
    met, todo = {root}, [root]
    for node in todo:  # the list grows while it is read
        for parent in node.parents:
            if parent is None:
                continue
            if parent.vjp is None:
                if parent.grad is not None:
                    found[parent] = snapshot(parent.grad) if isinstance(parent.grad, Variable) else parent.grad
            elif parent not in met:
                met.add(parent)
                todo.append(parent)
    return found
