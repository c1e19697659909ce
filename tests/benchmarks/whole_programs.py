"""Whole programs as students write them (tests/programs), compared with torch: training loops, samplers, a minimiser.
The time of a whole run counts, not only its steps.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from programs.models import PROGRAMS, SECOND_ORDER
from programs.sides import Here, Torch, side

from .harness import Call, Effort, agree, compare, gather_calls
from .report import Outcome, Row


def calls(library: str, kind: type) -> Callable[[], list[Call]]:
    """Return every program of one side as a call."""

    def make() -> list[Call]:
        here = side(kind)
        if kind is Torch:
            here.m.set_num_threads(1)
        return [call(library, program, here) for program in PROGRAMS]

    return make


def call(library: str, program: Callable[[Any], Any], here: Any) -> Call:
    """Return one program as a call; its gradients are the numbers that it prints."""

    def print_results() -> list[np.ndarray]:
        return [np.array([float(number) for number in program(here)])]

    return Call(f"{library} {program.__name__}", lambda: program(here), print_results)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare each with torch's version, and check the goals."""
    both = gather_calls({"micrograd_plus": calls("micrograd_plus", Here), "torch": calls("torch", Torch)}, without)
    rows, taken = [], {}
    for program in PROGRAMS:
        twins = [each for each in both if each.name.endswith(f" {program.__name__}")]
        agree(twins, 1e-8)
        times = compare(twins, replace(effort, workload=effort.workload / 4), program.__name__)
        taken |= times.medians(1e3)
        ratio = times.ratio(f"micrograd_plus {program.__name__}", f"torch {program.__name__}")
        at_most = 1.5 if program in SECOND_ORDER else 1.15
        rows.append(Row("programs", f"{program.__name__.replace('_', ' ')}, time over torch's", ratio, at_most=at_most))
    return [Outcome("whole programs", "ms", rows, taken)]
