"""W2: a chain of N scalar operations, x = x * a and x = x + b in turns: time and memory per node, and depth.

Run as a program with the name of a contender and N, it measures that contender in a new process, because a million
nodes change the memory of a process.
"""

import gc
import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tqdm import tqdm

from .harness import Effort, Times, agree, compare, gather, in_fresh_process, sample, settle_allocator
from .report import Outcome, Row

START, FACTOR, TERM = 1.0, 0.9999999, 1e-7
MILLION = 1_000_000


class Chain:
    """A chain of `length` nodes. A library defines its leaves."""

    name: str

    def __init__(self, length: int) -> None:
        self.length = length

    def leaves(self) -> tuple:
        """Return new leaves: the start, the factor, the term."""
        raise TypeError(f"{type(self).__name__} must say what its leaves are")

    def step(self) -> None:
        """Build the chain and walk it."""
        x, a, b = leaves = self.leaves()
        for _ in range(self.length // 2):
            x = x * a
            x = x + b
        x.backward()
        self.received = [leaf.grad for leaf in leaves]

    def gradients(self) -> list[np.ndarray]:
        self.step()
        return [np.array(float(gradient)) for gradient in self.received]


class PythonByHand(Chain):
    """Floats and two loops: the limit of any scalar engine. It keeps only the values that the products need."""

    name = "python_by_hand"

    def step(self) -> None:
        x, a, b, multiplied = START, FACTOR, TERM, []
        for _ in range(self.length // 2):
            multiplied.append(x)
            x = x * a + b
        upstream, to_a, to_b = 1.0, 0.0, 0.0
        for x in reversed(multiplied):
            to_b += upstream
            to_a += upstream * x
            upstream *= a
        self.received = [upstream, to_a, to_b]


class OfValues(Chain):
    """A chain of the Values of an engine."""

    value: type

    def leaves(self) -> tuple:
        return self.value(START), self.value(FACTOR), self.value(TERM)


class Micrograd(OfValues):
    """micrograd recurses once for each node, so Python's limit is raised for it."""

    name = "micrograd"

    def __init__(self, length: int) -> None:
        from micrograd.engine import Value

        super().__init__(length)
        self.value = Value

    def step(self) -> None:
        with deep_enough(self.length):
            super().step()


class Ours(OfValues):
    """This engine's Value, at Python's own recursion limit."""

    name = "micrograd_plus"

    def __init__(self, length: int) -> None:
        from micrograd_plus.engine import Value

        super().__init__(length)
        self.value = Value


class Torch(Chain):
    """0-d tensors of float64."""

    name = "torch"

    def __init__(self, length: int) -> None:
        import torch

        torch.set_num_threads(1)
        super().__init__(length)
        self.torch = torch

    def leaves(self) -> tuple:
        return tuple(self.torch.tensor(number, dtype=self.torch.float64, requires_grad=True)
                     for number in (START, FACTOR, TERM))


class Autograd(Chain):
    """HIPS autograd on floats: it builds its graph and walks it in one call."""

    name = "autograd"

    def __init__(self, length: int) -> None:
        import autograd

        super().__init__(length)
        self.gradients_of_end = autograd.grad(self.end, (0, 1, 2))

    def end(self, x: float, a: float, b: float) -> float:
        for _ in range(self.length // 2):
            x = x * a
            x = x + b
        return x

    def step(self) -> None:
        self.received = list(self.gradients_of_end(START, FACTOR, TERM))


KINDS = (PythonByHand, Ours, Micrograd, Torch, Autograd)


@contextmanager
def deep_enough(length: int) -> Iterator[None]:
    """Raise Python's recursion limit for a walk that recurses over `length` nodes."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(usual + 2 * length)
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def at_length(length: int, left_out: set[str], effort: Effort) -> tuple[Times, dict[str, str]]:
    """Time all contenders in turns, at one length."""
    made, missing = gather(KINDS, left_out, length)
    agree(made, 1e-9)
    return compare(made, effort, f"W2 {length:,}"), missing


def memory(line: str) -> int:
    """Return the resident bytes of this process, as Linux counts them: now (VmRSS), or at most so far (VmHWM).

    Without /proc, both are the maximum so far.
    """
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(each.split(":", maxsplit=1) for each in status.read_text(encoding="utf-8").splitlines())
        return int(fields[line].split()[0]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure_in_process(name: str, length: int) -> dict[str, float]:
    """Return bytes and seconds per node, measured in a new process."""
    return in_fresh_process("-m", "benchmarks.w2_chain", name, str(length))


def measure_here(name: str, length: int) -> dict[str, float]:
    """Return the numbers that `alone` reports, measured in this process."""
    settle_allocator()
    chain = next(kind for kind in KINDS if kind.name == name)(length)
    gc.collect()
    before = memory("VmRSS")
    taken = [sample(chain, 1)]
    grown = memory("VmHWM") - before
    while len(taken) < 3 and sum(taken) < 5:
        taken.append(sample(chain, 1))
    return {"nodes": length, "bytes": grown / length, "seconds": statistics.median(taken) / length}


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare at a thousand and a hundred thousand nodes in turns; at a million, in one process each."""
    outcomes, rows = [], []
    for length, goal in ((1_000, 1.7), (100_000, 5)):
        slow = {Autograd.name} if effort.quick and length > 1_000 else set()
        times, missing = at_length(length, without | slow, effort)
        rows.append(Row("W2", f"times faster than micrograd, {length:,} nodes",
                        times.ratio(Micrograd.name, Ours.name), at_least=goal))
        taken = times.medians(1e6 / length) | missing
        outcomes.append(Outcome(f"W2 chain of {length:,}, per node", "us", [], taken))
    kinds = (PythonByHand, Ours) if effort.quick else KINDS
    names = [kind.name for kind in kinds if kind.name not in missing]
    million = {name: measure_in_process(name, MILLION) for name in tqdm(names, desc="W2 1,000,000", leave=False)}
    ours = million.get(Ours.name, {})
    rows += [
        Row("W2", "walked at Python's own recursion limit", ours.get("nodes"), "nodes", at_least=MILLION),
        Row("W2", "time per node, 1,000,000", ours.get("seconds") and ours["seconds"] * 1e6, "us", at_most=2),
        Row("W2", "memory per node, 1,000,000 (resident set)", ours.get("bytes"), "B", at_most=230),
    ]
    outcomes += [
        Outcome("W2 chain of 1,000,000, per node", "us", rows,
                {name: each["seconds"] * 1e6 for name, each in million.items()} | missing),
        Outcome("W2 chain of 1,000,000, memory per node", "B", [],
                {name: each["bytes"] for name, each in million.items()} | missing),
    ]
    return outcomes


if __name__ == "__main__":
    print(json.dumps(measure_here(sys.argv[1], int(sys.argv[2]))))
