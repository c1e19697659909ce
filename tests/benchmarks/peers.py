"""Shared code of the array workloads: each library's parameters, gradients and update.

A workload derives its contenders from these and adds the loss. Parameters are in the order of a workload's
list; `rate` is the learning rate, None if a workload updates nothing.
"""

import numpy as np


class ByHand:
    """NumPy without graph or dispatch: the limit of any engine on NumPy. A workload defines `gradients`."""

    name = "numpy_by_hand"

    def __init__(self, parameters: list[np.ndarray], rate: float | None) -> None:
        self.parameters, self.rate = [each.copy() for each in parameters], rate

    def gradients(self) -> list[np.ndarray]:
        raise TypeError(f"{type(self).__name__} must say how its gradients are computed")

    def step(self) -> None:
        gradients = self.gradients()
        if self.rate is not None:
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                gradient *= self.rate
                parameter -= gradient


class OnTorch:
    """PyTorch, eager, on one thread. A workload defines `backward`.

    The update is a loop: torch.optim.SGD costs three times as much on small arrays, so this is its best.
    """

    name = "torch"

    def __init__(self, parameters: list[np.ndarray], rate: float | None) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.rate = torch, rate
        self.parameters = [torch.tensor(each, requires_grad=True) for each in parameters]

    def backward(self) -> None:
        raise TypeError(f"{type(self).__name__} must say what its loss is")

    def gradients(self) -> list[np.ndarray]:
        self.fresh_backward()
        return [each.grad.numpy().copy() for each in self.parameters]

    def fresh_backward(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
        self.backward()

    def step(self) -> None:
        self.fresh_backward()
        if self.rate is not None:
            with self.torch.no_grad():
                for parameter in self.parameters:
                    parameter.add_(parameter.grad, alpha=-self.rate)


class OnAutograd:
    """HIPS autograd, which traces NumPy. A workload defines `loss(parameters)`, in `self.np`."""

    name = "autograd"

    def __init__(self, parameters: list[np.ndarray], rate: float | None) -> None:
        import autograd
        import autograd.numpy

        self.np, self.rate = autograd.numpy, rate
        self.parameters = [each.copy() for each in parameters]
        self.gradient_of_loss = autograd.grad(self.loss)

    def loss(self, parameters: list[np.ndarray]) -> object:
        raise TypeError(f"{type(self).__name__} must say what its loss is")

    def gradients(self) -> list[np.ndarray]:
        return self.gradient_of_loss(self.parameters)

    def step(self) -> None:
        gradients = self.gradients()
        if self.rate is not None:
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter -= self.rate * gradient


class OnOurs:
    """This engine. A workload defines `backward`, in `self.mg`."""

    name = "micrograd_plus"

    def __init__(self, parameters: list[np.ndarray], rate: float | None) -> None:
        import micrograd_plus as mg

        self.mg = mg
        self.parameters = [mg.tensor(each, requires_grad=True) for each in parameters]
        self.optimizer = None if rate is None else mg.optim.SGD(self.parameters, lr=rate)

    def backward(self) -> None:
        raise TypeError(f"{type(self).__name__} must say what its loss is")

    def gradients(self) -> list[np.ndarray]:
        self.fresh_backward()
        return [each.grad.numpy().copy() for each in self.parameters]

    def fresh_backward(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
        self.backward()

    def step(self) -> None:
        self.fresh_backward()
        if self.optimizer is not None:
            self.optimizer.step()


def with_recording(ours: type) -> type:
    """Return the same contender with each step in a recording."""

    class Recorded(ours):
        name = "micrograd_plus recording"

        def step(self) -> None:
            with self.mg.record():
                super().step()

    return Recorded


def with_program(ours: type, label: str = "written out", **options: bool) -> type:
    """Return the same contender with a compiled step."""

    class Written(ours):
        name = f"micrograd_plus {label}"

        def __init__(self) -> None:
            super().__init__()
            self.step = self.mg.compile(super().step, **options)
            start = [each.numpy() for each in self.parameters]
            for _ in range(2):  # traced, so that each timed step runs the program
                self.step()
            for parameter, values in zip(self.parameters, start, strict=True):
                parameter.assign(values)

    return Written
