"""The sandbox: where one answer meets one exercise's inputs, and values come back, or what happened instead.

    with Sandbox() as sandbox:
        ran = sandbox.run(Job(units, ids, functions, requests))

One server is started for many boxes, and a box serves the exercises of one submission: each run is a process of its own
with a folder of its own. Where a run does not end by itself, its box is given up, and the next one has another.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .chroot import jail
from .inside import wire
from .isolation import LevelError, best, is_root, works
from .uid_pool import FIRST_USER, SlotError, free_slot, swept

HERE = Path(__file__).parent
CARRYING = HERE.parent.parent / "exercises" / "sandboxed"
PRINTED = 16 * 1024
"""How much of what is printed is kept."""
TOLD = ("cpu", "wall", "memory", "processes", "files", "disk", "inodes")
"""The limits that the box keeps; how much may come out of it is kept here."""
WINDOWS_CRASH = 0xC0000000
"""Exit codes from here on are those with which Windows ends a program that crashed."""
CLEARING = 10.0
"""How many seconds it may take to clear a box away."""
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inside.server import {0} as go; "
    "del sys.path[0]; go(*sys.argv[2:4]{1})"
)


class SandboxError(Exception):
    """The grader's own fault, or the machine's: nothing that a submission did."""


@dataclass(frozen=True)
class Limits:
    """What one run may use. The memory is what comes on top of Python and NumPy themselves, for each process."""

    cpu: float = 5.0
    wall: float = 15.0
    memory: int = 512 << 20
    processes: int = 8
    files: int = 64
    disk: int = 16 << 20
    inodes: int = 256
    values: int = 32 << 20


@dataclass(frozen=True)
class Job:
    """One answer to one exercise: the cells to run, where the answer is found, and the requests it is to carry out."""

    units: Sequence[tuple[str, str, int]]
    """What each cell is called in tracebacks, its source, and how many lines of its file stand before it."""
    ids: Sequence[str]
    functions: Sequence[str]
    requests: Sequence[dict[str, Any]]
    limits: Limits = field(default_factory=Limits)
    dice: int = 0
    name: str = "submission"
    future: int = 0
    """What `from __future__` the submission begins with, as the compiler's flags."""

    def packed(self) -> bytes:
        """As bytes for the student's process."""
        head = {
            "units": [list(each) for each in self.units], "ids": list(self.ids), "functions": list(self.functions),
            "dice": self.dice, "name": self.name, "future": self.future, "most_bytes": self.limits.values // 4,
        }  # fmt: skip
        shared = wire.frame(b"S", wire.written(self.shared(), 1 << 40))
        names = self.shared().keys()
        calls = [wire.frame(b"C", wire.written({name: each[name] for name in each.keys() - names}, 1 << 40))
                 for each in self.requests]  # fmt: skip
        return b"".join([wire.frame(b"J", json.dumps(head).encode()), shared, *calls])

    def shared(self) -> dict[str, Any]:
        """What all requests say alike, such as the words of `xp`; it travels once."""
        first = self.requests[0] if self.requests else {}
        return {
            name: first[name] for name in ("driver", "functions", "answers")
            if name in first and all(name in each and each[name] == first[name] for each in self.requests)
        }  # fmt: skip


@dataclass
class Ran:
    """What came of a run. `end` is `done`, or why it is not: `time`, `cpu`, `memory`, `crash`, `left`, `flood`,
    `protocol`, `missing`, `not_callable`."""

    end: str = "done"
    detail: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[int, Any] = field(default_factory=dict)
    errors: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By call: what was raised where no outcome could be made."""
    broken: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By cell: what it raised."""
    unit: int = -1
    """The cell that was begun last."""
    loaded: bool = False
    printed: str = ""
    cut: bool = False
    cpu: float = 0.0
    wall: float = 0.0


