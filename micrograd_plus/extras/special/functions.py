"""Special functions: gamma, beta and Bessel functions, and the inverses of erf. Public as `mg.special`, with SciPy's
names.

Their kernels are the modules beside this one; SciPy is not needed.
"""

from math import inf, log as ln, pi, sqrt as root

from ...backends import devices
from ...core.define import elementwise, nondifferentiable, wraps_op
from ...core.messages import prefixes_errors
from ...ops.activations import logsigmoid, sigmoid
from ...ops.arithmetic import absolute, multiply, positive, reciprocal
from ...ops.comparisons import isnan, logical_and, logical_not
from ...ops.exponentials import erfc, exp, log
from ...ops.indexing import where
from ...ops.reductions import finite_max, logsumexp as _logsumexp, sum as added_up
from ...ops.rounding import sign
from ...ops.shape import squeeze_axes
from . import bessel, bessel_orders, gammas

devices.add_kernels(bessel, bessel_orders, gammas)

HALF_ROOT_PI, ROOT_TWO_PI = root(pi) / 2, root(2 * pi)
MOST_ORDER = 10_000

# One argument ---------------


@elementwise(x=lambda xp, x: xp.digamma(x))
def gammaln(xp, x):
    """Compute the logarithm of the absolute value of the gamma function.

    log |Γ(x)|, Γ(x) = ∫₀^∞ t^(x - 1) exp(-t) dt; for integers Γ(n) = (n - 1)!. Infinite at 0, -1, -2, ….
    >>> mg.special.gammaln([1.0, 5.0]).round(4).tolist()
    [0.0, 3.1781]
    See: scipy.special.gammaln, torch.lgamma."""
    return xp.gammaln(x)


@elementwise(x=lambda xp, x: xp.polygamma(1, x))
def digamma(xp, x):
    """Compute the digamma function, the derivative of log Γ.

    ψ(x) = Γ'(x) / Γ(x). `mg.special.psi` is the same function.
    >>> mg.special.digamma([1.0, 2.0]).round(4).tolist()
    [-0.5772, 0.4228]
    See: scipy.special.digamma, torch.digamma."""
    return xp.digamma(x)


@elementwise(x=lambda xp, x, out: out * xp.digamma(x))
def gamma(xp, x):
    """Compute the gamma function, which extends the factorial to real numbers.

    Γ(x) = ∫₀^∞ t^(x - 1) exp(-t) dt; Γ(n) = (n - 1)!.
    >>> mg.special.gamma([1.0, 5.0]).round(4).tolist()
    [1.0, 24.0]
    See: scipy.special.gamma."""
    return xp.gamma(x)


@elementwise(x=lambda xp, out: HALF_ROOT_PI * xp.exp(out * out))
def erfinv(xp, x):
    """Compute the inverse of the error function.

    It is infinite at -1 and 1, and nan outside.
    >>> mg.special.erfinv([0.0, 0.5]).round(4).tolist()
    [0.0, 0.4769]
    See: scipy.special.erfinv, torch.erfinv."""
    return xp.erfinv(x)


@elementwise(x=lambda xp, out: -HALF_ROOT_PI * xp.exp(out * out))
def erfcinv(xp, x):
    """Compute the inverse of the complementary error function.

    It is infinite at 0 and 2, and nan outside.
    >>> mg.special.erfcinv([1.0, 0.5]).round(4).tolist()
    [0.0, 0.4769]
    See: scipy.special.erfcinv."""
    return xp.erfcinv(x)


@elementwise(x=lambda xp, x, out: 1 - xp.inverse_mills(x) * out, public=False)
def inverse_mills_excess(xp, x):
    """Compute x + φ(x) / Φ(x), where φ is the standard normal density and Φ its distribution function.

    x + φ(x) / Φ(x), accurate even where the two terms nearly cancel.
    >>> mg.special.functions.inverse_mills_excess([0.0, -1000.0]).round(4).tolist()
    [0.7979, 0.001]
    See: scipy.special.log_ndtr."""
    return xp.inverse_mills_excess(x)


