"""Recorder: notes events cheaply while its block is open. The trace is built from the notes later."""
# pyright: reportPrivateUsage=false
# The modules of the engine share `_data`.

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from types import CodeType, FrameType, MappingProxyType
from typing import Any

from ..core.apply import Op
from ..core.backward import topological_order, walk
from ..core.rule import Contribution
from ..core.runtime import recorders
from ..core.runtime.blocks import scopes
from ..core.variable import Node, Variable
from .changes import PREFIXING_WRAPPER, ChangeNotes, array_to_keep
from .events import Application, AppliedRule, Call, CallToken, FrameSnapshot, ValueRef, reference_to
from .failures import ErrorRecord, frames_of, record_of_caught_error, record_of_error
from .sites import ENGINE, engine_code, kind_of, user_code
from .trace import Trace
from .values import array_of, np

frame_at = sys._getframe


class RecordedWalk:
    """One backward walk: where it began, which call asked for it, which gradients leaves held, and its steps.

    The steps of most walks are not watched but computed when someone looks: `complete` walks once more.
    """

    direction = "backward"
    held: Mapping[Any, Any] = MappingProxyType({})
    position = since = 0
    notes: Sequence[Any] = ()
    error: ErrorRecord | None = None

    def __init__(self, root: Any, seed: Any, can_replay: bool, call: int, instruction: int):
        self.root, self.seed, self.can_replay = root, seed, can_replay
        self.variable = getattr(root, "variable", root)
        self.key = getattr(root, "node", None) or root
        self.call, self.instruction = call, instruction
        self.freed: dict[Any, Any] = {}
        self.steps: list[AppliedRule] = []
        self.positions: list[int] = []
        """How many applications were noted when each step was; empty if the walk was not watched."""

    def __call__(self, node: Any, contribution: Contribution, upstream: Any, before: Any, after: Any) -> None:
        """Note a step."""
        self.positions.append(len(self.notes))
        self.steps.append(AppliedRule(node, contribution, upstream, before, after))

    @property
    def keys(self) -> list[Any]:
        """The nodes that the record must contain because of this walk."""
        return [self.key]

    def complete(self) -> None:
        """Compute the steps of a walk that was not watched.

        Saved values cannot change, so it is the same walk. If the walk failed, so does this one, and its user has seen
        the error already.
        """
        if self.can_replay:
            self.notes = ()
            with suppress(Exception) if self.error else nullcontext():
                walk_again(self.key, self.seed, self, self.freed)
            self.can_replay = False
            self.positions.clear()
            self.freed.clear()


class RecordedForwardWalk(RecordedWalk):
    """One forward walk: its steps, and the tangents that it began with, by node."""

    direction = "forward"

    def __init__(self, result: Any, starts: Mapping[Any, Any], call: int, instruction: int):
        super().__init__(result, None, False, call, instruction)
        self.starts = {node: array_of(tangent) for node, tangent in starts.items()}

    @property
    def keys(self) -> list[Any]:
        """The result, the nodes that tangents start from, and the nodes that they reach."""
        reached = [step.receiver for step in self.steps if isinstance(step.contribution, recorders.Push)]
        return [*([] if self.root is None else [self.key]), *self.starts, *reached]


