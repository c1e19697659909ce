"""Packages that a test file imports and that are not installed."""

import ast
import importlib
from pathlib import Path


def missing_packages(path: Path) -> list[str]:
    """Return the packages that a file needs, directly or through its helpers, and that are not installed."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in body if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    missing: set[str] = set()
    for package in {name.partition(".")[0] for name in names}:
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            missing.add(str(error.name).partition(".")[0])
    return sorted(missing)