@elementwise(x=lambda xp, x, out: -out * xp.inverse_mills_excess(x), public=False)
def inverse_mills(xp, x):
    """Compute the inverse Mills ratio, the derivative of `log_ndtr`.

    φ(x) / Φ(x), where φ is the standard normal density and Φ its distribution function.
    >>> mg.special.functions.inverse_mills([0.0, -1000.0]).round(4).tolist()
    [0.7979, 1000.001]
    See: scipy.special.log_ndtr."""
    return xp.inverse_mills(x)


@elementwise(x=lambda xp, x: xp.inverse_mills(x))
def log_ndtr(xp, x):
    """Compute the logarithm of the standard normal distribution function.

    log Φ(x), accurate even where Φ(x) itself would be 0.
    >>> mg.special.log_ndtr([0.0, -40.0]).round(4).tolist()
    [-0.6931, -804.6084]
    See: scipy.special.log_ndtr, torch.special.log_ndtr."""
    return xp.log_ndtr(x)


@elementwise(x=lambda xp, out: ROOT_TWO_PI * xp.exp(0.5 * out * out))
def ndtri(xp, x):
    """Compute the quantile function of the standard normal distribution.

    Φ⁻¹(x), infinite at 0 and 1, and nan outside.
    >>> mg.special.ndtri([0.5, 0.975]).round(4).tolist()
    [-0.0, 1.96]
    See: scipy.special.ndtri, torch.special.ndtri."""
    return xp.ndtri(x)


@elementwise(x=lambda xp, x: xp.i1(x))
def i0(xp, x):
    """Compute the modified Bessel function of order 0.

    I₀(x) = 1/π ∫₀^π exp(x cos θ) dθ.
    >>> mg.special.i0([0.0, 1.0]).round(4).tolist()
    [1.0, 1.2661]
    See: scipy.special.i0, torch.special.i0."""
    return xp.i0(x)


@elementwise(x=lambda xp, x, out: xp.i0(x) - xp.where(x == 0, 0.5, out / xp.where(x == 0, 1.0, x)))
def i1(xp, x):
    """Compute the modified Bessel function of order 1.

    I₁(x) = 1/π ∫₀^π exp(x cos θ) cos θ dθ.
    >>> mg.special.i1([0.0, 1.0]).round(4).tolist()
    [0.0, 0.5652]
    See: scipy.special.i1, torch.special.i1."""
    return xp.i1(x)


@elementwise(x=lambda xp, x, out: xp.i1e(x) - xp.sign(x) * out)
def i0e(xp, x):
    """Compute the modified Bessel function of order 0, scaled to avoid overflow.

    I₀(x) exp(-|x|).
    >>> mg.special.i0e([0.0, 1000.0]).round(4).tolist()
    [1.0, 0.0126]
    See: scipy.special.i0e, torch.special.i0e."""
    return xp.i0e(x)


@elementwise(x=lambda xp, x, out: xp.i0e(x) - xp.sign(x) * out - xp.where(x == 0, 0.5, out / xp.where(x == 0, 1.0, x)))
def i1e(xp, x):
    """Compute the modified Bessel function of order 1, scaled to avoid overflow.

    I₁(x) exp(-|x|).
    >>> mg.special.i1e([0.0, 1000.0]).round(4).tolist()
    [0.0, 0.0126]
    See: scipy.special.i1e, torch.special.i1e."""
    return xp.i1e(x)


@elementwise(x=lambda xp, x: -xp.j1(x))
def j0(xp, x):
    """Compute the Bessel function of the first kind of order 0.

    J₀(x) = 1/π ∫₀^π cos(x sin θ) dθ.
    >>> mg.special.j0([0.0, 1.0]).round(4).tolist()
    [1.0, 0.7652]
    See: scipy.special.j0, torch.special.bessel_j0."""
    return xp.j0(x)


@elementwise(x=lambda xp, x, out: xp.j0(x) - xp.where(x == 0, 0.5, out / xp.where(x == 0, 1.0, x)))
def j1(xp, x):
    """Compute the Bessel function of the first kind of order 1.

    J₁(x) = 1/π ∫₀^π cos(θ - x sin θ) dθ.
    >>> mg.special.j1([0.0, 1.0]).round(4).tolist()
    [0.0, 0.4401]
    See: scipy.special.j1, torch.special.bessel_j1."""
    return xp.j1(x)


