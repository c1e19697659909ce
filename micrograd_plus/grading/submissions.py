"""What was handed in, read without running any of it: `.py` files, notebooks, folders and archives of them.

Of a notebook the code is read and nothing else: not its outputs, its tests, its points or its kernel. Archives are read
in memory with every size counted while they are unpacked, and nothing of them is written anywhere.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cells import statements
from .reasons import Unreadable, say

MOST_BYTES, MOST_IN_ALL, MOST_FILES, MOST_CELLS, MOST_SOURCE = 24 << 20, 48 << 20, 1000, 2000, 1 << 20
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
LOOKS_LIKE_A_MODULE = {
    "conftest", "sitecustomize", "usercustomize", "numpy", "json", "random", "math", "os", "sys", "re", "inspect",
    "ast", "socket", "struct", "select", "copy", "types", "typing", "micrograd_plus", "unittest", "pytest", "builtins",
    "codecs", "site", "__main__", "__init__",
}  # fmt: skip
RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
PLAIN_CODINGS = {"utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig", "u8"}


@dataclass(frozen=True)
class Cell:
    """One piece of a submission that is run as one."""

    where: str
    """As it is called in reasons: `cell 3`, `line 12`."""
    source: str
    line: int = 0
    """How many lines of the file stand before it."""
    ours: bool = False
    """Whether it is a test of a school's system, which is not run."""


@dataclass
class Submission:
    """What one student handed in."""

    student: str
    cells: list[Cell] = field(default_factory=list)
    notebook: bool = False
    problem: str | None = None
    """Why nothing could be read; the submission is then marked as not gradable."""
    remarks: list[str] = field(default_factory=list)
    """What was left out, and why."""
    tampering: list[dict[str, Any]] = field(default_factory=list)


def read(path: Path, student: str | None = None) -> Submission:
    """One submission: a file, an archive or a folder. What cannot be read is said in it; nothing is raised."""
    made = Submission(student or student_of(path))
    try:
        fill(made, sorted(files_of(path)))
    except Unreadable as error:
        made.cells, made.problem = [], str(error)
    except (OSError, RecursionError, MemoryError) as error:
        made.cells, made.problem = [], say("unreadable", what=type(error).__name__)
    return made


def student_of(path: Path) -> str:
    """The id of the student, as the name of what was handed in says it; characters that name nothing are left out."""
    name = path.name
    for ending in (*ARCHIVES, ".ipynb", ".py"):
        name = name.removesuffix(ending)
    return re.sub(r"[^\w.@+-]", "_", name, flags=re.ASCII)[:80].strip(".") or "unnamed"


def fill(made: Submission, files: list[tuple[str, bytes]]) -> None:
    """Put the cells of the files into a submission."""
    names = [name for name, _ in files]
    code = [(name, data) for name, data in files if name.endswith((".py", ".ipynb"))]
    for name in names:
        if (Path(name).stem in LOOKS_LIKE_A_MODULE and name.endswith((".py", ".pth"))) or name.endswith(".pth"):
            made.tampering.append({"line": None, "what": f"a file named {shown(Path(name).name)} was handed in"})
    usable = [(name, data) for name, data in code if Path(name).stem not in LOOKS_LIKE_A_MODULE]
    left = sorted(set(names) - {name for name, _ in usable})
    if left:
        made.remarks.append(say("left_out", names=", ".join(map(shown, left[:10]))))
    if not usable:
        raise Unreadable(say("no_file"))
    for name, data in usable:
        cells, notebook = (of_notebook(data), True) if name.endswith(".ipynb") else (of_program(data), False)
        made.notebook = made.notebook or notebook
        prefix = f"{shown(Path(name).name)}, " if len(usable) > 1 else ""
        made.cells += [Cell(prefix + cell.where, cell.source, cell.line, cell.ours) for cell in cells]
    if not made.cells:
        raise Unreadable(say("no_code"))
    if len(made.cells) > 4 * MOST_CELLS:
        raise Unreadable(say("too_many", count=4 * MOST_CELLS, what="cells"))


def shown(text: str) -> str:
    """A text with what cannot be seen, and what turns the direction of reading, as escapes."""
    return "".join(each if each.isprintable() and not "\u200e" <= each <= "\u200f" and not "\u202a" <= each <= "\u2069"
                   else each.encode("unicode_escape").decode() for each in text)[:200]  # fmt: skip


# Files --------------------------------------------------------------------------------------------------------------


