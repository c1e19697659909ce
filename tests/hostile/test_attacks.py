"""Attacks on the grader: each gets the expected points and a reason, and changes nothing for other students."""

import json
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import ALL, CASES, HEAD, OTHER, RIGHT, notebook
from newer import NEWER
from unlisted import UNLISTED

from micrograd_plus.grading import grade, submissions
from micrograd_plus.grading.assignment import Assignment
from micrograd_plus.grading.formats import format_marks
from micrograd_plus.grading.store import to_json

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the attacks use Unix processes")

ASSIGNMENT = Assignment("hostile", ["tanh.x", "exp.x"], "a-secret-of-the-tests")
HONEST = HEAD + RIGHT + OTHER


def read_case(path: Path) -> submissions.Submission:
    """Return a submission that was read with the same student ID each time."""
    return submissions.read_submission(path, "student")


def honest_marks(sandbox, limits) -> str:
    """Return the marks of a submission without attacks."""
    submission = submissions.Submission("honest", submissions.read_program(HONEST.encode()))
    return to_json(grade.grade_submission(submission, ASSIGNMENT, sandbox, limits=limits))


@pytest.fixture(scope="module")
def marks_before(sandbox, small_limits):
    """Return the marks of the honest submission before any attack."""
    return honest_marks(sandbox, small_limits)


def descendants(pid: int) -> list[int]:
    """Return the descendants of a process."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = place.read_bytes().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            parents[int(place.parent.name)] = int(parent)
    children, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - children
        children |= new
    return sorted(children)


def wait_until_empty(look) -> list[int]:
    """Return the leftovers after waiting up to half a minute for the supervisor to end."""
    deadline = time.monotonic() + 30
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def find_leftovers(user: int) -> list[str]:
    """Return the leftovers of a user ID: processes, files in world-writable folders, System V objects."""
    leftovers = [str(place) for place in Path("/proc").glob("[0-9]*") if owner(place) == user]
    for folder in {tempfile.gettempdir(), "/dev/shm", "/var/" + "tmp", "/dev/mqueue"}:  # noqa: S108 - only searched
        leftovers += [str(place) for place in Path(folder).glob("*") if owner(place) == user]
    for kind in ("shm", "sem", "msg"):
        lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()
        where = lines[0].split().index("uid")
        leftovers += [line for line in lines[1:] if int(line.split()[where]) == user]
    return leftovers


def owner(place: Path) -> int:
    """Return the owner of a file; -1 if it is gone."""
    try:
        return place.lstat().st_uid
    except OSError:
        return -1


def right_values(submission) -> set[str]:
    """Return the entries of the right answers for this submission, to six digits."""
    content = grade.content_hash(submission)
    cases = ASSIGNMENT.definitions["tanh.x"].cases(ASSIGNMENT.seed("student", "tanh.x", 1, content))
    values = np.concatenate([np.ravel(1 - case.request["arguments"]["out"] ** 2) for case in cases
                             if "out" in case.request["arguments"]])  # fmt: skip
    return {f"{value:.6f}"[:8] for value in values if 0.01 < abs(value) < 0.99}


def case_id(case) -> str:
    """Return the ID of a case in the names of tests."""
    return f"{case.number:02d}-{case.title.replace(' ', '-')[:40]}"


ASLEEP = {"it stops itself", "a thread bomb"}
"""Attacks that wait until their time is over. It is over sooner for them, because nothing depends on when."""


def limits_for(case, limits):
    """Return the limits of each exercise for a case. The exercise without an attack has the usual ones."""
    if case.title not in ASLEEP:
        return limits
    return lambda exercise: replace(limits(exercise), wall=2.0) if exercise.id == "tanh.x" else limits(exercise)


@pytest.mark.parametrize("case", [*CASES, *UNLISTED, *NEWER], ids=case_id)
def test_an_attack_gets_its_points_and_a_reason_and_leaves_nothing(
    case, sandbox, small_limits, marks_before, tmp_path, canary
):
    work = tmp_path / "handed in"
    work.mkdir()
    submission = read_case(case.write(work))
    marks = grade.grade_submission(submission, ASSIGNMENT, sandbox, limits=limits_for(case, small_limits))
    text = to_json(marks)
    first, other = marks["exercises"]

    wrong = ASSIGNMENT.points_of("tanh.x")
    if case.points is None:
        assert first["points"] < wrong or case.number == 26, "the process is damaged, so even right values may be lost"
    else:
        assert first["points"] == case.points, first["reason"]
    assert re.search(case.reason, first["reason"], re.DOTALL), first["reason"]
    assert other["points"] == case.other or case.other == -1, other["reason"]
    assert marks["gradable"] is not case.unreadable, marks["problem"]
    assert not case.flagged or marks["tampering"], "the teacher must see this"
    assert not case.flagged or all("tamper" not in each["reason"] for each in marks["exercises"])

    assert canary not in text
    assert not [value for value in right_values(submission) if value in text]
    assert (str(Path(__file__).parent) not in text and sandbox.root is None) or str(sandbox.root) not in text
    assert honest_marks(sandbox, small_limits) == marks_before
    assert sandbox.server is None or wait_until_empty(lambda: descendants(sandbox.server.pid)) == []
    if sandbox.uid is not None:  # other graders have boxes in the same chroot
        assert find_leftovers(sandbox.uid) == []
        assert not (sandbox.root / "boxes" / str(sandbox.uid)).exists()
    assert sandbox.root is None or not list((sandbox.root / "box").iterdir())
    for name in ("gradescope", "prairielearn", "junit", "csv"):
        assert canary not in format_marks(name, [marks])
    json.loads(text)


def test_there_are_98_listed_cases():
    assert sorted(case.number for case in CASES) == list(range(1, 99))


def test_code_beside_an_answer_is_available_to_other_answers(sandbox, small_limits):
    first = HEAD + "import math\nONE = math.cos(0)\n" + RIGHT
    second = '@exercises.answer("exp.x")\ndef exp_x(out):\n    return ONE * out\n'
    cells = submissions.read_notebook(notebook(first, second).encode())
    marks = grade.grade_submission(submissions.Submission("honest", cells), ASSIGNMENT, sandbox, limits=small_limits)
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL]


def test_exercises_share_a_box_and_none_of_its_contents(sandbox, small_limits):
    looks = "import os\n" + OTHER.replace("return out", "return out * (os.listdir() == [])")
    after = Assignment("hostile", ["tanh.x", "exp.x", "log.x"], "a-secret-of-the-tests")
    third = '\n\n@exercises.answer("log.x")\ndef log_x(x):\n    return (os.listdir() == []) / x\n'
    source = HEAD + RIGHT.replace("    return", "    open('left', 'w').write('here')\n    return") + looks + third
    marks = grade.grade_submission(
        submissions.Submission("honest", submissions.read_program(source.encode())), after, sandbox, limits=small_limits
    )
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL, ALL]


def test_the_honest_submission_gets_all_points(marks_before):
    marks = json.loads(marks_before)
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL]
