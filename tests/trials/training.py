"""Long training, recorded and not: the same numbers to the last digit, and memory that does not grow."""

from typing import Any

import numpy as np

import micrograd_plus as mg
from micrograd_plus import nn, optim

from .harness import SAME, dice

STEPS = 100
"""Steps of one case, with and without recording."""


def networks() -> list[Any]:
    """Return functions that make networks for 4 numbers and 3 classes."""
    return [
        lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)),
        lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3)),
        lambda: nn.Sequential(nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 4, 2), nn.GELU(), nn.Flatten(), nn.Linear(12, 3)),
        lambda: nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 3)),
    ]


OPTIMISERS = [
    lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True), lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    lambda p: optim.AdamW(p, lr=0.01), lambda p: optim.RMSprop(p, lr=0.003), lambda p: optim.Adagrad(p, lr=0.05),
]  # fmt: skip


def train(case: int, recorded: bool) -> list[np.ndarray]:
    """Return the losses and the weights after `steps` steps."""
    rng = dice("training", case)
    mg.random.seed(case)
    net = networks()[rng.integers(4)]()
    optimiser = OPTIMISERS[rng.integers(len(OPTIMISERS))](net.parameters())
    data, labels = rng.normal(size=(64, 4)), rng.integers(0, 3, 64)
    looked, losses = int(rng.integers(STEPS)), []
    for step in range(STEPS):
        rows = rng.integers(0, 64, 16)

        def take_steps(rows: Any = rows) -> None:
            """Return the losses and the weights after some steps."""
            loss = nn.functional.cross_entropy(net(mg.tensor(data[rows])), mg.tensor(labels[rows]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())

        if not recorded:
            take_steps()
            continue
        with mg.record() as trace:
            take_steps()
        if step == looked and not len(trace.nodes) > len(trace.walks) > 0:
            raise AssertionError("a step was recorded in part")
    return [np.array(losses), *(p.numpy() for p in net.parameters())]


def run(case: int) -> str:
    """Train with and without recording, and return whether the numbers are equal."""
    plain, recorded = train(case, False), train(case, True)
    if not all(np.isfinite(each).all() for each in plain):
        return "not finite"
    same = all(np.array_equal(one, other) for one, other in zip(plain, recorded, strict=True))
    return SAME if same else "recorded, the numbers are others"
