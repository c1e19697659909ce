"""Formats of school systems: output matches their schemas, and nbgrader and otter run from release to marks."""

import csv
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from jsonschema import validate

from graded import RIGHT, SECRET, SIGN, assignment
from micrograd_plus import exercises
from micrograd_plus.__main__ import main
from micrograd_plus.exercises import student_key
from micrograd_plus.grading import formats, grade, submissions
from micrograd_plus.grading.assignment import load_assignment
from micrograd_plus.grading.formats import gradescope, junit, otter, table, wheel
from micrograd_plus.grading.sandbox import isolation
from micrograd_plus.grading.sandbox.boxes import Sandbox

SCHEMAS = Path(__file__).parent / "data" / "schools"
NASTY = "<script>x</script> ]]> \x1b[31m \u202e \x00 =cmd|'/c calc'!A1 & \"quoted\", a;b\nnew line \ud800"


def submission_of(name: str, source: str) -> submissions.Submission:
    return submissions.Submission(name, submissions.read_program(source.encode()))


def schema(name: str) -> dict:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def marks(tmp_path_factory):
    """Return marks of a right answer, a wrong one, an unreadable one, and one with hostile text."""
    loaded = load_assignment(assignment(tmp_path_factory.mktemp("formats")))
    with Sandbox() as sandbox:
        right, wrong = (grade.grade_submission(submission_of(name, source), loaded, sandbox)
                        for name, source in (("ada", RIGHT), ("bob", SIGN)))  # fmt: skip
        unread = grade.grade_submission(submissions.Submission("eve", problem="there is no file"), loaded, sandbox)
    nasty = json.loads(json.dumps(wrong)) | {"student": "=1+1", "problem": NASTY, "remarks": [NASTY]}
    for each in nasty["exercises"]:
        each.update(reason=NASTY, title=NASTY)
        for part in each["parts"]:
            part.update(reason=NASTY, points=0.0)
    nasty["tampering"] = [{"where": NASTY, "line": 1, "what": NASTY}]
    return {"right": right, "wrong": wrong, "unread": unread, "nasty": nasty}


WHICH = ["right", "wrong", "unread", "nasty"]


def test_a_gradescope_student_is_the_first_email_of_the_group(tmp_path):
    place = tmp_path / "submission_metadata.json"
    place.write_text(json.dumps({"users": [{"email": "Zoe@x.edu"}, {"email": "ada@x.edu "}]}), encoding="utf-8")
    assert gradescope.student_in(place) == "ada@x.edu"
    for text in ("", "{}", '{"users": []}', '{"users": [{"email": 1}]}', '{"users": 3}'):
        place.write_text(text, encoding="utf-8")
        assert gradescope.student_in(place) == "submission"
    assert gradescope.student_in(tmp_path / "none") == "submission"


@pytest.mark.parametrize("which", WHICH)
def test_gradescope_results_match_the_schema_and_sum_to_the_score(marks, which):
    results = json.loads(formats.format_marks("gradescope", [marks[which]]))
    validate(results, schema("gradescope_results"))
    if which != "nasty":
        assert sum(test["score"] for test in results["tests"]) == pytest.approx(results["score"])
        assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(marks[which]["max_score"])
    assert {results[name] for name in ("output_format", "test_output_format", "test_name_format")} == {"text"}


@pytest.mark.parametrize("which", WHICH)
def test_prairielearn_results_match_the_schema(marks, which):
    results = json.loads(formats.format_marks("prairielearn", [marks[which]]))
    validate(results, schema("prairielearn_results"))
    assert results["gradable"] == (which != "unread")
    assert len(json.dumps(results)) < 1 << 20


@pytest.mark.parametrize("which", WHICH)
def test_junit_output_has_the_common_elements(marks, which):
    root = ET.fromstring(formats.format_marks("junit", [marks[which], marks["right"]]).encode("utf-8"))  # noqa: S314 - made here
    assert root.tag == "testsuites"
    assert len(root) == 2
    for suite in root:
        cases = suite.findall("testcase")
        assert {"name", "tests", "failures", "errors", "skipped", "time"} <= suite.attrib.keys()
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert all({"classname", "name", "time"} <= case.attrib.keys() for case in cases)
        assert {child.tag for child in suite} <= {"properties", "testcase", "system-out"}
        assert all({"message", "type"} <= failure.attrib.keys() for failure in suite.iter("failure"))


