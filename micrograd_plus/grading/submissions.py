"""Reading submissions without running them: Python files, notebooks, folders and archives.

Only the code of a notebook is read: not its outputs, points or kernel. Archives are unpacked in memory, and every size
is checked while unpacking; nothing is written to disk.
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .cells import Cell, statements
from .magics import remove_magics
from .reasons import UnreadableError, escape_invisible, reason

MOST_BYTES, MOST_IN_ALL, MOST_FILES, MOST_CELLS, MOST_SOURCE = 24 << 20, 48 << 20, 1000, 2000, 1 << 20
LONGEST_ID = 160
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
LOOKS_LIKE_A_MODULE = {
    "conftest", "sitecustomize", "usercustomize", "numpy", "json", "random", "math", "os", "sys", "re", "inspect",
    "ast", "socket", "struct", "select", "copy", "types", "typing", "micrograd_plus", "unittest", "pytest", "builtins",
    "codecs", "site", "__main__", "__init__",
}  # fmt: skip
RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
UTF8_NAMES = {"utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig", "u8"}


@dataclass
class Submission:
    """What one student handed in."""

    student: str
    cells: list[Cell] = field(default_factory=list)
    notebook: bool = False
    problem: str | None = None
    """Why nothing could be read. The submission is then not gradable."""
    remarks: list[str] = field(default_factory=list)
    """Notes on ignored files."""
    tampering: list[dict[str, Any]] = field(default_factory=list)
    """Files with suspicious names, for the teacher."""


def read_submission(path: Path, student: str | None = None) -> Submission:
    """Read a submission from a file, an archive or a folder. It never raises: `problem` says why nothing was read."""
    submission = Submission(student or student_id(path))
    try:
        files = [file for file in files_in(path) if not is_hidden(file[0])]
        add_files(submission, sorted(files, key=lambda file: (-file[0].count("/"), file[0])))
    except UnreadableError as error:
        submission.cells, submission.problem = [], str(error)
    except (OSError, RecursionError, MemoryError) as error:
        submission.cells, submission.problem = [], reason("unreadable", what=type(error).__name__)
    return submission


def student_id(path: Path) -> str:
    """Return the student's ID: the name of the file or folder, without characters that a file name cannot contain.

    Letters of every alphabet and spaces are kept, so that the ID is the one that the student entered in the notebook.
    """
    name = unicodedata.normalize("NFC", path.name)
    for ending in (*ARCHIVES, ".ipynb", ".py"):
        name = name.removesuffix(ending)
    short = re.sub(r"[^\w.@+ -]", "_", name).encode()[:LONGEST_ID].decode("utf-8", "ignore")
    return short.strip(". ") or "unnamed"


def is_hidden(name: str) -> bool:
    """Return whether systems add a file by themselves: hidden files, caches, the resource forks of macOS."""
    return any(part.startswith((".", "__MACOSX", "__pycache__")) for part in name.split("/"))


def add_files(submission: Submission, files: list[tuple[str, bytes]]) -> None:
    """Add the cells of all programs and notebooks to a submission."""
    for path in (Path(name) for name, _ in files):
        if path.name.endswith(".pth") or (path.name.endswith(".py") and path.stem in LOOKS_LIKE_A_MODULE):
            what = f"a file named {show_name(path.name)} was handed in"
            submission.tampering.append({"line": None, "what": what})
    usable = [(name, data) for name, data in files
              if name.endswith((".py", ".ipynb")) and Path(name).stem not in LOOKS_LIKE_A_MODULE]  # fmt: skip
    ignored = sorted({name for name, _ in files} - {name for name, _ in usable})
    if ignored:
        submission.remarks.append(reason("left_out", names=", ".join(map(show_name, ignored[:10]))))
    if not usable:
        raise UnreadableError(reason("no_file"))
    total = 0
    for name, data in usable:
        is_notebook = name.endswith(".ipynb")
        submission.notebook = submission.notebook or is_notebook
        prefix = f"{show_name(Path(name).name)}, " if len(usable) > 1 else ""
        cells = read_notebook(data) if is_notebook else read_program(data)
        total += sum(len(cell.source) for cell in cells)
        if total > MOST_SOURCE:
            raise UnreadableError(reason("too_large", name="all code together", most=MOST_SOURCE >> 20))
        submission.cells += [replace(cell, where=prefix + cell.where, file=name) for cell in cells]
    if not submission.cells:
        raise UnreadableError(reason("no_code"))
    if len(submission.cells) > 4 * MOST_CELLS:
        raise UnreadableError(reason("too_many", count=4 * MOST_CELLS, what="cells"))


def show_name(name: str) -> str:
    """Return the name of a file without invisible characters and line breaks, shortened."""
    return escape_invisible(name, most=200, keep="")


# Files --------------------------------------------------------------------------------------------------------------


def files_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every file of a submission."""
    if path.is_symlink():
        raise UnreadableError(reason("unsafe", name=show_name(path.name), what="it is a link"))
    if path.is_dir():
        yield from files_in_folder(path)
    elif path.name.endswith(ARCHIVES):
        yield from files_in_archive(read_bytes(path))
    else:
        yield path.name, read_bytes(path)


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a regular file. Pipes and links are not opened: a pipe may never end, a link may lead anywhere."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except OSError as error:
        raise UnreadableError(reason("unsafe", name=show_name(path.name), what="it is not a regular file")) from error
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise UnreadableError(reason("unsafe", name=show_name(path.name), what="it is not a regular file"))
        data = file.read(most + 1)
    if len(data) > most:
        raise UnreadableError(reason("too_large", name=show_name(path.name), most=most >> 20))
    return data


