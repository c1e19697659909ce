"""The warden: a process of the grader's own that keeps the box of one submission, in which its exercises are run one
after the other, and clears it away with everything that was started in it.

Warden and students are forks of one server, so Python and NumPy are started once for many. At the level *full* there is
one more between them, the first process of a namespace of its own: when it ends, the kernel ends everything else there.
Each exercise has a process and a folder of its own, and no process of a student can start another.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from . import linux

BOX = "/box"
INSIDE = 0
"""The user id that a student has inside a user namespace, where the grader is nobody in particular outside."""


def guard(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """Keep a box until the grader lets go of `watch`; whoever holds its other end then knows that all is cleared
    away."""
    linux.control(linux.SUBREAPER, 1)
    as_all_find_it(box)
    if box["level"] == "user":
        linux.drop_bound()
        attend(box, watch, student)
        return
    into_namespaces(box)
    child = os.fork()
    if child == 0:
        fenced(partial(first_of_namespace, box, watch, student), watch)
    os.waitpid(child, 0)


def as_all_find_it(box: dict[str, Any]) -> None:
    """What every student's process finds, put there once, since a fork pays for all that it changes itself: the
    environment, what signals do, and no way to rights."""
    home = BOX if box["level"] == "full" else f"/boxes/{box['uid']}"
    os.environ.clear()
    os.environ.update({"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"})
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN if number in (signal.SIGINT, signal.SIGPIPE) else signal.SIG_DFL)
    linux.prepare_filter()


def attend(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """Run the jobs that come in over `watch`, one after the other, each in a process and a folder of its own.

    What became of each goes back as JSON: the exit status or signal, the processor time, the largest memory.
    """
    while True:
        message, numbers, _, _ = socket.recv_fds(watch, 65536, 3)
        if not message:
            return
        job = {**box, **json.loads(message)}
        furnish(job)
        child = os.fork()
        if child == 0:
            values, feed, output = numbers
            files = {"values": values, "feed": feed, "output": output}
            fenced(partial(as_student, job, files, student), watch)
        for number in numbers:
            os.close(number)
        told, goes_on = waited(job, child, watch)
        clear(job)
        with contextlib.suppress(OSError):  # a grader that has ended wants to hear nothing
            watch.sendall(json.dumps(told).encode())
        if not goes_on:
            return


def fenced(body: Callable[[], Any], watch: socket.socket) -> None:
    """Run the grader's own part of a fork, which never returns into the program that was forked."""
    try:
        body()
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - whatever went wrong before the student's code began is the grader's
        with contextlib.suppress(OSError):
            watch.sendall(json.dumps({"failed": f"{type(error).__name__}: {error}"[:500]}).encode())
    finally:
        os._exit(70)


def waited(job: dict[str, Any], child: int, watch: socket.socket) -> tuple[dict[str, Any], bool]:
    """How the student's process ended, and whether it did so by itself: else the grader let go of the box, or its time
    was long over, and it was ended from here."""
    handle = os.pidfd_open(child)
    looked_at = select.poll()
    for each in (handle, watch.fileno()):
        looked_at.register(each, select.POLLIN | select.POLLHUP)
    happened = dict(looked_at.poll(1000 * (job["wall"] + 5)))  # the grader keeps the time; this is for when it cannot
    os.close(handle)
    if handle not in happened:
        os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    return described(status, used), handle in happened


def described(status: int, used: Any) -> dict[str, Any]:
    """How a process ended, in numbers."""
    told: dict[str, Any] = {"cpu": round(used.ru_utime + used.ru_stime, 3), "memory": used.ru_maxrss}
    told["signal" if os.WIFSIGNALED(status) else "code"] = (
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    )
    return told


# The box ------------------------------------------------------------------------------------------------------------


def furnish(job: dict[str, Any]) -> None:
    """A folder for one exercise: at *full* one that exists in memory alone, of a fixed size and number of files, at
    *user* one on the disk."""
    if job["level"] == "full":
        size = f"size={job['disk']},nr_inodes={job['inodes']},mode=0700"
        if job["uid"] is not None:
            size += f",uid={job['uid']},gid={job['uid']}"
        linux.mount("box", BOX, "tmpfs", linux.NO_SUID | linux.NO_DEV, size)
        return
    box = folder_of(job)
    shutil.rmtree(box, ignore_errors=True)
    box.mkdir(mode=0o700)
    os.chown(box, job["uid"], job["uid"])


def clear(job: dict[str, Any]) -> None:
    """End what a student may have left, and take the folder away. The filter lets no student's process start another,
    so there should be none: here is seen to it."""
    if job["level"] == "full":
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        bury(wait=True)
        linux.unmount(BOX)
        return
    if lives(job["uid"]):
        end_all_of(job["uid"])
    for kind, remove in (("shm", "shmctl"), ("msg", "msgctl"), ("sem", "semctl")):
        remove_shared(kind, remove, job["uid"])
    shutil.rmtree(folder_of(job), ignore_errors=True)


