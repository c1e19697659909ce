"""Random submissions for the grader: damaged programs, notebooks, archives and folders, under any name.

Each gets a mark or a sentence that says why it is not gradable. Nothing else changes, and no file or process is left.
"""

import atexit
import contextlib
import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
import time
import zipfile
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

from graded import BROKEN, EXP, HEAD, RIGHT, SECRET, SIGN, TANH
from micrograd_plus.grading import batch, grade
from micrograd_plus.grading.assignment import Assignment
from micrograd_plus.grading.formats import NAMES as NAMES_OF_FORMATS, format_marks
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits
from micrograd_plus.grading.store import Store, to_json
from micrograd_plus.grading.submissions import read_submission

from .harness import SAID, SAME, dice

TWO = Assignment("week3", ["tanh.x", "exp.x"], SECRET)
LIMITS = Limits(cpu=1.0, wall=10.0)
REACHED = []
"""A case's number for each submission that reached a box."""

PROGRAMS = (
    RIGHT, SIGN, RIGHT, SIGN, *BROKEN, HEAD, HEAD + EXP.format("out"), HEAD + TANH.format("(1 - out**2).astype('f4')"),
    "def tanh_x(out):\n    return 1 - out * out\n", "tanh_x = exp_x = 3\n", "exp_x = lambda out: out\n",
    "class tanh_x: pass\n", "import torch\n" + RIGHT, "%matplotlib inline\n!ls\n" + RIGHT, "raise SystemExit\n",
    "print('x' * 100_000)\n" + RIGHT, "open('left', 'w').write('x')\n" + RIGHT, "# coding: latin-1\n" + RIGHT,
    "import sys; sys.setrecursionlimit(10**8)\ndef tanh_x(out): return tanh_x(out)\n", "input()\n" + RIGHT,
    "tanh_x = __import__('os').system\n", "from __future__ import annotations\n" + RIGHT, "\ufeff" + RIGHT,
    "def tanh_x(out):\n    return [[1], [2, 3]]\n", "def tanh_x(out):\n    return {'x': out, 'y': [out] * 9}\n",
    "def tаnh_x(out):\n    return 1 - out**2\n", "exercises.answer('tanh.x')(lambda out: 1 - out**2)\n",
    "def exp_x(out):\n\traise ValueError('\\u202e\\0<b>&\\x1b[31m' * 99)\n", "if True:\n" * 90 + "    pass\n",
)  # fmt: skip
SNIPPETS = (
    "(", ")", "'''", '"', "\\", "\0", "\ufeff", "\u202e", "\ud800", "\n\n", "\r", "\t", "def ", "%%bash\n", "!", "@",
    "=", "import os\n", "while True: pass\n", "é", "𝒙", "#", "lambda", "[" * 60, "0" * 5000, "\x0c", "\x1a",
    "async ",
)  # fmt: skip
ENCODINGS = ("utf-8",) * 24 + ("utf-8-sig", "latin-1", "utf-16", "utf-7", "cp1252", "shift_jis", "utf-32", "ascii")
NAMES = (
    "ada", "Ann Lee", "müller", "mu\u0308ller", "李", "a.b@c.edu", "-rf", "a'b\"c", "con", "a" * 150, "..a..", "ﬁ",
    "a\u202eb", "a\nb", "😀", " ", "~", "$HOME", "a%s{0}", "<b>", "=1+1", "a;b,c", "nul.txt", "__init__", "numpy",
    "ad\u200ba",
)  # fmt: skip
INSIDE = (
    "work.py", "work.ipynb", "a/b/work.py", "__MACOSX/._work.py", ".hidden.py", "../out.py", "/etc/passwd.py",
    "C:\\x.py", "con.py", "work.PY", "WORK.py", "work.py ", "a\nb.py", "data.csv", "numpy.py", "x.pth", "inner.zip",
    "é.py", "", "./w.py", "a//b.py", "x" * 210 + ".py",
)  # fmt: skip


@cache
def grader() -> tuple[Sandbox, Path, bytes]:
    """Return a sandbox, a folder with another student's marks, and those marks."""
    folder = Path(tempfile.mkdtemp(prefix="random-submissions-"))
    sandbox = Sandbox()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(sandbox.close)
    (folder / "bob.py").write_text(RIGHT, encoding="utf-8")
    submission = read_submission(folder / "bob.py")
    marks = grade.grade_submission(submission, TWO, sandbox, limits=lambda exercise: LIMITS)
    Store(folder / "marks").put("bob", to_json(marks))
    return sandbox, folder, Store(folder / "marks").path("bob").read_bytes()


