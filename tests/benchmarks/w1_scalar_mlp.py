"""W1: micrograd's demo: a network 2-16-16-1 of scalars on 100 moons, hinge loss and decay, one training step.

Some 65,000 nodes of one number each: it measures the cost of a node.
"""

from itertools import pairwise

import numpy as np

from .harness import Effort, race
from .peers import ByHand
from .report import Outcome, Row

SIZES, MOONS, DECAY, RATE = (2, 16, 16, 1), 100, 1e-4, 1e-3

_random = np.random.default_rng(1)


def moons() -> tuple[np.ndarray, np.ndarray]:
    """Return two interleaving half circles with some noise, and the class of each point: -1 or 1."""
    angle = np.linspace(0, np.pi, MOONS // 2)
    outer = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inner = np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], axis=1)
    points = np.concatenate([outer, inner]) + _random.normal(size=(MOONS, 2)) * 0.1
    return points, np.repeat([-1.0, 1.0], MOONS // 2)


POINTS, SIDES = moons()
POINTS_AS_FLOATS, SIDES_AS_FLOATS = POINTS.tolist(), SIDES.tolist()
LAYERS = [_random.uniform(-1, 1, size=(wide, deep + 1)) for deep, wide in pairwise(SIZES)]
"""A row for each neuron: its weights, then its bias; read row by row, it is micrograd's `parameters()`."""


def flat(layers: list[np.ndarray]) -> np.ndarray:
    """Return all parameters as one list."""
    return np.concatenate([layer.ravel() for layer in layers])


class NumpyByHand(ByHand):
    """The whole batch at once: the cost of the demo without a graph of numbers."""

    def __init__(self) -> None:
        super().__init__(LAYERS, RATE)

    def gradients(self) -> list[np.ndarray]:
        w1, w2, w3 = self.parameters
        h1 = POINTS.dot(w1[:, :-1].T)
        h1 += w1[:, -1]
        np.maximum(h1, 0, out=h1)
        h2 = h1.dot(w2[:, :-1].T)
        h2 += w2[:, -1]
        np.maximum(h2, 0, out=h2)
        scores = h2.dot(w3[:, :-1].T)
        scores += w3[:, -1]
        margins = 1 - SIDES * scores[:, 0]
        decay = sum(np.vdot(layer, layer) for layer in self.parameters)
        self.loss = np.maximum(margins, 0).sum() / MOONS + DECAY * decay
        to_scores = np.where(margins > 0, -SIDES / MOONS, 0.0)[:, None]
        to_h2 = to_scores.dot(w3[:, :-1])
        to_h2 *= h2 > 0
        to_h1 = to_h2.dot(w2[:, :-1])
        to_h1 *= h1 > 0
        gradients = []
        sent, seen = (to_h1, to_h2, to_scores), (POINTS, h1, h2)
        for layer, upstream, inputs in zip(self.parameters, sent, seen, strict=True):
            gradient = layer * (2 * DECAY)
            gradient[:, :-1] += upstream.T.dot(inputs)
            gradient[:, -1] += upstream.sum(axis=0)
            gradients.append(gradient)
        return [flat(gradients)]

    def step(self) -> None:
        place = 0
        [gradient] = self.gradients()
        for layer in self.parameters:
            layer -= RATE * gradient[place: place + layer.size].reshape(layer.shape)
            place += layer.size


class PythonByHand:
    """Floats and loops: the limit of any engine of scalars."""

    name = "python_by_hand"

    def __init__(self) -> None:
        self.layers = [layer.tolist() for layer in LAYERS]

    def loss_and_sums(self) -> tuple[float, list]:
        """Return the loss, and the gradient in the shape of the layers."""
        sums = [[[2 * DECAY * w for w in neuron] for neuron in layer] for layer in self.layers]
        loss = DECAY * sum(w * w for layer in self.layers for neuron in layer for w in neuron)
        last = len(self.layers) - 1
        for point, side in zip(POINTS_AS_FLOATS, SIDES_AS_FLOATS, strict=True):
            values = [point]
            for depth, layer in enumerate(self.layers):
                values.append([forward(neuron, values[-1], depth < last) for neuron in layer])
            margin = 1 - side * values[-1][0]
            if margin > 0:
                loss += margin / MOONS
                upstream = [-side / MOONS]
                for depth in range(last, -1, -1):
                    upstream = backward(self.layers[depth], sums[depth], values[depth], upstream, depth > 0)
        return loss, sums

    def gradients(self) -> list[np.ndarray]:
        return [flat([np.array(layer) for layer in self.loss_and_sums()[1]])]

    def step(self) -> None:
        self.loss, sums = self.loss_and_sums()
        for layer, gradient in zip(self.layers, sums, strict=True):
            for neuron, row in zip(layer, gradient, strict=True):
                for place, each in enumerate(row):
                    neuron[place] -= RATE * each


def forward(neuron: list[float], inputs: list[float], bends: bool) -> float:
    """Return a neuron's output; layers with relu replace negative outputs by zero."""
    total = neuron[-1]
    for w, x in zip(neuron, inputs, strict=False):
        total += w * x
    return total if total > 0 or not bends else 0.0


def backward(layer: list, sums: list, inputs: list[float], upstream: list[float], bent: bool) -> list[float]:
    """Add the gradient of each parameter, and return the gradient of the layer's inputs (nothing at the bottom)."""
    below = [0.0] * len(inputs)
    for neuron, row, sent in zip(layer, sums, upstream, strict=True):
        if sent:
            for place, x in enumerate(inputs):
                row[place] += sent * x
                below[place] += sent * neuron[place]
            row[-1] += sent
    return [each if x > 0 else 0.0 for each, x in zip(below, inputs, strict=True)] if bent else []


def demo_loss(model: object, points: list, parameters: list) -> object:
    """Return the demo's loss, as in its notebook, for any kind of scalar."""
    scores = [model(point) for point in points]
    losses = [(1 + -side * score).relu() for side, score in zip(SIDES_AS_FLOATS, scores, strict=True)]
    return sum(losses) * (1.0 / len(losses)) + DECAY * sum(p * p for p in parameters)


class OfValues:
    """micrograd's MLP on its Values. A library supplies the module with the MLP, and the engine."""

    def start(self, mlp: type, value: type) -> None:
        self.model, self.value = mlp(SIZES[0], list(SIZES[1:])), value
        for parameter, number in zip(self.model.parameters(), flat(LAYERS).tolist(), strict=True):
            parameter.data = number

    def backward(self) -> None:
        self.model.zero_grad()
        points = [[self.value(x) for x in point] for point in POINTS_AS_FLOATS]
        demo_loss(self.model, points, self.model.parameters()).backward()

    def gradients(self) -> list[np.ndarray]:
        self.backward()
        return [np.array([parameter.grad for parameter in self.model.parameters()])]

    def step(self) -> None:
        self.backward()
        for parameter in self.model.parameters():
            parameter.data -= RATE * parameter.grad


class Micrograd(OfValues):
    name = "micrograd"

    def __init__(self) -> None:
        from micrograd.engine import Value
        from micrograd.nn import MLP

        self.start(MLP, Value)


class Ours(OfValues):
    name = "micrograd_plus"

    def __init__(self) -> None:
        from micrograd_plus.engine import Value
        from micrograd_plus.nn import MLP

        self.start(MLP, Value)


class OursRecorded(Ours):
    """The step inside a recording."""

    name = "micrograd_plus recording"

    def __init__(self) -> None:
        import micrograd_plus as mg

        super().__init__()
        self.mg = mg

    def step(self) -> None:
        with self.mg.record():
            super().step()


class Torch:
    """0-d tensors of float64, one for each parameter."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.layers = [[[torch.tensor(w, dtype=torch.float64, requires_grad=True) for w in neuron]
                        for neuron in layer.tolist()] for layer in LAYERS]
        self.parameters = [w for layer in self.layers for neuron in layer for w in neuron]
        self.points = [[torch.tensor(x, dtype=torch.float64) for x in point] for point in POINTS_AS_FLOATS]

    def model(self, values: list) -> object:
        last = len(self.layers) - 1
        for depth, layer in enumerate(self.layers):
            answers = [sum((w * x for w, x in zip(weights, values, strict=True)), bias)
                       for *weights, bias in layer]
            values = [answer.relu() for answer in answers] if depth < last else answers
        return values[0]

    def backward(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
        demo_loss(self.model, self.points, self.parameters).backward()

    def gradients(self) -> list[np.ndarray]:
        self.backward()
        return [np.array([parameter.grad.item() for parameter in self.parameters])]

    def step(self) -> None:
        self.backward()
        with self.torch.no_grad():
            for parameter in self.parameters:
                parameter -= RATE * parameter.grad


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    kinds = (NumpyByHand, PythonByHand, Ours, OursRecorded, Micrograd, Torch)
    times = race("W1", kinds, 1e-10, effort, without)
    rows = [
        Row("W1", "times faster than micrograd", times.ratio(Micrograd.name, Ours.name), at_least=8),
        Row("W1", "times faster than torch's scalars", times.ratio(Torch.name, Ours.name)),
        Row("W1", "time over Python by hand", times.ratio(Ours.name, PythonByHand.name)),
        Row("W1", "recording, time over not recording", times.ratio(OursRecorded.name, Ours.name)),
    ]
    return [Outcome("W1 micrograd's demo, one step", "ms", rows, times.medians(1e3))]