def folder_of(job: dict[str, Any]) -> Path:
    """Where the folder of a slot lies at *user*."""
    return Path(job["jail"], "boxes", str(job["uid"]))


def into_namespaces(job: dict[str, Any]) -> None:
    """Leave every namespace; without root's rights into a user namespace first, in which one user id is known."""
    if job["uid"] is not None:
        linux.unshare(linux.EVERY_NAMESPACE)
        return
    user, group = os.geteuid(), os.getegid()
    linux.unshare(linux.EVERY_NAMESPACE | linux.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1", encoding="ascii")


def first_of_namespace(box: dict[str, Any], watch: socket.socket, student: Callable[[], None]) -> None:
    """The first process of the namespace: it has the jail as its root, and runs what comes in."""
    linux.control(linux.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    linux.control(linux.SET_DUMPABLE, 0)
    os.setsid()
    enter(box["jail"])
    linux.drop_bound()
    attend(box, watch, student)


def enter(root: str) -> None:
    """Make the jail the root; it cannot be written."""
    linux.mount("none", "/", None, linux.RECURSIVE | linux.PRIVATE)
    linux.mount(root, root, None, linux.BIND)
    linux.mount("none", root, None, linux.REMOUNT | linux.BIND | linux.READ_ONLY | linux.NO_SUID | linux.NO_DEV)
    linux.pivot(root)
    socket.sethostname("box")


# The student's process ----------------------------------------------------------------------------------------------


def as_student(job: dict[str, Any], files: dict[str, int], student: Callable[[], None]) -> None:
    """Become the student: another user without rights, with limits, in its folder, holding three files; then begin."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if job["level"] == "user":
        os.chroot(job["jail"])
    os.chdir(os.environ["HOME"])
    limited(job)
    if job["uid"] is not None:
        os.setgroups([])
        os.setresgid(job["uid"], job["uid"], job["uid"])
        os.setresuid(job["uid"], job["uid"], job["uid"])
    linux.drop_rights()
    linux.control(linux.SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    linux.control(linux.SET_DUMPABLE, 1)
    os.umask(0o077)
    held(files)
    linux.filter_calls()
    student()


def limited(job: dict[str, Any]) -> None:
    """The limits that the kernel itself keeps."""
    seconds = max(1, round(job["cpu"]))
    now = job["base"]
    for name, soft, hard in (
        ("CPU", seconds, seconds + 1),
        ("AS", now + job["memory"], now + job["memory"]),
        ("FSIZE", job["disk"], job["disk"]),
        ("NPROC", job["processes"], job["processes"]),
        ("NOFILE", job["files"], job["files"]),
        ("CORE", 0, 0),
        ("MEMLOCK", 0, 0),
        ("STACK", 1 << 23, 1 << 23),
        ("MSGQUEUE", 0, 0),
    ):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (soft, hard))


def held(files: dict[str, int]) -> None:
    """Hold nothing open but the answers' pipe, the job, and the pipe of what is printed, under fixed numbers."""
    wanted = {0: os.open(os.devnull, os.O_RDONLY) if Path(os.devnull).exists() else nothing(), 1: files["output"],
              2: files["output"], 3: files["values"], 4: files["feed"]}  # fmt: skip
    kept = {number: os.dup2(source, 20 + number, inheritable=False) for number, source in wanted.items()}
    for number, source in kept.items():
        os.dup2(source, number, inheritable=False)
    os.closerange(5, 1 << 16)


def nothing() -> int:
    """A file that is at its end: what `input()` reads."""
    read_end, write_end = os.pipe()
    os.close(write_end)
    return read_end


# Clearing up at *user*, where no namespace does -----------------------------------------------------------------------


def end_all_of(user: int) -> None:
    """End every process of a user id, which one slot has to itself: as that user, who may signal no others."""
    for _ in range(50):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(OSError):
                os.setresuid(user, user, user)
                os.kill(-1, signal.SIGKILL)
            os._exit(0)
        os.waitpid(child, 0)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not lives(user):
            break
        time.sleep(0.01)


def lives(user: int) -> bool:
    """Whether a process of that user id is left. One that has ended is, until its parent knows: this process takes in
    orphans and must not leave before it has buried them, or they stay where nobody looks after them."""
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == user:
                return True
    return False


def remove_shared(kind: str, remove: str, user: int) -> None:
    """Remove memory, queues and semaphores of the older kind, which outlive processes."""
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
    """Fork a warden for each box that is asked for, until the grader goes away."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader, which gets it too, decides what is to end
    base = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    control.sendall(b"ready")
    while True:
        message, numbers, _, _ = socket.recv_fds(control, 65536, 1)
        bury(wait=not message)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            with socket.socket(fileno=numbers[0]) as watch:
                fenced(partial(guard, json.loads(message) | {"base": base}, watch, partial(student, 3)), watch)
        os.close(numbers[0])


def bury(wait: bool) -> None:
    """Take note of the children that have ended: what they used is then counted as this process's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0 if wait else os.WNOHANG)[0]:
            pass

