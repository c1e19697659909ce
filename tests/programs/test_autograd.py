"""Programs written for autograd, with `micrograd_plus.numpy` instead of `autograd.numpy`."""

import importlib
from types import SimpleNamespace

import numpy  # noqa: ICN001 - `np` is what the programs call their namespace
import pytest
from scipy.optimize import minimize

pytestmark = pytest.mark.parity

PLACES = {
    "here": {
        "np": "micrograd_plus.numpy", "grad": "micrograd_plus.numpy", "stats": "micrograd_plus.numpy.stats",
        "special": "micrograd_plus.numpy.special", "signal": "micrograd_plus.numpy.signal",
        "integrate": "micrograd_plus.numpy.integrate", "flatten": "micrograd_plus.numpy.tools",
        "optimizers": "micrograd_plus.numpy.tools", "fixed_points": "micrograd_plus.numpy.tools",
    },
    "autograd": {
        "np": "autograd.numpy", "grad": "autograd", "stats": "autograd.scipy.stats",
        "special": "autograd.scipy.special",
        "signal": "autograd.scipy.signal", "integrate": "autograd.scipy.integrate", "flatten": "autograd.misc.flatten",
        "optimizers": "autograd.misc.optimizers", "fixed_points": "autograd.misc.fixed_points",
    },
}  # fmt: skip


def side(name):
    """Return the modules of one side, by the names that programs use."""
    return SimpleNamespace(**{called: importlib.import_module(place) for called, place in PLACES[name].items()})


def logistic_regression(ag):
    np, rng = ag.np, numpy.random.default_rng(0)
    inputs = rng.standard_normal((40, 3))
    targets = inputs @ [1.0, -2.0, 0.5] > 0

    def loss(weights):
        chances = 0.5 * (np.tanh(np.dot(inputs, weights)) + 1)
        return -np.sum(np.log(chances * targets + (1 - chances) * (1 - targets)))

    weights, slope = np.zeros(3), ag.grad.grad(loss)
    for _ in range(50):
        weights -= slope(weights) * 0.01
    return [*weights, loss(weights)]


def slopes_of_a_curve(ag):
    curve, x, found = (lambda x: ag.np.tanh(x) * ag.np.exp(-(x**2))), numpy.linspace(-2, 2, 11), []
    for _ in range(4):
        curve = ag.grad.elementwise_grad(curve)
        found += [*curve(x)]
    return found


def network_with_adam(ag):
    np, rng = ag.np, numpy.random.default_rng(0)
    x = np.linspace(-3, 3, 30).reshape(-1, 1)
    y = np.cos(x) + 0.1 * rng.standard_normal(x.shape)
    layers = [(0.5 * rng.standard_normal((m, n)), np.zeros(n)) for m, n in ((1, 8), (8, 8), (8, 1))]

    def loss(parameters, step):
        out = x
        for w, b in parameters:
            out = np.tanh(np.dot(out, w) + b)
        row, _ = ag.flatten.flatten(parameters)
        return -np.sum(ag.stats.norm.logpdf(y, out, 0.2)) + 0.05 * np.dot(row, row)

    found = []
    fitted = ag.optimizers.adam(
        ag.grad.grad(loss), layers, num_iters=25, step_size=0.01,
        callback=lambda parameters, step, gradient: found.append(loss(parameters, step)),
    )  # fmt: skip
    return [*found, *ag.flatten.flatten(fitted)[0]]


def descent_with_momentum_and_without(ag):
    def loss(x, step):
        return (1 - x["a"]) ** 2 + 10 * ag.np.sum((x["b"] - x["a"] ** 2) ** 2)

    start, found = {"a": -0.5, "b": numpy.ones(2)}, []
    for descend in (ag.optimizers.sgd, ag.optimizers.rmsprop):
        fitted = descend(ag.grad.grad(loss), start, num_iters=20, step_size=0.01)
        found += [fitted["a"], *fitted["b"]]
    return found


