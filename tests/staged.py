"""The notebooks as git would commit them now.

Whoever works in a notebook leaves outputs and answers in the file, and notebooks of their own beside it. That is no
fault, and no test's business: only what is staged is.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def staged_notebooks(folder: Path = NOTEBOOKS) -> dict[str, str]:
    """The text of every notebook in a folder, by its name; where git knows none, as they lie there."""
    names = [name for name in git_output(folder, "ls-files", "-z", "*.ipynb").split("\0") if name]
    if names:
        return {name: git_output(folder, "show", f":./{name}") for name in names}
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ipynb"))}


def git_output(folder: Path, *arguments: str) -> str:
    """What a command of git's prints in a folder; nothing where there is no git, or no repository."""
    git = shutil.which("git")
    if git is None:
        return ""
    ran = subprocess.run([git, *arguments], cwd=folder, capture_output=True, check=False)
    return ran.stdout.decode("utf-8")
