"""A fault of the machine is never a student's zero, and one submission never holds up the others."""

import json
import os
import random
import subprocess
import sys
import time
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from graded import EXP, HEAD, RIGHT, SECRET, SIGN, TANH, assignment
from micrograd_plus import files
from micrograd_plus.__main__ import main
from micrograd_plus.grading import batch, budget, grade, lateness, submissions, tampering, worker
from micrograd_plus.grading.assignment import Assignment
from micrograd_plus.grading.cells import Cell, required_cells
from micrograd_plus.grading.formats import format_marks, table
from micrograd_plus.grading.magics import remove_magics
from micrograd_plus.grading.messages import SafeMessages
from micrograd_plus.grading.sandbox import isolation
from micrograd_plus.grading.sandbox.boxes import Sandbox, SandboxError
from micrograd_plus.grading.sandbox.inside import clearing
from micrograd_plus.grading.sandbox.runs import Limits
from micrograd_plus.grading.store import Store
from work_counts import count_calls, cpu_ratio

TWO = Assignment("week3", ["tanh.x", "exp.x"], SECRET)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def marks_of(source: str | bytes, sandbox, name: str = "work.py", assigned: Assignment = TWO, **more) -> dict:
    """Return the marks of a program or a notebook."""
    data = source if isinstance(source, bytes) else source.encode()
    submission = submissions.Submission("ada")
    submissions.add_files(submission, [(name, data)])
    return grade.grade_submission(submission, assigned, sandbox, **more)


def notebook(*sources: str) -> bytes:
    cells = [{"cell_type": "code", "metadata": {}, "source": each} for each in sources]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def points(marks: dict) -> list[float]:
    return [each["points"] for each in marks["exercises"]]


# Removing what students leave -----------------------------------------------------------------------------------------


def test_a_folder_of_any_depth_is_removed(tmp_path):
    folder = tmp_path / "box"
    folder.mkdir()
    number = os.open(folder, os.O_RDONLY)
    for depth in range(1500):
        os.mkdir("deep", dir_fd=number)
        inner = os.open("deep", os.O_RDONLY, dir_fd=number)
        if depth % 300 == 0:
            os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=number))
            os.symlink("/", "root", dir_fd=number)
        os.close(number)
        number = inner
    os.close(number)
    clearing.discard(folder)
    assert list(tmp_path.iterdir()) == []
    assert Path("/").exists()


DEEP = """
import os
made = []
def tanh_x(out):
    for n in range(1000 if not made else 0):
        os.mkdir("d")
        os.chdir("d")
        made.append(n)
    return 1 - out**2
def exp_x(out):
    return out
"""


@pytest.mark.parametrize("level", isolation.LEVELS)
def test_a_deep_folder_costs_no_later_mark(level):
    if not isolation.is_available(level):
        pytest.skip(f"this machine has no isolation of level {level!r}")
    with Sandbox(level) as sandbox:
        first = marks_of(DEEP, sandbox)
        assert first["exercises"][1]["right"]
        assert points(marks_of(RIGHT, sandbox)) == [10, 10]
        for _ in range(200):  # another process may be clearing a folder of its own there just now
            left = [] if sandbox.root is None else list((sandbox.root / "boxes").glob(f"{clearing.TRASH}*"))
            if not left:
                break
            time.sleep(0.1)
        assert not left
    with Sandbox(level) as sandbox:
        assert points(marks_of(RIGHT, sandbox)) == [10, 10]


# Faults of the grader -------------------------------------------------------------------------------------------------


