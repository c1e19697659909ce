"""The examples in docstrings print what they show."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import micrograd_plus
from micrograd_plus import tensor, trace, transforms
from micrograd_plus.op import operations
from micrograd_plus.trace import loading, recorder

HOUSE = Path(__file__).resolve().parent.parent
MODULES = ["micrograd_plus"] + [
    found.name
    for found in pkgutil.walk_packages(micrograd_plus.__path__, "micrograd_plus.")
    if not found.name.endswith("__main__")
]
PROMISED = (transforms, tensor, loading, recorder)


def examples_of(module):
    """The examples of a module, and of the operations defined in it, whose public functions hide their source."""
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


def public_functions(module):
    """The functions that a module defines for users."""
    names = getattr(micrograd_plus, "__all__", ())
    for name, function in vars(module).items():
        if inspect.isfunction(inspect.unwrap(function)) and function.__module__ == module.__name__ and name in names:
            yield function


@pytest.mark.parametrize("function", [f for module in PROMISED for f in public_functions(module)], ids=lambda f: f.__name__)
def test_a_public_function_of_transforms_tensor_and_trace_has_an_example(function):
    assert ">>>" in (function.__doc__ or ""), f"{function.__name__} has no example"


def test_the_functions_that_are_promised_an_example_are_found():
    found = {f.__name__ for module in PROMISED for f in public_functions(module)}
    assert found >= {"grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "gradcheck", "tensor", "record", "load_trace"}
    assert trace.record is recorder.record
