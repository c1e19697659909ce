"""The command line as a program of its own, for the tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path.stem for path in (HOUSE / "micrograd_plus" / "examples").glob("*.py"))

SQUARE = """
import micrograd_plus as mg

x = mg.tensor(3.0, requires_grad=True)
(x * x).backward()
"""


def environment(packages=HOUSE, columns="100"):
    """This process's environment, with the packages in a folder importable."""
    path = os.pathsep.join([str(packages), str(HOUSE / "viz")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": columns}


def run(*arguments, folder=HOUSE, packages=HOUSE, columns="100"):
    """`python -m micrograd_plus ...`, run in a folder."""
    return run_python("-m", "micrograd_plus", *map(str, arguments), folder=folder, packages=packages, columns=columns)


def run_python(*arguments, folder=HOUSE, packages=HOUSE, columns="100"):
    """A Python of its own."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(packages, columns),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def copy_package(folder):
    """The engine's package in another folder, as it lies where it was installed without its source."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HOUSE / "micrograd_plus", folder / "micrograd_plus", ignore=ignored)
