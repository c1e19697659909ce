"""Namespace of Python numbers: functions of `math`, and a few under names of NumPy."""

from __future__ import annotations

import builtins
import math
from math import (
    acos as arccos,
    acosh as arccosh,
    asin as arcsin,
    asinh as arcsinh,
    atan as arctan,
    atan2 as arctan2,
    atanh as arctanh,
    cbrt,
    ceil,
    copysign,
    cos,
    cosh,
    erf,
    erfc,
    expm1,
    floor,
    fmod,
    hypot,
    log1p,
    log2,
    log10,
    pi,
    sin,
    sinh,
    tan,
    tanh,
    trunc,
)

__all__ = [
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "ceil", "clip",
    "conj", "copysign", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "fmod", "hypot", "isnan", "log", "log1p",
    "log2", "log10", "logaddexp", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "pi", "power",
    "real", "remainder", "round", "sign", "sin", "sinh", "sqrt", "square", "stop_gradient", "tan", "tanh", "trunc",
    "where",
]  # fmt: skip

isnan = math.isnan
round = builtins.round


def log(x: float) -> float:
    """Return the natural logarithm; as for arrays, -inf at 0 and nan below."""
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def exp(x: float) -> float:
    """Return the exponential; as for arrays, inf if it is too large for a float."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def sqrt(x: float) -> float:
    """Return the square root; as for arrays, nan below 0."""
    return math.nan if x < 0 else math.sqrt(x)


def power(base: float, exponent: float) -> float:
    """Return `base` to the `exponent`.

    As for arrays, it is inf if it is too large or a negative power of 0, and nan if it would be complex.
    """
    try:
        result = base**exponent
    except (ZeroDivisionError, OverflowError):
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    return math.nan if type(result) is complex else result


def where(condition: bool, a: float, b: float) -> float:
    """Return `a` if the condition holds, otherwise `b`."""
    return a if condition else b


def maximum(a: float, b: float) -> float:
    """Return the larger of two numbers."""
    return builtins.max(a, b)  # `max` becomes a function of this namespace


def minimum(a: float, b: float) -> float:
    """Return the smaller of two numbers."""
    return builtins.min(a, b)


def clip(x: float, min: float | None = None, max: float | None = None) -> float:
    """Return the nearest number between `min` and `max`."""
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


def sign(x: float) -> float:
    """Return -1, 0 or 1."""
    return (x > 0) - (x < 0)


def absolute(x: float) -> float:
    """Return the absolute value."""
    return abs(x)


def square(x: float) -> float:
    """Return the square."""
    return x * x


def logaddexp(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b)) without overflow."""
    high, low = (a, b) if a >= b else (b, a)
    return high + math.log1p(math.exp(low - high)) if high > -math.inf else high


def remainder(a: float, b: float) -> float:
    """Return the remainder of a division, with the sign of `b`."""
    return a % b


def conj(x: float) -> float:
    """Return the number itself: a real number is its own conjugate."""
    return x


def real(x: float) -> float:
    """Return the number itself: a real number is its own real part."""
    return x


def stop_gradient(x: float) -> float:
    """Return the number itself; only a walk sees a difference."""
    return x


def logical_and(a: bool, b: bool) -> bool:
    """Return True if both are true."""
    return a and b


def logical_or(a: bool, b: bool) -> bool:
    """Return True if either is true."""
    return a or b


def logical_not(a: bool) -> bool:
    """Return the opposite."""
    return not a
