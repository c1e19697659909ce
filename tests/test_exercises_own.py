"""Teachers' own exercises, starter notebooks and releases: exercises are checked, and no answer is released."""

import json

import numpy as np
import pytest

import micrograd_plus as mg
from commands import run as run_command
from micrograd_plus import exercises
from micrograd_plus.exercises import handout, student_key
from micrograd_plus.exercises.registry import own_exercises
from work_counts import count_calls

pytestmark = pytest.mark.usefixtures("own_exercises")

HINTS = ("How fast does 2 x grow?", "Twice as fast as x does.", "The rule sends twice the upstream gradient.")
INPUTS = {"x": mg.samples.real(2, 3), "upstream": mg.samples.real(2, 3)}
CANARY = "canary_7f3a9"


def define(right, **changes):
    """Define an exercise on doubling, with some changes."""
    settings = {"prompt": "The slope of 2 x, times upstream.", "inputs": INPUTS, **changes}
    return exercises.define("double.x", **settings)(right)


def double(upstream):
    """Return twice what arrives."""
    return 2 * upstream


def test_define_makes_and_checks_an_exercise_in_a_million_calls(capsys):
    settings = {
        "mistakes": [("the 2 is missing", lambda upstream: upstream, HINTS)],
        "edges": {"x is 0": {"x": np.zeros((2, 3))}},
    }
    returned = []
    assert count_calls(lambda: returned.append(define(double, **settings))) < 1_000_000
    assert returned == [double]
    assert (
        "double.x: proved on 20 draws; 1 of 1 mistakes caught and named; the starter scores 0."
        in capsys.readouterr().out
    )
    reply = exercises.check("double.x", lambda upstream: upstream)
    assert reply.result.mistake.title == "the 2 is missing"
    assert exercises.hint() == f"Hint 1 of 3: {HINTS[0]}"
    assert exercises.check("double.x", lambda upstream: upstream + upstream)
    assert exercises.get_exercise("double.x").prompt == "The slope of 2 x, times upstream."


@pytest.mark.parametrize(("changes", "right", "sentence"), [
    ({}, lambda upstream: upstream * np.random.default_rng().normal(), "returns other numbers when it is called again"),
    ({"mistakes": [("none at all", lambda upstream: upstream + upstream, HINTS)]}, double,
     "'none at all' is not caught"),
    ({"mistakes": [("first", lambda upstream: upstream, HINTS), ("second", lambda upstream: upstream, HINTS)]}, double,
     "the mistake 'second' is named 'first'"),
    ({"mistakes": [("short", lambda upstream: upstream, HINTS[:2])]}, double, "must have three hints, got 2"),
    ({"starter": '@exercises.answer("double.x")\ndef f(upstream):\n    return 2 * upstream\n'}, double,
     "starter scores"),
    ({"inputs": {"upstream": np.array([0.123456, 0.7])},
      "mistakes": [("revealed", lambda upstream: upstream, ("It is 0.2469 in the first place.", "b", "c"))]}, double,
     "reveals 0.2469"),
])  # fmt: skip
def test_define_rejects_a_faulty_exercise_with_the_reason(changes, right, sentence):
    with pytest.raises(exercises.NotProved, match=sentence):
        define(right, **changes)
    assert "double.x" not in own_exercises


def test_a_failing_right_answer_names_the_edge_case():
    with pytest.raises(ValueError, match="the right answer fails when x is empty"):
        define(lambda x: x * np.max(x), edges={"x is empty": {"x": np.zeros((0,))}})


def test_a_mistake_can_be_an_id_of_the_catalogue():
    define(double, mistakes=[("M6", lambda upstream: 2 * np.ones_like(upstream))])
    assert exercises.check("double.x", lambda upstream: 2 * np.ones_like(upstream)).result.mistake.id == "M6"


# Notebooks -----------------------------------------------------------------------------------------------------------


def test_a_starter_notebook_is_a_valid_notebook():
    nbformat = pytest.importorskip("nbformat")
    notebook = handout.starter_notebook(exercises.list_exercises(), "All of them", scored=True)
    nbformat.validate(nbformat.from_dict(notebook))
    grade_ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(set(grade_ids)) == len(grade_ids)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_a_starter_notebook_runs_and_scores_0(capsys):
    chosen = [exercises.get_exercise(each) for each in ("tanh.x", "engine.value", "curves.find", "diamond.gradients")]
    notebook = handout.starter_notebook(chosen, "Some", scored=True)
    space, scores = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "exercises.score" in cell["source"]:
            scores.append(eval(cell["source"], space))  # noqa: S307 - our own text
        elif cell["cell_type"] == "code":
            exec(cell["source"], space)  # noqa: S102 - our own text
    assert scores == [0.0] * 4
    assert capsys.readouterr().err == ""


