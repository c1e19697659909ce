"""Programs as users write them, for the tests of compiled steps: parts of training, and how a program is run.

A program gets `compiled`, which compiles a step (or leaves it as it is), and returns the call of round i and the state
to compare after it.
"""

from __future__ import annotations

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn, optim
from micrograd_plus.pytrees import leaves

ROUNDS = 6


def parameter(*shape, seed=0):
    return mg.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


def batch(i, rows=8):
    rng = np.random.default_rng(100 + i)
    return mg.tensor(rng.normal(size=(rows, 3))), mg.tensor(rng.normal(size=(rows, 1)))


def error(w, x, y):
    return ((x @ w - y) ** 2).mean()


def descend(w, x, y, rate=0.1):
    w.grad = None
    loss = error(w, x, y)
    loss.backward()
    w.data -= rate * w.grad.data
    return loss


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.second(mg.tanh(self.first(x)))


class Trainer:
    """A network and its optimiser, with a step as a method."""

    def __init__(self, make=lambda p: optim.SGD(p, lr=0.1)):
        self.net = Net()
        self.optimizer = make(self.net.parameters())
        self.count, self.loss, self.scale = 0, None, 1.0

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = ((self.net(x) - y) ** 2).mean() * self.scale
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self):
        return [self.net.state_dict(), [p.grad for p in self.net.parameters()]]


def bits(x):
    """Return values that are equal for structures whose arrays and numbers are equal in every bit."""
    found = []
    for leaf in leaves(x):
        data = getattr(leaf, "_data", leaf)
        is_array = isinstance(data, (np.ndarray, np.generic))
        found.append((data.dtype.str, data.shape, data.tobytes()) if is_array else repr(data))
    return found


def run(program, compiled):
    """Return the bits of the results and of the state of a program after each call."""
    mg.random.seed(5)
    call, state = program(compiled)
    return [(bits(call(i)), bits(state())) for i in range(ROUNDS)]


def assert_equal(program):
    """Assert that a program has the engine's bits when it is compiled, and that its steps were compiled."""
    steps = []

    def compile_step(function):
        steps.append(mg.compile(function))
        return steps[-1]

    assert run(program, compile_step) == run(program, lambda function: function)
    assert sum(step.counts.get("traced", 0) + step.counts.get("engine", 0) for step in steps)
