"""The jail: a folder that holds Python's library and NumPy, and nothing else; a student's process has it as its root.

It is copied once for each version of Python and NumPy, and kept. Nothing in it can be run by itself: there is no shell
and no Python program; what is imported from it is imported into the process that is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip",
    "lib2to3", "config-*", "*.a", "*.pyi", "include",
)  # fmt: skip


def jail() -> Path:
    """The jail for this Python and this NumPy, made if there is none yet."""
    sources = [Path(sysconfig.get_path("stdlib")), Path(np.__file__).parent]
    state = "\n".join([sys.version, np.__version__, *map(str, sources), "2"])
    place = cache() / f"jail-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
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


def build(place: Path, sources: list[Path]) -> None:
    """Copy what is needed beside the place, then put it there at once; who comes second finds it there."""
    made = Path(tempfile.mkdtemp(prefix="jail-", dir=place.parent))
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
    except OSError:
        if not place.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
