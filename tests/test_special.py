"""The error function and its complement, compared with Python's."""

import math

import numpy as np
import pytest

from micrograd_plus.backends.error_function import erf, erfc

GRID = np.concatenate([
    np.linspace(-6, 6, 4001), np.linspace(-30, 30, 2001),
    np.geomspace(1e-300, 1, 500), -np.geomspace(1e-300, 1, 500),
    [0.46875, np.nextafter(0.46875, 1), 4.0, np.nextafter(4.0, 5), -0.46875, -4.0],
])  # fmt: skip
SMALLEST_NORMAL = np.finfo(float).tiny


def each(function, entries):
    return np.array([function(entry) for entry in entries])


def test_erf_agrees_with_python_to_nearly_the_last_digit():
    np.testing.assert_allclose(erf(np, GRID), each(math.erf, GRID), rtol=1e-15, atol=0)


def test_erfc_agrees_with_python_as_far_as_numbers_are_normal():
    exact = each(math.erfc, GRID)
    normal = exact >= SMALLEST_NORMAL
    assert normal.sum() < len(GRID)
    np.testing.assert_allclose(erfc(np, GRID)[normal], exact[normal], rtol=2e-15, atol=0)


def test_erfc_goes_down_to_zero_through_the_subnormal_numbers():
    entries = np.linspace(26.5, 28, 301)
    np.testing.assert_allclose(erfc(np, entries), each(math.erfc, entries), rtol=1e-14, atol=2 * 5e-324)
    assert erfc(np, 27.2) > 0
    assert erfc(np, 27.3) == 0


def test_the_two_add_up_to_one_and_erf_is_odd():
    np.testing.assert_allclose(erf(np, GRID) + erfc(np, GRID), 1, rtol=3e-16)
    np.testing.assert_array_equal(erf(np, -GRID), -erf(np, GRID))


def test_infinities_and_nan_have_their_values():
    np.testing.assert_array_equal(erf(np, [np.inf, -np.inf, np.nan, 1e300]), [1, -1, np.nan, 1])
    np.testing.assert_array_equal(erfc(np, [np.inf, -np.inf, np.nan, -1e300]), [0, 2, np.nan, 2])


def test_zero_keeps_its_sign():
    assert math.copysign(1, erf(np, -0.0)) == -1
    assert math.copysign(1, erf(np, 0.0)) == 1
    assert erfc(np, 0.0) == 1


@pytest.mark.parametrize("function", [erf, erfc])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floating_dtypes_stay_and_round_correctly(function, dtype):
    entries = np.linspace(-4, 4, 101).astype(dtype)
    values = function(np, entries)
    assert values.dtype == dtype
    exact = each(getattr(math, function.__name__), entries.astype(float))
    np.testing.assert_allclose(values, exact.astype(dtype), rtol=4 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("function", [erf, erfc])
def test_integers_and_booleans_become_float64(function):
    for entries in (np.array([-1, 0, 2]), np.array([True, False]), 3):
        values = function(np, entries)
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, function(np, np.asarray(entries, float)), rtol=0)


@pytest.mark.parametrize("function", [erf, erfc])
def test_shapes_stay_the_same_for_every_memory_layout(function):
    square = np.linspace(-5, 5, 60).reshape(3, 4, 5)
    for entries in (square, square[:, ::-2], square.T, square[:0], np.array(0.3), np.float32(2.5)):
        values = function(np, entries)
        assert values.shape == entries.shape
        assert values.dtype == entries.dtype
        exact = each(getattr(math, function.__name__), entries.astype(float).ravel())
        np.testing.assert_allclose(values.ravel(), exact, rtol=1e-7)


@pytest.mark.parametrize("function", [erf, erfc])
def test_the_argument_is_not_modified(function):
    entries = np.linspace(-5, 5, 11)
    before = entries.copy()
    function(np, entries)
    np.testing.assert_array_equal(entries, before)


@pytest.mark.parametrize("function", [erf, erfc])
def test_erf_rejects_complex_numbers_and_names_itself(function):
    sentence = f"^{function.__name__} is defined for real numbers, not for complex128$"
    with pytest.raises(TypeError, match=sentence):
        function(np, np.array([1j]))
    with pytest.raises(TypeError, match="not for object"):
        function(np, np.array([None]))
