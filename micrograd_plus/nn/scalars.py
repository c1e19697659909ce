"""micrograd's networks, on `Value`s: one number at a time, so that every one of them can be looked at."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ..engine import Value


class Module:
    """Something with parameters."""

    def zero_grad(self) -> None:
        """Set the gradient of every parameter back to 0."""
        for p in self.parameters():
            p.grad = 0

    def parameters(self) -> list[Value]:
        """Every number that training may change."""
        return []


class Neuron(Module):
    """A weighted sum of inputs and a bias, bent by relu unless `nonlin` is false."""

    def __init__(self, nin: int, nonlin: bool = True):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]  # noqa: S311 - weights are no secret
        self.b = Value(0)
        self.nonlin = nonlin

    def __call__(self, x: Sequence[Any]) -> Value:
        """What the neuron makes of its inputs."""
        total = self.b
        for weight, each in zip(self.w, x, strict=False):
            total = total + weight * each
        return total.relu() if self.nonlin else total

    def parameters(self) -> list[Value]:
        """The weights, then the bias."""
        return [*self.w, self.b]

    def __repr__(self) -> str:
        return f"{'ReLU' if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """Several neurons that see the same inputs."""

    def __init__(self, nin: int, nout: int, **kwargs: Any):
        self.neurons = [Neuron(nin, **kwargs) for _ in range(nout)]

    def __call__(self, x: Sequence[Any]) -> Any:
        """What each neuron makes of the inputs; of a single neuron, the number itself."""
        out = [neuron(x) for neuron in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        """Those of each neuron in turn."""
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(neuron) for neuron in self.neurons)}]"


class MLP(Module):
    """Layers one behind the other; all but the last are bent by relu."""

    def __init__(self, nin: int, nouts: Sequence[int]):
        sizes = [nin, *nouts]
        last = len(nouts) - 1
        self.layers = [Layer(sizes[i], sizes[i + 1], nonlin=i != last) for i in range(len(nouts))]

    def __call__(self, x: Sequence[Any]) -> Any:
        """What the layers make of the inputs, one after the other."""
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self) -> list[Value]:
        """Those of each layer in turn."""
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"
