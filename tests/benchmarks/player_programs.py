"""Programs that measure the player: from a neuron to a small GPT, each recorded with its walk."""

from __future__ import annotations

import random
from itertools import cycle, islice
from typing import Any

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn
from micrograd_plus.engine import Value

from .w1_scalar_mlp import POINTS_AS_FLOATS, SIDES_AS_FLOATS


def neuron() -> Any:
    """Record the neuron of micrograd's first lesson."""
    x1, x2, w1, w2, b = Value(2.0), Value(0.0), Value(-3.0), Value(1.0), Value(6.8813735870195432)
    with mg.record() as trace:
        n = x1 * w1 + x2 * w2 + b
        o = n.tanh()
        o.backward()
    return trace


def two_layers(moved: float = 0.0) -> Any:
    """Record two neurons and one behind them: 19 nodes of one number; `moved` changes the numbers."""
    x, w = [Value(0.5 + moved), Value(-1.2)], [Value(0.3 + 0.1 * k + moved) for k in range(6)]
    with mg.record() as trace:
        left = (x[0] * w[0] + x[1] * w[1]).tanh()
        right = (x[0] * w[2] + x[1] * w[3]).tanh()
        loss = left * w[4] + right * w[5]
        loss.backward()
    return trace


def digits() -> Any:
    """Record a small network for digits, batch 32."""
    rng = np.random.default_rng(0)
    x, y = mg.tensor(rng.integers(0, 17, (32, 64)) / 16), mg.tensor(rng.integers(0, 10, 32))
    net = nn.Sequential(nn.Linear(64, 32, rng=rng), nn.ReLU(), nn.Linear(32, 10, rng=rng))
    with mg.record() as trace:
        scores = net(x)
        loss = nn.functional.cross_entropy(scores, y)
        loss.backward()
    return trace


def attention() -> Any:
    """Record causal attention over eight places."""
    rng = np.random.default_rng(1)
    x, wq, wk, wv, wo = (_parameter(rng, *shape) for shape in [(8, 16)] + [(16, 16)] * 4)
    mask = mg.tensor(np.triu(np.full((8, 8), -np.inf), 1))
    with mg.record() as trace:
        q = x @ wq
        k = x @ wk
        v = x @ wv
        scores = q @ k.mT / 4.0 + mask
        weights = mg.softmax(scores, axis=-1)
        out = weights @ v @ wo
        loss = (out * out).mean()
        loss.backward()
    return trace


def transformer_layer() -> Any:
    """Record one transformer layer."""
    rng = np.random.default_rng(2)
    layer = nn.TransformerEncoderLayer(16, 4, 32, norm_first=True, rng=rng)
    x = mg.tensor(rng.normal(size=(2, 8, 16)), requires_grad=True)
    with mg.record() as trace:
        out = layer(x)
        loss = (out * out).mean()
        loss.backward()
    return trace


def rnn(rounds: int = 60) -> Any:
    """Record a recurrent network, which uses its weights in every round."""
    rng = np.random.default_rng(3)
    wx, wh, b = _parameter(rng, 4, 8), _parameter(rng, 8, 8), _parameter(rng, 8)
    h, steps = mg.tensor(np.zeros((1, 8))), [mg.tensor(rng.normal(size=(1, 4))) for _ in range(rounds)]
    with mg.record() as trace:
        for x in steps:
            h = mg.tanh(x @ wx + h @ wh + b)
        loss = (h * h).sum()
        loss.backward()
    return trace


def mlp() -> Any:
    """Record micrograd's network of single numbers."""
    random.seed(1)
    net = nn.MLP(2, [16, 16, 1])
    with mg.record() as trace:
        score = net([Value(0.5), Value(-1.2)])
        loss = (1 - score).relu()
        loss.backward()
    return trace


def broadcast_shapes() -> Any:
    """Record three shapes that broadcast together."""
    rng = np.random.default_rng(4)
    a, b, c = (_parameter(rng, *shape) for shape in ((4, 1, 3), (5, 1), ()))
    with mg.record() as trace:
        y = ((a * b + c) ** 2).sum()
        y.backward()
    return trace


def failing_walk() -> Any:
    """Record a walk that cannot begin, because its output has several entries."""
    a = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    try:
        with mg.record() as trace:
            y = a * 2
            y.backward()
    except RuntimeError:
        pass
    return trace


def nan_gradient() -> Any:
    """Record a gradient that becomes nan on its way."""
    x = mg.tensor([1.0, 0.0, 4.0], requires_grad=True)
    with np.errstate(all="ignore"), mg.record() as trace:
        y = (mg.log(x) * x / mg.sqrt(x)).sum()
        y.backward()
    return trace


def gpt(layers: int = 6) -> Any:
    """Record a small GPT."""
    rng = np.random.default_rng(5)

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(65, 64, rng=rng), nn.Embedding(32, 64, rng=rng)
            blocks = [nn.TransformerEncoderLayer(64, 4, 256, norm_first=True, rng=rng) for _ in range(layers)]
            self.blocks, self.norm, self.head = nn.Sequential(*blocks), nn.LayerNorm(64), nn.Linear(64, 65, rng=rng)

        def forward(self, ids: Any) -> Any:
            x = self.tokens(ids) + self.places(mg.tensor(np.arange(32)))
            return self.head(self.norm(self.blocks(x)))

    net, ids, y = GPT(), mg.tensor(rng.integers(0, 65, (2, 32))), mg.tensor(rng.integers(0, 65, 64))
    with mg.record() as trace:
        scores = net(ids)
        loss = nn.functional.cross_entropy(scores.reshape(64, 65), y)
        loss.backward()
    return trace


def moons(points: int = 100) -> Any:
    """Record micrograd's demo: the same network on 100 points, about 65,000 nodes of one number, or on more."""
    random.seed(1)
    net = nn.MLP(2, [16, 16, 1])
    with mg.record() as trace:
        losses = []
        for point, side in islice(cycle(zip(POINTS_AS_FLOATS, SIDES_AS_FLOATS, strict=True)), points):
            score = net(list(map(Value, point)))
            losses.append((1 - side * score).relu())
        decay = 1e-4 * sum(p * p for p in net.parameters())
        loss = sum(losses) * (1.0 / len(losses)) + decay
        loss.backward()
    return trace


def accumulated_gradients() -> Any:
    """Record gradients that were not cleared: one from before the recording, and one from an earlier walk in it."""
    a = mg.tensor(2.0, requires_grad=True)
    (a * 4).backward()
    with mg.record() as trace:
        z = a * 3
        z.backward()
        y = a * a
        y.backward()
    return trace, a


PROGRAMS = {
    "neuron": neuron, "digits": digits, "attention": attention, "transformer layer": transformer_layer,
    "RNN of 60": rnn,
    "MLP of 984": mlp, "broadcasting": broadcast_shapes, "a walk that fails": failing_walk, "nan": nan_gradient,
    "GPT": gpt,
}  # fmt: skip


def _parameter(rng: np.random.Generator, *shape: int) -> Any:
    return mg.tensor(rng.normal(size=shape) / 3, requires_grad=True)
