"""Values of formulas: their MathML is computed with numbers, so that formulas that mean the same are found.

Only formulas are computed, element by element; no text is run as code.
"""

from __future__ import annotations

import math
import operator
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

APPLY, TRANSPOSED = "\u2061", "⊤"
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "−": operator.sub, "-": operator.sub, "·": operator.mul, "/": operator.truediv,
    "@": operator.matmul, ">": operator.gt, "<": operator.lt, "≥": operator.ge, "≤": operator.le, "=": operator.eq,
    "≠": operator.ne,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsin", "arccos", "sign", "abs",
        "floor", "ceil", "maximum", "minimum",
    )},
    "log1p": np.log1p, "expm1": np.expm1, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "σ": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0.0),
}  # fmt: skip
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "matmul": operator.matmul, "negative": operator.neg, "absolute": np.abs,
}  # fmt: skip
"""Operations of the engine that are operators."""
CONSTANTS = {"π": math.pi, "e": math.e}


class UnknownFormulaError(ValueError):
    """Error for a formula with parts that cannot be computed here."""


def value_of(formula: ET.Element, values: Mapping[str, Any]) -> Any:
    """Return the value of the right side of `contribution = …`, with a value for each name.

    Raises UnknownFormulaError if the formula has anything but numbers, names, operators and well-known functions, or
    if the shapes of the values do not fit.
    """
    row = formula[0] if len(formula) == 1 and formula[0].tag == "mrow" else formula
    if len(row) != 3 or row[1].text != "=":
        raise UnknownFormulaError("the formula is no equation")
    try:
        with np.errstate(all="ignore"):
            return np.asarray(_value(row[2], values), dtype=float)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise UnknownFormulaError(str(error)) from error


def _value(part: ET.Element, values: Mapping[str, Any]) -> Any:
    """Return the value of a part of a formula, or the function that it stands for."""
    inner = partial(_value, values=values)
    if part.tag in ("mi", "mn"):
        return _token(part, values)
    if part.tag == "mfrac":
        return inner(part[0]) / inner(part[1])
    if part.tag == "msqrt":
        return np.sqrt(_row(list(part), values))
    if part.tag == "msup":
        base = inner(part[0])
        return np.swapaxes(base, -1, -2) if _text(part[1]) == TRANSPOSED else base ** inner(part[1])
    if part.tag in ("msub", "munder") and _text(part[0]) == "∑":
        return _sum_along(_text(part[1]))
    if part.tag == "mo" and part.text == "∑":
        return np.sum
    if part.tag in ("mrow", "math"):
        return _row(list(part), values)
    raise UnknownFormulaError(f"<{part.tag}> cannot be computed")


def _token(part: ET.Element, values: Mapping[str, Any]) -> Any:
    name, text = part.get("data-name"), (part.text or "").strip()
    if name is not None and name in values:
        return values[name]
    if part.tag == "mn":
        return float(text.replace("−", "-"))
    if name is None and (known := CONSTANTS.get(text, FUNCTIONS.get(text))) is not None:
        return known
    raise UnknownFormulaError(f"{text!r} has no value")


def _row(parts: list[ET.Element], values: Mapping[str, Any]) -> Any:
    """Return the value of a row: brackets, a sign, a function with its argument, or operands with signs between."""
    first = parts[0].text if parts and parts[0].tag == "mo" else None
    if first in ("(", "["):
        inside = _row(parts[1:-1], values)
        return inside * 1.0 if first == "[" else inside
    if first == "|":
        return np.abs(_row(parts[1:-1], values))
    if first in ("−", "-"):
        return -_row(parts[1:], values)
    if len(parts) == 1:
        return _value(parts[0], values)
    if len(parts) == 3 and parts[1].text == APPLY:
        return _value(parts[0], values)(_value(parts[2], values))
    result = _value(parts[0], values)
    for sign, other in zip(parts[1::2], parts[2::2], strict=True):
        if sign.text not in SIGNS:
            raise UnknownFormulaError(f"the sign {sign.text!r} cannot be computed")
        result = SIGNS[sign.text](result, _value(other, values))
    return result


def _sum_along(text: str) -> Callable[[Any], Any]:
    """Return the sum over the axes that a text names: `axis 0`, `axes 0, 1`."""
    axes = tuple(int(number) for number in re.findall(r"-?\d+", text.replace("−", "-")))
    if not axes or not text.strip().startswith("ax"):
        raise UnknownFormulaError(f"a sum over {text!r} cannot be computed")
    return partial(np.sum, axis=axes)


def _text(part: ET.Element) -> str:
    return "".join(part.itertext()).replace("\xa0", " ")
