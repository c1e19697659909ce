"""Each program gives the same numbers here and in PyTorch."""

import numpy as np
import pytest
import torch

import micrograd_plus as mg

from .models import PROGRAMS
from .sides import Here, Torch, normal_array, side

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_numbers_of_pytorch(program):
    found, expected = ([float(number) for number in program(side(kind))] for kind in (Here, Torch))
    assert len(found) == len(expected) >= 5
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.ptp(found) > 0


def test_a_fixed_point_has_the_gradient_of_its_equation():
    weights, x0 = normal_array(0, 4, 4, scale=0.2), np.zeros(4)

    def step(w, b, x):
        return (mg if isinstance(b, mg.Tensor) else torch).tanh(w @ x + b)

    @mg.custom_vjp
    def fixed_point(w, b):
        x = mg.tensor(x0)
        for _ in range(200):
            x = step(w, b, x)
        return x

    @fixed_point.rule("w", "b")
    def _(upstream, w, b, out):
        by_x = mg.vjp(lambda x: step(w, b, x), out)[1]
        adjoint = upstream
        for _ in range(200):
            adjoint = upstream + by_x(adjoint)[0]
        return mg.vjp(lambda w, b: step(w, b, out), w, b)[1](adjoint)

    b = normal_array(1, 4)
    found = mg.grad(lambda w, b: (fixed_point(w, b) ** 2).sum(), argnums=(0, 1))(weights, b)
    w2, b2 = (torch.tensor(each, requires_grad=True) for each in (weights, b))
    x = torch.zeros(4, dtype=torch.float64)
    for _ in range(200):
        x = step(w2, b2, x)
    (x**2).sum().backward()
    for here, there in zip(found, (w2, b2), strict=True):
        assert np.allclose(here, there.grad.numpy(), rtol=1e-9, atol=1e-12)
