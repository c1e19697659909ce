"""Checks of operations: promises that each must keep, samples to try them on, and a museum of wrong rules."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("museum", "promises", "reference", "samples"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
