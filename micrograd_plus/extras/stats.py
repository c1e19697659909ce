"""Distributions under SciPy's names: `mg.stats.norm.logpdf(x, loc, scale)`.

Each has the logarithm of its density, the density, and, where there is a formula for it, the share of it up to a point.
They are made of operations, so every argument can have a gradient, except the orders of incomplete integrals (see
`mg.special`).
"""

from __future__ import annotations

from math import inf, log, pi
from typing import Any

from .. import ops
from ..ops.factorisations import cholesky
from ..ops.linalg import solve
from ..tensor import Tensor
from .special.functions import betainc, betaln, gammainc, gammaincc, gammaln, log_ndtr, ndtr, xlog1py, xlogy

__all__ = ["beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t"]


def __dir__() -> list[str]:
    return sorted(__all__)


def _floats(value: Any) -> Tensor:
    """Convert to floats, within the graph of the argument."""
    return ops.multiply(value, 1.0)


def _standardise(x: Any, loc: Any, scale: Any) -> Tensor:
    """Return (x - loc) / scale."""
    return (_floats(x) - loc) / scale


def _inside(holds: Any, x: Tensor, harmless: float, log_density: Any) -> Tensor:
    """Return a log-density inside the support, minus infinity outside. Outside it is computed from a harmless number,
    so that the gradient is not nan."""
    return ops.where(holds, log_density(ops.where(holds, x, harmless)), -inf)


class norm:  # noqa: N801 - SciPy's name
    """Normal distribution, the bell curve: exp(-z² / 2) / (scale √(2π)), with z = (x - loc) / scale.

    Shapes: x, loc and scale of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast.
    Example:
        >>> mg.stats.norm.pdf(0.0).round(decimals=4).item(), mg.stats.norm.cdf(1.96).round(decimals=3).item()
        (0.3989, 0.975)

    See: scipy.stats.norm; torch.distributions.Normal.
    """

    @staticmethod
    def logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the density."""
        z = _standardise(x, loc, scale)
        return -0.5 * z * z - ops.log(_floats(scale)) - 0.5 * log(2 * pi)

    @staticmethod
    def pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(norm.logpdf(x, loc, scale))

    @staticmethod
    def cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the distribution function at x."""
        return ndtr(_standardise(x, loc, scale))

    @staticmethod
    def logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the distribution function at x."""
        return log_ndtr(_standardise(x, loc, scale))

    @staticmethod
    def sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the survival function at x."""
        return ndtr(-_standardise(x, loc, scale))

    @staticmethod
    def logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the survival function at x."""
        return log_ndtr(-_standardise(x, loc, scale))


class t:  # noqa: N801 - SciPy's name
    """Student's t distribution: Γ((n + 1) / 2) / (√(nπ) Γ(n / 2)) (1 + z² / n)^(-(n + 1) / 2) / scale, with n = df.

    Shapes: x, df, loc and scale of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast; TypeError if `cdf` is to have a gradient by df.
    Example:
        >>> mg.stats.t.pdf(0.0, 3.0).round(decimals=4).item()
        0.3676

    See: scipy.stats.t; torch.distributions.StudentT.
    """

    @staticmethod
    def logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the density."""
        z, n = _standardise(x, loc, scale), _floats(df)
        constant = gammaln((n + 1) / 2) - gammaln(n / 2) - 0.5 * ops.log(n * pi) - ops.log(_floats(scale))
        return constant - (n + 1) / 2 * ops.log1p(z * z / n)

    @staticmethod
    def pdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(t.logpdf(x, df, loc, scale))

    @staticmethod
    def cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the distribution function at x."""
        z, n = _standardise(x, loc, scale), _floats(df)
        # the share beyond |z| is half of I at n / (n + z²); near 0 that has no slope, that at z² / (n + z²) has one
        near = z * z < n
        inner = 0.5 * betainc(0.5, n / 2, ops.where(near, z * z / (n + z * z), 0.5))
        outer = 0.5 - 0.5 * betainc(n / 2, 0.5, ops.where(near, 0.5, n / (n + z * z)))
        return 0.5 + ops.sign(z) * ops.where(near, inner, outer)

    @staticmethod
    def logcdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the distribution function at x."""
        return ops.log(t.cdf(x, df, loc, scale))


