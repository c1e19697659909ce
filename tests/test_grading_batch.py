"""Grading a class: everyone gets marks, whatever is in the class, and the same marks after any interruption."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from graded import BROKEN, HEAD, RIGHT, SECRET, SIGN, TANH, assignment, write_class
from micrograd_plus.__main__ import main
from micrograd_plus.exercises import student_key
from micrograd_plus.grading import batch, grade, submissions
from micrograd_plus.grading.assignment import Assignment, AssignmentError, load_assignment
from micrograd_plus.grading.sandbox import isolation
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits
from micrograd_plus.grading.store import Store

SHORT_LIMITS = Path(__file__).with_name("short_limits")


@pytest.fixture(autouse=True)
def short_limits(monkeypatch):
    """Stop endless loops after one second of processor time, in workers too, however busy the machine is."""
    monkeypatch.setattr(grade, "limits_of", lambda exercise: Limits(cpu=1.0, wall=60.0))
    paths = [str(SHORT_LIMITS), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def read_marks(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of marks by its name."""
    return {path.name: path.read_bytes() for path in sorted((folder / "marks").glob("*.json"))}


def command(*rest: object) -> list[str]:
    return [sys.executable, "-m", "micrograd_plus", "grade", *map(str, rest)]


# Marks ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["full", "user", "none"])
def sandbox(request):
    if not isolation.is_available(request.param):
        pytest.skip(f"this machine has no isolation of level {request.param!r}")
    with Sandbox(request.param) as sandbox:
        yield sandbox


def marks_of(source: str, sandbox, tmp_path, **more) -> dict:
    """Return the marks of a program."""
    submission = submissions.Submission("ada", submissions.read_program(source.encode()))
    return grade.grade_submission(submission, load_assignment(assignment(tmp_path)), sandbox, **more)


def test_a_right_answer_gets_all_points_and_a_wrong_sign_a_reason(sandbox, tmp_path):
    right, sign = (marks_of(source, sandbox, tmp_path) for source in (RIGHT, SIGN))
    assert right["score"] == right["max_score"] == 20
    assert all(each["right"] for each in right["exercises"])
    assert sign["exercises"][0]["points"] == 1
    assert sign["exercises"][1]["points"] == 10
    assert "1 times" in sign["exercises"][0]["reason"]
    assert sign["exercises"][0]["mistake"]
    assert right["isolation"] == sandbox.level
    assert right["provisional"] == (sandbox.level != "full")


def test_marks_are_reproducible_and_inputs_differ_by_student(sandbox, tmp_path):
    first, second = (json.dumps(marks_of(SIGN, sandbox, tmp_path)) for _ in range(2))
    assert first == second
    loaded = load_assignment(assignment(tmp_path))
    seeds = {
        tuple(loaded.seed(*who))
        for who in (("ada", "tanh.x", 1), ("ada", "tanh.x", 2), ("bob", "tanh.x", 1), ("ada", "exp.x", 1))
    }
    assert len(seeds) == 4
    assert loaded.seed("ada", "tanh.x", 1) == load_assignment(assignment(tmp_path)).seed("ada", "tanh.x", 1)


@pytest.mark.parametrize(("expression", "points"), [
    ("(1 - out**2).astype('>f8')", 10), ("np.asfortranarray(1 - out**2)", 10), ("(1 - out**2) + -0.0", 10),
    ("np.ravel(1 - out**2).repeat(2)[::2].reshape(np.shape(out))", 10), ("(1 - out**2).tolist()", 10),
    ("np.float64(1.0) - out * out", 10),
])  # fmt: skip
def test_right_answers_in_unusual_forms_get_all_points(sandbox, tmp_path, expression, points):
    source = RIGHT.replace("1 - out**2", expression).replace("from micro", "import numpy as np\nfrom micro", 1)
    assert marks_of(source, sandbox, tmp_path)["exercises"][0]["points"] == points


def test_the_reason_for_an_error_names_its_line(sandbox, tmp_path):
    source = HEAD + TANH.format("undefined")
    assert "not defined (line 2 of your function)" in marks_of(source, sandbox, tmp_path)["exercises"][0]["reason"]


@pytest.mark.skipif(os.name != "posix", reason="this test kills processes with Unix signals")
def test_every_exercise_reports_the_signal_of_a_crash(sandbox, tmp_path):
    marks = marks_of("import os\nos.kill(os.getpid(), 9)\n", sandbox, tmp_path)
    assert [each["reason"] for each in marks["exercises"]] == ["your program crashed (SIGKILL)"] * 2