def test_a_table_has_the_chosen_columns_and_no_formulas(marks):
    columns = {"SIS User ID": "student", "Week 3 (77)": "score", "tanh": "tanh.x", "%": "percent", "Section": "'A'"}
    rows = list(csv.reader(io.StringIO(table.marks_table(marks.values(), columns))))
    assert rows[0] == list(columns)
    assert rows[1] == ["ada", "20", "10", "100", "A"]
    assert rows[2][1:4] == ["11", "1", "55"]
    assert rows[4][0] == "'=1+1"
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_one_submission_can_be_late(tmp_path, capsys):
    work, times = tmp_path / "work.py", tmp_path / "times.csv"
    work.write_text(RIGHT, encoding="utf-8")
    times.write_text("id,time\nada,2026-12-06T12:00\n", encoding="utf-8")
    path = assignment(tmp_path, due="2026-12-04T23:59:00", late="{per_day = 10, at_most = 15}")
    one = ["grade", "--one", str(work), "--assignment", str(path), "--student", "ada"]
    assert main([*one, "--times", str(times)]) == 0
    marks = json.loads(capsys.readouterr().out)
    assert (marks["score"], marks["late"]["percent"]) == (17.0, 15.0)
    assert main(one) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 20.0


def test_the_command_line_writes_one_submission_in_every_format(tmp_path, capsys):
    work = tmp_path / "work.py"
    work.write_text(SIGN, encoding="utf-8")
    for name in formats.NAMES:
        out = tmp_path / f"out.{name}"
        arguments = ["--one", str(work), "--assignment", str(assignment(tmp_path)), "--format", name, "-o", str(out)]
        assert main(["grade", *arguments]) == 0
        assert out.read_text(encoding="utf-8").strip()


