"""Notebooks as git would commit them.

People who work in a notebook leave outputs and answers in the file, and add notebooks. Tests ignore that and read only
the staged version.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def staged_notebooks(folder: Path = NOTEBOOKS) -> dict[str, str]:
    """Return the text of every notebook in a folder by name, as staged in git, or from disk without git."""
    names = [name for name in git_output(folder, "ls-files", "-z", "*.ipynb").split("\0") if name]
    if names:
        return {name: git_output(folder, "show", f":./{name}") for name in names}
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ipynb"))}


def git_output(folder: Path, *arguments: str) -> str:
    """Return the output of a git command in a folder, or nothing without git or a repository."""
    git = shutil.which("git")
    if git is None:
        return ""
    ran = subprocess.run([git, *arguments], cwd=folder, capture_output=True, check=False)
    return ran.stdout.decode("utf-8")
