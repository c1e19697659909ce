"""The server's beginning: everything a student's process will want to import is imported once, then jobs are waited
for.

Started by `-c` with the folder of this package as its only argument, under a Python that looks at no settings of the
user.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import os
import socket
import sys
from pathlib import Path
from typing import Any

USUAL = (
    "abc", "ast", "bisect", "cmath", "collections.abc", "copy", "ctypes", "dataclasses", "enum", "functools", "gc",
    "heapq", "inspect", "io", "itertools", "json", "linecache", "math", "numbers", "operator", "os", "pathlib",
    "random", "re", "signal", "string", "struct", "textwrap", "threading", "time", "traceback", "types", "typing",
    "warnings", "weakref", "encodings.latin_1", "contextlib", "atexit", "codecs", "importlib", "locale",
    "numpy.linalg", "numpy.random", "numpy.lib.stride_tricks",
)  # fmt: skip
"""What answers import; what is not among it is found in the jail, a little later. Every fork pays for each of these."""


def import_all(folder: str) -> None:
    """Import NumPy from the folder it lies in, then forget that folder, and what is usual."""
    sys.path.append(folder)
    import numpy as np

    for name in USUAL:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    np.matmul(np.zeros((2, 3)), np.zeros((3, 2)))
    np.linalg.inv(np.eye(2))
    sys.path[:] = [place for place in sys.path if place != folder and "site-packages" not in place]


def carrying(folder: str) -> Any:
    """What carries out an exercise's request: from the exercises' own folder, under a name of its own."""
    found = importlib.util.spec_from_file_location("carrying_out", Path(folder, "__init__.py"),
                                                   submodule_search_locations=[folder])  # fmt: skip
    assert found is not None
    assert found.loader is not None
    package = sys.modules["carrying_out"] = importlib.util.module_from_spec(found)
    found.loader.exec_module(package)
    return package.carry_out


def main(folder: str, student: str, number: int) -> None:
    """Serve boxes to the grader that holds the other end of a socket."""
    import_all(folder)
    from .harness import run
    from .supervisor import serve

    carry_out = carrying(student)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory it looks through
    serve(socket.socket(fileno=number), lambda values: run(values, values + 1, carry_out))


def alone(folder: str, student: str) -> None:
    """One job from standard input to standard output, in this very process: where nothing can be forked or fenced."""
    import_all(folder)
    from .harness import run

    carry_out = carrying(student)

    values, feed = os.dup(1), os.dup(0)
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    limits_of_its_own()
    run(values, feed, carry_out)


def limits_of_its_own() -> None:
    """What a process may set for itself, where the system has such limits."""
    with contextlib.suppress(ImportError, OSError, ValueError, KeyError):
        import resource

        seconds, memory = int(os.environ["MARKED_CPU"]), int(os.environ["MARKED_MEMORY"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":
            now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
