"""Gamma and beta functions for arrays, their derivatives and incomplete integrals, and inverses of erf.

`np` is NumPy or CuPy. Everything is computed in float64; floating dtypes are preserved, integers become float64, and
complex numbers raise TypeError. The formulas are from M. Abramowitz and I. Stegun, "Handbook of mathematical
functions", 1964 (A&S), unless noted otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy import errstate, ndarray

from ...backends.error_function import ERFC_FAR, ONE_OVER_SQRT_PI, erf, erfc, quotient

__all__ = [
    "beta", "betainc", "betaln", "digamma", "erfcinv", "erfinv", "gamma", "gammainc", "gammaincc", "gammaln",
    "gammasgn", "inverse_mills", "inverse_mills_excess", "log_ndtr", "ndtri", "polygamma",
]  # fmt: skip

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""B₂, B₄, …, B₂₀."""

FAR = 10.0
"""From here on the asymptotic series, with these Bernoulli numbers, is exact in float64."""
Numeric = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
"""A function of one, two or three arrays of float64."""


def entrywise(np: Any, name: str, values: Numeric, *given: Any) -> Any:
    """Apply a function of real numbers in float64, and return the common dtype of the floating arrays."""
    arrays = [np.asarray(each) for each in given]
    for each in arrays:
        if each.dtype.kind not in "fiub":
            raise TypeError(f"{name} inputs must be real, got {each.dtype}")
    floats = [each.dtype for each in given if hasattr(each, "dtype") and each.dtype.kind == "f"]
    with errstate(all="ignore"):
        out = values(*(each.astype(np.float64) for each in arrays))
    return out.astype(np.result_type(*floats) if floats else np.float64)[()]


# Gamma ----------------------


def _zeta(s: float, q: Any) -> Any:
    """Return Hurwitz's zeta function Σ_k (q + k)^-s for q > 0, by Euler and Maclaurin's formula from the tenth term
    on."""
    total = 0.0
    for k in range(int(FAR)):
        total = total + (q + k) ** -s
    far = q + FAR
    total = total + far ** (1.0 - s) / (s - 1.0) + 0.5 * far**-s
    factor, power = s / 2, far ** (-s - 1.0)
    for j, each in enumerate(BERNOULLI, start=1):
        total = total + each * factor * power
        factor, power = factor * (s + 2 * j - 1) * (s + 2 * j) / ((2 * j + 1) * (2 * j + 2)), power / (far * far)
    return total


AROUND_TWO = [1.0 - 0.57721566490153286061, *((-1) ** k * _zeta(k, 2.0) / k for k in range(2, 34))]
"""Return log Γ(2 + z) = z (1 - γ) + Σ_k (-1)^k (ζ(k) - 1) z^k / k, for |z| ≤ 1/2 (A&S 6.1.33)."""


def _around_two(z: Any) -> Any:
    """Return log Γ(2 + z)."""
    total = 0.0 * z
    for coefficient in reversed(AROUND_TWO):
        total = (total + coefficient) * z
    return total


def _correction(x: Any) -> Any:
    """Return the remainder of Stirling's formula: Σ_k B₂ₖ / (2k (2k - 1) x^(2k - 1)) (A&S 6.1.41)."""
    total, square = 0.0, 1.0 / (x * x)
    for k in range(len(BERNOULLI), 0, -1):
        total = total * square + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return total / x


def _shift_near_two(np: Any, x: Any) -> tuple[Any, Any]:
    """Return the number between 3/2 and 5/2 that differs from `x` by an integer, and Γ(x) over its gamma; 0.5 ≤ x ≤
    11."""
    place, product = x, np.ones_like(x)
    for _ in range(int(FAR)):
        high = place > 2.5
        place = np.where(high, place - 1.0, place)
        product = np.where(high, product * place, product)
    low = place < 1.5
    return np.where(low, place + 1.0, place), np.where(low, product / place, product)


def _log_of_positive(np: Any, x: Any) -> Any:
    """Return log Γ(x) for x ≥ 1/2."""
    near = np.where(x < FAR, x, 2.0)
    place, product = _shift_near_two(np, near)
    around_one = _around_two(near - 1.0) - np.log1p(near - 1.0)
    small = np.where(near < 1.5, around_one, _around_two(place - 2.0) + np.log(product))
    far = np.maximum(x, FAR)
    large = (far - 0.5) * np.log(far) - far + 0.5 * math.log(2 * math.pi) + _correction(far)
    return np.where(x < FAR, small, np.where(x == math.inf, math.inf, large))