class gamma:  # noqa: N801 - SciPy's name
    """Gamma distribution: y^(a - 1) exp(-y) / (scale Γ(a)) for y = (x - loc) / scale > 0.

    Shapes: x, a, loc and scale of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast; TypeError if `cdf` is to have a gradient by a.
    Example:
        >>> mg.stats.gamma.pdf(1.0, 2.0).round(decimals=4).item()
        0.3679

    See: scipy.stats.gamma; torch.distributions.Gamma, whose rate is one over the scale.
    """

    @staticmethod
    def logpdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the density; minus infinity where there is none."""
        y, a = _standardise(x, loc, scale), _floats(a)
        constant = -gammaln(a) - ops.log(_floats(scale))
        return _inside(y >= 0, y, 1.0, lambda y: xlogy(a - 1, y) - y + constant)

    @staticmethod
    def pdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(gamma.logpdf(x, a, loc, scale))

    @staticmethod
    def cdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the distribution function at x."""
        y = _standardise(x, loc, scale)
        return ops.where(y > 0, gammainc(a, ops.where(y > 0, y, 1.0)), 0.0)


class chi2:  # noqa: N801 - SciPy's name
    """Chi-squared distribution: the sum of the squares of df standard normal draws.

    Shapes: x, df, loc and scale of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast; TypeError if `cdf` is to have a gradient by df.
    Example:
        >>> mg.stats.chi2.pdf(1.0, 2.0).round(decimals=4).item()
        0.3033

    See: scipy.stats.chi2; torch.distributions.Chi2.
    """

    @staticmethod
    def logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the density; minus infinity where there is none."""
        return gamma.logpdf(x, _floats(df) / 2, loc, 2 * _floats(scale))

    @staticmethod
    def pdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(chi2.logpdf(x, df, loc, scale))

    @staticmethod
    def cdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the distribution function at x."""
        return gamma.cdf(x, _floats(df) / 2, loc, 2 * _floats(scale))