def test_a_fault_of_the_grader_is_not_graded_and_counted(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "ada.py").write_text(RIGHT, encoding="utf-8")
    path, store = assignment(tmp_path), Store(tmp_path / "marks")
    arguments = ["grade", str(folder), "--assignment", str(path), "-o", str(store.folder)]

    def fail(self, message):
        raise batch.WorkerError("the machine is on fire")

    with monkeypatch.context() as patch:
        patch.setattr(batch.Worker, "send", lambda self, message, real=batch.Worker.send: (
            real(self, message) if "assignment" in message else fail(self, message)))  # fmt: skip
        assert main(arguments) == 3
    assert "1 not graded" in capsys.readouterr().out
    marks = store.get("ada")
    assert marks["failed"] == ["tanh.x", "exp.x"]
    assert "not your fault" in marks["exercises"][0]["reason"]
    assert (store.folder / "marks.csv").read_text(encoding="utf-8").splitlines()[1] == "ada,,20,True,,"
    assert main(arguments) == 0, "the next run grades it"
    assert store.get("ada")["score"] == 20


def test_a_fault_in_one_exercise_leaves_the_marks_of_the_others(sandbox, monkeypatch):
    kind = type(TWO.definitions["tanh.x"])
    real = kind.mark
    monkeypatch.setattr(kind, "mark", lambda self, *rest: 1 / 0 if self.id == "tanh.x" else real(self, *rest))
    marks = marks_of(RIGHT, sandbox)
    assert marks["failed"] == ["tanh.x"]
    assert points(marks) == [0, 10]
    row = table.marks_table([marks]).splitlines()[1].split(",")
    assert (row[1], row[4], row[5]) == ("", "", "10")
    assert json.loads(format_marks("prairielearn", [marks]))["gradable"] is False


def test_a_sandbox_that_fails_twice_gives_no_marks(monkeypatch):
    grader = worker.Grader(TWO, "none", 1)
    monkeypatch.setattr(Sandbox, "run", lambda self, run: (_ for _ in ()).throw(SandboxError("no memory")))
    marks = grader.grade(submissions.Submission("ada", submissions.read_program(RIGHT.encode())))
    assert marks["failed"] == ["tanh.x", "exp.x"]
    assert not grade.is_graded(marks)


def test_files_that_a_killed_run_left_among_the_walks_are_removed(tmp_path):
    store = Store(tmp_path)
    (tmp_path / "walks").mkdir()
    (tmp_path / "walks" / f".a.json.{files.TEMPORARY}-abc").write_text("half", encoding="utf-8")
    store.put_walks("a", {"tanh.x": "{}"})
    store.put_walks("a--b", {"tanh.x": "{}"})
    with store.lock():
        store.put_walks("a", {})
    assert [path.name for path in (tmp_path / "walks").iterdir()] == ["a--b--tanh.x.json"]


# Limits of a submission as a whole ------------------------------------------------------------------------------------


def test_endless_cells_beside_right_answers_cost_no_marks(sandbox, monkeypatch):
    cells = ["while True: pass"] * 300
    limits = lambda exercise: Limits(cpu=1.0, wall=60.0)
    runs = []
    monkeypatch.setattr(sandbox, "run", lambda run, run_in=sandbox.run: runs.append(run) or run_in(run))
    marks = marks_of(notebook(*cells, HEAD + TANH.format("1 - out**2"), EXP.format("out")), sandbox, "work.ipynb",
                     limits=limits)  # fmt: skip
    assert points(marks) == [10, 10]
    assert len(marks["remarks"]) <= 2 + grade.MOST_LEFT_OUT
    assert len(runs) == 2 + grade.MOST_LEFT_OUT + 1


def test_an_answer_that_sleeps_repeats_a_limited_number_of_times(sandbox, monkeypatch):
    runs = []
    monkeypatch.setattr(sandbox, "run", lambda run: runs.append(run) or grade.RunResult(end="time", cpu=0.01))
    names = ["tanh.x", "exp.x", "log.x", "sin.x", "cos.x"]
    source = "".join(f"def {name.replace('.', '_')}(x): pass\n" for name in names)
    marks = marks_of(source, sandbox, assigned=Assignment("week3", names, SECRET))
    assert len(runs) == len(names) + grade.MOST_REPEATS
    assert points(marks) == [0] * 5


