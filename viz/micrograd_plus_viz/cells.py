"""Downsampled values for the page: all entries up to a limit, and above it the largest entry of each block.

A cell is never an average, because positive and negative entries would cancel. Short values keep all digits, since the
page prints them; values drawn as pictures keep four.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .trace_input import Trace

WRITTEN = 16
"""Arrays with at most this many entries are printed as tables of numbers and keep all digits."""
DIGITS, DIGITS_OF_MANY = 4, 3
MOST_PRINTED = 6
"""A number with at most so many digits is printed as it is."""
MANY = 256
CELLS = 1024
BUDGET = 60_000
"""Maximum number of cells on a page. Above it, each cell covers a larger block."""
POWERS = np.array([float(f"1e{k}") for k in range(23)])
"""The powers of ten that floats have exactly."""
WORTH_AN_ARRAY = 48
"""From how many numbers on NumPy rounds them faster than one after another."""
MOST_CERTAIN = 12
"""How many digits an integer has at most whose rounding is certain."""
COARSER = (400, 256, 144, 100, 64)


def deduplicate(values: list[Trace], budget: int = BUDGET) -> tuple[list[Trace], list[int]]:
    """Return the distinct values in the form the page uses, and the new index of each old value."""
    cell_counts = [len(cells["data"]) for value in values if value["data"] is None and (cells := _cells(value))]
    most = _cells_per_value(cell_counts, sum(len(value["data"]) for value in values if value["data"]), budget)
    distinct: list[Trace] = []
    places: dict[str, int] = {}
    new = []
    for value in values:
        reduced = page_value(value, most)
        text = repr(reduced)
        if text not in places:
            places[text] = len(distinct)
            distinct.append(reduced)
        new.append(places[text])
    return distinct, new


def page_value(value: Trace, most: int = CELLS) -> Trace:
    """Return a value as the page holds it: its shape, and its entries or the largest entry of each block."""
    data, corner = value["data"], value.get("corner")
    reduced: Trace = {"shape": value["shape"], "dtype": value["dtype"], "data": None}
    if "beside" in value:
        reduced["beside"] = value["beside"]
    if data is not None:
        reduced["data"] = data if len(data) <= WRITTEN else round_entries(data)
        if len(data) == 1:
            return reduced
    elif cells := _cells(value):
        reduced["cells"] = coarsen(cells, most)
        reduced["corner"] = corner and corner | {"data": round_entries(corner["data"])}
    if statistics := value.get("statistics"):
        reduced["statistics"] = {name: round_to(x, 6) for name, x in statistics.items()}
    reduced["odd"] = count_not_finite(value)
    return {name: part for name, part in reduced.items() if part is not None or name == "data"}


def count_not_finite(value: Trace) -> Trace | None:
    """Return the numbers of nan and infinite entries, or None if all are finite. Of a value that does not count them,
    only the entries that it has are counted."""
    if counted := value.get("odd"):
        return counted
    nans, infinities = value.get("nan"), value.get("inf")
    if nans is None or infinities is None:
        data = value["data"] or (_cells(value) or {"data": []})["data"]
        suspects = [entry if isinstance(entry, list) else [entry] for entry in data if isinstance(entry, (str, list))]
        sizes = [math.hypot(*map(float, parts)) for parts in suspects]
        nans, infinities = sum(map(math.isnan, sizes)), sum(map(math.isinf, sizes))
    return {"nan": nans, "inf": infinities} if nans or infinities else None


def coarsen(cells: Trace, most: int) -> Trace:
    """Return fewer cells, each with the largest entry of the cells it replaces."""
    rows, columns = cells["shape"]
    data = cells["data"]
    reduced = {k: v for k, v in cells.items() if k != "corner"}
    if rows * columns > most and cells.get("keeps", "largest") == "largest":
        side = max(1, math.isqrt(most))
        high, wide = (min(rows, side), min(columns, side))
        high, wide = min(rows, most // wide), min(columns, most // high)
        data = [
            max((data[r * columns + c] for r in _part(i, high, rows) for c in _part(j, wide, columns)), key=size)
            for i in range(high)
            for j in range(wide)
        ]
        reduced["shape"] = [high, wide]
    return reduced | {"data": round_entries(data)}


def size(entry: Any) -> float:
    """Return the absolute value of an entry; infinity for nan and infinite entries."""
    if isinstance(entry, str):
        return math.inf
    if isinstance(entry, list):
        return math.hypot(*map(size, entry))
    return abs(entry)


def round_entries(data: Iterable[Any]) -> list[Any]:
    """Round entries to the digits that a picture needs."""
    entries = list(data)
    digits = DIGITS if len(entries) <= MANY else DIGITS_OF_MANY
    if len(entries) >= WORTH_AN_ARRAY and {*map(type, entries)} == {float}:
        return round_floats(entries, digits)
    return [round_to(x, digits) for x in entries]


def _cells(value: Trace) -> Trace | None:
    """Return the thumbnail of a large array; before version 3 of the format its cells are averages."""
    thumbnail = value.get("thumbnail")
    return thumbnail and {"keeps": "mean"} | thumbnail


def _cells_per_value(sizes: list[int], spelled: int, budget: int) -> int:
    """Return how many cells a value may have, so that the page stays within its budget."""
    for most in (CELLS, *COARSER):
        if spelled + sum(min(cells, most) for cells in sizes) <= budget:
            return most
    return COARSER[-1]


def _part(i: int, parts: int, length: int) -> range:
    return range(i * length // parts, (i + 1) * length // parts)


def mantissas(x: Any, digits: int) -> tuple[Any, Any, Any]:
    """Return floats as integers of `digits` digits: the integers, their exponents, and where both are certain.

    They are not certain of 0, of very large or small numbers, and where rounding decides between two integers.
    """
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log10(abs(x)))
        places = digits - 1 - exponents
        is_near = abs(places) < len(POWERS)
        places: Any = np.where(is_near, places, 0).astype(int)
        exact = np.where(places < 0, x / POWERS[abs(places)], x * POWERS[abs(places)])
        whole = np.rint(exact)
        is_certain = is_near & (abs(abs(exact - whole) - 0.5) > 1e-6)
    return whole, exponents, is_certain & (abs(whole) >= POWERS[digits - 1]) & (abs(whole) < POWERS[digits])


def round_floats(entries: list[float], digits: int) -> list[Any]:
    """Round numbers as `round_to` does, a hundred at once."""
    x = np.array(entries)
    whole, exponents, is_certain = mantissas(x, digits)
    ends_with_five = np.any([abs(whole) % 10**k == 5 * 10 ** (k - 1) for k in range(1, digits + 1)], axis=0)
    places: Any = np.where(is_certain, digits - 1 - exponents, 0).astype(int)
    near = np.where(places < 0, whole * POWERS[abs(places)], whole / POWERS[abs(places)])
    rounded: list[Any] = [int(y) if y == int(y) and abs(y) < 1e6 else y for y in near.tolist()]
    for place in np.flatnonzero(~is_certain).tolist():
        rounded[place] = round_to(entries[place], digits)
    fives = np.flatnonzero(is_certain & ends_with_five & (near != x)).tolist()
    more = max(digits + 1, MOST_PRINTED + 1)
    again = [entries[place] for place in fives]
    if len(fives) >= WORTH_AN_ARRAY and more < MOST_CERTAIN:
        again = round_floats(again, more)
    else:
        again = [round_to(y, more) for y in again]
    for place, y in zip(fives, again, strict=True):
        rounded[place] = y
    return rounded


def round_to(x: Any, digits: int) -> Any:
    """Round an entry to `digits` digits, or to more where the page would round it to another number than this."""
    if isinstance(x, list):
        return [round_to(part, digits) for part in x]
    if isinstance(x, (bool, str, int)) or x is None:
        return x
    text = f"{x:.{digits}g}"
    near = float(text)
    # The page rounds again, to fewer digits: from 10.0350 it would make 10.04 of 10.03498. But it prints all of six.
    if near != x and text.partition("e")[0].rstrip("0").endswith("5"):
        return round_to(x, max(digits + 1, MOST_PRINTED + 1))
    return int(near) if near == int(near) and abs(near) < 1e6 else near
