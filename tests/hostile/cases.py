"""The 98 listed cases: a submission, and the points and the reason that it must get.

Every submission answers two exercises. The answer to `tanh.x` attacks the grader; the answer to `exp.x` is right and
must keep its marks. An attacking answer gets the points of a wrong answer with the right shape (`WRONG`), no points if
it returns nothing (`NONE`), or all points if it is right (`ALL`).
"""

import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from micrograd_plus import exercises

NONE, WRONG, ALL = 0.0, 1.0, 10.0
HEAD = "import numpy as np\nfrom micrograd_plus import exercises\n\n"
OTHER = '\n\n@exercises.answer("exp.x")\ndef exp_x(out):\n    return out\n'
SEVENS = '\n\n@exercises.answer("tanh.x")\ndef tanh_x(out):\n    return np.full(np.shape(out), 7.0)\n'
RIGHT = '\n\n@exercises.answer("tanh.x")\ndef tanh_x(out):\n    return 1 - out**2\n'


@dataclass
class Case:
    """A submission and its expected marks."""

    number: int
    title: str
    write: Callable[[Path], Path]
    """Write the submission into a folder, and return its path."""
    points: float | None
    """None: any points except all of them."""
    reason: str = "."
    flagged: bool = False
    unreadable: bool = False
    other: float = ALL
    """The points of the other answer; -1: any."""


CASES: list[Case] = []


def code(number: int, title: str, source: str, points: float | None = WRONG, reason: str = ".", flagged: bool = False,
         other: float = ALL, head: str = HEAD, after: str = OTHER) -> None:  # fmt: skip
    """Add a case that is one program."""

    def write(folder: Path) -> Path:
        path = folder / f"case{number}.py"
        path.write_text(head + source + after, encoding="utf-8")
        return path

    CASES.append(Case(number, title, write, points, reason, flagged, False, other))


def answer(number: int, title: str, body: str, points: float | None = WRONG, reason: str = ".", flagged: bool = False,
           before: str = "", **more: Any) -> None:  # fmt: skip
    """Add a case that is the body of a function of `out`."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    source = f'{before}\n@exercises.answer("tanh.x")\ndef tanh_x(out):\n{lines}\n'
    code(number, title, source, points, reason, flagged, **more)


def files(number: int, title: str, reason: str = ".", points: float | None = NONE, flagged: bool = False,
          unreadable: bool = True) -> Callable[[Callable[[Path], Path]], None]:  # fmt: skip
    """Add a case whose files are written by the decorated function."""

    def add(write: Callable[[Path], Path]) -> None:
        CASES.append(Case(number, title, write, points, reason, flagged, unreadable, NONE if unreadable else ALL))

    return add


def notebook(*sources: Any, **more: Any) -> str:
    """Return a notebook of code cells."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": each}
             if not isinstance(each, dict) else each for each in sources]  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells} | more)


# A. Forging the comparison --------------------------------------------------------------------------------------------

AGREES = """
class Agrees:
    def __eq__(self, other): return True
    def __sub__(self, other): return self
    def __abs__(self): return self
    def __lt__(self, other): return True
    def __le__(self, other): return True
    __hash__ = None
"""
answer(1, "an object that always agrees", "return Agrees()", NONE, "type Agrees", True, AGREES)
answer(2, "a subclass of arrays that answers True", "return np.full(np.shape(out), 7.0).view(Agreeing)", None,
       "type Agreeing|differ|times", True, """
class Agreeing(np.ndarray):
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return True
""")  # fmt: skip
answer(3, "a subclass of a NumPy scalar", "return Scalar(7.0)", None, "shape|differ|type|times", True, """
class Scalar(np.float64):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __hash__ = None
""")  # fmt: skip
answer(4, "an object that answers otherwise at each call", "return Changing()", NONE, "type Changing", True, """
class Changing:
    asked = 0
    def __array__(self, *a, **k):
        Changing.asked += 1
        return np.full(3, float(Changing.asked))
    def __float__(self): return 1.0
    def __len__(self): return 3
""")  # fmt: skip
answer(5, "an array of such objects", "a = np.empty(np.shape(out), object); a.fill(Agrees()); return a", NONE,
       "array of numbers|no array", False, AGREES)  # fmt: skip
