"""Otter: the master notebook that `otter assign` makes a student's notebook and an autograder of.

Its tests run in the student's own kernel, so what they say is feedback. Marks are given by `grade` on the notebooks
that were handed in; `scores` writes them as the table that `otter grade` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...exercises.handout import identify_line
from ...exercises.student_key import derive_key
from ..assignment import Assignment
from . import table

CONFIG = """# ASSIGNMENT CONFIG
name: {name}
init_cell: true
check_all_cell: false
export_cell: false
run_tests: false
solutions_pdf: false
tests:
    files: true
    ok_format: false
generate:
    pdf: false
    show_stdout: true
    show_hidden: false
"""
TEST = '''""" # BEGIN TEST CONFIG
name: "{name}: {part}"
points: {points:g}
""" # END TEST CONFIG
def test_{function}_{number}(env):
    from micrograd_plus import exercises
    assert env.get("{function}") is not None, "{function} is not defined"
    part = exercises.check("{name}", env["{function}"]).result.parts[{number}]
    assert part["points"] == part["of"], part["reason"]
'''


def master(assignment: Assignment) -> dict[str, Any]:
    """The notebook, with a question for each exercise and a test for each part. It holds no answer: the solutions that
    otter wants are the starters."""
    sheet = identify_line(list(assignment.found.values()), derive_key(assignment.secret))
    first = [code("from micrograd_plus import exercises"), *([code(sheet)] if sheet else [])]
    cells = [raw(CONFIG.format(name=assignment.id)), *first]
    for name, exercise in assignment.found.items():
        share = assignment.worth(name) / (float(exercise.points) or 1.0)
        cells += [
            raw(f"# BEGIN QUESTION\nname: {exercise.function_name}\npoints: {assignment.worth(name):g}"),
            {"cell_type": "markdown", "metadata": {}, "source": f"## {exercise.title}\n\n{exercise.prompt}"},
            raw("# BEGIN SOLUTION"), code(exercise.starter.rstrip("\n")), raw("# END SOLUTION"), raw("# BEGIN TESTS"),
            *[code(TEST.format(name=name, part=part.name, points=part.points * share, number=number,
                               function=exercise.function_name)) for number, part in enumerate(exercise.parts)],
            raw("# END TESTS"), raw("# END QUESTION"),
        ]  # fmt: skip
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def written(assignment: Assignment) -> str:
    """The same as a file's text."""
    return json.dumps(master(assignment), indent=1) + "\n"


def raw(source: str) -> dict[str, Any]:
    """A cell that speaks to otter."""
    return {"cell_type": "raw", "metadata": {}, "source": source.rstrip("\n")}


def code(source: str) -> dict[str, Any]:
    """A cell of code."""
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def scores(all_marks: Iterable[dict[str, Any]]) -> str:
    """`final_grades.csv` as `otter grade` writes it: the file, the points of each question, the share of all."""
    kept = list(all_marks)
    names = [each["exercise"] for marks in kept[:1] for each in marks["exercises"]]
    rows = []
    for marks in kept:
        points = {each["exercise"]: each["points"] for each in marks["exercises"]}
        of = marks["max_score"]
        rows.append([f"{marks['student']}.ipynb", *[points.get(name, 0.0) for name in names], marks["score"],
                     marks["score"] / of if of else 0.0])  # fmt: skip
    return table.sheet(["file", *names, "total_points_earned", "percent_correct"], rows)
