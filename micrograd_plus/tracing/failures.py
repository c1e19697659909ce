"""Errors that ended a program or a walk, read from their tracebacks."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from ..core.apply import Op, as_list
from .sites import ENGINE, kind_of


class CodeLocation(NamedTuple):
    """An instruction in some code, with the global names of its module."""

    code: CodeType
    names: dict[str, Any]
    instruction: int


class ErrorRecord:
    """An error: its kind and text, the user's lines that led to it (innermost first), and where the engine failed.

    `op` with `inputs` and `params` is the application that failed; in a walk, `node` is the one whose rule or hook did.
    """

    def __init__(self, error: BaseException):
        self.kind, self.text = type(error).__name__, str(error)
        self.locations: list[CodeLocation] = []
        self.op: Op | None = None
        self.inputs: list[Any] = []
        self.params: dict[str, Any] = {}
        self.node: Any = None
        self.position = 0
        """How many applications had been noted, for an error that the program caught."""


def record_of_error(error: BaseException | None) -> ErrorRecord | None:
    """Return the record of an error, read from its traceback and its cause's traceback."""
    if error is None:
        return None
    record = ErrorRecord(error)
    trail = list(frames_of(error.__traceback__))
    if error.__cause__ is not None:  # the engine's explanation begins where it caught the cause
        visited = {frame for frame, _ in trail}
        frames_of_cause = frames_of(error.__cause__.__traceback__, outer=False)
        trail += [(frame, instruction) for frame, instruction in frames_of_cause if frame not in visited]
    for frame, instruction in trail:
        if kind_of(frame.f_code) is not ENGINE:
            if record.op is None:
                record.locations.insert(0, CodeLocation(frame.f_code, frame.f_globals, instruction))
        elif record.op is None and record.node is None:
            _find_application(frame, record)
            _find_node(frame, record)
    return record


def record_of_caught_error(error: Exception, frame: FrameType | None, outermost: FrameType | None) -> ErrorRecord:
    """Return the record of an operation's error as it is raised, in case the program catches it.

    Its lines come from the frames between `frame` and the block.
    """
    record = ErrorRecord(error)
    while frame is not None:
        if kind_of(frame.f_code) is not ENGINE:
            record.locations.append(CodeLocation(frame.f_code, frame.f_globals, frame.f_lasti))
        if frame is outermost:
            break
        frame = frame.f_back
    return record


def frames_of(traceback: TracebackType | None, *, outer: bool = True) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames that an error passed through with the instruction in each, the outermost first.

    If the traceback begins in the engine, the frames that led there from the user's program come first.
    """
    if outer and traceback is not None and kind_of(traceback.tb_frame.f_code) is ENGINE:
        yield from _callers(traceback.tb_frame.f_back)
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti
        traceback = traceback.tb_next


def _callers(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """Yield the engine's frames from `frame` outward and the user's frame that called them, the outermost first."""
    outer: list[tuple[FrameType, int]] = []
    while frame is not None and kind_of(frame.f_code) is ENGINE:
        outer.append((frame, frame.f_lasti))
        frame = frame.f_back
    if frame is not None:
        outer.append((frame, frame.f_lasti))
    yield from reversed(outer)


def _find_application(frame: FrameType, record: ErrorRecord) -> None:
    """Note the operation that a frame of the engine's was applying, and its inputs."""
    code, variables = frame.f_code, frame.f_locals
    compiled_op: Any = frame.f_globals.get("_op")
    if isinstance(compiled_op, Op) and code.co_name == compiled_op.name:
        record.op = compiled_op
        inputs = [variables.get(name) for name in compiled_op.inputs]
        record.inputs = as_list(compiled_op, inputs[0]) if compiled_op.kind == "variadic" else inputs
        record.params = {name: variables[name] for name in compiled_op.params if name in variables}
    elif code.co_name == "apply" and isinstance(op := variables.get("self"), Op):
        record.op = op
        record.inputs, record.params = list(variables.get("args", ())), dict(variables.get("params", {}))
        if op.kind == "variadic" and record.inputs:
            record.inputs = list(record.inputs[0])
        for name in op.inputs[len(record.inputs) :]:
            if name in record.params:
                record.inputs.append(record.params.pop(name))
    elif code.co_name == "call" and isinstance(op := variables.get("op"), Op):
        record.op, record.inputs = op, [variables[name] for name in ("a", "b", "x") if name in variables]
    elif code.co_name == "power" and "base" in variables and "exponent" in variables:
        by_constant = frame.f_globals.get("_by_constant")
        record.op, record.inputs = getattr(by_constant, "op", None), [variables["base"], variables["exponent"]]


def _find_node(frame: FrameType, record: ErrorRecord) -> None:
    """Note the node that a walk was at, or whose hooks it was calling."""
    name, variables = frame.f_code.co_name, frame.f_locals
    if name == "run_hooks" or (name == "walk" and "arrived" in variables and "order" in variables):
        record.node = variables.get("node")
