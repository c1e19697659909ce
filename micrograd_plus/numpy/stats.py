"""Distributions under SciPy's names: `norm.logpdf(x, loc, scale)`."""

from __future__ import annotations

from typing import Any

from ..extras import stats as _ours
from .dispatch import with_arrays


class Distribution:
    """Functions of one distribution, which return arrays if no argument is a tensor."""

    def __init__(self, ours: Any):
        self._ours = ours

    def __getattr__(self, name: str) -> Any:
        return with_arrays(getattr(self._ours, name))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._ours) if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    return Distribution(getattr(_ours, name))


def __dir__() -> list[str]:
    return sorted(_ours.__all__)
