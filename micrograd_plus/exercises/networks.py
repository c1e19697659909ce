"""Networks that read digits, chosen so that they use the operations whose rules a student plugs in.

A network has an activation, a form of its hidden layer and a loss. All forms read 98 of 100 digits; they differ in the
operations that they are written in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from .. import ops
from ..backends import devices
from ..core.runtime.blocks import no_grad
from ..tensor import Tensor, tensor
from ..tracing import record

np = devices.device("cpu").library

HIDDEN, PIXELS, DIGITS = 32, 64, 10
EPSILON = 1e-5
ACTIVATIONS = ("tanh", "relu", "sigmoid", "silu", "gelu", "leaky_relu", "softplus", "elu")
"""Operations that can stand between the two layers. A plugged rule of one of them selects it."""


class Network(NamedTuple):
    """A network of two layers: its activation, the form of its hidden layer, and its loss, by name."""

    activation: str = "tanh"
    hidden: str = "plain"
    loss: str = "mean_class_cross_entropy"

    def scores(self, parameters: Sequence[Any], images: Any) -> Any:
        """Return the scores of the ten digits for each image."""
        w1, b1, w2, b2 = parameters
        return ops.matmul(HIDDEN_LAYERS[self.hidden](getattr(ops, self.activation), images, w1, b1), w2) + b2

    def mean_loss(self, parameters: Sequence[Any], images: Any, labels: Any) -> Any:
        """Return the loss, averaged over the images."""
        return LOSSES[self.loss](self.scores(parameters, images), labels)

    def accuracy(self, parameters: Sequence[Any], images: Any, labels: Any) -> float:
        """Return the fraction of the images that are read rightly; 0 if a score is not finite."""
        with no_grad():
            scores = self.scores(parameters, images).numpy()
        return float(np.mean(np.argmax(scores, axis=1) == labels)) if np.isfinite(scores).all() else 0.0


def draw_parameters(rng: Any) -> list[Tensor]:
    """Draw the weights of both layers; biases are 0."""
    shapes = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, DIGITS), (DIGITS,)]
    values = [rng.normal(size=shape) / np.sqrt(shape[0]) if len(shape) == 2 else np.zeros(shape) for shape in shapes]
    return [tensor(value, requires_grad=True) for value in values]


# The hidden layer -----------


def plain_layer(activation: Callable[[Any], Any], images: Any, weight: Any, bias: Any) -> Any:
    """Return a hidden unit for each column of the weight."""
    return activation(ops.matmul(images, weight) + bias)


def scaled_layer(activation: Callable[[Any], Any], images: Any, weight: Any, bias: Any) -> Any:
    """Return hidden units that are divided by the root of their mean square, as RMS normalisation does."""
    hidden = plain_layer(activation, images, weight, bias)
    return hidden / ops.sqrt(ops.mean(ops.power(hidden, 2.0), axis=1, keepdims=True) + EPSILON)


def columns_layer(activation: Callable[[Any], Any], images: Any, weight: Any, bias: Any) -> Any:
    """Return hidden units of two kinds, computed with one image for each column, and then normalised."""
    columns = ops.matmul(ops.transpose(weight), np.transpose(images))
    sums = ops.transpose(columns) + ops.broadcast_to(bias, (len(images), HIDDEN))
    first, second = ops.getitem(sums, (slice(None), slice(HIDDEN // 2))), sums[:, HIDDEN // 2 :]
    hidden = ops.concatenate([activation(first), ops.sigmoid(second)], axis=1)
    distance = hidden - ops.mean(hidden, axis=1, keepdims=True)
    return distance / ops.sqrt(ops.var(hidden, axis=1, keepdims=True) + EPSILON)


HIDDEN_LAYERS = {"plain": plain_layer, "scaled": scaled_layer, "columns": columns_layer}


# The loss -------------------


def one_hot(labels: Any) -> Any:
    """Return a row for each label, with a 1 at its place."""
    return np.eye(DIGITS)[labels]


def log_softmax_loss(scores: Any, labels: Any) -> Any:
    """Return the mean cross-entropy by way of the logarithms of the probabilities."""
    return -ops.mean(ops.sum(ops.log_softmax(scores) * one_hot(labels), axis=1))


def stages_loss(scores: Any, labels: Any) -> Any:
    """Return the mean cross-entropy in its stages: exponentials, probabilities, the one of the label, its logarithm."""
    e = ops.exp(scores - ops.max(scores, axis=1, keepdims=True))
    probabilities = e / ops.sum(e, axis=1, keepdims=True)
    return -ops.mean(ops.log(ops.sum(probabilities * one_hot(labels), axis=1)))


def bits_loss(scores: Any, labels: Any) -> Any:
    """Return the mean cross-entropy in bits: the stages with powers of 2 and logarithms to base 2."""
    e = ops.power(2.0, scores - ops.max(scores, axis=1, keepdims=True))
    probabilities = e / ops.sum(e, axis=1, keepdims=True)
    return -ops.mean(ops.log2(ops.sum(probabilities * one_hot(labels), axis=1)))


def mixed_loss(scores: Any, labels: Any) -> Any:
    """Return the mean of six losses, each of which alone would train the network."""
    target, places = one_hot(labels), labels[:, None]
    score = ops.take_along_axis(scores, places, axis=1)[:, 0]
    return (
        ops.mean_class_cross_entropy(scores, labels)
        + ops.mean(ops.softmax_cross_entropy(scores, target))
        - ops.mean(ops.take_along_axis(ops.log_softmax(scores), places, axis=1))
        + ops.mean(ops.logsumexp(scores, axis=1) - score)
        + ops.mean(ops.binary_cross_entropy_with_logits(scores, target))
        + ops.mse(ops.softmax(scores), target)
    ) / 6


LOSSES = {
    "mean_class_cross_entropy": ops.mean_class_cross_entropy, "log_softmax": log_softmax_loss,
    "stages": stages_loss, "bits": bits_loss, "mixed": mixed_loss,
}  # fmt: skip


# The choice -----------------


def network_for(operations: Iterable[str]) -> Network:
    """Return the network that uses as many of these operations as possible, and no unusual form without need."""
    names = set(operations)
    network = Network(next((each for each in ACTIVATIONS if each in names), ACTIVATIONS[0]))
    network = max((network._replace(hidden=each) for each in HIDDEN_LAYERS), key=lambda each: uses(each, names))
    return max((network._replace(loss=each) for each in LOSSES), key=lambda each: uses(each, names))


def uses(network: Network, names: set[str]) -> int:
    """Return how many of some operations a network uses."""
    return len(names & operations_of(network))


@cache
def operations_of(network: Network) -> frozenset[str]:
    """Return the names of the operations whose rules run in the walk of a network."""
    parameters = draw_parameters(np.random.default_rng(0))
    with record() as trace:
        network.mean_loss(parameters, np.ones((2, PIXELS)), np.array([0, 1])).backward()
    return frozenset(step.rule.partition(".")[0] for step in trace.steps)


__all__ = ["DIGITS", "HIDDEN", "PIXELS", "Network", "draw_parameters", "network_for", "operations_of"]