@pytest.mark.parametrize("cells", [0, 40])
def test_a_submission_as_a_whole_has_one_budget(sandbox, monkeypatch, cells):
    names = ["tanh.x", "exp.x", "log.x", "sin.x", "cos.x"]
    answers = [f"def {name.replace('.', '_')}(x):\n    while True: pass" for name in names]
    spent = []

    def run_slowly(run):
        spent.append(run.limits.cpu)
        return grade.RunResult(end="cpu", cpu=run.limits.cpu, wall=run.limits.cpu, has_answer=True)

    monkeypatch.setattr(sandbox, "run", run_slowly)
    limits = lambda exercise: Limits(cpu=2.0, wall=6.0)
    monkeypatch.setattr(grade, "SPARE", -4.0)
    source = notebook(*["while True: pass"] * cells, *answers)
    marks = marks_of(source, sandbox, "work.ipynb", assigned=Assignment("week3", names, SECRET), limits=limits)
    ends = [each["reason"] for each in marks["exercises"]]
    assert sum(spent) == 6.0
    assert ends[:3] == ["your code ran longer than 2 s"] * 3
    assert ends[3:] == ["your submission as a whole ran longer than 6 s, so this exercise was not run"] * 2


def test_reading_counts_towards_the_budget_and_the_last_run_is_cut():
    spent = budget.Budget(10.0, spent=8.0)
    limits = spent.limit(Limits(cpu=5.0, wall=15.0))
    assert (limits.cpu, limits.wall) == (2.0, 15.0)
    spent.spend(grade.RunResult(cpu=1.9, wall=21.9))
    assert spent.is_spent
    assert not budget.Budget(10.0, spent=9.0).is_spent


# Late submissions -----------------------------------------------------------------------------------------------------


DUE = "2026-12-04T23:59:00+01:00"


@pytest.mark.parametrize(("time", "days"), [
    ("2026-12-04T23:59", 0), ("2026-12-05T00:10", 0), ("2026-12-05T00:20", 1), ("2026-12-05T23:59", 1),
    ("2026-12-06T00:00", 2), ("2026-12-04T22:59:30Z", 0), ("2026-12-04T23:20Z", 1), ("2026-12-01", 0),
])  # fmt: skip
def test_a_day_that_has_begun_after_the_grace_counts_as_late(time, days):
    assert lateness.count_days(time, datetime.fromisoformat(DUE), grace=15) == days


def test_late_submissions_lose_points_by_the_rule(tmp_path, capsys):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.py").write_text(RIGHT, encoding="utf-8")
    rule = "{ per_day = 30, at_most = 50, grace = 15 }"
    path = assignment(tmp_path, due=DUE, late=rule)
    times = tmp_path / "times.csv"
    times.write_text("id,time\na,2026-12-04T20:00\nb,2026-12-05T12:00\nc,2026-12-09T12:00+01:00\n", encoding="utf-8")
    command = ["grade", str(folder), "--assignment", str(path), "-o", str(tmp_path / "out"), "--jobs", "1",
               "--columns", "student,score,late"]  # fmt: skip
    assert main([*command, "--times", str(times)]) == 0
    assert "has no time for d: nothing is taken off" in capsys.readouterr().out
    table_of_marks = (tmp_path / "out" / "marks.csv").read_text(encoding="utf-8").split()
    assert table_of_marks == ["student,score,late", "a,20,0", "b,14,1", "c,10,5", "d,20,0"]
    late = Store(tmp_path / "out").get("b")
    assert late["late"] == {"days": 1, "percent": 30.0, "points": 6.0}
    assert late["remarks"] == ["submitted 1 day late: 30 % of the points (6) are taken off"]
    assert [each["points"] for each in late["exercises"]] == [10, 10]
    assert "30 % of the points" in (tmp_path / "out" / "students" / "b.html").read_text(encoding="utf-8")
    times.write_text("b,2026-12-04T12:00\n", encoding="utf-8")
    assert main([*command, "--times", str(times), "--again", "exp.x"]) == 0
    assert Store(tmp_path / "out").get("b")["score"] == 20


