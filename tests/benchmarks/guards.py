"""What a compiled step checks before its program runs: W3's eight tensors, list of parameters, and optimiser."""

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import micrograd_plus as mg
from micrograd_plus.nn import functional
from micrograd_plus.written.step import Runner

from .w3_small_mlp import INPUTS, PARAMETERS, RATE, TARGETS

CALLS, WINDOWS = 10, 10_000
"""Calls of one timing, which is so short that some fall between the work of other processes, and how many timings."""


def make_guard() -> Callable[[], Any]:
    """Return a compiled W3 that returns where it would call its program."""
    inputs, targets = mg.tensor(INPUTS), mg.tensor(TARGETS)
    parameters = [mg.tensor(each, requires_grad=True) for each in PARAMETERS]
    optimizer = mg.optim.SGD(parameters, lr=RATE)

    @mg.compile
    def step() -> None:
        optimizer.zero_grad()
        w1, b1, w2, b2, w3, b3 = parameters
        h = mg.tanh(functional.linear(inputs, w1, b1))
        h = mg.tanh(functional.linear(h, w2, b2))
        functional.mse_loss(functional.linear(h, w3, b3), targets).backward()
        optimizer.step()

    def define_guard(self: Any, name: str, lines: list[str], program: Any) -> Any:
        last = next(i for i, line in enumerate(lines) if "_program(" in line)
        return define(self, name, [*lines[:last], "return None"], program)

    define = Runner._define
    for _ in range(3):
        step()
    entry = next(entry for entries in step.entries.values() for entry in entries)
    with patch.object(Runner, "_define", define_guard):
        step._last = Runner(entry.program, entry.guards).call
    before = step.counts["written"]
    for _ in range(100):
        step()
    if step.counts != {"traced": 2, "written": before + 100}:
        raise AssertionError(f"the guards do not hold: {step.counts}")
    return step


def shortest(function: Callable[[], Any]) -> float:
    """Return the shortest time of a call in microseconds."""
    times = []
    for _ in range(WINDOWS):
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        times.append(time.perf_counter_ns() - start)
    return min(times) / CALLS / 1e3


class Caller:
    """A callable that calls a function with its arguments, as a compiled step does after its checks."""

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function

    def __call__(self, *args: Any, **_: Any) -> Any:
        return self.function(args)


def time_guards() -> float:
    """Return the time of the guards in microseconds, without that of two calls."""
    return shortest(make_guard()) - shortest(Caller(lambda _: None))


if __name__ == "__main__":
    print(f"guards of eight tensors: {time_guards():.2f} us")
