"""Quantisation compared with PyTorch's fake quantisation: values and first gradients."""

import numpy as np
import pytest

import micrograd_plus as mg

pytestmark = pytest.mark.parity

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6)).astype("float32") * 2


def both(ours, theirs, *inputs):
    """Return the value and the gradients of both functions, weighted with the same numbers."""
    import torch

    weights = RNG.normal(size=(4, 6)).astype("float32")
    mine = [mg.tensor(value, requires_grad=True) for value in inputs]
    other = [torch.tensor(value, requires_grad=True) for value in inputs]
    out, expected = ours(*mine), theirs(*other)
    (out * mg.tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    pairs = [(out.numpy(), expected), *((a.grad.numpy(), b.grad) for a, b in zip(mine, other, strict=True))]
    for a, b in pairs:
        np.testing.assert_allclose(a, b.numpy(force=True), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("scale", "zero_point", "low", "high"), [(0.25, 0, -8, 7), (0.1, 3, 0, 15), (0.5, -2, -4, 3)])
def test_fake_quantize_per_tensor_agrees_with_pytorch(scale, zero_point, low, high):
    import torch

    both(
        lambda x: mg.fake_quantize(x, scale, zero_point, low=low, high=high),
        lambda x: torch.fake_quantize_per_tensor_affine(x, scale, zero_point, low, high),
        X,
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_fake_quantize_per_channel_agrees_with_pytorch(axis):
    import torch

    scale = RNG.uniform(0.1, 0.6, X.shape[axis]).astype("float32")
    zero_point = RNG.integers(-2, 3, X.shape[axis]).astype("int32")
    both(
        lambda x: mg.fake_quantize(x, scale, zero_point, low=-4, high=5, axis=axis),
        lambda x: torch.fake_quantize_per_channel_affine(
            x, torch.tensor(scale), torch.tensor(zero_point), axis, -4, 5
        ),
        X,
    )


def test_a_learned_step_agrees_with_pytorch():
    import torch

    both(
        lambda x, step: mg.fake_quantize_lsq(x, step, low=-4, high=5, grad_factor=0.3),
        lambda x, step: torch._fake_quantize_learnable_per_tensor_affine(
            x, step, torch.zeros(1), -4, 5, 0.3
        ),
        X,
        np.array([0.37], "float32"),
    )


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantize_gives_the_integers_of_pytorch():
    import torch

    quantised = torch.quantize_per_tensor(torch.tensor(X), 0.07, 4, torch.qint8)
    ours = mg.quantize(X, 0.07, 4)
    assert np.array_equal(ours.numpy(), quantised.int_repr().numpy())
    np.testing.assert_allclose(mg.dequantize(ours, 0.07, 4).numpy(), quantised.dequantize().numpy(), rtol=1e-6)
