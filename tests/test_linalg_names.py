"""Fourier transforms over several axes and further linear algebra, compared with NumPy and differences."""

import numpy as np
import pytest

import micrograd_plus as mg
from test_numpy_names import agree, has_the_right_gradients

DRAW = np.random.default_rng(31)


def real(*shape):
    return DRAW.normal(size=shape)


def spectrum(*shape):
    return real(*shape) + 1j * real(*shape)


# Fourier transforms -------------------------------------------------------------------------------------------------

SEVERAL = [{}, {"axes": (0, 2)}, {"axes": (2, 0), "norm": "ortho"}, {"s": (3, 7)}, {"s": (2, 5), "axes": (1, 0)},
           {"s": (4, 3, 6), "axes": (0, 1, 2), "norm": "forward"}]  # fmt: skip


@pytest.mark.parametrize("options", SEVERAL)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.filterwarnings("ignore:.*axes.*:DeprecationWarning")
def test_transforms_over_several_axes_equal_numpy(name, options):
    x = real(4, 3, 6) if name in ("fftn", "rfftn") else spectrum(4, 3, 6)
    full = {"axes": tuple(range(-len(options["s"]), 0)), **options} if "s" in options else options
    agree(getattr(mg.fft, name)(x, **options), getattr(np.fft, name)(x, **full))


@pytest.mark.parametrize("name", ["rfft2", "irfft2"])
def test_transforms_of_images_equal_numpy(name):
    x = real(2, 4, 5) if name == "rfft2" else spectrum(2, 4, 5)
    for options in ({}, {"s": (3, 6)}, {"axes": (0, 1), "norm": "ortho"}):
        agree(getattr(mg.fft, name)(x, **options), getattr(np.fft, name)(x, **options))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "rfft2", "irfft2"])
def test_transforms_of_real_numbers_have_the_right_gradients(name):
    def f(x):
        out = getattr(mg.fft, name)(x, s=(3, 6), axes=(0, 2))
        return out.real * 2.0 + out.imag * 3.0 if out.dtype.kind == "c" else out

    has_the_right_gradients(f, real(4, 2, 5))


@pytest.mark.parametrize(("shape", "axes"), [((5,), None), ((4, 5), None), ((4, 5), 1), ((2, 3, 4), (0, -1))])
def test_fftshift_moves_frequency_0_to_the_middle_and_back(shape, axes):
    x = real(*shape)
    agree(mg.fft.fftshift(x, axes), np.fft.fftshift(x, axes))
    agree(mg.fft.ifftshift(x, axes), np.fft.ifftshift(x, axes))
    has_the_right_gradients(lambda a: mg.fft.fftshift(a, axes) ** 2, x)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_fftfreq_has_the_order_of_fft(n):
    agree(mg.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
    agree(mg.fft.rfftfreq(n), np.fft.rfftfreq(n))


@pytest.mark.parametrize(("call", "error", "said"), [
    (lambda: mg.fft.fftn([1.0], s=(1, 2), axes=(0,)), ValueError, "one length for each axis"),
    (lambda: mg.fft.fftn([1.0], axes=(1,)), IndexError, "out of range"),
    (lambda: mg.fft.fftn([[1.0]], axes=(0, -2)), ValueError, "name one twice"),
    (lambda: mg.fft.rfftn([1j]), TypeError, "real"),
    (lambda: mg.fft.fftfreq(0), ValueError, "n must be at least 1"),
    (lambda: mg.fft.fftfreq(3.5), TypeError, "fftfreq"),
    (lambda: mg.fft.fftn([1.0], norm="no such"), ValueError, "no such"),
])  # fmt: skip
def test_invalid_arguments_of_transforms_raise(call, error, said):
    with pytest.raises(error, match=said):
        call()


# Eigenvectors -------------------------------------------------------------------------------------------------------


def test_eig_returns_eigenvectors():
    for a in (real(4, 4), real(2, 3, 3), spectrum(3, 3)):
        values, vectors = mg.linalg.eig(a)
        np.testing.assert_allclose((a @ vectors).numpy(), (vectors * mg.expand_dims(values, -2)).numpy(), atol=1e-12)
        np.testing.assert_allclose((abs(vectors.numpy()) ** 2).sum(-2), 1)
        ours, theirs = np.sort_complex(values.numpy().ravel()), np.sort_complex(np.linalg.eigvals(a).ravel())
        np.testing.assert_allclose(ours, theirs)
        assert values.dtype == vectors.dtype == np.complex128
    assert mg.linalg.eigvals(np.eye(2, dtype="float32")).dtype == np.complex64


def test_expm_by_eigenvectors_has_the_gradient_of_expm():
    def by_eigenvectors(a):
        values, vectors = mg.linalg.eig(a)
        return ((vectors * mg.exp(values)) @ mg.linalg.inv(vectors)).real

    a, weights = real(3, 3), real(3, 3)
    expected = mg.grad(lambda a: (mg.linalg.expm(a) * weights).sum())(a).numpy()
    np.testing.assert_allclose(mg.grad(lambda a: (by_eigenvectors(a) * weights).sum())(a).numpy(), expected, rtol=1e-10)
    squares = mg.grad(lambda a: (mg.linalg.eigvals(a) ** 2).sum().real)(a).numpy()
    np.testing.assert_allclose(squares, 2 * a.T, rtol=1e-10)  # the sum of squares is the trace of a @ a


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_equal_values_have_a_gradient_and_their_vectors_none():
    a = np.diag([2.0, 2.0, 5.0])
    assert np.isfinite(mg.grad(lambda a: mg.linalg.eigvals(a).real.sum())(a).numpy()).all()
    assert np.isnan(mg.grad(lambda a: (mg.linalg.eig(a)[1].real * real(3, 3)).sum())(a).numpy()).any()


def test_backward_raises_without_enough_eigenvectors():
    for a in ([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 1.0]]):
        with pytest.raises(ValueError, match="the eigenvectors of a do not span the space"):
            mg.grad(lambda a: mg.linalg.eigvals(a).real.sum())(np.array(a))
    with pytest.raises(ValueError, match=r"eig\(.*square"):
        mg.linalg.eig(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"eig\(.*finite"):
        mg.linalg.eig([[np.nan, 1.0], [1.0, 2.0]])


