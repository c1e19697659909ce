"""Properties that the steps of one rule and one formula share, in all rounds of a loop."""

from __future__ import annotations

from typing import Any

from . import formula, products
from .trace_input import Trace


class AlikeSteps:
    """The formulas with symbols, factors and axes of a trace's steps, each made for the first step of its kind."""

    def __init__(self) -> None:
        self._formulas: dict[Any, str | None] = {}
        self._products: dict[Any, str | None] = {}
        self._axes: dict[Any, list[int]] = {}

    def formula(self, trace: Trace, step: Trace) -> str | None:
        """Return the formula of a step with symbols, or None if its rule has none."""
        like = _kind(step)
        if like not in self._formulas:
            self._formulas[like] = formula.step_with_symbols(trace, step)
        return self._formulas[like]

    def product(self, trace: Trace, step: Trace) -> str | None:
        """Return the factors of a step's rule, if they are not the usual ones."""
        like = _kind(step)
        if like not in self._products:
            self._products[like] = products.product_of(trace, step)
        return self._products[like]

    def axes(self, trace: Trace, step: Trace) -> list[int]:
        """Return the axes over which a step or its rule sums."""
        if step["summed_axes"]:
            return step["summed_axes"]
        like = _kind(step)
        if like not in self._axes:
            self._axes[like] = products.sum_in_rule(trace, step)
        return self._axes[like]


def _kind(step: Trace) -> tuple[Any, ...]:
    return step["rule"], step["formula"], *step["summed_axes"]
