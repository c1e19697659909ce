"""Import one changed module, whose text is read from standard input, and run a few tests.

`mutants` runs this for a survivor: some functions run only while the package is imported, so a change of their code
shows only in a new process. An import hook gives the module its changed text, so no file is written.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ("test_walks", "test_engine", "test_custom", "test_rules", "test_composites")


class ChangedModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import hook that gives one module another text."""

    def __init__(self, name: str, path: Path, text: str):
        self.name, self.path, self.text = name, path, text

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find the changed module, and leave all others to Python."""
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.name else None

    def exec_module(self, module: Any) -> None:
        """Run the changed text under the file's own name."""
        module.__file__ = str(self.path)
        exec(compile(self.text, str(self.path), "exec"), module.__dict__)  # noqa: S102 - it is the project's own


def main(path: str) -> int:
    """Run the tests with the module at `path` changed; return 0 if they pass."""
    name = path.removesuffix(".py").replace("/", ".")
    sys.meta_path.insert(0, ChangedModule(name, ROOT / path, sys.stdin.read()))
    files = [str(ROOT / "tests" / f"{file}.py") for file in FILES]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not parity and not cuda and not slow"]
    return int(pytest.main([*options, "--quick", *files]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
