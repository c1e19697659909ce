"""Values and errors as a message shows them."""

from __future__ import annotations

from typing import Any


def describe(value: Any) -> str:
    """Return a value as a message shows it: shape and dtype of an array, anything else in at most 200 characters."""
    if hasattr(value, "dtype"):
        return f"{tuple(value.shape)} {value.dtype}"
    if isinstance(value, (list, tuple)) and any(hasattr(part, "shape") for part in value):
        return f"[{', '.join(describe(part) for part in value)}]"
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]} ..."


def builtin_kind(error: Exception) -> type[Exception]:
    """Return the built-in exception type for an error: array libraries have many types for a bad argument."""
    if isinstance(error, AttributeError):
        return TypeError
    if isinstance(error, (ArithmeticError, KeyError)):
        return ValueError
    return next((kind for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind)), RuntimeError)