def files_in_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder and its subfolders. Only programs and notebooks are opened."""
    count, total = 0, 0
    for place, folders, names in os.walk(path, followlinks=False):
        folders[:] = sorted(each for each in folders if not is_hidden(each))
        for name in sorted(each for each in names if not is_hidden(each)):
            full = Path(place, name)
            relative = full.relative_to(path).as_posix()
            check_name(os.fsencode(relative).decode("utf-8", "replace"))
            count += 1
            if count > MOST_FILES:
                raise UnreadableError(reason("too_many", count=MOST_FILES, what="files"))
            if not name.endswith((".py", ".ipynb", ".pth")):
                if not stat.S_ISREG(full.lstat().st_mode):
                    raise UnreadableError(reason("unsafe", name=show_name(name), what="it is not a regular file"))
                yield relative, b""
                continue
            data = read_bytes(full)
            total += len(data)
            if total > MOST_IN_ALL:
                raise UnreadableError(reason("too_large", name=show_name(path.name), most=MOST_IN_ALL >> 20))
            yield relative, data


def files_in_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive, unpacked in memory. Archives inside it are not opened."""
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            yield from files_in_zip(data)
        else:
            yield from files_in_tar(data)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError,
            zlib_error(), lzma_error()) as error:  # fmt: skip
        raise UnreadableError(reason("no_archive")) from error


def zlib_error() -> type[Exception]:
    """Return the exception for broken zlib data."""
    import zlib

    return zlib.error


def lzma_error() -> type[Exception]:
    """Return the exception for broken LZMA data; a Python built without LZMA has none."""
    with contextlib.suppress(ImportError):
        import lzma

        return lzma.LZMAError
    return EOFError


def files_in_zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a zip archive. All names are checked before anything is unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        names = check_names([entry.filename.rstrip("/") for entry in entries])
        total = 0
        for name, entry in zip(names, entries, strict=True):
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise UnreadableError(reason("unsafe", name=show_name(name), what="it is a link or a device"))
            if entry.is_dir():
                continue
            if is_hidden(name) or not name.endswith((".py", ".ipynb")):
                yield name, b""
                continue
            with archive.open(entry) as file:
                data_of_file = unpack(file, name, MOST_IN_ALL - total)
            total += len(data_of_file)
            yield name, data_of_file


