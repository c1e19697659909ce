"""Every known way to fool or break a grader, tried; each has its score and its reason, and costs nobody else
anything."""

import json
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from cases import ALL, BESIDE, CASES, HEAD, RIGHT, notebook
from unlisted import UNLISTED

from micrograd_plus.grading import grade, submissions
from micrograd_plus.grading.assignment import Assignment
from micrograd_plus.grading.formats import format_marks
from micrograd_plus.grading.sandbox.uid_pool import FIRST_USER
from micrograd_plus.grading.store import to_json

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the attacks are on Unix's processes")

ASSIGNMENT = Assignment("hostile", ["tanh.x", "exp.x"], "a-secret-of-the-tests")
HONEST = HEAD + RIGHT + BESIDE


def handed_in(path: Path) -> submissions.Submission:
    """What lies at a path, as the same student's."""
    return submissions.read_submission(path, "student")


def of_the_honest(sandbox, limits) -> str:
    """The marks of somebody who does nothing of all this."""
    submission = submissions.Submission("honest", submissions.read_program(HONEST.encode()))
    return to_json(grade.grade_submission(submission, ASSIGNMENT, sandbox, limits=limits))


@pytest.fixture(scope="module")
def undisturbed(sandbox, small_limits):
    """What the honest one gets before anybody else comes."""
    return of_the_honest(sandbox, small_limits)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = place.read_bytes().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            parents[int(place.parent.name)] = int(parent)
    found, fresh = set(), {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return sorted(found)


def soon(look) -> list[int]:
    """What is there once the warden, which has just said that all is cleared away, has ended itself."""
    ends = time.monotonic() + 2
    while (found := look()) and time.monotonic() < ends:
        time.sleep(0.01)
    return found


def left_by(user: int) -> list[str]:
    """What a user id that belongs to no one has left: processes, files where all may write, shared memory."""
    found = [str(place) for place in Path("/proc").glob("[0-9]*") if owner(place) == user]
    for folder in {tempfile.gettempdir(), "/dev/shm", "/var/" + "tmp", "/dev/mqueue"}:  # noqa: S108 - it is looked into
        found += [str(place) for place in Path(folder).glob("*") if owner(place) == user]
    for kind in ("shm", "sem", "msg"):
        lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()
        where = lines[0].split().index("uid")
        found += [line for line in lines[1:] if int(line.split()[where]) == user]
    return found


def owner(place: Path) -> int:
    """Whose something is; nobody's where it has gone."""
    try:
        return place.lstat().st_uid
    except OSError:
        return -1


def right_values() -> set[str]:
    """The entries of the right answers to this student's draws, to six digits."""
    cases = ASSIGNMENT.definitions["tanh.x"].cases(ASSIGNMENT.seed("student", "tanh.x", 1))
    values = np.concatenate([np.ravel(1 - case.request["arguments"]["out"] ** 2) for case in cases
                             if "out" in case.request["arguments"]])  # fmt: skip
    return {f"{value:.6f}"[:8] for value in values if 0.01 < abs(value) < 0.99}


def named(case) -> str:
    """A case as tests are called."""
    return f"{case.number:02d}-{case.title.replace(' ', '-')[:40]}"


@pytest.mark.parametrize("case", [*CASES, *UNLISTED], ids=named)
def test_a_case_gets_its_score_and_its_reason_and_nobody_else_is_touched(
    case, sandbox, small_limits, undisturbed, tmp_path, canary
):
    work = tmp_path / "handed in"
    work.mkdir()
    marks = grade.grade_submission(handed_in(case.made(work)), ASSIGNMENT, sandbox, limits=small_limits)
    text = to_json(marks)
    first, beside = marks["exercises"]

    wrong = ASSIGNMENT.points_of("tanh.x")
    if case.points is None:
        assert first["points"] < wrong or case.number == 26, "a right value in a process that its owner has upset"
    else:
        assert first["points"] == case.points, first["reason"]
    assert re.search(case.reason, first["reason"], re.DOTALL), first["reason"]
    assert beside["points"] == case.beside or case.beside == -1, beside["reason"]
    assert marks["gradable"] is not case.unreadable, marks["problem"]
    assert not case.flagged or marks["tampering"], "a teacher would want to see this"
    assert not case.flagged or all("tamper" not in each["reason"] for each in marks["exercises"])

    assert canary not in text
    assert not [value for value in right_values() if value in text]
    assert (str(Path(__file__).parent) not in text and sandbox.root is None) or str(sandbox.root) not in text
    assert of_the_honest(sandbox, small_limits) == undisturbed
    assert sandbox.server is None or soon(lambda: descendants(sandbox.server.pid)) == []
    if sandbox.uid is not None:  # other graders have boxes of their own in the same jail
        assert left_by(sandbox.uid) == []
        assert not (sandbox.root / "boxes" / str(sandbox.uid)).exists()
    assert sandbox.root is None or not list((sandbox.root / "box").iterdir())
    for name in ("gradescope", "prairielearn", "junit", "csv"):
        assert canary not in format_marks(name, [marks])
    json.loads(text)


def test_there_are_98():
    assert sorted(case.number for case in CASES) == list(range(1, 99))


def test_what_stands_beside_an_answer_is_there_for_the_others(sandbox, small_limits):
    first = HEAD + "import math\nONE = math.cos(0)\n" + RIGHT
    second = '@exercises.answer("exp.x")\ndef exp_x(out):\n    return ONE * out\n'
    cells = submissions.read_notebook(notebook(first, second).encode())
    marks = grade.grade_submission(submissions.Submission("honest", cells), ASSIGNMENT, sandbox, limits=small_limits)
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL]


def test_the_exercises_of_a_submission_share_a_box_and_nothing_in_it(sandbox, small_limits):
    looks = "import os\n" + BESIDE.replace("return out", "return out * (os.listdir() == [])")
    after = Assignment("hostile", ["tanh.x", "exp.x", "log.x"], "a-secret-of-the-tests")
    third = '\n\n@exercises.answer("log.x")\ndef log_x(x):\n    return (os.listdir() == []) / x\n'
    source = HEAD + RIGHT.replace("    return", "    open('left', 'w').write('here')\n    return") + looks + third
    marks = grade.grade_submission(
        submissions.Submission("honest", submissions.read_program(source.encode())), after, sandbox, limits=small_limits
    )
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL, ALL]


def test_the_honest_one_gets_all(undisturbed):
    marks = json.loads(undisturbed)
    assert [each["points"] for each in marks["exercises"]] == [ALL, ALL]