def files_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every file that was handed in, with its bytes."""
    if path.is_symlink():
        raise Unreadable(say("unsafe", name=shown(path.name), what="a link"))
    if path.is_dir():
        yield from of_folder(path)
    elif path.name.endswith(ARCHIVES):
        yield from of_archive(bytes_of(path))
    else:
        yield path.name, bytes_of(path)


def bytes_of(path: Path, most: int = MOST_BYTES) -> bytes:
    """A plain file's bytes. Nothing else is opened: a pipe would never end, a link may lead anywhere."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except OSError as error:
        raise Unreadable(say("unsafe", name=shown(path.name), what="no plain file")) from error
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise Unreadable(say("unsafe", name=shown(path.name), what="no plain file"))
        data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(say("too_large", name=shown(path.name), most=most >> 20))
    return data


def of_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder and of those in it. What no submission is made of is not opened."""
    count, total = 0, 0
    for place, folders, names in os.walk(path, followlinks=False):
        folders[:] = sorted(each for each in folders if not each.startswith((".", "__pycache__")))
        for name in sorted(names):
            full = Path(place, name)
            relative = full.relative_to(path).as_posix()
            safe_name(os.fsencode(relative).decode("utf-8", "replace"))
            count += 1
            if count > MOST_FILES:
                raise Unreadable(say("too_many", count=MOST_FILES, what="files"))
            if not name.endswith((".py", ".ipynb", ".pth")):
                if not stat.S_ISREG(full.lstat().st_mode):
                    raise Unreadable(say("unsafe", name=shown(name), what="no plain file"))
                yield relative, b""
                continue
            data = bytes_of(full)
            total += len(data)
            if total > MOST_IN_ALL:
                raise Unreadable(say("too_large", name=shown(path.name), most=MOST_IN_ALL >> 20))
            yield relative, data


def of_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of an archive, unpacked in memory; archives within it are not opened."""
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            yield from of_zip(data)
        else:
            yield from of_tar(data)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError,
            zlib_error(), lzma_error()) as error:  # fmt: skip
        raise Unreadable(say("no_archive")) from error


def zlib_error() -> type[Exception]:
    """What broken compression raises, which older archives do not name."""
    import zlib

    return zlib.error


def lzma_error() -> type[Exception]:
    """The same, of another method, which a Python may be without."""
    with contextlib.suppress(ImportError):
        import lzma

        return lzma.LZMAError
    return EOFError


def of_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a zip. Every name is looked at before anything is unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        names = checked_names([entry.filename.rstrip("/") for entry in entries])
        total = 0
        for name, entry in zip(names, entries, strict=True):
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise Unreadable(say("unsafe", name=shown(name), what="a link or a device"))
            if entry.is_dir():
                continue
            if not name.endswith((".py", ".ipynb")):
                yield name, b""
                continue
            with archive.open(entry) as file:
                found = unpacked(file, name, MOST_IN_ALL - total)
            total += len(found)
            yield name, found


def of_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a tar, which is read from its beginning to its end, so compression can swell no further than
    this."""
    total, names = 0, []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:
        for entry in archive:
            names.append(entry.name)
            checked_names(names)
            total += entry.size
            if total > MOST_IN_ALL:
                raise Unreadable(say("too_large", name=shown(entry.name), most=MOST_IN_ALL >> 20))
            if not (entry.isreg() or entry.isdir()):
                raise Unreadable(say("unsafe", name=shown(entry.name), what="a link or a device"))
            if entry.isdir():
                continue
            file = archive.extractfile(entry)
            assert file is not None
            yield entry.name, unpacked(file, entry.name, MOST_IN_ALL) if entry.name.endswith((".py", ".ipynb")) else b""


def unpacked(file: Any, name: str, most: int) -> bytes:
    """What a packed file holds, counted while it is unpacked, whatever its header says."""
    data = file.read(min(most, MOST_BYTES) + 1)
    if len(data) > min(most, MOST_BYTES):
        raise Unreadable(say("too_large", name=shown(name), most=MOST_BYTES >> 20))
    return data


def checked_names(names: list[str]) -> list[str]:
    """The names in an archive, if all are safe and no two are the same to any system."""
    if len(names) > MOST_FILES:
        raise Unreadable(say("too_many", count=MOST_FILES, what="files"))
    for name in names:
        safe_name(name)
    folded = [unicodedata.normalize("NFC", name).casefold() for name in names]
    if len(set(folded)) < len(folded):
        raise Unreadable(say("unsafe", name=shown(names[0]), what="two files of one name"))
    return names


def safe_name(name: str) -> None:
    """Refuse a name that leads elsewhere, or that some system cannot hold."""
    parts = name.replace("\\", "/").split("/")
    what = None
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        what = "an unsafe path"
    elif any(not each.isprintable() or each == "\ufffd" for each in name) or any(len(part) > 200 for part in parts):
        what = "a name that cannot be kept"
    elif any(RESERVED.match(part) for part in parts):
        what = "a name that some systems reserve"
    if what:
        raise Unreadable(say("unsafe", name=shown(name), what=what))


# Code ---------------------------------------------------------------------------------------------------------------


def text_of(data: bytes) -> str:
    """A program's text. Other codings than UTF-8 are refused: in some, a comment becomes code."""
    if b"\0" in data:
        raise Unreadable(say("bad_text", line=data[: data.index(b"\0")].count(b"\n") + 1, what="a zero byte"))
    data = data.removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(data.split(b"\n", 2)[:2], start=1):
        cookie = COOKIE.match(line)
        if cookie and cookie[1].decode("ascii").lower().replace("_", "-") not in PLAIN_CODINGS:
            raise Unreadable(say("bad_text", line=number, what=f"the coding {cookie[1].decode('ascii')}"))
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Unreadable(say("bad_text", line=line, what="bytes that are no UTF-8")) from error