def test_exercises_do_not_see_changes_of_each_other(sandbox, tmp_path):
    source = RIGHT.replace(
        "return 1 - out**2", "import numpy as np; np.exp = None; open('left', 'w').close(); return 1 - out**2"
    )
    source = source.replace("return out", "import os; assert not os.path.exists('left'); return out")
    assert marks_of(source, sandbox, tmp_path)["score"] == 20


def test_points_of_the_assignment_replace_the_exercises_points(tmp_path):
    with Sandbox() as sandbox:
        path = assignment(tmp_path)
        path.write_text(path.read_text(encoding="utf-8") + '[points]\n"tanh.x" = 3\n', encoding="utf-8")
        submission = submissions.Submission("ada", submissions.read_program(RIGHT.encode()))
        marks = grade.grade_submission(submission, load_assignment(path), sandbox)
    assert marks["exercises"][0]["points"] == pytest.approx(3)
    assert marks["max_score"] == 13


@pytest.mark.parametrize(("text", "message"), [
    ("", "`exercises` must be a list"), ("exercises = []", "must be a list"), ('exercises = ["tanh.x"]', "`secret`"),
    ('exercises = ["tanh.x"]\nsecret = "0123456789abcdef"\nisolation = "some"', "isolation"),
    ("x = ", "not valid TOML"),
    ('exercises = ["tanh.x"]\nsecret = "0123456789abcdef"\nexersises = 1', "unknown key 'exersises'"),
])  # fmt: skip
def test_an_invalid_assignment_raises_an_error(tmp_path, text, message):
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AssignmentError, match=message):
        load_assignment(path)


def test_each_student_gets_their_own_walk_and_keeps_it(tmp_path):
    walks = Assignment("walks", ["means.find"], SECRET)
    exercise, key = walks.definitions["means.find"], student_key.derive_key(SECRET)
    students = ["a17", "b02", "c33@x.edu"]
    steps = {}
    for each in students:
        (case,) = exercise.cases(student_key.walk_number(key, each, "means.find"))
        steps[each] = float(exercise.run(exercise.right, case.request)["values"]["the answer"])
    assert len(set(steps.values())) == 3
    with Sandbox() as sandbox:
        for each in students:
            cells = submissions.read_program(f"means_find = {steps[each]:g}\n".encode())
            again = [grade.grade_submission(submissions.Submission(name, cells), walks, sandbox)["score"]
                     for name in (each, each.upper(), *students)]  # fmt: skip
            assert again == [10, 10, *[10 * (name == each) for name in students]]
        wrong = grade.grade_submission(submissions.Submission("a17", cells), walks, sandbox)["exercises"][0]
    assert f"walk number {student_key.walk_number(key, 'a17', 'means.find')}" in wrong["reason"]


def test_second_derivatives_are_marked_by_values_only(tmp_path):
    twice = Assignment("twice", ["tanh.x.twice", "softmax.x.twice"], SECRET)
    answers = (
        "import numpy as np\ndef tanh_x_twice(out):\n    return 1 - np.array(out)**2\n"
        "def softmax_x_twice(upstream, out, axis):\n"
        "    return out * (upstream - (upstream * out).sum(axis, keepdims=True))\n"
    )
    with Sandbox() as sandbox:
        submission = submissions.Submission("ada", submissions.read_program(answers.encode()))
        first, second = grade.grade_submission(submission, twice, sandbox)["exercises"]
    assert [part["points"] for part in first["parts"]] == [1, 5, 2, 0]
    assert first["mistake"]["title"] == "slope cut off from its output"
    assert second["right"]


def test_a_flaw_of_all_parts_is_reported_once(tmp_path):
    with Sandbox() as sandbox:
        cells = submissions.read_program((HEAD + TANH.format("(1 - out**2).astype('f4')")).encode())
        submission = submissions.Submission("ada", cells)
        first = grade.grade_submission(submission, Assignment("single", ["tanh.x"], SECRET), sandbox)["exercises"][0]
    assert first["reason"].count("single precision") == 1
    assert not first["reason"].startswith("right")


