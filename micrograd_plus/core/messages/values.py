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


def explained_error(error: Exception, message: str) -> Exception:
    """Return an error of a call with another message: of its own class, unless that is built in or cannot show it."""
    same = same_error(error, message) if type(error).__module__ != "builtins" else None
    return builtin_kind(error)(message) if same is None else same


def same_error(error: Exception, message: str) -> Exception | None:
    """Return an error of the same class with another message, or None if the class does not show it."""
    kind = type(error)
    try:
        changed = kind.__new__(kind, message)  # its own __init__ may take other arguments
        vars(changed).update(vars(error))
        shows = str(changed) in (message, repr(message))
    except Exception:  # noqa: BLE001 - a class of a user's may do anything
        return None
    return changed if shows else None


def copy_error(error: Exception, note: str) -> Exception:
    """Return a copy of an error with a note, which the traceback shows; for an error that cannot be copied, another."""
    from copy import copy  # most programs never need it

    try:
        changed = copy(error)
    except Exception:  # noqa: BLE001 - a class of a user's may do anything
        changed = builtin_kind(error)(str(error))
    changed.add_note(note)
    return changed
