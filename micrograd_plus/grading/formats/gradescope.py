"""Gradescope: `results.json`, and the zip file that it builds an autograder from.

The fields are documented at gradescope-autograders.readthedocs.io/en/latest/specs.
"""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path
from typing import Any

from ...files import atomic_file
from ..assignment import load_assignment

SETUP = """#!/usr/bin/env bash
set -e
apt-get update
apt-get install -y python3 python3-pip python3-venv
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install "numpy>=2.0"
if ls /autograder/source/*.whl > /dev/null 2>&1
then /autograder/venv/bin/pip install /autograder/source/*.whl
else /autograder/venv/bin/pip install micrograd_plus
fi
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
    if marks["provisional"]:
        output.append(f"These marks are provisional (isolation: {marks['isolation']}).")
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


def write_package(assignment: Path, place: Path) -> None:
    """Write the zip file: scripts, the assignment, its own exercises, and the wheel beside the assignment if any."""
    loaded = load_assignment(assignment)
    files = {"setup.sh": SETUP.encode(), "run_autograder": RUN.encode(), "assignment.toml": assignment.read_bytes()}
    files |= {name: (assignment.parent / name).read_bytes() for name in loaded.files}
    files |= {wheel.name: wheel.read_bytes() for wheel in sorted(assignment.parent.glob("micrograd_plus-*.whl"))}
    with atomic_file(place, private=True) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o700 if name in ("setup.sh", "run_autograder") else 0o600)) << 16
            archive.writestr(entry, data)