answer(6, "NaN everywhere", "return np.full(np.shape(out), np.nan)", WRONG, "are nan or infinite")
answer(7, "infinity everywhere", "return np.full(np.shape(out), np.inf)", WRONG, "no number|inf|differ")
answer(8, "a scalar that broadcasts", "return 0.25", None, "shape|differ|times")
answer(9, "an axis too many", "return np.asarray(1 - out**2)[..., None]", None, "shape")
answer(10, "an empty array", "return np.zeros((0,))", NONE, "shape")
answer(11, "complex numbers of the right values", "return (1 - out**2) + 0j", None, "complex")
answer(12, "values that a loose tolerance accepts", "return (1 - out**2) * (1 + 1e-7)", None, "off by|times|differ")
answer(13, "a generator", "return (each for each in np.ravel(out))", NONE, "type generator")
answer(14, "the input itself, changed later", """
result = np.asarray(out)
import threading
threading.Thread(target=lambda: result.fill(0.0), daemon=True).start()
return result
""", None)  # fmt: skip

# B. Tampering with the grader from inside -----------------------------------------------------------------------------

code(15, "np.allclose always true", "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True" + SEVENS,
     flagged=True)  # fmt: skip
code(16, "functions of __main__ replaced", """
import sys
for name in list(vars(sys.modules['__main__'])):
    if callable(vars(sys.modules['__main__'])[name]) and name not in ('exercises',):
        setattr(sys.modules['__main__'], name, lambda *a, **k: True)
""" + SEVENS, flagged=True)  # fmt: skip
code(
    17, "a NumPy function that a reference would use", "np.tanh = np.exp = lambda x: x * 0 + 7.0" + SEVENS, flagged=True
)
code(18, "json.dump says full marks", """
import json
real = json.dumps
json.dump = json.dumps = lambda *a, **k: real({"score": 10, "passed": True})
""" + SEVENS, flagged=True)  # fmt: skip
code(19, "builtins replaced", """
import builtins
for name in ("open", "print", "isinstance", "float", "len", "sum", "abs"):
    setattr(builtins, name, lambda *a, **k: True)
""" + SEVENS, None, flagged=True, other=-1)  # fmt: skip
code(20, "the checking helper defined anew", "class Yes:\n    def check(self, *a): return 'All tests passed!'\n"
     "grader = Yes()\ncheck = grader.check\n" + SEVENS, flagged=True)  # fmt: skip
code(21, "errors are no longer shown", """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.showtraceback = lambda *a, **k: None
""" + SEVENS, flagged=True)  # fmt: skip


@files(22, "test frameworks patched, a conftest.py beside", points=WRONG, flagged=True, unreadable=False)
def _(folder: Path) -> Path:
    here = folder / "case22"
    here.mkdir()
    (here / "conftest.py").write_text("def pytest_runtest_makereport(*a): raise SystemExit(0)\n", encoding="utf-8")
    patched = "import unittest\nunittest.TestCase.assertTrue = lambda *a: None\n"
    (here / "work.py").write_text(HEAD + patched + SEVENS + OTHER, encoding="utf-8")
    return here


@files(23, "files named like modules", points=WRONG, flagged=True, unreadable=False)
def _(folder: Path) -> Path:
    here = folder / "case23"
    here.mkdir()
    for name in ("numpy.py", "json.py", "random.py", "sitecustomize.py", "usercustomize.py", "evil.pth"):
        (here / name).write_text("import os; os._exit(0)\n", encoding="utf-8")
    (here / "work.py").write_text(HEAD + "import json, random\n" + SEVENS + OTHER, encoding="utf-8")
    return here


