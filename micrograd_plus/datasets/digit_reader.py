"""The network of the lessons: 64 pixels, 32 hidden units with tanh, and a score for each of ten digits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..optim import SGD
from ..tensor import tensor
from .loading import load_digits

PIXELS, HIDDEN, CLASSES = 64, 32, 10
BATCH, RATE = 50, 0.5
BLACK = 16
"""The darkest value of a pixel in the data set; the reader sees pixels from 0 to 1."""


class SplitDigits(NamedTuple):
    """The digits as rows of 64 pixels from 0 to 1, with three quarters for training and a quarter for testing."""

    train_images: Any
    """Array of shape (1347, 64)."""
    train_labels: Any
    """Array of shape (1347,): the digit of each training image."""
    test_images: Any
    """Array of shape (450, 64): every fourth image of `load_digits`, starting with the first."""
    test_labels: Any
    """Array of shape (450,): the digit of each test image."""


class Reader(NamedTuple):
    """The weights of a network that reads digits, as arrays: scores = tanh(image @ w1 + b1) @ w2 + b2."""

    w1: Any
    """Array of shape (64, 32)."""
    b1: Any
    """Array of shape (32,)."""
    w2: Any
    """Array of shape (32, 10)."""
    b2: Any
    """Array of shape (10,)."""


def split_digits() -> SplitDigits:
    """Return the digits as rows of pixels from 0 to 1, split into training and test images.

    Args: none.
    Returns: training images and labels, test images and labels. Test image `i` is image `4 * i` of `load_digits`.
    Raises: nothing.
    Example:
        >>> from micrograd_plus import datasets
        >>> digits = datasets.split_digits()
        >>> digits.train_images.shape, digits.test_images.shape
        ((1347, 64), (450, 64))

    See: `load_digits`.
    """
    images, labels = load_digits()
    rows, test = images.reshape(-1, PIXELS) / BLACK, np.arange(len(images)) % 4 == 0
    return SplitDigits(rows[~test], labels[~test], rows[test], labels[test])


def draw_reader(seed: int = 0) -> Reader:
    """Return the weights of a reader that has learned nothing: normal numbers, scaled by the number of inputs.

    Args:
        seed: the seed of the random numbers.
    Returns: the weights, as arrays. Biases are 0.
    Raises: nothing.
    Example:
        >>> from micrograd_plus import datasets
        >>> [weights.shape for weights in datasets.draw_reader()]
        [(64, 32), (32,), (32, 10), (10,)]

    See: `train_reader`.
    """
    return _draw(np.random.default_rng(seed))


def train_reader(epochs: int = 20, seed: int = 0) -> Reader:
    """Return the weights of a reader trained on the training images, with gradient descent in batches of 50.

    Args:
        epochs: how often each image is seen.
        seed: the seed of the first weights and of the order of the images.
    Returns: the weights, as arrays.
    Raises: nothing.
    Example: a fifth of a second is enough for 98 of 100 unseen digits.
        >>> import numpy as np
        >>> from micrograd_plus import datasets
        >>> w1, b1, w2, b2 = datasets.train_reader()
        >>> digits = datasets.split_digits()
        >>> scores = np.tanh(digits.test_images @ w1 + b1) @ w2 + b2
        >>> round(100 * (scores.argmax(axis=1) == digits.test_labels).mean())
        98

    See: `split_digits`.
    """
    rng, digits = np.random.default_rng(seed), split_digits()
    w1, b1, w2, b2 = parameters = [tensor(each, requires_grad=True) for each in _draw(rng)]
    optimizer = SGD(parameters, lr=RATE)
    for _ in range(epochs):
        order = rng.permutation(len(digits.train_images))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            hidden = ops.tanh(ops.matmul(digits.train_images[batch], w1) + b1)
            loss = ops.mean_class_cross_entropy(ops.matmul(hidden, w2) + b2, digits.train_labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return Reader(*(each.numpy() for each in parameters))


def _draw(rng: Any) -> Reader:
    return Reader(rng.normal(size=(PIXELS, HIDDEN)) / np.sqrt(PIXELS), np.zeros(HIDDEN),
                  rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN), np.zeros(CLASSES))  # fmt: skip
