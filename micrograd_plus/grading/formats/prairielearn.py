"""PrairieLearn: the results of an external grader, as described in its documentation."""

from __future__ import annotations

from typing import Any

from ..reasons import reason
from .gradescope import test_entry


def results(marks: dict[str, Any]) -> dict[str, Any]:
    """Return the data of `results.json`. A submission that could not be read or graded uses up no attempt."""
    is_gradable = marks["gradable"] and not marks.get("failed")
    data: dict[str, Any] = {"gradable": is_gradable, "score": share(marks["score"], marks["max_score"])}
    if not is_gradable:
        problem = marks["problem"] or reason("failed")
        return data | {"format_errors": [problem], "message": problem, "output": "", "tests": []}
    tests = []
    for each in marks["exercises"]:
        for part in each["parts"]:
            entry = test_entry(each, "", part)
            tests.append({"name": entry["name"], "description": each["title"], "points": entry["score"],
                          "max_points": entry["max_score"], "message": entry["output"], "output": ""})  # fmt: skip
    return data | {"succeeded": True, "message": "\n".join(marks["remarks"]), "output": "", "tests": tests}


def share(points: float, of: float) -> float:
    """Return a score between 0 and 1."""
    return min(1.0, max(0.0, points / of)) if of else 0.0
