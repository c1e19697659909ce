"""micrograd's networks on `Value`s: one number at a time, so that each can be inspected."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.runtime.blocks import module_call
from ..engine import Value


class Module:
    """Base class of micrograd's networks.

    Example:
        >>> nn.Neuron(3).zero_grad()

    See: `nn.Module`, which works on tensors.
    """

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to 0."""
        for p in self.parameters():
            p.grad = 0

    def parameters(self) -> list[Value]:
        """Return all parameters."""
        return []

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Return the networks that are attributes of this one, or in such a list, by name: `layers.0`."""
        for name, held in vars(self).items():
            if isinstance(held, Module):
                yield name, held
            elif isinstance(held, (list, tuple)):
                yield from ((f"{name}.{i}", each) for i, each in enumerate(held) if isinstance(each, Module))

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Value]]:
        """Return every parameter of this network and its children by name: `layers.0.neurons.3.w[1]`.

        Args:
            prefix: prefix of the names.
        Returns: an iterator of pairs (name, number).
        Example:
            >>> [name for name, weight in nn.MLP(2, [1]).named_parameters()]
            ['layers.0.neurons.0.w[0]', 'layers.0.neurons.0.w[1]', 'layers.0.neurons.0.b']

        See: torch.nn.Module.named_parameters.
        """
        start = f"{prefix}." if prefix else ""
        for name, held in vars(self).items():
            if isinstance(held, Value):
                yield start + name, held
            elif isinstance(held, (list, tuple)):
                yield from ((f"{start}{name}[{i}]", each) for i, each in enumerate(held) if isinstance(each, Value))
        for name, child in self.named_children():
            yield from child.named_parameters(start + name)


class Neuron(Module):
    """Neuron on `Value`s: relu(w · x + b).

    Weights start uniform within ± 1, drawn by Python's `random`; the bias starts as 0.

    Args:
        nin: how many inputs.
        nonlin: False for the sum itself, without relu; True by default.
    Raises: nothing; inputs beyond the weights, or weights beyond the inputs, are passed over.
    Example:
        >>> neuron = nn.Neuron(2, nonlin=False)
        >>> neuron.w[0].data, neuron.w[1].data, neuron.b.data = 2.0, -1.0, 0.5
        >>> neuron([3.0, 4.0]).data
        2.5

    See: Karpathy, micrograd, 2020.
    """

    def __init__(self, nin: int, nonlin: bool = True):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]  # noqa: S311 - weights are no secret
        self.b = Value(0)
        self.nonlin = nonlin

    @module_call
    def __call__(self, x: Sequence[Any]) -> Value:
        """Return the output of the neuron."""
        total = self.b
        for weight, each in zip(self.w, x, strict=False):
            total = total + weight * each
        return total.relu() if self.nonlin else total

    def parameters(self) -> list[Value]:
        """Return the weights and the bias."""
        return [*self.w, self.b]

    def __repr__(self) -> str:
        return f"{'ReLU' if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """Layer of neurons on `Value`s with the same inputs.

    Called with numbers it returns a list of `Value`s; of a single neuron, the `Value` itself.

    Args:
        nin: how many inputs.
        nout: how many neurons.
        **kwargs: settings of each `Neuron`, which is `nonlin`.
    Raises: TypeError for another setting.
    Example:
        >>> layer = nn.Layer(3, 4)
        >>> layer
        Layer of [ReLUNeuron(3), ReLUNeuron(3), ReLUNeuron(3), ReLUNeuron(3)]
        >>> len(layer([1.0, 2.0, 3.0])), len(layer.parameters())
        (4, 16)

    See: Karpathy, micrograd, 2020.
    """

    def __init__(self, nin: int, nout: int, **kwargs: Any):
        self.neurons = [Neuron(nin, **kwargs) for _ in range(nout)]

    @module_call
    def __call__(self, x: Sequence[Any]) -> Any:
        """Return the output of each neuron; with one neuron, its output alone."""
        out = [neuron(x) for neuron in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        """Return the parameters of each neuron in turn."""
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(neuron) for neuron in self.neurons)}]"


class MLP(Module):
    """Multi-layer perceptron on `Value`s, with relu between layers.

    Called with numbers it returns what its last `Layer` does.

    Args:
        nin: how many inputs.
        nouts: how many neurons each layer has.
    Raises: TypeError for `nouts` that are not a sequence.
    Example:
        >>> net = nn.MLP(2, [3, 1])
        >>> net
        MLP of [Layer of [ReLUNeuron(2), ReLUNeuron(2), ReLUNeuron(2)], Layer of [LinearNeuron(3)]]
        >>> len(net.parameters())
        13

    See: Karpathy, micrograd, 2020.
    """

    def __init__(self, nin: int, nouts: Sequence[int]):
        sizes = [nin, *nouts]
        last = len(nouts) - 1
        self.layers = [Layer(sizes[i], sizes[i + 1], nonlin=i != last) for i in range(len(nouts))]

    @module_call
    def __call__(self, x: Sequence[Any]) -> Any:
        """Apply the layers one after the other."""
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self) -> list[Value]:
        """Return the parameters of each layer in turn."""
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"
