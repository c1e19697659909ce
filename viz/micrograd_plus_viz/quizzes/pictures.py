"""Heat maps to choose from: of each cell no more than its sign and how dark it is, so that no number stands in them."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from ..source import Trace

FEWEST, MOST = 6, 1024
"""How many cells a picture must have to be told from another, and may."""
LEVELS = (0.1, 0.35, 0.7)
"""As in `show.js`: where one shade ends and the next begins, as parts of the largest size."""
ODD = 9
BROADEST = 32
HOW_MANY = 4

Grid = dict[str, Any]


def choices(
    right: Trace, near: list[tuple[Trace, str]], others: list[Trace], rng: Random
) -> tuple[int, list[Grid], dict[int, str]] | None:
    """Four pictures in any order: which is right, and what is said of some of the others. None where a picture would
    say nothing, or there are not enough that differ."""
    grid = grid_of(right)
    if grid is None or len(set(grid["levels"])) < 2:
        return None
    wrong: list[tuple[Grid, str]] = []

    def offer(other: Grid | None, text: str) -> None:
        if other is not None and other != grid and all(other != known for known, _ in wrong):
            wrong.append((other, text))

    for value, text in near:
        if value["shape"] == right["shape"]:
            offer(grid_of(value), text)
    wrong = wrong[:2]
    offer(_with(grid, [-x if x != ODD else x for x in grid["levels"]]), "The sizes are right. Look at the signs.")
    offer(_turned(grid), "The axes stand the other way round.")
    for value in others:
        offer(grid_of(value), "That is what another node holds.")
    offer(_with(grid, grid["levels"][::-1]), "Look at the places.")
    offer(_with(grid, rng.sample(grid["levels"], len(grid["levels"]))), "Look at the places.")
    offer(_with(grid, [abs(x) for x in grid["levels"]]), "The sizes are right. Look at the signs.")
    if len(wrong) < HOW_MANY - 1:
        return None
    shown = [(grid, ""), *wrong[: HOW_MANY - 1]]
    rng.shuffle(shown)
    place = next(k for k, (each, _) in enumerate(shown) if each is grid)
    return place, [each for each, _ in shown], {k: text for k, (_, text) in enumerate(shown) if k != place}


def grid_of(value: Trace) -> Grid | None:
    """A value, as a page holds it, in rows and columns of shades; None where it has too few cells, or too many."""
    if value["data"] is not None:
        data, (rows, columns) = value["data"], _folded(value["shape"])
    elif value.get("cells"):
        data, (rows, columns) = value["cells"]["data"], value["cells"]["shape"]
    else:
        return None
    if not FEWEST <= len(data) <= MOST:
        return None
    sizes = [_size(x) for x in data]
    largest = max((abs(x) for x in sizes if math.isfinite(x)), default=0.0)
    return {"rows": rows, "columns": columns, "levels": [_level(x, largest) for x in sizes]}


def _folded(shape: list[int]) -> tuple[int, int]:
    """Rows and columns of an array; one with a single axis to go along is folded like text."""
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


def _turned(grid: Grid) -> Grid | None:
    rows, columns, levels = grid["rows"], grid["columns"], grid["levels"]
    if rows * columns != len(levels) or min(rows, columns) < 2:
        return None
    return {"rows": columns, "columns": rows, "levels": [levels[r * columns + c] for c in range(columns)
                                                         for r in range(rows)]}  # fmt: skip
