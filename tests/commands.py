"""Helpers that run the command line in a new process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "micrograd_plus" / "examples").glob("*.py"))

SQUARE = """
import micrograd_plus as mg

x = mg.tensor(3.0, requires_grad=True)
(x * x).backward()
"""


def environment(packages=ROOT, columns="100"):
    """Return this process's environment, with the packages of a folder importable."""
    path = os.pathsep.join([str(packages), str(ROOT / "viz")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": columns}


def run(*arguments, folder=ROOT, packages=ROOT, columns="100"):
    """Run `python -m micrograd_plus ...` in a folder, and return the finished process."""
    return run_python("-m", "micrograd_plus", *map(str, arguments), folder=folder, packages=packages, columns=columns)


def run_python(*arguments, folder=ROOT, packages=ROOT, columns="100"):
    """Run a program in a new Python process."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(packages, columns),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def copy_package(folder):
    """Copy the engine's package into another folder, as an installation without its source."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "micrograd_plus", folder / "micrograd_plus", ignore=ignored)