@pytest.mark.parametrize(("settings", "rows", "message"), [
    ({}, "a,2026-12-04\n", "the assignment has no due time"),
    ({"due": DUE}, "a,0001-01-01T00:00+14:00\n", "line 1 of times.csv has the year 1"),
    ({"due": DUE}, "a,\0\n\udc80", "times.csv is not a table: save it as CSV in UTF-8"),
    ({"due": DUE}, "id,time\na,yesterday\n", "line 2 of times.csv must have an ID and a time"),
    ({"due": "2026-12-04T23:59:00"}, "a,2026-12-04T12:00+01:00\n", "has a time zone, and `due`"),
    ({"due": "2026-12-04"}, "", "`due` must be a date with a time"),
    ({"late": "{ per_day = 10 }"}, "", "[late] needs the time"),
    ({"due": DUE, "late": "{ per_week = 10 }"}, "", "no setting 'per_week'; it has grace, per_day, at_most"),
    ({"due": DUE, "late": "{ per_day = 110 }"}, "", "'per_day' must be a number between 0 and 100, got 110"),
])  # fmt: skip
def test_unusable_times_and_rules_stop_before_anything_is_written(tmp_path, capsys, settings, rows, message):
    (tmp_path / "a.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "times.csv").write_bytes(rows.encode("utf-8", "surrogateescape"))
    code = main(["grade", str(tmp_path / "a.py"), "--assignment", str(assignment(tmp_path, **settings)), "-o",
                 str(tmp_path / "out"), "--times", str(tmp_path / "times.csv")])  # fmt: skip
    assert code == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


READERS = {
    "commands": "%a\n" * 20_000, "imports": "def f():\n" + "    import gc\n" * 20_000,
    "one command below brackets": "(" * 20_000 + "\n%a" * 20_000, "quotes": "'''\n" + "\\'''\n" * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("kind", READERS)
def test_reading_takes_time_in_proportion_to_the_length(kind):
    text = READERS[kind]

    def read(size):
        part = text[: len(text) * size // 8]
        return lambda: tampering.find_tampering([Cell("cell 1", remove_magics(part))])

    assert cpu_ratio(read, 1, factor=8, enough=30) < 30


def test_a_chain_of_cells_is_followed_in_linear_time():
    cells = [Cell(f"cell {n}", f"x{n} = x{n - 1}") for n in range(4000)]
    owners = [set() for _ in cells[1:]] + [{"a"}]
    found = []
    assert count_calls(lambda: found.extend(required_cells(cells, owners, "a"))) < 200 * len(cells)
    assert len(found) == 4000


@pytest.mark.skipif(os.name != "posix", reason="only Unix has limits of processor time")
def test_a_submission_that_takes_too_long_to_read_is_not_gradable(tmp_path, monkeypatch):
    (tmp_path / "submissions").mkdir()
    for name in ("ada", "bob"):
        (tmp_path / "submissions" / f"{name}.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'micrograd_plus.grading.worker' in ''.join(sys.orig_argv):\n"
        "    from micrograd_plus.grading import worker\n"
        "    worker.READING_SECONDS = 1\n"
        "    real = worker.read_submission\n"
        "    def read(path, student):\n"
        "        while student == 'ada': pass\n"
        "        return real(path, student)\n"
        "    worker.read_submission = read\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    store = Store(tmp_path / "marks")
    summary = batch.grade_class(batch.find_submissions([tmp_path / "submissions"]), assignment(tmp_path), store, jobs=1)
    assert summary.failed == 0
    assert "more than 20 s of processor time" in store.get("ada")["problem"]
    assert store.get("bob")["score"] == 20


# Reading --------------------------------------------------------------------------------------------------------------


def starter_and(answer: str) -> str:
    """Return the starters of both exercises, and an answer below them."""
    return HEAD + "\n".join(TWO.definitions[name].starter for name in TWO.exercises) + answer


def test_an_answer_below_or_above_the_kept_starter_counts(sandbox):
    both = TANH.format("1 - out**2") + EXP.format("out")
    starters = [TWO.definitions[name].starter for name in TWO.exercises]
    assert points(marks_of(starter_and(both), sandbox)) == [10, 10]
    assert points(marks_of(notebook(HEAD, *starters, both), sandbox, "work.ipynb")) == [10, 10]
    assert points(marks_of(notebook(HEAD + both, *starters), sandbox, "work.ipynb")) == [10, 10]
    unchanged = marks_of(starter_and(""), sandbox)
    assert [each["reason"] for each in unchanged["exercises"]] == ["the starter code was not changed"] * 2


def test_a_very_long_chain_of_conditions_is_graded(sandbox):
    chain = "if 0: pass\n" + "elif 0: pass\n" * 330
    marks = marks_of(chain + RIGHT, sandbox)
    assert marks["failed"] == []
    assert points(marks) == [10, 10]


def test_statements_beside_a_call_of_the_engine_still_run(sandbox):
    cell = "import numpy as np\nimport micrograd_plus as mg\nx = mg.tensor([1.0])\ndef square(a): return np.square(a)"
    marks = marks_of(notebook(cell, HEAD + TANH.format("1 - square(out)"), EXP.format("out")), sandbox, "work.ipynb")
    assert points(marks) == [10, 10]


def test_a_remark_says_which_cell_a_missing_name_comes_from(sandbox):
    marks = marks_of(notebook("helper = undefined_thing", HEAD + TANH.format("helper(out)")), sandbox, "work.ipynb")
    assert any("helper is missing because cell 1 stopped with NameError" in each for each in marks["remarks"])


def test_archives_skip_the_files_that_folders_skip(tmp_path, sandbox):
    entries = {
        "__MACOSX/._a.py": b"\0\1", ".DS_Store": b"\0", "a/.ipynb_checkpoints/work-checkpoint.py": SIGN.encode(),
        "a/__pycache__/work.py": b"\0", "a/._work.py": b"\0", "a/work.py": RIGHT.encode(),
    }  # fmt: skip
    place = tmp_path / "ada.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    for name, data in entries.items():
        (tmp_path / "bob" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bob" / name).write_bytes(data)
    for path in (place, tmp_path / "bob"):
        submission = submissions.read_submission(path)
        assert submission.problem is None
        assert points(grade.grade_submission(submission, TWO, sandbox)) == [10, 10]


def test_an_older_version_in_a_subfolder_does_not_count_and_is_named(tmp_path, sandbox):
    (tmp_path / "ada" / "old").mkdir(parents=True)
    (tmp_path / "ada" / "a17.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "ada" / "old" / "a17_v1.py").write_text(SIGN, encoding="utf-8")
    marks = grade.grade_submission(submissions.read_submission(tmp_path / "ada"), TWO, sandbox)
    assert points(marks) == [10, 10]
    assert any("answered in several files (old/a17_v1.py, a17.py); the answer in a17.py counts" in each
               for each in marks["remarks"])  # fmt: skip


# Reasons --------------------------------------------------------------------------------------------------------------

LEAKS = (
    "import base64\n    raise ValueError(base64.b85encode(out.tobytes()))",
    "raise ValueError(repr(out.tolist()))",
    "raise type('E' + out.tobytes().hex()[:70], (Exception,), {})('no')",
    "{}[out.tobytes().hex()]",
    "int(out.tobytes().hex() + 'g')",
    "getattr(out, 'a' + out.tobytes().hex())",
    "import sys\n    raise ValueError(sys.orig_argv, np.__file__)",
    "return type('E' + out.tobytes().hex()[:70], (), {})()",
)


@pytest.mark.parametrize("body", LEAKS)
def test_no_reason_contains_an_input_or_a_path(sandbox, body):
    source = f"import numpy as np\ndef tanh_x(out):\n    {body}\n"
    seen = []
    exercise = TWO.definitions["tanh.x"]
    submission = submissions.Submission("ada", submissions.read_program(source.encode()))
    seed = TWO.seed("ada", "tanh.x", 1, grade.content_hash(submission))
    for case in exercise.cases(seed):
        out = case.request["arguments"].get("out")
        seen += [out.tobytes().hex()[:12], repr(float(out.flat[0]))[:8]] if out is not None and out.size else []
    text = json.dumps(grade.grade_submission(submission, TWO, sandbox))
    assert not [each for each in seen if len(each) > 6 and each in text]
    assert not [word for word in ("/usr", "/root", "/lib", "site-packages", "python3") if word in text]


@pytest.mark.parametrize("message", [
    "operands could not be broadcast together with shapes (2,3) (4,) ", "name 'np' is not defined",
    "division by zero", "index 5 is out of bounds for axis 0 with size 3", "the weight is still missing",
    "unsupported operand type(s) for +: 'NoneType' and 'int'", "tanh_x() missing 1 required positional argument: 'out'",
])  # fmt: skip
def test_usual_messages_and_those_of_the_source_are_shown(message):
    safe = SafeMessages(["import numpy as np\ndef tanh_x(out): raise ValueError('the weight is still missing')"])
    assert safe.message(message) == message


def test_a_new_version_of_a_submission_is_graded_on_new_inputs():
    first, second = (submissions.Submission("ada", submissions.read_program(text.encode())) for text in (RIGHT, SIGN))
    seeds = [TWO.seed("ada", "tanh.x", 1, grade.content_hash(each)) for each in (first, second, first)]
    assert seeds[0] != seeds[1]
    assert seeds[0] == seeds[2]
    walks = Assignment("walks", ["means.find"], SECRET)
    assert walks.seed("ada", "means.find", 1, "a") == walks.seed("ada", "means.find", 1, "b")


LOCKS = """
import fcntl, os, ctypes
def tanh_x(out):
    file = open(os.__file__)
    for call in (lambda: fcntl.flock(file, fcntl.LOCK_SH), lambda: fcntl.lockf(file, fcntl.LOCK_SH),
                 lambda: fcntl.fcntl(file, 1024, 0)):
        try:
            call()
            return out
        except PermissionError:
            pass
    if ctypes.CDLL(None).inotify_init() >= 0:
        return out
    return 1 - out**2
"""


@pytest.mark.parametrize("level", ["full", "user"])
def test_boxes_share_no_locks_and_no_notices(level):
    if not isolation.is_available(level):
        pytest.skip(f"this machine has no isolation of level {level!r}")
    with Sandbox(level) as sandbox:
        assert points(marks_of(LOCKS, sandbox))[0] == 10


def test_replacing_exit_does_not_return_into_the_graders_program(sandbox):
    source = "import os\nos._exit = lambda code: None\n" + RIGHT
    assert points(marks_of(source, sandbox)) == [10, 10]


# Mistakes of teachers -------------------------------------------------------------------------------------------------

SETTINGS = [
    ('[points]\n"softmaxx" = 4\n', "[points] names 'softmaxx', which is not in this assignment; it has tanh.x, exp.x"),
    ('[points]\n"tanh.x" = "four"\n', "[points] 'tanh.x' must be a number of at least 0, got 'four'"),
    ('[points]\n"tanh.x" = -4\n', "must be a number of at least 0, got -4"),
    ("points = 3\n", "`points` must be a table"),
    ('files = ["none.py"]\n', "names the file 'none.py', which is not in"),
    ('hand_out = ["own.py"]\n', "`hand_out` must be a list of names in `files`"),
    ("files = 3\n", "`files` must be a list"), ("title = 3\n", "`title` and `id` must be strings"),
    ('isolation = "ful"\n', "`isolation` must be one of"), ('titel = "a"\n', "unknown key 'titel'"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_wrong_settings_stop_grade_and_release_with_one_sentence(tmp_path, capsys, settings, message):
    path = assignment(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + settings, encoding="utf-8")
    (tmp_path / "ada.py").write_text(RIGHT, encoding="utf-8")
    for arguments in (["grade", str(tmp_path / "ada.py"), "--assignment", str(path), "-o", str(tmp_path / "marks")],
                      ["exercises", "release", str(path), "-o", str(tmp_path / "handout")]):  # fmt: skip
        assert main(arguments) == 1
        error = capsys.readouterr().err
        assert message in error
        assert "Traceback" not in error
    assert not (tmp_path / "marks").exists()
    assert not (tmp_path / "handout").exists()


def test_an_unknown_column_stops_before_anything_is_written(tmp_path, capsys):
    (tmp_path / "ada.py").write_text(RIGHT, encoding="utf-8")
    arguments = ["grade", str(tmp_path / "ada.py"), "--assignment", str(assignment(tmp_path)), "-o",
                 str(tmp_path / "marks"), "--columns", "SIS User ID=sdent"]  # fmt: skip
    assert main(arguments) == 1
    assert "column 'SIS User ID' cannot contain 'sdent'" in capsys.readouterr().err
    assert not (tmp_path / "marks").exists()


def test_unreadable_places_give_a_sentence_and_no_traceback(tmp_path, capsys):
    path = assignment(tmp_path)
    (tmp_path / "ada.py").write_text(RIGHT, encoding="utf-8")
    one = ["grade", "--one", str(tmp_path / "ada.py"), "--assignment", str(path)]
    assert main([*one, "--format", "xml"]) == 1
    assert "unknown format 'xml'; choose from json" in capsys.readouterr().err
    assert main([*one, "-o", str(tmp_path / "none" / "marks.json")]) == 1
    assert "cannot be read or written" in capsys.readouterr().err
    new = tmp_path / "new" / "folder" / "week3.ipynb"
    assert main(["grade", "--pack", "nbgrader", "--assignment", str(path), "-o", str(new)]) == 0
    assert new.exists()
    assert main(["exercises", "release", str(path), "-o", str(tmp_path / "handout.ipynb")]) == 1
    assert "a release is a folder with several files" in capsys.readouterr().err


OWN = """
import micrograd_plus as mg
from micrograd_plus import exercises
@exercises.define("own.triple", prompt="Three times x.", inputs={"x": mg.samples.real(2, 3)})
def own_triple(x):
    return 3 * x
"""


@pytest.mark.usefixtures("own_exercises")
@pytest.mark.parametrize("is_handed_out", [True, False])
def test_students_get_feedback_on_own_exercises_if_the_teacher_hands_them_out(tmp_path, capsys, is_handed_out):
    (tmp_path / "own_tasks.py").write_text(OWN, encoding="utf-8")
    chosen = {"hand_out": '["own_tasks.py"]'} if is_handed_out else {}
    path = assignment(tmp_path, files='["own_tasks.py"]', **chosen)
    path.write_text(path.read_text(encoding="utf-8").replace('"exp.x"', '"own.triple"'), encoding="utf-8")
    for _ in range(2):  # a second release changes nothing
        assert main(["exercises", "release", str(path), "-o", str(tmp_path / "out")]) == 0
    assert (
        main(["grade", "--pack", "nbgrader", "--assignment", str(path), "-o", str(tmp_path / "out" / "s.ipynb")]) == 0
    )
    for folder, name in (("out", "week3.ipynb"), ("out/nbgrader/week3", "week3.ipynb"), ("out", "s.ipynb")):
        place = tmp_path / folder
        assert (place / "own_tasks.py").exists() is is_handed_out
        assert ("import own_tasks" in (place / name).read_text(encoding="utf-8")) is is_handed_out
    if is_handed_out:
        assert (tmp_path / "out" / "own_tasks.py").read_text(encoding="utf-8") == OWN
        book = json.loads((tmp_path / "out" / "week3.ipynb").read_text(encoding="utf-8"))
        setup = next(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code")
        check = "print(exercises.check('own.triple', lambda x: 3 * x).result.points)"
        ran = subprocess.run([sys.executable, "-c", f"{setup}\n{check}"], cwd=tmp_path / "out", check=False,
                             capture_output=True, text=True)  # fmt: skip
        assert ran.stdout.endswith("10.0\n") or ran.stdout.strip().endswith("10"), ran.stderr


# Random submissions ---------------------------------------------------------------------------------------------------

PIECES = (
    RIGHT, SIGN, "%matplotlib inline\n", "(", '"' * 3, "x = 1\n", "\\", "\0", "\ud800", "# coding: latin-1\n", "'",
    "!ls\n", "while True\n", "    ", "\N{SNOWMAN}", "def tanh_x(out):\n", "@exercises.answer('tanh.x')\n", "\r", "f'{",
    "%%bash\n",
)  # fmt: skip
VALID = (
    RIGHT, SIGN, "x = 1\n", "1 / 0\n", "import micrograd_plus as mg\n", "def f(x): return undefined\n", "# a comment\n",
    "def tanh_x(out):\n    raise ValueError(out)\n", "def exp_x(x, out): return [x, out]\n", "tanh_x = 3\n",
    "class exp_x: pass\n", "import numpy as np; np.exp = None\n", "import sys; sys.exit(1)\n",
)  # fmt: skip
STEMS = ("a", "\u00e4 b", "=x", "..", "con", "-")
FOLDERS = ("", "", "__MACOSX/._", "old/", "../", ".hidden/", "con/")
CELL_KINDS = ("code", "code", "markdown", 3)


def random_submission(folder: Path, chance: random.Random) -> Path:
    """Write a random submission: a program, a notebook or an archive, often damaged."""

    def text() -> str:
        pieces = chance.choice((PIECES, VALID))
        return "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 6)))

    def data(kind: str) -> bytes:
        if kind == "py":
            return text().encode(chance.choice(["utf-8", "utf-16", "utf-8-sig"]), "surrogatepass")
        cells = [
            {
                "cell_type": chance.choice(CELL_KINDS),
                "metadata": chance.choice([{}, None, []]),
                "source": chance.choice([text(), [text()], None, 7]),
            }
            for _ in range(chance.randrange(4))
        ]
        return json.dumps({"nbformat": 4, "cells": cells}).encode()

    kind = chance.choice(["py", "ipynb", "zip"])
    path = folder / f"{chance.choice(STEMS)}{chance.randrange(10**9)}.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(chance.randrange(4)):
                inner = chance.choice(["py", "ipynb"])
                where = chance.choice(FOLDERS)
                archive.writestr(f"{where}w{number}.{inner}", data(inner))
    else:
        path.write_bytes(data(kind))
    if chance.random() < 0.3:
        damaged = bytearray(path.read_bytes() or b"x")
        for _ in range(chance.randrange(1, 5)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(bytes(damaged))
    return path


def test_random_submissions_get_marks_or_a_reason(tmp_path, sandbox):
    chance = random.Random(11)  # noqa: S311 - it draws files
    for number in range(int(os.environ.get("RANDOM_SUBMISSIONS", "120"))):
        path = random_submission(tmp_path, chance)
        before = path.read_bytes()
        submission = submissions.read_submission(path)
        assert (submission.problem is None) == bool(submission.cells)
        for cell in submission.cells:
            assert cell.analysis
        if number % 8 == 0:
            marks = grade.grade_submission(submission, TWO, sandbox, limits=lambda exercise: Limits(cpu=1, wall=30))
            assert marks["failed"] == []
            assert all(each["reason"] for each in marks["exercises"])
        assert path.read_bytes() == before
        path.unlink()
    assert list(tmp_path.iterdir()) == []