class Sandbox:
    """Boxes at one level of isolation. It holds a server and a slot, and gives both back when it is closed."""

    def __init__(self, level: str | None = None) -> None:
        self.level = level or best()
        if not works(self.level):
            raise LevelError(f"this machine has no isolation of level {self.level!r}; it has {best()!r}")
        self.server: subprocess.Popen[bytes] | None = None
        self.control: socket.socket | None = None
        self.box: socket.socket | None = None
        self.slot: int | None = None
        self.lock: Any = None
        self.jail: Path | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, job: Job) -> Ran:
        """Run one job. Whatever the student's code does, this returns; a `SandboxError` is never its doing."""
        began = time.monotonic()
        data, printed, cut, told = self._alone(job) if self.level == "none" else self._boxed(job)
        ran = understood(data, told, job)
        ran.printed, ran.cut = printed.decode("utf-8", "backslashreplace"), cut
        ran.cpu, ran.wall = told.get("cpu", 0.0), time.monotonic() - began
        return ran

    def leave(self) -> None:
        """Clear the box away, and come back when it is: the next run has a new one."""
        if self.box is not None:
            box, self.box = self.box, None
            with box:
                emptied(box)

    def close(self) -> None:
        """Leave the box, end the server and free the slot."""
        with contextlib.suppress(OSError):
            self.leave()
        if self.control is not None:
            self.control.close()
            self.control = None
        if self.server is not None:
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
            self.server = None
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    # In a box ---------------------------------------------------------------------------------------------------------

    def _start(self) -> socket.socket:
        self.jail = jail()
        held = self._slot() if is_root() else []
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.server = subprocess.Popen(
                command("main", str(theirs.fileno())), pass_fds=[theirs.fileno(), *held], env=environment(),
                close_fds=True, stdin=subprocess.DEVNULL, cwd="/", start_new_session=True,
            )  # fmt: skip
        ours.settimeout(60)
        if ours.recv(16) != b"ready":
            raise SandboxError("the server of boxes did not start")
        self.control = ours
        return ours

    def _slot(self) -> list[int]:
        """Take a slot, and return what its lock is held by: the boxes hold it too, so nobody else has it before the
        last of them has ended."""
        try:
            swept(self.jail or jail())
            self.slot, self.lock = free_slot()
        except SlotError as error:
            raise SandboxError(str(error)) from error
        return [self.lock.fileno()]

    def _open(self) -> socket.socket:
        """A new box."""
        control = self.control or self._start()
        told = {"level": self.level, "jail": str(self.jail),
                "uid": FIRST_USER + self.slot if is_root() and self.slot is not None else None}  # fmt: skip
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(control, [json.dumps(told).encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxError(f"the server of boxes is gone: {error}") from error
        self.box = ours
        return ours

    def _boxed(self, job: Job) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        box, limits = self.box or self._open(), job.limits
        told = {name: getattr(limits, name) for name in TOLD}
        feed = os.memfd_create("job")
        with contextlib.ExitStack() as open_here:
            open_here.callback(os.close, feed)
            write_all(feed, job.packed())
            os.lseek(feed, 0, os.SEEK_SET)
            values, values_end = pipe(open_here)
            output, output_end = pipe(open_here)
            try:
                socket.send_fds(box, [json.dumps(told).encode()], [values_end, feed, output_end])
            except OSError as error:
                self.leave()
                raise SandboxError(f"a box is gone: {error}") from error
            finally:
                os.close(values_end)
                os.close(output_end)
            watching = Watching(box, values, output, limits)
            try:
                kept = watching.to_the_end()
            finally:
                if watching.told.get("code") != 0 or "end" in watching.told:
                    self.leave()
            return kept

    # Without one ------------------------------------------------------------------------------------------------------

    def _alone(self, job: Job) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        limits = job.limits
        settings = environment() | {"MARKED_CPU": str(max(1, round(limits.cpu))), "MARKED_MEMORY": str(limits.memory)}
        with tempfile.TemporaryDirectory(prefix="marked-", ignore_cleanup_errors=True) as here:
            child = subprocess.Popen(
                command("alone", None), env=settings, cwd=here, start_new_session=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            values, output = Kept(child.stdout, limits.values), Kept(child.stderr, PRINTED)
            fed = threading.Thread(target=feed_all, args=(child.stdin, job.packed()), daemon=True)
            for each in (values, output, fed):
                each.start()
            told: dict[str, Any] = {}
            ends = time.monotonic() + limits.wall
            while child.poll() is None and not told:
                time.sleep(0.005)
                told = {"end": "flood"} if values.more else {"end": "time"} if time.monotonic() > ends else {}
            end_group(child)
            for each in (values, output, fed):
                each.join(1)
            code = child.wait()
            told.update({"signal": -code} if code < 0 else {"code": code})
            return bytes(values.data), bytes(output.data), output.more, told


def command(entry: str, number: str | None) -> list[str]:
    """How a server, or a process of its own, is started: by a Python that heeds no file and no setting of the
    user's."""
    numpy_at = str(Path(np.__file__).parent.parent)
    call = START.format(entry, "" if number is None else ", int(sys.argv[4])")
    rest = [str(HERE), numpy_at, str(CARRYING)] + ([] if number is None else [number])
    return [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", "-B", "-c", call, *rest]


def environment() -> dict[str, str]:
    """The little that a student's process finds in its environment; nothing of the grader's own."""
    names = ("SYSTEMROOT", "PATH", "TEMP") if os.name == "nt" else ("LD_LIBRARY_PATH",)  # where libraries are found
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LANG": "C.UTF-8",
                   "PYTHONIOENCODING": "utf-8:backslashreplace", "PYTHONUTF8": "1"}  # fmt: skip


def pipe(open_here: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe, whose end for reading is closed in the end."""
    read_end, write_end = os.pipe()
    open_here.callback(os.close, read_end)
    return read_end, write_end


def write_all(number: int, data: bytes) -> None:
    """Write all, however little is taken at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]


def emptied(box: socket.socket) -> None:
    """Let go of a box, and wait until nobody holds it: then all that was started in it has ended."""
    with contextlib.suppress(OSError):
        box.shutdown(socket.SHUT_WR)
    box.settimeout(CLEARING)
    try:
        while box.recv(65536):
            pass
    except TimeoutError as error:
        raise SandboxError("a box could not be cleared away") from error
    except ConnectionError:
        pass


class Watching:
    """A box that is watched. The deadline is one for everything, so nothing is won by sending little by little."""

    def __init__(self, watch: socket.socket, values: int, output: int, limits: Limits) -> None:
        self.watch, self.values, self.output = watch, values, output
        self.kept = {values: bytearray(), output: bytearray()}
        self.most = {values: limits.values, output: PRINTED}
        self.cut, self.over = False, False
        self.told: dict[str, Any] = {}
        self.ends = time.monotonic() + limits.wall
        self.poll = select.poll()
        for number in (values, output, watch.fileno()):
            self.poll.register(number, select.POLLIN | select.POLLHUP)

    def to_the_end(self) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        """All that comes until the run is over, or is ended from here."""
        while not self.over:
            self.look()
        if "failed" in self.told:
            raise SandboxError(self.told["failed"])
        self.rest()
        kept = self.kept
        return bytes(kept[self.values]), bytes(kept[self.output]), self.cut, self.told

    def look(self) -> None:
        """Wait for what happens next, no longer than there is time."""
        left = self.ends - time.monotonic()
        if left <= 0:
            if self.told:
                raise SandboxError("a run could not be ended")
            self.let_go("time")
            return
        for number, _ in self.poll.poll(max(1.0, 1000 * left)):
            if number == self.watch.fileno():
                data = self.watch.recv(65536)
                self.told = (json.loads(data) if data else {"signal": int(signal.SIGKILL)}) | self.told
                self.over = True
            elif data := os.read(number, 1 << 18):
                self.take(number, data)
            else:
                self.poll.unregister(number)

    def take(self, number: int, data: bytes) -> None:
        """Keep what came, as far as there is room; of values, more than that is too much."""
        room = self.most[number] - len(self.kept[number])
        self.kept[number] += data[:room]
        if len(data) > room and number == self.output:
            self.cut = True
        elif len(data) > room and not self.told:
            self.let_go("flood")

    def let_go(self, why: str) -> None:
        """Have the run ended, which takes a moment."""
        self.told = {"end": why}
        self.watch.shutdown(socket.SHUT_WR)
        self.ends = time.monotonic() + CLEARING

    def rest(self) -> None:
        """What was written before the end, and not read yet."""
        for number, kept in self.kept.items():
            os.set_blocking(number, False)
            with contextlib.suppress(BlockingIOError):
                while (room := self.most[number] - len(kept)) and (data := os.read(number, room)):
                    kept += data


class Kept(threading.Thread):
    """What comes out of a stream, up to a size; the rest is read and let go."""

    def __init__(self, stream: Any, most: int) -> None:
        super().__init__(daemon=True)
        self.stream, self.most, self.data, self.more = stream, most, bytearray(), False

    def run(self) -> None:
        """Read to the end."""
        with contextlib.suppress(OSError, ValueError):
            while part := self.stream.read1(1 << 16):
                room = self.most - len(self.data)
                self.data += part[:room]
                self.more = self.more or len(part) > room


def feed_all(stream: Any, data: bytes) -> None:
    """Write a job to a process that may end before it has read it."""
    with contextlib.suppress(OSError):
        stream.write(data)
        stream.close()


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a process and, where the system knows groups, those it started and that did not leave its group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        child.kill()


# What came back -----------------------------------------------------------------------------------------------------


def understood(data: bytes, told: dict[str, Any], job: Job) -> Ran:
    """The frames of a run, and how it ended. Frames are believed to be what a student says, and no more."""
    ran, done = Ran(), False
    try:
        for kind, body in wire.frames(data):
            done = done or kind == b"D"
            if kind in MEANINGS:
                MEANINGS[kind](ran, body, job)
    except (wire.FrameError, ValueError, UnicodeDecodeError, KeyError, TypeError) as error:
        if "end" not in told and told.get("code") == 0:
            ran.end, ran.detail = "protocol", {"what": str(error)[:200]}
            return ran
    if ran.end in ("missing", "not_callable") and done:
        return ran
    ran.end, ran.detail = ended(told, done, ran)
    return ran


def ended(told: dict[str, Any], done: bool, ran: Ran) -> tuple[str, dict[str, Any]]:
    """Why a run is over."""
    if "end" in told:
        return told["end"], {}
    number = told.get("signal")
    if number in (getattr(signal, "SIGXCPU", None), getattr(signal, "SIGXFSZ", None)) and number is not None:
        return ("cpu" if number == signal.SIGXCPU else "disk"), {}
    if number is not None:
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        return "crash", {"signal": name}
    if told.get("code", 0) >= WINDOWS_CRASH and not done:
        return "crash", {"signal": f"0x{told['code']:X}"}
    return ("done", {}) if done else ("left", {"code": told.get("code", 0)})


def number_and_rest(body: bytes) -> tuple[int, wire.Reader]:
    """The number that a frame begins with."""
    reader = wire.Reader(body)
    return reader.count(), reader


def an_error(ran: Ran, body: bytes, job: Job, calls: bool) -> None:
    """What a cell or a call raised; a later frame on the same one says more than the earlier."""
    number, reader = number_and_rest(body)
    name, message, whole = reader.text(), reader.text(), reader.text()
    (line,) = reader.unpack("I")
    if number < len(job.requests if calls else job.units):
        told = {
            "kind": name[:80],
            "message": message[:300],
            "line": line or None,
            "told": whole == "1" and bool(message),
        }
        (ran.errors if calls else ran.broken)[number] = told


def an_outcome(ran: Ran, body: bytes, job: Job) -> None:
    """A call's outcome; the first counts."""
    number, reader = number_and_rest(body)
    if number < len(job.requests) and number not in ran.outcomes:
        ran.outcomes[number] = wire.read(bytes(reader.data[reader.at :]))


def a_lack(ran: Ran, body: bytes, job: Job) -> None:
    """No answer was found, or it is nothing to call."""
    detail = json.loads(wire.Reader(body).text())
    if type(detail) is not dict:
        raise wire.FrameError("a lack that is none")
    names = detail.get("names", []) if type(detail.get("names")) is list else []
    ran.end, ran.detail = "missing", {"names": [str(each)[:80] for each in names[:100]]}


def begun(ran: Ran, body: bytes, job: Job) -> None:
    """A cell was begun."""
    ran.unit = number_and_rest(body)[0]


MEANINGS: dict[bytes, Any] = {
    b"U": begun,
    b"E": lambda ran, body, job: an_error(ran, body, job, calls=False),
    b"X": lambda ran, body, job: an_error(ran, body, job, calls=True),
    b"R": an_outcome,
    b"M": a_lack,
    b"L": lambda ran, body, job: setattr(ran, "loaded", True),
}
