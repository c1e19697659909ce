"""Marks in the formats that school systems read.

`gradescope`, `prairielearn`, `junit` and `table` convert marks to the formats of those systems. `nbgrader` and `otter`
write notebooks with tests, which run in the student's own kernel and so give feedback, not marks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..store import to_json
from . import gradescope, junit, prairielearn, table

NAMES = ("json", "gradescope", "prairielearn", "junit", "csv")


def format_marks(name: str, marks: Sequence[dict[str, Any]], columns: dict[str, str] | None = None) -> str:
    """Return marks in a format. Formats for a single submission use the first one."""
    if name == "json":
        return to_json(marks[0])
    if name in ("gradescope", "prairielearn"):
        data = {"gradescope": gradescope, "prairielearn": prairielearn}[name].results(marks[0])
        return json.dumps(data, indent=1, allow_nan=False) + "\n"
    if name == "junit":
        return junit.document(marks)
    if name == "csv":
        return table.marks_table(marks, columns)
    raise ValueError(f"unknown format {name!r}; choose from {', '.join(NAMES)}")