@elementwise(x=lambda xp, x: -xp.y1(x))
def y0(xp, x):
    """Compute the Bessel function of the second kind of order 0.

    Y₀(x) solves the same equation as J₀ and is infinite at 0; nan below.
    >>> mg.special.y0([1.0, 2.0]).round(4).tolist()
    [0.0883, 0.5104]
    See: scipy.special.y0, torch.special.bessel_y0."""
    return xp.y0(x)


@elementwise(x=lambda xp, x, out: xp.y0(x) - out / x)
def y1(xp, x):
    """Compute the Bessel function of the second kind of order 1.

    Y₁(x) solves the same equation as J₁ and is infinite at 0; nan below.
    >>> mg.special.y1([1.0, 2.0]).round(4).tolist()
    [-0.7812, -0.107]
    See: scipy.special.y1, torch.special.bessel_y1."""
    return xp.y1(x)


# Bessel functions of any order


def _order(name, v):
    """Return an order as a number. Arrays are rejected, and so are tensors that need a gradient."""
    if getattr(v, "requires_grad", False) is True:
        raise TypeError(f"{name} has no gradient by its order v: give it mg.stop_gradient(v).item()")
    if getattr(v, "shape", ()) != () or isinstance(v, (list, tuple)):
        raise TypeError(f"{name} takes one order: write mg.stack([mg.special.{name}(v, x) for v in orders])")
    v = float(v)
    if not abs(v) <= MOST_ORDER:
        raise ValueError(f"{name}: the order must be between -{MOST_ORDER:,} and {MOST_ORDER:,}, got {v}")
    return v


@elementwise(x=lambda xp, x, v: 0.5 * (xp.iv(v - 1, x) + xp.iv(v + 1, x)))
def _iv(xp, x, *, v):
    """Compute the modified Bessel function of real order."""
    return xp.iv(v, x)


@wraps_op(_iv, namespace=True)
@prefixes_errors
def iv(v, x):
    """Compute the modified Bessel function of real order.

    I_v(x) = (x / 2)^v Σₖ (x² / 4)ᵏ / (k! Γ(v + k + 1)); nan for x < 0 unless v is an integer.
    Shapes: x any -> the same.
    Args:
        v: the order, a number without a gradient.
        x: real numbers.
    Raises: TypeError if x is complex, or v is an array or requires a gradient; ValueError if |v| is above 10,000.
    >>> mg.special.iv(0.5, [1.0, 2.0]).round(4).tolist()
    [0.9377, 2.0462]
    See: scipy.special.iv."""
    return _iv(x, v=_order("iv", v))


@elementwise(x=lambda xp, x, v, out: 0.5 * (xp.ive(v - 1, x) + xp.ive(v + 1, x)) - xp.sign(x) * out)
def _ive(xp, x, *, v):
    """Compute the modified Bessel function of real order, scaled to avoid overflow."""
    return xp.ive(v, x)


@wraps_op(_ive, namespace=True)
@prefixes_errors
def ive(v, x):
    """Compute the modified Bessel function of real order, scaled to avoid overflow.

    I_v(x) exp(-|x|); nan for x < 0 unless v is an integer.
    Shapes: x any -> the same.
    Args:
        v: the order, a number without a gradient.
        x: real numbers.
    Raises: TypeError if x is complex, or v is an array or requires a gradient; ValueError if |v| is above 10,000.
    >>> mg.special.ive(2.5, [1.0, 1000.0]).round(4).tolist()
    [0.021, 0.0126]
    See: scipy.special.ive."""
    return _ive(x, v=_order("ive", v))


@elementwise(x=lambda xp, x, v: 0.5 * (xp.jv(v - 1, x) - xp.jv(v + 1, x)))
def _jv(xp, x, *, v):
    """Compute the Bessel function of the first kind of real order."""
    return xp.jv(v, x)


@wraps_op(_jv, namespace=True)
@prefixes_errors
def jv(v, x):
    """Compute the Bessel function of the first kind of real order.

    J_v(x) = (x / 2)^v Σₖ (-x² / 4)ᵏ / (k! Γ(v + k + 1)); nan for x < 0 unless v is an integer. `mg.special.jn` is the
    same function.
    Shapes: x any -> the same.
    Args:
        v: the order, a number without a gradient.
        x: real numbers.
    Raises: TypeError if x is complex, or v is an array or requires a gradient; ValueError if |v| is above 10,000.
    >>> mg.special.jv(0.5, [1.0, 2.0]).round(4).tolist()
    [0.6714, 0.513]
    See: scipy.special.jv."""
    return _jv(x, v=_order("jv", v))


