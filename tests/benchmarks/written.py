"""Steps written out as programs: the workloads W3 to W9 as NumPy by hand, by the engine, and compiled.

Guards, the update and kept gradients are included. Writing a program is timed apart, in CPU time.
"""

import time
from typing import Any
from unittest.mock import patch

import micrograd_plus as mg
from micrograd_plus.written import block_text

from . import (
    w1_scalar_mlp,
    w3_small_mlp,
    w4_mnist_mlp,
    w5_cnn,
    w6_transformer,
    w7_rnn,
    w8_broadcasting,
    w9_second_order,
)
from .alone import compare_processes
from .guards import time_guards
from .harness import Effort, race
from .on_jax import WORKLOADS, OnJax
from .peers import ByHand, OnOurs, OnTorch, with_program
from .report import Outcome, Row

MODULES = {
    "W3": (w3_small_mlp, 0.95), "W4": (w4_mnist_mlp, 1.06), "W5": (w5_cnn, 1.17), "W6": (w6_transformer, 0.96),
    "W7": (w7_rnn, 1.3), "W8": (w8_broadcasting, 1.0), "W9": (w9_second_order, 1.3),
}  # fmt: skip
"""The module of each workload, and the goal: time over by hand."""
TOLERANCE = 1e-4
"""How far gradients may be apart: some workloads are in float32."""
ROUNDING = {"W7": {False: 0.95}, "W8": {False: None, True: 0.65}}
"""Workloads that are also compiled with `exact=False`, by numba or not, and their goals."""
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


def with_program_of_values(ours: type) -> type:
    """Return the same contender on Values with a compiled step."""

    class Written(ours):
        name = "micrograd_plus written out"

        def __init__(self) -> None:
            super().__init__()
            self.step = mg.compile(super().step)
            start = [each.data for each in self.model.parameters()]
            for _ in range(2):  # traced, so that each timed step runs the program
                self.step()
            for parameter, number in zip(self.model.parameters(), start, strict=True):
                parameter.data = number

    return Written


class OnArrays(w1_scalar_mlp.Ours):
    """The program of one example, on all examples at once."""

    name = "micrograd_plus on arrays"

    def __init__(self) -> None:
        super().__init__()
        self.example = mg.compile(self.example_on(self.model), batch=True)

    @staticmethod
    def example_on(model: Any) -> Any:
        """Return the step for one example."""

        def example(point: list, side: float) -> object:
            loss = (1 + -side * model(point)).relu() * (1.0 / w1_scalar_mlp.MOONS)
            loss.backward()
            return loss

        return example

    def backward(self) -> None:
        parameters = self.model.parameters()
        for parameter in parameters:
            parameter.grad = 0
        losses = self.example(w1_scalar_mlp.POINTS, w1_scalar_mlp.SIDES)
        for parameter in parameters:
            parameter.grad += 2 * w1_scalar_mlp.DECAY * parameter.data
        self.loss = losses.sum() + w1_scalar_mlp.DECAY * sum(each.data * each.data for each in parameters)


class ByNumba(OnArrays):
    """The program of one example in a loop over the examples, compiled by numba."""

    name = "micrograd_plus by numba"

    def __init__(self) -> None:
        import numba  # noqa: F401 - without it, the program would be that of arrays

        super().__init__()
        self.example = mg.compile(self.example_on(self.model), batch=True, exact=False)


def rounding(ours: type, is_by_numba: bool) -> type:
    """Return the same contender with a step that may round differently, with numba or in NumPy alone."""

    class Rounding(with_program(ours, f"exact=False {'by numba' if is_by_numba else 'in NumPy'}", exact=False)):
        def __init__(self) -> None:
            if is_by_numba:
                import numba  # noqa: F401 - without it, the program would be that in NumPy
            with patch.object(block_text, "has_numba", lambda: is_by_numba):
                super().__init__()

    return Rounding


def run_values(effort: Effort, without: set[str]) -> list[Row]:
    """Compare the programs of micrograd's demo with Python by hand, and with the engine."""
    w1 = w1_scalar_mlp
    written = with_program_of_values(w1.Ours)
    kinds = (w1.PythonByHand, w1.Ours, written, OnArrays, ByNumba)
    times = race("W1 written out", kinds, 1e-10, effort, without)
    return [
        Row("W1", "program of floats, over Python by hand", times.ratio(written.name, kinds[0].name), at_most=0.65),
        Row("W1", "program on arrays, over Python by hand", times.ratio(OnArrays.name, kinds[0].name), at_most=0.35),
        Row("W1", "program by numba, over Python by hand", times.ratio(ByNumba.name, kinds[0].name)),
        Row("W1", "engine, over Python by hand", times.ratio(w1.Ours.name, kinds[0].name)),
        Row("W1", "writing the program", time_to_write(w1.Ours), "ms", at_most=2500),
    ]


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare the programs with NumPy by hand and with the engine."""
    mg.written_out(mg.tanh, mg.tensor([1.0]))  # imports everything
    rows = [Row("guards", "what a compiled W3 checks at each call", time_guards(), "us", at_most=0.6)]
    rows += run_values(effort, without)
    for name, (module, goal) in MODULES.items():
        written = with_program(module.Ours)
        freer = [rounding(module.Ours, is_by_numba) for is_by_numba in ROUNDING.get(name, ())]
        on_jax = [WORKLOADS[name]] if name in WORKLOADS else []
        kinds = (by_hand(module), module.Ours, written, module.Torch, *freer, *on_jax)
        times = race(f"{name} written out", kinds, TOLERANCE, effort, without)
        rows += [
            Row(name, "program, time over by hand", times.ratio(written.name, ByHand.name), at_most=goal),
            Row(name, "engine, time over by hand", times.ratio(OnOurs.name, ByHand.name)),
            Row(name, "torch, time over by hand", times.ratio(OnTorch.name, ByHand.name)),
            Row(name, "jitted jax, time over by hand", times.ratio(OnJax.name, ByHand.name)),
            Row(name, "writing the program", time_to_write(module.Ours), "ms", at_most=MOST_TO_WRITE.get(name)),
        ]
        if name in ("W5", "W6", "W8"):
            ratio = compare_processes(module.__name__.rpartition(".")[2])
            rows.append(Row(name, "in fresh processes, over by hand", ratio, at_most=0.8))
        rows += [
            Row(name, f"{each.name.partition(' ')[2]}, over by hand", times.ratio(each.name, ByHand.name), at_most=most)
            for each, most in zip(freer, ROUNDING.get(name, {}).values(), strict=True)
        ]
        if name == "W8":
            rows.append(Row(name, "peak memory of a step", w8_broadcasting.peak(written()), "MB", at_most=26))
    return [Outcome("Steps written out as programs", "ratio", rows, {})]
