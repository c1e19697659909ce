"""Linux system calls that Python 3.11 does not wrap: namespaces, mounts, capabilities and seccomp filters."""

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

# For each machine, its audit number and the numbers of the system calls that the filter refuses. No exercise needs
# them, and they reach beyond the process: sockets, memory that no limit counts, other processes and their scheduling,
# namespaces, the kernel itself, and locks on the library's files, which all boxes share. An answer cannot start a
# process, so the limits of its process hold for all it does.
REFUSED_CALLS = {
    "x86_64": (0xC000003E, {
        "socket": 41, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64,
        "mq_open": 240, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440,
        "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249,
        "io_uring_setup": 425, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155,
        "chroot": 161, "open_by_handle_at": 304, "init_module": 175, "finit_module": 313, "fork": 57, "vfork": 58,
        "setpriority": 141, "ioprio_set": 251, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setaffinity": 203, "sched_setattr": 314, "migrate_pages": 256, "move_pages": 279,
        "flock": 73, "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300,
        "clone3": 435, "prlimit64": 302, "clone": 56, "fcntl": 72,
    }),
    "aarch64": (0xC00000B7, {
        "socket": 198, "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "shmat": 196, "msgget": 186,
        "semget": 190, "mq_open": 180, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "process_madvise": 440, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "keyctl": 219, "add_key": 217,
        "request_key": 218, "io_uring_setup": 425, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "chroot": 51, "open_by_handle_at": 265, "init_module": 105, "finit_module": 273,
        "setpriority": 140, "ioprio_set": 30, "sched_setparam": 118, "sched_setscheduler": 119,
        "sched_setaffinity": 122, "sched_setattr": 274, "migrate_pages": 238, "move_pages": 239,
        "flock": 32, "inotify_init1": 26, "fanotify_init": 262,
        "clone3": 435, "prlimit64": 261, "clone": 220, "fcntl": 25,
    }),
}  # fmt: skip
SHARED_COMMANDS = (5, 6, 7, 36, 37, 38, 1024, 1026)
"""Commands of `fcntl` for locks, leases and notices, through which two boxes could exchange messages."""
THREAD = 0x00010000
"""Flag of `clone` for a thread of the same process."""

libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def check(status: int, call: str) -> int:
    """Return the result of a system call; raise OSError if it failed."""
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return status


def unshare(flags: int) -> None:
    """Move to new namespaces. A new PID namespace holds only for children started later."""
    check(libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system."""
    names = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    check(libc.mount(*names, ctypes.c_ulong(flags), os.fsencode(options)), f"mount {target}")


def unmount(target: str) -> None:
    """Detach a file system. It disappears with its last user."""
    check(libc.umount2(os.fsencode(target), DETACH), f"umount {target}")


def pivot_root(root: str) -> None:
    """Make a folder the root of the file system, and detach everything outside it."""
    number = REFUSED_CALLS[platform.machine()][1]["pivot_root"]
    os.chdir(root)
    check(libc.syscall(number, b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def prctl(option: int, value: int = 0) -> int:
    """Call `prctl` with one number."""
    return libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def clear_bounding_set() -> None:
    """Prevent programs started later from gaining any capability. This process keeps the ones that it has."""
    for number in range(LAST_CAPABILITY + 1):
        prctl(DROP_BOUND, number)  # numbers above the kernel's last capability fail, which is fine


def drop_capabilities() -> None:
    """Drop every capability permanently, and ignore set-user-ID bits."""
    check(prctl(NO_NEW_RIGHTS, 1), "no_new_privs")
    head = struct.pack("Ii", CAPABILITY_VERSION, 0)
    check(libc.capset(head, bytes(24)), "capset")


def is_supported() -> bool:
    """Return whether this is Linux on a machine for which the numbers of system calls are known."""
    return sys.platform == "linux" and platform.machine() in REFUSED_CALLS and sys.maxsize > 2**32


@cache
def build_filter() -> tuple[Any, bytes]:
    """Return the seccomp program, in memory that must stay alive, and the structure that describes it."""
    audit, numbers = REFUSED_CALLS[platform.machine()]
    load, equal, any_bit, give = 0x20, 0x15, 0x45, 0x06
    allow, kill, refuse, unknown = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38
    code = [(load, 0, 0, 4), (equal, 1, 0, audit), (give, 0, 0, kill), (load, 0, 0, 0)]
    if platform.machine() == "x86_64":  # system calls of the x32 ABI have other numbers
        code += [(0x35, 0, 1, 0x40000000), (give, 0, 0, kill)]
    for name, number in numbers.items():
        if name == "clone":  # allows threads; refuses processes and new namespaces
            spaces = EVERY_NAMESPACE | NEW_USER
            code += [(equal, 0, 5, number), (load, 0, 0, 16), (any_bit, 1, 0, spaces), (any_bit, 1, 0, THREAD),
                     (give, 0, 0, refuse), (give, 0, 0, allow)]  # fmt: skip
        elif name == "prlimit64":  # allows a process to lower its own limits
            code += [(equal, 0, 4, number), (load, 0, 0, 16), (equal, 1, 0, 0), (give, 0, 0, refuse),
                     (give, 0, 0, allow)]  # fmt: skip
        elif name == "fcntl":
            count = len(SHARED_COMMANDS)
            code += [(equal, 0, count + 3, number), (load, 0, 0, 24)]
            code += [(equal, count - place, 0, command) for place, command in enumerate(SHARED_COMMANDS)]
            code += [(give, 0, 0, allow), (give, 0, 0, refuse)]
        else:
            code += [(equal, 0, 1, number), (give, 0, 0, unknown if name == "clone3" else refuse)]
    code.append((give, 0, 0, allow))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    return program, struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))


def install_filter() -> None:
    """Refuse the calls in the table permanently, in this process and its children."""
    program = build_filter()[1]
    check(prctl(NO_NEW_RIGHTS, 1), "no_new_privs")
    check(libc.prctl(SET_SECCOMP, ctypes.c_ulong(2), ctypes.c_char_p(program), 0, 0), "seccomp")
