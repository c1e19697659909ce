"""nbgrader: the source notebook that `generate_assignment` makes the release of, and marks written into its gradebook.

What its autograder makes of a notebook comes from the student's own kernel, so it is feedback. The marks of `grade`
take its place, where nbgrader keeps those that a person gave.
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


def source(assignment: Assignment) -> str:
    """The notebook for a course's `source` folder. It holds no answer: where nbgrader takes a solution out and puts its
    own stub, there is nothing between the marks."""
    points = {name: assignment.worth(name) for name in assignment.exercises}
    chosen = list(assignment.found.values())
    sheet = identify_line(chosen, derive_key(assignment.secret))
    book = starter_notebook(chosen, assignment.title or assignment.id, points=points, scored=True, identify=sheet)
    for cell in book["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = marked(cell["source"])
    return json.dumps(book, indent=1) + "\n"


def marked(starter: str) -> str:
    """A starter with nbgrader's marks where its stub is; one without a stub is made of comments that stay."""
    made, count = STUB.subn(r"\1### BEGIN SOLUTION\n\1### END SOLUTION", starter, count=1)
    return made if count else starter + "\n\nif False:\n    ### BEGIN SOLUTION\n    ### END SOLUTION"


def written_back(all_marks: Iterable[dict[str, Any]], assignment: str, database: str) -> list[str]:
    """Put marks into the gradebook at an address such as `sqlite:///gradebook.db`, as manual scores of the scoring
    cells; the students whose submissions nbgrader does not know are returned."""
    from nbgrader.api import Gradebook, MissingEntry

    unknown = []
    with Gradebook(database) as book:
        for marks in all_marks:
            try:
                submission = book.find_submission(assignment, marks["student"])
            except MissingEntry:
                unknown.append(marks["student"])
                continue
            points = {cell_of(each["exercise"]): each["points"] for each in marks["exercises"]}
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.name in points:
                        grade.manual_score, grade.needs_manual_grade = points[grade.name], False
        book.db.commit()
    return unknown


def cell_of(exercise: str) -> str:
    """The id of an exercise's scoring cell in a released notebook."""
    return exercise.replace(".", "_").replace("+", "_and_").replace("-", "_") + "_score"
