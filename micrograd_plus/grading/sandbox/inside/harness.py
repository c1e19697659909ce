"""The student's side: run the cells of a submission one by one, find the answer, call it, and write what it returns.

Everything here may be read, replaced or forged by the code that it runs. What is written is a student's word for a
value and is compared elsewhere; so forging it gains what guessing would.
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
from .wire import Reader, frame, frames, text_of, written

MUCH = 1 << 15
"""How many bytes of outcomes are held back at most."""


def run(values: int, feed: int, carry_out: Any) -> None:
    """Do the job that stands in `feed`, write to `values`, and end the process without asking what else would run."""
    kinds = list(frames(taken(feed)))
    job = json.loads(kinds[0][1])
    shared = next(Reader(data).value() for kind, data in kinds if kind == b"S")
    calls = [data for kind, data in kinds if kind == b"C"]
    say = speaker(values)
    try:
        begin(job)
        found = stubs.install()
        place = loaded(job["units"], job["name"], job["future"], say)
        answer, problem = chosen(job, found, place)
        if problem:
            say((b"M", text_of(json.dumps(problem))))
        else:
            say((b"L",))
            each_called(answer, calls, shared, say, job["most_bytes"], carry_out)
        say((b"D",))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # a student may have put anything there
                stream.flush()
        os._exit(0)


def taken(feed: int) -> bytes:
    """All that is in a file from where it stands."""
    parts = []
    while part := os.read(feed, 1 << 20):
        parts.append(part)
    os.close(feed)
    return b"".join(parts)


def speaker(values: int, write: Any = os.write, length: Any = len) -> Any:
    """What writes frames, and goes on where the pipe took a part of them."""

    def say(*told: tuple[bytes, ...]) -> None:
        data = b"".join([frame(*each) for each in told])
        while data:
            data = data[write(values, data) :]

    return say


def begin(job: dict[str, Any]) -> None:
    """The same numbers for a student's own dice at every run, and room for deep but finite recursion."""
    random.seed(job["dice"])
    np.random.seed(job["dice"])  # noqa: NPY002 - students may ask the old generator
    sys.setrecursionlimit(1000)
    sys.argv[:] = ["submission"]


# The cells ------------------------------------------------------------------------------------------------------------


def loaded(units: list[Any], name: str, future: int, say: Any) -> dict[str, Any]:
    """The names that the cells define. One that raises is reported, and the next is run."""
    module = types.ModuleType(name)
    sys.modules[name] = sys.modules["__main__"] = module
    place = module.__dict__
    place.update(stubs.names())
    for number, (where, source, before) in enumerate(units):
        say((b"U", number.to_bytes(4, "little")))
        source = "\n" * before + source  # so that lines are those of the file
        keep_lines(where, source)
        try:
            exec(compile(source, where, "exec", future, dont_inherit=True), place)  # noqa: S102 - this is what the box is for
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are errors of a cell as well
            report(lambda *frame: say(frame), b"E", number, error)
    return place


def keep_lines(where: str, source: str) -> None:
    """Let tracebacks and `inspect` show a cell's lines."""
    import linecache

    linecache.cache[where] = (len(source), None, source.splitlines(keepends=True), where)


def report(say: Any, kind: bytes, number: int, error: BaseException) -> None:
    """Report an error: first its type alone, as its text may take for ever to make."""
    head, name = number.to_bytes(4, "little"), type(error).__name__
    line = line_of(error)
    say(kind, head, text_of(name), text_of(""), text_of("1"), line.to_bytes(4, "little"))
    try:
        message, whole = str(error), "1"
        message = message if type(message) is str else ""
    except BaseException:  # noqa: BLE001 - a student's __str__ may raise anything
        message, whole = "", "0"
    say(kind, head, text_of(name), text_of(message), text_of(whole), line.to_bytes(4, "little"))


def line_of(error: BaseException) -> int:
    """The last line of the student's own that an error passed; 0 where there is none."""
    if isinstance(error, SyntaxError) and type(error.lineno) is int:
        return max(0, min(error.lineno, 2**31))
    lines = [line for frame_, line in traceback.walk_tb(error.__traceback__)
             if frame_.f_code.co_filename.startswith("<your")]  # fmt: skip
    return lines[-1] if lines else 0


# The answer -----------------------------------------------------------------------------------------------------------


def chosen(job: dict[str, Any], found: dict[str, Any], place: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
    """The answer to the exercise: what was given under its id, or what bears its name; or why there is none."""
    for exercise in job["ids"]:
        if exercise in found:
            return found[exercise], None
    for name in job["functions"]:
        if name in place and not isinstance(place[name], stubs.Inert):
            return place[name], None
    mine = [name for name, value in list(place.items()) if type(name) is str and callable(value)]
    return None, {"given": [str(each)[:80] for each in found][:50], "names": [name[:80] for name in mine][:100]}


def each_called(
    answer: Any, calls: list[bytes], shared: dict[str, Any], say: Any, most_bytes: int, carry_out: Any
) -> None:
    """Have each request carried out on the answer, and say what came of all of them together: who reads along is woken
    once, not at each."""
    told = Gathered(say)
    for number, data in enumerate(calls):
        head = number.to_bytes(4, "little")
        try:
            outcome = carry_out(answer, shared | Reader(data).value())
            told(b"R", head, written(outcome, most_bytes))
            if outcome["error"] and outcome["error"]["kind"] == "MemoryError":
                break  # the next call would only spend the time that is left
        except BaseException as error:  # noqa: BLE001 - whatever a rule raises is its answer to this call
            report(told, b"X", number, error)
    told.out()


class Gathered:
    """Frames that are held back until there are many, or the last has come."""

    def __init__(self, say: Any) -> None:
        self.say, self.held, self.size = say, [], 0

    def __call__(self, kind: bytes, *parts: bytes) -> None:
        """Hold a frame back."""
        self.held.append((kind, *parts))
        self.size += sum(map(len, parts))
        if self.size > MUCH:
            self.out()

    def out(self) -> None:
        """Say what was held back."""
        held, self.held, self.size = self.held, [], 0
        self.say(*held)
