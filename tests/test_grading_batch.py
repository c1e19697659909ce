"""A class is marked whole, whatever is in it, whenever it is interrupted, and always to the same marks."""

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

from graded import BROKEN, HEAD, RIGHT, SECRET, SIGN, TANH, a_class, assignment
from micrograd_plus.__main__ import main
from micrograd_plus.exercises import sheets
from micrograd_plus.grading import batch, grade, submissions
from micrograd_plus.grading.assignment import Assignment, AssignmentError, load_assignment
from micrograd_plus.grading.sandbox import isolation
from micrograd_plus.grading.sandbox.boxes import Sandbox
from micrograd_plus.grading.sandbox.runs import Limits
from micrograd_plus.grading.store import Store, write_atomic


@pytest.fixture(autouse=True)
def soon_over(monkeypatch):
    """A loop without end is over after a second."""
    from micrograd_plus.exercises.exercise import Exercise

    monkeypatch.setattr(grade, "limits_of", lambda exercise: Limits(cpu=1.0, wall=3.0))
    assert Exercise


def everything(folder: Path) -> dict[str, bytes]:
    """Every result by its file's name."""
    return {path.name: path.read_bytes() for path in sorted((folder / "marks").glob("*.json"))}


def command(*rest: object) -> list[str]:
    return [sys.executable, "-m", "micrograd_plus", "grade", *map(str, rest)]


# Marks ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["full", "user", "none"])
def sandbox(request):
    if not isolation.is_available(request.param):
        pytest.skip(f"this machine has no isolation of level {request.param!r}")
    with Sandbox(request.param) as made:
        yield made


def marks_of(source: str, sandbox, tmp_path, **more) -> dict:
    made = submissions.Submission("ada", submissions.read_program(source.encode()))
    return grade.grade_submission(made, load_assignment(assignment(tmp_path)), sandbox, **more)


def test_a_right_answer_has_all_points_and_a_turned_sign_is_named(sandbox, tmp_path):
    right, sign = (marks_of(source, sandbox, tmp_path) for source in (RIGHT, SIGN))
    assert right["score"] == right["max_score"] == 20
    assert all(each["right"] for each in right["exercises"])
    assert sign["exercises"][0]["points"] == 1
    assert sign["exercises"][1]["points"] == 10
    assert "1 times" in sign["exercises"][0]["reason"]
    assert sign["exercises"][0]["mistake"]
    assert right["isolation"] == sandbox.level
    assert right["provisional"] == (sandbox.level != "full")


def test_marks_are_the_same_to_the_byte_and_inputs_are_each_students_own(sandbox, tmp_path):
    first, second = (json.dumps(marks_of(SIGN, sandbox, tmp_path)) for _ in range(2))
    assert first == second
    made = load_assignment(assignment(tmp_path))
    seeds = {
        tuple(made.seed(*who))
        for who in (("ada", "tanh.x", 1), ("ada", "tanh.x", 2), ("bob", "tanh.x", 1), ("ada", "exp.x", 1))
    }
    assert len(seeds) == 4
    assert made.seed("ada", "tanh.x", 1) == load_assignment(assignment(tmp_path)).seed("ada", "tanh.x", 1)


@pytest.mark.parametrize(("expression", "points"), [
    ("(1 - out**2).astype('>f8')", 10), ("np.asfortranarray(1 - out**2)", 10), ("(1 - out**2) + -0.0", 10),
    ("np.ravel(1 - out**2).repeat(2)[::2].reshape(np.shape(out))", 10), ("(1 - out**2).tolist()", 10),
    ("np.float64(1.0) - out * out", 10),
])  # fmt: skip
def test_right_answers_in_awkward_forms_keep_their_marks(sandbox, tmp_path, expression, points):
    source = RIGHT.replace("1 - out**2", expression).replace("from micro", "import numpy as np\nfrom micro", 1)
    assert marks_of(source, sandbox, tmp_path)["exercises"][0]["points"] == points


def test_what_one_exercise_changes_another_does_not_see(sandbox, tmp_path):
    source = RIGHT.replace(
        "return 1 - out**2", "import numpy as np; np.exp = None; open('left', 'w').close(); return 1 - out**2"
    )
    source = source.replace("return out", "import os; assert not os.path.exists('left'); return out")
    assert marks_of(source, sandbox, tmp_path)["score"] == 20


