"""nbgrader: the source notebook for `generate_assignment`, and writing marks into its gradebook.

nbgrader's own scores come from the student's kernel, so they are feedback only. The marks of `grade` replace them as
manual scores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ...exercises.handout import identify_line, starter_notebook
from ...exercises.student_key import derive_key
from ..assignment import Assignment

STUB = re.compile(r"^( *)(?:# YOUR CODE HERE *\n *)?raise NotImplementedError(?:\(\))? *$", re.MULTILINE)


def source_notebook(assignment: Assignment) -> str:
    """Return the notebook for a course's `source` folder. Its solution regions are empty, so it contains no answers."""
    points = {name: assignment.points_of(name) for name in assignment.exercises}
    exercises = list(assignment.definitions.values())
    identify = identify_line(exercises, derive_key(assignment.secret))
    book = starter_notebook(exercises, assignment.title or assignment.id, points=points, scored=True, identify=identify)
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = add_solution_region(cell["source"])
    return json.dumps(book, indent=1) + "\n"


def add_solution_region(starter: str) -> str:
    """Replace the stub of a starter by an empty solution region; add a region if it has no stub."""
    source, count = STUB.subn(r"\1### BEGIN SOLUTION\n\1### END SOLUTION", starter, count=1)
    return source if count else starter + "\n\nif False:\n    ### BEGIN SOLUTION\n    ### END SOLUTION"


def write_back(all_marks: Iterable[dict[str, Any]], assignment: str, database: str) -> list[str]:
    """Write marks into nbgrader's gradebook as manual scores, and return the students that it does not know.

    Points that are taken off a late submission become nbgrader's penalty.

    `database` is an address such as `sqlite:///gradebook.db`.
    """
    from nbgrader.api import Gradebook, MissingEntry

    unknown = []
    with Gradebook(database) as book:
        for marks in all_marks:
            try:
                submission = book.find_submission(assignment, marks["student"])
            except MissingEntry:
                unknown.append(marks["student"])
                continue
            points = {cell_id(each["exercise"]): each["points"] for each in marks["exercises"]}
            for notebook in submission.notebooks[:1]:
                notebook.late_submission_penalty = marks["late"]["points"] if marks.get("late") else None
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.name in points:
                        grade.manual_score, grade.needs_manual_grade = points[grade.name], False
        book.db.commit()
    return unknown


def cell_id(exercise: str) -> str:
    """Return the ID of an exercise's scoring cell in a released notebook."""
    return exercise.replace(".", "_").replace("+", "_and_").replace("-", "_") + "_score"
