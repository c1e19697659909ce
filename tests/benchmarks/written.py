"""Steps written out as programs: the workloads W3 to W9 as NumPy by hand, by the engine, and compiled.

Guards, the update and kept gradients are included. Writing a program is timed apart, in CPU time.
"""

import time
from typing import Any

import micrograd_plus as mg

from . import w3_small_mlp, w4_mnist_mlp, w5_cnn, w6_transformer, w7_rnn, w8_broadcasting, w9_second_order
from .harness import Effort, race
from .peers import ByHand, OnOurs, OnTorch, with_program
from .report import Outcome, Row

MODULES = {
    "W3": (w3_small_mlp, 0.95), "W4": (w4_mnist_mlp, 1.06), "W5": (w5_cnn, 1.17), "W6": (w6_transformer, 0.96),
    "W7": (w7_rnn, 1.3), "W8": (w8_broadcasting, 1.0), "W9": (w9_second_order, 1.3),
}  # fmt: skip
"""The module of each workload, and the goal: time over by hand."""
TOLERANCE = 1e-4
"""How far gradients may be apart: some workloads are in float32."""
MOST_TO_WRITE = {"W3": 8.0, "W7": 400.0}
"""Goals for writing a program, in ms."""


def by_hand(module: Any) -> type:
    """Return the contender of a workload that is NumPy by hand."""
    kinds = [x for x in vars(module).values() if isinstance(x, type) and issubclass(x, ByHand) and x is not ByHand]
    return kinds[0]


def time_to_write(ours: type) -> float:
    """Return the CPU time in ms of one traced call with its program, once everything is imported."""
    times = []
    for _ in range(4):
        step = mg.compile(ours().step)
        start = time.process_time()
        step()
        times.append(1e3 * (time.process_time() - start))
    return min(times)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare the programs with NumPy by hand and with the engine."""
    mg.written_out(mg.tanh, mg.tensor([1.0]))  # imports everything
    rows = []
    for name, (module, goal) in MODULES.items():
        written = with_program(module.Ours)
        kinds = (by_hand(module), module.Ours, written, module.Torch)
        times = race(f"{name} written out", kinds, TOLERANCE, effort, without)
        rows += [
            Row(name, "program, time over by hand", times.ratio(written.name, ByHand.name), at_most=goal),
            Row(name, "engine, time over by hand", times.ratio(OnOurs.name, ByHand.name)),
            Row(name, "torch, time over by hand", times.ratio(OnTorch.name, ByHand.name)),
            Row(name, "writing the program", time_to_write(module.Ours), "ms", at_most=MOST_TO_WRITE.get(name)),
        ]
    return [Outcome("Steps written out as programs", "ratio", rows, {})]
