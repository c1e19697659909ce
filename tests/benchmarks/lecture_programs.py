"""Nineteen programs as lectures have them, which the player's stage is measured and looked at with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.engine import Value

from . import player_programs as programs


def _leaf(rng: np.random.Generator, *shape: int, scale: float = 0.5) -> Any:
    return mg.tensor(scale * rng.normal(size=shape), requires_grad=True)


def makemore() -> Any:
    """Record makemore's network of characters, with batch normalisation by hand."""
    rng = np.random.default_rng(0)
    table, w1, w2 = _leaf(rng, 27, 4), _leaf(rng, 12, 20), _leaf(rng, 20, 27)
    gain, shift, bias = mg.tensor(np.ones(20), requires_grad=True), _leaf(rng, 20), _leaf(rng, 27)
    letters, wanted = mg.tensor(rng.integers(0, 27, (16, 3))), mg.tensor(rng.integers(0, 27, 16))
    with mg.record() as trace:
        embedded = table[letters].reshape(16, 12)
        before = embedded @ w1
        mean = before.mean(axis=0)
        spread = ((before - mean) ** 2).mean(axis=0)
        normal = (before - mean) / mg.sqrt(spread + 1e-5)
        h = mg.tanh(gain * normal + shift)
        loss = nn.functional.cross_entropy(h @ w2 + bias, wanted)
        loss.backward()
    return trace


def lstm(rounds: int = 12) -> Any:
    """Record an LSTM over some rounds."""
    rng = np.random.default_rng(1)
    cell, x = nn.LSTMCell(3, 4, rng=rng), rng.normal(size=(rounds, 2, 3))
    with mg.record() as trace:
        h, c = mg.tensor(np.zeros((2, 4))), mg.tensor(np.zeros((2, 4)))
        for k in range(rounds):
            h, c = cell(mg.tensor(x[k]), (h, c))
        (h * h).mean().backward()
    return trace


def convolution() -> Any:
    """Record a small convolutional network with batch normalisation and dropout."""
    rng = np.random.default_rng(2)
    mg.random.seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, rng=rng), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Dropout(0.2), nn.Linear(36, 10, rng=rng))  # fmt: skip
    images, digits = mg.tensor(rng.normal(size=(4, 1, 8, 8))), mg.tensor(rng.integers(0, 10, 4))
    with mg.record() as trace:
        loss = nn.functional.cross_entropy(net(images), digits)
        loss.backward()
    return trace


def maml() -> Any:
    """Record two inner steps of first-order MAML, and the walk behind them."""
    rng = np.random.default_rng(3)
    w, b = _leaf(rng, 2, 1), _leaf(rng, 1)
    x, y = mg.tensor(rng.normal(size=(5, 2))), mg.tensor(rng.normal(size=(5, 1)))

    def loss_of(w: Any, b: Any) -> Any:
        return ((x @ w + b - y) ** 2).mean()

    with mg.record() as trace:
        fast_w, fast_b = w, b
        for _ in range(2):
            dw, db = mg.grad(loss_of, argnums=(0, 1))(fast_w, fast_b)
            fast_w, fast_b = fast_w - 0.1 * dw, fast_b - 0.1 * db
        loss_of(fast_w, fast_b).backward()
    return trace


def _train(net: Any, x: Any, y: Any, rounds: int, loss_of: Callable[[Any, Any], Any]) -> Any:
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    with mg.record() as trace:
        for _ in range(rounds):
            optimizer.zero_grad()
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
    return trace


def digits_in_rounds() -> Any:
    """Record two rounds of training of a network with 784 inputs."""
    rng = np.random.default_rng(4)
    net = nn.Sequential(nn.Linear(784, 128, rng=rng), nn.ReLU(), nn.Linear(128, 10, rng=rng))
    x, y = mg.tensor(rng.normal(size=(32, 784))), mg.tensor(rng.integers(0, 10, 32))
    return _train(net, x, y, 2, nn.functional.cross_entropy)


