"""What broke a program or a walk off: read from the traceback of the error."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from ..core.apply import Op, as_list
from .sites import ENGINE, kind_of


class Failed:
    """An error as it was: its kind and text, the places of the user's that led there (innermost first, each its code,
    its module's names and the instruction), and what the engine was doing.

    `op` with `inputs` and `params` is the application that failed; in a walk, `node` is the one whose rule or hook did.
    """

    def __init__(self, error: BaseException):
        self.kind, self.text = type(error).__name__, str(error)
        self.places: list[tuple[Any, Any, int]] = []
        self.op: Op | None = None
        self.inputs: list[Any] = []
        self.params: dict[str, Any] = {}
        self.node: Any = None


def failed(error: BaseException | None) -> Failed | None:
    """What can be read of an error."""
    if error is None:
        return None
    found = Failed(error)
    trail = list(frames_of(error.__traceback__))
    if error.__cause__ is not None:  # what the engine had to say of it begins where it was caught
        met = {frame for frame, _ in trail}
        trail += [each for each in frames_of(error.__cause__.__traceback__, outer=False) if each[0] not in met]
    for frame, instruction in trail:
        if kind_of(frame.f_code) is not ENGINE:
            if found.op is None:
                found.places.insert(0, (frame.f_code, frame.f_globals, instruction))
        elif found.op is None and found.node is None:
            _look_for_application(frame, found)
            _look_for_walk(frame, found)
    return found


def caught(error: Exception, frame: FrameType | None, outermost: FrameType | None) -> Failed:
    """The error of an operation as it is raised, which a program may catch: its places are those of the frames that
    stand behind it, as far as the block."""
    found = Failed(error)
    while frame is not None:
        if kind_of(frame.f_code) is not ENGINE:
            found.places.append((frame.f_code, frame.f_globals, frame.f_lasti))
        if frame is outermost:
            break
        frame = frame.f_back
    return found


def frames_of(traceback: TracebackType | None, *, outer: bool = True) -> Iterator[tuple[FrameType, int]]:
    """The frames that an error passed through, the outermost first, each with the instruction there. Those of a
    handler's own callers come before, so that the place where it was raised has all the lines that led there."""
    if outer and traceback is not None and kind_of(traceback.tb_frame.f_code) is ENGINE:
        yield from _callers(traceback.tb_frame.f_back)
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti
        traceback = traceback.tb_next


def _callers(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """The frames of the engine behind which stands the user's that called it, and that one, the outermost first."""
    outer: list[tuple[FrameType, int]] = []
    while frame is not None and kind_of(frame.f_code) is ENGINE:
        outer.append((frame, frame.f_lasti))
        frame = frame.f_back
    if frame is not None:
        outer.append((frame, frame.f_lasti))
    yield from reversed(outer)


def _look_for_application(frame: FrameType, found: Failed) -> None:
    """An operation that was being applied, and what to: its own written-out code says it, and the way by name does."""
    code, held = frame.f_code, frame.f_locals
    written: Any = frame.f_globals.get("_op")
    if isinstance(written, Op) and code.co_name == written.name:
        found.op = written
        given = [held.get(name) for name in written.inputs]
        found.inputs = as_list(written, given[0]) if written.kind == "variadic" else given
        found.params = {name: held[name] for name in written.params if name in held}
    elif code.co_name == "apply" and isinstance(op := held.get("self"), Op):
        found.op = op
        found.inputs, found.params = list(held.get("args", ())), dict(held.get("params", {}))
        if op.kind == "variadic" and found.inputs:
            found.inputs = list(found.inputs[0])
        for name in op.inputs[len(found.inputs) :]:
            if name in found.params:
                found.inputs.append(found.params.pop(name))
    elif code.co_name == "call" and isinstance(op := held.get("op"), Op):
        found.op, found.inputs = op, [held[name] for name in ("a", "b", "x") if name in held]
    elif code.co_name == "power" and "base" in held and "exponent" in held:
        made = frame.f_globals.get("_by_constant")
        found.op, found.inputs = getattr(made, "op", None), [held["base"], held["exponent"]]


def _look_for_walk(frame: FrameType, found: Failed) -> None:
    """The node that a walk was at, or whose hooks were being called."""
    name, held = frame.f_code.co_name, frame.f_locals
    if name == "run_hooks" or (name == "walk" and "arrived" in held and "order" in held):
        found.node = held.get("node")
