"""Comparison with another checkout of this engine: the same steps, in two processes that take turns.

    make bench BENCH_ARGS="--against ../before --only W3,modes"

Both processes run the benchmarks of this checkout, each with its own engine, so only the engine differs.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tqdm import tqdm

import micrograd_plus

from . import (
    modes,
    pieces,
    residual_network,
    transforms,
    updates,
    w1_scalar_mlp,
    w3_small_mlp,
    w4_mnist_mlp,
    w5_cnn,
    w6_transformer,
    w7_rnn,
    w8_broadcasting,
    w9_second_order,
)
from .harness import Call, Effort, sample, settle_allocator
from .report import Outcome, Row

KINDS: dict[str, tuple[type, ...]] = {
    "W1": (w1_scalar_mlp.Ours,),
    "W3": (w3_small_mlp.Ours, w3_small_mlp.OursApart, w3_small_mlp.OursRecorded),
    "W4": (w4_mnist_mlp.Ours,),
    "W5": (w5_cnn.Ours,),
    "W6": (w6_transformer.Ours,),
    "W7": (w7_rnn.Ours, w7_rnn.OursAtOnce),
    "W8": (w8_broadcasting.Ours,),
    "W9": (w9_second_order.Ours,),
}
CALLS: dict[str, tuple[Callable[[], list[Call]], ...]] = {
    "W5": (residual_network.ours,),
    "updates": (updates.ours,),
    "modes": (modes.applications, modes.inference, modes.nodes_with_hooks),
    "transforms": (transforms.ours,),
    "pieces": (pieces.powers, pieces.ours),
}
MOST_SLOWER = 1.03
"""The most that a step may take, compared with the other engine."""


def contenders(workload: str) -> list[Any]:
    """Return the steps of a workload in the engine of this process, except the steps that it rejects."""
    found = [kind() for kind in KINDS.get(workload, ())]
    found += [call for calls in CALLS.get(workload, ()) for call in calls()]
    return [each for each in found if not fails(each)]


def fails(contender: Any) -> bool:
    """Return True if a step raises an error, as a way of writing that an engine does not support does."""
    try:
        contender.step()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return True
    return False


def serve(workload: str) -> None:
    """Print the engine's file and the names of the steps, then answer each line `NAME REPEATS` with the CPU seconds of
    one step."""
    settle_allocator()
    found = {each.name: each for each in contenders(workload)}
    print(json.dumps(micrograd_plus.__file__))
    print(json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        name, repeats = json.loads(line)
        print(json.dumps(sample(found[name], repeats)), flush=True)


class Engine:
    """A process that runs the steps of a workload with the engine of one checkout."""

    def __init__(self, checkout: Path, workload: str):
        here = Path(__file__).resolve().parent.parent
        path = os.pathsep.join(map(str, (checkout, checkout / "viz", here)))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchmarks.against", workload], env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        engine = Path(self._read())
        if not engine.is_relative_to(checkout):
            raise RuntimeError(f"expected the engine of {checkout}, but the process imported {engine}")
        self.names: list[str] = self._read()

    def _read(self) -> Any:
        """Return the next answer."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the benchmarks ended with exit code {self.process.wait()}")
        return json.loads(line)

    def time(self, name: str, repeats: int) -> float:
        """Return the CPU seconds of one step, as the mean of some repeats."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, repeats]) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare_engines(other: Path, workload: str, effort: Effort) -> Outcome:
    """Return the time of each step of a workload, divided by its time with the engine of another checkout."""
    ours, theirs = Engine(Path(__file__).resolve().parents[2], workload), Engine(other.resolve(), workload)
    rows, taken = [], {}
    for name in tqdm([name for name in ours.names if name in theirs.names], desc=workload, leave=False):
        once = min(ours.time(name, 1) for _ in range(3))
        repeats = max(1, round(effort.sample / max(once, 1e-6)))
        rounds = max(effort.fewest, min(effort.most, round(effort.workload / max(2 * repeats * once, 1e-3))))
        times: dict[Engine, list[float]] = {ours: [], theirs: []}
        for _ in range(rounds):
            for engine in random.sample([ours, theirs], 2):
                times[engine].append(engine.time(name, repeats))
        ratio = statistics.median(a / b for a, b in zip(times[ours], times[theirs], strict=True))
        rows.append(Row(workload, f"{name}, time over the other engine's", ratio, at_most=MOST_SLOWER))
        taken |= {name: 1e6 * min(times[ours]), f"{name}, other engine": 1e6 * min(times[theirs])}
    taken |= {name: "only here" for name in ours.names if name not in theirs.names}
    ours.close()
    theirs.close()
    return Outcome(f"{workload}, beside another engine", "us", rows, taken)


def run(other: Path, workloads: Iterable[str], effort: Effort) -> list[Outcome]:
    """Compare this engine with the one of another checkout."""
    return [compare_engines(other, name, effort) for name in workloads if name in KINDS.keys() | CALLS.keys()]


if __name__ == "__main__":
    serve(sys.argv[1])
