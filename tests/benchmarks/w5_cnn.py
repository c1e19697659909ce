"""W5: a convolutional network on 32 images of 28 x 28, float32, SGD.

Twice a 3 x 3 convolution (1 to 8 channels, 8 to 16), relu and 2 x 2 pooling, then one linear layer and the
cross-entropy. Most of its time goes to moving windows, so it measures the order of memory accesses.
"""

from itertools import product

import numpy as np

from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch, with_recording
from .report import Outcome, Row

BATCH, SIDE, CHANNELS, CLASSES, RATE = 32, 28, (1, 8, 16), 10, 1e-3

_random = np.random.default_rng(5)


def _weights(*shape: int) -> np.ndarray:
    """Return weights that preserve the size of the signal."""
    return (_random.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


IMAGES = _random.normal(size=(BATCH, CHANNELS[0], SIDE, SIDE)).astype(np.float32)
LABELS = _random.integers(0, CLASSES, size=BATCH)
EVERY = np.arange(BATCH)
PARAMETERS = [
    _weights(CHANNELS[1], CHANNELS[0], 3, 3), (_random.normal(size=CHANNELS[1]) * 0.1).astype(np.float32),
    _weights(CHANNELS[2], CHANNELS[1], 3, 3), (_random.normal(size=CHANNELS[2]) * 0.1).astype(np.float32),
    _weights(CLASSES, CHANNELS[2] * (SIDE // 4) ** 2), np.zeros(CLASSES, np.float32),
]  # fmt: skip

NINE = list(product(range(3), range(3)))
FOUR = list(product(range(2), range(2)))


class NumpyByHand(ByHand):
    """Images have the layout (channel, row, column, image), so that windows and pooling cells are slices with long
    runs, and a convolution is one product of matrices. Relu and pooling are one."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.images = np.ascontiguousarray(IMAGES.transpose(1, 2, 3, 0))

    def convolve_images(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the convolution, and its windows with one row for each entry of a window."""
        channels, high, wide, images = x.shape
        framed = np.zeros((channels, high + 2, wide + 2, images), np.float32)
        framed[:, 1:-1, 1:-1] = x
        windows = np.empty((channels, 9, high, wide, images), np.float32)
        for place, (i, j) in enumerate(NINE):
            windows[:, place] = framed[:, i : i + high, j : j + wide]
        seen = windows.reshape(channels * 9, -1)
        out = weight.reshape(len(weight), -1).dot(seen)
        out += bias[:, None]
        return out.reshape(-1, high, wide, images), seen

    def back_to_images(self, upstream: np.ndarray, weight: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return the gradient of the images from the gradient of their windows."""
        channels, high, wide, images = shape
        sent = weight.reshape(len(weight), -1).T.dot(upstream).reshape(channels, 9, high, wide, images)
        framed = np.zeros((channels, high + 2, wide + 2, images), np.float32)
        for place, (i, j) in enumerate(NINE):
            framed[:, i : i + high, j : j + wide] += sent[:, place]
        return framed[:, 1:-1, 1:-1]

    def pool(self, x: np.ndarray) -> np.ndarray:
        """Return the largest entry of each 2 x 2 cell, or 0."""
        out = np.maximum(x[:, ::2, ::2], x[:, ::2, 1::2])
        np.maximum(out, x[:, 1::2, ::2], out=out)
        np.maximum(out, x[:, 1::2, 1::2], out=out)
        return np.maximum(out, 0, out=out)

    def back_to_cells(self, upstream: np.ndarray, x: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """Return the gradient of the cells: it arrives at the first largest entry, if that is positive."""
        out = np.empty_like(x)
        free = largest > 0
        for i, j in FOUR:
            taken = x[:, i::2, j::2] == largest
            taken &= free
            np.multiply(upstream, taken, out=out[:, i::2, j::2])
            free ^= taken
        return out

    def gradients(self) -> list[np.ndarray]:
        w1, b1, w2, b2, w3, b3 = self.parameters
        x1, seen1 = self.convolve_images(self.images, w1, b1)
        h1 = self.pool(x1)
        x2, seen2 = self.convolve_images(h1, w2, b2)
        h2 = self.pool(x2)
        flat = h2.reshape(-1, BATCH)
        error = w3.dot(flat)
        error += b3[:, None]
        error -= error.max(axis=0)
        chosen = error[LABELS, EVERY]
        np.exp(error, out=error)
        totals = error.sum(axis=0)
        self.loss = (np.log(totals).sum() - chosen.sum()) / BATCH
        error /= totals
        error[LABELS, EVERY] -= 1
        error *= 1 / BATCH
        to_x2 = self.back_to_cells(w3.T.dot(error).reshape(h2.shape), x2, h2).reshape(len(w2), -1)
        to_h1 = self.back_to_images(to_x2, w2, h1.shape)
        to_x1 = self.back_to_cells(to_h1, x1, h1).reshape(len(w1), -1)
        return [to_x1.dot(seen1.T).reshape(w1.shape), to_x1.sum(axis=1),
                to_x2.dot(seen2.T).reshape(w2.shape), to_x2.sum(axis=1),
                error.dot(flat.T), error.sum(axis=1)]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.images, self.labels = self.torch.tensor(IMAGES), self.torch.tensor(LABELS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.torch.nn.functional, self.parameters
        h = functional.max_pool2d(self.torch.relu(functional.conv2d(self.images, w1, b1, padding=1)), 2)
        h = functional.max_pool2d(self.torch.relu(functional.conv2d(h, w2, b2, padding=1)), 2)
        functional.cross_entropy(functional.linear(h.flatten(1), w3, b3), self.labels).backward()


class Autograd(OnAutograd):
    """A convolution in nine slices, because autograd's `convolve` takes twice as long."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def convolve_images(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        side = x.shape[2]
        framed = self.np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
        slices = [framed[:, :, i : i + side, j : j + side] for i, j in NINE]
        seen = self.np.reshape(self.np.stack(slices, axis=2), (BATCH, -1, side * side))
        out = self.np.matmul(self.np.reshape(weight, (len(weight), -1)), seen)
        return self.np.reshape(out, (BATCH, -1, side, side)) + bias[:, None, None]

    def pool(self, x: np.ndarray) -> np.ndarray:
        cells = self.np.reshape(x, (*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2))
        return self.np.max(self.np.max(cells, axis=5), axis=3)

    def loss(self, parameters: list[np.ndarray]) -> object:
        w1, b1, w2, b2, w3, b3 = parameters
        h = self.pool(self.np.maximum(self.convolve_images(IMAGES, w1, b1), 0))
        h = self.pool(self.np.maximum(self.convolve_images(h, w2, b2), 0))
        logits = self.np.dot(self.np.reshape(h, (BATCH, -1)), w3.T) + b3
        logits = logits - self.np.max(logits, axis=1, keepdims=True)
        totals = self.np.log(self.np.sum(self.np.exp(logits), axis=1))
        return self.np.mean(totals - logits[EVERY, LABELS])


class Ours(OnOurs):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.images, self.labels = self.mg.tensor(IMAGES), self.mg.tensor(LABELS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3, b3) = self.mg.nn.functional, self.parameters
        h = functional.max_pool2d(self.mg.relu(functional.conv2d(self.images, w1, b1, padding=1)), 2)
        h = functional.max_pool2d(self.mg.relu(functional.conv2d(h, w2, b2, padding=1)), 2)
        functional.cross_entropy(functional.linear(h.reshape(BATCH, -1), w3, b3), self.labels).backward()


OursRecorded = with_recording(Ours)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    from . import residual_network  # its arrays are so large that a process with them keeps freed memory

    times = race("W5", (NumpyByHand, Ours, OursRecorded, Torch, Autograd), 1e-4, effort, without)
    rows = [
        Row("W5", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.4),
        Row("W5", "times faster than torch", times.ratio(OnTorch.name, Ours.name), at_least=1.3),
        Row("W5", "recording, time over not recording", times.ratio(OursRecorded.name, Ours.name), at_most=1.5),
    ]
    own = Outcome("W5 convolutional network, one step", "ms", rows, times.medians(1e3))
    return [own, *residual_network.run(effort, without)]