# Drawing --------------------------------------------------------------------------------------------------------------


def pick(rng, choices):
    """Return one of the choices."""
    return choices[int(rng.integers(len(choices)))]


def draw_source(rng) -> str:
    """Return a program, often with something inserted, removed or repeated."""
    source = pick(rng, PROGRAMS)
    for _ in range(int(rng.choice([0, 0, 0, 1, 1, 2, 4]))):
        at = int(rng.integers(len(source) + 1))
        part = source[at : at + int(rng.integers(1, 40))]
        rest = source[at + len(part) * int(rng.integers(2)) :]
        source = source[:at] + pick(rng, (*SNIPPETS, "", "", part + part)) + rest
    return source


def draw_bytes(rng, source: str) -> bytes:
    """Return text in some encoding, sometimes with damaged bytes."""
    data = source.encode(pick(rng, ENCODINGS), "replace" if rng.random() < 0.8 else "xmlcharrefreplace")
    return damage(rng, data) if rng.random() < 0.1 else data


def damage(rng, data: bytes) -> bytes:
    """Return bytes of which some were changed, cut off or repeated."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(data) + 1))
        match int(rng.integers(4)):
            case 0:
                data[at : at + 1] = rng.bytes(1)
            case 1:
                del data[at : at + int(rng.integers(1, 50))]
            case 2:
                data[at:at] = rng.bytes(int(rng.integers(1, 9)))
            case 3:
                data[at:at] = data[at : at + 30]
    return bytes(data[: int(rng.integers(len(data) + 1))] if rng.random() < 0.2 else data)


def draw_notebook(rng) -> bytes:
    """Return a notebook whose cells, sources and metadata may be anything."""
    odd = (None, 3, [], {}, "text", [1], [["x"]], {"nbgrader": 3}, float("nan"), True, [None], "\ud800")
    cells = []
    for _ in range(int(rng.integers(0, 5))):
        source = draw_source(rng)
        cell = {
            "cell_type": pick(rng, ("code",) * 5 + ("markdown", "raw", None)), "metadata": {}, "outputs": [],
            "source": source.splitlines(keepends=True) if rng.random() < 0.5 else source,
        }  # fmt: skip
        if rng.random() < 0.2:
            cell[pick(rng, ("cell_type", "metadata", "source", "outputs", "id"))] = pick(rng, odd)
        if rng.random() < 0.1:
            cell["metadata"] = {"nbgrader": {"grade": True, "solution": bool(rng.integers(2))}}
        cells.append(cell if rng.random() < 0.97 else pick(rng, odd))
    book = {"nbformat": pick(rng, (4, 4, 4, 3, "4", None)), "nbformat_minor": 5, "metadata": {}, "cells": cells}
    if rng.random() < 0.1:
        book[pick(rng, ("cells", "metadata", "worksheets"))] = pick(rng, odd)
    data = json.dumps(book, ensure_ascii=bool(rng.integers(2))).encode("utf-8", "surrogatepass")
    return damage(rng, data) if rng.random() < 0.15 else data


def draw_file(rng) -> bytes:
    """Return a program or a notebook."""
    return draw_notebook(rng) if rng.random() < 0.4 else draw_bytes(rng, draw_source(rng))


def draw_files(rng) -> list[tuple[str, bytes]]:
    """Return some files with their names."""
    return [(pick(rng, INSIDE[:2]) if rng.random() < 0.8 else pick(rng, INSIDE), draw_file(rng))
            for _ in range(int(rng.choice([0, 1, 1, 1, 2, 3, 4])))]  # fmt: skip


def draw_zip(rng) -> bytes:
    """Return a zip archive, sometimes with links, or damaged."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in draw_files(rng):
            entry = zipfile.ZipInfo(name or "x")
            if rng.random() < 0.1:
                entry.external_attr = pick(rng, (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR)) << 16
            archive.writestr(entry, data)
    return damage(rng, buffer.getvalue()) if rng.random() < 0.25 else buffer.getvalue()


