"""Traces are byte-equal under debuggers, profilers and coverage."""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "traced_programs.py"
RUNS = {
    "settrace": [PROGRAMS, "settrace"],
    "setprofile": [PROGRAMS, "setprofile"],
    "coverage": ["-m", "coverage", "run", "--data-file=coverage.data", PROGRAMS],
    "debugpy": ["-Xfrozen_modules=off", "-m", "debugpy", "--listen", "127.0.0.1:0", PROGRAMS],
}
"""Arguments of Python that run the programs under each tool."""


def traces_of(arguments, folder):
    """Run Python in `folder` and return the trace that it printed for each program."""
    run = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in run.stdout.splitlines())


@cache
def traces_without_a_tool(folder):
    return traces_of([PROGRAMS], folder)


@pytest.mark.parametrize("tool", RUNS)
def test_traces_are_byte_equal_under_a_debugger(tool, tmp_path):
    if tool in ("coverage", "debugpy") and importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    expected = traces_without_a_tool(PROGRAMS.parent)
    traces = traces_of(RUNS[tool], tmp_path)
    assert len(expected) == 12
    assert traces.keys() == expected.keys()
    for name, trace in traces.items():
        assert trace == expected[name], name
