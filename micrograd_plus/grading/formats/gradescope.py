"""Gradescope: `results.json`, and the zip file that it builds an autograder from.

The fields are documented at gradescope-autograders.readthedocs.io/en/latest/specs.
"""

from __future__ import annotations

import json
import re
import stat
import zipfile
from pathlib import Path
from typing import Any

from ...files import atomic_file
from ..assignment import load_assignment
from .wheel import FILE_NAME, build_wheel

SETUP = """#!/usr/bin/env bash
# The default image, Ubuntu 22.04, has Python 3.10. Its package index also has 3.11, which is installed beside it.
set -e
find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3
    do
        if "$name" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' > /dev/null 2>&1
        then command -v "$name"; return
        fi
    done
}
python=$(find_python)
if [ -z "$python" ]
then
    apt-get update || true
    apt-get install -y python3.11 python3.11-venv || apt-get install -y python3 python3-venv || true
    python=$(find_python)
fi
if [ -z "$python" ]
then
    echo "micrograd_plus needs Python 3.11 or newer, and this image has none. Choose the base image Ubuntu 24.04." >&2
    exit 1
fi
"$python" -m venv /autograder/venv
/autograder/venv/bin/python -m pip install /autograder/source/*.whl
chmod 700 /autograder/source
"""
RUN = """#!/usr/bin/env bash
# If the grader fails, there is no results.json: Gradescope then reports a failure and gives no points, instead of 0.
mkdir -p /autograder/results
rm -f /autograder/results/results.json
cd /autograder/source
exec /autograder/venv/bin/python -m micrograd_plus grade --one /autograder/submission \\
    --student-of /autograder/submission_metadata.json \\
    --assignment /autograder/source/assignment.toml --format gradescope -o /autograder/results/results.json
"""


def student_in(metadata: Path) -> str:
    """Return the student's ID from `submission_metadata.json`: the email address, for a group the first by alphabet.

    If the file cannot be read, every student gets the ID `submission`.
    """
    try:
        users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
        return min(each["email"].strip().casefold() for each in users)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return "submission"


def results(marks: dict[str, Any]) -> dict[str, Any]:
    """Return the data of `results.json`. All output has the format text, so student output is never shown as HTML."""
    output = [marks["problem"]] if marks["problem"] else []
    output += marks["remarks"]
    output.append(f"Level of isolation: {marks['isolation']}.")
    if marks["provisional"]:
        output.append("These marks are provisional.")
    tests = [test_entry(each, f"{number}.{place}", part) for number, each in enumerate(marks["exercises"], start=1)
             for place, part in enumerate(each["parts"], start=1)]  # fmt: skip
    return {
        "score": marks["score"],
        "output": "\n".join(output),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"isolation": marks["isolation"], "tampering": marks["tampering"]},
    }


def test_entry(exercise: dict[str, Any], number: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return the test for one part of an exercise. A flaw that costs points of the exercise reduces all its parts."""
    total = sum(each["points"] for each in exercise["parts"])
    share = exercise["points"] / total if total else 0.0
    points = round(part["points"] * share, 6)
    hints = exercise["mistake"]["hints"][:1] if exercise["mistake"] and points < part["of"] else []
    return {
        "name": f"{exercise['title']}: {part['name']}",
        "number": number,
        "score": points,
        "max_score": part["of"],
        "status": "passed" if points >= part["of"] else "failed",
        "output": "\n".join([part["reason"], *hints]),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {"exercise": exercise["exercise"], "part": part["name"]},
    }


def write_package(assignment: Path, place: Path, level: str = "user") -> None:
    """Write the zip file: scripts, the assignment, its own exercises, and a wheel of this package.

    `level` is the isolation that marks require there. Gradescope's containers have *user*. A wheel beside the
    assignment replaces that of the installed package.
    """
    loaded = load_assignment(assignment)
    files = {"setup.sh": SETUP.encode(), "run_autograder": RUN.encode(),
             "assignment.toml": require_level(assignment.read_text(encoding="utf-8"), level).encode()}  # fmt: skip
    files |= {name: (assignment.parent / name).read_bytes() for name in loaded.files}
    wheels = sorted(assignment.parent.glob("micrograd_plus-*.whl"))[-1:]
    files |= {wheel.name: wheel.read_bytes() for wheel in wheels} or {FILE_NAME: build_wheel()}
    with atomic_file(place, private=True) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o700 if name in ("setup.sh", "run_autograder") else 0o600)) << 16
            archive.writestr(entry, data)


def require_level(text: str, level: str) -> str:
    """Return the text of an assignment with another required level of isolation."""
    line = f'isolation = "{level}"'
    changed, count = re.subn(r"^isolation\s*=.*$", line, text, count=1, flags=re.MULTILINE)
    return changed if count else f"{line}\n{text}"
