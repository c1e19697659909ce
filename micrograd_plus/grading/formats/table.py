"""CSV, with the columns that a course names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

USUAL = {"student": "student", "score": "score", "max_score": "max_score", "provisional": "provisional"}
STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(all_marks: Iterable[dict[str, Any]], columns: dict[str, str] | None = None) -> str:
    """One row for each submission. A column holds `student`, `score`, `max_score`, `percent`, `assignment`,
    `isolation`, `provisional`, `problem`, `flags`, an exercise's id for its points, or a text of its own in quotation
    marks."""
    made = io.StringIO()
    writer = csv.writer(made, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    names: dict[str, str] | None = columns
    for marks in all_marks:
        if names is None:
            names = USUAL | {each["exercise"]: each["exercise"] for each in marks["exercises"]}
        if made.tell() == 0:
            writer.writerow([safe(name) for name in names])
        writer.writerow([safe(value(marks, what)) for what in names.values()])
    return made.getvalue()


def value(marks: dict[str, Any], what: str) -> Any:
    """What a column holds of some marks."""
    if what.startswith(("'", '"')):
        return what.strip("'\"")
    if what == "percent":
        return round(100 * marks["score"] / marks["max_score"], 2) if marks["max_score"] else 0
    if what == "flags":
        return len(marks["tampering"])
    if what in marks:
        return marks[what]
    return next((each["points"] for each in marks["exercises"] if each["exercise"] == what), "")


def safe(each: Any) -> Any:
    """A value that no table program takes for a formula; numbers stay numbers."""
    if isinstance(each, str) and each.startswith(STARTS_A_FORMULA):
        return "'" + each
    return "" if each is None else f"{each:g}" if isinstance(each, float) else each


def sheet(head: Sequence[str], body: Iterable[Sequence[Any]]) -> str:
    """Any table, with the same care."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(head)
    for row in body:
        writer.writerow([safe(each) for each in row])
    return made.getvalue()
