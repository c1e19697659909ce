"""Twelve programs whose traces must not depend on what else watches the process.

Run as a script, it prints the trace of each as one line of JSON, first turning on the hook that its argument names:
`python tests/traced_programs.py settrace`.
"""

import sys
import threading
from contextlib import suppress

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.engine import Value
from micrograd_plus.nn import functional


def leaf(values):
    """Return a tensor that requires a gradient."""
    return mg.tensor(values, requires_grad=True)


def chain():
    """Run a chain of elementwise operations."""
    x = leaf([0.5, 1.0])
    mg.sin(mg.tanh(x) * 2.0).sum().backward()


def broadcast_sum():
    """Add a row to a matrix."""
    rows, row = leaf(np.arange(6.0).reshape(2, 3)), leaf([1.0, 2.0, 3.0])
    ((rows + row) * row).mean().backward()


def loop():
    """Run a loop of three rounds, each with one application."""
    h = leaf(1.0)
    for _ in range(3):
        h = h * 2.0
    h.backward()


def nested_loops():
    """Run a loop in a loop, with an application before the inner one."""
    x = leaf(1.0)
    total = x * 0.0
    for _ in range(2):
        h = mg.sin(x)
        for _ in range(3):
            h = h * 2.0
        total = total + h
    total.backward()


def functions_of_several_operations():
    """Two rounds of a loop in which each call of a function applies several operations."""
    x = leaf([[0.5, 1.5], [2.0, 1.0]])
    total = x.sum() * 0.0
    for _ in range(2):
        total = total + functional.nll_loss(mg.log_softmax(x), mg.tensor([0, 1]))
    total.backward()


def modules():
    """Layers called in a loop and in a comprehension."""
    generator = np.random.default_rng(0)
    mg.random.seed(0)
    layers = [nn.Linear(2, 2) for _ in range(3)]
    for layer in layers:
        layer.weight.assign(generator.normal(size=(2, 2)))
        layer.bias.assign(generator.normal(size=2))
    h = leaf([[1.0, 2.0]])
    for layer in layers:
        h = layer(h)
    sum(mg.tanh(each) for each in [h, h * 2.0]).sum().backward()


def training():
    """Three steps of gradient descent, each with a walk."""
    w = leaf(0.5)
    for _ in range(3):
        loss = (w * 3.0 - 1.0) ** 2
        loss.backward()
        w.data -= 0.1 * w.grad.data
        w.grad = None


def scopes():
    """Scopes inside scopes and in a user's function."""

    @mg.scope("squares")
    def squares(x):
        return (x * x).sum()

    x = leaf([1.0, 2.0])
    with mg.scope("outer"):
        h = mg.tanh(x)
        with mg.scope("inner"):
            h = mg.exp(h)
    squares(h).backward()


def single_numbers():
    """Run a neuron of `Value`s."""
    inputs, weights = [Value(0.5), Value(-1.0)], [Value(2.0), Value(0.25)]
    sum((x * w for x, w in zip(inputs, weights, strict=True)), Value(0.1)).tanh().backward()


def gradients_of_functions():
    """Call a user's function by a transform in a loop; the transform applies operations around it."""
    x = mg.tensor([0.3, 0.7])
    for _ in range(2):
        x = x - 0.5 * mg.grad(lambda values: (mg.sin(values) * values).sum())(x)


def forward_walk():
    """Tangents pushed forward through a user's function, twice."""
    for scale in (1.0, 2.0):
        mg.jvp(lambda x: mg.exp(x * x), (mg.tensor([0.1, 0.2]),), (mg.tensor([scale, 0.0]),))


def caught_errors():
    """Run a loop in which an operation fails in each round and the program continues."""
    x = leaf(np.ones((2, 3)))
    for _ in range(2):
        with suppress(ValueError):
            x @ x
        x = x * 1.5
    x.sum().backward()


PROGRAMS = (
    chain, broadcast_sum, loop, nested_loops, functions_of_several_operations, modules, training, scopes,
    single_numbers, gradients_of_functions, forward_walk, caught_errors,
)  # fmt: skip


def print_traces():
    """Print each program's trace as a line of JSON."""
    for program in PROGRAMS:
        with mg.record() as trace:
            program()
        sys.stdout.write(f"{program.__name__} {trace.to_json()}\n")


def main(hook):
    """Turn on a hook of the interpreter, then print the traces."""
    if hook == "settrace":
        sys.settrace(lambda *_: lambda *_: None)
        threading.settrace(lambda *_: lambda *_: None)
    elif hook == "setprofile":
        sys.setprofile(lambda *_: None)
    print_traces()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
