"""W9: the gradient of the squared norm of W3's gradient: gradients of gradients, on arrays as small as W3's."""

import numpy as np

from . import w3_small_mlp as w3
from .harness import Effort, race
from .peers import ByHand, OnAutograd, OnOurs, OnTorch
from .report import Outcome, Row


class NumpyByHand(ByHand):
    """Twice the Hessian times the gradient, as the derivative of the gradient along itself."""

    def __init__(self) -> None:
        super().__init__(w3.PARAMETERS, None)

    def gradients(self) -> list[np.ndarray]:
        w1, b1, w2, b2, w3_, b3 = self.parameters
        x, total = w3.INPUTS, np.add.reduce
        h1 = x.dot(w1.T)
        h1 += b1
        np.tanh(h1, out=h1)
        h2 = h1.dot(w2.T)
        h2 += b2
        np.tanh(h2, out=h2)
        error = h2.dot(w3_.T)
        error += b3
        error -= w3.TARGETS
        error *= 2 / w3.BATCH
        to_h2, to_h1 = error.dot(w3_), None
        slope2, slope1 = 1 - h2 * h2, 1 - h1 * h1
        to_x2 = to_h2 * slope2
        to_h1 = to_x2.dot(w2)
        to_x1 = to_h1 * slope1
        dw1, db1 = to_x1.T.dot(x), total(to_x1)
        dw2, db2 = to_x2.T.dot(h1), total(to_x2)
        dw3, db3 = error.T.dot(h2), total(error)

        move1 = x.dot(dw1.T)
        move1 += db1
        move1 *= slope1
        move2 = h1.dot(dw2.T)
        move2 += move1.dot(w2.T)
        move2 += db2
        move2 *= slope2
        move3 = h2.dot(dw3.T)
        move3 += move2.dot(w3_.T)
        move3 += db3
        move3 *= 4 / w3.BATCH
        error *= 2
        to_h2 *= h2
        to_h2 *= move2
        to_h2 *= -4
        back2 = move3.dot(w3_)
        back2 += error.dot(dw3)
        back2 *= slope2
        back2 += to_h2
        to_h1 *= h1
        to_h1 *= move1
        to_h1 *= -4
        to_x2 *= 2
        back1 = back2.dot(w2)
        back1 += to_x2.dot(dw2)
        back1 *= slope1
        back1 += to_h1
        return [back1.T.dot(x), total(back1),
                back2.T.dot(h1) + to_x2.T.dot(move1), total(back2),
                move3.T.dot(h2) + error.T.dot(move2), total(move3)]


class Torch(OnTorch):
    def __init__(self) -> None:
        super().__init__(w3.PARAMETERS, None)
        self.inputs, self.targets = self.torch.tensor(w3.INPUTS), self.torch.tensor(w3.TARGETS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3_, b3) = self.torch.nn.functional, self.parameters
        h = self.torch.tanh(functional.linear(self.inputs, w1, b1))
        h = self.torch.tanh(functional.linear(h, w2, b2))
        loss = functional.mse_loss(functional.linear(h, w3_, b3), self.targets)
        first = self.torch.autograd.grad(loss, self.parameters, create_graph=True)
        sum(each.square().sum() for each in first).backward()


class Autograd(OnAutograd):
    def __init__(self) -> None:
        import autograd

        self.first = autograd.grad(self.inner)
        super().__init__(w3.PARAMETERS, None)

    def inner(self, parameters: list[np.ndarray]) -> object:
        w1, b1, w2, b2, w3_, b3 = parameters
        h = self.np.tanh(self.np.dot(w3.INPUTS, w1.T) + b1)
        h = self.np.tanh(self.np.dot(h, w2.T) + b2)
        return self.np.mean((self.np.dot(h, w3_.T) + b3 - w3.TARGETS) ** 2)

    def loss(self, parameters: list[np.ndarray]) -> object:
        return sum(self.np.sum(each ** 2) for each in self.first(parameters))


class Ours(OnOurs):
    def __init__(self) -> None:
        super().__init__(w3.PARAMETERS, None)
        self.inputs, self.targets = self.mg.tensor(w3.INPUTS), self.mg.tensor(w3.TARGETS)

    def backward(self) -> None:
        functional, (w1, b1, w2, b2, w3_, b3) = self.mg.nn.functional, self.parameters
        h = self.mg.tanh(functional.linear(self.inputs, w1, b1))
        h = self.mg.tanh(functional.linear(h, w2, b2))
        loss = functional.mse_loss(functional.linear(h, w3_, b3), self.targets)
        first = loss.gradients(create_graph=True)
        sum(first[each.node].square().sum() for each in self.parameters).backward()


def run(effort: Effort, without: set[str]) -> list[Outcome]:
    """Compare all contenders, and check the goals."""
    times = race("W9", (NumpyByHand, Ours, Torch, Autograd), 1e-10, effort, without)
    rows = [
        Row("W9", "time over by hand", times.ratio(Ours.name, ByHand.name), at_most=2.6),
        Row("W9", "times faster than torch", times.ratio(OnTorch.name, Ours.name), at_least=2.4),
    ]
    return [Outcome("W9 gradient of a gradient's norm", "us", rows, times.medians(1e6))]
