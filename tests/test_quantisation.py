"""Quantisation checked by hand: rounding, clipping and gradients."""

import numpy as np
import pytest

import micrograd_plus as mg

RNG = np.random.default_rng(0)


def gradient(f, x):
    return mg.grad(lambda x: f(x).sum())(np.asarray(x, float)).tolist()


def test_quantize_rounds_and_clips():
    x = mg.tensor([-9.0, -0.26, 0.0, 0.74, 1.3, 40.0])
    assert mg.quantize(x, 0.5, low=-4, high=3).tolist() == [-4, -1, 0, 1, 3, 3]
    assert mg.quantize(x, 0.5, 2, low=0, high=7).tolist() == [0, 1, 2, 3, 5, 7]
    assert mg.dequantize([0, 1, 7], 0.5, 2).tolist() == [-1.0, -0.5, 2.5]


def test_quantize_rounds_halves_to_even():
    assert mg.quantize(mg.tensor([0.5, 1.5, 2.5]), 1.0).tolist() == [0, 2, 2]


def test_fake_quantize_is_quantize_then_dequantize():
    x = RNG.normal(size=20) * 3
    assert np.allclose(
        mg.dequantize(mg.quantize(x, 0.25, 1, low=-8, high=7), 0.25, 1).numpy(),
        mg.fake_quantize(x, 0.25, 1, low=-8, high=7).numpy(),
    )
    there_and_back = gradient(lambda x: mg.dequantize(mg.quantize(x, 0.25, 1, low=-8, high=7), 0.25, 1), x)
    assert there_and_back == gradient(lambda x: mg.fake_quantize(x, 0.25, 1, low=-8, high=7), x)
    assert set(there_and_back) == {0.0, 1.0}


def test_each_estimator_has_its_stated_gradient():
    x = [-2.0, 0.1, 1.0, 3.0]

    def gradient_of(estimator):
        return gradient(lambda x: mg.fake_quantize(x, 1.0, low=-1, high=1, estimator=estimator), x)

    assert gradient_of("identity") == [1, 1, 1, 1]
    assert gradient_of("clipped") == [0, 1, 1, 0]
    assert np.allclose(gradient_of("tanh"), 1 - np.tanh(x) ** 2)


def test_a_number_rounded_to_the_bound_is_not_clipped():
    assert gradient(lambda x: mg.fake_quantize(x, 1.0, low=-1, high=1), [1.49, 1.51, -1.49, -1.51]) == [1, 0, 1, 0]


def test_each_channel_can_have_its_own_scale():
    x = np.array([[0.9, 0.9], [0.9, 0.9], [0.9, 0.9]])
    by_row = mg.fake_quantize(x, [1.0, 0.5, 0.2], axis=0)
    by_column = mg.fake_quantize(x, [1.0, 0.25], [0, 3], axis=-1)
    assert np.allclose(by_row.numpy(), [[1.0, 1.0], [1.0, 1.0], [0.8, 0.8]])
    assert np.allclose(by_column.numpy(), [[1.0, 1.0]] * 3)
    with pytest.raises(ValueError, match=r"fake_quantize.*\(3, 2\)"):
        mg.fake_quantize(x, [1.0, 0.5], axis=0)


def test_quantisation_keeps_float32_for_any_scales():
    x = mg.tensor([0.3, 0.6], dtype="float32", requires_grad=True)
    out = mg.fake_quantize(x, np.array([0.1, 0.2]), np.array([1, 2]), axis=0)
    out.sum().backward()
    assert (out.dtype, x.grad.dtype) == (np.float32, np.float32)


def test_a_learned_step_has_the_gradient_of_the_paper():
    step = mg.tensor(0.5, requires_grad=True)
    for x, expected in ((0.6, 1 - 1.2), (0.9, 2 - 1.8), (9.0, 3.0), (-9.0, -4.0)):
        step.grad = None
        mg.fake_quantize_lsq(x, step, low=-4, high=3).backward()
        assert step.grad.item() == pytest.approx(expected)
    step.grad = None
    mg.fake_quantize_lsq(9.0, step, low=-4, high=3, grad_factor=0.1).backward()
    assert step.grad.item() == pytest.approx(0.3)


def test_training_finds_a_good_quantisation_step():
    x = mg.tensor(RNG.normal(size=500))
    step = mg.tensor(2.0, requires_grad=True)
    optimizer = mg.optim.Adam([step], lr=0.05)

    def loss():
        return ((mg.fake_quantize_lsq(x, step, low=-4, high=3) - x) ** 2).mean()

    before = loss().item()
    for _ in range(100):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < 0.15 * before
    assert 0.4 < step.item() < 0.8


