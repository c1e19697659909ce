"""The commands of the guide for teachers run in an empty folder, in their order."""

import json
import re
import shlex
import zipfile
from pathlib import Path

import pytest

from micrograd_plus.__main__ import main
from micrograd_plus.grading.formats.wheel import FILE_NAME

GUIDE = (Path(__file__).resolve().parent.parent / "docs" / "teachers.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(block.replace("\\\n", " "))[1:] for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)]
OWN = next(block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "exercises.define" in block)
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


@pytest.mark.usefixtures("own_exercises")
def test_the_guide_leads_from_an_empty_folder_to_marks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    new, first, with_columns, again = COMMANDS
    assert new[:3] == ["grade", "--new", "week3.toml"]
    assert main(new) == 0
    assert "matmul" in Path("week3.toml").read_text(encoding="utf-8")
    Path("my_exercises.py").write_text(OWN, encoding="utf-8")
    text = Path("week3.toml").read_text(encoding="utf-8").replace('"matmul.b"', '"week3.double"')
    Path("week3.toml").write_text(f'files = ["my_exercises.py"]\n{text}', encoding="utf-8")

    assert main(shlex.split("exercises release week3.toml -o handout/")) == 0
    book = json.loads(Path("handout/week3.ipynb").read_text(encoding="utf-8"))
    Path("submissions").mkdir()
    for student in range(30):
        Path(f"submissions/s{student:02d}.ipynb").write_text(json.dumps(fill_in(book, student)), encoding="utf-8")

    assert main(first) == 0
    assert "30 marked" in capsys.readouterr().out
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

    assert main(with_columns) == 0
    assert "0 marked, 30 unchanged" in capsys.readouterr().out
    assert Path("marks/marks.csv").read_text(encoding="utf-8").startswith("ID,Week3,Of")

    corrected = OWN.replace("return 2 * upstream", "return upstream").replace(
        "lambda upstream: upstream", "lambda upstream: 3 * upstream"
    )
    Path("my_exercises.py").write_text(corrected, encoding="utf-8")
    assert main(again) == 0
    assert "30 marks changed." in capsys.readouterr().out

    assert main(shlex.split("grade --pack gradescope --assignment week3.toml -o autograder.zip")) == 0
    with zipfile.ZipFile("autograder.zip") as archive:
        assert {"setup.sh", "run_autograder", "assignment.toml", "my_exercises.py", FILE_NAME} == set(
            archive.namelist()
        )
    for system in ("nbgrader", "otter"):
        assert main(["grade", "--pack", system, "--assignment", "week3.toml", "-o", f"{system}.ipynb"]) == 0
        assert json.loads(Path(f"{system}.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4


def test_the_guide_names_every_file_and_every_level():
    for word in ("marks.csv", "report.html", "mistakes.csv", "tampering.csv", "moved.csv", "full", "user", "none"):
        assert word in GUIDE