def draw_tar(rng) -> bytes:
    """Return a tar archive, sometimes with links or devices, or damaged."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=pick(rng, ("w", "w:gz", "w:bz2", "w:xz"))) as archive:
        for name, data in draw_files(rng):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if rng.random() < 0.1:
                entry.type = pick(rng, (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE))
                entry.size, entry.linkname = 0, "/etc/passwd"
            archive.addfile(entry, io.BytesIO(data[: entry.size]))
    return damage(rng, buffer.getvalue()) if rng.random() < 0.25 else buffer.getvalue()


def write_folder(rng, place: Path) -> None:
    """Write a folder with files, subfolders, links and pipes."""
    place.mkdir()
    for name, data in draw_files(rng):
        path = place / name.strip("/.").replace("..", "_") if name.strip("/.") else place / "x.py"
        with contextlib.suppress(OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    if rng.random() < 0.1:
        with contextlib.suppress(OSError):
            (place / "link.py").symlink_to("/etc/passwd")
    if rng.random() < 0.1:
        with contextlib.suppress(OSError):
            os.mkfifo(place / "pipe.py")


def write_submission(rng, folder: Path) -> None:
    """Write one random submission into a folder."""
    kind = pick(rng, (".py", ".py", ".ipynb", ".ipynb", ".zip", ".tar", ".tgz", ".tar.gz", "", "", ".txt", ".py.zip"))
    place = folder / (pick(rng, NAMES) + kind)
    with contextlib.suppress(FileExistsError):
        if kind == "":
            return write_folder(rng, place)
        data = draw_zip(rng) if "zip" in kind else draw_tar(rng) if "t" in kind[1:3] else (
            draw_notebook(rng) if kind == ".ipynb" else draw_bytes(rng, draw_source(rng)))  # fmt: skip
        place.write_bytes(data if rng.random() < 0.95 else draw_file(rng))
    return None


# Checking -------------------------------------------------------------------------------------------------------------


def list_tree(folder: Path) -> list[tuple[str, int, bytes]]:
    """Return every entry of a folder: its path, its kind and its bytes."""
    kinds = {path: stat.S_IFMT(path.lstat().st_mode) for path in sorted(folder.rglob("*"))}
    return [(str(path), kind, path.read_bytes() if stat.S_ISREG(kind) else b"") for path, kind in kinds.items()]


def list_processes(sandbox: Sandbox) -> list[str]:
    """Return the processes of the sandbox other than its server. One that has ended does not count."""
    if sandbox.server is None or not Path("/proc/self/task").exists():
        return []
    number = sandbox.server.pid
    children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
    states = {each: Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(") ")[2][0] for each in children}
    return [each for each, state in states.items() if state not in "ZX"]


def wait_for_end(sandbox: Sandbox) -> None:
    """Wait until the processes of a closed box are gone: a process closes its files a little before its end."""
    for _ in range(3000):
        if not list_processes(sandbox):
            return
        time.sleep(0.01)
    raise AssertionError("a process is left")


def check_marks(marks: dict) -> str:
    """Return whether a submission has marks or a sentence; raise if it has neither."""
    for name in NAMES_OF_FORMATS:
        text = format_marks(name, [marks])
        text.encode("utf-8")  # fails for half a character
        if name == "junit":
            ET.fromstring(text)  # noqa: S314 - our own text
        elif name != "csv":
            json.loads(text)
    assert marks["failed"] == [], marks["remarks"]
    assert [each["exercise"] for each in marks["exercises"]] == TWO.exercises
    assert 0 <= marks["score"] <= marks["max_score"] == 20
    assert marks["score"] == round(sum(each["points"] for each in marks["exercises"]), 6)
    assert all(each["reason"].strip() for each in marks["exercises"])
    assert marks["gradable"] == (marks["problem"] is None)
    assert marks["gradable"] or (marks["score"] == 0 and len(marks["problem"]) > 10)
    return SAME if marks["gradable"] else SAID


def run(case: int) -> str:
    """Grade one random submission, and look at what is left."""
    rng = dice("submissions", case)
    sandbox, shared, others = grader()
    with tempfile.TemporaryDirectory(dir=shared, prefix="class-") as name:
        folder = Path(name)
        write_submission(rng, folder)
        before = list_tree(folder)
        outcomes = [grade_one(case, sandbox, student, path) for student, path in batch.find_submissions([folder])]
        assert list_tree(folder) == before, "the submission changed"
    assert Store(shared / "marks").path("bob").read_bytes() == others, "another student's marks changed"
    assert {each.name for each in shared.iterdir()} == {"bob.py", "marks"}
    wait_for_end(sandbox)
    return outcomes[0] if outcomes else SAID  # nothing could be written under this name, or it is a hidden file


def grade_one(case: int, sandbox: Sandbox, student: str, path: Path) -> str:
    """Return what came of one submission."""
    submission = read_submission(path, student)
    if submission.problem is None:
        REACHED.append(case)
    marks = grade.grade_submission(submission, TWO, sandbox, limits=lambda exercise: LIMITS, walks={}, answers={})
    return check_marks(marks)