@pytest.fixture
def assignment(tmp_path):
    """Return the file of an assignment with every exercise of the catalogue and one of the teacher's own."""
    (tmp_path / "own.py").write_text(
        "from micrograd_plus import exercises\n"
        "import micrograd_plus as mg\n"
        f"def {CANARY}(upstream):\n    return 2 * upstream  # {CANARY}\n"
        "exercises.define('triple.x', prompt='Three times.', inputs={'upstream': mg.samples.real(3)},\n"
        f"                 mistakes=[('{CANARY} twice', {CANARY}, ('a{CANARY}', 'b', 'c'))]\n"
        "                 )(lambda upstream: 3 * upstream)\n",
        encoding="utf-8",
    )
    path = tmp_path / "week3.toml"
    path.write_text(
        f'title = "Week 3"\nexercises = {json.dumps([each.id for each in exercises.list_exercises()] + ["triple.x"])}\n'
        f'secret = "{CANARY}-{CANARY}"\nfiles = ["own.py"]\n[points]\n"tanh.x" = 4\n',
        encoding="utf-8",
    )
    return path


def test_a_release_contains_no_answer_hint_or_secret(assignment, tmp_path):
    written = handout.release(assignment, tmp_path / "handout")
    assert {path.relative_to(tmp_path / "handout").as_posix() for path in written} == {
        "week3.ipynb", "week3.py", "nbgrader/week3/week3.ipynb", "points.csv",
    }  # fmt: skip
    text = "\n".join(path.read_text(encoding="utf-8") for path in (tmp_path / "handout").rglob("*") if path.is_file())
    assert CANARY not in text
    assert "triple.x" in text
    for each in exercises.list_exercises():
        for mistake in each.mistakes:
            assert not any(json.dumps(hint)[1:-1] in text or hint in text for hint in mistake.hints if len(hint) > 20)


def test_a_release_for_students_fills_in_their_ids(assignment, tmp_path):
    (tmp_path / "class.csv").write_text("student,section\na17,1\nb02@x.edu,2\n", encoding="utf-8")
    out = tmp_path / "handout"
    done = run_command(
        "exercises", "release", str(assignment), "-o", str(out), "--students", str(tmp_path / "class.csv")
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (out / "students").iterdir()) == [
        "a17.ipynb", "a17.py", "b02@x.edu.ipynb", "b02@x.edu.py"]  # fmt: skip
    key = student_key.derive_key(f"{CANARY}-{CANARY}")
    assert f'exercises.identify("{key}", "a17")' in (out / "students" / "a17.py").read_text(encoding="utf-8")
    book = json.loads((out / "students" / "b02@x.edu.ipynb").read_text(encoding="utf-8"))
    assert f'exercises.identify("{key}", "b02@x.edu")' in [cell["source"] for cell in book["cells"]]
    for place in (out / "week3.py", out / "week3.ipynb", out / "nbgrader" / "week3" / "week3.ipynb"):
        text = place.read_text(encoding="utf-8").replace('\\"', '"')
        assert f'exercises.identify("{key}", "YOUR ID")' in text


def test_an_assignment_without_walks_has_no_identify_line(tmp_path):
    path = tmp_path / "plain.toml"
    path.write_text('exercises = ["tanh.x"]\nsecret = "a-secret-of-the-tests"\n', encoding="utf-8")
    handout.release(path, tmp_path / "handout")
    assert "identify" not in (tmp_path / "handout" / "plain.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "sentence"), [
    ("a17\n../b\n", "'../b' is not a valid id"), ("a17\nA17\n", "an id occurs twice")])  # fmt: skip
def test_read_students_rejects_ids_that_cannot_be_file_names(tmp_path, text, sentence):
    (tmp_path / "list.txt").write_text(text, encoding="utf-8")
    with pytest.raises(handout.ReleaseError, match=sentence):
        handout.read_students(tmp_path / "list.txt")


@pytest.mark.parametrize("heading", ["name,grp", "Student ID;group", "SIS_User_ID", "e-mail,name", ""])
def test_the_heading_of_a_list_of_students_is_no_student(tmp_path, heading):
    (tmp_path / "list.csv").write_text(f"{heading}\na17,1\nb02,2\n", encoding="utf-8")
    assert handout.read_students(tmp_path / "list.csv") == ["a17", "b02"]


def test_a_release_lists_the_points_of_each_exercise(assignment, tmp_path):
    handout.release(assignment, tmp_path / "handout")
    lines = (tmp_path / "handout" / "points.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "exercise,title,kind,points"
    assert "tanh.x,the rule of tanh for x,rule,4" in lines


def test_the_command_lists_writes_and_releases(assignment, tmp_path):
    listed = run_command("exercises", "list", "6")
    assert "engine.order" in listed.stdout
    assert "softmax.x" not in listed.stdout
    lesson = run_command("exercises", "new", "tanh.x", "softmax.x", "-o", str(tmp_path / "two.ipynb"))
    assert "2 exercises" in lesson.stdout
    again = run_command("exercises", "new", "tanh.x", "-o", str(tmp_path / "two.ipynb"))
    assert again.returncode == 1
    assert "exists already" in again.stderr
    released = run_command("exercises", "release", str(assignment), "-o", str(tmp_path / "out"))
    assert released.returncode == 0
    assert (tmp_path / "out" / "week3.ipynb").is_file()


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["new", "99"], "A lesson is a group"),
    (["new"], "an argument is missing"),
    (["release", "nothing.toml"], "there is no assignment 'nothing.toml'"),
])  # fmt: skip
def test_the_command_explains_a_failure(arguments, sentence):
    done = run_command("exercises", *arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
