"""W4: a network of the size of MNIST's, 784-256-128-10, batch 128, float32, relu, cross-entropy, SGD.

Most of its time goes to eight matrix products; an engine must not add to them, nor compute the inputs' gradient.
"""

from itertools import pairwise

import numpy as np

from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch, with_recording
from .report import Outcome, Row

SIZES, BATCH, RATE = (784, 256, 128, 10), 128, 1e-3

_random = np.random.default_rng(4)
INPUTS = _random.random(size=(BATCH, SIZES[0]), dtype=np.float32)
LABELS = _random.integers(0, SIZES[-1], size=BATCH)
EVERY = np.arange(BATCH)
PARAMETERS = []
"""A weight, its bias, and so on; a weight is (out, in), as in PyTorch."""
for deep, wide in pairwise(SIZES):
    PARAMETERS += [(_random.normal(size=(wide, deep)) * np.sqrt(2 / deep)).astype(np.float32),
                   np.zeros(wide, dtype=np.float32)]


class NumpyByHand(ByHand):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def gradients(self) -> list[np.ndarray]:
        w1, b1, w2, b2, w3, b3 = self.parameters
        h1 = INPUTS @ w1.T
        h1 += b1
        np.maximum(h1, 0, out=h1)
        h2 = h1 @ w2.T
        h2 += b2
        np.maximum(h2, 0, out=h2)
        logits = h2 @ w3.T
        logits += b3
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[EVERY, LABELS]
        error = np.exp(logits, out=logits)
        totals = error.sum(axis=1, keepdims=True)
        self.loss = (np.log(totals).sum() - chosen.sum()) / BATCH
        error /= totals
        error[EVERY, LABELS] -= 1
        error *= 1 / BATCH
        to_h2 = error @ w3
        to_h2 *= h2 > 0
        to_h1 = to_h2 @ w2
        to_h1 *= h1 > 0
        total = np.add.reduce
        return [to_h1.T @ INPUTS, total(to_h1), to_h2.T @ h1, total(to_h2), error.T @ h2, total(error)]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.labels = self.torch.tensor(INPUTS), self.torch.tensor(LABELS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.torch.nn.functional, self.parameters
        h = self.torch.relu(functional.linear(self.inputs, w1, b1))
        h = self.torch.relu(functional.linear(h, w2, b2))
        functional.cross_entropy(functional.linear(h, w3, b3), self.labels).backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def loss(self, parameters: list[np.ndarray]) -> object:
        w1, b1, w2, b2, w3, b3 = parameters
        h = self.np.maximum(self.np.dot(INPUTS, w1.T) + b1, 0)
        h = self.np.maximum(self.np.dot(h, w2.T) + b2, 0)
        logits = self.np.dot(h, w3.T) + b3
        logits = logits - self.np.max(logits, axis=1, keepdims=True)
        totals = self.np.log(self.np.sum(self.np.exp(logits), axis=1))
        return self.np.mean(totals - logits[EVERY, LABELS])


class Ours(OnOurs):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.labels = self.mg.tensor(INPUTS), self.mg.tensor(LABELS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.mg.nn.functional, self.parameters
        h = self.mg.relu(functional.linear(self.inputs, w1, b1))
        h = self.mg.relu(functional.linear(h, w2, b2))
        functional.cross_entropy(functional.linear(h, w3, b3), self.labels).backward()


OursRecorded = with_recording(Ours)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    times = race("W4", (NumpyByHand, Ours, OursRecorded, Torch, Autograd), 1e-5, effort, without)
    rows = [
        Row("W4", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.04),
        Row("W4", "times faster than torch", times.ratio(OnTorch.name, Ours.name)),
        Row("W4", "recording, time over not recording", times.ratio(OursRecorded.name, Ours.name)),
    ]
    return [Outcome("W4 network of MNIST's size, one step", "ms", rows, times.medians(1e3))]
