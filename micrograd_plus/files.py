"""Reading of untrusted files, and atomic writing.

Reading: sizes are bounded, and every fault raises a FileError. Writing: `atomic_file` writes a temporary file beside
the target and renames it when it is complete. A full disk, Ctrl-C or a killed process leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

MOST_AXES, LONGEST_AXIS = 64, 2**63 - 1
DEEPEST_NAME = 64
LONGEST_MESSAGE = 600
"""Longest error message, since names and shapes in a file may have any length."""
TEMPORARY = "being-written"
"""Part of the name of each temporary file, which lies beside its target."""


class FileError(ValueError):
    """Error for a damaged or malicious file; it names the file, the position in it, and the fault.

    `mg.load` and `mg.load_trace` raise it for every file that they reject; a missing file raises Python's
    FileNotFoundError.

    Args:
        message: the fault, with the file and the position.
    Raises: nothing.
    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = folder + "/weights.npz"
        ...     _ = open(path, "wb").write(b"no archive")
        ...     try:
        ...         mg.load(path)
        ...     except mg.FileError as error:
        ...         print(error)
        weights.npz cannot be read as .npz: File is not a zip file

    See: the documentation of the safetensors format, on files that a reader must reject.
    """

    def __init__(self, message: str):
        said = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        super().__init__(said.encode("utf-8", "backslashreplace").decode())  # printable, whatever the file contains


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading. A device would never end, and a pipe would wait for a writer."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except IsADirectoryError:
        raise FileError(f"{os.fspath(path)} is a folder") from None
    except ValueError as error:
        raise FileError(f"{os.fspath(path)!r} is no path: {error}") from None
    file = os.fdopen(handle, "rb") if stat.S_ISREG(os.fstat(handle).st_mode) else None
    if file is None:
        os.close(handle)
        raise FileError(f"{os.fspath(path)} is no regular file")
    return file


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a file of at most `most` bytes."""
    with open_regular(path) as file:
        content = file.read(most + 1)
        size = max(os.fstat(file.fileno()).st_size, len(content))
    if size > most:
        raise FileError(f"{os.fspath(path)} has {size} bytes; {most} are the most")
    return content


def count_entries(shape: Any) -> int:
    """Return the number of entries of a claimed shape; unbounded lengths are rejected."""
    if not isinstance(shape, (list, tuple)) or len(shape) > MOST_AXES:
        raise FileError(f"a shape must be a list of at most {MOST_AXES} lengths, got {shorten(shape)}")
    for length in shape:
        if type(length) is not int or not 0 <= length <= LONGEST_AXIS:
            raise FileError(f"a length must be a whole number from 0 to 2**63 - 1, got {shorten(length)}")
    count = 0 if 0 in shape else 1
    for length in shape:
        count *= length
        if count > LONGEST_AXIS:
            raise FileError(f"the shape {shorten(shape)} has more entries than there can be")
    return count


def split_name(name: str) -> list[str]:
    """Split a name at "/"; names that are too deep or cannot be encoded are rejected."""
    if name.count("/") >= DEEPEST_NAME:
        raise FileError(f"the name {shorten(name)} is nested more than {DEEPEST_NAME} deep")
    check_text(name)
    return name.split("/")


