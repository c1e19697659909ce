"""W8: twenty elementwise operations on a (1000, 1000) matrix with rows and columns, float32.

Five times: times a row, plus a column, relu, times a number. Most of its time goes to memory; it measures
how many matrices an engine writes, and how many it keeps.
"""

import gc
import tracemalloc

import numpy as np

from .harness import Contender, Effort, agree, compare, gather
from .peers import ByHand, OnAutograd, OnOurs, OnTorch
from .report import Outcome, Row

SIDE, TIMES, SHRINK = 1000, 5, 0.9

_random = np.random.default_rng(8)
MATRIX = _random.normal(size=(SIDE, SIDE)).astype(np.float32)
ROWS = [_random.uniform(0.8, 1.2, size=SIDE).astype(np.float32) for _ in range(TIMES)]
COLUMNS = [(_random.normal(size=(SIDE, 1)) * 0.1).astype(np.float32) for _ in range(TIMES)]
PARAMETERS = [MATRIX, *ROWS, *COLUMNS]


class NumpyByHand(ByHand):
    """NumPy that writes in place wherever no gradient needs the old values."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, None)

    def gradients(self) -> list[np.ndarray]:
        h, rows, columns = self.parameters[0], self.parameters[1: 1 + TIMES], self.parameters[1 + TIMES:]
        multiplied, masks = [], []
        for row, column in zip(rows, columns, strict=True):
            multiplied.append(h)
            h = h * row
            h += column
            masks.append(h > 0)
            h *= masks[-1]
            h *= SHRINK
        self.loss = h.sum()
        upstream = np.ones_like(h)
        to_rows, to_columns = [], []
        while multiplied:
            upstream *= SHRINK
            upstream *= masks.pop()
            to_columns.append(upstream.sum(axis=1, keepdims=True))
            to_rows.append(np.einsum("ij,ij->j", upstream, multiplied.pop()))
            upstream *= rows[len(multiplied)]
        return [upstream, *reversed(to_rows), *reversed(to_columns)]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, None)

    def backward(self) -> None:
        h = self.parameters[0]
        for row, column in zip(self.parameters[1: 1 + TIMES], self.parameters[1 + TIMES:], strict=True):
            h = h * row
            h = h + column
            h = self.torch.relu(h)
            h = h * SHRINK
        h.sum().backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, None)

    def loss(self, parameters: list[np.ndarray]) -> object:
        h = parameters[0]
        for row, column in zip(parameters[1: 1 + TIMES], parameters[1 + TIMES:], strict=True):
            h = h * row
            h = h + column
            h = self.np.maximum(h, 0)
            h = h * SHRINK
        return self.np.sum(h)


class Ours(OnOurs):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, None)

    def backward(self) -> None:
        h = self.parameters[0]
        for row, column in zip(self.parameters[1: 1 + TIMES], self.parameters[1 + TIMES:], strict=True):
            h = h * row
            h = h + column
            h = self.mg.relu(h)
            h = h * SHRINK
        h.sum().backward()


def peak(contender: Contender) -> float:
    """Return the peak memory of a step in megabytes (1e6 bytes), beyond the memory in use before."""
    contender.step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    contender.step()
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (highest - before) / 1e6


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    contenders, missing = gather((NumpyByHand, Ours, Torch, Autograd), without)
    agree(contenders, 1e-4)
    times = compare(contenders, effort, "W8")
    peaks: dict[str, float] = {each.name: peak(each) for each in contenders if each.name != OnTorch.name}
    rows = [
        Row("W8", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.10),
        Row("W8", "time over torch", times.ratio(Ours.name, OnTorch.name)),
        Row("W8", "peak memory of a step", peaks.get(Ours.name), "MB", at_most=30),
    ]
    return [Outcome("W8 broadcasting, one step", "ms", rows, times.medians(1e3) | missing),
            Outcome("W8 broadcasting, peak memory", "MB", [], peaks | {OnTorch.name: "not traced"} | missing)]
