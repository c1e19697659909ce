"""What Linux's kernel is asked for that Python 3.11 has no name for: namespaces, mounts, and filters of system
calls."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from functools import cache
from typing import Any

NEW_NS, NEW_CGROUP, NEW_UTS, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = NEW_NS | NEW_CGROUP | NEW_UTS | NEW_IPC | NEW_PID | NEW_NET
READ_ONLY, NO_SUID, NO_DEV, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
DETACH = 2
SET_PARENT_DEATH_SIGNAL, SET_DUMPABLE, DROP_BOUND, SET_SECCOMP, SUBREAPER, NO_NEW_RIGHTS = 1, 4, 24, 22, 36, 38
CAPABILITY_VERSION, LAST_CAPABILITY = 0x20080522, 63

# By machine: its audit number, then the number of each system call. What is refused is what no exercise needs and what
# reaches beyond the process: sockets, memory that no limit counts, other processes and how they are run, namespaces,
# the kernel itself. No process is started, so what one may use is all that an answer may use.
CALLS = {
    "x86_64": (0xC000003E, {
        "socket": 41, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64,
        "mq_open": 240, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440,
        "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249,
        "io_uring_setup": 425, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155,
        "chroot": 161, "open_by_handle_at": 304, "init_module": 175, "finit_module": 313, "fork": 57, "vfork": 58,
        "setpriority": 141, "ioprio_set": 251, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setaffinity": 203, "sched_setattr": 314, "migrate_pages": 256, "move_pages": 279,
        "clone3": 435, "prlimit64": 302, "clone": 56,
    }),
    "aarch64": (0xC00000B7, {
        "socket": 198, "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "shmat": 196, "msgget": 186,
        "semget": 190, "mq_open": 180, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "process_madvise": 440, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "keyctl": 219, "add_key": 217,
        "request_key": 218, "io_uring_setup": 425, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "chroot": 51, "open_by_handle_at": 265, "init_module": 105, "finit_module": 273,
        "setpriority": 140, "ioprio_set": 30, "sched_setparam": 118, "sched_setscheduler": 119,
        "sched_setaffinity": 122, "sched_setattr": 274, "migrate_pages": 238, "move_pages": 239,
        "clone3": 435, "prlimit64": 261, "clone": 220,
    }),
}  # fmt: skip
THREAD = 0x00010000
"""Of `clone`: what is started belongs to the process that starts it."""

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def asked(answer: int, what: str) -> int:
    """What the kernel answered, or its error as Python's."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return answer


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent for new ones; of processes, for the children that come."""
    asked(libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Show a file system at a place."""
    given = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    asked(libc.mount(*given, ctypes.c_ulong(flags), os.fsencode(options)), f"mount {target}")


def unmount(target: str) -> None:
    """Let go of a file system, which ends with those who still use it."""
    asked(libc.umount2(os.fsencode(target), DETACH), f"umount {target}")


def pivot(root: str) -> None:
    """Make a folder the root, and let go of all that lay outside it."""
    number = CALLS[platform.machine()][1]["pivot_root"]
    os.chdir(root)
    asked(libc.syscall(number, b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def control(option: int, value: int = 0) -> int:
    """`prctl`, with one number."""
    return libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def drop_bound() -> None:
    """Give up every capability for whatever is started, for good; those that this process has, it keeps."""
    for number in range(LAST_CAPABILITY + 1):
        control(DROP_BOUND, number)  # those beyond the kernel's last are refused, and none are missing


def drop_rights() -> None:
    """Give up every capability, for good, and what programs with the set-user-id bit would give."""
    asked(control(NO_NEW_RIGHTS, 1), "no_new_privs")
    head = struct.pack("Ii", CAPABILITY_VERSION, 0)
    asked(libc.capset(head, bytes(24)), "capset")


def machine_is_known() -> bool:
    """Whether the numbers of this machine's system calls are in the table."""
    return sys.platform == "linux" and platform.machine() in CALLS and sys.maxsize > 2**32


@cache
def prepare_filter() -> tuple[Any, bytes]:
    """The program that looks at each system call, in memory that stays, and its description for the kernel."""
    audit, numbers = CALLS[platform.machine()]
    load, equal, many, answer, masked = 0x20, 0x15, 0x45, 0x06, 0x80000000
    allow, kill, refuse, unknown = 0x7FFF0000, masked, 0x00050000 | 1, 0x00050000 | 38
    code = [(load, 0, 0, 4), (equal, 1, 0, audit), (answer, 0, 0, kill), (load, 0, 0, 0)]
    if platform.machine() == "x86_64":  # the calls of the x32 interface have other numbers
        code += [(0x35, 0, 1, 0x40000000), (answer, 0, 0, kill)]
    for name, number in numbers.items():
        if name == "clone":  # threads are allowed; processes are not, nor new namespaces
            spaces = EVERY_NAMESPACE | NEW_USER
            code += [(equal, 0, 5, number), (load, 0, 0, 16), (many, 1, 0, spaces), (many, 1, 0, THREAD),
                     (answer, 0, 0, refuse), (answer, 0, 0, allow)]  # fmt: skip
        elif name == "prlimit64":  # a process's own limits are its to lower
            code += [(equal, 0, 4, number), (load, 0, 0, 16), (equal, 1, 0, 0), (answer, 0, 0, refuse),
                     (answer, 0, 0, allow)]  # fmt: skip
        else:
            code += [(equal, 0, 1, number), (answer, 0, 0, unknown if name == "clone3" else refuse)]
    code.append((answer, 0, 0, allow))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    return program, struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))


def filter_calls() -> None:
    """Refuse the calls of the table to this process and to all that it starts, for good."""
    described = prepare_filter()[1]
    asked(control(NO_NEW_RIGHTS, 1), "no_new_privs")
    asked(libc.prctl(SET_SECCOMP, ctypes.c_ulong(2), ctypes.c_char_p(described), 0, 0), "seccomp")
