"""Bessel functions of any real order, for arrays. The order is one number; whole orders have values left of 0 too.

Near 0 the series of powers; asymptotic expansions for large arguments and orders; between them the recurrence from one
order to the next, in the direction in which it is stable. The formulas are from M. Abramowitz and I. Stegun,
"Handbook of mathematical functions", 1964 (A&S). `np` is NumPy or CuPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from . import bessel
from .bessel import FAR
from .gammas import entrywise

__all__ = ["iv", "ive", "jv", "yn"]

LARGE, DEBYES = 30.0, 22
"""From √(v² + x²) = 30 on, this number of terms of Debye's expansion is exact in float64."""
POWERS = 70
HUGE = 1e100


def _sine_of_pi(v: float) -> float:
    """Return sin(π v), exactly 0 for integers."""
    nearest = round(v)
    return math.sin(math.pi * (v - nearest)) * (-1) ** (nearest % 2)


def _for_every(np: Any, name: str, v: float, given: Any, values: Callable[[float, Any], Any], mirrored: bool) -> Any:
    """Extend `values`, a function of an order and x ≥ 0, to every x: even or odd for integer orders, else nan below 0.

    A negative whole order is the positive one, times (-1)^v if `mirrored`."""

    def either(x: Any) -> Any:
        if v != round(v):
            return np.where(x < 0, math.nan, values(v, abs(x)))
        odd = round(v) % 2 == 1
        out = values(abs(v), abs(x)) * (-1.0 if odd and mirrored and v < 0 else 1.0)
        return np.where(x < 0, -out, out) if odd else out

    return entrywise(np, name, either, given)


def _in_powers(np: Any, v: float, x: Any, sign: float) -> Any:
    """(x / 2)^v Σ_k (± x² / 4)^k / (k! Γ(v + k + 1)): I with plus, J with minus (A&S 9.1.10, 9.6.10)."""
    if abs(v) < 100:
        first = (0.5 * x) ** v / math.gamma(v + 1.0)
    else:
        below = -1.0 if v < 0 and math.floor(v) % 2 == 0 else 1.0  # the sign of Γ(v + 1)
        first = below * np.exp(v * np.log(0.5 * x) - math.lgamma(v + 1.0))
    square, term, total = sign * 0.25 * x * x, 1.0, 1.0
    for k in range(1, POWERS):
        term = term * (square / (k * (v + k)))
        total = total + term
    return first * total


# Modified functions ---------


@cache
def _debye() -> list[list[float]]:
    """Return the polynomials u_k of A&S 9.3.9, from the lowest power upwards: u_k(p) = p^k Σ_j c_j p^(2 j)."""
    polynomials = [[1.0]]
    for k in range(DEBYES - 1):
        following = [0.0] * (k + 2)
        for j, c in enumerate(polynomials[-1]):
            m = k + 2 * j
            following[j] += c * (m / 2 + 1 / (8 * (m + 1)))
            following[j + 1] -= c * (m / 2 + 5 / (8 * (m + 3)))
        polynomials.append(following)
    return polynomials


def _far(np: Any, v: float, x: Any, scaled: bool) -> tuple[Any, Any]:
    """Return I and K of an order v ≥ 0 if v or x is large (A&S 9.7.7, 9.7.8), times exp(-x) if scaled."""
    r = np.hypot(v, x)
    square = (v / r) ** 2
    growing, falling, power = 0.0, 0.0, 1.0
    for k, polynomial in enumerate(_debye()):
        total = 0.0
        for c in reversed(polynomial):
            total = total * square + c
        growing, falling, power = growing + total * power, falling + (-1) ** k * total * power, power / r
    turn = v * np.log(x / (v + r))
    up = (v * (v / (r + x)) if scaled else r) + turn  # r - x without its cancellation
    down = -r - turn - (x if scaled else 0.0)
    half = np.exp(up / 2)  # the whole would overflow before the function does
    return half * (growing / np.sqrt(2 * math.pi * r)) * half, np.exp(down) * falling * np.sqrt(math.pi / (2 * r))


def _bessel_i(np: Any, scaled: bool, v: float, x: Any) -> Any:
    """Return I of x ≥ 0, times exp(-x) if scaled."""
    small = np.hypot(v, x) < LARGE
    near, far = np.where(small, x, 0.5), np.where(small | (x == math.inf), LARGE, x)
    growing, falling = _far(np, abs(v), np.where(x == 0, 1.0, far), scaled)
    large = growing if v >= 0 else growing + 2 / math.pi * _sine_of_pi(-v) * falling  # A&S 9.6.2
    at_zero = 0.0 if v > 0 else math.inf * (-1) ** (math.floor(v) % 2 + 1)
    large = np.where(x == 0, at_zero, np.where(x == math.inf, 0.0 if scaled else math.inf, large))
    if abs(v) >= LARGE:
        return large
    return np.where(small, _in_powers(np, v, near, 1.0) * (np.exp(-near) if scaled else 1.0), large)