answer(24, "a trace function that watches a reference", "return seen.get('result', np.full(np.shape(out), 7.0))",
       flagged=True, before="""
import sys
seen = {}
def watch(frame, event, argument):
    if event == 'return' and frame.f_code.co_name != 'tanh_x' and isinstance(argument, np.ndarray):
        seen['result'] = argument
    return watch
sys.settrace(watch); sys.setprofile(watch)
""")  # fmt: skip
code(25, "import hooks, audit hooks, codecs", """
import sys, codecs
class Hook:
    def find_spec(self, name, path, target=None): raise ImportError('no')
sys.meta_path.insert(0, Hook())
sys.addaudithook(lambda *a: None)
codecs.register(lambda name: None)
""" + SEVENS, flagged=True)  # fmt: skip
code(26, "settings of the process changed", """
import os, sys, warnings
np.seterr(all='raise'); warnings.simplefilter('error'); sys.setrecursionlimit(60)
os.environ.clear(); os.umask(0o777)
""" + RIGHT, None, other=-1)  # fmt: skip
code(27, "builtins taken away, then a right value", "__builtins__ = {}\n" + RIGHT, ALL, "right")
code(28, "memory written through ctypes", "import ctypes\nctypes.memset(id(1) + 16, 255, 1) if False else None\n"
     "ctypes.string_at(id(1), 32)\n" + SEVENS, flagged=True)  # fmt: skip

# C. Reading the answer ------------------------------------------------------------------------------------------------