def of_program(data: bytes) -> list[Cell]:
    """The statements of a program, each with the comments before it."""
    if len(data) > MOST_SOURCE:
        raise Unreadable(say("too_large", name="the program", most=MOST_SOURCE >> 20))
    return [Cell(f"line {line + 1}", source, line) for line, source in statements(text_of(data))]


def of_notebook(data: bytes) -> list[Cell]:
    """The code cells of a notebook of format 4."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(say("no_notebook", what="it is not JSON")) from error
    if type(book) is not dict or type(book.get("cells")) is not list:
        old = type(book) is dict and "worksheets" in book
        raise Unreadable(say("no_notebook", what="it is of format 3" if old else "it has no cells"))
    if len(book["cells"]) > MOST_CELLS:
        raise Unreadable(say("too_many", count=MOST_CELLS, what="cells"))
    cells = [cell for number, each in enumerate(book["cells"], start=1) if (cell := code_cell(each, number))]
    if not cells:
        raise Unreadable(say("no_notebook", what="it has no code"))
    return cells


def code_cell(cell: Any, number: int) -> Cell | None:
    """A cell of code, without what is meant for the notebook program; None for every other cell."""
    if type(cell) is not dict:
        raise Unreadable(say("no_notebook", what=f"cell {number} is none"))
    source = cell.get("source", "")
    if type(source) is list and all(type(line) is str for line in source):
        source = "".join(source)
    if type(source) is not str:
        raise Unreadable(say("no_notebook", what=f"cell {number} has no text"))
    if cell.get("cell_type") != "code" or not source.strip():
        return None
    if "\0" in source or any("\ud800" <= each <= "\udfff" for each in source):
        raise Unreadable(say("bad_text", line=number, what="a character that is none"))
    if len(source) > MOST_SOURCE:
        raise Unreadable(say("too_large", name=f"cell {number}", most=MOST_SOURCE >> 20))
    marks = cell.get("metadata", {})
    school = marks.get("nbgrader", {}) if type(marks) is dict else {}
    test = type(school) is dict and bool(school.get("grade")) and not school.get("solution")
    return Cell(f"cell {number}", without_magics(source), 0, test)


def without_magics(source: str) -> str:
    """A cell without the lines that are commands to the notebook; of a cell in another language, nothing."""
    lines = source.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(("%%time", "%%capture")):
        return "pass"
    command = re.compile(r"(\s*)([%!?]|\w+\s*=\s*[!%])")
    for place, line in enumerate(lines):
        found = command.match(line)
        if found and not inside_text(lines, place):
            lines[place] = found[1] + "pass"
    return "\n".join(lines)


def inside_text(lines: list[str], place: int) -> bool:
    """Whether a line lies within a text of several lines, or goes on with an expression."""
    before = "\n".join(lines[:place])
    if before.count('"""') % 2 or before.count("'''") % 2:
        return True
    opened = sum(before.count(each) for each in "([{") - sum(before.count(each) for each in ")]}")
    return opened > 0
