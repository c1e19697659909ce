"""Special functions compared with SciPy if installed and with tables of mpmath, and their gradients."""

import math

import numpy as np
import pytest

import micrograd_plus as mg
from test_numpy_names import has_the_right_gradients

DRAW = np.random.default_rng(17)
ANYWHERE = np.concatenate([
    np.geomspace(1e-300, 1e5, 701), np.linspace(0.01, 30, 901), -np.linspace(0.013, 19, 577),
    [0.0, -1.0, -2.0, np.nan, 1.0, 2.0, 1 + 1e-9, 2 - 1e-9],
])  # fmt: skip
BETWEEN = np.concatenate([np.linspace(0, 1, 801), 10.0 ** np.arange(-300, 0, 7.0), 1 - 10.0 ** np.arange(-15, 0, 0.2)])
ONE = {
    "gammaln": ANYWHERE, "gamma": ANYWHERE[abs(ANYWHERE) < 170], "digamma": ANYWHERE, "psi": ANYWHERE,
    "gammasgn": ANYWHERE,
    "i0": ANYWHERE[abs(ANYWHERE) < 700], "i1": ANYWHERE[abs(ANYWHERE) < 700], "i0e": ANYWHERE, "i1e": ANYWHERE,
    "j0": ANYWHERE, "j1": ANYWHERE, "y0": ANYWHERE, "y1": ANYWHERE[abs(ANYWHERE) > 1e-200], "rgamma": ANYWHERE[701:],
    "erfinv": np.concatenate([BETWEEN, -BETWEEN, [1.5, np.nan]]),
    "erfcinv": np.concatenate([BETWEEN, 2 - BETWEEN, [-0.5]]),
    "ndtri": BETWEEN, "logit": BETWEEN, "expit": np.linspace(-40, 40, 81), "log_expit": np.linspace(-40, 40, 81),
    "log_ndtr": np.concatenate([np.linspace(-50, 30, 801), [-1e5, -np.inf, np.inf, np.nan]]),
    "ndtr": np.linspace(-30, 9, 301), "sinc": np.linspace(-3, 3, 91), "erf": np.linspace(-3, 3, 91),
}  # fmt: skip


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", ONE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_one_argument_are_scipys(name):
    import scipy.special

    x = ONE[name]
    theirs = np.sinc(x) if name == "sinc" else getattr(scipy.special, name)(x)
    loose = {"atol": 2e-13} if name in ("j0", "j1", "y0", "y1", "digamma", "psi", "gammaln") else {"atol": 0}
    np.testing.assert_allclose(getattr(mg.special, name)(x).numpy(), theirs, rtol=2e-13, **loose)


