"""Functions of the array namespace that differ from NumPy in method, but not in result."""

import numpy as np
import pytest

import micrograd_plus as mg
from micrograd_plus.backends import arrays

POINTS = np.array([-2.5, -1.0, -0.0, 0.0, 1e-3, 1.5, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("exponent", [*range(-9, 10), 2.0, -3.0, 0.5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_powers_equal_numpys_for_all_kinds_of_numbers(exponent, dtype):
    base = POINTS.astype(dtype)
    with np.errstate(all="ignore"):
        ours, expected = arrays.power(base, exponent), np.power(base, exponent)
    assert ours.dtype == expected.dtype
    assert ours is not base
    np.testing.assert_allclose(ours, expected, rtol=8 * np.finfo(dtype).eps)
    assert np.signbit(ours).tolist() == np.signbit(expected).tolist() or np.isnan(ours).any()


def test_powers_of_integers_and_complex_numbers_equal_numpys():
    whole, spectrum = np.array([-3, 0, 2]), np.array([1 + 2j, -1j])
    assert arrays.power(whole, 3).tolist() == [-27, 0, 8]
    assert arrays.power(whole, 3).dtype == whole.dtype
    with pytest.raises(ValueError, match="negative integer powers"):
        arrays.power(whole, -1)
    np.testing.assert_allclose(arrays.power(spectrum, 3), spectrum * spectrum * spectrum)
    assert arrays.power(2.0, np.array([1.0, 3.0])).tolist() == [2.0, 8.0]


@pytest.mark.parametrize(("exponent", "slope"), [(1, 1.0), (2, 0.0), (3, 0.0), (4, 0.0)])
def test_a_power_of_zero_has_the_right_derivative(exponent, slope):
    x = mg.tensor([0.0, -2.0], requires_grad=True)
    (x**exponent).sum().backward()
    assert x.grad.tolist() == [slope, exponent * (-2.0) ** (exponent - 1)]


SHAPES = [
    ((4, 5, 6), (6, 3)), ((2, 4, 5, 6), (6, 3)), ((5, 6), (4, 6, 3)), ((0, 5, 6), (6, 3)), ((4, 5, 6), (4, 6, 3)),
    ((2, 1, 5, 6), (4, 6, 3)), ((6,), (4, 6, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_gradients_of_many_products_are_summed(a, b):
    random = np.random.default_rng(0)
    left, right = (mg.tensor(random.normal(size=shape), requires_grad=True) for shape in (a, b))
    out = left @ right
    upstream = random.normal(size=out.shape)
    out.backward(upstream)
    for given, moved in ((left, lambda x: np.matmul(x, right.numpy())), (right, lambda x: np.matmul(left.numpy(), x))):
        for place in np.ndindex(given.shape):
            one = np.zeros(given.shape)
            one[place] = 1
            np.testing.assert_allclose(given.grad.numpy()[place], (moved(one) * upstream).sum(), atol=1e-12)


@pytest.mark.parametrize("row", [(), (3,), (4,), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex64", "int64"])
@pytest.mark.parametrize("places", [[0, 4, -1, 2, 2], [[0, 1], [-5, 1]], 3, np.zeros((2, 0), int)], ids=str)
def test_rows_that_were_looked_up_receive_their_gradients(row, dtype, places):
    places = np.array(places, dtype=np.int8)
    x = np.random.default_rng(0).integers(1, 9, size=(*places.shape, *row)).astype(dtype)
    expected = np.zeros((5, *row), dtype)
    np.add.at(expected, places, x)
    for ours in (arrays.put_add(x, expected.shape, places), arrays.put_take(x, places, expected.shape, axis=0)):
        assert ours.dtype == expected.dtype
        assert ours.tolist() == expected.tolist()


def test_rows_in_any_memory_order_are_added():
    places, x = np.array([1, 0, 1]), np.arange(12.0).reshape(4, 3).T
    assert arrays.put_add(x, (2, 4), places).tolist() == [x[1].tolist(), (x[0] + x[2]).tolist()]
    assert arrays.put_add(np.broadcast_to(2.0, (3, 4)), (2, 4), places).tolist() == [[2.0] * 4, [4.0] * 4]


@pytest.mark.parametrize("shape", [(50_400,), (50_021,), (180, 280), (280, 181)])
@pytest.mark.parametrize("exchanged", [False, True])
def test_large_arrays_are_compared_with_a_number_as_numpy_does(shape, exchanged):
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    x = x.T if exchanged else x
    for ours, numpys in ((arrays.maximum, np.maximum), (arrays.minimum, np.minimum)):
        assert np.array_equal(ours(x, 0.25), numpys(x, np.float32(0.25)))
        assert np.array_equal(ours(x[::-1], 0.25), numpys(x[::-1], np.float32(0.25)))
        whole = (4 * x).astype(int)
        assert np.array_equal(ours(whole, 0.25), numpys(whole, 0.25))


@pytest.mark.parametrize("shape", [(3, 4), (2, 70, 80), (300, 200)])
def test_triangles_of_small_and_large_matrices_are_numpys(shape):
    x = np.random.default_rng(0).normal(size=shape)
    for k in (-2, 0, 1):
        assert np.array_equal(arrays.triu(x, k), np.triu(x, k))
        assert np.array_equal(arrays.tril(x, k), np.tril(x, k))


def test_mean_squares_of_complex_numbers_are_not_magnitudes():
    assert arrays.mean_square(np.array([1j, 2.0 + 1j])) == (-1 + (2 + 1j) ** 2) / 2
    assert np.isnan(arrays.mean_square(np.zeros((0, 2))))


def test_channels_are_scaled_and_shifted_each_by_its_own_number():
    x, scale, shift = np.ones((2, 3, 2)), np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    assert arrays.scaled_channels(x, scale, shift)[0, :, 0].tolist() == [11.0, 22.0, 33.0]
    assert arrays.scaled_channels(x, None, shift)[1, :, 1].tolist() == [11.0, 21.0, 31.0]
    assert arrays.scaled_channels(x, scale, None)[1, :, 0].tolist() == [1.0, 2.0, 3.0]
    assert x.tolist() == np.ones((2, 3, 2)).tolist()


def test_the_place_of_the_largest_and_smallest_entry_is_numpys():
    x = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
    for axis in (None, 0, 1, -1):
        assert np.array_equal(arrays.argmax(x, axis=axis), np.argmax(x, axis=axis))
        assert np.array_equal(arrays.argmin(x, axis=axis), np.argmin(x, axis=axis))


def test_the_largest_finite_entry_of_each_row_is_found():
    assert arrays.finite_max(np.array([[1.0, 3.0], [2.0, np.inf]])).tolist() == [[3.0], [0.0]]
    assert arrays.finite_max(np.zeros((2, 0))).tolist() == [[0.0], [0.0]]


def test_the_adjoint_of_complex_matrices_is_conjugated():
    z = np.array([[1 + 2j, 3.0], [4j, 5.0], [6.0, 7 - 1j]])
    assert arrays.mH(z).tolist() == z.conj().T.tolist()


def test_where_chooses_by_a_python_bool():
    x, y = mg.tensor([1.0, 2.0]), mg.tensor([3.0, 4.0])
    assert mg.where(True, x, y).tolist() == [1.0, 2.0]
    assert mg.where(False, x, y).tolist() == [3.0, 4.0]