def check_text(text: str) -> None:
    """Raise FileError for text that cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileError(f"{shorten(text)} holds half of a pair of surrogates, which is no character") from None


def shorten(value: Any) -> str:
    """Format a value for an error message, shortened; Python refuses to print numbers of thousands of digits."""
    if type(value) is int:
        return str(value) if value.bit_length() < 200 else f"a number of {value.bit_length()} bits"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(shorten, value[:8])) + (", ..." if len(value) > 8 else "")
        return f"[{shown}]" if isinstance(value, list) else f"({shown}{',' if len(value) == 1 else ''})"
    said = repr(value)
    return said if len(said) < 100 else f"{said[:100]} ..."


# Writing --------------------------------------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], content: str | bytes, *, private: bool = False) -> None:
    """Write a file completely or not at all. Text is encoded as UTF-8; its line ends stay as they are."""
    with atomic_file(path, private=private) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """Yield a temporary file to write into. It replaces `path` if the block ends without an error.

    The new file has the permissions of the old one; if `private`, only its owner can read it. A symbolic link stays a
    link, and the file that it points to is replaced. A device or a pipe is written to directly. An OSError names
    `path`.
    """
    with errors_naming(path):
        target = find_target(path)
        if target is None:
            with Path(path).open("wb") as file:
                yield file
            return
        with temporary_beside(target, 0o600 if private else 0o666) as (temporary, file):
            yield file
            file.flush()
            if not private:
                copy_permissions(target, temporary)
            os.fsync(file.fileno())
            if os.name == "nt":  # Windows cannot rename an open file
                file.close()
            temporary.replace(target)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder completely or not at all. Raise OSError if there is a target that is not empty."""
    with errors_naming(target), temporary_beside(target, 0o600) as (temporary, _):
        folder = temporary.with_name(f"{temporary.name}-folder")
        shutil.rmtree(folder, ignore_errors=True)  # a killed process may have left it
        try:
            shutil.copytree(source, folder, copy_function=lambda each, copy: write_file(copy, Path(each).read_bytes()))
            folder.replace(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def find_target(path: str | os.PathLike[str]) -> Path | None:
    """Return the file that a path points to, which need not exist; None for a device or a pipe."""
    target = Path(os.path.realpath(path))
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    is_open_file = Path(path).is_symlink() and str(Path(path).absolute()).startswith(("/dev/", "/proc/"))
    if not stat.S_ISREG(mode) or is_open_file:  # /dev/stdout may be a file; a file in /dev/shm is like any other
        return None
    if not os.access(target, os.W_OK):  # it could be replaced all the same
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    return target


def copy_permissions(source: Path, target: Path) -> None:
    """Give a file the permissions of another one, and its owner where the system allows that."""
    with contextlib.suppress(FileNotFoundError):
        old = source.stat()
        with contextlib.suppress(OSError, AttributeError):
            os.chown(target, old.st_uid, old.st_gid)
        target.chmod(stat.S_IMODE(old.st_mode))


@contextlib.contextmanager
def errors_naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make an OSError of the system name `path`, and not a temporary file."""
    try:
        yield
    except OSError as error:
        about = str(error.filename or "")
        if error.errno is None or (about and TEMPORARY not in about):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextlib.contextmanager
def temporary_beside(target: Path, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a temporary file and its path. At the end the file is closed, and removed unless it was renamed."""
    temporary, file = create_temporary(target, mode)
    with file:
        created = os.fstat(file.fileno())
        try:
            yield temporary, file
        finally:
            with contextlib.suppress(OSError):
                if os.path.samestat(created, temporary.stat()):  # else it was renamed, and the name may be in use again
                    temporary.unlink()


def create_temporary(target: Path, mode: int) -> tuple[Path, BinaryIO]:
    """Create and lock a temporary file beside a target.

    Its name is the first free one of a series for this target. A name is free unless a running process has locked the
    file. So each write removes what a killed process left, and no folder has to be searched.
    """
    code = zlib.crc32(os.fsencode(target.name))  # any name can be too long for a longer one
    for number in itertools.count():
        temporary = target.with_name(f".{target.name[:40]}-{code:08x}.{TEMPORARY}-{number}")
        remove_leftover(temporary)
        try:
            file = open(temporary, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115 - the caller closes it
        except FileExistsError:
            continue
        if has_lock(file, without_locks=True) and os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # another process removed it before it was locked
    return temporary, file


def remove_leftover(temporary: Path) -> None:
    """Remove a temporary file unless a running process has locked it."""
    with contextlib.suppress(OSError), temporary.open("rb") as file:
        is_locked = has_lock(file, without_locks=False)
        if is_locked and os.path.samestat(os.fstat(file.fileno()), temporary.stat()):  # else it was just renamed
            temporary.unlink()


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder."""
    for temporary in folder.glob(f".*.{TEMPORARY}-*"):
        remove_leftover(temporary)


def has_lock(file: BinaryIO, *, without_locks: bool) -> bool:
    """Lock a file and return whether that worked; return `without_locks` where the system or the disk has no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as error:
        return without_locks and not isinstance(error, BlockingIOError)
    return True
