"""Signs between printed numbers, by the rules of `static/panel.js`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from ..digits import MINUS, has_all_digits, number
from ..trace_input import Trace


def is_scalar(value: Trace) -> bool:
    """Return whether a value is one number."""
    return value["data"] is not None and len(value["data"]) == 1


def is_complex(value: Trace | None) -> bool:
    """Return whether a value has complex numbers."""
    return bool(value) and value["dtype"].startswith("complex")


def is_written(value: Trace) -> bool:
    """Return whether all numbers of a value are printed."""
    data, long = value["data"], value["shape"]
    return data is not None and (len(data) <= 12 or (len(data) <= 16 and len(long) == 2 and long[1] <= 4))


def equality_sign(*values: Trace | None) -> str:
    """Return `=`, or `≈` if a printed number of some values is rounded."""
    written = [value for value in values if value and value["data"] is not None
               and (is_scalar(value) or is_written(value))]  # fmt: skip
    return "=" if all(has_all_digits(x) for value in written for x in value["data"]) else "≈"


def result_sign(does: Callable[[Fraction, Fraction], Fraction], *values: Trace | None) -> str:
    """Return the sign between a calculation and its result: `=` also if the rounded numbers are equal.

    `does` is the operation; the last of `values` is the result.
    """
    printed = [printed_number(value) for value in values if value is not None]
    numbers = [x for x in printed if x is not None]
    if len(numbers) == len(values) and reduce(does, numbers[:-1]) == numbers[-1]:
        return "="
    return equality_sign(*values)


def printed_number(value: Trace) -> Fraction | None:
    """Return the real number as printed, or None for anything else."""
    try:
        return Fraction(number(value["data"][0]).replace(MINUS, "-")) if is_scalar(value) else None
    except ValueError:
        return None
