"""The commands of the guide for teachers run in an empty folder, in their order."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from micrograd_plus.grading.formats.wheel import FILE_NAME, build_wheel

GUIDE = (Path(__file__).resolve().parent.parent / "docs" / "teachers.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(block.replace("\\\n", " "))[1:] for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)]
OWN = next(block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "exercises.define" in block)
LATE = next(block for block in re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL) if "per_day" in block)
ANSWERS = {
    "tanh_x": ("1 - out**2", "out**2 - 1", "1 - x**2"),
    "softmax_x": (
        "out * (upstream - xp.sum(upstream * out, axis=axis, keepdims=True))",
        "upstream * out * (1 - out)",
        "upstream",
    ),
    "week3_double": ("2 * upstream", "upstream", "2 * upstream"),
}
READS = {"tanh_x": "x, out", "softmax_x": "xp, upstream, out, axis", "week3_double": "upstream"}


def fill_in(book: dict, student: int) -> dict:
    """Return a released notebook with the answers of an invented student."""
    answered = json.loads(json.dumps(book))
    for cell in answered["cells"]:
        for name, bodies in ANSWERS.items():
            if f"def {name}(" in "".join(cell["source"]):
                exercise = name.replace("_", ".")
                body = bodies[(student + len(name)) % 3]
                cell["source"] = f'@exercises.answer("{exercise}")\ndef {name}({READS[name]}):\n    return {body}\n'
    return answered


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return a function that runs `micrograd-plus` from a wheel of this package, in an empty folder."""
    site, here = tmp_path / "site", tmp_path / "empty"
    here.mkdir()
    with zipfile.ZipFile(io.BytesIO(build_wheel())) as archive:
        archive.extractall(site)
    monkeypatch.chdir(here)
    environment = {**os.environ, "PYTHONPATH": str(site), "OPENBLAS_NUM_THREADS": "1"}

    def run(arguments):
        line = [sys.executable, "-c", PROGRAM, *arguments]
        done = subprocess.run(line, check=False, env=environment, capture_output=True, text=True, timeout=600)
        where, _, output = done.stdout.partition("\n")
        assert Path(where).is_relative_to(site)
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, done.stderr
        return output

    return run


PROGRAM = (
    "import sys, micrograd_plus\nprint(micrograd_plus.__file__, flush=True)\n"
    "from micrograd_plus.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
)


def test_the_guide_leads_from_an_empty_folder_to_marks(command):
    new, first, with_columns, again = COMMANDS
    assert new[:3] == ["grade", "--new", "week3.toml"]
    command(new)
    assert "matmul" in Path("week3.toml").read_text(encoding="utf-8")
    Path("my_exercises.py").write_text(OWN, encoding="utf-8")
    text = Path("week3.toml").read_text(encoding="utf-8").replace('"matmul.b"', '"week3.double"')
    Path("week3.toml").write_text(f'files = ["my_exercises.py"]\n{text}\n{LATE}', encoding="utf-8")

    command(shlex.split("exercises release week3.toml -o handout/"))
    book = json.loads(Path("handout/week3.ipynb").read_text(encoding="utf-8"))
    Path("submissions").mkdir()
    for student in range(30):
        Path(f"submissions/s{student:02d}.ipynb").write_text(json.dumps(fill_in(book, student)), encoding="utf-8")

    assert "30 marked" in command(first)
    assert {path.name for path in Path("marks").iterdir()} == {
        "marks", "marks.csv", "report.html", "mistakes.csv", "tampering.csv", "walks", "answers", "students",
    }  # fmt: skip
    marks = json.loads(Path("marks/marks/s02.json").read_text(encoding="utf-8"))
    points = {each["exercise"]: each["points"] for each in marks["exercises"]}
    assert len(points) == 3
    assert set(points.values()) > {10.0}
    mistakes = {each["mistake"]["title"] for path in Path("marks/marks").iterdir()
             for each in json.loads(path.read_text(encoding="utf-8"))["exercises"] if each["mistake"]}  # fmt: skip
    assert "the 2 is missing" in mistakes
    assert len(mistakes) >= 3

    assert "0 marked, 30 unchanged" in command(with_columns)
    assert Path("marks/marks.csv").read_text(encoding="utf-8").startswith("ID,Week3,Of")
    Path("times.csv").write_text("id,time\ns00,2026-12-06T12:00\n", encoding="utf-8")
    assert "1 marked, 29 unchanged" in command([*first, "--times", "times.csv"])
    assert json.loads(Path("marks/marks/s00.json").read_text(encoding="utf-8"))["late"]["percent"] == 20

    corrected = OWN.replace("return 2 * upstream", "return upstream").replace(
        "lambda upstream: upstream", "lambda upstream: 3 * upstream"
    )
    Path("my_exercises.py").write_text(corrected, encoding="utf-8")
    assert "30 marks changed." in command(again)

    command(shlex.split("grade --pack gradescope --assignment week3.toml -o autograder.zip"))
    with zipfile.ZipFile("autograder.zip") as archive:
        assert {"setup.sh", "run_autograder", "assignment.toml", "my_exercises.py", FILE_NAME} == set(
            archive.namelist()
        )
    for system in ("nbgrader", "otter"):
        command(["grade", "--pack", system, "--assignment", "week3.toml", "-o", f"{system}.ipynb"])
        assert json.loads(Path(f"{system}.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4


def test_the_guide_names_every_file_and_every_level():
    for word in ("marks.csv", "report.html", "mistakes.csv", "tampering.csv", "moved.csv", "full", "user", "none"):
        assert word in GUIDE
