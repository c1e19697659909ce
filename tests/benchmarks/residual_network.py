"""W5, second part: a small residual network on 32 images of 3 x 32 x 32, float32, and its most expensive layers.

A 3 x 3 convolution to 16 channels and three blocks of two convolutions (16, 32 and 64 channels; the last two halve the
image), each convolution followed by batch normalisation; then the mean of each channel, a linear layer and the
cross-entropy. Beside it a 3 x 3 convolution from 16 to 16 channels and a batch normalisation alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .harness import Call, Effort, agree, compare, gather_calls
from .report import Outcome, Row

IMAGES, SIDE, CHANNELS, CLASSES = 32, 32, 16, 10
_random = np.random.default_rng(55)
PICTURES = _random.normal(size=(IMAGES, 3, SIDE, SIDE)).astype(np.float32)
LABELS = _random.integers(0, CLASSES, size=IMAGES)
HIDDEN, UPSTREAM = (_random.normal(size=(IMAGES, CHANNELS, SIDE, SIDE)).astype(np.float32) for _ in range(2))
WEIGHT = (_random.normal(size=(CHANNELS, CHANNELS, 3, 3)) / 12).astype(np.float32)


def residual_network(nn: Any, relu: Callable[[Any], Any], **options: Any) -> Any:
    """Return the network, written in PyTorch's names, in `nn`."""

    def conv_and_norm(inputs: int, outputs: int, kernel: int, stride: int = 1) -> Any:
        convolution = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False, **options)
        return nn.Sequential(convolution, nn.BatchNorm2d(outputs, **options))

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.first, self.second = conv_and_norm(inputs, outputs, 3, stride), conv_and_norm(outputs, outputs, 3)
            self.shortcut = nn.Identity() if inputs == outputs else conv_and_norm(inputs, outputs, 1, stride)

        def forward(self, x: Any) -> Any:
            return relu(self.second(relu(self.first(x))) + self.shortcut(x))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = conv_and_norm(3, CHANNELS, 3)
            self.blocks = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
            self.head = nn.Linear(64, CLASSES, **options)

        def forward(self, x: Any) -> Any:
            return self.head(self.blocks(relu(self.stem(x))).mean((2, 3)))

    return Network()


def initial_state(network: Any) -> dict[str, np.ndarray]:
    """Return values for all parameters of a network, the same in every library."""
    random = np.random.default_rng(56)
    state = {}
    for name, parameter in sorted(network.named_parameters()):
        size = np.sqrt(2 / max(1, np.prod(parameter.shape[1:])))
        state[name] = (random.normal(size=tuple(parameter.shape)) * size).astype(np.float32)
    return state


def calls_of(library: str, nn: Any, relu: Any, to_tensor: Callable[..., Any], **options: Any) -> list[Call]:
    """Return the network's step and the single layers, forward and backward, in one library."""
    network = residual_network(nn, relu, **options)
    network.load_state_dict({**network.state_dict(), **{k: to_tensor(v) for k, v in initial_state(network).items()}})
    pictures, labels = to_tensor(PICTURES), to_tensor(LABELS)

    def step() -> Any:
        network.zero_grad()
        nn.functional.cross_entropy(network(pictures), labels).backward()

    def gradients() -> list[np.ndarray]:
        step()
        return [parameter.grad.numpy().copy() for _, parameter in sorted(network.named_parameters())]

    x, weight = (to_tensor(values, requires_grad=True) for values in (HIDDEN, WEIGHT))
    upstream, layer = to_tensor(UPSTREAM), nn.BatchNorm2d(CHANNELS, **options)
    images = nn.functional.conv2d(x, weight, padding=1).detach()
    out = nn.functional.conv2d(x, weight, padding=1)
    return [
        Call(f"{library} residual network", step, gradients),
        Call(f"{library} conv2d forward", lambda: nn.functional.conv2d(x, weight, padding=1)),
        Call(f"{library} conv2d backward", lambda: out.backward(upstream, retain_graph=True)),
        Call(f"{library} BatchNorm2d forward, of a convolution", lambda: layer(images)),
        Call(f"{library} BatchNorm2d forward, of an array", lambda: layer(x)),
    ]


def ours() -> list[Call]:
    """Return this engine's calls."""
    import micrograd_plus as mg

    return calls_of("micrograd_plus", mg.nn, mg.relu, mg.tensor, dtype="float32")


def torchs() -> list[Call]:
    """Return torch's calls."""
    import torch

    torch.set_num_threads(1)
    return calls_of("torch", torch.nn, torch.relu, torch.tensor)


GOALS = {
    "residual network": 1.15, "conv2d forward": None, "conv2d backward": 1.5,
    "BatchNorm2d forward, of a convolution": 1.5, "BatchNorm2d forward, of an array": 1.5,
}  # fmt: skip


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare with torch, and check the goals."""
    calls = gather_calls({"micrograd_plus": ours, "torch": torchs}, without)
    agree([call for call in calls if call.name.endswith("residual network")], 2e-3)
    times = compare(calls, effort, "W5, residual network")
    rows = [
        Row("W5", f"{name}, time over torch's", times.ratio(f"micrograd_plus {name}", f"torch {name}"), at_most=goal)
        for name, goal in GOALS.items()
    ]
    return [Outcome("W5 small residual network, one step, and its layers", "ms", rows, times.medians(1e3))]