EXACT = {
    "gammaln": [(0.1, 2.2527126517342059), (1.0000001, -5.7721558299185071e-8), (3.7, 1.42807232666538813),
                (50.5, 146.519255490720627), (-0.5, 1.2655121234846454), (1e10, 220258509288.810581),
                (2 - 1e-9, -4.2278436975733279e-10)],
    "digamma": [(0.1, -10.4237549404110762), (-1.3, 2.8825405488661673), (7.25, 1.91045352688373603),
                (1.4616321449683622, -9.24126552172942748e-17)],
    "gamma": [(0.1, 9.51350769866873129), (4.5, 11.6317283965674489), (-2.5, -0.945308720482941881),
              (150.3, 1.71129699921957674e261)],
    "erfinv": [(0.9, 1.16308715367667416), (1e-8, 8.86226925452758055e-9)],
    "i0": [(2.5, 3.28983914405012304), (40.0, 14894774793419899.9)],
    "j0": [(2.5, -0.0483837764681979963), (40.0, 0.00736689058423728955)],
    "y1": [(2.5, 0.145918137966785799), (40.0, -0.00579350582154963294)],
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_a_few_values_that_were_computed_to_thirty_digits(name):
    for x, value in EXACT[name]:
        assert getattr(mg.special, name)(x).item() == pytest.approx(value, rel=2e-13, abs=2e-15)


@pytest.mark.needs("scipy")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_two_arguments_are_scipys():
    import scipy.special

    a, b = 10 ** DRAW.uniform(-3, 3, 800), 10 ** DRAW.uniform(-3, 3, 800)
    near, share = a * 10 ** (DRAW.normal(size=800) * 0.3), DRAW.uniform(0, 1, 800)
    for name, given in (
        ("beta", (a, b)), ("gammainc", (a, near)), ("gammaincc", (a, near)), ("betainc", (a, b, share)),
        ("xlogy", (a, b)), ("xlog1py", (a, b)), ("xlogy", (0.0, np.array([0.0, 1.0]))), ("xlog1py", (0.0, -1.0)),
        ("gammainc", (2.0, np.array([0.0, np.inf]))), ("gammaincc", (0.0, np.array([1.0, 2.0]))),
        ("betainc", (2.0, 3.0, np.array([0.0, 1.0]))), ("gammainc", (-1.0, 2.0)), ("beta", (-1.5, 0.7)),
    ):  # fmt: skip
        theirs = getattr(scipy.special, name)(*given)
        seen = ~(abs(theirs) < 1e-200)  # so small that SciPy's own digits are few
        ours = getattr(mg.special, name)(*given).numpy()
        np.testing.assert_allclose(ours[seen], theirs[seen], rtol=2e-10, atol=1e-15, err_msg=name)
    np.testing.assert_allclose(mg.special.betaln(a, b).numpy(), scipy.special.betaln(a, b), rtol=1e-7, atol=1e-12)
    for n in (0, 1, 4):
        np.testing.assert_allclose(mg.special.polygamma(n, a).numpy(), scipy.special.polygamma(n, a), rtol=1e-12)
    np.testing.assert_allclose(
        mg.special.multigammaln(np.array([2.5, 7.0]), 3).numpy(), scipy.special.multigammaln([2.5, 7.0], 3), rtol=1e-13
    )


ORDERS = (0, 1, 2, 5, 30, 100, -1, -4, 0.5, 1.3, 7.7, 29.5, 31.2, -0.5, -2.3, -12.4, -31.5, 0.001)
PLACES = np.concatenate([np.geomspace(1e-9, 2e3, 400), np.linspace(0.1, 70, 301)])


@pytest.mark.needs("scipy")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["iv", "ive", "jv", "yn"])
def test_bessel_functions_of_any_order_are_scipys(name):
    import scipy.special

    for v in (v for v in ORDERS if name != "yn" or v == int(v)):
        theirs, ours = getattr(scipy.special, name)(v, PLACES), getattr(mg.special, name)(v, PLACES).numpy()
        seen = np.isfinite(theirs) & (abs(theirs) > 1e-290) & (abs(theirs) < 1e290)
        waves = np.where(abs(v) < PLACES, 0.3 / np.sqrt(PLACES), 0) if name in ("jv", "yn") else 0  # near a zero
        error = abs(ours - theirs) / np.maximum(abs(theirs), waves)
        assert error[seen].max() < 5e-11, (v, PLACES[seen][error[seen].argmax()])
        assert seen.sum() > 250


def test_bessel_functions_of_any_order_to_thirty_digits():
    for name, v, x, value in (
        ("iv", -35.3, 23.52804, -6.617668986281463e-05),
        ("ive", -2.999999999, 3.54568214067469e-09, 3.589389667418117e17),
        ("jv", 300, 37072.001215651464, -0.00027151419129374434), ("jv", 1000.5, 1200.0, 0.012314891383772172),
        ("jv", 1000.5, 900.0, 4.018722845571001e-16),
    ):  # fmt: skip
        assert getattr(mg.special, name)(v, x).item() == pytest.approx(value, rel=5e-11)


@pytest.mark.parametrize(("name", "v", "ends"), [
    ("iv", 0, [1, np.inf, np.inf, 1.2660658777520084]), ("iv", 1, [0, np.inf, -np.inf, -0.565159103992485]),
    ("iv", 0.5, [0, np.inf, np.nan, np.nan]), ("iv", -1.5, [-np.inf, np.inf, np.nan, np.nan]),
    ("ive", 0, [1, 0, 0, 0.46575960759364043]), ("ive", -0.5, [np.inf, 0, np.nan, np.nan]),
    ("iv", -40.5, [np.inf, np.inf, np.nan, np.nan]), ("jv", 0, [1, 0, 0, 0.7651976865579666]),
    ("jv", -3, [0, 0, 0, 0.019563353982668407]), ("jv", -2.5, [np.inf, 0, np.nan, np.nan]),
    ("yn", 2, [-np.inf, 0, np.nan, np.nan]), ("yn", -3, [np.inf, 0, np.nan, np.nan]),
])  # fmt: skip
def test_bessel_functions_have_their_limits_and_nan_below_0(name, v, ends):
    found = getattr(mg.special, name)(v, [0.0, np.inf, -np.inf, -1.0]).numpy()
    np.testing.assert_allclose(found, ends, rtol=1e-13)
    assert np.isnan(getattr(mg.special, name)(v, np.nan).item())


def test_an_order_is_one_number_without_a_gradient():
    x = mg.tensor([0.5, 1.5], requires_grad=True)
    with pytest.raises(TypeError, match=r"iv has no gradient by its order v: give it mg.stop_gradient\(v\).item\(\)"):
        mg.special.iv(x, 1.0)
    with pytest.raises(TypeError, match=r"jv takes one order: write mg.stack\(\[mg.special.jv\(v, x\) for v in orders"):
        mg.special.jv(np.array([0, 1]), x)
    with pytest.raises(TypeError, match=r"yn: the order must be a whole number, got 1\.5"):
        mg.special.yn(1.5, x)
    with pytest.raises(ValueError, match="ive: the order must be between -10,000 and 10,000, got nan"):
        mg.special.ive(np.nan, x)
    with pytest.raises(TypeError, match="must be real"):
        mg.special.jv(0.5, [1j])
    assert mg.special.jn is mg.special.jv
    assert mg.special.iv(np.int64(1), mg.tensor([0.5], dtype="float32")).dtype == np.float32


