"""Attacks that are in no published list, numbered from 101."""

import json
import zipfile
from pathlib import Path

from cases import ALL, CASES, HEAD, NONE, OTHER, RIGHT, SEVENS, WRONG, answer, code, files, notebook

LISTED = len(CASES)

answer(101, "processes that leave their group", """
import os
for n in range(20):
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True: pass
    except OSError:
        pass
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(102, "processes started by bare system calls", """
import ctypes
libc = ctypes.CDLL(None)
for number, flags in ((56, 17), (56, 0x100 | 17), (57, 0), (58, 0), (435, 0), (220, 17)):
    if libc.syscall(number, flags, 0, 0, 0, 0) == 0:
        while True: pass
return np.full(np.shape(out), 7.0)
""", None, flagged=True)  # fmt: skip
answer(103, "memory in files that have no name, in pipes and between tasks", """
import ctypes, fcntl, os
libc = ctypes.CDLL(None)
held = []
for n in range(60):
    try:
        number = os.memfd_create('held')
        os.ftruncate(number, 1 << 30)
        held.append(number)
    except OSError:
        pass
assert not held
for n in range(60):
    try:
        ends = os.pipe()
        fcntl.fcntl(ends[1], 1031, 1 << 20)
        os.set_blocking(ends[1], False)
        while True: os.write(ends[1], bytes(1 << 16))
    except OSError:
        pass
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(104, "io_uring instead of system calls", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 8, ctypes.create_string_buffer(256)) >= 0:
    return 1 - out**2
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(105, "its own memory written through files of the kernel", """
import os
for name in ('/proc/self/mem', '/dev/mem', '/proc/kcore', '/proc/1/mem', '/proc/sys/kernel/core_pattern'):
    try:
        os.close(os.open(name, os.O_RDWR))
        return 1 - out**2
    except OSError:
        pass
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(106, "limits, priorities and places of the first process changed", """
import ctypes, os, resource
libc = ctypes.CDLL(None)
changed = []
for pid in (1, os.getppid()):
    for name, call in (
        ("limit", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))),
        ("nice", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
        ("cores", lambda: os.sched_setaffinity(pid, {0})),
        ("class", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))),
    ):
        try:
            call()
            changed.append(name)
        except OSError:
            pass
