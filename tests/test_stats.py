"""Distributions compared with SciPy's and autograd's: values, gradients, and points outside the support."""

import math

import numpy as np
import pytest

import micrograd_plus as mg
from test_numpy_names import has_the_right_gradients

X = np.array([0.3, 1.7, 2.9])
SHARES = np.array([0.2, 0.55, 0.9])
LOC, SCALE = np.array([0.1, -0.4, 0.2]), np.array([1.3, 0.7, 2.1])
CALLS = {
    "norm": ((X, LOC, SCALE), ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), (0, 1, 2)),
    "t": ((X - 1.0, np.array([2.5, 3.0, 7.0]), LOC, SCALE), ("pdf", "logpdf"), (0, 1, 2, 3)),
    "gamma": ((X, np.array([2.5, 3.0, 1.2]), LOC - 0.3, SCALE), ("pdf", "logpdf"), (0, 1, 2, 3)),
    "chi2": ((X, np.array([2.5, 3.0, 1.2]), LOC - 0.3, SCALE), ("pdf", "logpdf"), (0, 1, 2, 3)),
    "beta": ((SHARES, np.array([2.5, 3.0, 1.2]), np.array([1.4, 0.8, 2.2])), ("pdf", "logpdf"), (0, 1, 2)),
    "poisson": ((np.array([0.0, 2.0, 5.0]), np.array([0.7, 2.5, 3.1])), ("pmf", "logpmf", "cdf"), (1,)),
}  # fmt: skip
SHARES_UP_TO = {
    "t": (X - 1.0, np.array([2.5, 3.0, 7.0]), LOC, SCALE), "gamma": (X, np.array([2.5, 3.0, 1.2]), LOC - 0.3, SCALE),
    "chi2": (X, np.array([2.5, 3.0, 1.2]), LOC - 0.3, SCALE),
    "beta": (SHARES, np.array([2.5, 3.0, 1.2]), np.array([1.4, 0.8, 2.2])),
}  # fmt: skip
EACH = [(name, method) for name, (_, methods, _) in CALLS.items() for method in methods]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(("name", "method"), [*EACH, *((name, "cdf") for name in SHARES_UP_TO)])
def test_distributions_agree_with_scipy(name, method):
    import scipy.stats

    given = SHARES_UP_TO[name] if name in SHARES_UP_TO and method == "cdf" else CALLS[name][0]
    theirs = getattr(getattr(scipy.stats, name), method)(*given)
    np.testing.assert_allclose(getattr(getattr(mg.stats, name), method)(*given).numpy(), theirs, rtol=1e-12)


@pytest.mark.parametrize(("name", "method"), EACH)
def test_distributions_have_gradients_for_all_arguments(name, method):
    given, _, moving = CALLS[name]

    def f(*values):
        full = list(given)
        for place, value in zip(moving, values, strict=True):
            full[place] = value
        return getattr(getattr(mg.stats, name), method)(*full)

    has_the_right_gradients(f, *[given[place] for place in moving])


@pytest.mark.parametrize("name", SHARES_UP_TO)
def test_the_derivative_of_the_cdf_is_the_density(name):
    x, *rest = SHARES_UP_TO[name]
    distribution = getattr(mg.stats, name)
    slope = mg.grad(lambda x: distribution.cdf(x, *rest).sum())(x)
    np.testing.assert_allclose(slope.numpy(), distribution.pdf(x, *rest).numpy(), rtol=1e-11)


@pytest.mark.needs("scipy")
def test_dirichlet_and_multivariate_normal_agree_with_scipy():
    import scipy.stats

    alpha, x = np.array([1.5, 2.0, 0.7]), np.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]])
    for given in (x[:, 0], x):
        theirs = scipy.stats.dirichlet.logpdf(given, alpha)
        np.testing.assert_allclose(mg.stats.dirichlet.logpdf(given, alpha).numpy(), theirs, rtol=1e-12)
        theirs = scipy.stats.dirichlet.pdf(given, alpha)
        np.testing.assert_allclose(mg.stats.dirichlet.pdf(given, alpha).numpy(), theirs, rtol=1e-12)
    has_the_right_gradients(mg.stats.dirichlet.logpdf, x, alpha)
    half = np.random.default_rng(3).normal(size=(3, 3))
    mean, cov = np.array([0.3, -1.0, 0.7]), half @ half.T + np.eye(3)
    points = np.random.default_rng(4).normal(size=(2, 4, 3))
    normal = mg.stats.multivariate_normal
    diagonal = np.diag([1.0, 2, 3])
    for given in ((points, mean, cov), (points[0, 0], mean, cov), (points, mean, 2.0), (points, mean, diagonal)):
        theirs = scipy.stats.multivariate_normal.logpdf(*given)
        np.testing.assert_allclose(normal.logpdf(*given).numpy(), theirs, rtol=1e-12)
        np.testing.assert_allclose(normal.pdf(*given).numpy(), np.exp(theirs), rtol=1e-12)
    np.testing.assert_allclose(normal.entropy(mean, cov).item(), scipy.stats.multivariate_normal.entropy(mean, cov))
    has_the_right_gradients(normal.logpdf, points[0], mean, cov)
    has_the_right_gradients(lambda c: normal.entropy(mean, c), cov)
    np.testing.assert_allclose(normal.logpdf(points, mean, np.array([1.0, 2, 3])).numpy(),
                               scipy.stats.multivariate_normal.logpdf(points, mean, np.diag([1.0, 2, 3])))  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_outside_the_support_density_and_gradient_are_0():
    for call in (lambda x: mg.stats.gamma.pdf(x, 2.0), lambda x: mg.stats.beta.pdf(x, 2.0, 3.0),
                 lambda x: mg.stats.gamma.cdf(x, 2.0), lambda x: mg.stats.chi2.pdf(x, 3.0)):  # fmt: skip
        assert call(-1.5).item() == 0.0
        assert mg.grad(call)(-1.5).item() == 0.0
    assert mg.stats.beta.cdf([-1.0, 2.0], 2.0, 3.0).tolist() == [0.0, 1.0]
    assert mg.stats.gamma.logpdf(-1.0, 2.0).item() == -math.inf
    assert mg.stats.poisson.pmf([-1.0, 0.5], 2.0).tolist() == [0.0, 0.0]
    assert mg.stats.gamma.logpdf(0.0, 1.0).item() == 0.0
    with pytest.raises(TypeError, match="gammainc has no gradient by a"):
        mg.grad(lambda a: mg.stats.gamma.cdf(1.0, a))(2.0)
    with pytest.raises(ValueError, match="positive definite"):
        mg.stats.multivariate_normal.logpdf([0.0, 0.0], [0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="dirichlet: x must have a row"):
        mg.stats.dirichlet.logpdf([0.5, 0.5], [1.0, 2.0, 3.0])


@pytest.mark.parity
@pytest.mark.needs("autograd")
def test_gradients_of_distributions_agree_with_autograd():
    import autograd
    import autograd.scipy.stats as theirs

    for name, methods in (("norm", ("logpdf", "logcdf", "logsf")), ("gamma", ("logpdf",)), ("beta", ("logpdf",))):
        given = CALLS[name][0][: 2 if name == "gamma" else 3]
        for method in methods:
            f = getattr(getattr(theirs, name), method)
            for place in range(len(given)):
                expected = autograd.elementwise_grad(f, place)(*given)
                ours = mg.grad(lambda *v, n=name, m=method: getattr(getattr(mg.stats, n), m)(*v).sum(), place)(*given)
                np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-10)
