"""Otter: the notebook for `otter assign`, and marks as the table that `otter grade` writes.

Otter's tests run in the student's own kernel, so they are feedback only. Marks come from `grade`.
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


def source_notebook(assignment: Assignment) -> str:
    """Return the notebook, with a question for each exercise and a test for each part.

    Otter requires solutions. They are the starters, so the notebook contains no answers.
    """
    identify = identify_line(list(assignment.definitions.values()), derive_key(assignment.secret))
    first = [code_cell("from micrograd_plus import exercises"), *([code_cell(identify)] if identify else [])]
    cells = [raw_cell(CONFIG.format(name=assignment.id)), *first]
    for name, exercise in assignment.definitions.items():
        scale = assignment.scale_of(name)
        cells += [
            raw_cell(f"# BEGIN QUESTION\nname: {exercise.function_name}\npoints: {assignment.points_of(name):g}"),
            {"cell_type": "markdown", "metadata": {}, "source": f"## {exercise.title}\n\n{exercise.prompt}"},
            raw_cell("# BEGIN SOLUTION"), code_cell(exercise.starter.rstrip("\n")), raw_cell("# END SOLUTION"),
            raw_cell("# BEGIN TESTS"),
            *[code_cell(TEST.format(name=name, part=part.name, points=part.points * scale, number=number,
                                    function=exercise.function_name)) for number, part in enumerate(exercise.parts)],
            raw_cell("# END TESTS"), raw_cell("# END QUESTION"),
        ]  # fmt: skip
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1) + "\n"


def raw_cell(source: str) -> dict[str, Any]:
    """Return a raw cell, which contains instructions for otter."""
    return {"cell_type": "raw", "metadata": {}, "source": source.rstrip("\n")}


def code_cell(source: str) -> dict[str, Any]:
    """Return a code cell."""
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def scores_table(all_marks: Iterable[dict[str, Any]]) -> str:
    """Return `final_grades.csv` as `otter grade` writes it: the file, the points of each question, the total share."""
    marks_list = list(all_marks)
    names = [each["exercise"] for marks in marks_list[:1] for each in marks["exercises"]]
    rows = []
    for marks in marks_list:
        points = {each["exercise"]: each["points"] for each in marks["exercises"]}
        of = marks["max_score"]
        rows.append([f"{marks['student']}.ipynb", *[points.get(name, 0.0) for name in names], marks["score"],
                     marks["score"] / of if of else 0.0])  # fmt: skip
    return table.csv_text(["file", *names, "total_points_earned", "percent_correct"], rows)