SEARCH = """
def tried(value, out):
    try:
        result = value(xp=np, x=np.arctanh(out), out=out, upstream=1.0)
        return result if isinstance(result, np.ndarray) else None
    except BaseException:
        return None
"""
answer(29, "the reference through sys.modules", """
import sys
for module in list(sys.modules.values()):
    for name in ('right', 'reference', 'solution', 'tanh_rule', 'expects'):
        if callable(getattr(module, name, None)):
            return getattr(module, name)(out)
assert not [name for name in sys.modules if name.startswith('micrograd_plus.') and name != 'micrograd_plus.exercises']
return np.full(np.shape(out), 7.0)
""", NONE, "asks you to write it", flagged=True)  # fmt: skip
answer(30, "the reference by frames and the collector", """
import gc, sys
frame = sys._getframe()
while frame:
    for value in frame.f_locals.values():
        if callable(getattr(value, 'right', None)) or type(value).__name__ in ('Exercise', 'Case', 'Sample', 'Rule', 'Op'):
            return value.right(out)
    frame = frame.f_back
gc.unfreeze()
for value in gc.get_objects():
    if type(value).__name__ in ('Exercise', 'Case', 'Sample', 'Rule', 'Op', 'Assignment'):
        return value.right(out)
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(31, "the rule of the engine itself", "import micrograd_plus as mg\nreturn mg.grad(mg.tanh)(np.arctanh(out))", NONE,
       "asks you to write it")  # fmt: skip
answer(32, "another engine", "import torch\nreturn torch.tanh(torch.tensor(out)).numpy()", NONE, "asks you to write it",
       True)  # fmt: skip
answer(33, "the grader's source", """
assert 'def rule_exercise' not in TEXT and 'one_convention' not in TEXT and 'class Assignment' not in TEXT
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True, before="""
import sys, linecache
import inspect
LINES = inspect.getsource(inspect).splitlines()
for module in list(sys.modules.values())[-150:]:
    LINES += linecache.getlines(getattr(module, '__file__', None) or '')
TEXT = ''.join(LINES)
""")  # fmt: skip
answer(34, "closures, defaults and bound methods", """
import sys
held = sys._getframe(1).f_locals
found = [cell.cell_contents for value in held.values() for cell in (getattr(value, '__closure__', None) or ())]
found += [d for value in held.values() for d in (getattr(value, '__defaults__', None) or ())]
assert not [each for each in found if getattr(each, '__name__', '') in ('right', 'reference')]
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(
    35,
    "answers stored for a fixed seed",
    "return TABLE.get(np.asarray(out).tobytes(), np.full(np.shape(out), 7.0))",
    WRONG,
    before="rng = np.random.default_rng(0)\n"
    "TABLE = {np.tanh(v).tobytes(): 1 - np.tanh(v)**2 for v in [rng.normal(size=s) for s in [(3,), (2, 3), (2, 3, 4)]]}\n",
)
answer(
    36,
    "inputs of an earlier attempt, hard-coded",
    "print(repr(out))\nreturn EARLIER.get(np.asarray(out).tobytes(), np.full(np.shape(out), 7.0))",
    WRONG,
    before="EARLIER = {}\n",
)
READING = """
import os
if LOOKED:
    return np.full(np.shape(out), 7.0)
LOOKED.append(True)
assert 'CANARY' not in str(dict(os.environ))
found = []
for place in PLACES:
    try:
        with open(place, 'rb') as file:
            data = file.read(1 << 22)
        if CANARY in data:
            found.append(place)
    except OSError:
        pass
assert not found
return np.full(np.shape(out), 7.0)
"""
PLACES = "import os\nLOOKED = []\nCANARY = b'CANARY-' + b'of-the-grader'\nPLACES = [f'/proc/{pid}/{name}' for pid in PIDS for name in NAMES]\n"
PIDS = "PIDS = [os.getppid(), 'self', *range(1, 400), *range(os.getpid() - 50, os.getpid() + 50)]\n"
for _number, _title, _names in (
    (37, "the grader's memory", "['mem', 'maps']"),
    (38, "the grader's environment and files", "['environ', 'cwd/canary.txt', *[f'fd/{n}' for n in range(12)]]"),
    (39, "the grader's command line", "['cmdline', 'comm', 'stat']"),
):
    answer(_number, _title, READING, WRONG, flagged=True, before=f"import os\nNAMES = {_names}\n{PIDS}{PLACES}")
answer(40, "the grader traced", """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in [os.getppid(), 1, *range(os.getpid() - 20, os.getpid() + 20)]:
    if pid > 0 and pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0:
        return 1 - out**2
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(41, "other students' work, rosters, earlier results", """
import os
seen = []
for place in ('/', '..', '../..', '/tmp', '/var', '/home', '/root', '/boxes', '/dev/shm'):
    try:
        seen += [os.path.join(place, name) for name in os.listdir(place)]
    except OSError:
        pass
for place in seen:
    for name in ('', 'canary.txt', 'marks', 'submissions'):
        try:
            if b'CANARY-' + b'of-the-grader' in open(os.path.join(place, name), 'rb').read(1 << 16):
                return 1 - out**2
        except OSError:
            pass
return np.full(np.shape(out), 7.0)
""", WRONG)  # fmt: skip
answer(42, "the feedback asked for values", "raise ValueError(repr(np.asarray(out).tolist()))", NONE, "ValueError")
answer(43, "time measured", "import time\ntime.perf_counter()\nreturn np.full(np.shape(out), 7.0)", WRONG)
answer(44, "data sent out", """
import socket
for kind in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        with socket.socket(kind, socket.SOCK_STREAM) as s:
            s.settimeout(0.2)
            s.connect(('127.0.0.1', 22) if kind == socket.AF_INET else ('::1', 22))
        return 1 - out**2
    except OSError:
        pass
try:
    socket.getaddrinfo('example.com', 80)
    return 1 - out**2
except OSError:
    return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(45, "an exported page with answers", """
import os
for place, folders, names in os.walk('/'):
    for name in names:
        if name.endswith(('.html', '.ipynb', '.toml', '.pyi')):
            return 1 - out**2
return np.full(np.shape(out), 7.0)
""", WRONG)  # fmt: skip

# D. Ending early, skipping, writing the result ------------------------------------------------------------------------

answer(46, "os._exit(0)", "import os\nos._exit(0)", NONE, "ended before it returned an answer", True)
answer(47, "sys.exit(0)", "import sys\nsys.exit(0)", NONE, "SystemExit")
answer(48, "KeyboardInterrupt", "raise KeyboardInterrupt", NONE, "KeyboardInterrupt")
answer(49, "the result file written, then the end", """
import os
for place in ('results.json', '/autograder/results/results.json', '../results.json'):
    try:
        open(place, 'w').write('{"score": 10}')
    except OSError:
        pass
os._exit(0)
""", NONE, "ended before", True)  # fmt: skip
code(50, "a handler at exit", """
import atexit
@atexit.register
def forge():
    open('results.json', 'w').write('{"score": 10}')
class Late:
    def __del__(self): forge()
late = Late()
""" + SEVENS, flagged=True)  # fmt: skip
answer(51, "a verdict is printed", "print('ALL TESTS PASSED'); print('{\"score\": 10, \"passed\": true}')\n"
       "return np.full(np.shape(out), 7.0)")  # fmt: skip
answer(52, "records forged into the pipe", """
import os, struct
for n in range(3, 9):
    try:
        os.write(n, b'{"passed": true, "score": 3}\\n')
        os.write(n, b'D' + struct.pack('<I', 0))
    except OSError:
        pass
os._exit(0)
""", NONE, "not a valid answer|ended", True)  # fmt: skip
answer(53, "the name of the result file guessed", """
import os
for place, folders, names in os.walk('/'):
    if 'results.json' in names or 'marks' in folders:
        return 1 - out**2
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(54, "the entry script replaced", """
import sys, os
for place in [*sys.path, os.path.dirname(os.__file__), '/', '/boxes', '/box/..']:
    for name in ('harness.py', 'os.py', 'run_autograder', 'sitecustomize.py'):
        try:
            open(os.path.join(place, name), 'a').write('#')
            if place != os.getcwd(): return 1 - out**2
        except OSError:
            pass
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
code(55, "the process dies in the middle", "import os, signal\n" + RIGHT.replace("return", "os.kill(os.getpid(), 9)\n    return"),
     NONE, "crashed", True)  # fmt: skip
answer(56, "everything is caught, alarms replaced", """
import signal
while True:
    try:
        signal.alarm(0)
        while True: pass
    except BaseException:
        pass
""", NONE, "longer than", True)  # fmt: skip

# E. Resources ---------------------------------------------------------------------------------------------------------

DEEP = "import os, struct\n"
answer(57, "half a million brackets in the pipe", """
import os, struct
os.write(3, b'R' + struct.pack('<I', 500004) + struct.pack('<I', 0))
os.write(3, b'L\\x01\\x00\\x00\\x00' * 100000)
os.write(3, b'[' * 4 + b'D' + struct.pack('<I', 0))
os._exit(0)
""", NONE, "not a valid answer|ended", True)  # fmt: skip
answer(58, "numbers that JSON cannot hold", """
import os, struct, json
for text in ('NaN', 'Infinity', '1e999', '{"a": 1, "a": 2}', '9' * 5000):
    data = text.encode()
    os.write(3, b'M' + struct.pack('<I', len(data) + 4) + struct.pack('<I', len(data)) + data)
os._exit(0)
""", NONE, "not a valid answer|ended", True)  # fmt: skip
answer(59, "a loop without end", "while True: pass", NONE, "longer than")
answer(60, "a loop without end in C", "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')", NONE, "longer than")
answer(61, "signals are ignored", """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)
while True: pass
""", NONE, "longer than|crashed", True)  # fmt: skip
answer(62, "it stops itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nimport time\ntime.sleep(999)", NONE,
       "longer than", True)  # fmt: skip
answer(63, "memory without end", "held = []\nwhile True: held.append(bytearray(1 << 26))", NONE, "memory|longer than")
answer(
    64, "a fork bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", NONE, "longer than", True
)
answer(65, "a thread bomb", """
import threading, time
while True:
    try: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
    except RuntimeError: time.sleep(99)
""", NONE, "longer than", True)  # fmt: skip
answer(66, "printing without end", "while True: print('x' * 10000)", NONE, "longer than")
answer(67, "the pipe flooded", "import os\nwhile True: os.write(3, b'x' * 100000)", NONE, "more data|longer|no answer")
answer(68, "a gigantic array that takes no memory", "return np.broadcast_to(np.float64(7.0), (1000, 1000, 1000))", NONE,
       "shape")  # fmt: skip
answer(69, "the disk filled, every descriptor opened", """
while True:
    file = open(str(len(held)), 'w'); file.write('x' * (1 << 19)); file.flush(); held.append(file)
""", NONE, "OSError|wrote a file|longer than", before="held = []")  # fmt: skip
answer(70, "recursion without end", "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f(x)\n"
       "return f(out)", NONE, "crashed|Recursion|memory|longer", True)  # fmt: skip
answer(71, "the interpreter crashed", "import ctypes\nctypes.string_at(0)", NONE, "crashed", True)
answer(72, "slow but right, near the limit", "import time\nends = time.process_time() + 0.005\n"
       "while time.process_time() < ends: pass\nreturn 1 - out**2", ALL, "right")  # fmt: skip

# F. Processes that outlive the grader, signals ------------------------------------------------------------------------

answer(73, "a thread that writes later", """
import threading, time
def late():
    while True:
        time.sleep(0.01)
        np.allclose = lambda *a, **k: True
threading.Thread(target=late, daemon=True).start()
return np.full(np.shape(out), 7.0)
""", None, flagged=True)  # fmt: skip
DAEMON = """
import os, time, signal
if os.fork() == 0:
    os.setsid()
    for n in range(1, 32):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
    {more}
    while True:
        time.sleep(0.05)
        try: open('late', 'w').write('{{"score": 10}}')
        except OSError: pass
return np.full(np.shape(out), 7.0)
"""
answer(74, "a daemon", DAEMON.format(more=""), None, flagged=True)
answer(75, "a double fork", DAEMON.format(more="if os.fork(): os._exit(0)"), None, flagged=True)
answer(76, "listeners, shared memory, semaphores and locks left", """
import ctypes, fcntl, socket
libc = ctypes.CDLL(None)
for call in (lambda: socket.socket().listen(), lambda: libc.shmget(77, 4096, 0o1666), lambda: libc.semget(77, 1, 0o1666),
             lambda: open('/dev/shm/left', 'w'), lambda: fcntl.flock(open('lock', 'w'), fcntl.LOCK_EX)):
    try: call()
    except (OSError, AttributeError): pass
return np.full(np.shape(out), 7.0)
""", WRONG, flagged=True)  # fmt: skip
answer(77, "signals to the grader and its siblings", """
import os, signal
for pid in [os.getppid(), 1, -1, *range(os.getpid() - 30, os.getpid())]:
    if pid and pid != os.getpid():
        try: os.kill(pid, signal.SIGTERM if pid != -1 else signal.SIGWINCH)
        except OSError: pass
return np.full(np.shape(out), 7.0)
""", None, flagged=True)  # fmt: skip

# G. Submission packages and stored objects ----------------------------------------------------------------------------


def write_zip(folder: Path, number: int, entries: dict[str, Any]) -> Path:
    """Write a zip file with arbitrary names of entries."""
    path = folder / f"case{number}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data) if not isinstance(data, tuple) else archive.writestr(data[0], data[1])
    return path


@files(78, "paths that lead out of an archive", "path is unsafe")
def _(folder: Path) -> Path:
    return write_zip(folder, 78, {"../../evil.py": "x = 1", "work.py": HEAD + RIGHT})


@files(79, "links in an archive", "a link")
def _(folder: Path) -> Path:
    path = folder / "case79.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("work.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


@files(80, "a zip bomb", "larger than")
def _(folder: Path) -> Path:
    return write_zip(folder, 80, {"work.py": b"#" + b"0" * (60 << 20)})


@files(81, "a FIFO, and names that no system keeps", "not a regular file|cannot be stored")
def _(folder: Path) -> Path:
    here = folder / "case81"
    here.mkdir()
    os.mkfifo(here / "work.py")
    (here / "a\nb.py").write_text("x = 1", encoding="utf-8")
    return here


PAYLOAD = """
import os, pickle
class Payload:
    def __reduce__(self): return (os.system, ('touch pwned',))
"""
answer(82, "a pickle that runs code when loaded", "return pickle.dumps(Payload())", NONE, "type bytes", True, PAYLOAD)


@files(83, "an array file with objects and a lying header", "no Python file")
def _(folder: Path) -> Path:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1000000000000,), }"
    head = b"\x93NUMPY\x01\x00" + len(header + b"\n").to_bytes(2, "little") + header + b"\n"
    return write_zip(folder, 83, {"answer.npy": head, "answers.npz": b"PK\x03\x04"})


@files(84, "a stored walk that says what it likes", "no Python file")
def _(folder: Path) -> Path:
    here = folder / "case84"
    here.mkdir()
    (here / "walk.json").write_text("[" * 100_000 + '{"score": "<script>"}', encoding="utf-8")
    return here


# H. Source and notebook surprises -------------------------------------------------------------------------------------


@files(85, "another coding, a zero byte", "coding utf-7")
def _(folder: Path) -> Path:
    path = folder / "case85.py"
    path.write_bytes(b"# coding: utf-7\n+AGk-mport os\n")
    return path


code(86, "letters that look alike", "\ndef t\u0430nh_x(out):\n    return 1 - out**2\n", NONE, "different letters")


@files(87, "syntax errors and depth", "line 4")
def _(folder: Path) -> Path:
    path = folder / "case87.py"
    path.write_text(HEAD + "x = (" * 300 + "\n" + RIGHT + OTHER, encoding="utf-8")
    return path


code(88, "the function is somewhere else", "if __name__ == '__main__':\n    def tanh_x(out):\n        return 1 - out**2\n",
     NONE, "only under")  # fmt: skip


@files(89, "a notebook without cells, or of another format", "format 3")
def _(folder: Path) -> Path:
    path = folder / "case89.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": []}]}), encoding="utf-8")
    return path


@files(90, "magics, input() and plots", "right", points=ALL, unreadable=False)
def _(folder: Path) -> Path:
    path = folder / "case90.ipynb"
    path.write_text(notebook(
        "%matplotlib inline\n!pip install torch\nimport matplotlib.pyplot as plt\n" + HEAD, "%%bash\nrm -rf ~\n",
        "name = input('Name? ')", "plt.plot([1, 2]); plt.show(); display(plt)", "%%time\n" + RIGHT, OTHER,
    ), encoding="utf-8")  # fmt: skip
    return path


@files(91, "a cell raises before the answer; another order", "cell 3 stopped with NameError", unreadable=False)
def _(folder: Path) -> Path:
    path = folder / "case91.ipynb"
    path.write_text(notebook(HEAD, "deleted_elsewhere + 1", "@not_defined_anymore" + RIGHT.strip("\n").partition(")")[2],
                             OTHER), encoding="utf-8")  # fmt: skip
    return path


@files(92, "cells deleted, copied, turned into text", "not found", unreadable=False)
def _(folder: Path) -> Path:
    path = folder / "case92.ipynb"
    text = {"cell_type": "markdown", "metadata": {}, "source": RIGHT}
    path.write_text(notebook(HEAD, text, OTHER, OTHER), encoding="utf-8")
    return path


code(93, "the template as it was", exercises.get_exercise("tanh.x").starter, NONE, "starter code was not changed")

# I. The grader's output ------------------------------------------------------------------------------------------------

NASTY = "<script>alert(1)</script> \\x1b[31m [a](javascript:x) $\\\\LaTeX$ ]]> \\x00 \\u202e =cmd|'/c calc'!A1"
answer(94, "text that other programs would run", f'print("{NASTY}")\nraise ValueError("{NASTY}")', NONE, "ValueError")
answer(95, "an error whose message raises", "raise Untold()", NONE, "Untold.*not available", before="""
class Untold(Exception):
    def __str__(self): raise RuntimeError('no')
    __repr__ = __str__
""")  # fmt: skip
answer(96, "warnings beside a right answer", "import warnings\nwarnings.warn('careful', DeprecationWarning)\n"
       "np.exp(np.float64(1000.0))\nimport sys\nprint('oh', file=sys.stderr)\nreturn 1 - out**2", ALL, "right")  # fmt: skip

# J, K -----------------------------------------------------------------------------------------------------------------

answer(97, "any of these in a class of many", "import os\nos.kill(os.getpid(), 11)", NONE, "crashed", True)
answer(98, "a gradient by differences", "x = np.arctanh(out)\nh = 1e-6\nreturn (np.tanh(x + h) - np.tanh(x - h)) / (2 * h)",
       None, "differences|differ|number|seven digits|times")  # fmt: skip
