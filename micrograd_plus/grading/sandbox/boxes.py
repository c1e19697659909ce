"""The sandbox: runs a student's answer in a box, enforces its limits, and returns its values.

    with Sandbox() as sandbox:
        result = sandbox.run(Run(cells, ids, functions, requests))

One server process forks a box for each submission. The runs of a submission share its box, each with a new process and
a new folder. If a run does not end by itself, its box is closed, and the next run gets a new one.
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
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from .chroot import chroot_folder
from .inside.clearing import discard
from .isolation import IsolationError, is_available, is_root, strongest_level
from .runs import Limits, Run, RunResult, read_result
from .uid_pool import UidPoolError, lease, remove_stale_boxes

HERE = Path(__file__).parent
EXERCISES = HERE.parent.parent / "exercises" / "sandboxed"
"""The part of the exercises package that carries out requests and holds no answers."""
MOST_PRINTED = 16 * 1024
LIMITS_OF_THE_BOX = ("cpu", "wall", "memory", "processes", "files", "disk", "inodes")
"""Limits that the box enforces. The amount of output is limited here."""
CLOSING_TIME = 60.0
"""Seconds that ending a run may take."""
REMOVAL_TIME = 900.0
"""Seconds that closing a box may take, with the removal of all files that its last run wrote."""
STARTING_TIME = 60.0
"""Seconds that starting Python without a box may take."""
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from inside.server import {0} as start; "
    "del sys.path[0]; start(*sys.argv[2:4]{1})"
)


class SandboxError(Exception):
    """The grader or the machine failed. A submission never causes this."""


class Sandbox:
    """Runs answers at one level of isolation. It owns a server process and a leased user ID until it is closed."""

    def __init__(self, level: str | None = None) -> None:
        self.level = level or strongest_level()
        if not is_available(self.level):
            raise IsolationError(f"this machine does not support isolation {self.level!r}; "
                                 f"its strongest level is {strongest_level()!r}")  # fmt: skip
        self.server: subprocess.Popen[bytes] | None = None
        self.control: socket.socket | None = None
        self.box: socket.socket | None = None
        self.uid: int | None = None
        self.lock: IO[str] | None = None
        self.root: Path | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, run: Run) -> RunResult:
        """Carry out a run. It returns whatever the student's code does; a `SandboxError` is never the student's."""
        began = time.monotonic()
        data, printed, truncated, status = self._run_without_box(run) if self.level == "none" else self._run_in_box(run)
        result = read_result(data, status, run)
        result.printed, result.truncated = printed.decode("utf-8", "backslashreplace"), truncated
        result.cpu, result.wall = status.get("cpu", 0.0), time.monotonic() - began
        return result

    def close_box(self) -> None:
        """Close the box and wait until everything in it is gone. The next run opens a new one."""
        if self.box is not None:
            box, self.box = self.box, None
            with box:
                close_and_wait(box)

    def close(self) -> None:
        """Close the box, end the server and release the user ID."""
        with contextlib.suppress(OSError):
            self.close_box()
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

    def _start_server(self) -> socket.socket:
        self.root = chroot_folder()
        inherited = [self._lease_uid(self.root).fileno()] if is_root() else []
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.server = subprocess.Popen(
                server_command("serve_boxes", str(theirs.fileno())), pass_fds=[theirs.fileno(), *inherited],
                env=child_environment(), close_fds=True, stdin=subprocess.DEVNULL, cwd="/", start_new_session=True,
            )  # fmt: skip
        ours.settimeout(60)
        if ours.recv(16) != b"ready":
            raise SandboxError("the server of boxes did not start")
        self.control = ours
        return ours

    def _lease_uid(self, root: Path) -> IO[str]:
        """Lease a user ID and return its lock. The boxes inherit it, so the lease lasts as long as they do."""
        try:
            remove_stale_boxes(root)
            self.uid, self.lock = lease()
        except UidPoolError as error:
            raise SandboxError(str(error)) from error
        return self.lock

    def _open_box(self) -> socket.socket:
        control = self.control or self._start_server()
        box = {"level": self.level, "root": str(self.root), "uid": self.uid}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(control, [json.dumps(box).encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxError(f"the server of boxes has ended: {error}") from error
        self.box = ours
        return ours

    def _run_in_box(self, run: Run) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        box, limits = self.box or self._open_box(), run.limits
        message = {name: getattr(limits, name) for name in LIMITS_OF_THE_BOX}
        feed = os.memfd_create("run")
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, feed)
            write_all(feed, run.encode())
            os.lseek(feed, 0, os.SEEK_SET)
            values, values_end = open_pipe(stack)
            output, output_end = open_pipe(stack)
            try:
                socket.send_fds(box, [json.dumps(message).encode()], [values_end, feed, output_end])
            except OSError as error:
                self.close_box()
                raise SandboxError(f"a box has ended: {error}") from error
            finally:
                os.close(values_end)
                os.close(output_end)
            watcher = Watcher(box, values, output, limits)
            try:
                return watcher.watch()
            finally:
                if watcher.status.get("code") != 0 or "end" in watcher.status:
                    self.close_box()

    # Without a box ----------------------------------------------------------------------------------------------------

    def _run_without_box(self, run: Run) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        limits = run.limits
        settings = {"GRADING_CPU": str(max(1, round(limits.cpu))), "GRADING_MEMORY": str(limits.memory)}
        with temporary_folder() as folder:
            child = subprocess.Popen(
                server_command("run_without_box", None), env=child_environment() | settings, cwd=folder,
                start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            values, output = StreamReader(child.stdout, limits.values), StreamReader(child.stderr, MOST_PRINTED)
            feed = threading.Thread(target=write_and_close, args=(child.stdin, run.encode()), daemon=True)
            for each in (values, output, feed):
                each.start()
            status: dict[str, Any] = {}
            deadline, has_started = time.monotonic() + STARTING_TIME, False
            while child.poll() is None and not status:
                time.sleep(0.005)
                if values.data and not has_started:  # the first frame says that Python and NumPy are imported
                    deadline, has_started = time.monotonic() + limits.wall, True
                end = "flood" if values.truncated else "time" if time.monotonic() > deadline else None
                status = {"end": end} if end else {}
            kill_group(child)
            for each in (values, output, feed):
                each.join(1)
            code = child.wait()
            status.update({"signal": -code} if code < 0 else {"code": code})
            return bytes(values.data), bytes(output.data), output.truncated, status


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """Make a folder for a run without a box, and remove it with whatever the run left in it."""
    folder = tempfile.mkdtemp(prefix="grading-")
    try:
        yield folder
    finally:
        discard(Path(folder))


def server_command(entry: str, number: str | None) -> list[str]:
    """Return the command that starts a function of `inside.server`, in a Python that ignores the user's settings."""
    numpy_folder = str(Path(np.__file__).parent.parent)
    code = START.format(entry, "" if number is None else ", int(sys.argv[4])")
    arguments = [str(HERE), numpy_folder, str(EXERCISES)] + ([] if number is None else [number])
    return [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", "-B", "-c", code, *arguments]


def child_environment() -> dict[str, str]:
    """Return the environment of student processes: fixed settings, and none of the grader's own variables."""
    names = ("SYSTEMROOT", "PATH", "TEMP") if os.name == "nt" else ("LD_LIBRARY_PATH",)  # for finding libraries
    inherited = {name: os.environ[name] for name in names if name in os.environ}
    return inherited | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LANG": "C.UTF-8",
                        "PYTHONIOENCODING": "utf-8:backslashreplace", "PYTHONUTF8": "1"}  # fmt: skip


