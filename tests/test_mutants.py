"""`make mutants` changes the code that runs: functions, and their defaults."""

import gc

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import shared
from mutants.__main__ import ROOT, Judge, change_functions, control_change
from mutants.mutations import mutants_of


def other_default():
    """Return the change of the default `keepdims` of a sum."""
    path = ROOT / "micrograd_plus/backends/shared.py"
    mutants = mutants_of(path.read_text(encoding="utf-8"))
    (mutant,) = [each for each in mutants if (each.function, each.before) == ("sum", "False")]
    return path, mutant.text


def gradient_of_two_walks():
    x = mg.tensor(3.0, requires_grad=True)
    for _ in range(2):
        (x * 5).backward()
    return x.grad.item()


def dimensions_of_a_sum():
    return shared.sum(mg.backends.arrays, np.ones((2, 3))).ndim


class Probe(Judge):
    """Judge that runs one function instead of tests."""

    def __init__(self, compute):
        super().__init__([], 1, None)
        self.compute = compute

    def first_failure(self, session, change):
        gc.freeze()  # as `conftest` does, which hides functions from the collector
        if change is not None:
            change_functions(*change)
        return self.compute()


@pytest.mark.parametrize(("change", "compute", "right", "wrong"), [
    (control_change, gradient_of_two_walks, 10.0, 0.0), (other_default, dimensions_of_a_sum, 0, 2),
], ids=["code", "default"])  # fmt: skip
def test_a_mutant_changes_a_forked_process_alone(change, compute, right, wrong):
    probe = Probe(compute)
    results = [probe.run_forked(None, given)[0] for given in (None, change(), None)]
    assert results == [right, wrong, right]