def test_the_points_of_an_assignment_take_the_place_of_the_exercises_own(tmp_path):
    with Sandbox() as sandbox:
        path = assignment(tmp_path)
        path.write_text(path.read_text(encoding="utf-8") + '[points]\n"tanh.x" = 3\n', encoding="utf-8")
        made = submissions.Submission("ada", submissions.read_program(RIGHT.encode()))
        marks = grade.grade_submission(made, load_assignment(path), sandbox)
    assert marks["exercises"][0]["points"] == pytest.approx(3)
    assert marks["max_score"] == 13


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "`exercises` is a list"), ("exercises = []", "is a list"), ('exercises = ["tanh.x"]', "`secret`"),
    ('exercises = ["tanh.x"]\nsecret = "0123456789abcdef"\nisolation = "some"', "isolation"), ("x = ", "not TOML"),
    ('exercises = ["tanh.x"]\nsecret = "0123456789abcdef"\nexersises = 1', "'exersises' is unknown"),
])  # fmt: skip
def test_an_assignment_that_cannot_be_is_told(tmp_path, text, sentence):
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AssignmentError, match=sentence):
        load_assignment(path)


def test_each_student_is_asked_about_a_walk_of_his_own_and_at_an_appeal_about_the_same(tmp_path):
    made = Assignment("walks", ["means.find"], SECRET)
    exercise, key = made.definitions["means.find"], sheets.key_of(SECRET)
    students = ["a17", "b02", "c33@x.edu"]
    steps = {}
    for each in students:
        (case,) = exercise.cases(sheets.number_of(key, each, "means.find"))
        steps[each] = float(exercise.carried_out(exercise.right, case.request)["values"]["the answer"])
    assert len(set(steps.values())) == 3
    with Sandbox() as sandbox:
        for each in students:
            cells = submissions.read_program(f"means_find = {steps[each]:g}\n".encode())
            again = [grade.grade_submission(submissions.Submission(name, cells), made, sandbox)["score"]
                     for name in (each, each.upper(), *students)]  # fmt: skip
            assert again == [10, 10, *[10 * (name == each) for name in students]]
        wrong = grade.grade_submission(submissions.Submission("a17", cells), made, sandbox)["exercises"][0]
    assert f"walk number {sheets.number_of(key, 'a17', 'means.find')}" in wrong["reason"]


def test_the_second_order_is_marked_by_values_alone_where_no_engine_is(tmp_path):
    made = Assignment("twice", ["tanh.x.twice", "softmax.x.twice"], SECRET)
    answers = (
        "import numpy as np\ndef tanh_x_twice(out):\n    return 1 - np.array(out)**2\n"
        "def softmax_x_twice(upstream, out, axis):\n"
        "    return out * (upstream - (upstream * out).sum(axis, keepdims=True))\n"
    )
    with Sandbox() as sandbox:
        given = submissions.Submission("ada", submissions.read_program(answers.encode()))
        first, second = grade.grade_submission(given, made, sandbox)["exercises"]
    assert [part["points"] for part in first["parts"]] == [1, 5, 2, 0]
    assert first["mistake"]["title"] == "slope cut off from its output"
    assert second["right"]


def test_a_flaw_that_all_parts_have_is_said_once(tmp_path):
    with Sandbox() as sandbox:
        cells = submissions.read_program((HEAD + TANH.format("(1 - out**2).astype('f4')")).encode())
        given = submissions.Submission("ada", cells)
        first = grade.grade_submission(given, Assignment("single", ["tanh.x"], SECRET), sandbox)["exercises"][0]
    assert first["reason"].count("single precision") == 1
    assert not first["reason"].startswith("right")


def test_a_new_assignment_says_which_of_its_exercises_do_not_come_along(tmp_path, capsys):
    assert main(["grade", "--new", str(tmp_path / "a.toml"), "tanh.x", "tanhx"]) == 0
    told = capsys.readouterr().out
    assert "there is no exercise 'tanhx'" in told
    assert "name the file that defines it" in told
    assert "tanh.x'." not in told


# The batch ------------------------------------------------------------------------------------------------------------


