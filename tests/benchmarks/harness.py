"""Fair comparison: check that contenders agree, then time them in turns, in one process.

Measures for repeatable numbers on a busy machine: CPU time instead of wall-clock time; every round runs every
contender once, in a new random order; the reported ratio is the median of the ratios within rounds; garbage
of one contender is collected before the next one starts; the allocator is in the same state for all.
"""

import gc
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


class Contender(Protocol):
    """One way of computing a workload. The constructor raises ImportError if its library is not installed."""

    name: str

    def gradients(self) -> list[np.ndarray]:
        """Return the gradients in the common order and shapes, without an update."""
        ...

    def step(self) -> object:
        """Run the timed step: the loss, its gradients, and the update if the workload has one."""
        ...


@dataclass(frozen=True)
class Call:
    """A contender that is one line of code. `around` is active during the timing, but is not timed."""

    name: str
    step: Callable[[], object]
    gradients: Callable[[], list[np.ndarray]] = list
    around: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True)
class Effort:
    """Duration of measurements: seconds for each sample and workload, and bounds for the number of rounds."""

    sample: float = 0.03
    workload: float = 20.0
    fewest: int = 5
    most: int = 31
    quick: bool = False


QUICK = Effort(sample=0.01, workload=4.0, fewest=3, most=11, quick=True)


@dataclass(frozen=True)
class Times:
    """CPU seconds of one step: a list for each contender with one entry per round, and the reasons of missing ones."""

    rounds: dict[str, list[float]]
    missing: dict[str, str] = field(default_factory=dict)

    def medians(self, scale: float) -> dict[str, float | str]:
        """Return each contender's median, multiplied by `scale`, and the reasons of missing ones."""
        return {name: statistics.median(each) * scale for name, each in self.rounds.items()} | self.missing

    def ratio(self, above: str, below: str) -> float | None:
        """Return the median of the ratios within each round; None if one of the two did not run."""
        if above not in self.rounds or below not in self.rounds:
            return None
        return statistics.median(a / b for a, b in zip(self.rounds[above], self.rounds[below], strict=True))


def gather(kinds: Iterable[type], without: set[str], *given: object
           ) -> tuple[list[Contender], dict[str, str]]:
    """Return the contenders that can run, and the reasons why others cannot, by name."""
    found, missing = [], {}
    for kind in kinds:
        if kind.name.split()[0] in without:
            missing[kind.name] = "left out"
            continue
        try:
            found.append(kind(*given))
        except ImportError:
            missing[kind.name] = "not installed"
    return found, missing


def gather_calls(makers: dict[str, Callable[[], list[Call]]], without: set[str]) -> list[Call]:
    """Return the calls of each library that is installed and not excluded."""
    found = []
    for library, make in makers.items():
        if library not in without:
            with suppress(ImportError):
                found += make()
    return found


def agree(contenders: list[Contender], tolerance: float) -> None:
    """Check every gradient against torch, or against the first contender without torch."""
    reference = next((each for each in contenders if each.name == "torch"), contenders[0])
    expected = reference.gradients()
    for contender in contenders:
        received = contender.gradients()
        if len(received) != len(expected):
            raise AssertionError(f"{contender.name} gives {len(received)} gradients, "
                                 f"{reference.name} {len(expected)}")
        for place, (ours, theirs) in enumerate(zip(received, expected, strict=True)):
            error = np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))
            if ours.shape != theirs.shape or not error <= tolerance:
                raise AssertionError(f"gradient {place} of {contender.name} is {error:.1e} away from "
                                     f"{reference.name}'s: nothing is timed before they agree")


def in_fresh_process(*words: str, **variables: str) -> Any:
    """Run a new Python with these arguments and variables of the environment, and return its JSON output."""
    usual = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **usual, **variables}
    command = [sys.executable, *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def settle_allocator() -> None:
    """Put glibc's malloc into the state that a long program reaches by itself.

    Its threshold for giving memory back rises to the largest block it has seen freed (mallopt(3),
    M_MMAP_THRESHOLD); below it, every step would fault its pages in again. In a young process that doubles W5, W6 and
    W8, by hand as well, and leaves W4 and W7 as they are.
    """
    bytearray(31 << 20)


def sample(contender: Contender, repeats: int) -> float:
    """Return the CPU seconds of one step, as the mean over `repeats` of them."""
    gc.collect()
    step = contender.step
    with getattr(contender, "around", nullcontext)():
        start = time.process_time()
        for _ in range(repeats):
            step()
        seconds = time.process_time() - start
    return seconds / repeats


def race(title: str, kinds: Iterable[type], tolerance: float, effort: Effort, without: set[str]) -> Times:
    """Create the contenders of a workload, compare their gradients, and time them in turns."""
    contenders, missing = gather(kinds, without)
    agree(contenders, tolerance)
    return Times(compare(contenders, effort, title).rounds, missing)


def compare(contenders: list[Contender], effort: Effort, title: str) -> Times:
    """Time all contenders in turns."""
    from tqdm import tqdm

    settle_allocator()
    for contender in contenders:
        contender.step()
    gc.collect()
    gc.freeze()
    first = {each.name: sample(each, 1) for each in contenders}
    repeats = {name: max(1, round(effort.sample / max(seconds, 1e-6))) for name, seconds in first.items()}
    per_round = sum(max(effort.sample, seconds) for seconds in first.values()) + 0.02 * len(contenders)
    rounds = max(effort.fewest, min(effort.most, round(effort.workload / per_round)))
    measured: dict[str, list[float]] = {each.name: [] for each in contenders}
    order = list(contenders)
    with tqdm(total=rounds * len(order), desc=title, leave=False) as bar:
        for _ in range(rounds):
            random.shuffle(order)
            for contender in order:
                measured[contender.name].append(sample(contender, repeats[contender.name]))
                bar.update()
    gc.unfreeze()
    return Times(measured)
