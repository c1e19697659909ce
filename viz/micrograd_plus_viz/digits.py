"""Number formatting: all digits if there are at most six, otherwise four, with a true minus sign.

`static/show.js` follows the same rules, so a number reads the same in a sentence, a formula and the panel. An equation
uses ≈ if one of its numbers was rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

MINUS = "−"
_WORDS = {"nan": "nan", "inf": "inf", "-inf": MINUS + "inf"}
_SAME = 1e-12
"""Relative difference that is due to floating-point error, not to rounding for display."""


def scientific(x: Any) -> tuple[str, int] | None:
    """Return mantissa and power of ten of a very large or small number, otherwise None."""
    if not isinstance(x, (int, float)) or isinstance(x, bool) or x == 0 or not math.isfinite(x):
        return None
    if 1e-4 <= abs(x) < 1e5 or (x == int(x) and abs(x) < 1e6):
        return None
    rounded = _round(x)
    return f"{rounded.scaleb(-rounded.adjusted()):f}".replace("-", MINUS), rounded.adjusted()


def number(x: Any) -> str:
    """Return one entry of a value as text. An entry is a number, a word such as "nan", or a complex pair."""
    if isinstance(x, bool):
        return str(x)
    if isinstance(x, str):
        return _WORDS.get(x, x)
    if isinstance(x, (list, tuple)):
        return complex_number(number(x[0]), number(x[1]))
    return _number(x)


@lru_cache(maxsize=4000)
def _number(x: float) -> str:
    if not math.isfinite(x):
        return _WORDS[str(float(x))]
    if parts := scientific(x):
        return f"{parts[0]}e{str(parts[1]).replace('-', MINUS)}"
    if x == int(x) and abs(x) < 1e6:
        return str(int(x)).replace("-", MINUS)
    return f"{_round(x):f}".replace("-", MINUS)


def has_all_digits(x: Any) -> bool:
    """Return whether the printed number is exact."""
    if isinstance(x, (list, tuple)):
        return all(map(has_all_digits, x))
    if isinstance(x, (bool, str)) or not math.isfinite(x) or (x == int(x) and abs(x) < 1e6):
        return True
    return _is_same(f"{x:.6g}", x)


def is_exact(value: dict[str, Any]) -> bool:
    """Return whether every printed entry of a value is exact.

    A value that the trace rounded to five digits counts as exact only if its entries have fewer.
    """
    return all(has_all_digits(x) and not (value.get("shortened") and _has_five(x)) for x in value["data"] or [])


def remember_exact() -> Callable[[dict[str, Any]], bool]:
    """Return `is_exact` with a memory: the steps of a walk may read the same long value. The values must stay alive."""
    known: dict[int, bool] = {}

    def is_known_exact(value: dict[str, Any]) -> bool:
        if id(value) not in known:
            known[id(value)] = is_exact(value)
        return known[id(value)]

    return is_known_exact


def _has_five(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_has_five, x))
    return isinstance(x, float) and math.isfinite(x) and not _is_same(f"{x:.4g}", x)


def complex_number(real: str, imaginary: str) -> str:
    """Return the text of a complex number, given the texts of its parts."""
    sign, size = ("−", imaginary[1:]) if imaginary.startswith(MINUS) else ("+", imaginary)
    return f"{real} {sign} {size}i"


def _round(x: float) -> Decimal:
    """Round a number to six digits if that is exact, otherwise to four."""
    six = f"{x:.6g}"
    return Decimal(six if _is_same(six, x) else f"{x:.4g}").normalize()


def _is_same(rounded: str, x: float) -> bool:
    return abs(float(rounded) - x) <= _SAME * abs(x)