@pytest.mark.skipif(os.name != "posix", reason="Gradescope runs a Unix shell script")
def test_the_gradescope_package_grades_a_submission(tmp_path, capsys):
    place = tmp_path / "autograder.zip"
    path = assignment(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"exp.x"', '"means.find"'), encoding="utf-8")
    assert main(["grade", "--pack", "gradescope", "--assignment", str(path), "-o", str(place)]) == 0
    root = tmp_path / "autograder"
    with zipfile.ZipFile(place) as archive:
        assert {"setup.sh", "run_autograder", "assignment.toml", wheel.FILE_NAME} == set(archive.namelist())
        assert all(archive.getinfo(name).external_attr >> 16 & stat.S_IXUSR for name in ("setup.sh", "run_autograder"))
        archive.extractall(root / "source")
    (root / "submission").mkdir()
    exercise = exercises.get_exercise("means.find")
    (case,) = exercise.cases(student_key.walk_number(student_key.derive_key(SECRET), "ada@x.edu", "means.find"))
    step = int(exercise.run(exercise.right, case.request)["values"]["the answer"])
    (root / "submission" / "work.py").write_text(f"{RIGHT}\nmeans_find = {step}\n", encoding="utf-8")
    who = json.dumps({"id": 1, "users": [{"id": 2, "email": "Ada@x.edu", "name": "Ada"}]})
    (root / "submission_metadata.json").write_text(who, encoding="utf-8")
    image = make_image(tmp_path / "image", new_python=True)
    assert run_script(root, "setup.sh", image).returncode == 0
    assert (root / "venv" / "lib" / "micrograd_plus" / "grading").is_dir(), "the package comes from the wheel"
    ran = run_script(root, "run_autograder", image)
    assert ran.returncode == 0, ran.stderr
    results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    validate(results, schema("gradescope_results"))
    assert results["score"] == 20
    level = "user" if isolation.is_available("user") else isolation.strongest_level()
    assert isolation.is_at_least("full", level)
    assert "Level of isolation: " in results["output"]
    assert "provisional" not in results["output"] or not isolation.is_at_least(isolation.strongest_level(), "user")


def make_image(folder: Path, new_python: bool) -> Path:
    """Make the programs of a machine like Gradescope's default image: Python 3.10, and perhaps 3.11 in its index."""
    folder.mkdir()
    numpy = Path(np.__file__).parent.parent
    installed = f"""#!/bin/bash
case "$*" in
"-c import ensurepip"*) exit 0 ;;
"-m venv"*) mkdir -p "$3/bin" "$3/lib"; cat > "$3/bin/python" <<'END'
#!/bin/bash
lib=$(dirname "$0")/../lib
if [ "$1 $2 $3" = "-m pip install" ]; then exec {sys.executable} -m zipfile -e "$4" "$lib"; fi
PYTHONPATH=$lib:{numpy} exec {sys.executable} "$@"
END
chmod +x "$3/bin/python" ;;
esac
"""
    programs = {"python3": "#!/bin/bash\nexit 1\n", "apt-get": "#!/bin/bash\nexit 0\n"}
    if new_python:
        (folder / "index").write_text(installed, encoding="utf-8")
        programs["apt-get"] = (f'#!/bin/bash\ncase "$*" in install*python3.11*) cp {folder}/index {folder}/python3.11; '
                               f"chmod +x {folder}/python3.11;; esac\n")  # fmt: skip
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("bash", "cat", "chmod", "cp", "dirname", "ls", "mkdir", "rm"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def run_script(root: Path, name: str, image: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the package with the programs of an image only."""
    script = (root / "source" / name).read_text(encoding="utf-8").replace("/autograder", str(root))
    return subprocess.run(["bash", "-c", script], check=False, cwd=root, capture_output=True, text=True,
                          env={"PATH": str(image), "HOME": os.environ.get("HOME", "/")})  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="Gradescope runs a Unix shell script")
def test_setup_on_an_image_without_a_new_python_fails_with_a_sentence(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "setup.sh").write_text(gradescope.SETUP, encoding="utf-8")
    ran = run_script(tmp_path, "setup.sh", make_image(tmp_path / "image", new_python=False))
    assert ran.returncode == 1
    assert "needs Python 3.11 or newer" in ran.stderr
    assert "Ubuntu 24.04" in ran.stderr


@pytest.mark.parametrize(("text", "level"), [('isolation = "full"\n', "user"), ('title = "a"\n', "full")])
def test_the_package_requires_the_level_that_was_chosen(text, level):
    changed = gradescope.require_level(text + 'secret = "b"\n', level)
    assert changed.count("isolation") == 1
    assert f'isolation = "{level}"' in changed


def test_gradescope_gives_no_points_if_the_grader_fails(tmp_path):
    script = gradescope.RUN.replace("/autograder", str(tmp_path)).replace("exec ", "false # ")
    (tmp_path / "source").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.json").write_text('{"score": 0}', encoding="utf-8")
    assert subprocess.run(["bash", "-c", script], check=False).returncode != 0
    assert not (tmp_path / "results" / "results.json").exists()


def test_characters_invalid_in_xml_are_shown_as_escapes():
    assert junit.xml_text("a\x00b\x1b]]>\ud800") == "a\\x00b\\x1b]]>\\ud800"


# School systems themselves ------------------------------------------------------------------------------------


@pytest.fixture
def release_folder(tmp_path, monkeypatch):
    """Return a folder with an assignment and the files to release."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    path = assignment(tmp_path)
    assert main(["exercises", "release", str(path), "-o", str(tmp_path / "out")]) == 0
    return tmp_path


def fill_in(place: Path, tanh: str, exp: str) -> str:
    """Return a notebook with answers filled in."""
    book = json.loads(place.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        source = "".join(cell["source"])
        for name, body in (("tanh_x", tanh), ("exp_x", exp)):
            if f"def {name}(" in source:
                exercise = name.replace("_", ".")
                cell["source"] = f'@exercises.answer("{exercise}")\ndef {name}(out):\n    return {body}\n'
    return json.dumps(book)


def run_module(*words: object, cwd: Path) -> str:
    """Run a command of a school system with this Python, and return its output."""
    command = [sys.executable, "-m", *map(str, words)]
    process = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_released_cells_have_metadata_for_nbgrader(release_folder):
    book = json.loads((release_folder / "out" / "nbgrader" / "week3" / "week3.ipynb").read_text(encoding="utf-8"))
    metadata = [cell["metadata"]["nbgrader"] for cell in book["cells"] if "nbgrader" in cell["metadata"]]
    for each in metadata:
        validate(each, schema("nbgrader_cell"))
    assert sum(each.get("points", 0) for each in metadata) == 20
    assert len({each["grade_id"] for each in metadata}) == len(metadata)


@pytest.mark.slow
def test_nbgrader_runs_from_release_to_marks(release_folder, capsys):
    pytest.importorskip("nbgrader")

    course = release_folder / "course"
    course.mkdir()
    assert main(["grade", "--pack", "nbgrader", "--assignment", str(release_folder / "week3.toml"),
                 "-o", str(course / "source" / "week3" / "week3.ipynb")]) == 0  # fmt: skip
    (course / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "course"\n', encoding="utf-8"
    )
    run_module("nbgrader", "generate_assignment", "week3", cwd=course)
    handed_out = course / "release" / "week3" / "week3.ipynb"
    assert "def tanh_x(" in handed_out.read_text(encoding="utf-8"), "the starter must stay"
    for student, tanh, exp in (("ada", "1 - out**2", "out"), ("bob", "out**2 - 1", "out"), ("eve", "1/0", "None")):
        place = course / "submitted" / student / "week3" / "week3.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(fill_in(handed_out, tanh, exp), encoding="utf-8")
    run_module("nbgrader", "autograde", "week3", "--create", cwd=course)
    database = f"sqlite:///{course / 'gradebook.db'}"
    assert scores(database) == {"ada": 20.0, "bob": 11.0, "eve": 0.0}, "a partial mark must not become a full mark"

    out = release_folder / "marks"
    path = release_folder / "week3.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"due = 2026-12-04T23:59:00\n{text}[late]\nper_day = 10\n", encoding="utf-8")
    (course / "times.csv").write_text("id,time\nbob,2026-12-06T12:00\n", encoding="utf-8")
    arguments = ["grade", str(course / "submitted"), "--assignment", str(path), "-o", str(out)]
    assert main([*arguments, "--times", str(course / "times.csv")]) == 0
    marks = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / "marks").glob("*.json"))]
    assert [(each["student"], each["score"]) for each in marks] == [("ada", 20.0), ("bob", 8.8), ("eve", 0.0)]
    marks[1]["exercises"][0]["points"] = 4.0
    (out / "marks" / "bob.json").write_text(json.dumps(marks[1]), encoding="utf-8")
    write_back = ["grade", "--write-back", "nbgrader", "--assignment", str(path), "-o", str(out),
                  "--database", database]  # fmt: skip
    assert main(write_back) == 0
    assert scores(database) == {"ada": 20.0, "bob": 14.0, "eve": 0.0}
    assert penalties(database) == {"ada": 0.0, "bob": 2.2, "eve": 0.0}
    assert main(arguments) == 0  # without the times, nothing is taken off
    assert main(write_back) == 0
    assert penalties(database) == {"ada": 0.0, "bob": 0.0, "eve": 0.0}
    (out / "marks" / "unknown.json").write_text(json.dumps(marks[0] | {"student": "unknown"}), encoding="utf-8")
    assert main(write_back) == 1
    assert "unknown is not in the gradebook" in capsys.readouterr().out


def scores(database: str) -> dict[str, float]:
    """Return the scores in nbgrader's gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(database) as book:
        return {each.student.id: each.score for each in book.find_assignment("week3").submissions}


def penalties(database: str) -> dict[str, float]:
    """Return the points that nbgrader takes off late submissions."""
    from nbgrader.api import Gradebook

    with Gradebook(database) as book:
        return {each.student.id: each.late_submission_penalty or 0.0
                for each in book.find_assignment("week3").submissions}  # fmt: skip


@pytest.mark.slow
def test_otter_runs_from_assign_to_marks(release_folder):
    pytest.importorskip("otter")
    loaded = load_assignment(release_folder / "week3.toml")
    (release_folder / "master.ipynb").write_text(otter.source_notebook(loaded), encoding="utf-8")
    run_module("otter", "assign", "master.ipynb", "dist", cwd=release_folder)
    student = release_folder / "dist" / "student" / "master.ipynb"
    assert "NotImplementedError" in student.read_text(encoding="utf-8")
    (release_folder / "work.ipynb").write_text(fill_in(student, "1 - out**2", "7 + 0 * out"), encoding="utf-8")
    package = next((release_folder / "dist" / "autograder").glob("*.zip"))
    run_module("otter", "run", "-a", package, "work.ipynb", cwd=release_folder)
    results = json.loads((release_folder / "results.json").read_text(encoding="utf-8"))
    validate(results, schema("gradescope_results"))
    points = {test["name"]: test.get("score") for test in results["tests"]}
    assert points["tanh_x"] == 10
    assert points["exp_x"] == 1

    with Sandbox() as sandbox:
        marks = grade.grade_submission(submissions.read_submission(release_folder / "work.ipynb"), loaded, sandbox)
    assert marks["score"] == 11, "final marks come from `grade`"
    rows = list(csv.DictReader(io.StringIO(otter.scores_table([marks]))))
    assert rows[0] == {
        "file": "work.ipynb",
        "tanh.x": "10",
        "exp.x": "1",
        "total_points_earned": "11",
        "percent_correct": "0.55",
    }


@pytest.mark.parametrize("canary", ["1 - out", "1 - y * y", "1 - out * out", "1 - out**2"])
def test_files_to_hand_out_contain_no_answers(release_folder, canary):
    loaded = load_assignment(release_folder / "week3.toml")
    texts = [path.read_text(encoding="utf-8") for path in (release_folder / "out").rglob("*") if path.is_file()]
    assert texts
    assert not any(canary in text for text in [*texts, otter.source_notebook(loaded)])


def test_every_level_has_a_promise():
    assert set(isolation.PROMISES) == set(isolation.LEVELS)