def open_pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    """Return the two ends of a pipe. The stack closes the end for reading."""
    read_end, write_end = os.pipe()
    stack.callback(os.close, read_end)
    return read_end, write_end


def write_all(number: int, data: bytes) -> None:
    """Write all the data to a file descriptor, also if it accepts only a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(number, rest) :]


def close_and_wait(box: socket.socket) -> None:
    """Close our end of a box and wait for the other, which closes when every process of the box has ended."""
    with contextlib.suppress(OSError):
        box.shutdown(socket.SHUT_WR)
    box.settimeout(REMOVAL_TIME)
    try:
        while box.recv(65536):
            pass
    except TimeoutError as error:
        raise SandboxError("a box could not be closed") from error
    except ConnectionError:
        pass


class Watcher:
    """Watches one run. A single deadline covers everything, so sending output slowly gains no time."""

    def __init__(self, box: socket.socket, values: int, output: int, limits: Limits) -> None:
        self.box, self.values, self.output = box, values, output
        self.data = {values: bytearray(), output: bytearray()}
        self.most = {values: limits.values, output: MOST_PRINTED}
        self.truncated, self.over = False, False
        self.status: dict[str, Any] = {}
        self.deadline = time.monotonic() + limits.wall
        self.poll = select.poll()
        for number in (values, output, box.fileno()):
            self.poll.register(number, select.POLLIN | select.POLLHUP)

    def watch(self) -> tuple[bytes, bytes, bool, dict[str, Any]]:
        """Collect output until the run ends, or end it at its limits."""
        while not self.over:
            self.wait_for_event()
        if "failed" in self.status:
            raise SandboxError(self.status["failed"])
        self.read_rest()
        return bytes(self.data[self.values]), bytes(self.data[self.output]), self.truncated, self.status

    def wait_for_event(self) -> None:
        """Handle the next events, or the deadline."""
        left = self.deadline - time.monotonic()
        for number, _ in self.poll.poll(max(0.0, 1000 * left)):
            if number == self.box.fileno():
                message = self.box.recv(65536)
                self.status = (json.loads(message) if message else {"signal": int(signal.SIGKILL)}) | self.status
                self.over = True
            elif data := os.read(number, 1 << 18):
                self.store(number, data)
            else:
                self.poll.unregister(number)
        if left <= 0 and not self.over:  # a run that ended while the machine paused is over
            if self.status:
                raise SandboxError("a run could not be ended")
            self.stop("time")

    def store(self, number: int, data: bytes) -> None:
        """Store data up to its limit. Printing more is truncated; sending more values ends the run."""
        room = self.most[number] - len(self.data[number])
        self.data[number] += data[:room]
        if len(data) > room and number == self.output:
            self.truncated = True
        elif len(data) > room and not self.status:
            self.stop("flood")

    def stop(self, why: str) -> None:
        """Ask the supervisor to end the run, and give it time to do so."""
        self.status = {"end": why}
        self.box.shutdown(socket.SHUT_WR)
        self.deadline = time.monotonic() + CLOSING_TIME

    def read_rest(self) -> None:
        """Read the rest of the output after the end of the run."""
        for number, stored in self.data.items():
            os.set_blocking(number, False)
            with contextlib.suppress(BlockingIOError):
                while (room := self.most[number] - len(stored)) and (data := os.read(number, room)):
                    stored += data


class StreamReader(threading.Thread):
    """Thread that reads a stream to its end, and stores the beginning."""

    def __init__(self, stream: Any, most: int) -> None:
        super().__init__(daemon=True)
        self.stream, self.most, self.data, self.truncated = stream, most, bytearray(), False

    def run(self) -> None:
        """Read to the end."""
        with contextlib.suppress(OSError, ValueError):
            while part := self.stream.read1(1 << 16):
                room = self.most - len(self.data)
                self.data += part[:room]
                self.truncated = self.truncated or len(part) > room


def write_and_close(stream: Any, data: bytes) -> None:
    """Write data to a process, which may end before it has read everything."""
    with contextlib.suppress(OSError):
        stream.write(data)
        stream.close()


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a process and, if the system has process groups, every process in its group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        child.kill()
