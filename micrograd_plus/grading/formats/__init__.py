"""Marks in the formats that school systems read.

`gradescope`, `prairielearn`, `junit` and `table` turn marks into what those systems read; `nbgrader` and `otter` write
the cells and tests that those run, which run in the student's own kernel and so give feedback, not marks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..store import text_of
from . import gradescope, junit, prairielearn, table

NAMES = ("json", "gradescope", "prairielearn", "junit", "csv")


def written(name: str, marks: Sequence[dict[str, Any]], columns: dict[str, str] | None = None) -> str:
    """Marks in a format; those that hold one submission take the first."""
    if name == "json":
        return text_of(marks[0])
    if name in ("gradescope", "prairielearn"):
        made = {"gradescope": gradescope, "prairielearn": prairielearn}[name].results(marks[0])
        return json.dumps(made, indent=1, allow_nan=False) + "\n"
    if name == "junit":
        return junit.document(marks)
    if name == "csv":
        return table.rows(marks, columns)
    raise ValueError(f"there is no format {name!r}; there are {', '.join(NAMES)}")
