"""Texts of a lesson's questions, folded in its notebook, so that nobody reads an answer by accident.

The source of a lesson has answers and reasons in plain text. Its notebook has them in base64, until the card seals
them. This is a curtain, not a lock.
"""

from __future__ import annotations

import ast
import base64
from typing import Any


def fold(value: Any) -> str:
    """Return literals, such as a text or a dictionary of them, as one unreadable text."""
    return base64.b64encode(repr(value).encode("utf-8")).decode("ascii")


def unfold(text: str) -> Any:
    """Return what `fold` made a text of, or raise ValueError."""
    try:
        return ast.literal_eval(base64.b64decode(text, validate=True).decode("utf-8"))
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"unfold needs a text that make_lessons.py folded, got {text[:40]!r}") from error


__all__ = ["fold", "unfold"]
