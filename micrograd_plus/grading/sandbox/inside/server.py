"""Entry points of the processes that run student code. They import once what submissions usually import.

The grader starts them with `python -c` and settings that ignore the user's environment (see `boxes.server_command`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import math
import os
import socket
import sys
from pathlib import Path
from typing import Any

PRELOADED = (
    "abc", "ast", "bisect", "cmath", "collections.abc", "copy", "ctypes", "dataclasses", "enum", "functools", "gc",
    "heapq", "inspect", "io", "itertools", "json", "linecache", "math", "numbers", "operator", "os", "pathlib",
    "random", "re", "signal", "string", "struct", "textwrap", "threading", "time", "traceback", "types", "typing",
    "warnings", "weakref", "encodings.latin_1", "contextlib", "atexit", "codecs", "importlib", "locale",
    "numpy.linalg", "numpy.random", "numpy.lib.stride_tricks",
)  # fmt: skip
"""Modules that answers often import. Other modules are imported from the chroot when needed, which takes longer. Each
module listed here makes every fork a little slower."""


def import_modules(folder: str) -> None:
    """Import NumPy from its folder, remove that folder from the path, and import the preloaded modules."""
    sys.path.append(folder)
    import numpy as np

    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    np.matmul(np.zeros((2, 3)), np.zeros((3, 2)))
    np.linalg.inv(np.eye(2))
    sys.path[:] = [place for place in sys.path if place != folder and "site-packages" not in place]


def load_carry_out(folder: str) -> Any:
    """Load the function that carries out a request, from the folder of the exercises package that holds no answers."""
    spec = importlib.util.spec_from_file_location("carrying_out", Path(folder, "__init__.py"),
                                                  submodule_search_locations=[folder])  # fmt: skip
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["carrying_out"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package.carry_out


def warm_up(carry_out: Any) -> None:
    """Carry out calls that any student's process makes, so that their code is specialised before the forks.

    Python writes into code that it runs for the first time, and a fork pays for every page that it changes.
    """
    import numpy as np

    from .harness import call_answer
    from .wire import encode

    request = {"driver": "call", "arguments": {"x": np.ones((2, 3))}, "functions": [], "answers": ["x"]}
    call_answer(lambda x: 1 - x**2, [encode(request, 1 << 20)] * 20, {}, lambda *frames: None, 1 << 20, carry_out)


def serve_boxes(numpy_folder: str, exercises_folder: str, number: int) -> None:
    """Fork a box for each request of the grader, which is connected to the socket with this number."""
    import_modules(numpy_folder)
    from .harness import run
    from .supervisor import serve

    carry_out = load_carry_out(exercises_folder)
    warm_up(carry_out)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory that it visits
    serve(socket.socket(fileno=number), lambda values: run(values, values + 1, carry_out))


def run_without_box(numpy_folder: str, exercises_folder: str) -> None:
    """Carry out one run in this process, from standard input to standard output, on systems without a sandbox."""
    import_modules(numpy_folder)
    from .harness import run

    carry_out = load_carry_out(exercises_folder)

    values, feed = os.dup(1), os.dup(0)
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    limit_this_process()
    run(values, feed, carry_out)


def limit_this_process() -> None:
    """Set limits for time and memory if the system has them."""
    with contextlib.suppress(ImportError, OSError, ValueError, KeyError):
        import resource

        used = math.ceil(sum(os.times()[:2]))
        seconds, memory = used + int(os.environ["GRADING_CPU"]), int(os.environ["GRADING_MEMORY"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":
            now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
            resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
