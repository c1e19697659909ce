"""The examples in docstrings print what they show."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import micrograd_plus
from micrograd_plus.op import operations

MODULES = ["micrograd_plus"] + [
    found.name
    for found in pkgutil.walk_packages(micrograd_plus.__path__, "micrograd_plus.")
    if not found.name.endswith("__main__")
]
PROMISED = [
    "grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "gradcheck", "tensor", "record",
    "load_trace",
]  # fmt: skip


def examples_of(module):
    """The examples of a module, and of the operations defined in it, whose public functions hide theirs."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    yield from (found for found in finder.find(module) if found.examples)
    for op in operations.values():
        if op.forward.__module__ == module.__name__:
            yield from (found for found in finder.find(op.forward, op.name) if found.examples)


@pytest.mark.usefixtures("own_operations")
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_show(name):
    for example in examples_of(importlib.import_module(name)):
        with np.printoptions(precision=8, suppress=False, linewidth=75, threshold=1000):
            outcome = doctest.DocTestRunner().run(example)
        assert outcome.failed == 0, example.name


def test_there_are_many_examples():
    found = [example for name in MODULES for example in examples_of(importlib.import_module(name))]
    assert sum(len(example.examples) for example in found) > 50


@pytest.mark.parametrize("name", PROMISED)
def test_a_public_function_of_transforms_tensor_and_trace_has_an_example(name):
    assert ">>>" in (getattr(micrograd_plus, name).__doc__ or ""), f"{name} has no example"
