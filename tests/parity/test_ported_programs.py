"""Programs as people write them for PyTorch: run unchanged there, and here with the lines that `CHANGES` lists."""

import re
import statistics
from pathlib import Path

import numpy as np
import pytest
import torch

import micrograd_plus as mg

from .ported_changes import CHANGES
from .ported_sides import FOLDER, port_program, read_program, run_program

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
PAGE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
ROW = r"^\| (\w+) \| (\d+) \| (\d+) \|"


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_pytorchs_computes_the_same_numbers(name, monkeypatch):
    expected = run_program(name, torch, monkeypatch)
    found = run_program(name, mg, monkeypatch, CHANGES.get(name, ()))
    assert len(expected) >= 3
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_program_needs_each_of_its_changes(name, monkeypatch):
    """Without any one of them it raises an error, or computes other numbers: no line is changed for nothing."""
    expected = run_program(name, torch, monkeypatch)
    changes = CHANGES[name]
    for left_out in range(len(changes)):
        rest = [change for i, change in enumerate(changes) if i != left_out]
        try:
            found = run_program(name, mg, monkeypatch, rest)
        except (AttributeError, ImportError, NameError, RuntimeError, TypeError, ValueError):
            continue
        assert not np.allclose(found, expected, rtol=1e-7, atol=1e-10), changes[left_out]


def lines_of(text):
    """Return the lines of a program that are not empty."""
    return [line for line in text.split("\n") if line.strip()]


def counts():
    """Return the number of lines, and of changed lines, for each program."""
    found = {}
    for name in NAMES:
        text = read_program(name)
        lines = [line.strip() for line in text.split("\n")]
        found[name] = len(lines_of(text)), sum(lines.count(before) for before, _ in CHANGES.get(name, ()))
    return found


def test_the_table_in_the_documentation_has_the_number_of_changed_lines():
    rows = re.findall(ROW, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: (int(lines), int(changed)) for name, lines, changed in rows} == counts()


def test_half_of_the_programs_need_at_most_two_changed_lines():
    changed = [each for _, each in counts().values()]
    assert len(changed) >= 36
    assert statistics.median(changed) <= 2
    assert counts()["nanogpt"][1] <= 2


def test_a_program_differs_only_in_imports_and_listed_lines():
    for name in NAMES:
        before = read_program(name).split("\n")
        after = port_program(read_program(name), [(line, line) for line, _ in CHANGES.get(name, ())]).split("\n")
        differing = [line for line, other in zip(before, after, strict=True) if line != other]
        assert all(line.startswith(("import ", "from ")) for line in differing), name