def test_a_class_is_marked_once_and_taken_up_again(tmp_path, capsys):
    folder = a_class(tmp_path / "handed in", 6, broken=3)
    arguments = [
        "grade",
        str(folder),
        "--assignment",
        str(assignment(tmp_path)),
        "-o",
        str(tmp_path / "out"),
        "--jobs",
        "2",
    ]
    assert main(arguments) == 0
    first = everything(tmp_path / "out")
    assert len(first) == 6
    (tmp_path / "out" / "marks" / "student001.json").unlink()
    (folder / "student002.py").write_text(RIGHT, encoding="utf-8")
    assert main(arguments) == 0
    assert "2 marked, 4 were marked already" in capsys.readouterr().out
    second = everything(tmp_path / "out")
    assert second.pop("student002.json") != first.pop("student002.json")
    assert second == first
    table = (tmp_path / "out" / "marks.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "student,score,max_score,provisional,tanh.x,exp.x"
    assert len(table) == 7


def test_whoever_is_broken_changes_nobody_elses_marks(tmp_path):
    made = assignment(tmp_path)
    whole = a_class(tmp_path / "whole", 12, broken=len(BROKEN))
    store = Store(tmp_path / "with")
    batch.grade_class(batch.find_submissions([whole]), made, store, jobs=2)
    for number in range(3, 12):
        (whole / f"student{number:03d}.py").unlink()
    batch.grade_class(batch.find_submissions([whole]), made, Store(tmp_path / "without"), jobs=1)
    with_them, without = everything(tmp_path / "with"), everything(tmp_path / "without")
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


def test_a_class_is_marked_on_a_system_without_forks_locks_limits_and_user_ids(tmp_path):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(WITHOUT_UNIX, encoding="utf-8")
    folder = a_class(tmp_path / "handed in", 6, broken=3)
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "without"), *filter(None, sys.path)])}
    ran = subprocess.run(command(folder, "--assignment", assignment(tmp_path), "-o", tmp_path / "out", "--jobs", 2),
                         env=os.environ | paths, check=False, capture_output=True, text=True)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "isolation was 'none'" in ran.stdout
    marks = [json.loads(text) for text in everything(tmp_path / "out").values()]
    assert [each["isolation"] for each in marks] == ["none"] * 6
    assert all(each["provisional"] for each in marks)
    assert [each["score"] for each in marks] == [20, 20, 11, 0, 0, 0]
    said = [each["exercises"][0]["reason"] for each in marks[3:]]
    assert said[0] == "your program ended before it had answered"
    assert said[1].startswith("your code ran longer than")