jn = jv


@elementwise(x=lambda xp, x, n: 0.5 * (xp.yn(n - 1, x) - xp.yn(n + 1, x)))
def _yn(xp, x, *, n):
    """Compute the Bessel function of the second kind of integer order."""
    return xp.yn(n, x)


@wraps_op(_yn, namespace=True)
@prefixes_errors
def yn(n, x):
    """Compute the Bessel function of the second kind of integer order.

    Y_n(x) solves the same equation as J_n and is infinite at 0; nan below.
    Shapes: x any -> the same.
    Args:
        n: the order, an integer.
        x: real numbers.
    Raises: TypeError if x is complex, or n is not an integer; ValueError if |n| is above 10,000.
    >>> mg.special.yn(2, [1.0, 2.0]).round(4).tolist()
    [-1.6507, -0.6174]
    See: scipy.special.yn."""
    order = _order("yn", n)
    if order != int(order):
        raise TypeError(f"yn: the order must be a whole number, got {order}")
    return _yn(x, n=int(order))


psi = digamma
expit = sigmoid
log_expit = logsigmoid


@elementwise(x=lambda x: 1 / (x * (1 - x)))
def logit(xp, x):
    """Compute the logit, the logarithm of the odds: the inverse of `expit`, the sigmoid.

    log(x / (1 - x)), infinite at 0 and 1, and nan outside.
    Args:
        x: real numbers.
    >>> mg.special.logit([0.5, 0.9]).round(4).tolist()
    [0.0, 2.1972]
    See: scipy.special.logit, torch.logit."""
    return xp.log(x) - xp.log1p(-x)


@nondifferentiable
def gammasgn(xp, x):
    """Return the sign of the gamma function: 1 or -1, and nan at -1, -2, ….

    Returns: a tensor of the dtype of x, without a graph.
    >>> mg.special.gammasgn([1.5, -0.5]).tolist()
    [1.0, -1.0]
    See: scipy.special.gammasgn."""
    return xp.gammasgn(x)


def rgamma(x):
    """Compute the reciprocal of the gamma function; 0 where the gamma function is infinite.

    Args:
        x: real numbers.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: TypeError if x is complex or not numeric.
    >>> mg.special.rgamma([1.0, 5.0]).round(4).tolist()
    [1.0, 0.0417]
    See: scipy.special.rgamma."""
    whole = gamma(x)
    return where(logical_and(isnan(whole), logical_not(isnan(x))), 0.0, reciprocal(whole))


@elementwise(x=lambda xp, x, n: xp.polygamma(n + 1, x))
def _polygamma(xp, x, *, n):
    """Compute the polygamma function: a derivative of the digamma function."""
    return xp.polygamma(n, x)


@wraps_op(_polygamma, namespace=True)
@prefixes_errors
def polygamma(n, x):
    """Compute the polygamma function: the n-th derivative of the digamma function.

    ψ⁽ⁿ⁾(x); for n = 0 it is `digamma`.
    Args:
        n: the order of the derivative, a non-negative integer.
    Raises: TypeError if n is not an integer, or x complex; ValueError if n is negative.
    >>> mg.special.polygamma(1, [1.0, 2.0]).round(4).tolist()
    [1.6449, 0.6449]
    See: scipy.special.polygamma, torch.polygamma."""
    n = n.__index__()
    if n < 0:
        raise ValueError(f"n must not be negative, got n={n}")
    return _polygamma(x, n=n)


def multigammaln(a, d):
    """Compute the logarithm of the multivariate gamma function.

    log Γ_d(a) = d (d - 1) / 4 log π + Σ_j log Γ(a - j / 2), j from 0 to d - 1.
    Shapes: any -> the same.
    Args:
        a: real numbers above (d - 1) / 2.
        d: the dimension, a positive integer.
    Returns: a tensor of the dtype of a; float64 for integers.
    Raises: TypeError if a is complex; ValueError if d is less than 1.
    >>> mg.special.multigammaln([2.0, 3.0], 2).round(4).tolist()
    [0.4516, 1.5502]
    See: scipy.special.multigammaln, torch.special.multigammaln."""
    if d < 1:
        raise ValueError(f"multigammaln: d must be at least 1, got d={d}")
    total = positive(multiply(a, 1.0)) * 0 + d * (d - 1) / 4 * ln(pi)
    for j in range(d):
        total = total + gammaln(multiply(a, 1.0) - j / 2)
    return total