def iv(np: Any, v: float, x: Any) -> Any:
    """Return I_v(x)."""
    return _for_every(np, "iv", v, x, partial(_bessel_i, np, False), mirrored=False)


def ive(np: Any, v: float, x: Any) -> Any:
    """Return I_v(x) exp(-|x|)."""
    return _for_every(np, "ive", v, x, partial(_bessel_i, np, True), mirrored=False)


# Waves ----------------------


def _hankel(np: Any, order: float, x: Any) -> Any:
    """Return J of a large x (A&S 9.2.5). The angle x - (v / 2 + 1 / 4) π is split in two to preserve the digits of
    x."""
    terms, inverse = bessel.hankels_terms(order), 1.0 / x
    square = inverse * inverse
    p = bessel.in_powers([(-1) ** k * term for k, term in enumerate(terms[::2])], square)
    q = bessel.in_powers([(-1) ** k * term for k, term in enumerate(terms[1::2])], square) * inverse
    turn = (order / 2 + 0.25) * math.pi
    cos, sin = np.cos(x), np.sin(x)
    cos, sin = cos * math.cos(turn) + sin * math.sin(turn), sin * math.cos(turn) - cos * math.sin(turn)
    return np.sqrt(2.0 / (math.pi * x)) * (p * cos - q * sin)


def _downwards(np: Any, f: float, steps: int, x: Any, most: float) -> tuple[Any, Any, Any]:
    """Return J of the orders f, f + 1 and f + steps, 0 ≤ f < 1, for 2 ≤ x ≤ most.

    The recurrence from an order so high that its value does not count (J. C. P. Miller), down to f; the scale is known
    from A&S 9.1.87, a sum over every second order."""
    top = int(max(most, f + steps) + 12 * most ** (1 / 3) + 20)
    above, here, kept, total = 0.0 * x, 0.0 * x + 1e-250, 0.0 * x, 0.0
    for i in range(top, 0, -1):
        if i == steps:
            kept = here
        if i % 2 == 0:
            k = i // 2
            total = total + (f + i) * math.exp(math.lgamma(f + k) - math.lgamma(k + 1)) * here
        above, here = here, 2 * (f + i) / x * here - above
        if i % 10 == 0:
            scale = np.where(abs(here) > HUGE, 1 / HUGE, 1.0)
            above, here, kept, total = above * scale, here * scale, kept * scale, total * scale
    size = (0.5 * x) ** f / (total + math.gamma(f + 1) * here)
    return here * size, above * size, (here if steps == 0 else kept) * size


def _wave(np: Any, v: float, x: Any) -> Any:
    """Return J of x ≥ 0."""
    whole = math.floor(v)
    f, most = v - whole, max(FAR, v)
    small, high = x < 2 * math.sqrt(abs(v) + 1), x > most
    near = np.where(small, x, 1.0)
    between = np.where(small | high, 2 * math.sqrt(abs(v) + 1), x)
    far = np.where(high, np.minimum(x, HUGE), most + 1.0)
    base, following, reached = _downwards(np, f, max(whole, 0), np.maximum(between, 2.0), most)
    base, following = (np.where(high, _hankel(np, f + i, far), each) for i, each in ((0, base), (1, following)))
    middle = np.where(high, far, between)
    if whole >= 0:
        above, here = following, base
        for i in range(1, whole + 1):
            here, above = above, 2 * (f + i) / middle * above - here
        large = np.where(high, here, reached)
    else:
        above, here = following, base
        for i in range(-whole):
            here, above = 2 * (f - i) / middle * here - above, here
        large = here
    return np.where(small, _in_powers(np, v, near, -1.0), np.where(x == math.inf, 0.0, large))


def jv(np: Any, v: float, x: Any) -> Any:
    """Return J_v(x)."""
    return _for_every(np, "jv", v, x, partial(_wave, np), mirrored=True)


def yn(np: Any, n: int, x: Any) -> Any:
    """Return Y_n(x) of an integer order by the upward recurrence, which is stable here."""

    def values(x: Any) -> Any:
        below, here = bessel.y0(np, x), bessel.y1(np, x)
        for i in range(1, abs(n)):
            following = np.where(here == -math.inf, here, 2 * i / x * here - below)
            below, here = here, following
        out = below if n == 0 else here
        return -out if n < 0 and n % 2 == 1 else out

    return entrywise(np, "yn", values, x)
