"""Texts of a lesson's questions, folded in its notebook, so that no answer is read by accident.

The source of a lesson has answers and reasons in plain text. Its notebook has them in base64, until the card seals
them. This is a curtain, not a lock.
"""

from __future__ import annotations

import ast
import base64
from typing import Any


def fold(value: Any) -> str:
    """Return literals, such as a text or a dictionary of them, as one unreadable text."""
    return base64.b64encode(write_literal(value).encode("utf-8")).decode("ascii")


def write_literal(value: Any) -> str:
    """Return the code of literals. A set, which has another order in each process, is sorted."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{write_literal(key)}: {write_literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, set) and value:
        return f"{{{', '.join(sorted(map(write_literal, value)))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(write_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(write_literal, value))}{',' * (len(value) == 1)})"
    return repr(value)


def unfold(text: str) -> Any:
    """Return what `fold` made a text of, or raise ValueError."""
    try:
        return ast.literal_eval(base64.b64decode(text, validate=True).decode("utf-8"))
    except (TypeError, ValueError, SyntaxError) as error:
        raise ValueError(f"unfold needs a text that make_lessons.py folded, got {text!r:.40}") from error


__all__ = ["fold", "unfold"]