def test_polygamma_is_reflected_below_0():
    exact = {(1, -0.3): 20.5889, (2, -1.7): -73.7717}
    for (n, x), value in exact.items():
        h = 1e-5
        slope = (mg.special.polygamma(n - 1, x + h) - mg.special.polygamma(n - 1, x - h)).item() / (2 * h)
        assert mg.special.polygamma(n, x).item() == pytest.approx(slope, rel=1e-6)
        assert value != 0


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}])
def test_a_sum_of_exponentials_may_have_factors(options):
    a, b = DRAW.normal(size=(2, 3)) * 3, np.array([[1.0, 2.0, 0.0], [0.5, 0.0, 3.0]])
    expected = np.log(np.sum(b * np.exp(a), axis=options.get("axis"), keepdims=options.get("keepdims", False)))
    np.testing.assert_allclose(mg.special.logsumexp(a, b=b, **options).numpy(), expected, rtol=1e-13)
    np.testing.assert_allclose(mg.special.logsumexp(a + 1000, b=b, **options).numpy(), expected + 1000, rtol=1e-13)
    has_the_right_gradients(lambda a: mg.special.logsumexp(a, b=b, **options), a)
    has_the_right_gradients(lambda b: mg.special.logsumexp(a, b=b, **options), np.abs(b) + 0.5)
    size, sign = mg.special.logsumexp(a, b=-b, return_sign=True, **options)
    np.testing.assert_allclose(size.numpy(), expected, rtol=1e-13)
    assert (sign.numpy() == -1).all()


def test_logsumexp_ignores_infinities_with_factor_0():
    assert mg.special.logsumexp([1.0, np.inf], b=[1.0, 0.0]).item() == pytest.approx(1.0)
    assert mg.grad(lambda a: mg.special.logsumexp(a, b=[1.0, 0.0]))(np.array([1.0, np.inf])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("call", [
    lambda x: mg.special.multigammaln(x + 3, 2), mg.special.rgamma, mg.special.ndtr, mg.special.expit,
    lambda x: mg.special.polygamma(2, x), lambda x: mg.special.gammainc(2.5, x), mg.special.log_expit,
    lambda x: mg.special.iv(-0.4, x), lambda x: mg.special.jn(12, 20 * x), lambda x: mg.special.yn(3, x),
])  # fmt: skip
def test_functions_made_of_others_have_the_right_gradients(call):
    has_the_right_gradients(call, np.array([0.4, 0.9, 1.7]))


def test_a_gradient_for_the_order_of_an_integral_raises():
    x = mg.tensor([0.3, 0.6], requires_grad=True)
    with pytest.raises(TypeError, match=r"gammainc has no gradient by a: give it mg.stop_gradient\(a\)"):
        mg.special.gammainc(x, x)
    with pytest.raises(TypeError, match="betainc has no gradient by b"):
        mg.special.betainc(2.0, x, x)
    with pytest.raises(TypeError, match="gammaincc has no gradient by a"):
        mg.grad(lambda a: mg.special.gammaincc(a, 0.5).sum())(np.array([1.0]))
    with mg.no_grad():
        assert mg.special.gammainc(x, x).shape == (2,)
    assert mg.special.gammainc(mg.stop_gradient(x), x).requires_grad


@pytest.mark.parametrize("name", ["gammaln", "digamma", "erfinv", "i0", "j1", "log_ndtr"])
def test_special_functions_keep_dtypes_and_reject_complex(name):
    function = getattr(mg.special, name)
    assert function(np.array([0.25, 0.5], "float32")).dtype == np.float32
    assert function([0, 1]).dtype == np.float64
    assert function(0.5).shape == ()
    assert function(np.zeros((0, 2))).shape == (0, 2)
    with pytest.raises(TypeError, match="must be real"):
        function([1j])


def test_a_python_number_does_not_widen_float32():
    x = mg.tensor([0.25, 0.5], dtype="float32")
    assert mg.special.gammainc(2.0, x).dtype == mg.special.betaln(2.0, x).dtype == np.float32
    with pytest.raises(ValueError, match="n must not be negative"):
        mg.special.polygamma(-1, 1.0)
    with pytest.raises(TypeError, match="polygamma"):
        mg.special.polygamma(1.5, 1.0)
    assert math.isnan(mg.special.gammasgn(np.nan).item())
