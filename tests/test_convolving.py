"""Convolution of signals, compared with SciPy's and autograd's."""

import numpy as np
import pytest

import micrograd_plus as mg
from test_numpy_names import has_the_right_gradients

DRAW = np.random.default_rng(23)
LETTERS = [((6,), (3,)), ((3,), (6,)), ((4, 5), (2, 3)), ((2, 5), (2, 5)), ((3, 4, 2), (2, 2, 2)), ((1,), (1,))]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("first", "second"), LETTERS)
def test_convolve_equals_scipy(first, second, mode):
    import scipy.signal

    a, b = DRAW.normal(size=first), DRAW.normal(size=second)
    theirs = scipy.signal.convolve(a, b, mode, method="direct")
    np.testing.assert_allclose(mg.signal.convolve(a, b, mode).numpy(), theirs, atol=1e-13)
    has_the_right_gradients(lambda a, b: mg.signal.convolve(a, b, mode), a, b)


AXES = [
    {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [0]), "mode": "valid"},
    {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [0]), "mode": "full"},
    {"axes": ([3], [2]), "dot_axes": ([1], [0]), "mode": "valid"},
]


@pytest.mark.parity
@pytest.mark.needs("autograd")
@pytest.mark.parametrize("options", AXES)
def test_convolve_with_axes_equals_autograd(options):
    import autograd
    import autograd.scipy.signal as theirs

    a, b = DRAW.normal(size=(2, 3, 5, 6)), DRAW.normal(size=(3, 4, 2, 3))
    expected = theirs.convolve(a, b, **options)
    np.testing.assert_allclose(mg.signal.convolve(a, b, **options).numpy(), expected, atol=1e-12)
    weights = DRAW.normal(size=expected.shape)
    for place in (0, 1):
        ours = mg.grad(lambda *x: (mg.signal.convolve(*x, **options) * weights).sum(), place)(a, b).numpy()
        slope = autograd.grad(lambda *x: (theirs.convolve(*x, **options) * weights).sum(), place)(a, b)
        np.testing.assert_allclose(ours, slope, atol=1e-12)


@pytest.mark.parametrize(("given", "options", "said"), [
    (([1.0], [1.0]), {"mode": "most"}, "mode must be 'full', 'same' or 'valid'"),
    (([1.0], [[1.0]]), {}, "the same number of axes"),
    (([[1.0, 2.0]], [[1.0], [2.0]]), {"mode": "valid"}, "lies within"),
    (([], [1.0]), {}, "without entries"),
    (([[1.0]], [[1.0]]), {"axes": ([0], [0, 1])}, "pair up"),
])  # fmt: skip
def test_invalid_convolutions_raise(given, options, said):
    with pytest.raises(ValueError, match=said):
        mg.signal.convolve(*given, **options)
