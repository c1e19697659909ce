"""Arrays of a film as their differences to earlier ones, in steps of the last digit. `static/deltas.js` reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import cells

Payload = dict[str, Any]


def delta_code(values: list[Payload], chains: list[list[int | None]]) -> list[Payload]:
    """Return values with each array as its difference to the array before it in a chain, where that is shorter.

    Each number of a few digits has an integer code that grows with it. From one round to the next most numbers change
    little, so the differences of their codes are short.
    """
    coded = [*values]
    known = {0}
    codes_of = _remember_codes()
    for chain in chains:
        last: int | None = None
        for place in chain:
            if place is None or place in known:
                last = place if place is not None else last
                continue
            known.add(place)
            change = None if last is None else _difference(values[last], values[place], codes_of)
            if change is not None:
                rest = {name: part for name, part in values[place].items() if name not in ("data", "cells")}
                coded[place] = rest | {"from": last, "delta": change}
            last = place if _entries(values[place]) else last
    return coded


def _entries(value: Payload) -> list[Any] | None:
    """Return the entries of an array that is drawn as a picture with a cell for each."""
    found = value["data"] or value.get("cells", {"data": None})["data"]
    return found if found and len(found) > cells.WRITTEN else None


Codes = Callable[[Payload], list[int | None]]


def _remember_codes() -> Codes:
    """Return a function with a memory that returns the codes of an array's entries. The arrays must stay alive."""
    known: dict[int, list[int | None]] = {}

    def codes_of(value: Payload) -> list[int | None]:
        if id(value) not in known:
            entries = _entries(value) or []
            digits = cells.DIGITS if len(entries) <= cells.MANY else cells.DIGITS_OF_MANY
            known[id(value)] = number_codes(entries, digits)
        return known[id(value)]

    return codes_of


def _difference(one: Payload, other: Payload, codes_of: Codes) -> list[int] | None:
    """Return the differences of the codes of two arrays; None if they have none."""
    a, b = _entries(one), _entries(other)
    if a is None or b is None or len(a) != len(b) or one["shape"] != other["shape"]:
        return None
    if (one["data"] is None) != (other["data"] is None):
        return None
    if "cells" in one and one["cells"].keys() != other["cells"].keys():
        return None
    changes: list[int] = []
    for x, y in zip(codes_of(one), codes_of(other), strict=True):
        if x is None or y is None:
            return None
        changes.append(y - x)
    return changes


def number_codes(entries: list[Any], digits: int) -> list[int | None]:
    """Return the codes of the entries of an array."""
    if not {*map(type, entries)} <= {int, float}:
        return [number_code(x, digits) for x in entries]
    x = np.array(entries, float)
    whole, exponents, is_certain = cells.mantissas(x, digits)
    low = 10 ** (digits - 1)
    codes = np.where(is_certain, (exponents + EXPONENTS) * 9 * low + abs(whole) - low + 1, 0)
    found: list[int | None] = (codes * np.sign(x)).astype(int).tolist()
    for place in np.flatnonzero(codes <= 0).tolist():
        found[place] = number_code(entries[place], digits)
    return found


def number_code(x: Any, digits: int) -> int | None:
    """Return an integer that grows with a number of a few significant digits; None for any other entry."""
    if not isinstance(x, (int, float)) or isinstance(x, bool):
        return None
    if x == 0:
        return 0
    mantissa, exponent = f"{abs(x):.{digits - 1}e}".split("e")
    low = 10 ** (digits - 1)
    code = (int(exponent) + EXPONENTS) * 9 * low + int(mantissa.replace(".", "")) - low + 1
    return None if code <= 0 else code if x > 0 else -code


EXPONENTS = 40
"""The smallest numbers with a code are of this many places after the point."""