def _sine_of_pi(np: Any, x: Any) -> Any:
    """Return sin(π x), exactly 0 at integers."""
    nearest = np.round(x)
    return np.sin(math.pi * (x - nearest)) * np.where(nearest % 2 == 0, 1.0, -1.0)


def gammaln(np: Any, x: Any) -> Any:
    """Return log |Γ(x)|: a series around 2, Stirling's formula, and the reflection at 1/2; infinite at 0, -1, -2, …."""

    def values(x: Any) -> Any:
        right = np.where(x < 0.5, 1.0 - x, x)
        log = _log_of_positive(np, right)
        tiny = abs(x) < 1e-5  # where 1 - x would lose the digits of x
        small = -np.log(abs(x)) - x * (0.57721566490153286061 - 0.82246703342411321824 * x)
        reflected = np.log(math.pi / abs(_sine_of_pi(np, x))) - log
        return np.where(x < 0.5, np.where(tiny, small, np.where(x == -math.inf, math.inf, reflected)), log)

    return entrywise(np, "gammaln", values, x)


def gammasgn(np: Any, x: Any) -> Any:
    """Return the sign of Γ(x); nan where it has none, at -1, -2, …."""

    def values(x: Any) -> Any:
        whole = np.floor(x)
        sign = np.where(whole % 2 == 0, 1.0, -1.0)
        below = np.where((x == whole) | np.isnan(x), math.nan, sign)
        return np.where(x > 0, 1.0, np.where(x == 0, np.copysign(1.0, x), below))

    return entrywise(np, "gammasgn", values, x)


def gamma(np: Any, x: Any) -> Any:
    """Return Γ(x) by the same parts as its logarithm, except large x, where a logarithm would lose digits."""

    def of_positive(x: Any) -> Any:
        near = np.where(x < FAR, x, 2.0)
        place, product = _shift_near_two(np, near)
        small = np.exp(_around_two(place - 2.0)) * product
        far = np.clip(x, FAR, 180.0)
        half = far ** (0.5 * far - 0.25)  # the whole power would overflow before the function does
        large = math.sqrt(2 * math.pi) * half * np.exp(-far) * half * np.exp(_correction(far))
        return np.where(x < FAR, small, large)

    def values(x: Any) -> Any:
        right = of_positive(np.where(x < 0.5, 1.0 - x, x))
        below = np.where(x == np.floor(x), math.nan, math.pi / (_sine_of_pi(np, x) * right))
        tiny = np.where(x == 0, np.copysign(math.inf, x), 1.0 / x - 0.57721566490153286061)
        out = np.where(x < 0.5, np.where(abs(x) < 1e-9, tiny, below), right)
        return np.where(np.isnan(x) | (x == -math.inf), math.nan, out)

    return entrywise(np, "gamma", values, x)


def _digamma_of_positive(np: Any, x: Any) -> Any:
    """Return ψ(x) for x ≥ 1/2: ten steps up, and the asymptotic series (A&S 6.3.18)."""
    steps = 0.0
    for k in range(int(FAR)):
        steps = steps + 1.0 / (x + k)
    far = x + FAR
    total, square = 0.0, 1.0 / (far * far)
    for k in range(len(BERNOULLI), 0, -1):
        total = (total + BERNOULLI[k - 1] / (2 * k)) * square
    return np.log(far) - 0.5 / far - total - steps


def digamma(np: Any, x: Any) -> Any:
    """Return ψ(x), the derivative of log Γ; nan at -1, -2, …, and minus infinity at 0."""

    def values(x: Any) -> Any:
        right = _digamma_of_positive(np, np.where(x < 0.5, 1.0 - x, x))
        r = x - np.round(x)
        below = np.where(r == 0, math.nan, right - math.pi / np.tan(math.pi * r))
        return np.where(x < 0.5, np.where(x == 0, np.copysign(math.inf, -x), below), right)

    return entrywise(np, "digamma", values, x)


