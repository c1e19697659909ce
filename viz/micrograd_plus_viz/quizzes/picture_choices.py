"""Multiple-choice heat maps. Cells have only sign and shade, so no number can be read from them."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from ..trace_input import Trace

FEWEST, MOST = 6, 1024
"""Minimum and maximum number of cells in a picture."""
LEVELS = (0.1, 0.35, 0.7)
"""Boundaries between shades relative to the largest size, as in `show.js`."""
ODD = 9
BROADEST = 32
HOW_MANY = 4

Grid = dict[str, Any]


def picture_choices(
    right: Trace, near: list[tuple[Trace, str]], others: list[Trace], rng: Random
) -> tuple[int, list[Grid], dict[int, str]] | None:
    """Return four pictures in random order, the index of the right one, and hints, or None if too few differ."""
    grid = grid_of(right)
    if grid is None or len(set(grid["levels"])) < 2:
        return None
    wrong: list[tuple[Grid, str]] = []

    def offer(other: Grid | None, text: str) -> None:
        if other is not None and other != grid and all(other != earlier for earlier, _ in wrong):
            wrong.append((other, text))

    for value, text in near:
        if value["shape"] == right["shape"]:
            offer(grid_of(value), text)
    wrong = wrong[:2]
    offer(_with(grid, [-x if x != ODD else x for x in grid["levels"]]), "The sizes are right. Look at the signs.")
    offer(_transpose(grid), "The axes are swapped.")
    for value in others:
        offer(grid_of(value), "That is the value of another node.")
    offer(_with(grid, grid["levels"][::-1]), "Look at the positions.")
    offer(_with(grid, rng.sample(grid["levels"], len(grid["levels"]))), "Look at the positions.")
    offer(_with(grid, [abs(x) for x in grid["levels"]]), "The sizes are right. Look at the signs.")
    if len(wrong) < HOW_MANY - 1:
        return None
    shown = [(grid, ""), *wrong[: HOW_MANY - 1]]
    rng.shuffle(shown)
    place = next(k for k, (each, _) in enumerate(shown) if each is grid)
    return place, [each for each, _ in shown], {k: text for k, (_, text) in enumerate(shown) if k != place}


def grid_of(value: Trace) -> Grid | None:
    """Return a value as rows and columns of shades, or None if it has too few or too many cells."""
    if value["data"] is not None:
        data, (rows, columns) = value["data"], _grid_shape(value["shape"])
    elif value.get("cells"):
        data, (rows, columns) = value["cells"]["data"], value["cells"]["shape"]
    else:
        return None
    if not FEWEST <= len(data) <= MOST:
        return None
    sizes = [_size(x) for x in data]
    largest = max((abs(x) for x in sizes if math.isfinite(x)), default=0.0)
    return {"rows": rows, "columns": columns, "levels": [_level(x, largest) for x in sizes]}


def _grid_shape(shape: list[int]) -> tuple[int, int]:
    """Return rows and columns for an array; a single long axis is wrapped like text."""
    long = [size for size in shape if size != 1]
    if len(long) > 1:
        return math.prod(long[:-1]), long[-1]
    count = math.prod(shape)
    columns = min(count, BROADEST) or 1
    return -(-count // columns), columns


def _size(x: Any) -> float:
    if isinstance(x, list):
        return math.hypot(*map(float, x))
    return float(x)


def _level(x: float, largest: float) -> int:
    if not math.isfinite(x):
        return ODD
    if x == 0 or largest == 0:
        return 0
    level = 1 + sum(abs(x) / largest > each for each in LEVELS)
    return level if x > 0 else -level


def _with(grid: Grid, levels: list[int]) -> Grid:
    return grid | {"levels": levels}


def _transpose(grid: Grid) -> Grid | None:
    rows, columns, levels = grid["rows"], grid["columns"], grid["levels"]
    if rows * columns != len(levels) or min(rows, columns) < 2:
        return None
    return {"rows": columns, "columns": rows, "levels": [levels[r * columns + c] for c in range(columns)
                                                         for r in range(rows)]}  # fmt: skip
