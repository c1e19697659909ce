"""One contender of a workload in a process of its own, where glibc gives freed memory back to the system.

Only the module of the workload is imported: large arrays of others would keep freed memory in the process.
"""

import importlib
import json
import statistics
import sys
from typing import Any

import numpy as np

from .harness import in_fresh_process, sample
from .peers import ByHand, with_program

PAIRS, MOST_VARIABLES, LONGEST = 11, 20, 1000
"""How many pairs of processes, and how many variables of which length are added to their environments at most."""


def measure_step(module_name: str, kind: str) -> float:
    """Return the CPU time in ms of one step in this process: the median of several rounds."""
    module = importlib.import_module(f"benchmarks.{module_name}")
    classes: list[Any] = [x for x in vars(module).values() if isinstance(x, type)]
    kinds = [x for x in classes if issubclass(x, ByHand) and x is not ByHand]
    contender = kinds[0]() if kind == "by hand" else with_program(module.Ours)()
    for _ in range(5):
        contender.step()
    return 1e3 * statistics.median(sample(contender, 10) for _ in range(9))


def compare_processes(module_name: str) -> float:
    """Return the time of a program over NumPy by hand, each in fresh processes: the median of several ratios.

    With some environments, a small block of the process lies above the arrays by hand, and glibc cannot give them back.
    Processes of one shell share its environment, so each pair here has variables of its own.
    """
    ratios, rng = [], np.random.default_rng(0)
    for _ in range(PAIRS):
        lengths = rng.integers(1, LONGEST, size=rng.integers(MOST_VARIABLES)).tolist()
        variables = {f"PADDING_{i}": "x" * length for i, length in enumerate(lengths)}
        times = [
            in_fresh_process("-m", "benchmarks.alone", module_name, kind, **variables)
            for kind in ("written", "by hand")
        ]
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)


if __name__ == "__main__":
    print(json.dumps(measure_step(*sys.argv[1:3])))