def polygamma(np: Any, n: int, x: Any) -> Any:
    """Return the n-th derivative of ψ: a zeta function for x > 0, the reflection for x < 0 (A&S 6.4.7, 6.4.10)."""
    if n == 0:
        return digamma(np, x)
    factorial = float(math.factorial(n))

    def of_positive(x: Any) -> Any:
        return (-1) ** (n + 1) * factorial * _zeta(n + 1.0, x)

    def values(x: Any) -> Any:
        left = x < 0
        right = of_positive(np.where(left, 1.0 - x, np.where(x == 0, 1.0, x)))
        r = x - np.round(x)
        cotangent = 1.0 / np.tan(math.pi * np.where(r == 0, 0.25, r))
        slope = 0.0
        for coefficient in reversed(_slopes_of_cotangent(n)):
            slope = slope * cotangent + coefficient
        below = (-1) ** n * right - math.pi ** (n + 1) * slope
        poles = np.where(left, np.where(r == 0, math.inf * (-1) ** (n + 1), below), right)
        return np.where(x == 0, math.inf * (-1) ** (n + 1), np.where(x == math.inf, 0.0, poles))

    return entrywise(np, "polygamma", values, x)


def _slopes_of_cotangent(n: int) -> list[float]:
    """Return the n-th derivative of the cotangent as a polynomial in it, from the constant upwards: c' = -(1 + c²)."""
    polynomial = [0.0, 1.0]
    for _ in range(n):
        slope = [k * coefficient for k, coefficient in enumerate(polynomial)][1:]
        polynomial = [-(a + b) for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    return polynomial


def betaln(np: Any, a: Any, b: Any) -> Any:
    """Return log |B(a, b)|, B(a, b) = Γ(a) Γ(b) / Γ(a + b). For large numbers, the terms of Stirling's formula that
    cancel are not computed."""

    def values(a: Any, b: Any) -> Any:
        small, large = np.minimum(a, b), np.maximum(a, b)
        plain = gammaln(np, a) + gammaln(np, b) - gammaln(np, a + b)
        x, y = np.maximum(small, FAR), np.maximum(large, FAR)
        corrected = _correction(y) - _correction(y + small) - (y - 0.5) * np.log1p(small / y)
        one = gammaln(np, small) + small - small * np.log(y + small) + corrected
        logs = 0.5 * math.log(2 * math.pi) - 0.5 * np.log(x) - x * np.log1p(y / x)
        both = logs + _correction(x) + corrected
        return np.where(small >= FAR, both, np.where((large >= FAR) & (small > 0), one, plain))

    return entrywise(np, "betaln", values, a, b)


def beta(np: Any, a: Any, b: Any) -> Any:
    """Return B(a, b) with its sign."""

    def values(a: Any, b: Any) -> Any:
        size = np.exp(betaln(np, a, b))
        both = (a > 0) & (b > 0)
        return np.where(both, size, size * gammasgn(np, a) * gammasgn(np, b) * gammasgn(np, a + b))

    return entrywise(np, "beta", values, a, b)


# Incomplete integrals -------

MOST_STEPS, STEPS_ON_A_DEVICE = 20_000, 500
"""Largest number of terms; if numbers cannot be inspected, always this number."""
TINY, STILL = 1e-300, 3e-16
"""What stands for 0 in a denominator; and a factor nearer to 1 is left out, since the rounding of thousands adds up."""


def _until_still(np: Any, step: Callable[[int], Any], first: int = 1) -> None:
    """Take steps until no number changes. `step` returns which numbers still change."""
    if np.ndarray is not ndarray:
        for k in range(first, STEPS_ON_A_DEVICE):
            step(k)
        return
    for k in range(first, MOST_STEPS):
        if not step(k).any():
            return


def _power_over_gamma(np: Any, a: Any, x: Any) -> Any:
    """Return x^a e^-x / Γ(a + 1); its large parts cancel if a and x are large and close."""
    plain = np.exp(a * np.log(x) - x - gammaln(np, a + 1.0))
    far = np.maximum(a, FAR)
    u = (x - far) / far
    near = np.exp(-far * (u - np.log1p(u)) - _correction(far)) / np.sqrt(2 * math.pi * far)
    return np.where(a >= FAR, near, plain)


def _gamma_parts(np: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return P(a, x) and Q(a, x) = 1 - P: a series where x < a + 1 (A&S 6.5.29), else a continued fraction (6.5.31), by
    Lentz's method."""
    a, x = np.broadcast_arrays(a, x)
    known = (a > 0) & (x > 0) & (x < math.inf) & (a < math.inf)
    low = known & (x < a + 1.0)
    high = known & ~low
    series_a, series_x = np.where(low, a, 1.0), np.where(low, x, 0.5)
    term, total = np.ones(a.shape), np.ones(a.shape)

    def add(k: int) -> Any:
        nonlocal term, total
        term = term * (series_x / (series_a + k))
        total = total + term
        return abs(term) > 1e-17 * abs(total)

    _until_still(np, add)
    lower = _power_over_gamma(np, series_a, series_x) * total
    fraction_a, fraction_x = np.where(high, a, 1.0), np.where(high, x, 3.0)
    b = fraction_x + 1.0 - fraction_a
    c = np.full(a.shape, 1 / TINY)
    d = 1.0 / b
    h = d

    def divide(k: int) -> Any:
        nonlocal b, c, d, h
        above = -k * (k - fraction_a)
        b = b + 2.0
        d = above * d + b
        d = 1.0 / np.where(abs(d) < TINY, TINY, d)
        c = b + above / c
        c = np.where(abs(c) < TINY, TINY, c)
        moves = abs(d * c - 1.0) > STILL
        h = np.where(moves, h * (d * c), h)
        return moves

    _until_still(np, divide)
    upper = _power_over_gamma(np, fraction_a, fraction_x) * fraction_a * h
    p = np.where(low, lower, np.where(high, 1.0 - upper, np.where((x == math.inf) | (a == 0), 1.0, 0.0)))
    q = np.where(high, upper, 1.0 - p)
    wrong = ~(a >= 0) | ~(x >= 0) | ((a == 0) & (x == 0)) | ((a == math.inf) & (x == math.inf))
    p = np.where(a == math.inf, 0.0, p)
    return np.where(wrong, math.nan, p), np.where(wrong, math.nan, np.where(a == math.inf, 1.0, q))


def gammainc(np: Any, a: Any, x: Any) -> Any:
    """Return P(a, x), the integral of Γ(a) up to x as a share."""
    return entrywise(np, "gammainc", lambda a, x: _gamma_parts(np, a, x)[0], a, x)


def gammaincc(np: Any, a: Any, x: Any) -> Any:
    """Return Q(a, x) = 1 - P(a, x)."""
    return entrywise(np, "gammaincc", lambda a, x: _gamma_parts(np, a, x)[1], a, x)


def betainc(np: Any, a: Any, b: Any, x: Any) -> Any:
    """Return I_x(a, b), the integral of B(a, b) up to x as a share: a continued fraction on the side of the smaller
    share (A&S 26.5.8), by Lentz's method."""

    def values(a: Any, b: Any, x: Any) -> Any:
        a, b, x = np.broadcast_arrays(a, b, x)
        known = (a > 0) & (b > 0) & (x > 0) & (x < 1)
        first, second, place = np.where(known, a, 1.0), np.where(known, b, 1.0), np.where(known, x, 0.5)
        other = place > (first + 1.0) / (first + second + 2.0)
        p, q = np.where(other, second, first), np.where(other, first, second)
        z = np.where(other, 1.0 - place, place)
        logs = first * np.log(place) + second * np.log1p(-place) - betaln(np, first, second)
        c, d = np.ones(a.shape), 1.0 - (p + q) * z / (p + 1.0)
        d = 1.0 / np.where(abs(d) < TINY, TINY, d)
        h = d

        def divide(k: int) -> Any:
            nonlocal c, d, h
            moves: Any = False
            for above in (
                k * (q - k) * z / ((p + 2 * k - 1.0) * (p + 2 * k)),
                -(p + k) * (p + q + k) * z / ((p + 2 * k) * (p + 2 * k + 1.0)),
            ):
                d = 1.0 + above * d
                d = 1.0 / np.where(abs(d) < TINY, TINY, d)
                c = 1.0 + above / c
                c = np.where(abs(c) < TINY, TINY, c)
                moving = abs(d * c - 1.0) > STILL
                h, moves = np.where(moving, h * (d * c), h), moves | moving
            return moves

        _until_still(np, divide)
        share = np.exp(logs) * h / p
        inside = np.where(other, 1.0 - share, share)
        edges = np.where((x == 0) & (a > 0) & (b > 0), 0.0, np.where((x == 1) & (a > 0) & (b > 0), 1.0, math.nan))
        return np.where(known, inside, edges)

    return entrywise(np, "betainc", values, a, b, x)


# Inverses of the error function ----

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _from_the_tail(np: Any, p: Any) -> Any:
    """Return the x ≥ 0 with erfc(x) = p, for 0 < p ≤ 1: an initial guess (A&S 26.2.22), and Halley's steps."""
    t = np.sqrt(-2.0 * np.log(p / 2.0))
    x = 0.70710678118654752 * (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + t * 0.04481)))
    for _ in range(3):
        error = erfc(np, x) - p
        x = x + error / (TWO_OVER_ROOT_PI * np.exp(-x * x) - x * error)
    return x