def test_stored_numbers_are_integers_and_carry_no_graph():
    x = mg.tensor([0.3, -0.7], requires_grad=True)
    stored = mg.quantize(x, 0.1).astype("int8")
    assert stored.dtype == np.int8
    assert not stored.requires_grad


def test_quantized_matmul_multiplies_the_rounded_matrices():
    a, b = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2))
    a_scale, b_scale = RNG.uniform(0.1, 0.2, (3, 1)), RNG.uniform(0.1, 0.2, 2)
    product = mg.quantized_matmul(a, b, a_scale, b_scale, 3, -1, low=-20, high=20)
    rounded = mg.fake_quantize(a, a_scale, 3, low=-20, high=20) @ mg.fake_quantize(b, b_scale, -1, low=-20, high=20)
    assert np.allclose(product.numpy(), rounded.numpy(), rtol=1e-12)


def test_the_scales_of_quantized_matmul_are_constants():
    a_scale = mg.tensor(0.1, requires_grad=True)
    a = mg.tensor(RNG.normal(size=(2, 3)), requires_grad=True)
    for form in (mg.enable_grad, mg.unfuse):
        with form():
            mg.quantized_matmul(a, RNG.normal(size=(3, 2)), a_scale, 0.2).sum().backward()
        assert a.grad is not None
        assert a_scale.grad is None


def test_quantized_conv2d_convolves_the_rounded_numbers():
    x, weight, bias = RNG.normal(size=(2, 3, 6, 5)), RNG.normal(size=(4, 3, 3, 2)), RNG.normal(size=4)
    scale = RNG.uniform(0.05, 0.1, 4)
    out = mg.quantized_conv2d(x, weight, 0.1, scale, 2, bias, stride=(2, 1), padding=(1, 0))
    image, kernel = mg.fake_quantize(x, 0.1, 2), mg.fake_quantize(weight, scale, axis=0)
    rounded = mg.conv2d(image, kernel, mg.tensor(bias), stride=(2, 1), padding=(1, 0))
    assert np.allclose(out.numpy(), rounded.numpy(), rtol=1e-10)


def test_dequantize_blocks_restores_weights_from_codes():
    codes = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], "int8")
    scale = mg.tensor([[1.0, 10.0], [0.5, 2.0]], requires_grad=True)
    zero_point = mg.tensor([[1.0, 0.0], [5.0, 6.0]], requires_grad=True)
    weights = mg.dequantize_blocks(codes, scale, zero_point, block=2)
    assert weights.tolist() == [[0, 20], [2, 40], [0, 0], [1, 4]]
    x = mg.tensor([[1.0, 1.0, 1.0, 2.0]], requires_grad=True)
    mg.dequantize_matmul(x, codes, scale, zero_point, block=2).sum().backward()
    assert x.grad.tolist() == [[20, 42, 0, 5]]
    assert scale.grad.tolist() == [[2, 6], [4, 4]]
    assert zero_point.grad.tolist() == [[-2, -20], [-1.5, -6]]


def test_dequantize_matmul_saves_codes_instead_of_weights():
    x = mg.tensor(RNG.normal(size=(2, 64)), requires_grad=True)
    codes = RNG.integers(-8, 8, (64, 32), dtype="int8")
    out = mg.dequantize_matmul(x, codes, RNG.uniform(0.1, 1, (2, 32)))
    kept = [value for value in out.node.saved if getattr(value, "shape", None) == (64, 32)]
    assert [value.dtype for value in kept] == [np.int8]


def test_grouped_matmul_uses_the_stored_weights_of_each_expert():
    x, experts = RNG.normal(size=(4, 6)), np.array([1, 0, 1, 2])
    codes, scale = RNG.integers(-8, 8, (3, 6, 5), dtype="int8"), RNG.uniform(0.1, 1, (3, 2, 5))
    out = mg.dequantize_grouped_matmul(x, codes, scale, experts, block=3)
    weights = mg.dequantize_blocks(codes, scale, block=3).numpy()
    assert np.allclose(out.numpy(), np.einsum("rk,rkn->rn", x, weights[experts]))


def test_quantisation_keeps_nan_and_empty_arrays():
    assert np.isnan(mg.fake_quantize(mg.tensor([np.nan]), 0.1).item())
    assert mg.quantize(mg.tensor([np.inf, -np.inf]), 0.1).tolist() == [127, -128]
    assert mg.fake_quantize(np.zeros((0, 3)), 0.1).shape == (0, 3)
    assert mg.fake_quantize(0.26, 0.5).item() == 0.5


def test_an_unknown_estimator_raises():
    with pytest.raises(ValueError, match="estimator must be 'identity', 'clipped' or 'tanh', got 'soft'"):
        mg.fake_quantize([1.0], 0.1, estimator="soft")