def rosenbrock_by_scipy(ag):
    def valley(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    value = ag.grad.value_and_grad(valley)
    found = minimize(value, numpy.array([-1.2, 1.0]), jac=True, method="BFGS", tol=1e-10)
    product = ag.grad.hessian_vector_product(valley)
    newton = minimize(valley, numpy.zeros(2), jac=ag.grad.grad(valley), hessp=product, method="Newton-CG", tol=1e-10)
    return [*found.x, found.nit, *newton.x, *ag.grad.hessian(valley)(numpy.array([0.3, 0.4])).ravel()]


def gaussian_process(ag):
    np = ag.np
    x = np.linspace(0, 3, 10)
    y = np.sin(2 * x)

    def likelihood(logs):
        scale, length, noise = np.exp(logs[0]), np.exp(logs[1]), np.exp(logs[2])
        cov = scale * np.exp(-0.5 * ((np.expand_dims(x, 1) - x) / length) ** 2) + noise * np.eye(len(x))
        return -ag.stats.multivariate_normal.logpdf(y, np.zeros(len(x)), cov)

    found = minimize(ag.grad.value_and_grad(likelihood), np.array([0.0, 0.0, -2.0]), jac=True, options={"maxiter": 5})
    return [*found.x, found.fun]


def mixture_of_gaussians(ag):
    np, rng = ag.np, numpy.random.default_rng(1)
    points = numpy.concatenate([rng.standard_normal((15, 2)) + 2, rng.standard_normal((15, 2)) - 2])
    start = {"shares": rng.standard_normal(2), "means": rng.standard_normal((2, 2)), "roots": np.stack([np.eye(2)] * 2)}

    def loss(p):
        shares = p["shares"] - ag.special.logsumexp(p["shares"])
        each = [
            share + ag.stats.multivariate_normal.logpdf(points, mean, np.dot(root.T, root) + 0.1 * np.eye(2))
            for share, mean, root in zip(shares, p["means"], p["roots"])  # noqa: B905 - as such programs are written
        ]
        return -np.sum(ag.special.logsumexp(np.vstack(each), axis=0))

    _, unflatten, row = ag.flatten.flatten_func(loss, start)
    slope, found = ag.grad.grad(lambda row: loss(unflatten(row))), []
    for _ in range(10):
        row = row - 0.01 * slope(row)
        found.append(loss(unflatten(row)))
    return [*found, *row]


def hidden_markov_model(ag):
    np, rng = ag.np, numpy.random.default_rng(0)
    seen = rng.integers(0, 4, 20)
    start = [rng.standard_normal(3), rng.standard_normal((3, 3)), rng.standard_normal((3, 4))]

    def normalise(x):
        return x - ag.special.logsumexp(x, axis=-1, keepdims=True)

    def likelihood(p):
        first, move, show = map(normalise, p)
        alpha = first + show[:, seen[0]]
        for symbol in seen[1:]:
            alpha = ag.special.logsumexp(np.expand_dims(alpha, 1) + move, axis=0) + show[:, symbol]
        return ag.special.logsumexp(alpha)

    value, slopes = ag.grad.value_and_grad(likelihood)(start)
    return [value, *ag.flatten.flatten(slopes)[0]]


def variational_inference(ag):
    np, rng, found = ag.np, numpy.random.default_rng(0), []

    def negative_elbo(p, step):
        mean, log_std = p[:2], p[2:]
        draws = numpy.random.default_rng(step).standard_normal((50, 2)) * np.exp(log_std) + mean
        density = ag.stats.norm.logpdf(draws[:, 0], 0, np.exp(draws[:, 1])) + ag.stats.norm.logpdf(draws[:, 1], 0, 1.35)
        return -(np.mean(density) + np.sum(log_std))

    fitted = ag.optimizers.adam(
        ag.grad.grad(negative_elbo), rng.standard_normal(4), num_iters=30, step_size=0.1,
        callback=lambda p, step, gradient: found.append(negative_elbo(p, step)),
    )  # fmt: skip
    return [*found, *fitted]


def counts_by_likelihood(ag):
    counts = numpy.random.default_rng(0).negative_binomial(3, 0.4, 30)

    def likelihood(p):
        size, chance = ag.np.exp(p[0]), 1 / (1 + ag.np.exp(-p[1]))
        shares = ag.special.gammaln(counts + size) - ag.special.gammaln(size) - ag.special.gammaln(counts + 1.0)
        return -ag.np.sum(shares + counts * ag.np.log(1 - chance) + size * ag.np.log(chance))

    found = minimize(likelihood, numpy.zeros(2), jac=ag.grad.grad(likelihood), method="BFGS", options={"maxiter": 8})
    return [*found.x, *ag.grad.jacobian(ag.grad.grad(likelihood))(numpy.array([0.5, 0.1])).ravel()]


def convolutions(ag):
    rng = numpy.random.default_rng(0)
    images, kernel = rng.standard_normal((3, 2, 7, 8)), rng.standard_normal((2, 4, 3, 3))

    def loss(kernel):
        along = {"axes": ([2, 3], [2, 3]), "dot_axes": ([1], [0])}
        full = ag.signal.convolve(images, kernel, mode="full", **along)
        valid = ag.signal.convolve(images, kernel, mode="valid", **along)
        return ag.np.sum(ag.np.maximum(valid, 0.0) ** 2) + full[0, 0, 0, 0]

    return [loss(kernel), *ag.grad.grad(loss)(kernel).ravel()]


def fixed_point(ag):
    def root(a):
        return ag.fixed_points.fixed_point(
            lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: ag.np.abs(x - y), 1e-13
        )

    return [root(2.0), ag.grad.grad(root)(2.0), ag.grad.grad(lambda a: root(a) ** 3)(3.0)]


def products_with_jacobians(ag):
    x, v = numpy.linspace(0.5, 1.5, 3), numpy.array([1.0, -1.0, 2.0])

    def f(x):
        return ag.np.outer(ag.np.sin(x), ag.np.exp(x))

    back, value = ag.grad.make_vjp(f)(x)
    along = ag.grad.make_jvp(lambda x: ag.np.sin(x) * x)(x)(v)
    whole = ag.grad.jacobian(f)(x)
    return [*value.ravel(), *back(numpy.ones((3, 3))), *whole.ravel(), *along[0], *along[1]]


PROGRAMS = [
    logistic_regression, slopes_of_a_curve, network_with_adam, descent_with_momentum_and_without, rosenbrock_by_scipy,
    gaussian_process, mixture_of_gaussians, hidden_markov_model, variational_inference, counts_by_likelihood,
    convolutions, fixed_point, products_with_jacobians,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_numbers_of_autograd(program):
    found, expected = ([float(number) for number in program(side(name))] for name in ("here", "autograd"))
    assert len(found) == len(expected) >= 3
    assert numpy.allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_odeint_agrees_with_autograd():
    field = numpy.array([[-0.1, 2.0], [-2.0, -0.1]])
    found = []
    for name in ("here", "autograd"):
        ag = side(name)

        def slope(y, t, field, np=ag.np):
            return np.dot(y**3, field)

        row = tuple if name == "here" else importlib.import_module("autograd.builtins").tuple

        def loss(field, ag=ag, slope=slope, row=row):
            rows = ag.integrate.odeint(slope, ag.np.array([2.0, 0.0]), ag.np.linspace(0.0, 2.0, 6), row((field,)))
            return ag.np.sum(rows**2)

        found.append([loss(field), *ag.grad.grad(loss)(field).ravel()])
    assert numpy.allclose(*found, rtol=1e-5)  # its own tolerance is 1.5e-8 a step, for the adjoint as well


def test_functions_of_arrays_alone_are_numpys():
    np = importlib.import_module("micrograd_plus.numpy")
    assert type(np.sin(np.linspace(0, 1, 3))) is numpy.ndarray
    assert np.random.RandomState is numpy.random.RandomState
    assert np.newaxis is None
    assert np.float64 is numpy.float64
    assert type(np.linalg.inv(np.eye(2))) is numpy.ndarray
    assert type(np.grad(lambda x: np.sum(x**2))(np.ones(2))) is numpy.ndarray
    assert {"sin", "grad", "float64"} <= {*dir(np)}
    by_name = np.multigrad_dict(lambda a, b=2.0: a**2 * b)(3.0)
    assert by_name == {"a": 12.0, "b": 9.0}
    with pytest.raises(AttributeError):
        np.no_such_name  # noqa: B018 - to ask is enough