def regression() -> Any:
    """Record ten rounds of a linear regression."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(16, 3))
    y = mg.tensor(x @ np.array([[1.0], [-2.0], [0.5]]))
    return _train(nn.Linear(3, 1, rng=rng), mg.tensor(x), y, 10, lambda one, other: ((one - other) ** 2).mean())


def complex_numbers() -> Any:
    """Record a walk through complex numbers."""
    z = mg.tensor([1.0 + 2.0j, -0.5j], requires_grad=True)
    with mg.record() as trace:
        w = z * z + mg.exp(z)
        mg.abs(w).sum().backward()
    return trace


def teacher() -> Any:
    """Record distillation: the teacher's result is detached, and its branch receives nothing."""
    rng = np.random.default_rng(6)
    x, student, frozen = mg.tensor(rng.normal(size=(6, 3))), _leaf(rng, 3, 2), _leaf(rng, 3, 2)
    with mg.record() as trace:
        target = mg.softmax(x @ frozen, axis=-1).detach()
        with mg.no_grad():
            weight = mg.abs(student).mean()
        loss = (((mg.softmax(x @ student, axis=-1) - target) ** 2) * weight).sum()
        loss.backward()
    return trace


def masked_mean() -> Any:
    """Record a mean over a mask, with a comparison and a broadcast."""
    rng = np.random.default_rng(7)
    x, scale = _leaf(rng, 5, 4), _leaf(rng, 4, scale=1.0)
    with mg.record() as trace:
        mask = x > 0
        kept = mg.where(mask, x * scale, 0.0)
        (kept.sum(axis=0) / mask.sum(axis=0)).sum().backward()
    return trace


def autoencoder() -> Any:
    """Record an autoencoder whose two layers share their weight."""
    rng = np.random.default_rng(8)
    x, w = mg.tensor(rng.normal(size=(8, 6))), _leaf(rng, 6, 2)
    with mg.record() as trace:
        code = mg.tanh(x @ w)
        ((code @ w.T - x) ** 2).mean().backward()
    return trace


def newton() -> Any:
    """Record Newton's method on one number, with second derivatives."""
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as trace:
        y = x**3 - 2 * x
        y.backward(create_graph=True)
        slope = x.grad * 1.0
        x.grad = None
        slope.backward()
    return trace


def softmax_by_hand() -> Any:
    """Record a softmax and its cross-entropy, written out."""
    rng = np.random.default_rng(9)
    scores, wanted = _leaf(rng, 4, 3, scale=1.0), mg.tensor(np.eye(3)[[0, 2, 1, 0]])
    with mg.record() as trace:
        shifted = scores - scores.max(axis=1, keepdims=True).detach()
        weights = mg.exp(shifted)
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        loss = -(wanted * mg.log(probabilities)).sum(axis=1).mean()
        loss.backward()
    return trace


def value_network() -> Any:
    """Record a network of single numbers on three points."""
    net = nn.MLP(2, [4, 1])
    with mg.record() as trace:
        losses = [(net([Value(a), Value(b)]) - y) ** 2 for a, b, y in ((1.0, 0.5, 1.0), (-1.0, 2.0, -1.0))]
        sum(losses).backward()
    return trace


PROGRAMS: dict[str, Callable[[], Any]] = {
    "makemore": makemore, "GPT": lambda: programs.gpt(2), "RNN": lambda: programs.rnn(20), "LSTM": lstm,
    "CNN": convolution, "MAML": maml, "moons": programs.moons, "MLP of 784": digits_in_rounds,
    "complex": complex_numbers, "regression": regression, "teacher": teacher, "masked mean": masked_mean,
    "autoencoder": autoencoder, "Newton": newton, "softmax": softmax_by_hand, "numbers": value_network,
    "attention": programs.attention, "layer": programs.transformer_layer, "neuron": programs.neuron,
}  # fmt: skip
"""The nine programs of a review, and ten others."""
