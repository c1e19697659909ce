"""Special functions under SciPy's names: `logsumexp(x, axis, b)`, `gammaln(x)`, `expit(x)`."""

from __future__ import annotations

from typing import Any

from ..extras import special as _ours
from .dispatch import with_arrays


def __getattr__(name: str) -> Any:
    return with_arrays(getattr(_ours, name))


def __dir__() -> list[str]:
    return dir(_ours)
