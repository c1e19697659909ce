"""Ready weeks: each is written into an empty folder, answered, marked, and its rules train a network on digits."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

from commands import run
from micrograd_plus import exercises
from micrograd_plus.exercises import notebook
from micrograd_plus.exercises.prompts import ABOUT_XP
from micrograd_plus.exercises.registry import get_exercise
from micrograd_plus.grading import course
from week_answers import ANSWERS

WEEKS = course.read_weeks()


@pytest.fixture(scope="module", params=WEEKS)
def week(request, tmp_path_factory):
    """Return a week and the folder into which it was written."""
    folder = tmp_path_factory.mktemp("week") / "new"
    course.write_week(WEEKS[request.param], folder)
    return WEEKS[request.param], folder


def answer(book):
    """Return a notebook with the right answers filled in."""
    for cell in book["cells"]:
        for name in ANSWERS:
            if cell["source"].startswith(f'@exercises.answer("{name}")'):
                cell["source"] = f'import numpy as np\n\n@exercises.answer("{name}")\n{ANSWERS[name]}\n'
    return book


def run_cells(book):
    """Run the code cells of a notebook here, and return the value of the last line."""
    names = {}
    *cells, last = [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        exec(cell, names)  # noqa: S102 - a notebook of this package
    return eval(last, names)  # noqa: S307 - as above


def test_a_week_has_all_files_and_the_readme_names_them(week):
    plan, folder = week
    readme = (folder / "README.md").read_text("utf-8")
    for name in [f"handout/{plan.name}.ipynb", f"handout/{plan.name}.py", "teacher/notes.md", "teacher/solutions.md",
                 f"teacher/{plan.name}.toml", "gradescope.zip", f"handout/nbgrader/{plan.name}/",
                 *(f"handout/{each}.ipynb" for each in plan.lessons)]:  # fmt: skip
        assert (folder / name).exists(), name
        assert f"`{name}`" in readme, name
    assert len(plan.exercises) == 8


def test_what_students_get_has_neither_answers_nor_the_secret(week):
    plan, folder = week
    secret = next(line for line in (folder / "teacher" / f"{plan.name}.toml").read_text("utf-8").splitlines()
                  if line.startswith("secret")).partition('"')[2].rstrip('"')  # fmt: skip
    sheet = (folder / "teacher" / "solutions.md").read_text("utf-8")
    handout = "".join(path.read_text("utf-8") for path in folder.glob(f"handout/**/{plan.name}.*"))
    assert secret not in handout
    for name in plan.exercises:
        formulas = [line.partition(": ")[2] for line in sheet.splitlines() if line.startswith("As a formula")]
        assert f"## {name}\n" in sheet
        assert formulas
        assert not [each for each in formulas if each in handout]


def test_a_handout_says_once_what_xp_has(week):
    plan, folder = week
    prompts = [get_exercise(each).prompt for each in plan.exercises]
    paragraphs = [part for prompt in prompts for part in prompt.split("\n\n") if part.startswith(ABOUT_XP)]
    assert len(paragraphs) == len(prompts)
    for path in folder.glob(f"handout/**/{plan.name}.*"):
        text = path.read_text("utf-8")
        assert text.count(ABOUT_XP) == 1, path
        assert max(paragraphs, key=len) in text, path


def test_the_notes_are_those_of_the_lessons(week):
    plan, folder = week
    written = (folder / "teacher" / "notes.md").read_text("utf-8")
    notes, *solutions = re.split(r"```python\n(.*?)```", written, flags=re.DOTALL)
    notes += "".join(solutions[1::2])
    assert notes.count("\n# ") + notes.startswith("# ") == len(plan.lessons)
    assert len(solutions[::2]) >= 4 * len(plan.lessons), "each lesson has solutions of the cells to complete"
    assert len(notes.split()) > 80 * len(plan.lessons), "each lesson has notes for its lecturer"


def test_each_lesson_has_slides(week):
    plan, folder = week
    for lesson in plan.lessons:
        cells = json.loads((folder / "handout" / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
        assert 6 <= sum("slide" in cell["metadata"].get("tags", []) for cell in cells) <= 20, lesson


def test_eight_right_rules_read_the_digits_and_one_wrong_rule_does_not(week, monkeypatch):
    plan, folder = week
    monkeypatch.setattr(notebook, "_replies", {})
    book = json.loads((folder / "handout" / f"{plan.name}.ipynb").read_text("utf-8"))
    training = run_cells(answer(book))
    assert set(training.rules) == set(plan.exercises)
    assert min(training.mine.calls.values()) > 0, training.mine.calls
    assert training.verdict == "Your rules train exactly as the engine's own do."
    assert training.mine.epochs[-1].accuracy >= 0.95
    names = {"np": np}
    exec(plan.wrong["rule"], names)  # noqa: S102 - the rule that the assignment proposes to watch
    wrong = names[get_exercise(plan.wrong["exercise"]).function_name]
    watched = exercises.plugged({plan.wrong["exercise"]: wrong}).train()
    assert watched.mine.epochs[-1].accuracy < 0.8
    assert watched.right.epochs[-1].accuracy >= 0.95


def test_the_release_for_nbgrader_gives_full_points(week, monkeypatch):
    plan, folder = week
    monkeypatch.setattr(notebook, "_replies", {})
    book = answer(json.loads((folder / "handout" / "nbgrader" / plan.name / f"{plan.name}.ipynb").read_text("utf-8")))
    scores, names = [], {}
    for cell in book["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        if meta.get("grade"):
            points = eval(cell["source"], names)  # noqa: S307 - a notebook of this package
            assert points == meta["points"], cell["source"]
            scores.append(points)
        elif cell["cell_type"] == "code":
            exec(cell["source"], names)  # noqa: S102 - as above
    assert len(scores) == 8


def test_a_submission_is_marked_by_what_the_zip_contains(tmp_path):
    plan = WEEKS["backprop"]
    course.write_week(plan, tmp_path / "new")
    book = answer(json.loads((tmp_path / "new" / "handout" / f"{plan.name}.ipynb").read_text("utf-8")))
    work = tmp_path / "a17.ipynb"
    work.write_text(json.dumps(book), encoding="utf-8")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "new" / "gradescope.zip").read_bytes())) as archive:
        archive.extractall(tmp_path / "autograder")
    result = run("grade", "--one", str(work), "--student", "a17", "--isolation", "none", "--format", "gradescope",
                 "--assignment", str(tmp_path / "autograder" / "assignment.toml"))  # fmt: skip
    marks = json.loads(result.stdout)
    assert marks["score"] == sum(get_exercise(each).points for each in plan.exercises), marks


def test_a_week_that_is_written_again_keeps_its_secret(week):
    plan, folder = week
    before = (folder / "teacher" / f"{plan.name}.toml").read_text("utf-8")
    course.write_week(plan, folder)
    assert (folder / "teacher" / f"{plan.name}.toml").read_text("utf-8") == before


def test_the_command_lists_the_weeks_and_refuses_others(tmp_path):
    listed = run("course")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["backprop", "shapes", "losses"]
    wrong = run("course", "week9", "-o", str(tmp_path / "new"))
    assert (wrong.returncode, wrong.stderr) == (
        1, "micrograd-plus course: there is no week 'week9'; choose from backprop, shapes, losses\n")  # fmt: skip
    assert not (tmp_path / "new").exists()
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    assert "is a file; name a folder with -o" in run("course", "backprop", "-o", str(file)).stderr


def test_a_missing_lesson_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "lesson_folders", lambda: [tmp_path])
    with pytest.raises(course.CourseError, match="the notebook of the lesson 01_first_walk is not installed"):
        course.find_notebook("01_first_walk")
