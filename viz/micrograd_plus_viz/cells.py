"""Values as a page holds them: every entry up to a limit, beyond it the entry of largest size in each block.

A cell never stands for an average, in which signs would cancel. What is short is kept to the last digit, since it is
written out; what is drawn as a picture to four.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .source import Trace

WRITTEN = 16
"""Arrays of at most so many entries are tables of numbers, and keep every digit."""
DIGITS, DIGITS_OF_MANY = 4, 3
MANY = 256
CELLS = 1024
BUDGET = 60_000
"""How many cells a page may hold in all before its blocks grow larger."""
COARSER = (400, 256, 144, 100, 64)


def packed(values: list[Trace], budget: int = BUDGET) -> tuple[list[Trace], list[int]]:
    """The values that differ, as a page holds them, and for every old place its new one."""
    most = _most([len(cells["data"]) for value in values if value["data"] is None and (cells := _cells(value))],
                 sum(len(value["data"]) for value in values if value["data"]), budget)  # fmt: skip
    kept: list[Trace] = []
    places: dict[str, int] = {}
    new = []
    for value in values:
        shown = one(value, most)
        text = repr(shown)
        if text not in places:
            places[text] = len(kept)
            kept.append(shown)
        new.append(places[text])
    return kept, new


def one(value: Trace, most: int = CELLS) -> Trace:
    """One value: its shape, its entries or its cells, and how large a block each cell stands for."""
    data, corner = value["data"], value.get("corner")
    shown: Trace = {"shape": value["shape"], "dtype": value["dtype"], "data": None}
    if data is not None:
        shown["data"] = data if len(data) <= WRITTEN else rounded(data)
        if len(data) == 1:
            return shown
    elif cells := _cells(value):
        shown["cells"] = coarser(cells, most)
        shown["corner"] = corner and corner | {"data": rounded(corner["data"])}
    if statistics := value.get("statistics"):
        shown["statistics"] = {name: _rounded(x, 6) for name, x in statistics.items()}
    shown["odd"] = odd(value)
    return {name: part for name, part in shown.items() if part is not None or name == "data"}


def odd(value: Trace) -> Trace | None:
    """How many entries are nan and how many infinite, where there are any."""
    if counted := value.get("odd"):
        return counted
    kept = value["data"] or (_cells(value) or {"data": []})["data"]
    entries = [part for entry in kept for part in (entry if isinstance(entry, list) else [entry])]
    nans, infinities = entries.count("nan"), sum(x in ("inf", "-inf") for x in entries if isinstance(x, str))
    return {"nan": nans, "inf": infinities} if nans or infinities else None


def coarser(cells: Trace, most: int) -> Trace:
    """Fewer cells, each with the entry of largest size among those that it takes in."""
    rows, columns = cells["shape"]
    data = cells["data"]
    shown = {k: v for k, v in cells.items() if k != "corner"}
    if rows * columns > most and cells.get("keeps", "largest") == "largest":
        side = max(1, math.isqrt(most))
        high, wide = (min(rows, side), min(columns, side))
        high, wide = min(rows, most // wide), min(columns, most // high)
        data = [
            max((data[r * columns + c] for r in _part(i, high, rows) for c in _part(j, wide, columns)), key=size)
            for i in range(high)
            for j in range(wide)
        ]
        shown["shape"] = [high, wide]
    return shown | {"data": rounded(data)}


def size(entry: Any) -> float:
    """How large an entry is; what is not finite is larger than any number, nan largest."""
    if isinstance(entry, str):
        return math.inf
    if isinstance(entry, list):
        return math.hypot(*map(size, entry))
    return abs(entry)


def rounded(data: Iterable[Any]) -> list[Any]:
    """Entries to the digits that a picture tells."""
    entries = list(data)
    digits = DIGITS if len(entries) <= MANY else DIGITS_OF_MANY
    return [_rounded(x, digits) for x in entries]


def _cells(value: Trace) -> Trace | None:
    """What the record keeps of a large array: since version 3 the largest in each block, before it means."""
    thumbnail = value.get("thumbnail")
    return thumbnail and {"keeps": "mean"} | thumbnail


def _most(sizes: list[int], spelled: int, budget: int) -> int:
    """How many cells a value may have so that the page keeps within its budget."""
    for most in (CELLS, *COARSER):
        if spelled + sum(min(cells, most) for cells in sizes) <= budget:
            return most
    return COARSER[-1]


def _part(i: int, parts: int, length: int) -> range:
    return range(i * length // parts, (i + 1) * length // parts)


def _rounded(x: Any, digits: int) -> Any:
    if isinstance(x, list):
        return [_rounded(part, digits) for part in x]
    if isinstance(x, (bool, str, int)) or x is None:
        return x
    near = float(f"{x:.{digits}g}")
    return int(near) if near == int(near) and abs(near) < 1e6 else near
