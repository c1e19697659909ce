"""Runs of the sandbox (`Run`), their limits (`Limits`) and their results (`RunResult`).

A result is read from bytes that student code may have forged. They are treated as the student's claim: every number,
length and type is checked, and invalid bytes become the end `protocol`.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .inside import wire

UNLIMITED = 1 << 40
WINDOWS_CRASH = 0xC0000000
"""Windows ends a program that crashed with an exit code of at least this number."""


@dataclass(frozen=True)
class Limits:
    """Resources that one run may use. Memory is counted per process, in addition to Python and NumPy themselves."""

    cpu: float = 5.0
    wall: float = 15.0
    memory: int = 512 << 20
    processes: int = 8
    files: int = 64
    disk: int = 16 << 20
    inodes: int = 256
    values: int = 32 << 20
    """Bytes that may come back."""


@dataclass(frozen=True)
class Run:
    """One answer to one exercise: the cells to run, how to find the answer, and the requests to call it with."""

    cells: Sequence[tuple[str, str, int]]
    """For each cell its name in tracebacks, its source, and the number of lines before it in its file."""
    ids: Sequence[str]
    functions: Sequence[str]
    requests: Sequence[dict[str, Any]]
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    """Seed of the student's own random numbers."""
    name: str = "submission"
    future: int = 0
    """Compiler flags for the `from __future__` imports of the submission."""

    def encode(self) -> bytes:
        """Return the run as bytes for the student's process."""
        head = {
            "cells": [list(each) for each in self.cells], "ids": list(self.ids), "functions": list(self.functions),
            "seed": self.seed, "name": self.name, "future": self.future, "most_bytes": self.limits.values // 4,
        }  # fmt: skip
        head["shared"] = shared = self.shared_fields()
        calls = [{name: value for name, value in each.items() if name not in shared} for each in self.requests]
        return b"".join([
            wire.encode_frame(b"J", json.dumps(head).encode()),
            *(wire.encode_frame(b"C", wire.encode(each, UNLIMITED)) for each in calls),
        ])  # fmt: skip

    def shared_fields(self) -> dict[str, Any]:
        """Return the fields that all requests share, such as the functions of `xp`. They travel once, as JSON."""
        first = self.requests[0] if self.requests else {}
        return {
            name: first[name] for name in ("driver", "functions", "answers")
            if name in first and all(name in each and each[name] == first[name] for each in self.requests)
        }  # fmt: skip


@dataclass
class RunResult:
    """What came of a run."""

    end: str = "done"
    """`done`, or why there are no values: `time`, `cpu`, `memory`, `disk`, `crash`, `left`, `flood`, `protocol`,
    `missing`."""
    detail: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[int, Any] = field(default_factory=dict)
    """By request: the values that the answer returned."""
    errors: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By request: the error that prevented an outcome."""
    cell_errors: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By cell: the error that it raised."""
    last_cell: int = -1
    """The cell that started last."""
    has_answer: bool = False
    """Whether all cells ran and the answer was found."""
    printed: str = ""
    truncated: bool = False
    """Whether more was printed than `printed` holds."""
    cpu: float = 0.0
    wall: float = 0.0


def read_result(data: bytes, status: dict[str, Any], run: Run) -> RunResult:
    """Return the result of a run from its frames and the exit status of its process."""
    result, done = RunResult(), False
    try:
        for kind, body in wire.read_frames(data):
            done = done or kind == b"D"
            if kind in READERS:
                READERS[kind](result, body, run)
    except (wire.WireError, ValueError, UnicodeDecodeError, KeyError, TypeError) as error:
        if "end" not in status and status.get("code") == 0:
            result.end, result.detail = "protocol", {"what": str(error)[:200]}
            return result
    if result.end == "missing" and done:
        return result
    result.end, result.detail = end_of_run(status, done, run.limits)
    return result


def end_of_run(status: dict[str, Any], done: bool, limits: Limits) -> tuple[str, dict[str, Any]]:
    """Return why a run ended, with details."""
    if "end" in status:
        return status["end"], {}
    number = status.get("signal")
    if number == getattr(signal, "SIGKILL", None) and status.get("cpu", 0.0) >= limits.cpu:
        return "cpu", {}  # the process ignored SIGXCPU, and the kernel killed it a second later
    if number in (getattr(signal, "SIGXCPU", None), getattr(signal, "SIGXFSZ", None)) and number is not None:
        return ("cpu" if number == signal.SIGXCPU else "disk"), {}
    if number is not None:
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return "crash", {"signal": name}
    if status.get("code", 0) >= WINDOWS_CRASH and not done:
        return "crash", {"signal": f"0x{status['code']:X}"}
    return ("done", {}) if done else ("left", {"code": status.get("code", 0)})


# Frames -------------------------------------------------------------------------------------------------------------


def read_number(body: bytes) -> tuple[int, wire.Reader]:
    """Return the number at the start of a frame, and a reader of the rest."""
    reader = wire.Reader(body)
    return reader.count(), reader


def add_error(result: RunResult, body: bytes, run: Run, in_call: bool) -> None:
    """Add the error of a cell or a call. A later frame about the same error replaces the earlier one."""
    number, reader = read_number(body)
    name, message, has_message = reader.text(), reader.text(), reader.text()
    (line,) = reader.unpack("I")
    if number < len(run.requests if in_call else run.cells):
        (result.errors if in_call else result.cell_errors)[number] = {
            "kind": name[:80], "message": message[:300], "line": line or None,
            "has_message": has_message == "1" and bool(message),
        }  # fmt: skip


def add_outcome(result: RunResult, body: bytes, run: Run) -> None:
    """Add the outcome of a call. The first one counts."""
    number, reader = read_number(body)
    if number < len(run.requests) and number not in result.outcomes:
        result.outcomes[number] = wire.decode(bytes(reader.data[reader.at :]))


def set_missing(result: RunResult, body: bytes, run: Run) -> None:
    """Set the end to `missing`: no answer was found among these names."""
    detail = json.loads(wire.Reader(body).text())
    if type(detail) is not dict:
        raise wire.WireError("the names must be in a dict")
    names = detail.get("names", []) if type(detail.get("names")) is list else []
    result.end, result.detail = "missing", {"names": [str(each)[:80] for each in names[:100]]}


def set_last_cell(result: RunResult, body: bytes, run: Run) -> None:
    """Set the cell that started last."""
    result.last_cell = read_number(body)[0]


READERS: dict[bytes, Any] = {
    b"U": set_last_cell,
    b"E": lambda result, body, run: add_error(result, body, run, in_call=False),
    b"X": lambda result, body, run: add_error(result, body, run, in_call=True),
    b"R": add_outcome,
    b"M": set_missing,
    b"L": lambda result, body, run: setattr(result, "has_answer", True),
}
