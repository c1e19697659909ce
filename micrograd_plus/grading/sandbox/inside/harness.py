"""Runs a submission in the student's process: run its cells, find the answer, call it, send back its values.

Student code can read, replace or forge everything here. That gains nothing: the grader treats the values as the
student's claim, and compares them in another process.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import traceback
import types
from typing import Any

import numpy as np

from . import stubs
from .wire import Reader, encode, encode_frame, encode_text, read_frames

MOST_BUFFERED = 1 << 15
"""Outcomes wait in a buffer of about this many bytes."""


def run(values: int, feed: int, carry_out: Any, leave: Any = os._exit) -> None:
    """Carry out the run described in `feed`, write frames to `values`, and end the process without exit handlers.

    `leave` is bound before student code runs, which may replace `os._exit`.
    """
    frames = list(read_frames(read_all(feed)))
    head = json.loads(frames[0][1])
    calls = [data for kind, data in frames if kind == b"C"]
    send = frame_sender(values)
    try:
        prepare(head["seed"])
        answers = stubs.install()
        names = run_cells(head["cells"], head["name"], head["future"], send)
        answer, problem = find_answer(head, answers, names)
        if problem:
            send((b"M", encode_text(json.dumps(problem))))
        else:
            send((b"L",))
            call_answer(answer, calls, head["shared"], send, head["most_bytes"], carry_out)
        send((b"D",))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # student code may have replaced the stream
                stream.flush()
        leave(0)


def read_all(feed: int) -> bytes:
    """Read a file from its current position to its end, and close it."""
    parts = []
    while part := os.read(feed, 1 << 20):
        parts.append(part)
    os.close(feed)
    return b"".join(parts)


def frame_sender(values: int, write: Any = os.write, length: Any = len) -> Any:
    """Return a function that writes frames to a pipe, also when the pipe accepts only a part at a time."""

    def send(*frames: tuple[bytes, ...]) -> None:
        data = b"".join([encode_frame(*each) for each in frames])
        while data:
            data = data[write(values, data) :]

    return send


def prepare(seed: int) -> None:
    """Seed the student's random numbers, and reset the recursion limit and the arguments."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - students may use the legacy generator
    sys.setrecursionlimit(1000)
    sys.argv[:] = ["submission"]


# The cells ------------------------------------------------------------------------------------------------------------


def run_cells(cells: list[Any], name: str, future: int, send: Any) -> dict[str, Any]:
    """Run the cells in one module and return its names. If a cell raises, report it and run the next one."""
    module = types.ModuleType(name)
    sys.modules[name] = sys.modules["__main__"] = module
    names = module.__dict__
    names.update(stubs.notebook_names())
    for number, (where, source, line) in enumerate(cells):
        send((b"U", number.to_bytes(4, "little")))
        source = "\n" * line + source  # so that line numbers are those of the file
        register_source(where, source)
        try:
            exec(compile(source, where, "exec", future, dont_inherit=True), names)  # noqa: S102 - the sandbox is for this
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are errors of a cell, too
            report_error(lambda *frame: send(frame), b"E", number, error)
    return names


def register_source(where: str, source: str) -> None:
    """Make the lines of a cell available to tracebacks and `inspect`."""
    import linecache

    linecache.cache[where] = (len(source), None, source.splitlines(keepends=True), where)


def report_error(send: Any, kind: bytes, number: int, error: BaseException) -> None:
    """Send an error twice: first its type only, since computing its message may never end, then with its message."""
    head, name = number.to_bytes(4, "little"), type(error).__name__
    line = student_line(error).to_bytes(4, "little")
    send(kind, head, encode_text(name), encode_text(""), encode_text("1"), line)
    try:
        message, has_message = str(error), "1"
        message = message if type(message) is str else ""
    except BaseException:  # noqa: BLE001 - a student's __str__ may raise anything
        message, has_message = "", "0"
    send(kind, head, encode_text(name), encode_text(message), encode_text(has_message), line)


def student_line(error: BaseException) -> int:
    """Return the last line of student code in a traceback; 0 if there is none."""
    if isinstance(error, SyntaxError) and type(error.lineno) is int:
        return max(0, min(error.lineno, 2**31))
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
             if frame.f_code.co_filename.startswith("<your")]  # fmt: skip
    return lines[-1] if lines else 0


# The answer -----------------------------------------------------------------------------------------------------------


def find_answer(
    head: dict[str, Any], answers: dict[str, Any], names: dict[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Return the answer to the exercise, or why there is none.

    The answer is the object registered under the exercise's ID, or else the function with its name.
    """
    for exercise in head["ids"]:
        if exercise in answers:
            return answers[exercise], None
    for name in head["functions"]:
        if name in names and not isinstance(names[name], stubs.Inert):
            return names[name], None
    functions = [name for name, value in list(names.items()) if type(name) is str and callable(value)]
    return None, {"names": [name[:80] for name in functions][:100]}


def call_answer(
    answer: Any, calls: list[bytes], shared: dict[str, Any], send: Any, most_bytes: int, carry_out: Any
) -> None:
    """Call the answer for each request and send the outcomes together, so that the grader is woken up only once."""
    buffer = FrameBuffer(send)
    for number, data in enumerate(calls):
        head = number.to_bytes(4, "little")
        try:
            outcome = carry_out(answer, shared | Reader(data).value())
            buffer.add(b"R", head, encode(outcome, most_bytes))
            if outcome["error"] and outcome["error"]["kind"] == "MemoryError":
                break  # the next call would only use up the time
        except BaseException as error:  # noqa: BLE001 - student code may raise anything
            report_error(buffer.add, b"X", number, error)
    buffer.flush()


class FrameBuffer:
    """Buffer of frames. It sends them when it is full or flushed."""

    def __init__(self, send: Any) -> None:
        self.send, self.frames, self.size = send, [], 0

    def add(self, kind: bytes, *parts: bytes) -> None:
        """Add a frame."""
        self.frames.append((kind, *parts))
        self.size += sum(map(len, parts))
        if self.size > MOST_BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Send all frames."""
        frames, self.frames, self.size = self.frames, [], 0
        self.send(*frames)