def files_in_tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a tar archive. It is read as a stream, so it cannot expand beyond the limit."""
    total = 0
    names: set[str] = set()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:
        for entry in archive:
            add_name(names, entry.name)
            total += entry.size
            if total > MOST_IN_ALL:
                raise UnreadableError(reason("too_large", name=show_name(entry.name), most=MOST_IN_ALL >> 20))
            if not (entry.isreg() or entry.isdir()):
                raise UnreadableError(reason("unsafe", name=show_name(entry.name), what="it is a link or a device"))
            if entry.isdir():
                continue
            file = archive.extractfile(entry)
            assert file is not None
            is_read = entry.name.endswith((".py", ".ipynb")) and not is_hidden(entry.name)
            yield entry.name, unpack(file, entry.name, MOST_IN_ALL) if is_read else b""


def unpack(file: Any, name: str, most: int) -> bytes:
    """Unpack one file of an archive. Its size is counted while unpacking, whatever its header says."""
    data = file.read(min(most, MOST_BYTES) + 1)
    if len(data) > min(most, MOST_BYTES):
        raise UnreadableError(reason("too_large", name=show_name(name), most=MOST_BYTES >> 20))
    return data


def check_names(names: list[str]) -> list[str]:
    """Return the names in an archive if all are safe, and no two are equal on any file system."""
    seen: set[str] = set()
    for name in names:
        add_name(seen, name)
    return names


def add_name(seen: set[str], name: str) -> None:
    """Add a name in an archive to the earlier ones; raise if it is unsafe or equal to one of them."""
    check_name(name)
    folded = unicodedata.normalize("NFC", name).casefold()
    if folded in seen:
        raise UnreadableError(reason("unsafe", name=show_name(name), what="two files have the same name"))
    seen.add(folded)
    if len(seen) > MOST_FILES:
        raise UnreadableError(reason("too_many", count=MOST_FILES, what="files"))


def check_name(name: str) -> None:
    """Raise if a name leads out of the folder, or if some file system cannot hold it."""
    parts = name.replace("\\", "/").split("/")
    what = None
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        what = "its path is unsafe"
    elif any(not each.isprintable() or each == "\ufffd" for each in name) or any(len(part) > 200 for part in parts):
        what = "its name cannot be stored"
    elif any(RESERVED.match(part) for part in parts):
        what = "its name is reserved on some systems"
    if what:
        raise UnreadableError(reason("unsafe", name=show_name(name), what=what))


# Code ---------------------------------------------------------------------------------------------------------------


def decode_text(data: bytes) -> str:
    """Decode a program. Only UTF-8 is accepted: in some other encodings a comment can become code."""
    if b"\0" in data:
        raise UnreadableError(reason("bad_text", line=data[: data.index(b"\0")].count(b"\n") + 1, what="a zero byte"))
    data = data.removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(data.split(b"\n", 2)[:2], start=1):
        cookie = COOKIE.match(line)
        if cookie and cookie[1].decode("ascii").lower().replace("_", "-") not in UTF8_NAMES:
            raise UnreadableError(reason("bad_text", line=number, what=f"the encoding {cookie[1].decode('ascii')}"))
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UnreadableError(reason("bad_text", line=line, what="bytes that are not UTF-8")) from error


def read_program(data: bytes) -> list[Cell]:
    """Read the statements of a program as cells."""
    if len(data) > MOST_SOURCE:
        raise UnreadableError(reason("too_large", name="the program", most=MOST_SOURCE >> 20))
    return [Cell(f"line {line + 1}", source, line) for line, source in statements(decode_text(data))]


def read_notebook(data: bytes) -> list[Cell]:
    """Read the code cells of a notebook in format 4."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(reason("no_notebook", what="it is not JSON")) from error
    if type(book) is not dict or type(book.get("cells")) is not list:
        old = type(book) is dict and "worksheets" in book
        raise UnreadableError(reason("no_notebook", what="it has the old format 3" if old else "it has no cells"))
    if len(book["cells"]) > MOST_CELLS:
        raise UnreadableError(reason("too_many", count=MOST_CELLS, what="cells"))
    cells = [cell for number, each in enumerate(book["cells"], start=1) if (cell := code_cell(each, number))]
    if not cells:
        raise UnreadableError(reason("no_notebook", what="it has no code"))
    return cells


def code_cell(cell: Any, number: int) -> Cell | None:
    """Return a code cell without notebook commands; None for any other cell."""
    if type(cell) is not dict:
        raise UnreadableError(reason("no_notebook", what=f"cell {number} is not a cell"))
    source = cell.get("source", "")
    if type(source) is list and all(type(line) is str for line in source):
        source = "".join(source)
    if type(source) is not str:
        raise UnreadableError(reason("no_notebook", what=f"cell {number} has no text"))
    if cell.get("cell_type") != "code" or not source.strip():
        return None
    if "\0" in source or any("\ud800" <= each <= "\udfff" for each in source):
        raise UnreadableError(reason("bad_text", line=number, what="an invalid character"))
    if len(source) > MOST_SOURCE:
        raise UnreadableError(reason("too_large", name=f"cell {number}", most=MOST_SOURCE >> 20))
    metadata = cell.get("metadata", {})
    nbgrader = metadata.get("nbgrader", {}) if type(metadata) is dict else {}
    is_test = type(nbgrader) is dict and bool(nbgrader.get("grade")) and not nbgrader.get("solution")
    return Cell(f"cell {number}", remove_magics(source), 0, is_test)
