"""CSV tables, with columns chosen by the teacher."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

DEFAULT_COLUMNS = {"student": "student", "score": "score", "max_score": "max_score", "provisional": "provisional"}
CONTENTS = ("student", "score", "max_score", "percent", "assignment", "attempt", "isolation", "provisional", "problem",
            "flags", "late")  # fmt: skip
"""What a column may contain, beside the points of an exercise and fixed text."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def marks_table(all_marks: Iterable[dict[str, Any]], columns: dict[str, str] | None = None) -> str:
    """Return a table with one row for each submission.

    A column contains `student`, `score`, `max_score`, `percent`, `assignment`, `isolation`, `provisional`, `problem`,
    `flags`, `late` (in days), the points of the exercise with this ID, or a fixed text in quotation marks.
    """
    output = io.StringIO()
    writer = csv.writer(output, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    names: dict[str, str] | None = columns
    for marks in all_marks:
        if names is None:
            names = DEFAULT_COLUMNS | {each["exercise"]: each["exercise"] for each in marks["exercises"]}
        if output.tell() == 0:
            writer.writerow([escape_formula(name) for name in names])
        writer.writerow([escape_formula(cell_value(marks, what)) for what in names.values()])
    return output.getvalue()


def cell_value(marks: dict[str, Any], what: str) -> Any:
    """Return the value of a column for some marks. Points that the grader failed to compute are empty, and not 0."""
    failed = marks.get("failed", ())
    if (failed and what in ("score", "percent")) or what in failed:
        return ""
    if what.startswith(("'", '"')):
        return what.strip("'\"")
    if what == "percent":
        return round(100 * marks["score"] / marks["max_score"], 2) if marks["max_score"] else 0
    if what == "late":
        return (marks.get("late") or {"days": 0})["days"]
    if what == "flags":
        return len(marks["tampering"])
    if what in marks:
        return marks[what]
    return next((each["points"] for each in marks["exercises"] if each["exercise"] == what), "")


def escape_formula(each: Any) -> Any:
    """Return a value that no spreadsheet program reads as a formula. Numbers stay numbers."""
    if isinstance(each, str) and each.startswith(FORMULA_STARTS):
        return "'" + each
    return "" if each is None else f"{each:g}" if isinstance(each, float) else each


def csv_text(head: Sequence[str], body: Iterable[Sequence[Any]]) -> str:
    """Return any table as CSV, with formulas escaped."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(head)
    for row in body:
        writer.writerow([escape_formula(each) for each in row])
    return output.getvalue()
