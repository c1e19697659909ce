"""Bessel functions of order 0 and 1, for arrays.

Near 0 each is the mean of a wave over all directions, which a sum over evenly spaced ones gives exactly; far out an
asymptotic series, of which the smallest term is below what float64 resolves. The formulas are from M. Abramowitz
and I. Stegun, "Handbook of mathematical functions", 1964 (A&S). `np` is NumPy or CuPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .gammas import entrywise

__all__ = ["i0", "i0e", "i1", "i1e", "j0", "j1", "y0", "y1"]

FAR = 25.0
"""From here on the asymptotic series."""
OVERFLOW = 1e4
"""Far beyond the x from which on I₀(x) and I₁(x) are infinite in float64, 714."""
DIRECTIONS, TERMS = 128, 30
EULER_GAMMA = 0.57721566490153286061


def _of_one(np: Any, name: str, values: Callable[[Any], Any], x: Any) -> Any:
    """Apply a function of one array entry by entry."""
    return entrywise(np, name, values, x)


def _over_directions(np: Any, x: Any, wave: Any) -> Any:
    """Return the mean of wave(x, angle) over all directions."""
    total = 0.0
    for k in range(DIRECTIONS):
        total = total + wave(x, 2 * math.pi * (k + 0.5) / DIRECTIONS)
    return total / DIRECTIONS


def hankels_terms(order: float) -> list[float]:
    """aₖ = (4n² - 1²)(4n² - 3²) … (4n² - (2k - 1)²) / (k! 8ᵏ), of Hankel's expansions (A&S 9.2.5)."""
    terms = [1.0]
    for k in range(1, TERMS):
        terms.append(terms[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return terms


def in_powers(terms: list[float], z: Any) -> Any:
    """Evaluate a polynomial, with coefficients from the constant upwards."""
    total = 0.0 * z
    for term in reversed(terms):
        total = total * z + term
    return total


# Modified functions: means of exponentials ----


def _bessel_i(np: Any, x: Any, order: int, scaled: bool) -> Any:
    """Return I₀ or I₁ of x ≥ 0, times exp(-x) if scaled (A&S 9.6.16, 9.6.19 and 9.7.1)."""
    near = np.minimum(x, FAR)

    def wave(x: Any, angle: float) -> Any:
        c = math.cos(angle)
        return np.cosh(x * c) if order == 0 else c * np.sinh(x * c)

    small = _over_directions(np, near, wave)
    far = np.maximum(x, FAR) if scaled else np.clip(x, FAR, OVERFLOW)
    terms = [term * (-1) ** k for k, term in enumerate(hankels_terms(order))]
    large = in_powers(terms, 1.0 / far) / (math.sqrt(2 * math.pi) * np.sqrt(far))
    if scaled:
        return np.where(x < FAR, small * np.exp(-near), np.where(x == math.inf, 0.0, large))
    half = np.exp(far / 2)  # the whole would overflow before the function does
    return np.where(x < FAR, small, half * large * half)


def i0(np: Any, x: Any) -> Any:
    """Return I₀(x)."""
    return _of_one(np, "i0", lambda x: _bessel_i(np, abs(x), 0, False), x)


def i0e(np: Any, x: Any) -> Any:
    """Return I₀(x) exp(-|x|)."""
    return _of_one(np, "i0e", lambda x: _bessel_i(np, abs(x), 0, True), x)


def i1(np: Any, x: Any) -> Any:
    """Return I₁(x)."""
    return _of_one(np, "i1", lambda x: np.copysign(_bessel_i(np, abs(x), 1, False), x), x)


def i1e(np: Any, x: Any) -> Any:
    """Return I₁(x) exp(-|x|)."""
    return _of_one(np, "i1e", lambda x: np.copysign(_bessel_i(np, abs(x), 1, True), x), x)


# Waves ----------------------


def _hankel(np: Any, x: Any, order: int) -> tuple[Any, Any]:
    """Return J and Y of a large x (A&S 9.2.5, 9.2.6). The angle χ = x - (n / 2 + 1 / 4) π is split in two to preserve
    the digits of x."""
    terms, inverse = hankels_terms(order), 1.0 / x
    square = inverse * inverse
    p = in_powers([(-1) ** k * term for k, term in enumerate(terms[::2])], square)
    q = in_powers([(-1) ** k * term for k, term in enumerate(terms[1::2])], square) * inverse
    cos, sin = np.cos(x), np.sin(x)
    cos, sin = ((cos + sin), (sin - cos)) if order == 0 else ((sin - cos), (-sin - cos))
    size = np.sqrt(1.0 / (math.pi * x))
    return size * (p * cos - q * sin), size * (p * sin + q * cos)


def _first_kind(np: Any, x: Any, order: int) -> Any:
    """Return J₀ or J₁ of x ≥ 0 (A&S 9.1.18, 9.1.21)."""

    def wave(x: Any, angle: float) -> Any:
        s = math.sin(angle)
        return np.cos(x * s) if order == 0 else s * np.sin(x * s)

    far = _hankel(np, np.maximum(np.minimum(x, 1e300), FAR), order)[0]
    return np.where(x < FAR, _over_directions(np, np.minimum(x, FAR), wave), np.where(x == math.inf, 0.0, far))


def j0(np: Any, x: Any) -> Any:
    """Return J₀(x)."""
    return _of_one(np, "j0", lambda x: _first_kind(np, abs(x), 0), x)


def j1(np: Any, x: Any) -> Any:
    """Return J₁(x)."""
    return _of_one(np, "j1", lambda x: np.sign(x) * _first_kind(np, abs(x), 1), x)


def _neumann(order: int, angle: float) -> float:
    """Return the weight of the wave of a direction in Neumann's series of Y (A&S 9.1.88)."""
    if order == 0:
        return -4 / math.pi * sum((-1) ** k * math.cos(2 * k * angle) / k for k in range(1, TERMS))
    return -2 / math.pi * sum(
        (-1) ** k * (2 * k + 1) * math.sin((2 * k + 1) * angle) / (k * (k + 1)) for k in range(1, TERMS)
    )


def _second_kind(np: Any, x: Any, order: int) -> Any:
    """Return Y₀ or Y₁; nan below 0, and minus infinity there."""
    near = np.where((x > 0) & (x < FAR), x, 1.0)

    def wave(x: Any, angle: float) -> Any:
        s, weight = math.sin(angle), _neumann(order, angle)
        return weight * (np.cos(x * s) if order == 0 else np.sin(x * s))

    logs = 2 / math.pi * (np.log(near / 2) + EULER_GAMMA - order)
    small = logs * _first_kind(np, near, order) + _over_directions(np, near, wave)
    small = small - 2 / (math.pi * near) * _first_kind(np, near, 0) * order
    far = _hankel(np, np.maximum(np.minimum(x, 1e300), FAR), order)[1]
    out = np.where(x < FAR, small, np.where(x == math.inf, 0.0, far))
    return np.where(x > 0, out, np.where(x == 0, -math.inf, math.nan))


def y0(np: Any, x: Any) -> Any:
    """Return Y₀(x)."""
    return _of_one(np, "y0", lambda x: _second_kind(np, x, 0), x)


def y1(np: Any, x: Any) -> Any:
    """Return Y₁(x)."""
    return _of_one(np, "y1", lambda x: _second_kind(np, x, 1), x)
