"""Processor instructions of each step, compared with another checkout of this engine.

    make bench BENCH_ARGS="--against ../before --instructions --only W3,modes"

Valgrind counts them. The number is the same on a busy and on an idle machine, so one run tells a difference of 1 %. It
says nothing about caches and memory; `--against` alone compares times.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tqdm import tqdm

import micrograd_plus

from .against import CALLS, KINDS, MOST_SLOWER, contenders
from .report import Outcome, Row

SECONDS, FEWEST, MOST = 4.0, 2, 100
"""How long the steps of one contender run under Valgrind, and the least and the largest number of them."""


START = "start"
"""The workload that is the import."""
IMPORT = "import os, json, micrograd_plus; print(json.dumps([micrograd_plus.__file__, os.getpid()]))"


def serve(workload: str) -> None:
    """Print the engine's file, and for each step the number of repeats and the two processes that have run it: one no
    further times, the other as often as that."""
    processes = {}
    for contender in contenders(workload):
        with getattr(contender, "around", nullcontext)():
            start = time.process_time()
            for _ in range(3):
                contender.step()
            repeats = round(min(MOST, max(FEWEST, SECONDS / (time.process_time() - start) * 3)))
            for _ in range(min(20, repeats)):  # Python adapts its bytecode to what runs often
                contender.step()
            gc.collect()
            gc.freeze()
            processes[contender.name] = repeats, [run_in_child(contender, count) for count in (0, repeats)]
    print(json.dumps([micrograd_plus.__file__, processes]))


def run_in_child(contender: Any, count: int) -> int:
    """Run a step some times in a forked process, whose instructions Valgrind counts apart. Return its number."""
    child = os.fork()
    if not child:
        for _ in range(count):
            contender.step()
        os._exit(0)
    os.waitpid(child, 0)
    return child


def under_valgrind(checkout: Path, folder: str, *words: str) -> Any:
    """Run Python with the engine of a checkout. Valgrind writes the instructions of each process into a file of the
    folder. Return what it printed beside its engine."""
    here = Path(__file__).resolve().parent.parent
    path = os.pathsep.join(map(str, (checkout, checkout / "viz", here)))
    # The same hashes and the same BLAS kernels in both processes; Valgrind does not know AVX-512.
    fixed = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"}
    environment = {**os.environ, **fixed, "PYTHONDONTWRITEBYTECODE": ""}
    valgrind = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/%p"]
    command = [*valgrind, sys.executable, "-P", *words]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    engine, result = json.loads(done.stdout.splitlines()[-1])
    if not Path(engine).is_relative_to(checkout):
        raise RuntimeError(f"expected the engine of {checkout}, but the process imported {engine}")
    return result


def total_in(folder: str, process: int) -> int:
    """Return the instructions of a process, from Valgrind's file."""
    text = Path(folder, str(process)).read_text(encoding="utf-8")
    return int(re.findall(r"^summary: (\d+)", text, re.MULTILINE)[0])


def count_instructions(checkout: Path, workload: str) -> dict[str, float]:
    """Return the instructions of each step of a workload with the engine of a checkout."""
    if workload == START:
        return {"import of a new process": count_import(checkout)}
    with tempfile.TemporaryDirectory() as folder:
        processes = under_valgrind(checkout, folder, "-m", "benchmarks.instructions", workload)
        counts = {}
        for name, (repeats, children) in processes.items():
            none, some = (total_in(folder, child) for child in children)
            counts[name] = (some - none) / repeats
    return counts


def count_import(checkout: Path) -> int:
    """Return the instructions of a process that imports the engine of a checkout, Python's start and NumPy included."""
    for _ in range(2):  # the first import may have to write bytecode
        with tempfile.TemporaryDirectory() as folder:
            process = under_valgrind(checkout, folder, "-c", IMPORT)
            count = total_in(folder, process)
    return count


def compare_engines(other: Path, workload: str) -> Outcome:
    """Return the instructions of each step of a workload, divided by those with the engine of another checkout."""
    ours, theirs = (count_instructions(each, workload) for each in (Path(__file__).resolve().parents[2], other))
    rows = [
        Row(workload, f"{name}, instructions over the other engine's", count / theirs[name], at_most=MOST_SLOWER)
        for name, count in ours.items() if name in theirs
    ]  # fmt: skip
    taken: dict[str, float | str] = {}
    for name, count in ours.items():
        taken |= {name: count / 1e3, f"{name}, other engine": theirs[name] / 1e3 if name in theirs else "only here"}
    return Outcome(f"{workload}, beside another engine", "k", rows, taken)


def run(other: Path, workloads: Iterable[str]) -> list[Outcome]:
    """Compare this engine with the one of another checkout."""
    names = [name for name in workloads if name in KINDS.keys() | CALLS.keys() | {START}]
    return [compare_engines(other.resolve(), name) for name in tqdm(names, leave=False)]


if __name__ == "__main__":
    serve(sys.argv[1])
