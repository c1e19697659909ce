"""Each function that autograd differentiates exists here, under the same name or a listed replacement."""

import numpy as np
import pytest

import micrograd_plus as mg

pytestmark = [pytest.mark.parity, pytest.mark.needs("autograd"), pytest.mark.needs("scipy")]

INTERNAL = {
    "__getitem__": "x[index]",
    "_array_from_scalar_or_array": "a part of its array",
    "_make_dict": "a part of its dict",
    "array_from_args": "a part of its array",
    "concatenate_args": "a part of its concatenate",
    "container_take": "a part of its lists and dicts",
    "container_untake": "a part of its lists and dicts",
    "covector": "a part of its spaces",
    "dot_adjoint_0": "a rule of its dot",
    "dot_adjoint_1": "a rule of its dot",
    "inner_prod": "a part of its spaces",
    "make_diagonal": "mg.ops.put_diagonal, or mg.diag of a row",
    "make_sequence": "a part of its lists",
    "mut_add": "a part of its spaces",
    "scalar_mul": "a part of its spaces",
    "sequence_extend_left": "a part of its lists",
    "sequence_extend_right": "a part of its lists",
    "sparse_add": "a part of its walk",
    "tensordot_adjoint_0": "a rule of its tensordot",
    "tensordot_adjoint_1": "a rule of its tensordot",
    "truncate_pad": "mg.ops.cut_or_pad",
    "untake": "a rule of its indexing",
}
"""Functions that are not for users, and their replacement here."""

HERE = (mg, mg.linalg, mg.fft, mg.special, mg.signal, mg.numpy.integrate)


def primitives():
    """Return the names of autograd's differentiable functions, with their modules."""
    import autograd.numpy
    import autograd.scipy.integrate
    import autograd.scipy.linalg
    import autograd.scipy.signal
    import autograd.scipy.special
    import autograd.scipy.stats  # noqa: F401 - what is imported registers itself
    from autograd.core import primitive_vjps

    found = {(f.__name__, getattr(getattr(f, "fun", f), "__module__", "") or "") for f in primitive_vjps}
    return {name for name, module in found if not module.startswith("scipy.stats")}


def distributions():
    """Return autograd's distributions, with their differentiable methods."""
    from autograd.core import primitive_vjps
    from autograd.scipy import stats

    names = [name for name in ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")
             if hasattr(stats, name)]  # fmt: skip
    assert len(names) == 8
    methods = ("cdf", "entropy", "logcdf", "logpdf", "logpmf", "logsf", "pdf", "pmf", "sf")
    return {
        (name, method) for name in names for method in methods
        if getattr(getattr(stats, name), method, None) in primitive_vjps
    }  # fmt: skip


def test_every_function_of_autograd_is_here():
    known = primitives()
    assert len(known) > 150, "autograd registers its functions in a different way"
    missing = {name for name in known - INTERNAL.keys() if not any(hasattr(face, name) for face in HERE)}
    assert not missing
    assert INTERNAL.keys() <= known, "an excused name does not exist in autograd"


def test_every_method_of_autograds_distributions_is_here():
    each = distributions()
    assert len(each) >= 20
    assert not {f"{name}.{method}" for name, method in each if not hasattr(getattr(mg.stats, name), method)}


X, A, B = np.array([0.3, 0.7, 1.6, 0.4, 1.1]), np.array([[2.0, 0.3], [-0.4, 1.5]]), np.array([[1.2, -0.5], [0.8, 2.2]])
OF_ONE = (
    "exp2", "sinc", "deg2rad", "rad2deg", "radians", "degrees", "fabs", "atleast_1d", "atleast_2d", "atleast_3d",
    "flipud", "nan_to_num", "real_if_close", "diff", "gradient",
)  # fmt: skip
OF_TWO = ("fmax", "fmin", "logaddexp2", "kron", "true_divide", "hypot", "arctan2")
SPECIAL = ("gammaln", "digamma", "gamma", "psi", "i0", "i1", "j0", "j1", "y0", "y1", "expit", "rgamma", "erf", "erfc")


def slopes(namespaces, name, given, place):
    """Return the gradient of a weighted sum of a function's results, here and in autograd."""
    import autograd

    ours, theirs = (getattr(space, name) for space in namespaces)
    shape = np.shape(theirs(*given))
    weights = np.random.default_rng(3).normal(size=shape)
    mine = mg.grad(lambda *x: (ours(*x) * weights).sum(), place)(*given).numpy()
    other = autograd.grad(lambda *x: autograd.numpy.sum(theirs(*x) * weights), place)(*given)
    return mine, other


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one_array_have_autograds_gradients(name):
    import autograd.numpy

    np.testing.assert_allclose(*slopes((mg, autograd.numpy), name, (X,), 0), rtol=1e-12)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_arrays_have_autograds_gradients(name, place):
    import autograd.numpy

    np.testing.assert_allclose(*slopes((mg, autograd.numpy), name, (X, X[::-1] * 1.1), place), rtol=1e-12)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_have_autograds_gradients(name):
    import autograd.scipy.special

    np.testing.assert_allclose(*slopes((mg.special, autograd.scipy.special), name, (X,), 0), rtol=1e-11)


@pytest.mark.parametrize("order", [0, 1, 3, -2, 0.5, -0.7, 2.25])
@pytest.mark.parametrize("name", ["iv", "ive", "jn", "yn"])
def test_bessel_functions_have_autograds_gradients(name, order):
    import autograd.scipy.special

    order = round(order) if name == "yn" else order
    np.testing.assert_allclose(*slopes((mg.special, autograd.scipy.special), name, (order, X), 1), rtol=1e-11)


@pytest.mark.parametrize("name", ["sqrtm"])
def test_functions_of_matrices_have_autograds_gradients(name):
    import autograd.scipy.linalg

    np.testing.assert_allclose(*slopes((mg.linalg, autograd.scipy.linalg), name, (A,), 0), rtol=1e-10)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", ["solve_triangular", "solve_sylvester"])
def test_equations_have_autograds_gradients(name, place):
    import autograd.scipy.linalg

    given = (A, B) if name == "solve_triangular" else (A, B, np.array([[1.0, 2.0], [0.5, -1.0]]))
    np.testing.assert_allclose(*slopes((mg.linalg, autograd.scipy.linalg), name, given, place), rtol=1e-10)


def test_fourier_transforms_over_several_axes_match_autograd():
    import autograd

    x = np.random.default_rng(5).normal(size=(4, 6))
    for name in ("fftn", "ifftn", "rfftn", "rfft2", "fftshift", "ifftshift"):
        theirs = getattr(autograd.numpy.fft, name)
        weights = np.random.default_rng(6).normal(size=theirs(x).shape)
        expected = autograd.grad(lambda x, f=theirs, w=weights: autograd.numpy.sum(autograd.numpy.real(f(x)) * w))(x)
        ours = mg.grad(lambda x, n=name, w=weights: (mg.real(getattr(mg.fft, n)(x)) * w).sum())(x)
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-10, atol=1e-12)
