"""SciPy, NumPy, pandas and matplotlib accept the results of transforms directly."""

import json

import matplotlib as mpl
import numpy as np
import pytest
from scipy import optimize

import micrograd_plus as mg

mpl.use("agg")
rng = np.random.default_rng(0)
A, B = rng.standard_normal((20, 5)), rng.standard_normal(20)


def residuals(w):
    return A @ w - B


def loss(w):
    return (residuals(w) ** 2).sum() + 0.1 * (w**4).sum()


BEST = optimize.minimize(lambda w: ((A @ w - B) ** 2).sum() + 0.1 * (w**4).sum(), np.zeros(5), tol=1e-12).x


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "TNC", "SLSQP"])
def test_minimize_takes_value_and_grad(method):
    found = optimize.minimize(mg.value_and_grad(loss), np.zeros(5), jac=True, method=method)
    assert found.success
    assert np.allclose(found.x, BEST, atol=1e-3)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-exact", "trust-ncg", "dogleg"])
def test_minimize_takes_grad_and_hessian(method):
    found = optimize.minimize(loss, np.zeros(5), jac=mg.grad(loss), hess=mg.hessian(loss), method=method)
    assert np.allclose(found.x, BEST, atol=1e-4)
    product = optimize.minimize(
        loss, np.zeros(5), jac=mg.grad(loss), hessp=lambda w, v: mg.hvp(loss, w, v), method="trust-ncg"
    )
    assert np.allclose(product.x, BEST, atol=1e-4)


def test_solvers_take_a_jacobian():
    found = optimize.least_squares(residuals, np.zeros(5), jac=mg.jacobian(residuals))
    assert np.allclose(found.x, np.linalg.lstsq(A, B)[0], atol=1e-8)
    root = optimize.root(mg.grad(loss), np.zeros(5), jac=mg.hessian(loss))
    assert np.allclose(root.x, BEST, atol=1e-6)
    one = optimize.newton(lambda x: x**3 - 8.0, 1.0, fprime=lambda x: mg.grad(lambda x: x**3 - 8.0)(x).item())
    assert one == pytest.approx(2.0)


def test_collected_losses_are_numbers_to_numpy_and_matplotlib():
    w, losses, slopes = np.zeros(5), [], []
    for _ in range(5):
        value, gradient = mg.value_and_grad(loss)(w)
        w = w - 0.01 * gradient.numpy()
        losses.append(value)
        slopes.append(gradient)
    assert np.mean(losses) == pytest.approx(sum(float(value) for value in losses) / 5)
    assert np.argmin(losses) == 4
    assert np.array(losses).shape == (5,)
    assert np.asarray(slopes).shape == (5, 5)
    assert np.allclose(np.std(losses), np.std([value.item() for value in losses]))
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    (line,) = axes.plot(losses)
    axes.scatter(range(5), losses)
    axes.bar(range(5), losses)
    axes.hist(losses)
    axes.imshow(slopes)
    figure.canvas.draw()
    plt.close(figure)
    assert np.allclose(line.get_ydata(), np.array(losses))


def test_vjp_and_jvp_return_numbers():
    value, pull = mg.vjp(residuals, np.ones(5))
    pushed = mg.jvp(residuals, (np.ones(5),), (np.ones(5),))
    for found in (value, *pull(np.ones(20)), *pushed):
        assert np.linalg.norm(found) > 0
        assert type(np.asarray(found)) is np.ndarray


def test_results_of_transforms_can_be_sorted_summed_and_printed():
    values = [mg.value_and_grad(loss)(w)[0] for w in (np.ones(5), np.zeros(5), -np.ones(5))]
    values += [mg.vjp(loss, np.full(5, 0.5))[0], mg.jvp(loss, (np.full(5, 2.0),), (np.ones(5),))[0]]
    numbers = [value.item() for value in values]
    assert [float(value) for value in sorted(values)] == sorted(numbers)
    assert (float(max(values)), float(min(values))) == (max(numbers), min(numbers))
    assert float(sum(values)) == pytest.approx(sum(numbers), rel=1e-14)
    assert f"{values[0]:.3f} {values[0]:10.2e}" == f"{numbers[0]:.3f} {numbers[0]:10.2e}"
    assert json.loads(json.dumps([float(value) for value in values])) == numbers
    assert json.loads(json.dumps(mg.grad(loss)(np.ones(5)).tolist())) == mg.grad(loss)(np.ones(5)).tolist()
    assert np.argmin(values) == np.argmin(numbers)
    assert not any(value.requires_grad for value in values)


@pytest.mark.needs("pandas")
def test_pandas_reads_values_and_gradients_as_numbers():
    import pandas as pd

    found = [mg.value_and_grad(loss)(scale * np.ones(5)) for scale in (0.0, 0.5, 1.0)]
    values, slopes = [value for value, _ in found], [slope for _, slope in found]
    table = pd.DataFrame({"loss": np.array(values), "slope": slopes[0][0].item(), "first": slopes[0][:3]})
    assert {kind.kind for kind in table.dtypes} == {"f"}
    assert table["loss"].mean() == pytest.approx(np.mean(values))
    assert pd.DataFrame(np.array(slopes)).shape == (3, 5)
    assert pd.Series(slopes[1]).tolist() == slopes[1].tolist()
    as_objects = pd.DataFrame({"loss": values})["loss"].astype(float)
    assert as_objects.tolist() == table["loss"].tolist()
    assert mg.tensor(table["loss"]).tolist() == table["loss"].tolist()
    assert mg.tensor(table[["loss", "slope"]]).shape == (3, 2)


def test_set_grad_enabled_decides_about_gradients():
    x = mg.tensor(1.0, requires_grad=True)
    for wanted in (True, False):
        with mg.set_grad_enabled(wanted):
            assert mg.is_grad_enabled() is wanted
            assert (x * 2).requires_grad is wanted
        assert mg.set_grad_enabled(wanted)(mg.is_grad_enabled)() is wanted
    assert mg.is_grad_enabled()
    with pytest.warns(UserWarning, match=r"with mg.set_grad_enabled\(False\):"):
        mg.set_grad_enabled(False)
    assert mg.is_grad_enabled()
