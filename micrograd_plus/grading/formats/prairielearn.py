"""PrairieLearn: the results of an external grader, as its documentation on external grading has them."""

from __future__ import annotations

from typing import Any

from .gradescope import test as of_part


def results(marks: dict[str, Any]) -> dict[str, Any]:
    """`results.json`. What could not be read is not gradable, which uses up no attempt."""
    made: dict[str, Any] = {"gradable": marks["gradable"], "score": share(marks["score"], marks["max_score"])}
    if not marks["gradable"]:
        return made | {"format_errors": [marks["problem"]], "message": marks["problem"], "output": "", "tests": []}
    tests = []
    for each in marks["exercises"]:
        for part in each["parts"]:
            one = of_part(each, "", part)
            tests.append({"name": one["name"], "description": each["title"], "points": one["score"],
                          "max_points": one["max_score"], "message": one["output"], "output": ""})  # fmt: skip
    return made | {"succeeded": True, "message": "\n".join(marks["remarks"]), "output": "", "tests": tests}


def share(points: float, of: float) -> float:
    """A score between 0 and 1."""
    return min(1.0, max(0.0, points / of)) if of else 0.0