class beta:  # noqa: N801 - SciPy's name
    """Beta distribution: y^(a - 1) (1 - y)^(b - 1) / (scale B(a, b)) for y = (x - loc) / scale from 0 to 1.

    Shapes: x, a, b, loc and scale of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast; TypeError if `cdf` is to have a gradient by a or b.
    Example:
        >>> mg.stats.beta.pdf(0.5, 2.0, 3.0).round(decimals=4).item()
        1.5

    See: scipy.stats.beta; torch.distributions.Beta.
    """

    @staticmethod
    def logpdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the logarithm of the density; minus infinity where there is none."""
        y, a, b = _standardise(x, loc, scale), _floats(a), _floats(b)
        constant = -betaln(a, b) - ops.log(_floats(scale))
        holds = ops.logical_and(y >= 0, y <= 1)
        return _inside(holds, y, 0.5, lambda y: xlogy(a - 1, y) + xlog1py(b - 1, -y) + constant)

    @staticmethod
    def pdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(beta.logpdf(x, a, b, loc, scale))

    @staticmethod
    def cdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Tensor:
        """Return the distribution function at x."""
        y = _standardise(x, loc, scale)
        holds = ops.logical_and(y > 0, y < 1)
        return ops.where(holds, betainc(a, b, ops.where(holds, y, 0.5)), ops.astype(y >= 1, float))


class poisson:  # noqa: N801 - SciPy's name
    """Poisson distribution of counts: mu^k exp(-mu) / k! for k = 0, 1, 2, ….

    Shapes: k, mu and loc of shapes that broadcast -> the broadcast shape.
    Raises: ValueError if they do not broadcast.
    Example:
        >>> mg.stats.poisson.pmf(2, 3.0).round(decimals=4).item()
        0.224

    See: scipy.stats.poisson; torch.distributions.Poisson.
    """

    @staticmethod
    def logpmf(k: Any, mu: Any, loc: Any = 0) -> Tensor:
        """Return the logarithm of the probability; minus infinity where there is none."""
        count, mu = _floats(k) - loc, _floats(mu)
        holds = ops.logical_and(count >= 0, count == ops.floor(count))
        return _inside(holds, count, 0.0, lambda count: xlogy(count, mu) - mu - gammaln(count + 1))

    @staticmethod
    def pmf(k: Any, mu: Any, loc: Any = 0) -> Tensor:
        """Return the probability."""
        return ops.exp(poisson.logpmf(k, mu, loc))

    @staticmethod
    def cdf(k: Any, mu: Any, loc: Any = 0) -> Tensor:
        """Return the distribution function at k, as an integral of a gamma density, so that mu has a gradient."""
        count = ops.floor(_floats(ops.stop_gradient(k)) - ops.stop_gradient(loc))
        return ops.where(count >= 0, gammaincc(ops.maximum(count, 0.0) + 1, mu), 0.0)


class dirichlet:  # noqa: N801 - SciPy's name
    """Dirichlet distribution of shares: Π_i x_i^(alpha_i - 1) Γ(Σ_i alpha_i) / Π_i Γ(alpha_i).

    Shapes: x (n) or (n, k), one column for each draw, alpha (n) -> () or (k).
    Raises: ValueError if x has other than as many rows as alpha entries.
    Example:
        >>> mg.stats.dirichlet.pdf([0.2, 0.8], [2.0, 3.0]).round(decimals=4).item()
        1.536

    See: scipy.stats.dirichlet; torch.distributions.Dirichlet.
    """

    @staticmethod
    def logpdf(x: Any, alpha: Any) -> Tensor:
        """Return the logarithm of the density."""
        x, alpha = _floats(x), _floats(alpha)
        if x.shape[:1] != alpha.shape:
            raise ValueError(f"dirichlet: x must have a row for each of {alpha.shape} entries of alpha; got {x.shape}")
        each = ops.reshape(alpha, (-1, *(1,) * (x.ndim - 1)))
        constant = gammaln(ops.sum(alpha)) - ops.sum(gammaln(alpha))
        return ops.sum(xlogy(each - 1, x), axis=0) + constant

    @staticmethod
    def pdf(x: Any, alpha: Any) -> Tensor:
        """Return the density."""
        return ops.exp(dirichlet.logpdf(x, alpha))


class multivariate_normal:  # noqa: N801 - SciPy's name
    """Normal distribution of vectors, by its mean and its covariance.

    exp(-(x - mean)ᵀ cov⁻¹ (x - mean) / 2) / √((2π)ⁿ det cov). A number as covariance is multiplied by the identity, a
    row is a diagonal. What counts of the matrix is its symmetric part.

    Shapes: x (..., n), mean (n), cov (n, n) -> (...).
    Raises: ValueError if cov is not positive definite, or lengths do not fit.
    Example:
        >>> mg.stats.multivariate_normal.logpdf([0.0, 0.0], [0.0, 0.0], 4.0).round(decimals=4).item()
        -3.2242

    See: scipy.stats.multivariate_normal; torch.distributions.MultivariateNormal.
    """

    @staticmethod
    def logpdf(x: Any, mean: Any = 0.0, cov: Any = 1.0) -> Tensor:
        """Return the logarithm of the density."""
        x = ops.atleast_1d(_floats(x))
        apart = x - mean
        factor = cholesky(_covariance(cov, apart.shape[-1]))
        if factor.shape[-1] != apart.shape[-1]:
            raise ValueError(f"multivariate_normal: cov {factor.shape} does not fit vectors of shape {apart.shape}")
        rows = ops.reshape(apart, (-1, apart.shape[-1]))
        upright = solve(factor, rows.T)
        squares = ops.reshape(ops.sum(upright * upright, axis=0), apart.shape[:-1])
        logs = ops.sum(ops.log(ops.diagonal(factor)))
        return -0.5 * squares - logs - 0.5 * apart.shape[-1] * log(2 * pi)

    @staticmethod
    def pdf(x: Any, mean: Any = 0.0, cov: Any = 1.0) -> Tensor:
        """Return the density."""
        return ops.exp(multivariate_normal.logpdf(x, mean, cov))

    @staticmethod
    def entropy(mean: Any = None, cov: Any = 1.0) -> Tensor:
        """Return the entropy in nats: half the logarithm of det(2πe cov)."""
        size = 1 if mean is None else ops.atleast_1d(_floats(mean)).shape[-1]
        factor = cholesky(_covariance(cov, size))
        return ops.sum(ops.log(ops.diagonal(factor))) + 0.5 * factor.shape[-1] * (1 + log(2 * pi))


def _covariance(cov: Any, size: int) -> Tensor:
    """Return a covariance as a matrix: a number times the identity, or a row as the diagonal."""
    cov = _floats(cov)
    if cov.ndim == 0:
        return ops.diag(ops.broadcast_to(cov, (size,)))
    return ops.diag(cov) if cov.ndim == 1 else cov
