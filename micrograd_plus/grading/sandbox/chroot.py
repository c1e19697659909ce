"""The jail: a folder that holds Python's library and NumPy, and nothing else; a student's process has it as its root.

It is copied once for each version of Python and NumPy, and kept. Nothing in it can be run by itself: there is no shell
and no Python program; what is imported from it is imported into the process that is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip",
    "lib2to3", "config-*", "*.a", "*.pyi", "include",
)  # fmt: skip
HALF_BUILT = "half-built-"


def jail() -> Path:
    """The jail for this Python and this NumPy, made if there is none yet."""
    sources = [Path(sysconfig.get_path("stdlib")), Path(np.__file__).parent]
    state = "\n".join([sys.version, np.__version__, *map(str, sources), "2"])
    place = cache() / f"jail-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    if not place.is_dir():
        with one_at_a_time():
            if not place.is_dir():
                build(place, sources)
    return place


def cache() -> Path:
    """Where it is kept: a folder that is the grader's own, which nobody else can write."""
    home = os.environ.get("MICROGRAD_PLUS_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    place = Path(home, "micrograd_plus")
    place.mkdir(parents=True, exist_ok=True, mode=0o755)
    state = place.stat()
    if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or state.st_mode & 0o022):
        raise PermissionError(f"{place} can be written by others, so nothing is trusted that lies there")
    return place


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Nobody else builds meanwhile; so whatever is half built here was left by somebody who was killed."""
    import fcntl

    with (cache() / "building").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache().glob(f"{HALF_BUILT}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def build(place: Path, sources: list[Path]) -> None:
    """Copy what is needed beside the place, then put it there at once."""
    made = Path(tempfile.mkdtemp(prefix=HALF_BUILT, dir=place.parent))
    try:
        for source in sources:
            shutil.copytree(source, made / source.relative_to(source.anchor), ignore=LEFT_OUT)
        for name in ("box", "boxes"):
            (made / name).mkdir()
        for path in made.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        (made / "boxes").chmod(0o711)
        made.chmod(0o755)
        made.replace(place)
    finally:
        shutil.rmtree(made, ignore_errors=True)