class Recorder(ChangeNotes):
    """References to everything that happens in a block; it copies no array.

    `outermost` is the frame that opened the block. The record contains nothing about the callers of that frame.
    """

    error: ErrorRecord | None = None
    forward: CodeType | None = None

    def __init__(self, outermost: FrameType | None = None) -> None:
        super().__init__()
        self.outermost = None if outermost is None else self._user_frame(outermost)
        self.calls: dict[int, Call] = {}
        self.walks: list[RecordedWalk] = []
        self.caught: dict[int, ErrorRecord] = {}  # by id, so that one of many is removed at once
        self._notes: list[Any] = []  # plain tuples: to make an Application takes longer than to note one
        self._note = self._notes.append
        self._named_notes = 0
        self._failed_walks: dict[int, RecordedWalk] = {}
        self._running: dict[int, tuple[FrameType, CallToken]] = {}

    @property
    def applications(self) -> list[Application]:
        """The applications so far, in order."""
        for position in range(self._named_notes, len(self._notes)):
            self._notes[position] = Application._make(self._notes[position])
        self._named_notes = len(self._notes)
        return self._notes

    def on_apply(  # noqa: C901 - a call of another function would take a tenth of the time
        self, op: Op, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note an application and the user's instruction that asked for it.

        The note has the result's node at this time, since an in-place operation can give the same tensor another one.
        """
        if self._lent:
            self.look_for_writes()
        frame: Any = frame_at(3)  # behind `notify`, and the function that applied the operation
        token = function = node = None
        if id(frame.f_code) not in user_code:
            inner: Any = None
            deeper: Any = None
            while frame is not None:
                code = id(frame.f_code)
                if code in user_code or (code not in engine_code and kind_of(frame.f_code) is not ENGINE):
                    break
                deeper, inner, frame = inner, frame, frame.f_back
            if inner is not None:
                token, function = self._token_of(inner, id(frame)), inner.f_code
                if function is PREFIXING_WRAPPER:
                    function = deeper.f_code
        call, instruction = id(frame), -1
        if frame is not None:
            instruction = frame.f_lasti
            if call not in self.calls:
                self._enter(frame)
            if scopes.open:
                call = self._scope_of(frame) or call
        if type(result) is self._tensor and result.node is not None:
            node, result = result.node, result._data
        elif op.outputs or type(result) is self._tensor:
            inputs = [ValueRef(value) if isinstance(value, Variable) else value for value in inputs]
            result = tuple(map(reference_to, result)) if op.outputs else ValueRef(result)
        self._note((op, inputs, node, data, params, result, call, instruction, token, function))

    # Calls ------------------------------------------------

    def _token_of(self, inner: FrameType, caller: int) -> CallToken:
        """Return the token of the call that runs in the engine's frame `inner`.

        A frame of the user's runs one call into the engine at a time, so one slot for each caller is enough. The slot
        holds the engine's frame, or Python could give its address to the next call, until the caller calls the engine
        again or the recording ends.
        """
        running = self._running.get(caller)
        if running is not None:
            frame, token = running
            if frame is inner:
                return token
        token = CallToken()  # with an __init__ it would take twice as long
        token.function = inner.f_code
        self._running[caller] = inner, token
        return token

    def _user_frame(self, frame: FrameType | None) -> FrameType | None:
        """Return the innermost frame of the user's program, from `frame` outward."""
        while frame is not None:
            code = id(frame.f_code)
            if code in user_code or (code not in engine_code and kind_of(frame.f_code) is not ENGINE):
                break
            frame = frame.f_back
        return frame

    def _enter(self, frame: FrameType) -> None:
        """Note a call, and the calls that led to it. The recorder holds their frames, so that ids stay unique.

        A call that does not lead back to the block's frame, as on another stack, is noted alone.
        """
        calls, position, chain = self.calls, self.forgotten_notes + len(self._notes), [frame]
        caller: Any = frame.f_back
        if id(caller) in calls and id(caller.f_code) in user_code and not scopes.open:  # as nearly always
            calls[id(frame)] = Call(frame, id(caller), caller.f_lasti, position)
            return
        tokens: list[CallToken | None] = []
        outer: FrameType | None = frame
        while outer is not self.outermost and id(outer) not in calls:
            below, outer = outer, outer.f_back
            if outer is None:
                calls[id(frame)] = Call(frame, 0, -1, position)
                return
            code = id(outer.f_code)
            is_users = code in user_code or (code not in engine_code and kind_of(outer.f_code) is not ENGINE)
            if is_users or (scopes.open and self._scope_of(outer, note=False)):
                tokens.append(None if below is chain[-1] else self._token_of(below, id(outer)))
                chain.append(outer)
        outer = chain.pop()
        if id(outer) not in calls:
            calls[id(outer)] = Call(outer, 0, -1, position)
        while chain:
            inner = chain.pop()
            parent = (self._scope_of(outer) if scopes.open else None) or id(outer)
            calls[id(inner)] = Call(inner, parent, outer.f_lasti, position, tokens.pop())
            outer = inner

    def _scope_of(self, frame: FrameType, *, note: bool = True) -> int | None:
        """Return the innermost scope that a frame has open, and note each of its scopes in the one around it."""
        parent = None
        for scope in scopes.all():
            if scope.frame is frame:
                if note and id(scope) not in self.calls:
                    outer = id(frame) if parent is None else parent
                    position = self.forgotten_notes + len(self._notes)
                    self.calls[id(scope)] = Call(frame, outer, scope.instruction, position, None, scope)
                parent = id(scope)
        return parent

    # Walks ------------------------------------------------

    def begin_walk(
        self, root: Any, upstream: Any, can_replay: bool, held: Any, since: int = 0
    ) -> RecordedWalk | None:
        """Note a walk, the call that asked for it, and the gradients that leaves hold. Watch it only if it cannot be
        computed again later."""
        seed = upstream.copy() if can_replay and not isinstance(upstream, np.generic) else upstream
        recorded = RecordedWalk(reference_to(root), seed, can_replay, *self._asking_call(frame_at(1)))
        recorded.held = {leaf: array_to_keep(gradient) for leaf, gradient in held.items()} if held else held
        recorded.since = since
        self._add_walk(recorded)
        return None if can_replay else recorded

    def begin_push(self, result: Any, starts: Mapping[Any, Any]) -> RecordedForwardWalk:
        """Note a forward walk and the call that asked for it, and watch its steps."""
        recorded = RecordedForwardWalk(reference_to(result), starts, *self._asking_call(frame_at(1)))
        self._add_walk(recorded)
        return recorded

    def _add_walk(self, recorded: RecordedWalk) -> None:
        self.look_for_writes()
        recorded.position, recorded.notes = self.forgotten_notes + len(self._notes), self._notes
        self._watched = None if recorded.can_replay else recorded
        self.walks.append(recorded)

    def _asking_call(self, frame: FrameType) -> tuple[int, int]:
        """Return the user's call that asked for a walk, and the instruction in it."""
        user_frame = self._user_frame(frame)
        return self._known_call(user_frame), -1 if user_frame is None else user_frame.f_lasti

    def _known_call(self, frame: FrameType | None) -> int:
        """Return the number of a user's call, which is noted if it is new."""
        if frame is not None and id(frame) not in self.calls:
            self._enter(frame)
        return id(frame)

    def will_free(self, order: Sequence[Node]) -> None:
        """Keep the saved values of the last walk's nodes, in case it must be walked again."""
        self.walks[-1].freed.update((node, node.saved) for node in order)

    # Errors -----------------------------------------------

    def forget_failure(self, error: BaseException | None) -> None:
        """Forget a failed operation whose error has ended a walk or the program, which report it."""
        while error is not None:
            self.caught.pop(id(vars(error).get("record")), None)
            error = error.__cause__

    def on_failure(self, error: Exception) -> None:
        """Note that an operation failed, in case the user catches the error. If an
        operation inside caused the error, only the outer operation counts."""
        record = record_of_caught_error(error, frame_at(2), self.outermost)
        self.forget_failure(sys.exception())
        record.position = self.forgotten_notes + len(self._notes)
        vars(error)["record"] = record
        self.caught[id(record)] = record

    def on_walk_failure(self, root: Any, at: Any = None) -> None:
        """Note the error that ended a walk."""
        for last in [each for each in self.walks if each.variable is root][-1:]:
            self._end_in_error(last, at)

    def on_walk_rejection(self, root: Any) -> None:
        """Note a walk that could not begin."""
        if hasattr(root, "_data"):
            rejected = RecordedWalk(reference_to(root), None, False, *self._asking_call(frame_at(1)))
            self._add_walk(rejected)
            self._end_in_error(rejected, None)

    def _end_in_error(self, recorded: RecordedWalk, node: Any) -> None:
        error = sys.exception()
        self.forget_failure(error)
        recorded.error = record_of_error(error)
        if recorded.error is not None and node is not None:
            recorded.error.node = node
        self._failed_walks[id(error)] = recorded

    def close(self, trace: Trace | None, error: BaseException | None = None) -> None:
        """Note the values of the program's variables, before it changes them, and the error that ended the block.

        The trace itself is one of these variables. The recorder must not hold it, or a loop that records every step
        would leave garbage to the collector. Nor may it hold frames, which hold their callers.
        """
        self.look_for_writes()
        self.note_kept_gradients()
        if isinstance(error, Exception):
            self.forget_failure(error)
            self._end_program(error)
        snapshots: dict[int, FrameSnapshot] = {}
        for call in self.calls.values():
            frame = call.frame
            if isinstance(frame, FrameSnapshot):
                continue
            if id(frame) not in snapshots:
                snapshots[id(frame)] = FrameSnapshot(frame)
            copy = call.frame = snapshots[id(frame)]
            if not call.parent:
                copy.f_locals = {name: value for name, value in copy.f_locals.items() if value is not trace}
            if call.scope is not None and not isinstance(call.scope, str):
                call.scope = call.scope.name
        self.outermost = None
        self._running.clear()
        self._lent.clear()
        self._gradients.clear()

    def _end_program(self, error: Exception) -> None:
        """Note the error that ended the program, unless it has ended a walk, and the calls that it passed through."""
        ended = self._failed_walks.get(id(error)) or self._failed_walks.get(id(error.__cause__))
        if ended is not None and ended.error is not None and ended.error.kind == type(error).__name__:
            ended.error.text = str(error)
            return
        self.error = record_of_error(error)
        if self.outermost is not None:
            self.calls.setdefault(id(self.outermost), Call(self.outermost, 0, -1, len(self._notes)))
        for frame, _ in frames_of(error.__traceback__):
            if kind_of(frame.f_code) is not ENGINE and id(frame) not in self.calls:
                self._enter(frame)


class InsideRecorder(Recorder):
    """Recorder of the operations inside a composite. Its program is the composite's forward."""

    def __init__(self, forward: CodeType) -> None:
        super().__init__()
        self.forward = forward

    def on_apply(
        self, op: Op, inputs: Sequence[Any], data: Sequence[Any], params: dict[str, Any], result: Any
    ) -> None:
        """Note an application and the instruction of the forward that asked for it."""
        frame: FrameType | None = frame_at(2)
        while frame is not None and frame.f_code is not self.forward:
            frame = frame.f_back
        instruction = -1
        if frame is not None:
            instruction = frame.f_lasti
            if id(frame) not in self.calls:
                self.calls[id(frame)] = Call(frame, 0, -1, 0)
        node = result.node if type(result) is self._tensor else None
        inputs = [*map(reference_to, inputs)]
        result = tuple(map(reference_to, result)) if op.outputs else reference_to(result)
        self._note((op, inputs, node, data, params, result, id(frame), instruction, None, None))

    def begin_walk(
        self, root: Any, upstream: Any, can_replay: bool, held: Any, since: int = 0
    ) -> RecordedWalk | None:
        """Note a walk. No line of the program asked for it."""
        seed = upstream.copy() if can_replay and not isinstance(upstream, np.generic) else upstream
        recorded = RecordedWalk(reference_to(root), seed, can_replay, 0, -1)
        self._add_walk(recorded)
        return None if can_replay else recorded


def walk_again(root: Any, upstream: Any, on_step: Any, freed: dict[Any, Any]) -> None:
    """Repeat a walk step by step. It changes no gradient and calls no hook.

    `freed` has the saved values of nodes that have been freed since.
    """
    walk(topological_order([root]), {root: upstream}, None, on_step=on_step, restored=freed)
