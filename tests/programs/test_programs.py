"""Each program gives the same numbers here and in PyTorch."""

import numpy as np
import pytest
import torch

import micrograd_plus as mg

from .models import PROGRAMS, drawn

pytestmark = pytest.mark.parity


class Torch:
    """The side of PyTorch."""

    m, F, nn, optim, keep = torch, torch.nn.functional, torch.nn, torch.optim, {"keepdim": True}

    @staticmethod
    def leaf(values):
        return torch.tensor(values, dtype=torch.float64, requires_grad=True)

    @staticmethod
    def gradients(f, parameters):
        parameters = [each if each.requires_grad else each.clone().requires_grad_() for each in parameters]
        return torch.autograd.grad(f(parameters), parameters, create_graph=True)

    @staticmethod
    def value_and_slope(f, x):
        x = torch.tensor(x, requires_grad=True)
        value = f(x)
        value.backward()
        return value.item(), x.grad.numpy()

    @staticmethod
    def network(layers, seed):
        net = torch.nn.Sequential(*layers).double()
        for i, p in enumerate(net.parameters()):
            p.data = torch.tensor(drawn(10 * seed + i, *p.shape, scale=0.4))
        return net


class Here:
    """This side."""

    m, F, nn, optim, keep = mg, mg.nn.functional, mg.nn, mg.optim, {"keepdims": True}

    @staticmethod
    def leaf(values):
        return mg.tensor(values, dtype=float, requires_grad=True)

    @staticmethod
    def gradients(f, parameters):
        return mg.grad(f)([each if each.requires_grad else each.clone().requires_grad_() for each in parameters])

    @staticmethod
    def value_and_slope(f, x):
        return mg.value_and_grad(f)(x)

    @staticmethod
    def network(layers, seed):
        net = mg.nn.Sequential(*layers)
        for i, p in enumerate(net.parameters()):
            p.data = drawn(10 * seed + i, *p.shape, scale=0.4)
        return net


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_numbers_that_it_gives_in_pytorch(program):
    found, expected = ([float(number) for number in program(side)] for side in (Here, Torch))
    assert len(found) == len(expected) >= 5
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.ptp(found) > 0


def test_a_fixed_point_has_the_gradient_of_its_equation():
    weights, x0 = drawn(0, 4, 4, scale=0.2), np.zeros(4)

    def step(w, b, x):
        return (mg if isinstance(b, mg.Tensor) else torch).tanh(w @ x + b)

    @mg.custom_vjp
    def settled(w, b):
        x = mg.tensor(x0)
        for _ in range(200):
            x = step(w, b, x)
        return x

    @settled.rule("w", "b")
    def _(upstream, w, b, out):
        by_x = mg.vjp(lambda x: step(w, b, x), out)[1]
        adjoint = upstream
        for _ in range(200):
            adjoint = upstream + by_x(adjoint)[0]
        return mg.vjp(lambda w, b: step(w, b, out), w, b)[1](adjoint)

    b = drawn(1, 4)
    found = mg.grad(lambda w, b: (settled(w, b) ** 2).sum(), argnums=(0, 1))(weights, b)
    w2, b2 = (torch.tensor(each, requires_grad=True) for each in (weights, b))
    x = torch.zeros(4, dtype=torch.float64)
    for _ in range(200):
        x = step(w2, b2, x)
    (x**2).sum().backward()
    for here, there in zip(found, (w2, b2), strict=True):
        assert np.allclose(here, there.grad.numpy(), rtol=1e-9, atol=1e-12)