def erfinv(np: Any, x: Any) -> Any:
    """Return the number whose erf is `x`, for x from -1 to 1."""

    def values(y: Any) -> Any:
        size = abs(y)
        near = np.where(size < 0.5, size, 0.0)
        small = near / TWO_OVER_ROOT_PI * (1.0 + math.pi / 12 * near * near)
        for _ in range(3):
            error = erf(np, small) - near
            small = small - error / (TWO_OVER_ROOT_PI * np.exp(-small * small) + small * error)
        far = np.where((size >= 0.5) & (size < 1), 1.0 - size, 0.5)
        out = np.copysign(np.where(size < 0.5, small, _from_the_tail(np, far)), y)
        out = np.where(size == 1, np.copysign(math.inf, y), out)
        return np.where(size <= 1, out, math.nan)

    return entrywise(np, "erfinv", values, x)


def erfcinv(np: Any, x: Any) -> Any:
    """Return the number whose erfc is `x`, for x from 0 to 2."""

    def values(p: Any) -> Any:
        tail = np.where(p <= 1, p, 2.0 - p)
        known = (tail > 0) & (tail < 0.5)
        far = _from_the_tail(np, np.where(known, tail, 0.5))
        out = np.where(known, np.where(p <= 1, far, -far), erfinv(np, 1.0 - p))
        return np.where(p == 0, math.inf, np.where(p == 2, -math.inf, np.where((p > 0) & (p < 2), out, math.nan)))

    return entrywise(np, "erfcinv", values, x)