def ndtr(x):
    """Compute the standard normal distribution function.

    Φ(x) = erfc(-x / √2) / 2.
    Args:
        x: real numbers.
    Returns: a tensor of the dtype of x; float64 for integers.
    Raises: TypeError if x is complex or not numeric.
    >>> mg.special.ndtr([0.0, 1.96]).round(4).tolist()
    [0.5, 0.975]
    See: scipy.special.ndtr, torch.special.ndtr."""
    return 0.5 * erfc(multiply(x, -1 / root(2)))


# Two arguments --------------


@elementwise(
    x=lambda xp, x, y: xp.log(xp.where(xp.logical_and(x == 0, abs(y) == -y), 1.0, y)),
    y=lambda x, y: x / y,
)
def xlogy(xp, x, y):
    """Compute x log y, with 0 if x is 0.

    The derivative with respect to x is log y, and defined as 0 if x is 0 and y has no logarithm.
    >>> mg.special.xlogy([0.0, 2.0], [0.0, np.e]).tolist()
    [0.0, 2.0]
    See: scipy.special.xlogy, torch.xlogy."""
    return x * xp.log(xp.where(x == 0, 1.0, y))


@elementwise(
    x=lambda xp, x, y: xp.log1p(xp.where(xp.logical_and(x == 0, abs(1 + y) == -1 - y), 0.0, y)),
    y=lambda x, y: x / (1 + y),
)
def xlog1py(xp, x, y):
    """Compute x log(1 + y), with 0 if x is 0.

    The derivative with respect to x is log(1 + y), and defined as 0 if x is 0 and 1 + y has no logarithm.
    Args:
        x, y: real numbers.
    >>> mg.special.xlog1py([0.0, 2.0], [-1.0, 0.0]).tolist()
    [0.0, 0.0]
    See: scipy.special.xlog1py, torch.special.xlog1py."""
    return x * xp.log1p(xp.where(x == 0, 0.0, y))


@elementwise(
    a=lambda xp, a, b: xp.digamma(a) - xp.digamma(a + b),
    b=lambda xp, a, b: xp.digamma(b) - xp.digamma(a + b),
)
def betaln(xp, a, b):
    """Compute the logarithm of the absolute value of the beta function.

    log |B(a, b)|, B(a, b) = Γ(a) Γ(b) / Γ(a + b).
    >>> mg.special.betaln(2.0, 3.0).round(decimals=4).item()
    -2.4849
    See: scipy.special.betaln."""
    return xp.betaln(a, b)


@elementwise(
    a=lambda xp, a, b, out: out * (xp.digamma(a) - xp.digamma(a + b)),
    b=lambda xp, a, b, out: out * (xp.digamma(b) - xp.digamma(a + b)),
)
def beta(xp, a, b):
    """Compute the beta function.

    B(a, b) = Γ(a) Γ(b) / Γ(a + b) = ∫₀¹ t^(a - 1) (1 - t)^(b - 1) dt.
    >>> mg.special.beta(2.0, 3.0).round(decimals=4).item()
    0.0833
    See: scipy.special.beta."""
    return xp.beta(a, b)


# Incomplete integrals -------


def _as_constant(name, letter, value):
    """Return an input that has no gradient rule. Tensors that need a gradient are rejected."""
    if getattr(positive(multiply(value, 1.0)), "node", None) is not None:
        raise TypeError(f"{name} has no gradient by {letter}: give it mg.stop_gradient({letter})")
    return value


@elementwise(x=lambda xp, a, x: xp.exp(xp.xlogy(a - 1, x) - x - xp.gammaln(a)))
def _gammainc(xp, a, x):
    """Compute the regularised lower incomplete gamma function."""
    return xp.gammainc(a, x)