def test_a_new_assignment_reports_unknown_exercises(tmp_path, capsys):
    assert main(["grade", "--new", str(tmp_path / "a.toml"), "tanh.x", "tanhx"]) == 0
    output = capsys.readouterr().out
    assert "there is no exercise 'tanhx'" in output
    assert "name the file that defines it" in output
    assert "tanh.x'." not in output


# The batch ------------------------------------------------------------------------------------------------------------


def test_grading_again_skips_unchanged_submissions(tmp_path, capsys):
    folder = write_class(tmp_path / "submissions", 6, broken=3)
    arguments = ["grade", str(folder), "--assignment", str(assignment(tmp_path)), "-o", str(tmp_path / "out")]
    arguments += ["--jobs", "2"]
    assert main(arguments) == 0
    first = read_marks(tmp_path / "out")
    assert len(first) == 6
    (tmp_path / "out" / "marks" / "student001.json").unlink()
    (folder / "student002.py").write_text(RIGHT, encoding="utf-8")
    assert main(arguments) == 0
    assert "2 marked, 4 unchanged, 0 not graded, 1 could not be read. See" in capsys.readouterr().out
    second = read_marks(tmp_path / "out")
    assert second.pop("student002.json") != first.pop("student002.json")
    assert second == first
    table = (tmp_path / "out" / "marks.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "student,score,max_score,provisional,tanh.x,exp.x"
    assert len(table) == 7


def test_broken_submissions_do_not_change_other_marks(tmp_path):
    path = assignment(tmp_path)
    folder = write_class(tmp_path / "whole", 12, broken=len(BROKEN))
    store = Store(tmp_path / "with")
    batch.grade_class(batch.find_submissions([folder]), path, store, jobs=2)
    for number in range(3, 12):
        (folder / f"student{number:03d}.py").unlink()
    batch.grade_class(batch.find_submissions([folder]), path, Store(tmp_path / "without"), jobs=1)
    with_them, without = read_marks(tmp_path / "with"), read_marks(tmp_path / "without")
    assert len(with_them) == 12
    assert {name: with_them[name] for name in without} == without
    assert all(json.loads(text)["exercises"][0]["reason"] for text in with_them.values())


WITHOUT_UNIX = """
import os, select, signal, socket, subprocess, sys
for name in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[name] = None
for module, names in ((os, "fork forkpty killpg getuid geteuid memfd_create pidfd_open chown setsid wait4 sysconf"),
                      (select, "poll epoll"), (socket, "AF_UNIX SOCK_SEQPACKET send_fds recv_fds"),
                      (signal, "SIGHUP SIGSTOP SIGALRM alarm pthread_sigmask")):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""


def test_a_class_is_graded_on_a_system_without_unix_functions(tmp_path):
    (tmp_path / "without").mkdir()
    settings = WITHOUT_UNIX + (SHORT_LIMITS / "sitecustomize.py").read_text(encoding="utf-8")
    (tmp_path / "without" / "sitecustomize.py").write_text(settings, encoding="utf-8")
    folder = write_class(tmp_path / "submissions", 6, broken=3)
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "without"), *filter(None, sys.path)])}
    process = subprocess.run(command(folder, "--assignment", assignment(tmp_path), "-o", tmp_path / "out", "--jobs", 2),
                         env=os.environ | paths, check=False, capture_output=True, text=True)  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert "isolation was 'none'" in process.stdout
    marks = [json.loads(text) for text in read_marks(tmp_path / "out").values()]
    assert [each["isolation"] for each in marks] == ["none"] * 6
    assert all(each["provisional"] for each in marks)
    assert [each["score"] for each in marks] == [20, 20, 11, 0, 0, 0]
    reasons = [each["exercises"][0]["reason"] for each in marks[3:]]
    assert reasons[0] == "your program ended before it returned an answer"
    assert reasons[1].startswith("your code ran longer than")


def test_a_file_in_use_by_another_program_gives_an_error(tmp_path, monkeypatch, capsys):
    def raise_error(*_):
        raise PermissionError(13, "Permission denied", str(tmp_path / "out" / "marks.csv"))

    monkeypatch.setattr("micrograd_plus.grading.report.write_report", raise_error)
    folder, path = write_class(tmp_path / "submissions", 1), assignment(tmp_path)
    assert main(["grade", str(folder), "--assignment", str(path), "-o", str(tmp_path / "out")]) == 1
    output = capsys.readouterr().err
    assert "marks.csv cannot be read or written (Permission denied). Is it open in another program?" in output
    assert len(read_marks(tmp_path / "out")) == 1


@pytest.mark.slow
def test_a_class_of_300_with_broken_submissions_gets_300_results(tmp_path):
    folder = write_class(tmp_path / "submissions", 300, broken=15)
    process = subprocess.run(command(folder, "--assignment", assignment(tmp_path), "-o", tmp_path / "out"), check=False,
                         capture_output=True, text=True)  # fmt: skip
    assert process.returncode == 0, process.stderr
    results = [json.loads(text) for text in read_marks(tmp_path / "out").values()]
    assert len(results) == 300
    assert all(each["reason"] for marks in results for each in marks["exercises"])
    assert sum(marks["score"] == 20 for marks in results) == 190


GRADERS = """
import os, sys
import micrograd_plus.grading.batch, micrograd_plus.grading.report
from micrograd_plus.__main__ import main
for _ in sys.stdin:
    number = os.fork()
    if number == 0:
        sys.stdout = open(os.devnull, "w")
        os._exit(main(sys.argv[1:]))
    print(number, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
"""
"""A process that imports everything once, and runs the same command in a fork for every line it reads."""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="this test kills processes with Unix signals")
def test_a_run_killed_at_random_moments_gives_the_same_marks(tmp_path):
    folder = write_class(tmp_path / "submissions", 20, broken=1)
    assigned = assignment(tmp_path)
    subprocess.run(command(folder, "--assignment", assigned, "-o", tmp_path / "calm"), check=True, capture_output=True)
    calm = read_marks(tmp_path / "calm")
    chance, kills = random.Random(7), 0  # noqa: S311 - it draws moments
    words = ["grade", folder, "--assignment", assigned, "-o", tmp_path / "out"]
    graders = subprocess.Popen([sys.executable, "-c", GRADERS, *map(str, words)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    while kills < 50:
        graders.stdin.write("another\n")
        graders.stdin.flush()
        number = int(graders.stdout.readline())
        time.sleep(chance.uniform(0.0, 0.8))
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        ended = int(graders.stdout.readline())
        kills += ended == -signal.SIGKILL
        if ended == 0:
            for path in list((tmp_path / "out" / "marks").glob("*.json"))[: chance.randrange(1, 20)]:
                path.unlink()
        saved = read_marks(tmp_path / "out") if (tmp_path / "out" / "marks").exists() else {}
        assert {name: calm[name] for name in saved} == saved, "every file must be complete"
    graders.stdin.close()
    assert graders.wait() == 0
    subprocess.run(command(folder, "--assignment", assigned, "-o", tmp_path / "out"), check=True, capture_output=True)
    assert read_marks(tmp_path / "out") == calm
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in (tmp_path / "calm").iterdir()}


OWN_DOUBLE = """
from micrograd_plus import exercises
def inputs(rng):
    return {"x": rng.normal(size=(2, 3))}
@exercises.define("own.double", prompt="A multiple of x.", inputs=inputs)
def own_double(x):
    return FACTOR * x
"""


@pytest.mark.usefixtures("own_exercises")
def test_grading_one_exercise_again_lists_changed_marks(tmp_path, capsys, monkeypatch):
    folder = write_class(tmp_path / "submissions", 3)
    path = assignment(tmp_path, files='["own.py"]')
    path.write_text(path.read_text(encoding="utf-8").replace('"exp.x"', '"own.double"'), encoding="utf-8")
    own = tmp_path / "own.py"
    own.write_text(OWN_DOUBLE.replace("FACTOR", "3"), encoding="utf-8")
    for place in folder.iterdir():
        place.write_text(
            place.read_text(encoding="utf-8") + "\ndef own_double(x):\n    return 2 * x\n", encoding="utf-8"
        )
    arguments = ["grade", str(folder), "--assignment", str(path), "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    own.write_text(OWN_DOUBLE.replace("FACTOR", "2"), encoding="utf-8")
    assert main([*arguments, "--again", "own.double"]) == 0
    output = capsys.readouterr().out
    assert "3 marks changed." in output
    assert re.search(r"student000: own.double: [01] -> 10:.*-> right", output)
    moved = (tmp_path / "out" / "moved.csv").read_text(encoding="utf-8").splitlines()
    assert moved[0] == "student,exercise,before,after,reason before,reason after"
    assert len(moved) == 4


def test_a_worker_with_own_exercises_writes_nothing_that_a_kill_could_leave(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(OWN_DOUBLE.replace("FACTOR", "2"), encoding="utf-8")
    path = assignment(tmp_path, files='["own.py"]')
    path.write_text(path.read_text(encoding="utf-8").replace('"exp.x"', '"own.double"'), encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    worker = batch.Worker({"assignment": batch.pack_assignment(path), "level": None, "attempt": 1})
    worker.process.kill()
    worker.close()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_worker_that_dies_costs_no_marks(tmp_path, monkeypatch):
    folder = write_class(tmp_path / "submissions", 3)
    class_of_three = batch.find_submissions([folder])
    real, died = batch.Worker.receive, []

    def receive(self):
        message = real(self)
        if not message.get("ready") and "student001" in str(message) and len(died) < 1:
            died.append(1)
            self.process.kill()
            raise batch.WorkerError("killed")
        return message

    monkeypatch.setattr(batch.Worker, "receive", receive)
    done = batch.grade_class(class_of_three, assignment(tmp_path), Store(tmp_path / "out"), jobs=1)
    assert (done.marked, done.failed, len(died)) == (3, 0, 1)


@pytest.mark.parametrize(("first", "second"), [
    ("Ada.py", "ada.ipynb"), ("a*b.py", "a_b.py"), ("ada.zip", "ada"), ("\u00fcnal.py", "u\u0308nal.ipynb"),
])  # fmt: skip
def test_two_submissions_with_one_id_stop_the_run(tmp_path, capsys, first, second):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in (first, second):
        (folder / name).write_text(RIGHT, encoding="utf-8")
    arguments = ["grade", str(folder), "--assignment", str(assignment(tmp_path)), "-o", str(tmp_path / "out")]
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert "rename or remove one" in message
    assert not read_marks(tmp_path / "out")


def test_ids_keep_letters_and_spaces_of_file_names(tmp_path):
    for name in ("a b.py", "a_b.py", "m\u00fcller.py", "m\u00f6ller.py", "Ann Lee.ipynb"):
        (tmp_path / name).write_text(RIGHT, encoding="utf-8")
    ids = [student for student, _ in batch.find_submissions([tmp_path])]
    assert sorted(ids) == ["Ann Lee", "a b", "a_b", "m\u00f6ller", "m\u00fcller"]


@pytest.mark.parametrize("name", ["../../evil", "a/b", "a\nb", "", "\N{SNOWMAN}"])
def test_no_student_id_leads_out_of_the_folder(tmp_path, name):
    student = submissions.student_id(Path(name + ".py") if "/" not in name else Path("x", name + ".py"))
    assert Store(tmp_path).path(student).parent == tmp_path / "marks"


def test_a_file_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("ada", "first")
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="full"):
        store.put("ada", "second")
    assert store.path("ada").read_text(encoding="utf-8") == "first"
    assert list(store.marks.iterdir()) == [store.path("ada")]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_marks(tmp_path):
    distributed = pytest.importorskip("distributed")
    if not isolation.is_available("full"):
        pytest.skip("a cluster requires full isolation")
    folder = write_class(tmp_path / "submissions", 6, broken=2)
    path = assignment(tmp_path, due="2026-12-04T23:59:00", late="{per_day = 10}")
    times = tmp_path / "times.csv"
    times.write_text("id,time\nstudent000,2026-12-05T12:00\n", encoding="utf-8")
    submitted = {"student000": "2026-12-05T12:00:00"}
    found = batch.find_submissions([folder])
    batch.grade_class(found, path, Store(tmp_path / "here"), level="full", times=submitted)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        code = main(["grade", str(folder), "--assignment", str(path), "-o", str(tmp_path / "there"),
                     "--dask", cluster.scheduler_address, "--times", str(times)])  # fmt: skip
    assert code == 0
    assert read_marks(tmp_path / "there") == read_marks(tmp_path / "here")
    assert Store(tmp_path / "there").get("student000")["late"] == {"days": 1, "percent": 10.0, "points": 2.0}


@pytest.mark.parametrize(("arguments", "message"), [
    (["grade"], "name the assignment"), (["grade", "--assignment", "none.toml", "x"], "no submission 'x'"),
    (["grade", "--assignment", "none.toml", "."], "no assignment"),
])  # fmt: skip
def test_the_command_reports_missing_files(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