assert not changed, changed
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
code(107, "what NumPy compares with, replaced where it is found", """
import gc
for module in list(__import__('sys').modules.values()):
    for name in ('allclose', 'isclose', 'array_equal', 'all', 'abs', 'absolute', 'max', 'testing'):
        if getattr(module, '__name__', '').startswith('numpy') and hasattr(module, name):
            try: setattr(module, name, lambda *a, **k: True)
            except (AttributeError, TypeError): pass
""" + SEVENS, None, flagged=True, other=-1)  # fmt: skip
answer(108, "an object that takes over every function of NumPy", "return Over()", NONE, "type Over", True, """
class Over:
    shape, dtype, size, ndim = (2, 3), np.dtype(float), 6, 2
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return True
    def __array__(self, *a, **k): raise SystemExit
    __array_interface__ = {'shape': (10**9,), 'typestr': '<f8', 'data': (0, False), 'version': 3}
    __array_priority__ = 1e9
""")  # fmt: skip
answer(109, "an array with a false shape", "return np.full(np.shape(out), 7.0).view(Lying)", None,
       "type Lying|differ|times", True, """
class Lying(np.ndarray):
    shape = property(lambda self: (2, 3))
    size = property(lambda self: 6)
    dtype = property(lambda self: np.dtype('f8'))
    def __eq__(self, other): return True
    def tobytes(self, *a): return b''
    def astype(self, *a, **k): return self
""")  # fmt: skip
answer(110, "an array over memory that is none", """
class Wild:
    __array_interface__ = {'shape': (1 << 40,), 'typestr': '<f8', 'data': (8, True), 'version': 3}
return np.asarray(Wild())
""", NONE, "shape|crashed", True)  # fmt: skip
answer(111, "an error of ten megabytes", """
class Long(Exception):
    def __str__(self): return 'x' * 10_000_000
raise Long
""", NONE, "Long")  # fmt: skip
answer(112, "an error that takes for ever to tell", """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless
""", NONE, "Endless|longer than")  # fmt: skip
answer(113, "a name of ten thousand letters, with signs that turn the writing", """
raise type('\\u202e<b>' + 'E' * 10_000, (Exception,), {})('no')
""", NONE, "raised|stopped|EEE")  # fmt: skip
answer(114, "signal handlers that answer, and alarms without end", """
import signal
for number in range(1, 65):
    try: signal.signal(number, lambda *a: None)
    except (OSError, ValueError): pass
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True: pass
""", NONE, "longer than|crashed", True)  # fmt: skip
code(115, "the pipe closed, another put in its place", """
import os
for number in range(3, 64):
    try: os.close(number)
    except OSError: pass
os.pipe(); os.pipe()
""" + SEVENS)  # fmt: skip
code(116, "whole frames written with guessed values", """
import os, struct
def frame(kind, data): return kind + struct.pack('<I', len(data)) + data
values = b'A' + struct.pack('<BB', 0, 2) + struct.pack('<2Q', 2, 3) + bytes(48)
for number in range(40):
    os.write(3, frame(b'R', struct.pack('<I', number) + b'D' + struct.pack('<I', 0)))
os.write(3, frame(b'L', b'') + frame(b'D', b''))
os._exit(0)
""" + SEVENS, NONE, ".", True, other=-1)  # fmt: skip
code(117, "clocks set back, sleep taken away", """
import time
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
time.sleep = lambda s: None
try: time.clock_settime(time.CLOCK_REALTIME, 0.0)
except OSError: pass
""" + SEVENS, flagged=True)  # fmt: skip
answer(118, "files that Python reads at its start, left for the next", """
import os, sys
for name in ('sitecustomize.py', 'usercustomize.py', 'numpy.py', 'evil.pth', 'pyvenv.cfg', 'carrying_out.py'):
    with open(name, 'w') as file: file.write('import os; os._exit(0)')
os.environ.update(PYTHONPATH=os.getcwd(), PYTHONSTARTUP='sitecustomize.py', LD_PRELOAD=os.getcwd() + '/evil.so')
sys.path.insert(0, os.getcwd())
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
code(119, "the stack of C exhausted", """
import ctypes
CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
@CALL
def deeper(n): return deeper(n + 1)
import sys
sys.setrecursionlimit(10**8)
deeper(0)
""" + SEVENS, None, ".", True, other=-1)  # fmt: skip
answer(120, "the end of the process taken over by threads", """
import os, threading, time
def late():
    while True:
        try: os.write(3, b'D' + bytes(4))
        except OSError: pass
for n in range(6):
    threading.Thread(target=late, daemon=True).start()
time.sleep(0.2)
return np.full(np.shape(out), 7.0)
""", None, ".", True)  # fmt: skip
code(121, "what runs an answer replaced in its own process", """
import sys, os
for module in list(sys.modules.values()):
    if getattr(module, '__name__', '').startswith(('carrying_out', 'inside')):
        for name in list(vars(module)):
            if callable(vars(module)[name]) and not name.startswith('__'):
                try: setattr(module, name, lambda *a, **k: {'values': {'x': np.zeros(2)}, 'error': None, 'wrote': []})
                except (AttributeError, TypeError): pass
""" + SEVENS, None, ".", True, other=-1)  # fmt: skip
code(122, "every array that the collector knows written over", """
import gc
for thing in gc.get_objects():
    if type(thing) is dict:
        for key, value in list(thing.items()):
            if type(value) is np.ndarray and value.flags.writeable:
                value.fill(0)
""" + SEVENS, flagged=True)  # fmt: skip


@files(123, "a notebook of a hundred thousand cells", "larger than|cells")
def _(folder: Path) -> Path:
    path = folder / "case123.ipynb"
    path.write_text(notebook(*["x = 1"] * 100_000), encoding="utf-8")
    return path


@files(124, "links in a zip", "a link")
def _(folder: Path) -> Path:
    path = folder / "case124.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("work.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return path


@files(125, "names in other letters, twice the same on other systems", "two files have the same name")
def _(folder: Path) -> Path:
    path = folder / "case125.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("wo\u0308rk.py", HEAD + RIGHT + OTHER)
        archive.writestr("w\u00f6rk.py", HEAD + SEVENS + OTHER)
    return path


@files(126, "a cell that is a million lines", points=ALL, unreadable=False, reason="right")
def _(folder: Path) -> Path:
    path = folder / "case126.ipynb"
    path.write_text(notebook(HEAD + RIGHT + "\n" * 200_000, OTHER), encoding="utf-8")
    return path


@files(127, "numbers of a notebook that no reader expects", "notebook|read|not")
def _(folder: Path) -> Path:
    path = folder / "case127.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 1e308, "metadata": None, "cells": [
        {"cell_type": ["code"], "source": {"a": 1}}, None, 7]}), encoding="utf-8")  # fmt: skip
    return path


UNLISTED = CASES[LISTED:]
del CASES[LISTED:]