@wraps_op(_gammainc, namespace=True)
@prefixes_errors
def gammainc(a, x):
    """Compute the regularised lower incomplete gamma function.

    P(a, x) = 1 / Γ(a) ∫₀ˣ t^(a - 1) exp(-t) dt. It has a gradient only with respect to x, as in PyTorch.
    Args:
        a: real numbers of at least 0, which receive no gradient.
        x: real numbers of at least 0.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is complex, or a requires a gradient.
    >>> mg.special.gammainc(1.0, 2.0).round(decimals=4).item()
    0.8647
    See: scipy.special.gammainc, torch.special.gammainc."""
    return _gammainc(_as_constant("gammainc", "a", a), x)


@elementwise(x=lambda xp, a, x: -xp.exp(xp.xlogy(a - 1, x) - x - xp.gammaln(a)))
def _gammaincc(xp, a, x):
    """Compute the regularised upper incomplete gamma function."""
    return xp.gammaincc(a, x)


@wraps_op(_gammaincc, namespace=True)
@prefixes_errors
def gammaincc(a, x):
    """Compute the regularised upper incomplete gamma function.

    Q(a, x) = 1 / Γ(a) ∫ₓ^∞ t^(a - 1) exp(-t) dt = 1 - P(a, x). It has a gradient only with respect to x, as in PyTorch
    and autograd.
    Args:
        a: real numbers of at least 0, which receive no gradient.
        x: real numbers of at least 0.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is complex, or a requires a gradient.
    >>> mg.special.gammaincc(1.0, 2.0).round(decimals=4).item()
    0.1353
    See: scipy.special.gammaincc, torch.special.gammaincc."""
    return _gammaincc(_as_constant("gammaincc", "a", a), x)


@elementwise(x=lambda xp, a, b, x: xp.exp(xp.xlogy(a - 1, x) + xp.xlog1py(b - 1, -x) - xp.betaln(a, b)))
def _betainc(xp, a, b, x):
    """Compute the regularised incomplete beta function."""
    return xp.betainc(a, b, x)


@wraps_op(_betainc, namespace=True)
@prefixes_errors
def betainc(a, b, x):
    """Compute the regularised incomplete beta function.

    I_x(a, b) = 1 / B(a, b) ∫₀ˣ t^(a - 1) (1 - t)^(b - 1) dt. It has a gradient only with respect to x, as in autograd.
    Args:
        a, b: real numbers above 0, which receive no gradient.
        x: real numbers from 0 to 1.
    Raises: ValueError if the shapes do not broadcast; TypeError if an input is complex, or a or b requires a gradient.
    >>> mg.special.betainc(2.0, 3.0, 0.5).round(decimals=4).item()
    0.6875
    See: scipy.special.betainc."""
    return _betainc(_as_constant("betainc", "a", a), _as_constant("betainc", "b", b), x)


# Sums of exponentials -------


@prefixes_errors
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Compute the logarithm of a weighted sum of exponentials.

    log Σ_i b_i exp(a_i), without overflow.
    Shapes: a (2, 3), axis=0 -> (3); with keepdims -> (1, 3).
    Args:
        a: numbers.
        b: the weights, of a shape that broadcasts with a; None (default) for 1.
        return_sign: whether to return the logarithm of the absolute value of the sum, and its sign; default False,
            where the logarithm of a negative sum is nan.
    Returns: a tensor; a pair of tensors with `return_sign`.
    Raises: ValueError if the shapes do not broadcast; IndexError if the axis is out of range.
    >>> mg.special.logsumexp([0.0, 0.0], b=[1.0, 3.0]).round(decimals=4).item()
    1.3863
    See: scipy.special.logsumexp; `mg.logsumexp`."""
    if b is None and not return_sign:
        return _logsumexp(a, axis=axis, keepdims=keepdims)
    a = multiply(a, 1.0) + multiply(1.0 if b is None else b, 0.0)
    b = multiply(1.0 if b is None else b, 1.0)
    counted = where(b == 0, -inf, a)
    largest = finite_max(counted, axis=axis)
    total = added_up(b * exp(where(b == 0, 0.0, a - largest)), axis=axis, keepdims=True)
    size = log(absolute(total) if return_sign else total) + largest
    out = size if keepdims else squeeze_axes(size, axis=axis)
    if not return_sign:
        return out
    return out, sign(total if keepdims else squeeze_axes(total, axis=axis))