def ndtri(np: Any, x: Any) -> Any:
    """Return the quantile `x` of the standard normal distribution."""
    return entrywise(np, "ndtri", lambda p: -math.sqrt(2) * erfcinv(np, 2.0 * p), x)


def _tail(np: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return z = -x / √2, at least 4, and the two parts of the series Φ(x) = exp(-z²) / (2 z) · (1 / √π - q / z²): q,
    and the series itself."""
    far = np.maximum(-x / math.sqrt(2), 4.0)
    inverse = 1.0 / (far * far)
    q = quotient(ERFC_FAR, inverse)
    return far, q, ONE_OVER_SQRT_PI - inverse * q


def log_ndtr(np: Any, x: Any) -> Any:
    """Return the logarithm of the standard normal distribution function, also in the far tail, where the function
    rounds to 0."""

    def values(x: Any) -> Any:
        z = -x / math.sqrt(2)
        near = np.where(z < 4, z, 0.0)
        small = np.where(near < -1, np.log1p(-0.5 * erfc(np, -near)), np.log(0.5 * erfc(np, near)))
        far, _, series = _tail(np, x)
        large = -x * x / 2 + np.log(0.5 * series / far)
        return np.where(z < 4, small, np.where(z == math.inf, -math.inf, large))

    return entrywise(np, "log_ndtr", values, x)


def inverse_mills(np: Any, x: Any) -> Any:
    """Return φ(x) / Φ(x), the derivative of `log_ndtr`; far out in the tail it is nearly -x."""

    def values(x: Any) -> Any:
        near = np.where(x > -4 * math.sqrt(2), x, 0.0)
        small = np.exp(-0.5 * near * near) / (math.sqrt(math.pi / 2) * erfc(np, -near / math.sqrt(2)))
        far, _, series = _tail(np, x)
        return np.where(x > -4 * math.sqrt(2), small, far / (math.sqrt(math.pi / 2) * series))

    return entrywise(np, "inverse_mills", values, x)


def inverse_mills_excess(np: Any, x: Any) -> Any:
    """Return x + φ(x) / Φ(x), whose two terms cancel in the tail."""

    def values(x: Any) -> Any:
        far, q, series = _tail(np, x)
        return np.where(x > -4 * math.sqrt(2), x + inverse_mills(np, x), math.sqrt(2) * q / (far * series))

    return entrywise(np, "inverse_mills_excess", values, x)
