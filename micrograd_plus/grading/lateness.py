"""Points off for late submissions, by the rule of an assignment.

    due = 2026-12-04T23:59:00+01:00
    [late]
    grace = 15          # minutes that cost nothing
    per_day = 10        # percent of the points, for each day that has begun after the due time
    at_most = 50        # percent

The times of submission come from a table with the columns id and time. Files have no reliable time of their own.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .reasons import reason

SETTINGS = {"grace": math.inf, "per_day": 100.0, "at_most": 100.0}
"""The settings of a rule, each with its largest value."""
DAY = timedelta(days=1)
OLDEST, NEWEST = 1970, 2999
"""The years that a time of submission may have."""


class TimesError(Exception):
    """A table of times cannot be used."""


def find_problems_of_rule(due: Any, rule: Any) -> Iterator[str]:
    """Yield each problem in the due time and the rule of an assignment."""
    if due is not None and type(due) is not datetime:
        yield "`due` must be a date with a time, such as 2026-12-04T23:59:00+01:00"
    if type(rule) is not dict:
        yield "`late` must be a table with grace, per_day and at_most"
        return
    if rule and due is None:
        yield "[late] needs the time at which the assignment is due: due = 2026-12-04T23:59:00+01:00"
    for name, value in rule.items():
        if name not in SETTINGS:
            yield f"[late] has no setting {name!r}; it has {', '.join(SETTINGS)}"
        elif type(value) not in (int, float) or not 0 <= value <= SETTINGS[name]:
            most = SETTINGS[name]
            between = f"between 0 and {most:g}" if math.isfinite(most) else "at least 0"
            yield f"[late] {name!r} must be a number {between}, got {value!r}"


def read_times(path: Path, due: datetime | None) -> dict[str, str]:
    """Return the time of submission of each student in a table; raise `TimesError` for one that cannot be used."""
    if due is None:
        raise TimesError("the assignment has no due time: write due = 2026-12-04T23:59:00+01:00 into it")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(map(str.strip, row))]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TimesError(f"{path.name} is not a table: save it as CSV in UTF-8") from error
    times = {}
    for number, row in enumerate(rows, start=1):
        try:
            student, time = row[0].strip(), datetime.fromisoformat(row[1].strip())
        except (IndexError, ValueError):
            if number == 1:
                continue  # the line with the names of the columns
            raise TimesError(f"line {number} of {path.name} must have an ID and a time such as 2026-12-04T21:15, "
                             f"got {','.join(row)!r}") from None  # fmt: skip
        if not OLDEST <= time.year <= NEWEST:
            raise TimesError(f"line {number} of {path.name} has the year {time.year}")
        if time.tzinfo is not None and due.tzinfo is None:
            raise TimesError(f"line {number} of {path.name} has a time zone, and `due` in the assignment has none")
        times[student] = time.isoformat()
    return times


def count_days(submitted: str, due: datetime, grace: float) -> int:
    """Return how many days late a submission is. A day that has begun counts; a time without a zone has that of `due`.

    >>> count_days("2026-12-05T12:00", datetime(2026, 12, 4, 23, 59), grace=0)
    1
    """
    time = datetime.fromisoformat(submitted)
    if time.tzinfo is None and due.tzinfo is not None:
        time = time.replace(tzinfo=due.tzinfo)
    late = time - due
    return 0 if late <= timedelta(minutes=grace) else math.ceil(late / DAY)


def take_off_points(marks: dict[str, Any], assignment: Any, submitted: str | None) -> dict[str, Any]:
    """Return the marks of a submission with points taken off if it is late, and a remark that says so."""
    if submitted is None or assignment.due is None:
        return marks
    rule = assignment.late
    days = count_days(submitted, assignment.due, rule.get("grace", 0))
    if not days:
        return marks
    percent = min(days * rule.get("per_day", 0), rule.get("at_most", 100))
    points = round(marks["score"] * percent / 100, 6)
    remark = reason("late", days=f"{days} day{'s' * (days > 1)}", percent=f"{percent:g}", points=f"{points:g}")
    return {**marks, "score": round(marks["score"] - points, 6), "remarks": [*marks["remarks"], remark],
            "late": {"days": days, "percent": float(percent), "points": points}}  # fmt: skip
