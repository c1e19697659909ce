"""Convolutions in blocks of windows, and comparisons along rows, equal the direct computation."""

import itertools

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import arrays, windows

SETTINGS = [
    {"stride": stride, "padding": padding, "dilation": dilation}
    for stride, padding, dilation in itertools.product([(1, 1), (2, 1)], [(0, 0), (1, 2), (4, 3)], [(1, 1), (1, 2)])
]


def convolve(x, weight, settings, groups):
    """Return the output of a convolution, and the gradients of its images and its weight."""
    x, weight = mg.tensor(x, requires_grad=True), mg.tensor(weight, requires_grad=True)
    out = mg.conv2d(x, weight, groups=groups, **settings)
    out.backward(np.cos(np.arange(out.size)).reshape(out.shape))
    return out.numpy(), x.grad.numpy(), weight.grad.numpy()


@pytest.mark.parametrize("entries", [1, 700, 1 << 18])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_blocks_of_any_size_give_the_steps_of_the_convolution(monkeypatch, settings, groups, entries):
    rng = np.random.default_rng(3)
    x, weight = rng.normal(size=(3, 4, 6, 5)), rng.normal(size=(6, 4 // groups, 3, 2))
    monkeypatch.setattr(windows, "BLOCK", entries)
    in_blocks = convolve(x, weight, settings, groups)
    with mg.unfuse():
        in_steps = convolve(x, weight, settings, groups)
    for block, step in zip(in_blocks, in_steps, strict=True):
        np.testing.assert_allclose(block, step, rtol=1e-10, atol=1e-12)


def test_images_a_page_apart_are_copied_whole():
    images = np.random.default_rng(4).normal(size=(19, 2, 16, 16))
    assert images.strides[0] % 4096 == 0
    assert np.array_equal(windows._contiguous_images(np, images), images.transpose(1, 2, 3, 0))


def test_a_convolution_of_no_images_has_no_entries():
    out, to_x, to_weight = convolve(np.zeros((0, 2, 5, 5)), np.ones((3, 2, 3, 3)), {}, 1)
    assert out.shape == (0, 3, 3, 3)
    assert to_x.shape == (0, 2, 5, 5)
    assert not to_weight.any()


def test_channels_that_do_not_match_are_named():
    message = r"x has 3 channels; with groups=1 and weight \(4, 2, 3, 3\) it must have 2"
    with pytest.raises(ValueError, match=message):
        mg.conv2d(np.ones((2, 3, 5, 5)), np.ones((4, 2, 3, 3)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(60_000,), (300, 200), (32, 20, 10, 10), (59_999,)])
def test_a_number_beside_many_is_compared_as_numpy_does(shape, dtype):
    x = np.random.default_rng(5).normal(size=shape).astype(dtype)
    for seen in (x, x.T, x[..., ::2]):
        for name, number in itertools.product(("maximum", "minimum"), (0.25, 0)):
            ours, numpys = getattr(arrays, name)(seen, number), getattr(np, name)(seen, number)
            assert np.array_equal(ours, numpys)
            assert ours.dtype == numpys.dtype


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (-1,)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_mean_squares_and_variances_of_many_numbers_are_numpys(axis, keepdims):
    x = 3 + np.random.default_rng(6).normal(size=(300, 20, 30))
    squares = np.mean(x * x, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(arrays.mean_square(x, axis, keepdims), squares, rtol=1e-12)
    for ddof in (0, 1):
        expected = np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)
        np.testing.assert_allclose(arrays.var(x, axis, ddof, keepdims), expected, rtol=1e-12)
