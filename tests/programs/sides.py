"""The two libraries that run a program, and their differences in spelling."""

from functools import cache
from typing import Any

import numpy as np


def normal_array(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Return normal numbers, the same in every process."""
    return np.random.default_rng(seed).standard_normal(shape) * scale


class Torch:
    """PyTorch's side."""

    def __init__(self) -> None:
        import torch

        self.m, self.F, self.nn, self.optim = torch, torch.nn.functional, torch.nn, torch.optim
        self.keep = {"keepdim": True}

    def leaf(self, values: Any) -> Any:
        """Return a tensor that requires a gradient."""
        return self.m.tensor(values, dtype=self.m.float64, requires_grad=True)

    def gradients(self, f: Any, parameters: list[Any]) -> Any:
        """Return derivatives of a function, with a graph."""
        parameters = [each if each.requires_grad else each.clone().requires_grad_() for each in parameters]
        return self.m.autograd.grad(f(parameters), parameters, create_graph=True)

    def slopes(self, f: Any, x: Any) -> tuple[Any, Any]:
        """Return the first and second derivatives, entry by entry, with their graphs."""
        x = x.clone().requires_grad_()
        (first,) = self.m.autograd.grad(f(x).sum(), x, create_graph=True)
        return first, self.m.autograd.grad(first.sum(), x, create_graph=True)[0]

    def value_and_slope(self, f: Any, x: Any) -> tuple[float, np.ndarray]:
        """Return derivatives of a function of an array, as numbers."""
        x = self.m.tensor(x, requires_grad=True)
        value = f(x)
        value.backward()
        return value.item(), x.grad.numpy()

    def network(self, layers: list[Any], seed: int) -> Any:
        """Return a sequence of layers with the same weights on both sides."""
        net = self.nn.Sequential(*layers).double()
        for i, p in enumerate(net.parameters()):
            p.data = self.m.tensor(normal_array(10 * seed + i, *p.shape, scale=0.4))
        return net


class Here:
    """This library's side."""

    def __init__(self) -> None:
        import micrograd_plus as mg

        self.m, self.F, self.nn, self.optim, self.keep = mg, mg.nn.functional, mg.nn, mg.optim, {"keepdims": True}

    def leaf(self, values: Any) -> Any:
        """Return a tensor that requires a gradient."""
        return self.m.tensor(values, dtype=float, requires_grad=True)

    def gradients(self, f: Any, parameters: list[Any]) -> Any:
        """Return derivatives of a function, with a graph."""
        return self.m.grad(f)([each if each.requires_grad else each.clone().requires_grad_() for each in parameters])

    def slopes(self, f: Any, x: Any) -> tuple[Any, Any]:
        """Return the first and second derivatives, entry by entry, with their graphs."""
        first = self.m.grad(lambda x: f(x).sum())
        return first(x), self.m.grad(lambda x: first(x).sum())(x)

    def value_and_slope(self, f: Any, x: Any) -> tuple[Any, Any]:
        """Return derivatives of a function of an array, as numbers."""
        return self.m.value_and_grad(f)(x)

    def network(self, layers: list[Any], seed: int) -> Any:
        """Return a sequence of layers with the same weights on both sides."""
        net = self.nn.Sequential(*layers)
        for i, p in enumerate(net.parameters()):
            p.data = normal_array(10 * seed + i, *p.shape, scale=0.4)
        return net


@cache
def side(kind: type) -> Any:
    """Return the side with a name."""
    return kind()
