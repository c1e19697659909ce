"""Supervisor of one box: runs the exercises of one submission one after the other, and removes everything they leave.

Supervisors and student processes are forks of one server, so Python and NumPy start once for many runs. At the level
*full* there is one process between them, the init process of a PID namespace: when it ends, the kernel ends every
process in the namespace. Each run has its own process and folder, and a student process cannot start another.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from . import linux
from .clearing import remove, set_aside

BOX = "/box"
ID_IN_NAMESPACE = 0
"""User and group ID of a student in a user namespace, which is used if the grader does not run as root."""


def supervise(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """Keep a box until the grader closes its end of `watch`. The other end closes when everything is removed."""
    linux.prctl(linux.SUBREAPER, 1)
    prepare_environment(box)
    if box["level"] == "user":
        linux.clear_bounding_set()
        serve_runs(box, watch, student)
        return
    enter_namespaces(box["uid"])
    child = os.fork()
    if child == 0:
        run_and_exit(partial(run_as_init, box, watch, student), watch)
    os.waitpid(child, 0)


def prepare_environment(box: dict[str, Any]) -> None:
    """Set the environment, the signal handlers and the seccomp program once for all student processes.

    A fork pays for all memory that it changes, so this is not done in each of them.
    """
    home = BOX if box["level"] == "full" else f"/boxes/{box['uid']}"
    os.environ.clear()
    os.environ.update({"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN if number in (signal.SIGINT, signal.SIGPIPE) else signal.SIG_DFL)
    linux.build_filter()


def serve_runs(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """Carry out the runs that arrive over `watch`, each in a new process and a new folder.

    The reply is the status of the process as JSON: exit code or signal, processor time, peak memory.
    """
    while True:
        message, numbers, _, _ = socket.recv_fds(watch, 65536, 3)
        if not message:
            return
        run = {**box, **json.loads(message)}
        make_folder(run)
        child = os.fork()
        if child == 0:
            values, feed, output = numbers
            files = {"values": values, "feed": feed, "output": output}
            run_and_exit(partial(become_student, run, files, student), watch)
        for number in numbers:
            os.close(number)
        status, by_itself = wait_for_student(run, child, watch)
        left = clean_up(run)
        with contextlib.suppress(OSError):  # the grader may have ended
            watch.sendall(json.dumps(status).encode())
        if left is not None:  # removing a large folder takes long, and its name is free already
            remove(left)
        if not by_itself:
            return


def run_and_exit(body: Callable[[], Any], watch: socket.socket, leave: Callable[[int], Any] = os._exit) -> None:
    """Run the body of a forked process, and exit; report an exception to the grader.

    `leave` is bound here, before student code runs and can replace `os._exit`.
    """
    try:
        body()
        leave(0)
    except BaseException as error:  # noqa: BLE001 - errors before the student's code starts are the grader's own
        with contextlib.suppress(OSError):
            watch.sendall(json.dumps({"failed": f"{type(error).__name__}: {error}"[:500]}).encode())
    finally:
        leave(70)


def wait_for_student(run: dict[str, Any], child: int, watch: socket.socket) -> tuple[dict[str, Any], bool]:
    """Wait for a student process, and return its status and whether it ended by itself.

    It is killed if the grader closes the box, or if it runs long after its time limit.
    """
    handle = os.pidfd_open(child)
    poll = select.poll()
    for each in (handle, watch.fileno()):
        poll.register(each, select.POLLIN | select.POLLHUP)
    events = dict(poll.poll(1000 * (run["wall"] + 5)))  # the grader enforces the limit; this is for when it cannot
    os.close(handle)
    if handle not in events:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    return exit_status(status, used), handle in events


def exit_status(status: int, used: Any) -> dict[str, Any]:
    """Return how a process ended: exit code or signal, processor time, peak memory."""
    end = ("signal", os.WTERMSIG(status)) if os.WIFSIGNALED(status) else ("code", os.WEXITSTATUS(status))
    return {"cpu": round(used.ru_utime + used.ru_stime, 3), "memory": used.ru_maxrss, end[0]: end[1]}


# The box ------------------------------------------------------------------------------------------------------------


def make_folder(run: dict[str, Any]) -> None:
    """Make the folder of a run: at *full* in memory, with limited size and number of files; at *user* on disk."""
    if run["level"] == "full":
        options = f"size={run['disk']},nr_inodes={run['inodes']},mode=0700"
        if run["uid"] is not None:
            options += f",uid={run['uid']},gid={run['uid']}"
        linux.mount("box", BOX, "tmpfs", linux.NO_SUID | linux.NO_DEV, options)
        return
    folder = folder_on_disk(run)
    if (left := set_aside(folder)) is not None:
        remove(left)
    folder.mkdir(mode=0o700)
    os.chown(folder, run["uid"], run["uid"])


def clean_up(run: dict[str, Any]) -> Path | None:
    """Kill all processes that a student left, and take the folder away. The filter should have prevented processes.

    Return the folder on disk that remains to be removed, under another name.
    """
    if run["level"] == "full":
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        reap_children(wait=True)
        linux.unmount(BOX)
        return None
    if has_processes(run["uid"]):
        kill_all_of(run["uid"])
    for kind, call in (("shm", "shmctl"), ("msg", "msgctl"), ("sem", "semctl")):
        remove_ipc_objects(kind, call, run["uid"])
    return set_aside(folder_on_disk(run))


def folder_on_disk(run: dict[str, Any]) -> Path:
    """Return the folder of a box at the level *user*."""
    return Path(run["root"], "boxes", str(run["uid"]))


def enter_namespaces(uid: int | None) -> None:
    """Move to new namespaces of every kind; without root's rights (`uid` is None) to a user namespace first."""
    if uid is not None:
        linux.unshare(linux.EVERY_NAMESPACE)
        return
    user, group = os.geteuid(), os.getegid()
    linux.unshare(linux.EVERY_NAMESPACE | linux.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{ID_IN_NAMESPACE} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{ID_IN_NAMESPACE} {group} 1", encoding="ascii")


def run_as_init(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """Serve runs as the first process of the PID namespace, with the chroot folder as the root."""
    linux.prctl(linux.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    linux.prctl(linux.SET_DUMPABLE, 0)
    os.setsid()
    enter_chroot(box["root"])
    linux.clear_bounding_set()
    serve_runs(box, watch, student)


def enter_chroot(root: str) -> None:
    """Make the chroot folder the root of the file system, read-only."""
    linux.mount("none", "/", None, linux.RECURSIVE | linux.PRIVATE)
    linux.mount(root, root, None, linux.BIND)
    linux.mount("none", root, None, linux.REMOUNT | linux.BIND | linux.READ_ONLY | linux.NO_SUID | linux.NO_DEV)
    linux.pivot_root(root)
    socket.sethostname("box")


# The student's process ----------------------------------------------------------------------------------------------


def become_student(run: dict[str, Any], files: dict[str, int], student: Callable[[], None]) -> None:
    """Drop all rights: another user, no capabilities, limits, its own folder, three open files. Then run `student`."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if run["level"] == "user":
        os.chroot(run["root"])
    os.chdir(os.environ["HOME"])
    set_limits(run)
    if run["uid"] is not None:
        os.setgroups([])
        os.setresgid(run["uid"], run["uid"], run["uid"])
        os.setresuid(run["uid"], run["uid"], run["uid"])
    linux.drop_capabilities()
    linux.prctl(linux.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    linux.prctl(linux.SET_DUMPABLE, 1)
    os.umask(0o077)
    set_descriptors(files)
    linux.install_filter()
    student()


def set_limits(run: dict[str, Any]) -> None:
    """Set the resource limits of this process."""
    seconds = max(1, round(run["cpu"]))
    memory = run["base"] + run["memory"]
    for name, soft, hard in (
        ("CPU", seconds, seconds + 1),
        ("AS", memory, memory),
        ("FSIZE", run["disk"], run["disk"]),
        ("NPROC", run["processes"], run["processes"]),
        ("NOFILE", run["files"], run["files"]),
        ("CORE", 0, 0),
        ("MEMLOCK", 0, 0),
        ("STACK", 1 << 23, 1 << 23),
        ("MSGQUEUE", 0, 0),
    ):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (soft, hard))


def set_descriptors(files: dict[str, int]) -> None:
    """Close every file except empty input, output, the pipe for values, and the feed, which get fixed numbers."""
    empty = os.open(os.devnull, os.O_RDONLY) if Path(os.devnull).exists() else empty_pipe()
    wanted = {0: empty, 1: files["output"], 2: files["output"], 3: files["values"], 4: files["feed"]}
    copies = {number: os.dup2(source, 20 + number, inheritable=False) for number, source in wanted.items()}
    for number, source in copies.items():
        os.dup2(source, number, inheritable=False)
    os.closerange(5, 1 << 16)


def empty_pipe() -> int:
    """Return a file descriptor at the end of its file, for `input()` to read."""
    read_end, write_end = os.pipe()
    os.close(write_end)
    return read_end


# Cleaning up at the level *user*, without namespaces ------------------------------------------------------------------


def kill_all_of(user: int) -> None:
    """Kill every process of a user ID. A child with that ID sends the signal, so it cannot reach other processes."""
    for _ in range(50):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(OSError):
                os.setresuid(user, user, user)
                os.kill(-1, signal.SIGKILL)
            os._exit(0)
        os.waitpid(child, 0)
        reap_children(wait=False)
        if not has_processes(user):
            break
        time.sleep(0.01)


def has_processes(user: int) -> bool:
    """Return whether a user ID has processes, including zombies. This process adopts and must reap those."""
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                return True
    return False


def remove_ipc_objects(kind: str, remove: str, user: int) -> None:
    """Remove a user's System V shared memory, queues or semaphores, which outlive processes."""
    with contextlib.suppress(OSError):
        header, *lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()
        names = header.split()
        for line in lines:
            row = dict(zip(names, line.split(), strict=False))
            if int(row["uid"]) == user:
                number = int(row["semid" if kind == "sem" else f"{kind}id"])
                getattr(linux.libc, remove)(number, 0, ctypes.c_long(0))


# The server ---------------------------------------------------------------------------------------------------------


def serve(control: socket.socket, student: Callable[[int], None]) -> None:
    """Fork a supervisor for each box that the grader requests, until the grader closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the grader, which decides what ends
    base = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    control.sendall(b"ready")
    while True:
        message, numbers, _, _ = socket.recv_fds(control, 65536, 1)
        reap_children(wait=not message)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            with socket.socket(fileno=numbers[0]) as watch:
                box = json.loads(message) | {"base": base}
                run_and_exit(partial(supervise, box, watch, partial(student, 3)), watch)
        os.close(numbers[0])


def reap_children(wait: bool) -> None:
    """Reap the children that have ended; with `wait`, wait for all."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            pass
