"""W3: a small network, 2-16-16-1, batch 32, float64, tanh, mean squared error, SGD.

Small arrays, which measure the engine and not the arithmetic.
"""

from itertools import pairwise

import numpy as np

from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch, with_recording
from .recording import off_again
from .report import Outcome, Row

SIZES, BATCH, RATE = (2, 16, 16, 1), 32, 1e-3

_random = np.random.default_rng(3)
INPUTS = _random.normal(size=(BATCH, SIZES[0]))
TARGETS = np.sin(INPUTS.sum(axis=1, keepdims=True))
PARAMETERS = []
"""A weight, its bias, and so on; a weight is (out, in), as in PyTorch."""
for deep, wide in pairwise(SIZES):
    PARAMETERS += [_random.normal(size=(wide, deep)) / np.sqrt(deep), _random.normal(size=wide) * 0.1]


class NumpyByHand(ByHand):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def gradients(self) -> list[np.ndarray]:
        w1, b1, w2, b2, w3, b3 = self.parameters
        h1 = INPUTS.dot(w1.T)
        h1 += b1
        np.tanh(h1, out=h1)
        h2 = h1.dot(w2.T)
        h2 += b2
        np.tanh(h2, out=h2)
        error = h2.dot(w3.T)
        error += b3
        error -= TARGETS
        self.loss = np.vdot(error, error) / BATCH
        error *= 2 / BATCH
        to_h2 = error.dot(w3)
        to_h2 *= 1 - h2 * h2
        to_h1 = to_h2.dot(w2)
        to_h1 *= 1 - h1 * h1
        total = np.add.reduce
        return [to_h1.T.dot(INPUTS), total(to_h1),
                to_h2.T.dot(h1), total(to_h2),
                error.T.dot(h2), total(error)]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets = self.torch.tensor(INPUTS), self.torch.tensor(TARGETS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.torch.nn.functional, self.parameters
        h = self.torch.tanh(functional.linear(self.inputs, w1, b1))
        h = self.torch.tanh(functional.linear(h, w2, b2))
        functional.mse_loss(functional.linear(h, w3, b3), self.targets).backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def loss(self, parameters: list[np.ndarray]) -> object:
        w1, b1, w2, b2, w3, b3 = parameters
        h = self.np.tanh(self.np.dot(INPUTS, w1.T) + b1)
        h = self.np.tanh(self.np.dot(h, w2.T) + b2)
        return self.np.mean((self.np.dot(h, w3.T) + b3 - TARGETS) ** 2)


class Ours(OnOurs):
    """`linear` and `mse_loss` are one operation each."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets = self.mg.tensor(INPUTS), self.mg.tensor(TARGETS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.mg.nn.functional, self.parameters
        h = self.mg.tanh(functional.linear(self.inputs, w1, b1))
        h = self.mg.tanh(functional.linear(h, w2, b2))
        functional.mse_loss(functional.linear(h, w3, b3), self.targets).backward()


class OursApart(Ours):
    """Every operator is a separate operation."""

    name = "micrograd_plus apart"

    def backward(self) -> None:
        w1, b1, w2, b2, w3, b3 = self.parameters
        h = self.mg.tanh(self.inputs @ w1.T + b1)
        h = self.mg.tanh(h @ w2.T + b2)
        error = h @ w3.T + b3 - self.targets
        (error * error).mean().backward()


OursRecorded = with_recording(Ours)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    kinds = (NumpyByHand, Ours, OursApart, OursRecorded, Torch, Autograd)
    times = race("W3", kinds, 1e-10, effort, without)
    rows = [
        Row("W3", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.5),
        Row("W3", "times faster than torch", times.ratio(OnTorch.name, Ours.name), at_least=2.5),
        Row("W3", "operators apart, time over by hand", times.ratio(OursApart.name, ByHand.name)),
        Row("W3", "recording, time over not recording",
            times.ratio(OursRecorded.name, Ours.name), at_most=1.2),
        Row("W3", "a recording ended, time over none ever made",
            None if Ours.name in times.missing else off_again("w3_small_mlp", effort), at_most=1.02),
    ]
    return [Outcome("W3 small network, one step", "us", rows, times.medians(1e6))]