# Solving ------------------------------------------------------------------------------------------------------------


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solve_triangular_matches_scipy_and_ignores_the_other_half(lower, unit_diagonal, trans):
    import scipy.linalg

    a, b = real(4, 4) + 3 * np.eye(4), real(4, 2)
    options = {"lower": lower, "unit_diagonal": unit_diagonal, "trans": trans}
    theirs = scipy.linalg.solve_triangular(a, b, **options)
    np.testing.assert_allclose(mg.linalg.solve_triangular(a, b, **options).numpy(), theirs, rtol=1e-10)
    has_the_right_gradients(lambda a, b: mg.linalg.solve_triangular(a, b, **options), a, b[:, 0])
    received = mg.grad(lambda a: mg.linalg.solve_triangular(a, b, **options).sum())(a).numpy()
    assert not (np.triu(received, 1) if lower else np.tril(received, -1)).any()


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("band", [(1, 1), (0, 2), (2, 0), (3, 1)])
def test_a_band_is_solved_as_in_scipy(band):
    import scipy.linalg

    ab, b = real(sum(band) + 1, 5), real(5)
    ab[band[1]] += 5.0
    np.testing.assert_allclose(mg.linalg.solve_banded(band, ab, b).numpy(), scipy.linalg.solve_banded(band, ab, b))
    has_the_right_gradients(lambda ab, b: mg.linalg.solve_banded(band, ab, b), ab, b)


def test_solve_sylvester_solves_the_equation():
    a, b, q = real(2, 3, 3) + 3 * np.eye(3), real(2, 2) + 3 * np.eye(2), real(3, 2)
    x = mg.linalg.solve_sylvester(a, b, q).numpy()
    np.testing.assert_allclose(a @ x + x @ b, np.broadcast_to(q, x.shape), atol=1e-12)
    with pytest.raises(ValueError, match="no solution"):
        mg.linalg.solve_sylvester([[1.0]], [[-1.0]], [[2.0]])
    with pytest.raises(ValueError, match="q must have the shape"):
        mg.linalg.solve_sylvester([[1.0]], [[1.0]], [[2.0, 3.0]])


def test_the_square_of_a_root_of_a_matrix_is_the_matrix():
    for size in (1, 3, 6):
        half = real(size, size)
        for a in (half @ half.T + np.eye(size), half * 0.3 + 2 * np.eye(size) * size**0.5):
            root = mg.linalg.sqrtm(a).numpy()
            np.testing.assert_allclose(root @ root, a, rtol=1e-9, atol=1e-9)
            assert root.dtype == np.float64
            assert (np.linalg.eigvals(root).real > 0).all()
    for wrong in ([[-1.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 4.0]], [[0.0, 1.0], [0.0, 0.0]]):
        with pytest.raises(ValueError, match="no principal square root"):
            mg.linalg.sqrtm(wrong)


@pytest.mark.parametrize("a", [np.ones((3, 2)), np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros((2, 2)),
                               np.arange(9.0).reshape(3, 3)])  # fmt: skip
def test_qr_of_dependent_columns_has_no_gradient(a):
    q, r = mg.linalg.qr(a)
    np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-12)
    for place in (0, 1):
        with pytest.raises(ValueError, match="its columns depend on each other"):
            mg.grad(lambda a, place=place: (mg.linalg.qr(a)[place] ** 3).sum())(a)
