"""The examples in docstrings print the output they show."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import micrograd_plus
from micrograd_plus import nn, optim
from micrograd_plus.core.define import operations

MODULES = ["micrograd_plus"] + [
    found.name
    for found in pkgutil.walk_packages(micrograd_plus.__path__, "micrograd_plus.")
    if not found.name.endswith("__main__")
]
ASSUMED = {"mg": micrograd_plus, "np": np, "nn": nn, "F": nn.functional, "optim": optim}
"""What every example may use without importing it, as the documentation of NumPy assumes np."""
PROMISED = [
    "grad", "value_and_grad", "vjp", "jvp", "hvp", "jacobian", "hessian", "gradcheck", "tensor", "record",
    "load_trace", "scan", "cond", "while_loop", "checkpoint", "checkpoint_sequential", "save",
]  # fmt: skip
FIRST_MET = [
    (nn, ["Module", "Sequential", "ModuleList", "Linear", "Flatten", "Conv1d", "Conv2d", "ConvTranspose1d", "MaxPool2d",
          "AvgPool2d", "ReLU", "Softmax", "Dropout", "Embedding", "LayerNorm", "BatchNorm1d", "MultiheadAttention",
          "TransformerEncoderLayer", "TransformerEncoder", "RNN", "LSTM", "LSTMCell", "CrossEntropyLoss", "MSELoss",
          "Upsample"]),
    (nn.functional, ["linear", "conv1d", "max_pool1d", "dropout", "embedding", "one_hot", "layer_norm", "normalize",
                     "pad", "unfold", "interpolate", "cross_entropy", "mse_loss", "scaled_dot_product_attention"]),
    (nn.utils, ["clip_grad_norm_"]), (optim, ["Optimizer", "SGD", "Adam"]),
    (optim.lr_scheduler, ["ExponentialLR", "OneCycleLR", "SequentialLR", "ReduceLROnPlateau"]),
]  # fmt: skip


def examples_of(module):
    """Return the examples of a module and of its operations, which hide behind public functions."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    yield from (found for found in finder.find(module, extraglobs=ASSUMED) if found.examples)
    for op in operations.values():
        if op.forward.__module__ == module.__name__:
            yield from (found for found in finder.find(op.forward, op.name, extraglobs=ASSUMED) if found.examples)


@pytest.mark.usefixtures("own_operations", "own_exercises")
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
def test_public_functions_have_examples(name):
    assert ">>>" in (getattr(micrograd_plus, name).__doc__ or ""), f"{name} has no example"


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in FIRST_MET for name in names])
def test_names_that_beginners_use_have_an_example(module, name):
    assert ">>>" in (getattr(module, name).__doc__ or ""), f"{name} has no example"
