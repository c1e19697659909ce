"""Numbers as a reader wants them: every digit where there are at most six, else four, and a true minus sign.

`static/show.js` follows the same rules: a number reads the same in a sentence, in a formula and in the panel. Where
digits were left out, an equation that the number stands in is written with ≈.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Any

MINUS = "−"
_WORDS = {"nan": "nan", "inf": "inf", "-inf": MINUS + "inf"}
_SAME = 1e-12
"""Numbers this close, relative to their size, differ by what floating point does and not by what was left out."""


def scientific(x: Any) -> tuple[str, int] | None:
    """Mantissa and power of ten of a number too large or too small to be spelled out, else None."""
    if not isinstance(x, (int, float)) or isinstance(x, bool) or x == 0 or not math.isfinite(x):
        return None
    if 1e-4 <= abs(x) < 1e5 or (x == int(x) and abs(x) < 1e6):
        return None
    rounded = _rounded(x)
    return f"{rounded.scaleb(-rounded.adjusted()):f}".replace("-", MINUS), rounded.adjusted()


def number(x: Any) -> str:
    """One entry of a trace's value (a number, a word for what is not finite, or a complex pair) as text."""
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
    return f"{_rounded(x):f}".replace("-", MINUS)


def is_whole(x: Any) -> bool:
    """Whether a number as written is the number itself: no digit was left out."""
    if isinstance(x, (list, tuple)):
        return all(map(is_whole, x))
    if isinstance(x, (bool, str)) or not math.isfinite(x) or (x == int(x) and abs(x) < 1e6):
        return True
    return _is_same(f"{x:.6g}", x)


def complex_number(real: str, imaginary: str) -> str:
    """A complex number from the texts of its two parts."""
    sign, size = ("−", imaginary[1:]) if imaginary.startswith(MINUS) else ("+", imaginary)
    return f"{real} {sign} {size}i"


def _rounded(x: float) -> Decimal:
    """A number to six digits where these are all it has, else to four."""
    six = f"{x:.6g}"
    return Decimal(six if _is_same(six, x) else f"{x:.4g}").normalize()


def _is_same(rounded: str, x: float) -> bool:
    return abs(float(rounded) - x) <= _SAME * abs(x)
