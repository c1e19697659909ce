"""W7: a recurrent network, tanh, 64 numbers carried along 200 steps, batch 16, float32, SGD.

Each step is small and depends on the previous one. Products with the inputs are computed for all steps at once; then
either a Python loop applies two operations to each step, or the `rnn` operation carries the state by itself.
"""

import numpy as np

from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch, with_recording
from .report import Outcome, Row

STEPS, BATCH, WIDTH, RATE = 200, 16, 64, 1e-3

_random = np.random.default_rng(7)


def _normal(*shape: int, scale: float) -> np.ndarray:
    return (_random.normal(size=shape) * scale).astype(np.float32)


INPUTS, TARGETS = _normal(STEPS, BATCH, WIDTH, scale=1.0), _normal(BATCH, WIDTH, scale=0.5)
START = np.zeros((BATCH, WIDTH), np.float32)
PARAMETERS = [_normal(WIDTH, WIDTH, scale=WIDTH**-0.5), _normal(WIDTH, scale=0.1),
              _normal(WIDTH, WIDTH, scale=1.5 * WIDTH**-0.5)]
"""Of the inputs the weight and the bias; of the state the weight. A weight is (out, in), as in PyTorch.

With 1 instead of 1.5 a gradient falls to 1e-45 on its way through 200 steps; numbers below 1e-38 are denormal, and
some processors take a hundred times as long for them as for others. With 1.5 it stays above 1e-17.
"""


class NumpyByHand(ByHand):
    """NumPy; the gradients of both weights need one product each for all steps, outside the loop."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.states = np.zeros((STEPS + 1, BATCH, WIDTH), np.float32)

    def gradients(self) -> list[np.ndarray]:
        w, b, u = self.parameters
        inputs, states = INPUTS.reshape(-1, WIDTH), self.states
        drive = inputs.dot(w.T)
        drive += b
        drive = drive.reshape(INPUTS.shape)
        across = u.T
        for t in range(STEPS):
            state = states[t].dot(across)
            state += drive[t]
            np.tanh(state, out=states[t + 1])
        error = states[-1] - TARGETS
        self.loss = np.vdot(error, error) / error.size
        error *= 2 / error.size
        slopes = states[1:] * states[1:]
        np.subtract(1, slopes, out=slopes)
        to_drive = np.empty_like(drive)
        for t in reversed(range(STEPS)):
            error = np.multiply(error, slopes[t], out=to_drive[t]).dot(u)
        to_drive = to_drive.reshape(-1, WIDTH)
        return [to_drive.T.dot(inputs), to_drive.sum(axis=0), to_drive.T.dot(states[:-1].reshape(-1, WIDTH))]


class Torch(OnTorch):
    """torch's fastest form: a loop over `addmm`. `nn.RNN` is no faster here, and has one more bias."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets, self.start = (self.torch.tensor(x) for x in (INPUTS, TARGETS, START))

    def backward(self) -> None:
        functional, (w, b, u) = self.torch.nn.functional, self.parameters
        state, across = self.start, u.t()
        for drive in functional.linear(self.inputs, w, b).unbind():
            state = self.torch.tanh(self.torch.addmm(drive, state, across))
        functional.mse_loss(state, self.targets).backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)

    def loss(self, parameters: list[np.ndarray]) -> object:
        w, b, u = parameters
        state, across = START, u.T
        for t in range(STEPS):
            state = self.np.tanh(self.np.dot(INPUTS[t], w.T) + b + self.np.dot(state, across))
        return self.np.mean((state - TARGETS) ** 2)


class Ours(OnOurs):
    """A Python loop."""

    def __init__(self) -> None:
        super().__init__(PARAMETERS, RATE)
        self.inputs, self.targets, self.start = (self.mg.tensor(x) for x in (INPUTS, TARGETS, START))

    def backward(self) -> None:
        functional, (w, b, u) = self.mg.nn.functional, self.parameters
        state = self.start
        for drive in functional.linear(self.inputs, w, b).unstack():
            state = self.mg.tanh(functional.linear(state, u, drive))
        functional.mse_loss(state, self.targets).backward()


class OursAtOnce(Ours):
    """The `rnn` operation."""

    name = "micrograd_plus rnn"

    def backward(self) -> None:
        functional, (w, b, u) = self.mg.nn.functional, self.parameters
        states = self.mg.rnn(functional.linear(self.inputs, w, b), u)
        functional.mse_loss(states[-1], self.targets).backward()


OursRecorded = with_recording(Ours)


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    times = race("W7", (NumpyByHand, Ours, OursAtOnce, OursRecorded, Torch, Autograd), 1e-4, effort, without)
    rows = [
        Row("W7", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=1.75),
        Row("W7", "times faster than torch", times.ratio(OnTorch.name, Ours.name), at_least=1.3),
        Row("W7", "rnn operation, time over by hand", times.ratio(OursAtOnce.name, ByHand.name), at_most=1.1),
        Row("W7", "recording, time over not recording", times.ratio(OursRecorded.name, Ours.name), at_most=1.5),
    ]
    return [Outcome("W7 recurrent network, one step", "ms", rows, times.medians(1e3))]