def test_a_file_that_another_program_holds_is_told_and_what_is_marked_is_kept(tmp_path, monkeypatch, capsys):
    def held(*_):
        raise PermissionError(13, "Permission denied", str(tmp_path / "out" / "marks.csv"))

    monkeypatch.setattr("micrograd_plus.grading.report.write_report", held)
    folder, made = a_class(tmp_path / "handed in", 1), assignment(tmp_path)
    assert main(["grade", str(folder), "--assignment", str(made), "-o", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "marks.csv cannot be written or read (Permission denied). Is it open in another program?" in told
    assert len(everything(tmp_path / "out")) == 1


@pytest.mark.slow
def test_three_hundred_with_one_in_twenty_broken_have_three_hundred_results(tmp_path):
    folder = a_class(tmp_path / "handed in", 300, broken=15)
    ran = subprocess.run(command(folder, "--assignment", assignment(tmp_path), "-o", tmp_path / "out"), check=False,
                         capture_output=True, text=True)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found = [json.loads(text) for text in everything(tmp_path / "out").values()]
    assert len(found) == 300
    assert all(each["reason"] for marks in found for each in marks["exercises"])
    assert sum(marks["score"] == 20 for marks in found) == 190


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
"""A process that has imported everything, and runs the same command in a fork of its own for every line it reads."""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals of Unix here")
def test_a_batch_that_is_killed_at_random_moments_ends_as_one_that_was_not(tmp_path):
    folder = a_class(tmp_path / "handed in", 20, broken=1)
    made = assignment(tmp_path)
    subprocess.run(command(folder, "--assignment", made, "-o", tmp_path / "calm"), check=True, capture_output=True)
    calm = everything(tmp_path / "calm")
    chance, kills = random.Random(7), 0  # noqa: S311 - it draws moments
    words = ["grade", folder, "--assignment", made, "-o", tmp_path / "out"]
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
        kept = everything(tmp_path / "out") if (tmp_path / "out" / "marks").exists() else {}
        assert {name: calm[name] for name in kept} == kept, "what is there is whole"
    graders.stdin.close()
    assert graders.wait() == 0
    subprocess.run(command(folder, "--assignment", made, "-o", tmp_path / "out"), check=True, capture_output=True)
    assert everything(tmp_path / "out") == calm
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in (tmp_path / "calm").iterdir()}


@pytest.mark.usefixtures("own_exercises")
def test_one_exercise_is_marked_again_and_what_moved_is_told(tmp_path, capsys, monkeypatch):
    folder = a_class(tmp_path / "handed in", 3)
    path = assignment(tmp_path, files='["own.py"]')
    path.write_text(path.read_text(encoding="utf-8").replace('"exp.x"', '"own.double"'), encoding="utf-8")
    own = tmp_path / "own.py"
    declared = """
from micrograd_plus import exercises
def inputs(rng):
    return {"x": rng.normal(size=(2, 3))}
@exercises.define("own.double", prompt="So many times x.", inputs=inputs)
def own_double(x):
    return FACTOR * x
"""
    own.write_text(declared.replace("FACTOR", "3"), encoding="utf-8")
    for place in folder.iterdir():
        place.write_text(
            place.read_text(encoding="utf-8") + "\ndef own_double(x):\n    return 2 * x\n", encoding="utf-8"
        )
    arguments = ["grade", str(folder), "--assignment", str(path), "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    own.write_text(declared.replace("FACTOR", "2"), encoding="utf-8")
    assert main([*arguments, "--again", "own.double"]) == 0
    told = capsys.readouterr().out
    assert "3 marks moved." in told
    assert re.search(r"student000: own.double: [01] -> 10:.*-> right", told)
    moved = (tmp_path / "out" / "moved.csv").read_text(encoding="utf-8").splitlines()
    assert moved[0] == "student,exercise,before,after,reason before,reason after"
    assert len(moved) == 4


def test_a_worker_that_dies_costs_no_result(tmp_path, monkeypatch):
    folder = a_class(tmp_path / "handed in", 3)
    named = batch.find_submissions([folder])
    real, died = batch.Worker.receive, []

    def receive(self):
        found = real(self)
        if not found.get("ready") and "student001" in str(found) and len(died) < 1:
            died.append(1)
            self.process.kill()
            raise batch.WorkerError("killed")
        return found

    monkeypatch.setattr(batch.Worker, "receive", receive)
    done = batch.grade_class(named, assignment(tmp_path), Store(tmp_path / "out"), jobs=1)
    assert (done.marked, done.failed, len(died)) == (3, 0, 1)


def test_two_submissions_of_one_id_are_both_marked(tmp_path):
    (tmp_path / "Ada.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "ada.ipynb").write_text("{}", encoding="utf-8")
    assert [name for name, _ in batch.find_submissions([tmp_path])] == ["Ada", "ada-2"]


@pytest.mark.parametrize("name", ["../../evil", "a/b", "a\nb", "", "\N{SNOWMAN}"])
def test_no_id_leads_out_of_the_folder(tmp_path, name):
    student = submissions.student_id(Path(name + ".py") if "/" not in name else Path("x", name + ".py"))
    assert Store(tmp_path).path(student).parent == tmp_path / "marks"


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "marks.json"
    write_atomic(path, "first")
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="full"):
        write_atomic(path, "second")
    assert path.read_text(encoding="utf-8") == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_bytes(tmp_path):
    distributed = pytest.importorskip("distributed")
    if not isolation.is_available("full"):
        pytest.skip("a cluster is used at full isolation only")
    folder = a_class(tmp_path / "handed in", 6, broken=2)
    made = assignment(tmp_path)
    batch.grade_class(batch.find_submissions([folder]), made, Store(tmp_path / "here"), level="full")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        code = main(["grade", str(folder), "--assignment", str(made), "-o", str(tmp_path / "there"),
                     "--dask", cluster.scheduler_address])  # fmt: skip
    assert code == 0
    assert everything(tmp_path / "there") == everything(tmp_path / "here")


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["grade"], "name the assignment"), (["grade", "--assignment", "none.toml", "x"], "no submission 'x'"),
    (["grade", "--assignment", "none.toml", "."], "no assignment"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert sentence in capsys.readouterr().err
